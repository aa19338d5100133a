//! Reading: what is wrong with a value is reported at its location, with what to write instead.

use crate::describe::*;
use agentir_diagnostics::{Diagnostic, Severity, Span, Spanned, closest};
use agentir_expr::{Depth, Dialect, Expr, ExprKind, Literal, Name, Template};
use agentir_ir::{Data, Extension};
use agentir_syntax::inline::InlineText;
use agentir_syntax::json::{Json as Node, Kind, Member};
use agentir_syntax::{InlineParsers, Origin, rules};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::borrow::Cow;
use std::mem;

/// Parses a text with placeholders.
pub type TemplateParser = fn(InlineText<'_>, &mut Vec<Diagnostic>) -> Template;

/// The parsers of what is text in AgentIR as well.
#[derive(Debug)]
pub struct Parsers {
    /// Those of the notation that AgentIR has for all languages, but for the exceptions.
    pub inline: &'static InlineParsers,
    /// The dialects whose texts have placeholders in a notation of their own.
    pub templates: &'static [(Dialect, TemplateParser)],
    /// The dialects that agents may have.
    pub dialects: fn() -> Vec<Dialect>,
}

impl Parsers {
    /// The dialect with this id.
    pub(crate) fn dialect(&self, id: &str) -> Option<Dialect> {
        (self.dialects)().into_iter().find(|known| known.id() == id)
    }
}

/// The key of an [`Origin`].
pub(crate) const ORIGIN: &str = "origin";

pub(crate) const ORIGIN_DESCRIPTION: &str =
    "Where the author wrote it, if the document is generated. Findings name it.";

object! {
    /// Where the author wrote something that a program generated.
    Origin = "Origin" {
        /// The file.
        file as "file": required;
        /// The line, from 1.
        line as "line": optional;
        /// The column, from 1.
        column as "column": optional;
    }
    skip span = Span::default();
    skip element = Span::default();
    then |origin, object, _| origin.span = object.span;
}

/// What is read, and what is wrong with it.
#[derive(Debug)]
pub struct Reader<'r> {
    problems: &'r mut Vec<Diagnostic>,
    /// The objects and arrays that could not be read, in which names may be defined.
    pub(crate) gaps: Vec<Span>,
    parsers: &'r Parsers,
    /// The dialect of the agent that is read.
    pub(crate) dialect: Dialect,
    /// The origins of objects.
    pub(crate) origins: Vec<Origin>,
    /// The words that the value may have.
    words: &'static [&'static str],
    /// The key of the value, for messages.
    key: SmolStr,
    /// What the value is to its key.
    place: Place,
}

fn valid_values(words: &[&str]) -> String {
    let all: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
    format!("valid values are {}", all.join(", "))
}

/// The finding about a text that is none of some words, and the word that was probably meant.
fn not_a_word(
    text: &str,
    at: Span,
    key: &str,
    words: &[&'static str],
) -> (Diagnostic, Option<&'static str>) {
    let message = format!("`{text}` is not a valid `{key}`");
    let problem = Diagnostic::error(rules::INVALID_VALUE, at, message).note(valid_values(words));
    (problem, closest(text, words.iter().copied()))
}

/// What a value is to the key that messages about it name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    /// The value of a key that may be absent.
    #[default]
    Optional,
    /// The value of a key that an object must have.
    Required,
    /// An item of the array at the key.
    Item,
}

impl<'r> Reader<'r> {
    pub(crate) const fn new(
        dialect: Dialect,
        parsers: &'r Parsers,
        problems: &'r mut Vec<Diagnostic>,
    ) -> Self {
        let key = SmolStr::new_static("value");
        Self {
            problems,
            gaps: Vec::new(),
            parsers,
            dialect,
            origins: Vec::new(),
            words: &[],
            key,
            place: Place::Optional,
        }
    }

    pub(crate) fn report(&mut self, problem: Diagnostic) {
        self.problems.push(problem);
    }

    /// The findings, for parsers of embedded languages.
    pub(crate) fn problems(&mut self) -> &mut Vec<Diagnostic> {
        self.problems
    }

