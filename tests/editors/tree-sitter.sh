#!/usr/bin/env bash
# Runs the grammars with the program `tree-sitter`: run by `cargo xtask editors`, in a folder of its own. Prints a line for
# each check, and exits with 1 if one fails.
set -uo pipefail
command -v tree-sitter >/dev/null || { echo "  not run: \`cargo install tree-sitter-cli\` installs it"; exit 1; }
failed=0
check() { # name, what was expected, what was seen
  if grep -qF -- "$2" <<<"$3"; then echo "ok $1"; else
    echo "FAILED $1: $3"
    failed=1
  fi
}

cp -r "$ROOT/crates/agentir-lsp/editors/tree-sitter" tree-sitter-agentir
export HOME="$PWD/home" XDG_CACHE_HOME="$PWD/cache" XDG_CONFIG_HOME="$PWD/config"
mkdir -p "$HOME" "$XDG_CONFIG_HOME/tree-sitter"
echo "{ \"parser-directories\": [\"$PWD\"] }" >"$XDG_CONFIG_HOME/tree-sitter/config.json"

for grammar in abl agent-script; do
  (cd "tree-sitter-agentir/$grammar" && tree-sitter generate --abi 14) || failed=1
  changed=$(diff -rq "tree-sitter-agentir/$grammar/src" "$ROOT/crates/agentir-lsp/editors/tree-sitter/$grammar/src" 2>&1)
  check "$grammar: the parser is that of the grammar" "as generated" "${changed:-as generated}"
done

script="$ROOT/corpus/agent-script/valid/beekeeper_hotline.agent"
cd tree-sitter-agentir || exit 1
check "abl: tags" "book_lane" "$(tree-sitter tags ../pool.agent.abl 2>&1)"
check "agent-script: tags" "Read_Scale" "$(tree-sitter tags "$script" 2>&1)"
colours() { tree-sitter highlight --html --style classes "$1" 2>&1; }
check "abl: words have colours" "<span class='keyword'>AGENT</span>" "$(colours ../pool.agent.abl)"
check "agent-script: words have colours" "<span class='keyword'>set</span>" "$(colours "$script")"
check "abl: folds" "fold" "$(tree-sitter query --grammar-path abl abl/queries/folds.scm ../pool.agent.abl 2>&1)"
check "agent-script: folds" "fold" "$(tree-sitter query --grammar-path agent-script agent-script/queries/folds.scm "$script" 2>&1)"

# Neovim loads the same parsers, if it is there.
cd ..
if command -v nvim >/dev/null; then
  for one in "abl abl pool.agent.abl" "agent-script agent_script $script"; do
    read -r folder language document <<<"$one"
    cc -shared -fPIC -O1 -I "tree-sitter-agentir/$folder/src" "tree-sitter-agentir/$folder/src/"{parser,scanner}.c -o "$language.so" || failed=1
    LANGUAGE=$language LIBRARY="$PWD/$language.so" QUERIES="$PWD/tree-sitter-agentir/$folder/queries" DOCUMENT=$document \
      nvim --headless -u NONE -i NONE -n -c "lua local ok, error = pcall(dofile, '$ROOT/tests/editors/grammar.lua') if not ok then print(error) vim.cmd('cquit!') end" 2>&1 || failed=1
  done
fi
exit "$failed"
