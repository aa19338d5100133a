//! Compiles the grammars of the language.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    agentir_grammars::compile(agentir_grammar_agent_script::GRAMMARS)
}