    /// The parser of texts with placeholders, as the agent's language has them.
    pub(crate) fn template_parser(&self) -> TemplateParser {
        let own = self.parsers.templates.iter().find(|(dialect, _)| *dialect == self.dialect);
        own.map_or(self.parsers.inline.template, |(_, parser)| *parser)
    }

    /// The expression of a custom rule, which is a text of its language.
    pub(crate) fn custom_check(&mut self, rule: &Spanned<SmolStr>) -> Option<Expr> {
        // After the quote.
        let base = rule.span.start.saturating_add(1);
        let input = InlineText::verbatim(&rule.value, rule.span.file, base);
        (self.parsers.inline.condition)(input, true, self.problems).expr().cloned()
    }

    /// Reads the placeholders in the texts of an argument, also of a list of texts.
    pub(crate) fn placeholders(&mut self, argument: &mut Expr) {
        if !self.dialect.traits().arguments_have_placeholders {
            return;
        }
        let span = argument.span;
        let kind = match &mut argument.kind {
            ExprKind::Literal(Literal::String(text)) if text.contains("{{") => {
                let input = InlineText::verbatim(text, span.file, span.start.saturating_add(1));
                let parse = self.template_parser();
                ExprKind::Template(Box::new(parse(input, self.problems).inside(span)))
            }
            ExprKind::List(items) => {
                items.iter_mut().for_each(|item| self.placeholders(item));
                ExprKind::List(std::mem::take(items))
            }
            _ => return,
        };
        match Expr::new(kind, span) {
            Ok(expr) => *argument = expr,
            Err(Depth) => {
                let message = "this text is nested too deeply";
                self.report(Diagnostic::error(rules::EXPRESSION_TOO_DEEP, span, message));
                *argument = Expr::literal(Literal::Null, span);
            }
        }
    }

    /// What follows belongs to an agent of a dialect.
    pub(crate) const fn set_dialect(&mut self, dialect: Dialect) {
        self.dialect = dialect;
    }

    /// Reads the value of a key, which messages about it name.
    pub(crate) fn within<T>(&mut self, key: &'static str, read: impl FnOnce(&mut Self) -> T) -> T {
        self.at(key, Place::Optional, read)
    }

    fn at<T>(&mut self, key: &'static str, place: Place, read: impl FnOnce(&mut Self) -> T) -> T {
        let outer = mem::replace(&mut self.key, SmolStr::new_static(key));
        let outer_place = mem::replace(&mut self.place, place);
        let value = read(self);
        self.key = outer;
        self.place = outer_place;
        value
    }

    /// The key of the value that is read.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// Reports a value where there should be an object or an array, and what it defines is unknown.
    pub(crate) fn expected_parts<T>(&mut self, json: &Node, expected: &str) -> Option<T> {
        self.gaps.push(shown(json));
        self.expected(json, expected)
    }

    /// Reports a value of a wrong type.
    pub(crate) fn expected<T>(&mut self, json: &Node, expected: &str) -> Option<T> {
        let found = match &json.kind {
            Kind::Null => "`null`",
            Kind::Bool(_) => "a Boolean",
            Kind::Number(text) if expected.contains("number") => &format!("`{text}`"),
            Kind::Number(_) => "a number",
            Kind::String(_) => "a string",
            Kind::Array(_) => "an array",
            Kind::Object(_) => "an object",
        };
        let item = if self.place == Place::Item { "an item of " } else { "" };
        let message = format!("{item}`{}` must be {expected}, not {found}", self.key);
        let problem = Diagnostic::error(rules::INVALID_VALUE, shown(json), message);
        self.problems.push(match (&json.kind, self.place) {
            (Kind::Null, Place::Item) => problem.help("leave the item out"),
            (Kind::Null, Place::Optional) => problem.help("leave the key out if there is no value"),
            _ => problem,
        });
        None
    }

