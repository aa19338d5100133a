; Names of Neovim; Helix takes `@indent` alone.
(block) @indent.begin @indent
(block_text) @indent.begin @indent
