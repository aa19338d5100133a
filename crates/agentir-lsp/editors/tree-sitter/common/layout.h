// The layout of a document: lines and columns to tokens, as `layout.rs` of the language does it.
//
// The tokens are always balanced, and every sequence of them is a sentence of the grammar, so that an invalid line
// costs itself and nothing else. What decides about a line is read once: a look ahead over comments is kept until the
// next entry begins, and the memory of a scanner is one `Layout`, whatever the document contains.
//
// A scanner defines before it includes this file:
//   ABL or AGENT_SCRIPT  which of the two languages it reads
#ifndef AGENTIR_LAYOUT_H
#define AGENTIR_LAYOUT_H

#include "tree_sitter/parser.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// The order is that of `externals` in `common/grammar.js`.
enum TokenType {
  START,            // before everything; no text
  END,              // behind everything; no text
  ENTRY,            // before the comments and the content of an entry; no text
  NEWLINE,          // the end of an entry's own lines; no text
  EMPTY,            // the same, behind a key without a value
  INDENT,           // no text
  DEDENT,           // no text
  ITEM,             // a dash
  ITEM_END,         // no text
  PAIR,             // a key follows; no text
  LINE,             // something else follows; no text
  MARK,             // the `|` before a block text
  TEXT,             // a part of a block text
  COMMENT,
  OPEN_PAREN,
  OPEN_BRACKET,
  OPEN_BRACE,
  CLOSE_PAREN,
  CLOSE_BRACKET,
  CLOSE_BRACE,
  COMMA,
  COLON,            // in a value
  ARROW,            // `->`
  CONTINUATION,     // the line goes on with the next one
  STRING_END,       // the end of a line in a string; no text
  PLACEHOLDER_END,  // the end of a line in a placeholder; no text
  ERROR_SENTINEL,   // never used: it is valid only while errors are recovered from
  // What follows only Agent Script has.
  STATEMENT,        // a statement of Agent Script follows; no text
  IF,               // `if` follows; no text
  ELSE_ENTRY,       // as ENTRY, before `else if` and `else`
  ELSE_IF,          // no text
  ELSE,             // no text
};

// As `MAX_NESTING` of `agentir-syntax`: deeper lines are siblings.
#define MAX_NESTING 64
#define MAX_COLUMN 0xFFFF

enum BlockKind { DOCUMENT, INDENTED, DASHES, IN_ITEM };

typedef struct {
  uint8_t kind;
  uint8_t condition;  // the last entry is a condition that may go on with `else`
  uint16_t column;    // where its entries start
  uint16_t other;     // of an item, the column of its dash; otherwise the column of a ragged line, plus one
} Block;

// What the last token allows.
enum Last { NOTHING, TAKES_LINES, AFTER_ITEM };

typedef struct {
  uint8_t last;
  uint8_t open_key;      // the last entry is a key without a value
  uint8_t popped;        // an indented block ended just before
  uint8_t content;       // the content of an entry follows; comments before it are just comments
  uint8_t same_line;     // … on the line where the scanner is
  uint8_t pending;       // the line that follows was looked at:
  uint8_t next_dash;     // … it begins with a dash
  uint8_t next_section;  // … it begins with a word in capitals and a colon
  uint8_t next_else;     // … it begins with `else`
  uint8_t next_end;      // … there is none
  uint8_t next_closes;   // … it begins with a bracket that closes
  uint8_t next_key;      // … it begins with a key
  uint8_t next_other;    // … it begins with a statement or a text, which no value goes on with
  uint16_t next_column;
  uint16_t column;       // of the current entry
  uint16_t base;         // lines of a block text are right of it
  uint8_t text_comment;  // comments that follow are within a block text
  uint8_t text_header;   // the rest of the line with the mark follows
  uint8_t open;          // brackets that are open
  uint8_t unfinished;    // the line ends behind a sign that asks for more
  uint8_t continuing;    // the value goes on with the next line
  uint64_t braces;       // which of the innermost 64 are `{`
  uint8_t depth;         // blocks beside the document
  Block blocks[MAX_NESTING + 2];
} Layout;

static inline Block *top(Layout *s) { return &s->blocks[s->depth]; }

