//! Objects: the keys that were asked for, those that are missing, and those that nobody knows.

use super::{ORIGIN, Origin, Place, Reader, valid_values, words_of};
use crate::describe::*;
use agentir_diagnostics::{Diagnostic, Span, Spanned, closest};
use agentir_expr::Name;
use agentir_syntax::json::{Json as Node, Kind, Member};
use agentir_syntax::misspelled::unknown_field;
use agentir_syntax::rules;
use std::borrow::Cow;
use std::mem;

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
    /// How many mistakes had been found before it.
    before: usize,
    /// Whether a value of it could not be read.
    is_partial: bool,
}

impl<'j> Object<'j> {
    /// An object with these keys.
    pub(super) const fn of(
        members: &'j [Member],
        span: Span,
        name: &'static str,
        before: usize,
    ) -> Self {
        Self {
            members,
            span,
            asked: Vec::new(),
            missing: Vec::new(),
            name,
            before,
            is_partial: false,
        }
    }

    /// An object without keys. `name` is the name of its definition in the schema.
    pub(crate) const fn empty(span: Span, name: &'static str) -> Self {
        Self::of(&[], span, name, usize::MAX)
    }

    /// Whether something in the object is wrong, so that its values need not fit together.
    pub(crate) fn is_wrong(&self, reader: &Reader<'_>) -> bool {
        reader.has_errors_since(self.before)
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

    /// Like [`read`](Self::read), of a key whose value names what other values refer to.
    pub(crate) fn read_naming<T: Json>(
        &mut self,
        key: &'static str,
        words: &'static [&'static str],
        reader: &mut Reader<'_>,
    ) -> Option<T> {
        let value = self.read(key, words, reader);
        if value.is_none() {
            reader.gaps.extend(self.key_span(key));
        }
        value
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
        self.is_partial |= value.is_none();
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
        let problem = Diagnostic::error(rules::INVALID_VALUE, span, message);
        reader.report(problem.help("write the name by which it is referred to"));
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

    /// Reports a key that is the misspelling of one that must be there: that is one mistake.
    fn report_misspelled(&self, member: &Member, meant: &'static str, reader: &mut Reader<'_>) {
        let what = words_of(self.name);
        let message = format!("`{}` is not a key of {what}", member.key);
        let problem = unknown_field(member.key_span, message, Some(meant));
        reader.report(problem.note(format!("{what} must have the key `{meant}`")));
    }

    /// The word that tells the variants of an object apart.
    pub(crate) fn tag(
        &mut self,
        key: &'static str,
        words: &[&'static str],
        reader: &mut Reader<'_>,
    ) -> Option<&'static str> {
        let Some(json) = self.get(key) else {
            match self.members.iter().find(|member| closest(&member.key, [key]).is_some()) {
                Some(member) => self.report_misspelled(member, key, reader),
                None => self.report_missing(key, words, reader),
            }
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

    /// The location of a key that has a value: `null` is as if the key were absent.
    fn stated(&self, key: &str) -> Option<Span> {
        let member = self.members.iter().rfind(|m| m.key == key)?;
        (!matches!(member.value.kind, Kind::Null)).then_some(member.key_span)
    }

    /// Reports the first of some keys that must not be beside `key`.
    pub(crate) fn exclude(&self, key: &str, others: &[&str], help: &str, reader: &mut Reader<'_>) {
        let Some(span) = self.stated(key) else { return };
        let other = others.iter().find_map(|other| Some((other, self.stated(other)?)));
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
        let Some(span) = self.stated(key) else { return };
        let is_meant = |member: &Member| {
            !self.asked.contains(&&*member.key)
                && closest(&member.key, others.iter().copied()).is_some()
        };
        if let (None, Some(first)) =
            (others.iter().find_map(|other| self.key_span(other)), others.first())
            && !self.members.iter().any(is_meant)
        {
            let message = format!("`{key}` has no effect without `{first}`");
            reader.report(
                Diagnostic::error(rules::MISSING_FIELD, span, message)
                    .help(format!("add `{first}`, or remove `{key}`")),
            );
        }
    }

    /// Reports keys that nobody asked for, and those that are missing.
    pub(super) fn report_keys(&mut self, reader: &mut Reader<'_>) {
        let mut missing = mem::take(&mut self.missing);
        for member in self.members.iter().filter(|m| !self.asked.contains(&&*m.key)) {
            // Editors find the schema of a document by it.
            if member.key == "$schema"
                && self.span == reader.root
                && matches!(member.value.kind, Kind::String(_))
            {
                continue;
            }
            if let Some(meant) = closest(&member.key, missing.iter().copied()) {
                missing.retain(|key| *key != meant);
                self.report_misspelled(member, meant, reader);
                self.is_partial = true;
                continue;
            }
            let message = format!("`{}` is not a key of {}", member.key, words_of(self.name));
            let meant = closest(&member.key, self.asked.iter().copied());
            let problem = unknown_field(member.key_span, message, meant).note("it is ignored");
            // What is meant to be there is not.
            if meant.is_some() {
                reader.gaps.push(member.key_span);
                self.is_partial = true;
            }
            reader.report(match meant {
                Some(_) => problem,
                None if self.asked.contains(&"extensions") => problem
                    .help("put data of your own into `extensions`, under the name of its producer"),
                None => problem.help("remove it"),
            });
        }
        for key in missing {
            self.report_missing(key, &[], reader);
        }
        if self.is_partial {
            self.mark_partial(reader);
        }
    }

    /// Records that the object has more than was read: at its brace, its keys and its single values. What objects in it
    /// have is another matter.
    fn mark_partial(&self, reader: &mut Reader<'_>) {
        reader.partial.push(self.start());
        reader.partial.extend(self.members.iter().map(|member| match member.value.kind {
            Kind::Array(_) | Kind::Object(_) => member.key_span,
            _ => Span { end: member.value.span.end, ..member.key_span },
        }));
    }
}
