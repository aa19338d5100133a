; The lists of words are written by the test `tree_sitter`, from the tables of the language.

(comment) @comment

; Keys

(pair key: (key) @property)
(source_file (pair key: (key) @keyword))
(pair ":" @punctuation.delimiter)

; Values

(string) @string
(single_quoted) @string
(escape_sequence) @string.escape
(block_text) @string
(block_text "|" @punctuation.special)
(number) @number
(operator) @operator
["->"] @operator
["," ":"] @punctuation.delimiter
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
(item "-" @punctuation.special)

(placeholder ["{{" "}}"] @punctuation.special)
(placeholder (identifier) @variable)
(placeholder (block_helper) @keyword)

((identifier) @constant.builtin
  (#any-of? @constant.builtin "true" "false" "null"))

((identifier) @keyword
  ; words: capitals
  (#any-of? @keyword
    "AND" "AS" "ASC" "ASK_USER" "BACKTRACK" "BEFORE" "BLOCK" "COMPLETE" "CONTINUE" "DEFAULT" "DELEGATE" "DESC"
    "END_CONVERSATION" "ESCALATE" "FAIL" "FROM" "GOTO" "HANDOFF" "IMPLIES" "IN" "INTENT" "INTENT_MATCH" "INTO" "IS"
    "LIMIT" "NOT" "OR" "REDACT" "REQUIRE" "RESPOND" "RESTRICT" "RESUME" "RESUME_INTENT" "RETRY" "RETRY_STEP"
    "ROUTE_TO" "ROUTE_TO_USER" "ROUTE_TO_VARIABLE" "SET" "SYSTEM_ACTION" "TRANSITION" "WARN"))

((identifier) @keyword.operator
  (#any-of? @keyword.operator "matches" "contains" "startsWith" "endsWith" "is_number"))

(value (identifier) @function . "(")

(value (identifier) @function.builtin . "("
  ; words: functions
  (#any-of? @function.builtin
    "ABS" "ADD" "ARRAY_FIND" "ARRAY_FIND_INDEX" "AVG" "COALESCE" "DIV" "FIRST_NON_EMPTY" "FORMAT_CURRENCY"
    "FORMAT_DATE" "IF" "IS_ARRAY" "IS_NUMBER" "IS_STRING" "JOIN" "LENGTH" "LOWER" "MASK" "MATCHES" "MATCH_RESULT"
    "MATCH_SCORE" "MAX" "MIN" "MUL" "NOW" "NOW_MS" "OBJECT_KEYS" "OBJECT_MERGE" "OBJECT_VALUES" "ORDINAL" "PAD_END"
    "PAD_START" "REGEX_EXTRACT" "REGEX_REPLACE" "REPEAT" "REPLACE" "ROUND" "SPLIT" "SUB" "SUBSTRING" "TO_NUMBER"
    "TO_STRING" "TRIM" "UNIQUE_ID" "UPPER" "bool" "contains_code" "contains_email" "contains_pii" "contains_url"
    "detect_pii" "double" "has" "int" "len" "matches_pattern" "not_matches_pattern" "pii_equal" "redact_pii"
    "sentence_count" "size" "string" "word_count"))

(value ":" . (identifier) @type
  ; words: types
  (#any-of? @type
    "array" "attachment" "boolean" "currency" "date" "datetime" "email" "enum" "float" "free_text" "integer"
    "location" "number" "object" "pattern" "phone" "string" "text"))

(pair key: (key) @property value: (value . (identifier) @type .)
  (#any-of? @property "type" "TYPE")
  ; words: types
  (#any-of? @type
    "array" "attachment" "boolean" "currency" "date" "datetime" "email" "enum" "float" "free_text" "integer"
    "location" "number" "object" "pattern" "phone" "string" "text"))

; Names

(source_file (pair key: (key) @keyword value: (value) @type)
  (#any-of? @keyword "AGENT" "SUPERVISOR" "agent" "supervisor"))
