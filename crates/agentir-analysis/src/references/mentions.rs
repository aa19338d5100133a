//! Names in the words of instructions.

use super::collect::{Collector, Owner};
use super::{Role, Scope, SymbolKind};
use crate::prompt::Prompt;
use agentir_expr::Template;
use agentir_ir::Node;
use rustc_hash::FxHashSet;

impl<'a> Collector<'a> {
    /// The names in the instructions of an agent: those of agents after a verb of handing over, in any form; those of
    /// its tools, of agents and of its arguments, where they look like names.
    pub(super) fn mentions(&mut self, owner: Owner<'_, 'a>, prompts: &[Prompt<'a>]) {
        for prompt in prompts {
            for handoff in &prompt.mentions.handoffs {
                let agent = self.symbol(SymbolKind::Agent, Scope::Program, handoff.to);
                self.add(agent, prompt.place(&handoff.name), Role::Mention);
            }
            self.mentioned(owner, prompt.template);
        }
    }

    /// The names in what else the model is told: who it is, what it may do, and what tools are for.
    pub(super) fn mentions_in_identity(&mut self, owner: Owner<'_, 'a>) {
        let identity = &owner.agent.identity;
        let texts = identity.goal.iter().chain(&identity.persona).chain(&identity.limitations);
        let texts = texts.chain(identity.system_prompt.iter().map(|prompt| &prompt.template));
        let described = owner.agent.tools.iter().filter_map(|tool| tool.description.as_ref());
        texts.chain(described).for_each(|text| self.mentioned(owner, text));
        let bindings = owner.agent.reasoning.iter().flat_map(|zone| &zone.bindings);
        for text in bindings.filter_map(|binding| binding.description.as_ref()) {
            self.mentioned(owner, text);
        }
    }

    /// The names by which the model knows the tools of an agent, in the texts that it is told. Where references say what
    /// they refer to, other words are only words, but for these: the model calls what it is told to by its name.
    pub(super) fn mentions_of_bindings(&mut self, owner: Owner<'_, 'a>) {
        let mut texts: Vec<&'a Template> = Vec::new();
        let mut bound: FxHashSet<&'a str> = FxHashSet::default();
        owner.agent.walk(&mut |node| match node {
            Node::Template(template) => texts.push(template),
            Node::ToolBinding(binding) => {
                bound.insert(binding.name.value.as_str());
            }
            _ => {}
        });
        for text in texts {
            for word in names(&text.text.value) {
                let before = text.text.value.get(..word.range.start).unwrap_or_default();
                if before.ends_with(['.', '@']) || !bound.contains(word.text) {
                    continue;
                }
                let own = self.tool_symbol(owner.tools, word.text);
                let scope = Scope::Agent(owner.id);
                let tool = own.unwrap_or_else(|| self.symbol(SymbolKind::Tool, scope, word.text));
                self.add(tool, text.place(word.range.clone()), Role::Mention);
            }
        }
    }

    /// The names in a text that look like names.
    fn mentioned(&mut self, owner: Owner<'_, 'a>, text: &Template) {
        for word in names(&text.text.value) {
            // The member of something, or what a namespace says more of.
            let before = text.text.value.get(..word.range.start).unwrap_or_default();
            if before.ends_with(['.', '@']) || before.trim_end().ends_with('{') {
                continue;
            }
            let span = text.place(word.range.clone());
            if let Some(tool) = self.tool_symbol(owner.tools, word.text) {
                self.add(tool, span, Role::Mention);
            } else if self.is_agent(word.text) {
                let agent = self.symbol(SymbolKind::Agent, Scope::Program, word.text);
                self.add(agent, span, Role::Mention);
            } else if self.is_argument(owner, word.text) {
                let variable = self.variable_symbol(owner.id, word.text);
                self.add(variable, span, Role::Mention);
            }
        }
    }

    /// Whether the model fills the variable from what the user says, by its name.
    fn is_argument(&self, owner: Owner<'_, 'a>, name: &str) -> bool {
        owner.agent.metadata.dialect.traits().arguments_are_variables
            && owner.variables.contains(name)
    }
}

/// A word of a text.
struct Word<'t> {
    text: &'t str,
    range: std::ops::Range<usize>,
}

/// The words of a text that look like names: with `_` inside, or in quotes.
fn names(text: &str) -> impl Iterator<Item = Word<'_>> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = text.get(at..)?;
            let start = at + rest.find(is_part)?;
            let tail = text.get(start..)?;
            let end = start + tail.find(|c| !is_part(c)).unwrap_or(tail.len());
            at = end;
            let word = text.get(start..end)?;
            let before = text.get(..start)?.chars().next_back();
            let after = text.get(end..)?.chars().next();
            let mark = |c: char| matches!(c, '"' | '\'' | '`' | '“' | '”' | '‘' | '’');
            let quoted = before.is_some_and(mark) && after.is_some_and(mark);
            if quoted || looks_like_code(word) {
                return Some(Word { text: word, range: start..end });
            }
        }
    })
}

/// Whether a word is spelled like a name and no word of prose: with `_`, a capital or a digit inside.
#[must_use]
pub fn looks_like_code(word: &str) -> bool {
    let inner = word.trim_matches('_');
    let is_upper = || inner.chars().all(char::is_uppercase);
    inner.contains('_')
        || (inner.chars().skip(1).any(char::is_uppercase) && !is_upper())
        || (inner.contains(|c: char| c.is_ascii_digit()) && inner.contains(char::is_alphabetic))
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn names_have_an_underscore_or_quotes() {
        let text = "Call add_payee, then `pay` (not pay); fill “card” and user's _x_. ä_ö";
        let found: Vec<&str> = names(text).map(|word| word.text).collect();
        assert_eq!(found, ["add_payee", "pay", "card", "ä_ö"]);
    }
}