    /// A string.
    pub(crate) fn text<'j>(&mut self, json: &'j Node) -> Option<&'j agentir_syntax::json::Text> {
        match &json.kind {
            Kind::String(text) => Some(text),
            _ => self.expected(json, "a string"),
        }
    }

    /// One of some words.
    pub(crate) fn word(
        &mut self,
        json: &Node,
        words: &[&'static str],
    ) -> Option<Spanned<&'static str>> {
        let text = self.text(json)?;
        if let Some(word) = words.iter().find(|word| **word == text.value) {
            return Some(Spanned::new(*word, text.span));
        }
        let (problem, meant) = not_a_word(&text.value, text.span, &self.key, words);
        self.problems.push(match meant {
            Some(meant) => problem.did_you_mean(meant),
            None => match words {
                [only] => problem.help(format!("write `{only}`, or leave the key out")),
                _ => problem,
            },
        });
        // What is meant, so that what follows from the word is not wrong too.
        let word = words.iter().find(|word| Some(**word) == meant)?;
        Some(Spanned::new(*word, text.span))
    }

    /// Whether a text that was read is one of some words, in any case. Reports it if not, and corrects it if it is
    /// similar to one.
    pub(crate) fn check_word(
        &mut self,
        key: &'static str,
        text: &mut Spanned<SmolStr>,
        words: &[&'static str],
    ) {
        if words.iter().any(|word| word.eq_ignore_ascii_case(&text.value)) {
            return;
        }
        let (problem, meant) = not_a_word(&text.value, text.span, key, words);
        self.problems.push(match meant {
            Some(meant) => problem.did_you_mean(meant),
            None => problem,
        });
        if let Some(meant) = meant {
            text.value = SmolStr::new(meant);
        }
    }

    /// Reports data that is none of some words.
    pub(crate) fn check_data(&mut self, key: &str, data: &Extension, words: &[&'static str]) {
        let written = match &data.value {
            Data::String(text) => text.clone(),
            other => serde_json::to_string(other).unwrap_or_default(),
        };
        if data.value.as_str().is_some_and(|text| words.contains(&text)) {
            return;
        }
        let (problem, meant) = not_a_word(&written, data.span, key, words);
        self.problems.push(match meant {
            Some(meant) => problem.did_you_mean(meant),
            None => problem,
        });
    }

    /// One of the words that the field may have.
    pub(crate) fn word_of_field(&mut self, json: &Node) -> Option<Spanned<&'static str>> {
        self.word(json, self.words)
    }

    /// One of the dialects, by its id.
    pub(crate) fn dialect_of(&mut self, json: &Node) -> Option<Dialect> {
        let all = (self.parsers.dialects)();
        let ids: Vec<&str> = all.iter().map(|dialect| dialect.id()).collect();
        let id = self.word(json, &ids)?;
        all.into_iter().find(|known| known.id() == id.value)
    }

    /// The items of an array. An item that is wrong is left out.
    pub(crate) fn items<T: Json>(&mut self, json: &Node) -> Option<Vec<T>> {
        match &json.kind {
            Kind::Array(items) => {
                // What grows by doubling takes three times as much while it does.
                let mut all = Vec::with_capacity(items.len());
                all.extend(items.iter().filter_map(|item| self.item(item)));
                Some(all)
            }
            _ => self.expected_parts(json, "an array"),
        }
    }

    fn item<T: Json>(&mut self, json: &Node) -> Option<T> {
        let place = mem::replace(&mut self.place, Place::Item);
        let item = T::read(json, self);
        self.place = place;
        item
    }

    /// The members of an object whose keys are names. A value that is wrong is left out.
    pub(crate) fn entries<T: Json>(&mut self, json: &Node) -> Option<Vec<(Spanned<Name>, T)>> {
        let Kind::Object(members) = &json.kind else {
            return self.expected_parts(json, "an object");
        };
        self.check_duplicates(members);
        let mut all = Vec::with_capacity(members.len());
        for member in members {
            let key = Spanned::new(member.key.clone(), member.key_span);
            let outer = mem::replace(&mut self.key, member.key.clone());
            let place = mem::take(&mut self.place);
            let origins = self.origins.len();
            let read = T::read(&member.value, self);
            if let Some(mut value) = read.or_else(|| T::unread(member.value.span, self)) {
                value.set_key(&key, self);
                all.push((key, value));
            }
            self.key = outer;
            self.place = place;
            self.extend_origins(origins, member);
        }
        Some(all)
    }

    /// Extends the origins from a number on to the key of their object, which belongs to the object.
    fn extend_origins(&mut self, from: usize, member: &Member) {
        for origin in self.origins.iter_mut().skip(from) {
            if origin.element == member.value.span {
                origin.element.start = member.key_span.start;
            }
        }
    }

    /// An object. `name` is the name of its definition in the schema.
    pub(crate) fn object<T: Fields>(&mut self, json: &Node, name: &'static str) -> Option<T> {
        let Kind::Object(members) = &json.kind else {
            return self.expected_parts(json, "an object");
        };
        self.check_duplicates(members);
        let mut object = Object { members, ..Object::empty(json.span, name) };
        let read = object.fields(self);
        object.report_keys(self);
        if read.is_none() {
            self.gaps.push(object.start());
        }
        read
    }

    /// Reports the names that occur twice where each may occur once. `what` says what they name, and what is done with it.
    pub(crate) fn check_unique<'n>(
        &mut self,
        names: impl Iterator<Item = &'n Spanned<Name>>,
        (what, done): (&str, &str),
    ) {
        self.report_repeated(Severity::Error, names, (what, done));
    }

    /// Like [`check_unique`](Self::check_unique), where a language only warns of the same.
    pub(crate) fn warn_of_repeated<'n>(
        &mut self,
        names: impl Iterator<Item = &'n Spanned<Name>>,
        words: (&str, &str),
    ) {
        self.report_repeated(Severity::Warning, names, words);
    }

    fn report_repeated<'n>(
        &mut self,
        severity: Severity,
        names: impl Iterator<Item = &'n Spanned<Name>>,
        (what, done): (&str, &str),
    ) {
        let mut seen: FxHashMap<&Name, Span> = FxHashMap::default();
        for name in names {
            if let Some(first) = seen.insert(&name.value, name.span) {
                let message = format!("the {what} `{name}` is {done} twice");
                self.problems.push(
                    Diagnostic::new(rules::DUPLICATE_FIELD, severity, name.span, message)
                        .label(first, format!("first {done} here"))
                        .help("keep one of them"),
                );
            }
        }
    }

    /// Reports an empty name, which nothing could be called. `what` is what it should name.
    pub(crate) fn check_not_empty(&mut self, name: &Spanned<Name>, what: &str) {
        if name.value.trim().is_empty() {
            let message = format!("{what} must not be empty");
            self.problems.push(Diagnostic::error(rules::INVALID_VALUE, name.span, message));
        }
    }

    fn check_duplicates(&mut self, members: &[Member]) {
        let mut report = |member: &Member, first: &Member| {
            let message = format!("this object has the key `{}` twice", member.key);
            let problem = Diagnostic::error(rules::DUPLICATE_FIELD, member.key_span, message)
                .label(first.key_span, "the value here is ignored")
                .help("keep one of them");
            self.problems.push(problem);
            if matches!(first.value.kind, Kind::Array(_) | Kind::Object(_)) {
                self.gaps.push(first.key_span);
            }
        };
        if members.len() > 16 {
            let mut seen: FxHashMap<&str, &Member> = FxHashMap::default();
            for member in members {
                if let Some(first) = seen.insert(&member.key, member) {
                    report(member, first);
                }
            }
            return;
        }
        for (at, member) in members.iter().enumerate() {
            if let Some(first) = members.iter().take(at).rfind(|m| m.key == member.key) {
                report(member, first);
            }
        }
    }
}

