//! What stands at an offset, for people: what hover and signature help show.

use super::names::Names;
use crate::snapshot::Snapshot;
use agentir_analysis::references::{Occurrence, Scope, Symbol, SymbolKind};
use agentir_diagnostics::{FileId, Span};
use agentir_expr::{Template, TypeExpr, TypeKind};
use agentir_ir::{Node, Tool};
use agentir_syntax::context::{Context, Expected, ExpectedKind, Position, open_call};

/// What stands at an offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// The words that it is about.
    pub span: Span,
    /// What it is: its kind, its name, its type.
    pub title: String,
    /// What is said of it, in paragraphs.
    pub texts: Vec<String>,
}

/// How something is called that takes arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// All of it: `book(day: string) -> object`.
    pub label: String,
    /// Its parameters: the text of each in the label, and what it is for.
    pub parameters: Vec<(String, String)>,
    /// What it does.
    pub doc: String,
    /// The parameter that an argument is written for, by its index.
    pub active: Option<usize>,
}

impl Snapshot {
    /// What stands at an offset of a file: a name with its type and what its author says of it, a word of the language with
    /// what it is for. `None` if nothing is known of it.
    #[must_use]
    pub fn describe(&self, file: FileId, offset: u32) -> Option<Description> {
        let id = self.program_of(file)?;
        let (loaded, references) = (self.loaded(id)?, self.references(id)?);
        let names = Names::new(&loaded.program, references, &loaded.versions, file, offset);
        let here = self.symbols_at(file, offset);
        if let Some((_, occurrence, symbol)) = here.into_iter().find(|(of, ..)| *of == id) {
            return Some(names.describe(occurrence, symbol));
        }
        let context = self.context(file, offset)?;
        if let Some(found) = self.describe_word(file, offset, &context) {
            return Some(found);
        }
        let field = context.field.filter(|field| {
            context.position == Position::Key
                || (field.key.start <= offset && offset <= field.key.end)
        })?;
        let record = context.records.last().map(|record| format!(" of {}", record.title));
        let required = if field.required { " (required)" } else { "" };
        let title =
            format!("{}{}: {}{required}", field.name, record.unwrap_or_default(), field.shape);
        let texts = self.documentation(file, field.doc, field.source);
        Some(Description { span: field.key, title, texts })
    }

    /// What is said of something that may be written at an offset: one of [`Snapshot::expected`].
    #[must_use]
    pub fn describe_expected(&self, file: FileId, offset: u32, one: &Expected) -> Vec<String> {
        let named = || {
            let ExpectedKind::Name(kind) = one.kind else { return None };
            let id = self.program_of(file)?;
            let (loaded, references) = (self.loaded(id)?, self.references(id)?);
            let names = Names::new(&loaded.program, references, &loaded.versions, file, offset);
            let is_it = |symbol: &Symbol| {
                symbol.name == one.label && crate::symbols::name_kind(symbol.kind).0 == kind
            };
            let symbol = references.symbols().map(|(_, symbol)| symbol).find(|one| is_it(one))?;
            Some(names.texts(symbol).1)
        };
        named()
            .filter(|texts| !texts.is_empty())
            .unwrap_or_else(|| self.documentation(file, one.doc, one.source))
    }

    /// What a table says of a word: a sentence, and where the word is specified.
    fn documentation(&self, file: FileId, doc: &str, source: &str) -> Vec<String> {
        let mut chars = doc.chars();
        let Some(first) = chars.next() else { return Vec::new() };
        let sentence: String = first.to_uppercase().chain(chars).chain(['.']).collect();
        let language = self.detected(file).map(|detected| detected.language);
        match language.filter(|_| !source.is_empty()) {
            Some(language) => {
                let link = language.docs().and_then(|docs| docs.link(source));
                let link = link.map_or_else(String::new, |link| format!(": {link}"));
                vec![sentence, format!("{}, {source}{link}", language.title())]
            }
            None => vec![sentence],
        }
    }

