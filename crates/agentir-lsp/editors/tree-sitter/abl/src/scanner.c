// The lines of an ABL document, as `crates/agentir-lang-abl/src/outline/layout.rs` reads them.
#define ABL
#include "../../common/layout.h"

#include <stdlib.h>

static inline bool starts_key(int32_t c) { return is_word(c) || c == '$' || c == '@'; }

static inline bool in_key(int32_t c) {
  return is_word(c) || c == '.' || c == '*' || c == '$' || c == '/' || c == '-';
}

// Whether a colon follows that ends a key.
static bool ends_key(TSLexer *lexer) {
  if (lexer->lookahead != ':') return false;
  lexer->advance(lexer, false);
  int32_t c = lexer->lookahead;
  return at_line_end(lexer) || is_blank(c) || c == '"' || c == '[' || c == '{' || c == '|';
}

// Whether a key begins here: `name:`, `name?:`, `ON INPUT:`, `"quoted name":`.
static bool key(TSLexer *lexer) {
  if (lexer->lookahead == '"') {
    lexer->advance(lexer, false);
    for (;;) {
      int32_t c = lexer->lookahead;
      if (at_line_end(lexer) || c == '\\' || c == '\r' || c == ':') return false;
      lexer->advance(lexer, false);
      if (c == '"') break;
    }
  } else {
    if (!starts_key(lexer->lookahead)) return false;
    while (in_key(lexer->lookahead)) lexer->advance(lexer, false);
    if (lexer->lookahead == '?') lexer->advance(lexer, false);
    if (lexer->lookahead == ' ') {
      lexer->advance(lexer, false);
      if (lexer->lookahead >= 'A' && lexer->lookahead <= 'Z') {
        while ((lexer->lookahead >= 'A' && lexer->lookahead <= 'Z') || lexer->lookahead == '_') {
          lexer->advance(lexer, false);
        }
      }
    }
  }
  while (lexer->lookahead == ' ' || lexer->lookahead == '\t') lexer->advance(lexer, false);
  return ends_key(lexer);
}

static bool content(Layout *s, TSLexer *lexer) {
  bool is_comment = false;
  if (!to_content(s, lexer, &is_comment)) return is_comment && comment(lexer);
  if (lexer->lookahead == '-') {
    lexer->advance(lexer, false);
    if ((is_blank(lexer->lookahead) || at_line_end(lexer)) && s->depth < MAX_NESTING) {
      lexer->mark_end(lexer);
      return item(s, lexer);
    }
    begin_entry(s);
    return found(lexer, LINE);
  }
  begin_entry(s);
  return found(lexer, key(lexer) ? PAIR : LINE);
}

// A lone mark of a block text: `|`, `>-`.
static bool mark(Layout *s, TSLexer *lexer) {
  lexer->advance(lexer, false);
  if (lexer->lookahead == '-' || lexer->lookahead == '+') lexer->advance(lexer, false);
  lexer->mark_end(lexer);
  bool blank = is_blank(lexer->lookahead);
  while (is_blank(lexer->lookahead)) lexer->advance(lexer, false);
  if (!at_line_end(lexer) && !(blank && lexer->lookahead == '#')) return false;
  s->text_header = true;
  return found(lexer, MARK);
}

// How a line begins. The scanner is at its first character.
static void look_at_line(Layout *s, TSLexer *lexer) {
  int32_t c = lexer->lookahead;
  if (c == '-') {
    lexer->advance(lexer, false);
    s->next_dash = is_blank(lexer->lookahead) || at_line_end(lexer);
  } else if (c >= 'A' && c <= 'Z') {
    while ((lexer->lookahead >= 'A' && lexer->lookahead <= 'Z') || lexer->lookahead == '_') {
      lexer->advance(lexer, false);
    }
    s->next_section = lexer->lookahead == ':';
  }
}

// Within the value of an entry.
static bool value(Layout *s, TSLexer *lexer, const bool *valid) {
  lexer->mark_end(lexer);
  bool blank = is_blank(lexer->lookahead);
  skip_blanks(lexer, 0);
  if (at_line_end(lexer)) {
    uint16_t column = 0;
    if (!lexer->eof(lexer) && (s->open > 0 || s->unfinished)) {
      lexer->advance(lexer, true);
      column = skip_blanks(lexer, 0);
      int32_t c = lexer->lookahead;
      bool closes = s->open > 0 && (c == ']' || c == '}' || c == ')');
      bool goes_on = closes ? column >= s->column : s->unfinished && column > s->column && !at_line_end(lexer);
      if (goes_on) {
        s->unfinished = false;
        lexer->mark_end(lexer);
        return valid[CONTINUATION] && found(lexer, CONTINUATION);
      }
    }
    look_ahead(s, lexer, column, UINT32_MAX);
    return end_of_entry(s, lexer, valid);
  }
  if (blank && lexer->lookahead == '#') {
    if (s->unfinished || s->open > 0) return comment(lexer);
    look_ahead(s, lexer, 0, UINT32_MAX);
    return end_of_entry(s, lexer, valid);
  }
  if (valid[MARK] && (lexer->lookahead == '|' || lexer->lookahead == '>')) return mark(s, lexer);
  return bracket_or_sign(s, lexer, valid);
}

void *tree_sitter_abl_external_scanner_create(void) { return calloc(1, sizeof(Layout)); }

void tree_sitter_abl_external_scanner_destroy(void *payload) { free(payload); }

unsigned tree_sitter_abl_external_scanner_serialize(void *payload, char *buffer) {
  return serialize((const Layout *)payload, buffer);
}

void tree_sitter_abl_external_scanner_deserialize(void *payload, const char *buffer, unsigned length) {
  deserialize((Layout *)payload, buffer, length);
}

bool tree_sitter_abl_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid) {
  return scan((Layout *)payload, lexer, valid);
}
