; What a document defines, as the outline of the language server has it. The test `tree_sitter` of `tests` compares the two
; on all samples, and writes the lists below `words:` from the tables of the language. `@local.reference` is what is
; compared with words: the program `tree-sitter` takes no other names for that.

(source_file
  (pair key: (key) @local.reference value: (value) @name) @definition.class
  (#any-of? @local.reference "AGENT" "SUPERVISOR" "agent" "supervisor"))

; Sections stand at the margin, or below the agent.

; Tools

(pair key: (key) @local.reference
  (block (line (value . (identifier) @name . "(")) @definition.function)
  (#any-of? @local.reference "TOOLS" "tools"))

(pair key: (key) @local.reference
  (block (item (line (value . (identifier) @name . "(")) @definition.function))
  (#any-of? @local.reference "TOOLS" "tools" "TOOLS_ADD" "tools_add"))

; … in the form of a block.
(source_file
  (pair key: (key) @local.reference
    (block (pair key: (key) @name (block)) @definition.function))
  (#any-of? @local.reference "TOOLS" "tools")
  ; words: fields of tools, tool library
  (#not-any-of? @name
    "AUTH" "AUTH_CONFIG" "BASE_URL" "DESCRIPTION" "FILE" "HEADERS" "NAME" "RATE_LIMIT" "RETRY" "RETRY_DELAY" "TIMEOUT"
    "TOOLS" "USE_TOOL" "VERSION" "auth" "auth_config" "base_url" "description" "file" "headers" "name" "rate_limit"
    "retry" "retry_delay" "timeout" "tools" "use_tool" "version"))

; Steps

(source_file
  [
    (pair key: (key) @local.reference (block (pair key: (key) @name) @definition.method))
    (pair (block (pair key: (key) @local.reference (block (pair key: (key) @name) @definition.method))))
  ]
  (#any-of? @local.reference "FLOW" "flow")
  ; words: fields of flow, flow modifications
  (#not-any-of? @name
    "ENTRY_POINT" "GLOBAL_DIGRESSIONS" "INSERTIONS" "INSERT_AFTER" "INSERT_BEFORE" "OVERRIDES" "REPLACE" "SKIP"
    "STEPS" "entry_point" "global_digressions" "insert_after" "insert_before" "insertions" "overrides" "replace"
    "skip" "steps"))

(pair key: (key) @local.reference
  (block (pair key: (key) @local.reference
    (block (pair key: (key) @name) @definition.method)))
  (#any-of? @local.reference "FLOW" "flow" "steps" "STEPS"))

; Variables

(source_file
  [
    (pair key: (key) @local.reference (block (pair key: (key) @name) @definition.variable))
    (pair (block (pair key: (key) @local.reference (block (pair key: (key) @name) @definition.variable))))
    (pair key: (key) @local.reference (block (item . (pair key: (key) @name) @definition.variable)))
    (pair key: (key) @local.reference (block (item . (line (value . (identifier) @name .)) @definition.variable)))
  ]
  (#any-of? @local.reference "GATHER" "gather")
  ; words: fields of gather, gather overrides
  (#not-any-of? @name
    "CONFIRMATION" "CORRECTION_PATTERNS" "FIELDS" "FIELD_OVERRIDES" "MESSAGE_KEY" "PROMPT" "STRATEGY"
    "VALIDATION_STYLE" "confirmation" "correction_patterns" "field_overrides" "fields" "message_key" "prompt"
    "strategy" "validation_style"))

(pair key: (key) @local.reference
  (block (pair key: (key) @local.reference
    [
      (block (item . (line (value . (identifier) @name)) @definition.variable))
      (block (pair (block (item . (line (value . (identifier) @name)) @definition.variable))))
    ]))
  (#any-of? @local.reference "MEMORY" "memory" "session" "SESSION" "persistent" "PERSISTENT"))

(pair key: (key) @local.reference
  (block (pair key: (key) @local.reference
    (block (item . (pair key: (key) @local.reference value: (value . (identifier) @name .)) @definition.variable))))
  (#any-of? @local.reference "MEMORY" "memory" "session" "SESSION" "persistent" "PERSISTENT" "name" "NAME" "path" "PATH"))

(source_file
  (pair key: (key) @local.reference
    (block (pair (block (pair key: (key) @name) @definition.variable))))
  (#any-of? @local.reference "STATE" "state"))