static inline bool is_blank(int32_t c) { return c == ' ' || c == '\t' || c == '\r'; }

// What a language says of a line: how it begins, its content, and the pieces of its value.
static void look_at_line(Layout *s, TSLexer *lexer);
static bool content(Layout *s, TSLexer *lexer);
static bool value(Layout *s, TSLexer *lexer, const bool *valid);

static inline bool at_line_end(TSLexer *lexer) { return lexer->lookahead == '\n' || lexer->eof(lexer); }

static inline uint16_t next_stop(uint16_t column, int32_t c) {
  uint32_t after = column;
  if (c == ' ') after += 1;
#ifdef ABL
  else if (c == '\t') after = (after / 4 + 1) * 4;
#else
  else if (c == '\t') after += 3;
#endif
  return after > MAX_COLUMN ? MAX_COLUMN : (uint16_t)after;
}

// Skips white space within a line; returns the column behind it.
static uint16_t skip_blanks(TSLexer *lexer, uint16_t column) {
  while (is_blank(lexer->lookahead)) {
    column = next_stop(column, lexer->lookahead);
    lexer->advance(lexer, true);
  }
  return column;
}

static void skip_to_line_end(TSLexer *lexer) {
  while (!at_line_end(lexer)) lexer->advance(lexer, false);
}

static inline bool found(TSLexer *lexer, enum TokenType token) {
  lexer->result_symbol = token;
  return true;
}

// Reads a comment to the end of its line.
static bool comment(TSLexer *lexer) {
  lexer->mark_end(lexer);
  while (!at_line_end(lexer)) {
    bool blank = is_blank(lexer->lookahead);
    lexer->advance(lexer, false);
    if (!blank) lexer->mark_end(lexer);
  }
  return found(lexer, COMMENT);
}

// Whether a comment begins here, at the start of a line.
static bool begins_comment(TSLexer *lexer) {
  if (lexer->lookahead == '#') return true;
#ifdef ABL
  if (lexer->lookahead == '/') {
    lexer->advance(lexer, false);
    return lexer->lookahead == '/';
  }
#endif
  return false;
}

static inline bool is_word(int32_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c >= 0x80;
}

// So many comments a value goes on behind.
#define MAX_COMMENTS 64

// Looks at the next line with content, and remembers what decides about blocks. The scanner is in `column` of a line.
// Behind `most` comments no value goes on, so that a look ahead that is made again for each of them takes a limited time.
static void look_ahead(Layout *s, TSLexer *lexer, uint16_t column, uint32_t most) {
  s->pending = true;
  s->next_dash = s->next_section = s->next_else = s->next_end = false;
  s->next_closes = s->next_key = s->next_other = false;
  uint32_t comments = 0;
  for (;;) {
    column = skip_blanks(lexer, column);
    if (lexer->eof(lexer)) {
      s->next_end = true;
      s->next_column = 0;
      return;
    }
    if (lexer->lookahead == '\n') {
      lexer->advance(lexer, true);
      column = 0;
      continue;
    }
    s->next_column = column;
    if (!begins_comment(lexer)) break;
    comments++;
    skip_to_line_end(lexer);
  }
  look_at_line(s, lexer);
  if (comments > most) s->next_other = true;
}

static bool open_block(Layout *s, enum BlockKind kind, uint16_t column, uint16_t other) {
  if (s->depth >= MAX_NESTING) return false;
  s->depth++;
  *top(s) = (Block){.kind = kind, .condition = false, .column = column, .other = other};
  return true;
}

// Whether the next line is outside of the innermost block.
static bool leaves(const Layout *s) {
  const Block *block = &s->blocks[s->depth];
  if (block->kind == DOCUMENT) return false;
  if (s->next_end) return true;
  switch (block->kind) {
    case INDENTED: return s->next_column < block->column;
    case DASHES: return s->next_column < block->column || (s->next_column == block->column && !s->next_dash);
    default: return s->next_column <= block->other;
  }
}

