// What the two languages share: a document is an outline of entries, which are nested by indentation.
//
// The outline accepts every sequence of the tokens that `layout.h` makes of lines, and a value is a sequence of
// words, texts, numbers and signs. So there are no errors: a line that makes no sense is a line. What it should
// mean is for the language server to say.

// The order is that of `TokenType` in `layout.h`.
const layout = $ => [
  $._start,
  $._end,
  $._entry,
  $._newline,
  $._empty,
  $._indent,
  $._dedent,
  $._item,
  $._item_end,
  $._pair,
  $._line,
  $._mark,
  $.text,
  $.comment,
  $._open_paren,
  $._open_bracket,
  $._open_brace,
  $._close_paren,
  $._close_bracket,
  $._close_brace,
  $._comma,
  $._colon,
  $._arrow,
  $._continuation,
  $._string_end,
  $._placeholder_end,
  $._error,
];

// The rules of the outline. `others` are entries that only one of the languages has.
const outline = others => ({
  source_file: $ => seq($._start, repeat($._entry_with_content), optional($._end)),

  _entry_with_content: $ => choice(
    seq($._entry, choice($.pair, $.line, $.item)),
    ...others.map(other => $[other]),
  ),

  // `key: value`, with entries below it. What an indented block has is a node of its own.
  pair: $ => seq(
    $._pair,
    $._head,
    ':',
    choice($._empty, field('value', choice($.value, $.block_text))),
    repeat($.block),
  ),

  // Any other line: a name, a signature, a chain of names, prose.
  line: $ => seq($._line, choice($.value, $.block_text), repeat($.block)),

  // `- …`: what stands behind a dash, and the lines aligned with it.
  item: $ => seq(alias($._item, '-'), repeat($._entry_with_content), $._item_end),

  block: $ => seq($._indent, repeat1($._entry_with_content), $._dedent),

  // `|` and the lines below it.
  block_text: $ => seq(alias($._mark, '|'), repeat(choice($.text, $.placeholder)), $._newline),

  // The end of the line is a part of it, so that a value which was read is complete.
  value: $ => seq(repeat1($._piece), $._newline),

  _bracket: $ => choice(
    alias($._open_paren, '('),
    alias($._open_bracket, '['),
    alias($._open_brace, '{'),
    alias($._close_paren, ')'),
    alias($._close_bracket, ']'),
    alias($._close_brace, '}'),
  ),

  _separator: $ => choice(alias($._comma, ','), alias($._colon, ':'), alias($._arrow, '->')),

  // A text that is not closed ends with its line.
  string: $ => seq(
    '"',
    repeat(choice($._string_content, $.escape_sequence, $.placeholder)),
    choice(token.immediate('"'), $._string_end),
  ),

  _string_content: _ => choice(
    token.immediate(prec(1, /[^"\\\n{]+/)),
    token.immediate('{'),
  ),

  escape_sequence: _ => token.immediate(/\\[^\n]?/),

  // Signs that have no node of their own.
  _sign: _ => token(prec(-1, /[^ \t\r\n]/)),
});

// What letters are, in a class of a pattern: all that is not ASCII counts as such.
const LETTERS = 'A-Za-z_\\x{80}-\\x{10FFFF}';

module.exports = { LETTERS, layout, outline };
