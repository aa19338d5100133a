// The lines of an Agent Script document, as `crates/agentir-lang-agent-script/src/layout.rs` reads them.
#define AGENT_SCRIPT
#include "../../common/layout.h"

#include <stdlib.h>

#define LONGEST_KEYWORD 16

// How a line starts.
typedef struct {
  char first[LONGEST_KEYWORD];  // its first word, or nothing if that is longer or in quotes
  int32_t after;                // the character behind the first word
  bool has_more;                // other words follow before the colon
  bool is_key;                  // there is a colon behind the words
  bool is_else_if;              // `if` is the second word
} Head;

static inline bool in_word(int32_t c) { return is_word(c) || c == '-'; }

// Skips a name in quotes.
static bool quoted(TSLexer *lexer) {
  lexer->advance(lexer, false);
  while (lexer->lookahead != '"') {
    if (at_line_end(lexer) || lexer->lookahead == '\\' || lexer->lookahead == '\r') return false;
    lexer->advance(lexer, false);
  }
  lexer->advance(lexer, false);
  return true;
}

static Head read_head(TSLexer *lexer) {
  Head head = {.first = "", .after = lexer->lookahead};
  bool has_word = is_word(lexer->lookahead);
  if (has_word) {
    unsigned length = 0;
    while (in_word(lexer->lookahead)) {
      if (length < LONGEST_KEYWORD) head.first[length++] = lexer->lookahead < 0x80 ? (char)lexer->lookahead : '?';
      lexer->advance(lexer, false);
    }
    if (length == LONGEST_KEYWORD) length = 0;
    head.first[length] = 0;
    head.after = lexer->lookahead;
  } else if (lexer->lookahead != '"' || !quoted(lexer)) {
    return head;
  }
  for (unsigned words = 0;; words++) {
    bool space = false;
    while (lexer->lookahead == ' ' || lexer->lookahead == '\t') {
      space = true;
      lexer->advance(lexer, false);
    }
    if (lexer->lookahead == ':') {
      head.is_key = true;
      return head;
    }
    if (!has_word || !space) return head;
    if (lexer->lookahead == '"') {
      if (!quoted(lexer)) return head;
    } else if (is_word(lexer->lookahead)) {
      char word[3] = {0};
      unsigned length = 0;
      while (in_word(lexer->lookahead)) {
        if (length < 3) word[length++] = lexer->lookahead < 0x80 ? (char)lexer->lookahead : '?';
        lexer->advance(lexer, false);
        if (words == 0) head.is_else_if = length == 2 && word[0] == 'i' && word[1] == 'f' && !is_word(lexer->lookahead);
      }
    } else {
      return head;
    }
    head.has_more = true;
  }
}

static bool is_one_of(const char *word, const char *const *words) {
  for (; *words; words++) {
    if (!strcmp(word, *words)) return true;
  }
  return false;
}

static const char *const STATEMENTS[] = {"set", "run", "with", "to", "transition", "available", "collect", "ask", NULL};
static const char *const ELSE_IFS[] = {"elif", "elseif", "elsif", NULL};

// What begins at the start of a line that is no item.
static enum TokenType kind_of(const Layout *s, const Head *head) {
  bool is_if = !strcmp(head->first, "if");
  bool is_else = !strcmp(head->first, "else");
  bool is_else_if = is_one_of(head->first, ELSE_IFS) || (is_else && head->is_else_if);
  bool goes_on = s->next_else && s->blocks[s->depth].condition;
  if (goes_on) return is_else_if ? ELSE_IF : ELSE;
  bool is_keyword = is_if || is_else || is_else_if || is_one_of(head->first, STATEMENTS);
  int32_t c = head->after;
  bool ends = c == 0 || c == '\n' || is_blank(c) || c == '@' || c == '#' || c == '(';
  // `set:` is a key; `if ready:`, `else:` and `run x:` are not. Nor is `set.x` a statement.
  bool is_statement = is_keyword && (head->is_key ? head->has_more || is_else : ends);
  if (!is_statement) return head->is_key ? PAIR : LINE;
  return is_if ? IF : STATEMENT;
}

