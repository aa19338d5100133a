//! The shapes of values, and which part of a value the offset is in.

use super::{MARKER, called};
use crate::inline::{Abl, ActionKind, BLOCKS, ConstraintKind, EntryPoint, route_words};
use crate::schema::{FIELD_TYPES, FieldType, Header, NameKind, Part, RecordType};
use crate::tree::{Record, Value};
use agentir_diagnostics::Span;
use agentir_expr::{Scope, Version, functions};
use agentir_syntax::context::{
    Context, Cursor, Expected, ExpectedKind, Shape, ends_in_string, open_call, open_placeholder,
    qualifier,
};
use agentir_syntax::inline::following::{add_following, top_argument};
use smol_str::SmolStr;
use std::borrow::Cow;

/// The shape of the values of a field.
pub(crate) fn of(field_type: FieldType, names: Option<NameKind>) -> Vec<Shape> {
    let name = |kind: NameKind| vec![Shape::Name(kind)];
    match field_type {
        FieldType::Text => vec![Shape::Text],
        FieldType::Template => vec![Shape::Template],
        FieldType::Templates => vec![Shape::List, Shape::Template],
        FieldType::Condition | FieldType::Rule | FieldType::Expr => vec![Shape::Expression],
        FieldType::TransformHeader | FieldType::SortBy | FieldType::Store => {
            vec![Shape::Expression]
        }
        FieldType::Bool => vec![Shape::Boolean],
        FieldType::Number => vec![Shape::Number],
        FieldType::Enum(words) => vec![Shape::Words(words)],
        FieldType::Choices(words) => vec![Shape::List, Shape::Words(words)],
        FieldType::Name => names.map_or_else(|| vec![Shape::Text], name),
        FieldType::Names => {
            let one = names.map_or(Shape::Text, Shape::Name);
            vec![Shape::List, one]
        }
        FieldType::Type | FieldType::Types => vec![Shape::Type],
        FieldType::Action => names.map_or_else(|| vec![Shape::Action], name),
        FieldType::RouteAction => vec![Shape::Action],
        FieldType::Call => name(NameKind::Tool),
        FieldType::Chain => name(NameKind::Step),
        FieldType::Assignments => vec![Shape::Name(NameKind::Variable), Shape::Expression],
        FieldType::Bindings | FieldType::Arguments => {
            vec![Shape::Name(NameKind::Parameter), Shape::Expression]
        }
        FieldType::Record(ty) => vec![Shape::Record(ty.name)],
        FieldType::OneOf(all) => {
            let mut shapes: Vec<Shape> = Vec::new();
            for one in all.iter().flat_map(|one| of(*one, names)) {
                if !shapes.contains(&one) {
                    shapes.push(one);
                }
            }
            shapes
        }
        FieldType::Marker => Vec::new(),
        FieldType::Data => vec![Shape::Data],
    }
}

/// The keywords that a header begins with.
pub(crate) fn words_of(header: Header) -> Vec<&'static str> {
    match header {
        Header::Constraint => ConstraintKind::WORDS.iter().map(|(word, _)| *word).collect(),
        Header::Routing => vec!["INTENT", "DEFAULT"],
        Header::Protocol => vec!["FROM"],
        Header::Resume => vec!["RESUME"],
        _ => Vec::new(),
    }
}

/// What follows the keyword of a header, in words.
pub(crate) const fn after(header: Header) -> &'static str {
    match header {
        Header::Constraint => "condition",
        Header::Routing => "intents and an agent",
        Header::Protocol => "two agents",
        _ => "",
    }
}

/// The place of the offset within a value.
#[derive(Clone)]
pub(super) struct Place<'c, 't> {
    /// The value up to the word.
    before: Cow<'t, str>,
    /// The part of it on the line of the word.
    line: Cow<'t, str>,
    cursor: &'c Cursor<'t>,
}

