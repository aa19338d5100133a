-- Drives Neovim with the server: run by `cargo xtask editors`, in a folder with `pool.agent.abl`.
-- Prints a line for each check, and exits with 1 if one fails.

local failed = false
local function check(name, holds, seen)
  if holds then
    print('ok ' .. name .. '\n')
  else
    failed = true
    print('FAILED ' .. name .. ': ' .. vim.inspect(seen) .. '\n')
  end
end

local folder = vim.fn.getcwd()
local id = vim.lsp.start_client({
  name = 'agentir',
  cmd = { vim.env.AGENTIR, 'lsp' },
  root_dir = folder,
  workspace_folders = { { uri = vim.uri_from_fname(folder), name = 'pool' } },
})
vim.lsp.buf_attach_client(0, id)
local client
vim.wait(10000, function()
  client = vim.lsp.get_client_by_id(id)
  return client and client.initialized
end, 20)

local function rules()
  local names = {}
  for _, found in ipairs(vim.diagnostic.get(0)) do
    names[found.code] = found.lnum
  end
  return names
end

local function until_rules(holds)
  vim.wait(10000, function() return holds(rules()) end, 20)
  return rules()
end

local function ask(method, params)
  local answers = vim.lsp.buf_request_sync(0, method, params, 10000) or {}
  local answer = answers[id] or {}
  return answer.result, answer.err or answer.error
end

local function at(line, character)
  vim.api.nvim_win_set_cursor(0, { line + 1, character })
  return vim.lsp.util.make_position_params(0, client.offset_encoding)
end

local function text()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\n') .. '\n'
end

-- Findings, and that they move with the text.
local found = until_rules(function(all) return all['undefined-tool'] end)
check('findings are shown', found['undefined-tool'] == 8, found)
vim.api.nvim_buf_set_lines(0, 0, 0, true, { '# 😀 a note' })
found = until_rules(function(all) return all['undefined-tool'] == 9 end)
check('findings move with edits', found['undefined-tool'] == 9, found)

-- A character behind one beyond the basic plane.
vim.api.nvim_buf_set_text(0, 0, 6, 0, 6, { ' more' })
local hover = ask('textDocument/hover', at(5, 4))
local said = hover and vim.inspect(hover.contents) or ''
check('hover describes a tool', said:find('book_lane%(day: string%)') and said:find('Books a lane'), hover)

-- A quick fix.
local params = at(9, 10)
params.range = { start = params.position, ['end'] = params.position }
params.context = { diagnostics = {}, only = { 'quickfix' } }
local actions = ask('textDocument/codeAction', params) or {}
local fix
for _, action in ipairs(actions) do
  if action.title:find('Replace by') then fix = action end
end
check('a quick fix is offered', fix, actions)
if fix then
  vim.lsp.util.apply_workspace_edit(fix.edit, client.offset_encoding)
end
check('a quick fix is made', text():find('CALL: book_lane%(day'), text())
found = until_rules(function(all) return not all['undefined-tool'] end)
check('a finding that is fixed is gone', not found['undefined-tool'], found)

-- Renaming.
params = at(9, 10)
params.newName = 'reserve_lane'
local edit, err = ask('textDocument/rename', params)
check('a rename is answered', edit, err)
if edit then
  vim.lsp.util.apply_workspace_edit(edit, client.offset_encoding)
end
local renamed = text()
check('a rename changes all places', renamed:find('CALL: reserve_lane') and renamed:find('\n  reserve_lane%(day: string%)') and not renamed:find('book_lane'), renamed)
params.newName = 'no name'
_, err = ask('textDocument/rename', params)
check('a wrong name is refused', err and err.message:find('cannot be the name'), err)

-- Symbols, completion, formatting.
local symbols = ask('textDocument/documentSymbol', { textDocument = params.textDocument })
check('symbols are listed', symbols and symbols[1] and symbols[1].name == 'Pool', symbols)
vim.api.nvim_buf_set_lines(0, 11, 11, true, { '  CALL:    rese' })
local items = ask('textDocument/completion', at(11, 15))
local labels = {}
for _, item in ipairs(items and items.items or {}) do labels[item.label] = true end
check('half a line is completed', labels.reserve_lane, labels)
vim.api.nvim_buf_set_lines(0, 11, 12, true, { '  RESPOND:    "Bye"' })
local edits = ask('textDocument/formatting', { textDocument = params.textDocument, options = { tabSize = 2, insertSpaces = true } })
vim.lsp.util.apply_text_edits(edits or {}, 0, client.offset_encoding)
check('a document is formatted', text():find('  RESPOND: "Bye"'), text())
check('a note with an emoji stays', text():find('# 😀 more a note') or text():find('😀'), text())

client.stop()
check('the server ends', vim.wait(10000, function() return client.is_stopped() end, 20), 'it runs')
vim.cmd(failed and 'cquit!' or 'qall!')
