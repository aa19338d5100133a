[
  (pair)
  (line)
  (item)
] @fold