impl<'c, 't> Place<'c, 't> {
    pub(super) fn new(cursor: &'c Cursor<'t>, key: Option<Span>) -> Self {
        let since = key.map(|key| cursor.since(key.end));
        let after_colon = |text: &'t str| {
            let text = text.trim_start_matches(['"', '\'']).trim_start();
            text.strip_prefix(':').unwrap_or(text).trim_start()
        };
        let content = cursor.content_before();
        let (before, line) = match since {
            Some(since) if since.contains('\n') => (after_colon(since), content),
            Some(since) => (after_colon(since), after_colon(since)),
            None => (content, content),
        };
        // Any value may be quoted as a whole.
        let quoted = |text: &'t str| {
            let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
            let inner = text.get(1..)?;
            let after = cursor.after().trim_end();
            let is_last = closing(after, quote).is_none_or(|at| at + 1 == after.len());
            (is_last && closing(inner, quote).is_none()).then_some((quote, inner))
        };
        let unquoted = |text: &'t str| match quoted(text) {
            Some(('"', inner)) if inner.contains('\\') => {
                Cow::Owned(inner.replace("\\\"", "\"").replace("\\\\", "\\"))
            }
            Some((_, inner)) => Cow::Borrowed(inner),
            None => Cow::Borrowed(text),
        };
        let (before, line) = (unquoted(before), unquoted(line));
        Self { before, line, cursor }
    }

    /// Adds what a value of this type may have here.
    pub(super) fn value(
        &self,
        field_type: FieldType,
        names: Option<NameKind>,
        context: &mut Context,
    ) {
        match field_type {
            FieldType::OneOf(all) => {
                for one in all {
                    self.value(*one, names, context);
                }
            }
            FieldType::Bool if self.line.is_empty() => {
                context.add_shape(Shape::Boolean);
                context.add_words(ExpectedKind::Value, &["true", "false"]);
            }
            FieldType::Enum(all) if self.line.trim_matches(['"', '\'']).is_empty() => {
                context.add_shape(Shape::Words(all));
                context.add_words(ExpectedKind::Value, all);
            }
            FieldType::Choices(all) => {
                context.add_shape(Shape::Words(all));
                context.add_words(ExpectedKind::Value, all);
            }
            FieldType::Bool | FieldType::Enum(_) | FieldType::Marker => {}
            FieldType::Text => context.add_shape(Shape::Text),
            FieldType::Number => context.add_shape(Shape::Number),
            FieldType::Data => match open_placeholder(&self.before, "{{", "}}") {
                Some(_) => self.template(context),
                None => context.add_shape(Shape::Data),
            },
            FieldType::Record(ty) => context.add_shape(Shape::Record(ty.name)),
            FieldType::Template | FieldType::Templates => self.template(context),
            FieldType::Condition | FieldType::Expr => {
                self.expression(EntryPoint::Expr, &self.line, context);
            }
            FieldType::Rule => self.constraint(context),
            FieldType::Name | FieldType::Names => match names {
                Some(kind) => self.name(kind, context),
                None => context.add_shape(Shape::Text),
            },
            FieldType::Chain => self.name(NameKind::Step, context),
            FieldType::Type => self.types(context),
            FieldType::Types => self.typed_names(names, context),
            FieldType::Action => match names {
                Some(kind) => self.name(kind, context),
                None => self.action(context),
            },
            FieldType::RouteAction => self.route(context),
            FieldType::Call => self.called(context),
            FieldType::Store => match self.line.contains("->") {
                true => self.name(NameKind::Variable, context),
                false => self.expression(EntryPoint::Store, &self.line, context),
            },
            FieldType::TransformHeader => {
                let last = self.line.split_whitespace().next_back();
                match last.is_some_and(|word| word.eq_ignore_ascii_case("into")) {
                    true => self.name(NameKind::Variable, context),
                    false => self.expression(EntryPoint::Transform, &self.line, context),
                }
            }
            FieldType::SortBy if self.line.is_empty() => self.name(NameKind::Variable, context),
            FieldType::SortBy => self.expression(EntryPoint::Sort, &self.line, context),
            FieldType::Assignments => self.assignment(context),
            FieldType::Bindings | FieldType::Arguments => self.argument(names, context),
        }
    }

    /// A placeholder in what a tool is called with: a parameter of the tool, or a variable.
    pub(super) fn hole_of_tool(&self, context: &mut Context) {
        let open = open_placeholder(&self.before, "{{", "}}");
        let Some(inner) = open.or_else(|| open_placeholder(&self.before, "{", "}")) else { return };
        if inner.trim().is_empty() {
            self.name(NameKind::Parameter, context);
        }
        self.expression(EntryPoint::Placeholder, inner, context);
    }

    /// What is told to those who take over: variables and results, in lists, mappings and braces.
    pub(super) fn told(&self, context: &mut Context) {
        let own = top_argument(self.line.trim_start().trim_start_matches(['{', '[']));
        let own = own.rsplit_once([':', '{', '[']).map_or(own, |(_, value)| value);
        self.expression(EntryPoint::Placeholder, own.trim_start(), context);
    }

    /// An assignment: a variable, or its value.
    fn assignment(&self, context: &mut Context) {
        // Several are a mapping in braces, or have lines of their own.
        let own = self.line.trim_start().strip_prefix('{').map_or(&*self.line, top_argument);
        let is_target = !own.contains(['=', ':']) && own.trim_end().ends_with('.');
        if own.trim().is_empty() || is_target {
            self.name(NameKind::Variable, context);
        } else {
            self.expression(EntryPoint::Assignment, own, context);
        }
    }

    /// A call.
    fn called(&self, context: &mut Context) {
        let Some((_, arguments)) = self.line.split_once('(') else {
            return self.name(NameKind::Tool, context);
        };
        let own = top_argument(arguments);
        if own.trim().is_empty() {
            self.name(NameKind::Parameter, context);
        }
        self.expression(EntryPoint::Call, &self.line, context);
    }

    /// An argument: a name, or its value.
    fn argument(&self, names: Option<NameKind>, context: &mut Context) {
        let mapping = self.line.trim_start().strip_prefix(['{', '[']);
        let own = mapping.map_or(&*self.line, top_argument);
        match own.split_once([':', '=']) {
            Some((_, value)) => self.expression(EntryPoint::Expr, value, context),
            None if own.trim().is_empty() => {
                self.name(NameKind::Parameter, context);
                if let Some(kind) = names {
                    self.name(kind, context);
                }
                // `{a, b}` passes variables of these names.
                if mapping.is_some() {
                    self.expression(EntryPoint::Expr, own, context);
                }
            }
            None => self.expression(EntryPoint::Expr, own, context),
        }
    }

    /// Adds the tool whose arguments the offset is in, and what it is given already.
    pub(super) fn call(&self, record: &Record<'_>, context: &mut Context) {
        let is_argument = context.shapes.contains(&Shape::Name(NameKind::Parameter));
        let is_call = context.field.as_ref().is_some_and(|field| field.name == "call");
        // Functions have brackets too.
        let inline = self.line.split_once('(').filter(|_| is_call);
        let inline = inline.map(|(tool, _)| SmolStr::new(tool.trim()));
        let tool = inline.or_else(|| called(record).filter(|_| is_argument));
        context.tool = tool.filter(|tool| tool != MARKER);
        if is_argument {
            let given = record.fields.iter().flat_map(|field| arguments(&field.value));
            context.given = given.filter(|name| name != MARKER).collect();
        }
    }

    fn template(&self, context: &mut Context) {
        if let Some(inner) = open_placeholder(&self.before, "{{", "}}") {
            let inner = inner.trim_start();
            let inner = match inner.strip_prefix('#').map(|block| block.split_once(' ')) {
                Some(Some((_, rest))) => rest,
                Some(None) => return keywords(context, BLOCKS.iter().copied()),
                None => inner,
            };
            return self.expression(EntryPoint::Placeholder, inner, context);
        }
        context.add_shape(Shape::Template);
        // `{name}` is a placeholder too, unless it is something else in braces.
        if let Some(inner) = open_placeholder(&self.before, "{", "}")
            && inner.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'))
        {
            self.expression(EntryPoint::Placeholder, inner, context);
        }
        // `TEMPLATE(name)`.
        if open_call(&self.line).is_some_and(|name| name == "TEMPLATE") {
            self.name(NameKind::Template, context);
        }
    }

    fn expression(&self, entry_point: EntryPoint, before: &str, context: &mut Context) {
        // Texts among values may have placeholders.
        if ends_in_string(before)
            && let Some(inner) = open_placeholder(before, "{{", "}}")
        {
            return add_following::<Abl>(inner, EntryPoint::Placeholder, context);
        }
        add_following::<Abl>(before, entry_point, context);
    }

    /// The tools that are used of a file: `"tools/bank.tools.abl" [name, …]`.
    pub(super) fn imported(&self, context: &mut Context) {
        if self
            .line
            .rfind('[')
            .is_some_and(|open| !self.line.get(open..).unwrap_or_default().contains(']'))
        {
            context.shapes.clear();
            self.name(NameKind::Tool, context);
        }
    }

    fn name(&self, kind: NameKind, context: &mut Context) {
        context.qualifier = qualifier(&self.line);
        context.add_shape(Shape::Name(kind));
    }

    /// `name: type` pairs.
    fn typed_names(&self, names: Option<NameKind>, context: &mut Context) {
        let mapping = self.line.trim_start().strip_prefix('{');
        let own = mapping.map_or(&*self.line, top_argument);
        match own.trim_end() {
            "" => {
                self.name(NameKind::ResultField, context);
                if mapping.is_none() {
                    self.types(context);
                }
            }
            own if own.ends_with([':', '[', '<', '|']) => {
                self.types(context);
                if let Some(kind) = names {
                    self.name(kind, context);
                }
            }
            _ => {}
        }
    }

    /// Adds the next part of a text with parts between colons.
    pub(super) fn parts(&self, patterns: &[&[Part]], context: &mut Context) {
        let written: Vec<&str> = self.line.split(':').map(str::trim).collect();
        // The last is what stands right before the word.
        let Some(("", before)) = written.split_last().map(|(last, all)| (*last, all)) else {
            return;
        };
        let fits = |part: &Part, word: &str| match part {
            Part::Word(own) => *own == word,
            Part::Name(_) => true,
        };
        for pattern in patterns {
            let Some((head, rest)) = pattern.split_at_checked(before.len()) else { continue };
            if !head.iter().zip(before).all(|(part, word)| fits(part, word)) {
                continue;
            }
            match rest.first() {
                Some(Part::Word(word)) => context.add_words(ExpectedKind::Value, &[*word]),
                Some(Part::Name(kind)) => {
                    context.add_words(ExpectedKind::Value, &["*"]);
                    context.add_shape(Shape::Name(*kind));
                }
                None => {}
            }
        }
    }

    fn types(&self, context: &mut Context) {
        context.add_shape(Shape::Type);
        context.add_words(ExpectedKind::Type, FIELD_TYPES);
    }

    /// A condition, which the keyword of a constraint may precede.
    fn constraint(&self, context: &mut Context) {
        let line = self.line.trim_start_matches(['"', '\'']);
        let first = line.split_whitespace().next();
        if first.is_none() {
            self.expression(EntryPoint::Constraint, line, context);
        }
        match first.and_then(ConstraintKind::from_word) {
            Some(_) => self.constraint_rule(line, context),
            None => self.expression(EntryPoint::Expr, line, context),
        }
    }

    /// A constraint that begins with its keyword.
    fn constraint_rule(&self, line: &str, context: &mut Context) {
        let mut last = line.split_whitespace().rev().map(str::to_ascii_lowercase);
        let checkpoint = (last.next(), last.next());
        if let (Some("calling"), Some("before")) =
            (checkpoint.0.as_deref(), checkpoint.1.as_deref())
        {
            return context.add_shape(Shape::Name(NameKind::Tool));
        }
        self.expression(EntryPoint::Constraint, line, context);
    }

    fn action(&self, context: &mut Context) {
        let mut before = self.line.split_whitespace();
        let Some(first) = before.next() else {
            context.add_shape(Shape::Action);
            self.name(NameKind::Step, context);
            actions(context);
            return;
        };
        match ActionKind::from_word(first.trim_end_matches(':')) {
            Some(ActionKind::Handoff | ActionKind::Delegate) => {
                self.name(NameKind::Agent, context);
            }
            Some(ActionKind::GoTo | ActionKind::Backtrack) => self.name(NameKind::Step, context),
            Some(ActionKind::Respond) => self.template(context),
            _ => {}
        }
    }

    fn route(&self, context: &mut Context) {
        let mut before = self.line.split_whitespace();
        match before.next() {
            None => {
                context.add_shape(Shape::Action);
                keywords(context, route_words());
            }
            Some(word) if word.eq_ignore_ascii_case("ROUTE_TO") => {
                self.name(NameKind::Agent, context);
            }
            Some(word) if word.eq_ignore_ascii_case("ROUTE_TO_VARIABLE") => {
                self.name(NameKind::Variable, context);
            }
            Some(_) => {}
        }
    }

    /// Adds what may stand in a line that a record of this type begins with.
    pub(super) fn header(&self, ty: &'static RecordType, context: &mut Context) {
        let line = self.cursor.content_before();
        let first = line.split([' ', '\t', '(']).next().unwrap_or_default();
        let is = |word: &str| first.eq_ignore_ascii_case(word);
        let rest = line.get(first.len()..).unwrap_or_default();
        for header in ty.headers {
            match header {
                Header::Constraint if ConstraintKind::from_word(first).is_some() => {
                    self.constraint_rule(line, context);
                }
                Header::Condition if is("if") || is("when") => {
                    match rest
                        .rsplit_once(": ")
                        .or_else(|| rest.trim_end().strip_suffix(':').map(|_| ("", "")))
                    {
                        Some((_, action)) => {
                            Self { line: Cow::Borrowed(action), ..self.clone() }.action(context)
                        }
                        None => self.expression(EntryPoint::Expr, rest, context),
                    }
                }
                Header::Routing if line.contains("->") => self.name(NameKind::Agent, context),
                Header::Protocol if is("from") => self.name(NameKind::Agent, context),
                Header::Chain if line.contains("->") => self.name(NameKind::Step, context),
                Header::Signature
                    if (open_call(line).is_some() || line.contains("->"))
                        && line.trim_end().ends_with([':', '[', '<', '>']) =>
                {
                    self.types(context);
                }
                Header::Name => {
                    let by = ty.name_field.and_then(|name| ty.field(name));
                    if let Some(kind) = by.and_then(|def| def.names) {
                        self.name(kind, context);
                    }
                }
                Header::Text => self.template(context),
                _ => {}
            }
        }
    }
}

