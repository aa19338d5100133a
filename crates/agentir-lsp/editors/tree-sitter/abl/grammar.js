/// <reference types="tree-sitter-cli/dsl" />

const { LETTERS, layout, outline } = require('../common/grammar');

module.exports = grammar({
  name: 'abl',

  externals: layout,

  extras: $ => [/[ \t\r\n]/, $.comment, $._continuation],

  rules: {
    ...outline([]),

    _head: $ => field('key', choice($.key, alias($.quoted_key, $.key))),

    key: _ => new RustRegex(`[${LETTERS}0-9$@][${LETTERS}0-9.*$/\\-]*\\??( [A-Z][A-Z_]*)?`),

    quoted_key: _ => /"[^"\\\r\n:]*"/,

    _piece: $ => choice(
      $.string,
      $.single_quoted,
      $.placeholder,
      $.number,
      $.identifier,
      $.operator,
      $._bracket,
      $._separator,
      $._sign,
    ),

    single_quoted: _ => token(prec(1, /'[^'\n]*'/)),

    number: _ => /\d+(\.\d+)?/,

    // Dots, dashes and apostrophes within a word are part of it.
    identifier: _ => new RustRegex(`[${LETTERS}$@][${LETTERS}0-9$@]*([.'\\-]+[${LETTERS}0-9$@*]+)*`),

    operator: _ => choice('==', '!=', '<=', '>=', '<', '>', '&&', '||', '=', '+', '-', '*', '/', '%', '!', '?', '|'),

    // `{{name | filter}}`, `{{#if name}}`
    placeholder: $ => seq(
      '{{',
      repeat(choice(
        $.string,
        $.single_quoted,
        $.number,
        $.identifier,
        $.operator,
        $.block_helper,
        ',', ':',
        $._sign,
      )),
      choice('}}', $._placeholder_end),
    ),

    block_helper: _ => token(prec(1, /[#\/][a-z]+/)),
  },
});