// Between entries: one token of the blocks that end and begin before the next entry.
static bool between_entries(Layout *s, TSLexer *lexer) {
  lexer->mark_end(lexer);
  if (!s->pending) look_ahead(s, lexer, 0, UINT32_MAX);
  if (leaves(s)) {
    Block closed = *top(s);
    s->depth--;
    s->open_key = false;
    if (closed.kind == INDENTED) s->popped = true;
    s->last = closed.kind == IN_ITEM ? NOTHING : TAKES_LINES;
    return found(lexer, closed.kind == IN_ITEM ? ITEM_END : DEDENT);
  }
  if (s->next_end) {
    s->content = true;
    s->same_line = false;
    s->pending = false;
    return found(lexer, END);
  }
  Block *block = top(s);
  if (s->next_column > block->column) {
    if (s->last != TAKES_LINES) {
      // The first line below a bare dash decides where its item starts.
      if (block->kind == IN_ITEM) block->column = s->next_column;
    } else {
      bool opens = true;
#ifdef ABL
      // A section that is indented by mistake is a section still.
      if (s->popped && block->kind == DOCUMENT && s->next_section) opens = false;
#else
      // Left of the block above and right of what that belongs to: a line of the outer one.
      bool is_ragged = block->kind != IN_ITEM && block->other == s->next_column + 1;
      if (s->popped || is_ragged) {
        opens = false;
        if (block->kind != IN_ITEM) block->other = s->next_column < MAX_COLUMN ? s->next_column + 1 : 0;
      }
#endif
      if (opens && open_block(s, INDENTED, s->next_column, 0)) {
        s->last = NOTHING;
        s->popped = false;
        return found(lexer, INDENT);
      }
    }
  } else if (block->kind != IN_ITEM) {
    block->other = 0;
  }
#ifdef ABL
  if (s->next_dash && s->open_key && s->next_column == block->column && s->last == TAKES_LINES &&
      open_block(s, DASHES, s->next_column, 0)) {
    s->last = NOTHING;
    s->open_key = false;
    s->popped = false;
    return found(lexer, INDENT);
  }
#endif
  s->pending = false;
  s->popped = false;
  s->content = true;
  s->column = s->next_column;
  s->base = s->next_column;
  if (s->next_else && top(s)->condition) return found(lexer, ELSE_ENTRY);
  return found(lexer, ENTRY);
}

// Behind a dash: the item begins.
static bool item(Layout *s, TSLexer *lexer) {
  uint16_t dash = s->column;
  uint16_t column = dash < MAX_COLUMN ? dash + 1 : dash;
  uint16_t after = 0;
  bool has_tab = false;
  while (is_blank(lexer->lookahead)) {
    has_tab |= lexer->lookahead == '\t';
    after = next_stop(after, lexer->lookahead);
    lexer->advance(lexer, false);
  }
#ifdef ABL
  // A tab behind a dash counts as one column, since the lines below are aligned by eye.
  if (has_tab) after = 1;
#endif
  (void)has_tab;
  column += after;
  bool is_bare = at_line_end(lexer) || lexer->lookahead == '#';
  open_block(s, IN_ITEM, is_bare ? dash + 1 : column, dash);
  s->last = AFTER_ITEM;
  s->open_key = false;
  s->content = false;
  s->pending = false;
  if (!is_bare) {
    // What follows on the line is the first entry of the item.
    s->pending = true;
    s->next_column = column;
    s->next_end = s->next_section = s->next_else = false;
    s->next_dash = false;
    s->same_line = true;
    if (lexer->lookahead == '-') {
      lexer->advance(lexer, false);
      s->next_dash = is_blank(lexer->lookahead) || at_line_end(lexer);
    }
  }
  return found(lexer, ITEM);
}

// Comes to the content of an entry; false if the scanner found a comment instead, or nothing.
static bool to_content(Layout *s, TSLexer *lexer, bool *is_comment) {
  *is_comment = false;
  bool at_line_start = !s->same_line;
  for (;;) {
    skip_blanks(lexer, 0);
    if (lexer->lookahead != '\n') break;
    lexer->advance(lexer, true);
    at_line_start = true;
  }
  if (lexer->eof(lexer)) return false;
  lexer->mark_end(lexer);
  if (at_line_start && lexer->lookahead == '#') {
    *is_comment = true;
    return false;
  }
#ifdef ABL
  if (at_line_start && lexer->lookahead == '/') {
    lexer->advance(lexer, false);
    *is_comment = lexer->lookahead == '/';
    return !*is_comment;
  }
#endif
  return true;
}

