-- Loads a grammar into Neovim: run by `tests/editors/tree-sitter.sh`, with the language, the library, the folder of the
-- queries and a document. Prints a line for each check, and exits with 1 if one fails.

local language, library, queries, document = vim.env.LANGUAGE, vim.env.LIBRARY, vim.env.QUERIES, vim.env.DOCUMENT

local function read(path)
  local file = assert(io.open(path))
  local text = file:read('*a')
  file:close()
  return text
end

local failed = false
local function check(name, holds, seen)
  print((holds and 'ok ' or 'FAILED ') .. 'neovim: ' .. language .. ': ' .. name .. (holds and '' or ': ' .. vim.inspect(seen)) .. '\n')
  failed = failed or not holds
end

vim.treesitter.require_language(language, library)
vim.cmd('edit ' .. vim.fn.fnameescape(document))
local root = vim.treesitter.get_parser(0, language):parse()[1]:root()
check('a document is read', not root:has_error() and root:child_count() > 2, root:sexpr())
local parse = vim.treesitter.query and vim.treesitter.query.parse or vim.treesitter.parse_query
local function captures(name)
  local query = parse(language, read(queries .. '/' .. name))
  local found = {}
  for id, node in query:iter_captures(root, 0, 0, -1) do
    local text = vim.treesitter.query.get_node_text(node, 0)
    found[query.captures[id]] = found[query.captures[id]] or {}
    table.insert(found[query.captures[id]], text)
  end
  return found
end
local colours = captures('highlights.scm')
check('words have colours', colours.keyword and colours.property and colours.string, colours)
check('entries fold', captures('folds.scm').fold, nil)
-- A symbol that is typed is found by the same parser.
local before = #(captures('tags.scm').name or {})
check('names are found', before > 0, before)
vim.cmd(failed and 'cquit!' or 'qall!')