    /// A word of the language.
    fn describe_word(&self, file: FileId, offset: u32, context: &Context) -> Option<Description> {
        let word = context.word;
        let written = self.sources().get(file)?.slice(word).trim();
        if written.is_empty() {
            return None;
        }
        let is_it = |one: &Expected| {
            let label = one.label.as_str();
            label == written
                || (one.kind != ExpectedKind::Function && label.eq_ignore_ascii_case(written))
                || label.trim_start_matches('@') == written
        };
        let found = self.expected(file, offset).into_iter().find(is_it)?;
        let kind = match found.kind {
            ExpectedKind::Field => match context.records.last() {
                Some(record) => format!(" (field of {})", record.title),
                None => " (field)".to_owned(),
            },
            ExpectedKind::Keyword | ExpectedKind::Operator => " (keyword)".to_owned(),
            ExpectedKind::Value => " (value)".to_owned(),
            ExpectedKind::Type => " (type)".to_owned(),
            ExpectedKind::Namespace => " (namespace)".to_owned(),
            ExpectedKind::Member => " (member)".to_owned(),
            ExpectedKind::SystemVariable => " (assigned by the runtime)".to_owned(),
            ExpectedKind::Function => String::new(),
            ExpectedKind::Name(kind) => format!(" ({})", kind.noun()),
        };
        let title = match found.kind {
            ExpectedKind::Function => found.shape.clone(),
            _ if found.shape.is_empty() => format!("{}{kind}", found.label),
            _ => format!("{}: {}{kind}", found.label, found.shape),
        };
        let texts = self.documentation(file, found.doc, found.source);
        Some(Description { span: word, title, texts })
    }

    /// The call that an offset is in the arguments of, of a tool or a built-in function.
    #[must_use]
    pub fn signature(&self, file: FileId, offset: u32) -> Option<Signature> {
        let source = self.sources().get(file)?;
        let context = self.context(file, offset);
        let line = source.line_range(source.line_index(offset as usize));
        let before = source.text.get(line.start..(offset as usize).min(line.end))?;
        let id = self.program_of(file)?;
        let (loaded, references) = (self.loaded(id)?, self.references(id)?);
        let names = Names::new(&loaded.program, references, &loaded.versions, file, offset);
        let called = open_call(before);
        let tool = context.as_ref().and_then(|context| context.tool.clone());
        let tool = tool.as_deref().or(called).and_then(|name| names.tool(name));
        if let Some(tool) = tool {
            return Some(of_tool(tool, before, called.is_some()));
        }
        let function = agentir_expr::function(called?)?;
        let parameters = function.parameters.iter();
        let parameters: Vec<(String, String)> = parameters
            .map(|one| (one.name.to_owned(), format!("{:?}", one.ty).to_lowercase()))
            .collect();
        let last = parameters.len().checked_sub(1);
        let is_variadic = function.parameters.last().is_some_and(|one| one.variadic);
        let active = match (commas(before), last) {
            (at, Some(last)) if at > last => is_variadic.then_some(last),
            (at, Some(_)) => Some(at),
            _ => None,
        };
        let doc = function.summary.to_owned();
        Some(Signature { label: function.signature(), parameters, doc, active })
    }
}

fn text_of(template: Option<&Template>) -> String {
    template.map_or_else(String::new, |template| template.text.value.trim().to_owned())
}

/// The commas since the last parenthesis that is open.
fn commas(before: &str) -> usize {
    let mut open = vec![0];
    for c in before.chars() {
        match c {
            '(' | '[' | '{' => open.push(0),
            ')' | ']' | '}' => drop(open.pop()),
            ',' => {
                if let Some(count) = open.last_mut() {
                    *count += 1;
                }
            }
            _ => {}
        }
    }
    open.last().copied().unwrap_or_default()
}

/// A tool, and the argument at the end of a line.
fn of_tool(tool: &Tool, before: &str, is_inline: bool) -> Signature {
    let label = format!("{}{}", tool.name.value, super::signature(tool));
    let parameters: Vec<(String, String)> = tool
        .parameters
        .iter()
        .map(|parameter| {
            let name = parameter.name.value.to_string();
            (name, text_of(parameter.description.as_ref()))
        })
        .collect();
    let start = before.rfind(['(', ',', '{']).map_or(0, |at| at + 1);
    let argument = before.get(start..).unwrap_or_default();
    let name = argument.split_once([':', '=']).map(|(name, _)| {
        let name = name.trim().trim_start_matches("- ");
        name.rsplit(' ').next().unwrap_or(name)
    });
    let by_name = name.and_then(|name| parameters.iter().position(|(known, _)| known == name));
    let active = by_name.or_else(|| {
        // Arguments without a name are in the order of the parameters.
        (is_inline && name.is_none()).then(|| commas(before)).filter(|at| *at < parameters.len())
    });
    Signature { label, parameters, doc: text_of(tool.description.as_ref()), active }
}

