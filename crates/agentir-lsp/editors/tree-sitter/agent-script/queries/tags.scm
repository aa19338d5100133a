; What a document defines, as the outline of the language server has it. The test `tree_sitter` of `tests` compares the two
; on all samples, and writes the lists below `words:` from the tables of the language. `@local.reference` is what is
; compared with words: the program `tree-sitter` takes no other names for that.

(source_file
  (pair key: (key) @local.reference name: (name) @name) @definition.class
  (#any-of? @local.reference "start_agent" "subagent" "topic" "orchestrator" "generator" "executor" "router" "echo" "trigger"))

(source_file
  [
    (pair key: (key) @local.reference (block (pair key: (key) @name) @definition.function))
    (pair (block (pair key: (key) @local.reference (block (pair key: (key) @name) @definition.function))))
  ]
  (#any-of? @local.reference "actions"))

(source_file
  (pair key: (key) @local.reference
    (block (pair key: (key) @name) @definition.variable))
  (#any-of? @local.reference "variables"))

; Variables that the model gives values.
(pair value: (value . (reference (namespace) @local.reference . (property) @local.reference))
  (block
    (statement (keyword) @local.reference
      (value (identifier) @name . (operator) @local.reference . (operator) @local.reference)) @definition.variable)
  (#any-of? @local.reference "@utils" ".setVariables" "with" "=" "..."))
