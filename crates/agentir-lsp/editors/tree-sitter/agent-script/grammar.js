/// <reference types="tree-sitter-cli/dsl" />

const { LETTERS, layout, outline } = require('../common/grammar');

const WORD = `[${LETTERS}0-9][${LETTERS}0-9\\-]*`;
const QUOTED = '"[^"\\\\\\r\\n]*"';

module.exports = grammar({
  name: 'agent_script',

  externals: $ => [...layout($), $._statement, $._if, $._else_entry, $._else_if, $._else],

  // A backslash at its end continues a line.
  extras: $ => [/[ \t\r\n]/, /\\[ \t]*\r?\n/, $.comment, $._continuation],

  rules: {
    ...outline(['_statement_with_content', '_conditional_with_content']),

    // `key:`, `type name:`
    _head: $ => seq(
      field('key', choice($.key, alias($.quoted_key, $.key))),
      optional(field('name', $.name)),
    ),

    key: _ => new RustRegex(WORD),

    quoted_key: _ => new RustRegex(QUOTED),

    name: _ => new RustRegex(`(${WORD}|${QUOTED})([ \\t]+(${WORD}|${QUOTED}))*`),

    _statement_with_content: $ => seq($._entry, $.statement),

    // `set …`, `run …`, `transition to …`
    statement: $ => seq($._statement, $.keyword, choice($.value, $._newline), repeat($.block)),

    keyword: _ => /[a-z]+/,

    _conditional_with_content: $ => seq($._entry, $.conditional),

    conditional: $ => seq(
      $.if_clause,
      repeat(seq($._else_entry, $.else_if_clause)),
      optional(seq($._else_entry, $.else_clause)),
    ),

    if_clause: $ => seq($._if, alias('if', $.keyword), choice($.value, $._newline), repeat($.block)),

    else_if_clause: $ => seq(
      $._else_if,
      alias(token(choice(/else[ \t]+if/, 'elif', 'elseif', 'elsif')), $.keyword),
      choice($.value, $._newline),
      repeat($.block),
    ),

    else_clause: $ => seq(
      $._else,
      alias('else', $.keyword),
      choice($.value, $._newline),
      repeat($.block),
    ),

    _piece: $ => choice(
      $.string,
      $.single_quoted,
      $.reference,
      $.number,
      $.identifier,
      $.operator,
      $._bracket,
      $._separator,
      $._sign,
    ),

    single_quoted: _ => token(prec(1, /'[^'\n]*'/)),

    number: _ => /\d+(\.\d+)?/,

    identifier: _ => new RustRegex(`[${LETTERS}][${LETTERS}0-9]*`),

    // `@variables.order.total`
    reference: $ => seq(
      $.namespace,
      repeat(alias(token.immediate(new RustRegex(`\\.[${LETTERS}][${LETTERS}0-9]*`)), $.property)),
    ),

    namespace: _ => /@[A-Za-z_]\w*/,

    operator: _ => choice('...', '==', '!=', '<=', '>=', '<', '>', '=', '+', '-', '*', '/'),

    // `{!expression}`
    placeholder: $ => seq(
      '{!',
      repeat(choice(
        $.string,
        $.reference,
        $.number,
        $.identifier,
        $.operator,
        ',', ':',
        $._sign,
      )),
      choice('}', $._placeholder_end),
    ),
  },
});