/// What to underline: a value, or the start of one that may be long.
fn shown(json: &Node) -> Span {
    match json.kind {
        Kind::Array(_) | Kind::Object(_) => Span { end: json.span.start + 1, ..json.span },
        _ => json.span,
    }
}

/// The name of a definition in prose: `a gather field`.
fn words_of(name: &str) -> String {
    let name = match name {
        "AgentIR" => "Agent",
        "Template2" => "NamedTemplate",
        "GotoJson" => "Jump",
        "CallSpec" => "Call",
        "CompilationOutput" => "Program",
        name => name,
    };
    let mut words = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(c.to_lowercase());
    }
    // What there is one of, or several together.
    if words == "metadata" || words.ends_with('s') {
        return format!("the {words}");
    }
    let article = if words.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {words}")
}

/// A value that is a name.
pub(crate) trait HasName {
    /// The name, and its location.
    fn text(&self) -> (&str, Span);
}

impl HasName for Spanned<Name> {
    fn text(&self) -> (&str, Span) {
        (&self.value, self.span)
    }
}

impl HasName for Cow<'_, Spanned<Name>> {
    fn text(&self) -> (&str, Span) {
        (**self).text()
    }
}

/// An object that is read.
#[derive(Debug)]
pub struct Object<'j> {
    members: &'j [Member],
    /// The location.
    pub(crate) span: Span,
    /// The keys that were asked for.
    asked: Vec<&'static str>,
    /// Those of them that must be there and are not.
    missing: Vec<&'static str>,
    name: &'static str,
}