impl Names<'_> {
    /// A symbol, at one of its places.
    fn describe(&self, occurrence: Occurrence, symbol: &Symbol) -> Description {
        let (kind, _) = crate::symbols::name_kind(symbol.kind);
        let (shape, texts) = self.texts(symbol);
        let is_of_variable =
            symbol.kind == SymbolKind::ResultField && self.tool_of(symbol.scope).is_none();
        let noun = if is_of_variable { "field" } else { kind.noun() };
        let title = format!("{noun} {}{shape}", symbol.name);
        Description { span: occurrence.span, title, texts }
    }

    /// What a symbol is, behind its name, and what is said of it.
    fn texts(&self, symbol: &Symbol) -> (String, Vec<String>) {
        let name = symbol.name.as_str();
        let mut texts = Vec::new();
        let mut say = |text: String| {
            if !text.is_empty() {
                texts.push(text);
            }
        };
        let mut shape = String::new();
        match symbol.kind {
            SymbolKind::Tool => {
                if let Some(tool) = self.tool(name) {
                    shape = super::signature(tool);
                    say(text_of(tool.description.as_ref()));
                    for parameter in &tool.parameters {
                        let doc = text_of(parameter.description.as_ref());
                        if !doc.is_empty() {
                            say(format!("`{}`: {doc}", parameter.name.value));
                        }
                    }
                }
            }
            SymbolKind::Variable => {
                let ty = self.types().get(name).cloned();
                shape = ty.map_or_else(String::new, |ty| format!(": {ty}"));
                for agent in self.declaring() {
                    let session = agent.memory.session.iter();
                    let session = session.filter(|v| v.name.value == name);
                    session.for_each(|v| say(text_of(v.description.as_ref())));
                    let stored = agent.memory.persistent.iter().filter(|v| v.path.value == name);
                    stored.for_each(|v| say(text_of(v.description.as_ref())));
                    agent.walk(&mut |node| {
                        if let Node::Field(field) = node
                            && field.name.value == name
                        {
                            say(text_of(field.description.as_ref()));
                            let values: Vec<String> = field
                                .enum_values
                                .iter()
                                .map(|v| format!("`{}`", v.value))
                                .collect();
                            if !values.is_empty() {
                                say(format!("One of {}.", values.join(", ")));
                            }
                        }
                    });
                }
            }
            SymbolKind::Agent | SymbolKind::Alias => {
                if let Some((_, agent)) = self.agent(name) {
                    say(text_of(agent.metadata.description.as_ref()));
                    say(text_of(agent.identity.goal.as_ref()));
                }
            }
            SymbolKind::Step => {
                let steps = self.agents().iter().filter_map(|(_, agent)| agent.flow.as_ref());
                let steps = steps.filter_map(|flow| flow.definitions.get(name));
                steps.for_each(|step| say(text_of(step.description.as_ref())));
            }
            SymbolKind::Parameter | SymbolKind::ResultField => {
                if let Some(tool) = self.tool_of(symbol.scope) {
                    let parameter = tool.parameters.iter().find(|p| p.name.value == name);
                    let field = tool.returns.as_ref().and_then(|r| self.member(&r.ty, symbol));
                    let ty = match symbol.kind {
                        SymbolKind::Parameter => parameter.and_then(|p| p.ty.as_ref()),
                        _ => field,
                    };
                    shape = ty.map_or_else(String::new, |ty: &TypeExpr| format!(": {ty}"));
                    say(format!("of the tool `{}`", tool.name.value));
                    say(text_of(parameter.and_then(|p| p.description.as_ref())));
                }
            }
            SymbolKind::Template
            | SymbolKind::Profile
            | SymbolKind::Entity
            | SymbolKind::LookupTable => {}
        }
        texts.dedup();
        (shape, texts)
    }

    /// The tool that a parameter, a field of a result, or a field of another field belongs to.
    fn tool_of(&self, scope: Scope) -> Option<&Tool> {
        let Scope::Symbol(id) = scope else { return None };
        let symbol = self.symbol(id)?;
        match symbol.kind {
            SymbolKind::Tool => self.tool(&symbol.name),
            _ => self.tool_of(symbol.scope),
        }
    }

    /// The type of a field, somewhere in that of a result.
    fn member<'t>(&self, whole: &'t TypeExpr, field: &Symbol) -> Option<&'t TypeExpr> {
        let Scope::Symbol(id) = field.scope else { return None };
        let around = self.symbol(id)?;
        let mut ty = match around.kind {
            SymbolKind::Tool => whole,
            _ => self.member(whole, around)?,
        };
        while let TypeKind::Array(item) = &ty.kind {
            ty = item;
        }
        let TypeKind::Object(fields) = &ty.kind else { return None };
        fields.iter().find(|one| one.name.value == field.name).map(|one| &one.ty)
    }
}
