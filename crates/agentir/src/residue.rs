//! What is left of a name in the texts of a program, where it could refer to a symbol without being an occurrence.
//!
//! Renaming edits occurrences, and occurrences are what the analysis reads. This looks at the text itself, with what the
//! language says about each place: names, expressions, placeholders, and prose in which a word is spelled like code.

use crate::snapshot::{ProgramId, Snapshot};
use crate::symbols::name_kind;
use agentir_analysis::references::{
    References, Scope, Symbol, SymbolId, SymbolKind, looks_like_code,
};
use agentir_diagnostics::{FileId, Span};
use agentir_expr::dialect::RuntimeNames;
use agentir_syntax::context::{Context, Position, Shape};
use std::collections::BTreeMap;
use std::ops::Range;

/// A place where a name is left.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Residue {
    pub span: Span,
    /// Whether it can be nothing but a reference to the symbol: the language says that such a name stands there, or the
    /// reference says so itself.
    pub is_clear: bool,
}

impl Snapshot {
    /// The places where the name of a symbol stands as a word, is neither an occurrence nor edited, and could refer to
    /// the symbol.
    pub(crate) fn residue(
        &self,
        id: ProgramId,
        references: &References,
        symbol: SymbolId,
        edits: &BTreeMap<Span, String>,
    ) -> Vec<Residue> {
        let mut left = Vec::new();
        let (Some(found), Some(program)) = (references.symbol(symbol), self.ir(id)) else {
            return left;
        };
        let runtime = program.dialect().runtime();
        // A path of persistent memory is found by all its parts.
        let name = found.name.as_str();
        // Other agents write `agent.name`, wherever they are.
        let owner = match found.scope {
            Scope::Agent(agent) if program.dialect().traits().reads_other_agents => {
                program.agents().nth(agent.index()).map(|agent| agent.metadata.name.value.as_str())
            }
            _ => None,
        };
        for file in self.loaded(id).map_or(&[][..], |loaded| &loaded.files) {
            let Some(source) = self.sources().get(*file) else { continue };
            let is_code = self.detected(*file).is_none_or(|found| found.kind.comments.is_some());
            if is_code || !source.text.contains(name) {
                continue;
            }
            let within = match self.scope_in(id, *file, references, symbol) {
                Some(within) => within,
                None if owner.is_some() => 0..0,
                None => continue,
            };
            let known = references.in_file(*file);
            for at in words(&source.text, name) {
                let Ok(start) = u32::try_from(at) else { break };
                let Ok(end) = u32::try_from(at + name.len()) else { break };
                let word = Span::new(*file, start, end);
                let holds = |around: &Span| around.start <= start && end <= around.end;
                let before = source.text.get(..at).unwrap_or_default();
                let is_owned = owner.is_some_and(|owner| qualifier(before) == Some(owner));
                if !(is_owned || (within.start <= at && at < within.end))
                    || known.iter().any(|occurrence| holds(&occurrence.span))
                    || edits.keys().any(|edit| edit.file == *file && holds(edit))
                {
                    continue;
                }
                if let Some(is_clear) =
                    self.may_refer(&source.text, word, (found, is_owned), runtime)
                {
                    left.push(Residue { span: word, is_clear });
                }
            }
        }
        left
    }

    /// The part of a file in which a symbol is known.
    fn scope_in(
        &self,
        id: ProgramId,
        file: FileId,
        references: &References,
        symbol: SymbolId,
    ) -> Option<Range<usize>> {
        let all = 0..usize::MAX;
        let found = references.symbol(symbol)?;
        let agents = || self.ir(id).into_iter().flat_map(|program| program.agents());
        match found.scope {
            Scope::Agent(agent) => {
                let agent = agents().nth(agent.index())?;
                let others = agents().filter(|other| other.span.file == file).count();
                if agent.span.file != file {
                    // What agents share, such as profiles.
                    (others == 0).then_some(all)
                } else if others > 1 {
                    Some(agent.span.start as usize..agent.span.end as usize)
                } else {
                    Some(all)
                }
            }
            Scope::Symbol(_) => {
                references.occurrences(symbol).any(|o| o.span.file == file).then_some(all)
            }
            Scope::Program => Some(all),
        }
    }