/// Where a text in quotes ends.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let ends = c == quote && !escaped;
        escaped = c == '\\' && quote == '"' && !escaped;
        ends.then_some(at)
    })
}

/// The names of the arguments in a value.
fn arguments(value: &Value<'_>) -> Vec<SmolStr> {
    match value {
        Value::Call(call) => {
            let names = call.arguments.iter().filter_map(|argument| argument.name.as_ref());
            names.map(|name| name.value.clone()).collect()
        }
        Value::Bindings(all) => all.iter().map(|(name, _)| name.value.clone()).collect(),
        _ => Vec::new(),
    }
}

fn keywords(context: &mut Context, all: impl Iterator<Item = &'static str>) {
    let all: Vec<&str> = all.collect();
    context.add_words(ExpectedKind::Keyword, &all);
}

/// Adds the actions, each by its usual keyword.
fn actions(context: &mut Context) {
    let mut kinds: Vec<ActionKind> = Vec::new();
    for (word, kind) in ActionKind::WORDS {
        if !kinds.contains(kind) {
            kinds.push(*kind);
            let insert = if kind.takes_target() { format!("{word} ") } else { (*word).to_owned() };
            let one = Expected::word(ExpectedKind::Keyword, *word, "").inserting(insert);
            context.expected.push(one);
        }
    }
}

/// Adds the functions that may be called in checks of guardrails alone.
pub(super) fn helpers_of_checks(version: Version, context: &mut Context) {
    if context.qualifier.is_some() {
        return;
    }
    let helpers =
        functions().iter().filter(|f| f.scope == Scope::Guardrail && f.exists_in(version));
    context.expected.extend(helpers.map(|f| {
        let name = f.written();
        let insert = format!("{name}(");
        Expected::word(ExpectedKind::Function, name, f.signature())
            .inserting(insert)
            .documented((f.summary, f.source))
    }));
}
