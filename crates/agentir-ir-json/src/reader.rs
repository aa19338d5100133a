//! Reading: what is wrong with a value is reported at its location, with what to write instead.

mod object;

pub use object::Object;

use crate::describe::*;
use agentir_diagnostics::{Diagnostic, Severity, Span, Spanned, closest};
use agentir_expr::dialect::NONE;
use agentir_expr::{Depth, Dialect, Expr, ExprKind, Literal, Name, Template};
use agentir_ir::{Data, Extension};
use agentir_syntax::data::Form;
use agentir_syntax::inline::InlineText;
use agentir_syntax::json::{Json as Node, Kind, Member};
use agentir_syntax::misspelled::unknown_field;
use agentir_syntax::{InlineParsers, Origin, rules};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
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

/// How many mistakes of a document are listed.
const MAX_PROBLEMS: usize = 100_000;

/// What is read, and what is wrong with it.
#[derive(Debug)]
pub struct Reader<'r> {
    problems: &'r mut Vec<Diagnostic>,
    /// The severity of those that are not listed, if there are more than are.
    cut: Option<Severity>,
    /// The objects and arrays that could not be read, in which names may be defined.
    pub(crate) gaps: Vec<Span>,
    /// The keys and single values of objects a value of which could not be read.
    pub(crate) partial: Vec<Span>,
    /// The location of the document.
    pub(crate) root: Span,
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
        root: Span,
        dialect: Dialect,
        parsers: &'r Parsers,
        problems: &'r mut Vec<Diagnostic>,
    ) -> Self {
        let key = SmolStr::new_static("value");
        Self {
            problems,
            cut: None,
            gaps: Vec::new(),
            partial: Vec::new(),
            root,
            parsers,
            dialect,
            origins: Vec::new(),
            words: &[],
            key,
            place: Place::Optional,
        }
    }

    /// Reports a mistake. They take far more memory than the values that they are about: a document has a limited number
    /// of them.
    pub(crate) fn report(&mut self, problem: Diagnostic) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        } else if self.cut.is_none_or(|cut| cut < problem.severity) {
            // An error among those that are not listed is one all the same.
            self.cut = Some(problem.severity);
            let (rule, at) = (problem.rule, problem.primary.span);
            let message = format!("more than {MAX_PROBLEMS} mistakes: the others are not listed");
            let problem = Diagnostic::new(rule, problem.severity, at, message);
            self.problems.push(problem.help("correct those above first"));
        }
    }

    /// Reports what a parser of an embedded language, or a check of what has been read, finds.
    pub(crate) fn reporting<T>(&mut self, find: impl FnOnce(&mut Vec<Diagnostic>) -> T) -> T {
        let mut found = Vec::new();
        let result = find(&mut found);
        found.into_iter().for_each(|problem| self.report(problem));
        result
    }

    /// How many mistakes were found.
    pub(crate) const fn problems(&self) -> usize {
        self.problems.len()
    }

    /// Whether an error is among the mistakes from a number on.
    pub(crate) fn has_errors_since(&self, from: usize) -> bool {
        self.problems.iter().skip(from).any(|problem| problem.severity == Severity::Error)
    }

    /// Whether it is known of which language the agent is. Otherwise that is the mistake, and what its texts mean is
    /// unknown.
    pub(crate) fn knows_dialect(&self) -> bool {
        self.dialect != NONE
    }

    /// Whether nothing that was read is wrong.
    pub(crate) fn has_no_errors(&self) -> bool {
        !self.has_errors_since(0)
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
        let parse = self.parsers.inline.condition;
        self.reporting(|problems| parse(input, true, problems)).expr().cloned()
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
                let template = self.reporting(|problems| parse(input, problems));
                ExprKind::Template(Box::new(template.inside(span)))
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
        self.report(match (&json.kind, self.place) {
            (Kind::Null, Place::Item) => problem.help("leave the item out"),
            (Kind::Null, Place::Optional) => problem.help("leave the key out if there is no value"),
            (Kind::Number(text), _) if expected.starts_with("a string") => {
                problem.help(format!("write it in quotes: `\"{text}\"`"))
            }
            (Kind::Bool(value), _) if expected.starts_with("a string") => {
                problem.help(format!("write it in quotes: `\"{value}\"`"))
            }
            (Kind::String(text), _) if is_written_so(&text.value, expected) => {
                problem.help(format!("leave out the quotes: `{}`", text.value))
            }
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
        self.report(match meant {
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
        self.report(match meant {
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
        self.report(match meant {
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
                T::check_items(all.iter(), self);
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

    /// An object of data with some keys, each with its form. What has another key is kept.
    pub(crate) fn data_with_keys<'k>(
        &mut self,
        json: &Node,
        what: &str,
        keys: impl Iterator<Item = &'k (&'static str, Form)> + Clone,
    ) -> Option<serde_json::Map<String, Data>> {
        let Kind::Object(members) = &json.kind else {
            return self.expected_parts(json, "an object");
        };
        self.check_duplicates(members);
        let mut all = serde_json::Map::new();
        for member in members {
            let known = self.known_key(member, what, keys.clone());
            let outer = mem::replace(&mut self.key, member.key.clone());
            let place = mem::take(&mut self.place);
            if let Some(mut value) = Data::read(&member.value, self)
                && known.is_none_or(|(key, form)| {
                    self.check_form(&member.value, key, *form, &mut value)
                })
            {
                all.insert(member.key.to_string(), value);
            }
            self.key = outer;
            self.place = place;
        }
        Some(all)
    }

    /// Reports the keys of an object of data that are none of some.
    pub(crate) fn check_keys<'k>(
        &mut self,
        json: &Node,
        what: &str,
        keys: impl Iterator<Item = &'k (&'static str, Form)> + Clone,
    ) {
        if let Kind::Object(members) = &json.kind {
            for member in members {
                self.known_key(member, what, keys.clone());
            }
        }
    }

    /// The key that a member has, which is reported if it is none of some.
    fn known_key<'k>(
        &mut self,
        member: &Member,
        what: &str,
        keys: impl Iterator<Item = &'k (&'static str, Form)> + Clone,
    ) -> Option<&'k (&'static str, Form)> {
        let known = keys.clone().find(|(key, _)| *key == member.key);
        if known.is_none() {
            let message = format!("`{}` is not a key of {what}", member.key);
            let meant = closest(&member.key, keys.map(|(key, _)| *key));
            let problem =
                unknown_field(member.key_span, message, meant).note("it has no effect at run time");
            if meant.is_some() {
                self.gaps.push(member.key_span);
            }
            self.report(match meant {
                Some(_) => problem,
                None => problem.help("remove it, or put it into `extensions`"),
            });
        }
        known
    }

    /// Whether data is of a form, or was corrected to be.
    pub(crate) fn check_form(
        &mut self,
        json: &Node,
        key: &'static str,
        form: Form,
        value: &mut Data,
    ) -> bool {
        let Some(expected) = form.expected(key, value) else { return true };
        if let (Form::Word(words), Data::String(text)) = (form, &*value) {
            let mut word = Spanned::new(SmolStr::new(text), json.span);
            if let Some(written) = json.text() {
                word.span = written.span;
            }
            self.check_word(key, &mut word, words);
            let is_word = words.contains(&word.value.as_str());
            *value = Data::from(word.value.as_str());
            return is_word;
        }
        self.expected::<()>(json, &expected).is_some()
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
        let mut object = Object::of(members, json.span, name, self.problems());
        let read = object.fields(self);
        object.report_keys(self);
        if read.is_none() {
            self.gaps.push(object.start());
        }
        read
    }

    /// The value of the only key of an object. `name` is the name of its definition in the schema.
    pub(crate) fn only<T: Json>(
        &mut self,
        json: &Node,
        name: &'static str,
        key: &'static str,
    ) -> Option<T> {
        let Kind::Object(members) = &json.kind else {
            return self.expected_parts(json, "an object");
        };
        self.check_duplicates(members);
        let mut object = Object::of(members, json.span, name, self.problems());
        let value = object.required(key, &[], self);
        object.report_keys(self);
        value
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
                if severity == Severity::Error {
                    self.gaps.push(name.span);
                }
                self.report(
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
            let problem = Diagnostic::error(rules::INVALID_VALUE, name.span, message);
            self.report(problem.help("write a name"));
        }
    }

    fn check_duplicates(&mut self, members: &[Member]) {
        let mut report = |member: &Member, first: &Member| {
            let message = format!("this object has the key `{}` twice", member.key);
            let problem = Diagnostic::error(rules::DUPLICATE_FIELD, member.key_span, message)
                .label(first.key_span, "the value here is ignored")
                .help("keep one of them");
            self.report(problem);
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

/// Whether a text would be what is expected if it had no quotes.
fn is_written_so(text: &str, expected: &str) -> bool {
    match text {
        "true" | "false" => expected.contains("`true`"),
        text => expected.contains("number") && text.parse::<f64>().is_ok_and(f64::is_finite),
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