    /// Whether a word at a place that is no known occurrence can only refer to a symbol; `None` if it does not. The symbol
    /// may be named after the agent that owns it.
    fn may_refer(
        &self,
        text: &str,
        word: Span,
        (symbol, is_owned): (&Symbol, bool),
        runtime: &RuntimeNames,
    ) -> Option<bool> {
        let (kind, name) = (symbol.kind, symbol.name.as_str());
        let before = text.get(..word.start as usize).unwrap_or_default();
        let after = text.get(word.end as usize..).unwrap_or_default();
        let qualifier = qualifier(before);
        let reaches = match qualifier {
            None => true,
            Some(_) if is_owned => true,
            Some("session" | "@variables") => kind == SymbolKind::Variable,
            Some("@actions") => kind == SymbolKind::Tool,
            Some(path) if kind == SymbolKind::Agent => {
                let space = path.strip_prefix('@');
                space.is_some_and(|space| runtime.refers_to_agents(space))
            }
            Some(_) => false,
        };
        if !reaches {
            return None;
        }
        // `None` stands for comments, too.
        let context = self.context(word.file, word.start)?;
        let expression = context.takes_expression();
        let has_field = after.starts_with('.')
            && after.get(1..).is_some_and(|rest| rest.starts_with(char::is_lowercase));
        // `name.py`, but for expressions, where it is a field of the name.
        let is_file = has_field && !expression && !in_braces(before);
        let in_path = before.ends_with(['/', '\\']) || after.starts_with(['/', '\\']) || is_file;
        if in_path && !in_braces(before) {
            return None;
        }
        if context.position == Position::Key {
            return None;
        }
        let quoted = in_quotes(before);
        let is_prose = context.shapes.contains(&Shape::Template);
        let in_braces = in_braces(before);
        let is_text = expression && quoted && !(in_braces && is_placeholder(before, after));
        if !is_text && qualifier.is_some_and(|namespace| namespace.starts_with('@')) {
            return Some(true);
        }
        if in_braces {
            return (!is_text).then_some(false);
        }
        if names_kind(&context, kind) {
            let is_part = matches!(symbol.scope, Scope::Symbol(_));
            return Some(!expression && !is_prose && !is_part);
        }
        if expression {
            // Words for the model are written there, too; no word has a field.
            let is_clear = kind == SymbolKind::Variable || has_field;
            return (!quoted && !is_prose).then_some(is_clear);
        }
        let is_word = context.shapes.iter().any(|shape| matches!(shape, Shape::Words(_)));
        (looks_like_code(name) && !is_word).then_some(false)
    }
}

/// Whether the names of a kind of symbols may be written somewhere.
fn names_kind(context: &Context, kind: SymbolKind) -> bool {
    let kind = name_kind(kind).0;
    context.names().any(|one| one == kind)
}

/// What a word is a field of: `order` before `name` in `order.name`.
fn qualifier(before: &str) -> Option<&str> {
    let path = before.strip_suffix('.')?;
    let is_path = |c: char| c.is_alphanumeric() || "_.@".contains(c);
    let start = path.char_indices().rev().take_while(|(_, c)| is_path(*c)).last();
    Some(path.get(start.map_or(path.len(), |(at, _)| at)..).unwrap_or_default())
}

/// The rest of the line before a word.
fn line(before: &str) -> &str {
    before.rsplit('\n').next().unwrap_or_default()
}

/// Whether a placeholder is open at the end of a line.
fn in_braces(before: &str) -> bool {
    let line = line(before);
    match (line.rfind('{'), line.rfind('}')) {
        (Some(open), close) => {
            let open_before = close.is_none_or(|close| close < open);
            // `{name: …}` is an object, `{{name}}`, `{name}` and `${name}` are placeholders.
            let inside = line.get(open + 1..).unwrap_or_default();
            open_before && !inside.contains([':', ','])
        }
        _ => false,
    }
}

/// Whether a word is all that stands in braces.
fn is_placeholder(before: &str, after: &str) -> bool {
    before.trim_end().ends_with(['{', '!']) && after.trim_start().starts_with(['}', '|', '.'])
}

/// Whether a text is open at the end of a line: in a nested pair of quotes if the line is one text itself.
fn in_quotes(before: &str) -> bool {
    let line = line(before);
    let mut open: Option<char> = None;
    let mut value = line.trim_start();
    // The quotes around a whole value are not those of a text in it.
    if let Some((_, rest)) = value.split_once(": ") {
        value = rest.trim_start();
    }
    let outer = value.chars().next().filter(|c| matches!(c, '"' | '\''));
    for c in value.chars().skip(usize::from(outer.is_some())) {
        if matches!(c, '"' | '\'') && Some(c) != outer {
            open = match open {
                Some(quote) if quote == c => None,
                None => Some(c),
                other => other,
            };
        }
    }
    open.is_some()
}

/// The offsets at which a name stands as a word.
fn words<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = usize> + 't {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).map(|(at, _)| at).filter(move |at| {
        let before = text.get(..*at).and_then(|text| text.chars().next_back());
        let behind = text.get(at + name.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(in_word) && !behind.is_some_and(in_word)
    })
}