static inline void begin_entry(Layout *s) {
  s->content = false;
  s->same_line = false;
  s->last = TAKES_LINES;
  s->open_key = false;
  s->open = 0;
  s->braces = 0;
  s->unfinished = false;
  s->continuing = false;
  s->text_header = false;
  s->text_comment = false;
}

// A part of a block text, up to a placeholder or the end of the text, and what may stand in its place.
static bool block_text(Layout *s, TSLexer *lexer, const bool *valid) {
  bool has_text = false;
  uint16_t column = 0;
  lexer->mark_end(lexer);
#ifdef ABL
  if (s->text_header) {
    bool blank = is_blank(lexer->lookahead);
    skip_blanks(lexer, 0);
    if (blank && lexer->lookahead == '#') return comment(lexer);
  }
#endif
  for (;;) {
    if (lexer->eof(lexer)) break;
    if (lexer->lookahead == '\n') {
      column = 0;
      // Blank lines belong to the text if a line of it follows.
      while (lexer->lookahead == '\n' || is_blank(lexer->lookahead)) {
        column = lexer->lookahead == '\n' ? 0 : next_stop(column, lexer->lookahead);
        lexer->advance(lexer, !has_text);
      }
      if (lexer->eof(lexer)) break;
#ifdef AGENT_SCRIPT
      // A comment neither ends the text nor belongs to it.
      if (column <= s->base && lexer->lookahead == '#') {
        if (s->text_comment && !has_text) return comment(lexer);
        while (column <= s->base && lexer->lookahead == '#') {
          skip_to_line_end(lexer);
          column = 0;
          while (lexer->lookahead == '\n' || is_blank(lexer->lookahead)) {
            column = lexer->lookahead == '\n' ? 0 : next_stop(column, lexer->lookahead);
            lexer->advance(lexer, false);
          }
        }
        if (lexer->eof(lexer) || column <= s->base) break;
        s->text_comment = true;
        s->text_header = false;
        return found(lexer, TEXT);
      }
#endif
      if (column <= s->base) break;
      continue;
    }
    if (is_blank(lexer->lookahead)) {
      lexer->advance(lexer, !has_text);
      continue;
    }
    if (lexer->lookahead == '{') {
      if (!has_text) lexer->mark_end(lexer);
      lexer->advance(lexer, false);
#ifdef ABL
      bool is_placeholder = lexer->lookahead == '{';
#else
      bool is_placeholder = lexer->lookahead == '!';
#endif
      if (is_placeholder) {
        s->text_header = false;
        return has_text && found(lexer, TEXT);
      }
      has_text = true;
      lexer->mark_end(lexer);
      continue;
    }
    has_text = true;
    lexer->advance(lexer, false);
    lexer->mark_end(lexer);
  }
  if (has_text) {
    s->text_comment = false;
    s->text_header = false;
    return found(lexer, TEXT);
  }
  if (!valid[NEWLINE]) return false;
  s->text_header = false;
  s->text_comment = false;
  s->last = TAKES_LINES;
  s->open_key = false;
  look_ahead(s, lexer, column, UINT32_MAX);
  return found(lexer, NEWLINE);
}

// Whether nothing but a comment follows on the line.
static bool is_last(TSLexer *lexer) {
  while (is_blank(lexer->lookahead)) lexer->advance(lexer, false);
  return at_line_end(lexer) || lexer->lookahead == '#';
}

// A sign that asks for more, which was read.
static bool sign(Layout *s, TSLexer *lexer, enum TokenType token) {
  lexer->mark_end(lexer);
  s->unfinished = is_last(lexer);
  return found(lexer, token);
}

static bool open_bracket(Layout *s, TSLexer *lexer, enum TokenType token) {
  s->braces = (s->braces << 1) | (token == OPEN_BRACE ? 1u : 0u);
  if (s->open < UINT8_MAX) s->open++;
  return sign(s, lexer, token);
}

static bool close_bracket(Layout *s, TSLexer *lexer, enum TokenType token) {
  s->braces >>= 1;
  if (s->open > 0) s->open--;
  s->unfinished = false;
  lexer->advance(lexer, false);
  lexer->mark_end(lexer);
  return found(lexer, token);
}

