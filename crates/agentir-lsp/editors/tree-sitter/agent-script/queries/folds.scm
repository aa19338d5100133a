[
  (pair)
  (line)
  (item)
  (statement)
  (if_clause)
  (else_if_clause)
  (else_clause)
] @fold
