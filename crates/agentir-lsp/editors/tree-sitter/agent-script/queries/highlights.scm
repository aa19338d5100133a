; The lists of words are written by the test `tree_sitter`, from the tables of the language.

(comment) @comment

; Keys

(pair key: (key) @property)
(source_file (pair key: (key) @keyword))
(pair name: (name) @type)
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

(placeholder ["{!" "}"] @punctuation.special)

(reference (namespace) @module)
(reference (property) @variable)
(placeholder (identifier) @variable)

(keyword) @keyword

((identifier) @constant.builtin
  (#any-of? @constant.builtin "True" "False" "None"))

((identifier) @keyword
  ; words: keywords
  (#any-of? @keyword
    "and" "ask" "available" "collect" "else" "for" "if" "is" "not" "or" "run" "set" "to" "transition" "when" "with"))

((identifier) @type
  ; words: types
  (#any-of? @type
    "boolean" "currency" "date" "datetime" "id" "integer" "linked" "list" "long" "mutable" "number" "object" "string"
    "time" "timestamp"))

(value (identifier) @function . "(")

(value (identifier) @function.builtin . "("
  ; words: functions
  (#any-of? @function.builtin
    "len" "max" "min"))