// A bracket or a sign that asks for more, if one is here. Two braces that open may be a placeholder, which is not a bracket.
static bool bracket_or_sign(Layout *s, TSLexer *lexer, const bool *valid) {
  switch (lexer->lookahead) {
    case '(':
      lexer->advance(lexer, false);
      return valid[OPEN_PAREN] && open_bracket(s, lexer, OPEN_PAREN);
    case '[':
      lexer->advance(lexer, false);
      return valid[OPEN_BRACKET] && open_bracket(s, lexer, OPEN_BRACKET);
    case '{':
      lexer->advance(lexer, false);
#ifdef ABL
      if (lexer->lookahead == '{') return false;
#endif
      return valid[OPEN_BRACE] && open_bracket(s, lexer, OPEN_BRACE);
    case ')': return valid[CLOSE_PAREN] && close_bracket(s, lexer, CLOSE_PAREN);
    case ']': return valid[CLOSE_BRACKET] && close_bracket(s, lexer, CLOSE_BRACKET);
    case '}': return valid[CLOSE_BRACE] && close_bracket(s, lexer, CLOSE_BRACE);
    case ',':
      lexer->advance(lexer, false);
      return valid[COMMA] && sign(s, lexer, COMMA);
    case ':':
      lexer->advance(lexer, false);
      return valid[COLON] && sign(s, lexer, COLON);
    case '-':
      lexer->advance(lexer, false);
      if (lexer->lookahead != '>') return false;
      lexer->advance(lexer, false);
      return valid[ARROW] && sign(s, lexer, ARROW);
    default: return false;
  }
}

// The end of an entry. What follows was looked at.
static bool end_of_entry(Layout *s, TSLexer *lexer, const bool *valid) {
  s->open = 0;
  s->braces = 0;
  s->unfinished = false;
  s->last = TAKES_LINES;
  s->open_key = valid[EMPTY];
  if (valid[EMPTY]) return found(lexer, EMPTY);
  return valid[NEWLINE] && found(lexer, NEWLINE);
}

// The end of a line in something that ends with it.
static bool end_of_line(TSLexer *lexer, enum TokenType token) {
  lexer->mark_end(lexer);
  while (is_blank(lexer->lookahead)) lexer->advance(lexer, false);
  return at_line_end(lexer) && found(lexer, token);
}

static bool scan(Layout *s, TSLexer *lexer, const bool *valid) {
  if (valid[ERROR_SENTINEL]) return false;
  if (valid[STRING_END]) return end_of_line(lexer, STRING_END);
  if (valid[PLACEHOLDER_END]) return end_of_line(lexer, PLACEHOLDER_END);
  if (valid[START]) {
    lexer->mark_end(lexer);
    look_ahead(s, lexer, 0, UINT32_MAX);
    // In a document that is indented as a whole, the left margin is its indentation.
    top(s)->column = s->next_column;
    return found(lexer, START);
  }
  bool takes_content = valid[LINE] || s->next_end;
#ifdef AGENT_SCRIPT
  takes_content = takes_content || valid[ELSE];
#endif
  if (s->content) return takes_content && content(s, lexer);
  if (valid[TEXT]) return block_text(s, lexer, valid);
  if (valid[NEWLINE] || valid[EMPTY] || valid[OPEN_PAREN]) return value(s, lexer, valid);
  if (valid[ENTRY] || valid[DEDENT] || valid[ITEM_END] || valid[END]) return between_entries(s, lexer);
  return false;
}

static unsigned serialize(const Layout *s, char *buffer) {
  unsigned fixed = offsetof(Layout, blocks);
  unsigned blocks = (s->depth + 1u) * sizeof(Block);
  memcpy(buffer, s, fixed + blocks);
  return fixed + blocks;
}

static void deserialize(Layout *s, const char *buffer, unsigned length) {
  memset(s, 0, sizeof(*s));
  if (length > 0 && length <= sizeof(*s)) memcpy(s, buffer, length);
}

_Static_assert(sizeof(Layout) <= TREE_SITTER_SERIALIZATION_BUFFER_SIZE, "the state fits into what parsers keep of it");

#endif