static bool content(Layout *s, TSLexer *lexer) {
  bool is_comment = false;
  if (!to_content(s, lexer, &is_comment)) return is_comment && comment(lexer);
  bool is_dash = lexer->lookahead == '-';
  if (is_dash) {
    lexer->advance(lexer, false);
    if ((is_blank(lexer->lookahead) || at_line_end(lexer)) && s->depth < MAX_NESTING) {
      lexer->mark_end(lexer);
      top(s)->condition = false;
      return item(s, lexer);
    }
  }
  // A text behind a dash has to be right of the dash.
  bool is_text = lexer->lookahead == '|';
  if (is_text && s->same_line && top(s)->kind == IN_ITEM) s->base = top(s)->other;
  enum TokenType kind = LINE;
  if (!is_dash && !is_text) {
    Head head = read_head(lexer);
    kind = kind_of(s, &head);
  }
  top(s)->condition = kind == IF || kind == ELSE_IF;
  begin_entry(s);
  return found(lexer, kind);
}

// How a line begins. The scanner is at its first character.
static void look_at_line(Layout *s, TSLexer *lexer) {
  int32_t c = lexer->lookahead;
  if (c == '-') {
    lexer->advance(lexer, false);
    s->next_dash = is_blank(lexer->lookahead) || at_line_end(lexer);
    return;
  }
  s->next_closes = c == ')' || c == ']' || c == '}';
  s->next_other = c == '|';
  if (!is_word(c) && c != '"') return;
  Head head = read_head(lexer);
  bool is_else_if = is_one_of(head.first, ELSE_IFS);
  bool ends = head.after != '-' && head.after != '.';
  s->next_key = head.is_key;
  s->next_else = ends && (is_else_if || !strcmp(head.first, "else"));
  s->next_other = !head.is_key && (is_else_if || is_one_of(head.first, STATEMENTS));
}

// Whether the line that was looked at goes on with the brackets that are open.
static bool continues(const Layout *s) {
  if (s->next_end || s->next_other) return false;
  if (s->next_closes) return s->next_column >= s->column;
  if (s->next_column <= s->column) return false;
  // `key:` inside `{`: a field, if a field may come here.
  return !s->next_key || ((s->braces & 1) && s->unfinished);
}

// Within the value of an entry.
static bool value(Layout *s, TSLexer *lexer, const bool *valid) {
  lexer->mark_end(lexer);
  skip_blanks(lexer, 0);
  if (s->continuing && lexer->lookahead == '\n') {
    while (lexer->lookahead == '\n' || is_blank(lexer->lookahead)) lexer->advance(lexer, true);
    lexer->mark_end(lexer);
    s->continuing = false;
    return valid[CONTINUATION] && found(lexer, CONTINUATION);
  }
  if (lexer->lookahead == '#' && s->open > 0) return comment(lexer);
  if (at_line_end(lexer) || lexer->lookahead == '#') {
    look_ahead(s, lexer, 0, s->open > 0 ? MAX_COMMENTS : UINT32_MAX);
    if (s->open > 0 && continues(s)) {
      s->pending = false;
      s->continuing = true;
      return valid[CONTINUATION] && found(lexer, CONTINUATION);
    }
    return end_of_entry(s, lexer, valid);
  }
  if (valid[MARK] && lexer->lookahead == '|') {
    lexer->advance(lexer, false);
    lexer->mark_end(lexer);
    return found(lexer, MARK);
  }
  return bracket_or_sign(s, lexer, valid);
}

void *tree_sitter_agent_script_external_scanner_create(void) { return calloc(1, sizeof(Layout)); }

void tree_sitter_agent_script_external_scanner_destroy(void *payload) { free(payload); }

unsigned tree_sitter_agent_script_external_scanner_serialize(void *payload, char *buffer) {
  return serialize((const Layout *)payload, buffer);
}

void tree_sitter_agent_script_external_scanner_deserialize(void *payload, const char *buffer, unsigned length) {
  deserialize((Layout *)payload, buffer, length);
}

bool tree_sitter_agent_script_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid) {
  return scan((Layout *)payload, lexer, valid);
}