impl<'j> Object<'j> {
    /// An object without keys. `name` is the name of its definition in the schema.
    pub(crate) const fn empty(span: Span, name: &'static str) -> Self {
        Self { members: &[], span, asked: Vec::new(), missing: Vec::new(), name }
    }

    pub(crate) fn fields<T: Fields>(&mut self, reader: &mut Reader<'_>) -> Option<T> {
        T::read_fields(self, reader)
    }

    /// The value of a key that was read.
    pub(crate) fn node(&self, key: &str) -> Option<&'j Node> {
        self.members.iter().rfind(|m| m.key == key).map(|m| &m.value)
    }

    /// The value of a key; of several the last.
    pub(crate) fn get(&mut self, key: &'static str) -> Option<&'j Node> {
        self.member(key).map(|m| &m.value)
    }

    fn member(&mut self, key: &'static str) -> Option<&'j Member> {
        self.asked.push(key);
        self.members.iter().rfind(|m| m.key == key)
    }

    /// The value of a key; `None` if it is absent or wrong.
    pub(crate) fn read<T: Json>(
        &mut self,
        key: &'static str,
        words: &'static [&'static str],
        reader: &mut Reader<'_>,
    ) -> Option<T> {
        self.read_as(Place::Optional, key, words, reader)
    }

    fn read_as<T: Json>(
        &mut self,
        place: Place,
        key: &'static str,
        words: &'static [&'static str],
        reader: &mut Reader<'_>,
    ) -> Option<T> {
        let member = self.member(key)?;
        let origins = reader.origins.len();
        let outer_words = mem::replace(&mut reader.words, words);
        let value = reader.at(key, place, |reader| T::read(&member.value, reader));
        reader.words = outer_words;
        reader.extend_origins(origins, member);
        value
    }

    /// The value of a key that must be there.
    pub(crate) fn required<T: Json>(
        &mut self,
        key: &'static str,
        words: &'static [&'static str],
        reader: &mut Reader<'_>,
    ) -> Option<T> {
        if self.members.iter().any(|m| m.key == key) {
            return self.read_as(Place::Required, key, words, reader);
        }
        self.asked.push(key);
        self.missing.push(key);
        None
    }

    /// The name at a key that must be there. Nothing could refer to an empty one.
    pub(crate) fn name<T: Json + HasName>(
        &mut self,
        key: &'static str,
        reader: &mut Reader<'_>,
    ) -> Option<T> {
        let name: T = self.required(key, &[], reader)?;
        let (text, span) = name.text();
        if !text.trim().is_empty() {
            return Some(name);
        }
        let message = format!("`{key}` of {} must not be empty", words_of(self.name));
        reader.report(Diagnostic::error(rules::INVALID_VALUE, span, message));
        None
    }

    /// Reports that a key is missing, whose value is one of `words` if there are any.
    fn report_missing(&self, key: &str, words: &[&str], reader: &mut Reader<'_>) {
        let what = words_of(self.name);
        let message = format!("{what} must have the key `{key}`");
        let start = Span { end: self.span.start + 1, ..self.span };
        let problem = Diagnostic::error(rules::MISSING_FIELD, start, message);
        let problem = match words {
            [] => problem,
            words => problem.note(valid_values(words)),
        };
        reader.report(problem.help(format!("add `\"{key}\": …` to this object")));
    }

    /// The word that tells the variants of an object apart.
    pub(crate) fn tag(
        &mut self,
        key: &'static str,
        words: &[&'static str],
        reader: &mut Reader<'_>,
    ) -> Option<&'static str> {
        let Some(json) = self.get(key) else {
            self.report_missing(key, words, reader);
            // Which keys there may be is unknown.
            self.members = &[];
            return None;
        };
        let word = reader.within(key, |reader| reader.word(json, words));
        if word.is_none() {
            self.members = &[];
        }
        word.map(|word| word.value)
    }

    /// The location of the object. Its origin is recorded.
    pub(crate) fn place(&mut self, reader: &mut Reader<'_>) -> Span {
        // Parts of an object share its location.
        if !self.asked.contains(&ORIGIN) {
            // Nothing is defined by where it comes from.
            let gaps = reader.gaps.len();
            if let Some(origin) = self.read::<Option<Origin>>(ORIGIN, &[], reader).flatten() {
                reader.origins.push(Origin { element: self.span, ..origin });
            }
            reader.gaps.truncate(gaps);
        }
        self.span
    }

    /// The brace that opens the object.
    pub(crate) const fn start(&self) -> Span {
        Span { end: self.span.start + 1, ..self.span }
    }

    /// Whether the object has a key.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.key_span(key).is_some()
    }

    pub(crate) fn key_span(&self, key: &str) -> Option<Span> {
        self.members.iter().rfind(|m| m.key == key).map(|m| m.key_span)
    }

    /// Reports the first of some keys that must not be beside `key`.
    pub(crate) fn exclude(&self, key: &str, others: &[&str], help: &str, reader: &mut Reader<'_>) {
        let Some(span) = self.key_span(key) else { return };
        let other = others.iter().find_map(|other| Some((other, self.key_span(other)?)));
        if let Some((other, at)) = other {
            reader.gaps.push(at);
            let message = format!("`{other}` must not be beside `{key}`, and is ignored");
            reader.report(
                Diagnostic::error(rules::CONFLICTING_FIELDS, at, message)
                    .label(span, format!("`{key}` is here"))
                    .help(help),
            );
        }
    }

    /// Reports a key that means nothing without one of some others.
    pub(crate) fn require(&self, key: &str, others: &[&str], reader: &mut Reader<'_>) {
        let Some(span) = self.key_span(key) else { return };
        if let (None, Some(first)) =
            (others.iter().find_map(|other| self.key_span(other)), others.first())
        {
            let message = format!("`{key}` has no effect without `{first}`");
            reader.report(
                Diagnostic::error(rules::MISSING_FIELD, span, message)
                    .help(format!("add `{first}`, or remove `{key}`")),
            );
        }
    }

    /// Reports keys that nobody asked for, and those that are missing.
    fn report_keys(&mut self, reader: &mut Reader<'_>) {
        let mut missing = mem::take(&mut self.missing);
        for member in self.members.iter().filter(|m| !self.asked.contains(&&*m.key)) {
            let message = format!("`{}` is not a key of {}", member.key, words_of(self.name));
            // A required key that is misspelled is one mistake.
            if let Some(meant) = closest(&member.key, missing.iter().copied()) {
                missing.retain(|key| *key != meant);
                let problem = Diagnostic::error(rules::UNKNOWN_FIELD, member.key_span, message)
                    .note(format!("{} must have the key `{meant}`", words_of(self.name)));
                reader.report(problem.did_you_mean(meant));
                continue;
            }
            let problem = Diagnostic::warning(rules::UNKNOWN_FIELD, member.key_span, message)
                .note("it is ignored");
            reader.report(match closest(&member.key, self.asked.iter().copied()) {
                Some(meant) => problem.did_you_mean(meant),
                None if self.asked.contains(&"extensions") => problem
                    .help("put data of your own into `extensions`, under the name of its producer"),
                None => problem.help("remove it"),
            });
        }
        for key in missing {
            self.report_missing(key, &[], reader);
        }
    }
}
