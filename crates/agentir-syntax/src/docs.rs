//! What the words of a language are for, and where they are specified: a table in a text file, which hover,
//! completion and the book share.
//!
//! ```text
//! ## gather field
//! type | §3.6 | what kind of value it is
//! prompt_mode: ask | §3.6 | the user is asked for the value
//! ## *
//! then | §3.14.1 | what happens next
//! ## words
//! COMPLETE | §3.14.1 | the agent is done
//! ## links
//! §3 | https://example.com/specification
//! ```
//!
//! A heading is the title of a record, and its rows are the fields of the record and their values. What is below `*`
//! means the same in all records that have no row of their own for it. `words` are the words of the language that belong
//! to no record, and `links` say where sources that begin so are published.

use crate::context::{Context, Expected, ExpectedKind};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

/// A phrase that says what something is for, and where that is specified; both are empty if nothing is said.
pub type Doc = (&'static str, &'static str);

const EVERYWHERE: &str = "*";
const WORDS: &str = "words";
const LINKS: &str = "links";

/// The table of a language.
#[derive(Debug, Default)]
pub struct Docs {
    /// By record, field and value. Fields have the value "", and words are fields of [`WORDS`].
    rows: FxHashMap<(&'static str, &'static str, &'static str), Doc>,
    /// The beginnings of sources, and where they are published.
    links: Vec<(&'static str, &'static str)>,
    /// How many rows are written: more than `rows` if two have the same name.
    written: usize,
}

/// A word of a language, with what is said of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Documented {
    /// The title of the record; "" for words that belong to none.
    pub record: &'static str,
    /// The field; "" for words that belong to none.
    pub field: &'static str,
    /// The value or the word; "" for a field.
    pub word: SmolStr,
    /// What is written behind it, in words.
    pub shape: String,
    /// Whether its record is incomplete without it.
    pub required: bool,
    /// What it is for, and where it is specified.
    pub doc: Doc,
}

impl Documented {
    /// A word that belongs to no record.
    #[must_use]
    pub fn word(word: impl Into<SmolStr>, shape: impl Into<String>, doc: Doc) -> Self {
        let (word, shape) = (word.into(), shape.into());
        Self { record: "", field: "", word, shape, required: false, doc }
    }

    /// A value of a field.
    #[must_use]
    pub fn value(record: &'static str, field: &'static str, word: &'static str, doc: Doc) -> Self {
        Self { record, field, ..Self::word(word, "", doc) }
    }
}

impl Docs {
    /// Reads a table.
    #[must_use]
    pub fn read(text: &'static str) -> Self {
        let mut docs = Self::default();
        let mut record = "";
        for line in text.lines() {
            if let Some(heading) = line.strip_prefix("## ") {
                record = heading;
                continue;
            }
            let mut parts = line.splitn(3, " | ");
            match (record, parts.next(), parts.next(), parts.next()) {
                (LINKS, Some(source), Some(link), None) => docs.links.push((source, link)),
                ("", ..) => {}
                (_, Some(key), Some(source), Some(doc)) => {
                    // Words may have colons.
                    let value = key.split_once(": ").filter(|_| record != WORDS);
                    let (field, value) = value.unwrap_or((key, ""));
                    docs.rows.insert((record, field, value), (doc, source));
                    docs.written += 1;
                }
                _ => {}
            }
        }
        docs
    }

    /// What a key is for that means the same in all records, and where it is specified; nothing for names that authors
    /// choose.
    #[must_use]
    pub fn everywhere(&self, field: &str) -> Doc {
        self.row(EVERYWHERE, field, "").unwrap_or_default()
    }

    fn row(&self, record: &str, field: &str, value: &str) -> Option<Doc> {
        let rows: &FxHashMap<(&str, &str, &str), Doc> = &self.rows;
        rows.get(&(record, field, value)).copied()
    }

    /// What is said of a field of a record.
    #[must_use]
    pub fn field(&self, record: &str, field: &str) -> Doc {
        self.row(record, field, "").or_else(|| self.row(EVERYWHERE, field, "")).unwrap_or_default()
    }

    /// What is said of a value of a field, which may be a word of the language.
    #[must_use]
    pub fn value(&self, record: &str, field: &str, value: &str) -> Doc {
        self.own_value(record, field, value).unwrap_or_else(|| self.word(value))
    }

    fn own_value(&self, record: &str, field: &str, value: &str) -> Option<Doc> {
        self.row(record, field, value).or_else(|| self.row(EVERYWHERE, field, value))
    }

    /// What is said of a word that belongs to no record.
    #[must_use]
    pub fn word(&self, word: &str) -> Doc {
        self.row(WORDS, word, "").unwrap_or_default()
    }

    /// Where a source is published, if it is.
    #[must_use]
    pub fn link(&self, source: &str) -> Option<&'static str> {
        self.links.iter().find(|(begin, _)| source.starts_with(begin)).map(|(_, link)| *link)
    }

    /// Adds what is said of something that may be written, if nothing is said yet.
    pub fn document(&self, context: &Context, one: &mut Expected) {
        let is_of_language = match one.kind {
            ExpectedKind::Keyword
            | ExpectedKind::Value
            | ExpectedKind::Type
            | ExpectedKind::Namespace
            | ExpectedKind::Operator
            | ExpectedKind::Function => true,
            // The members of namespaces, not those of values.
            ExpectedKind::Member => context.qualifier.as_ref().is_some_and(|q| q.starts_with('@')),
            ExpectedKind::Field | ExpectedKind::Name(_) | ExpectedKind::SystemVariable => false,
        };
        if !one.doc.is_empty() || !is_of_language {
            return;
        }
        let records = context.records.iter().rev().map(|record| record.title);
        let field = context.field.as_ref().map_or("", |field| field.name);
        let label = one.label.as_str();
        let own = records.clone().find_map(|record| self.own_value(record, field, label));
        let word = || match (one.kind, context.qualifier.as_deref()) {
            (ExpectedKind::Member, Some(space)) => self.word(&format!("{space}.{label}")),
            (ExpectedKind::Namespace, Some("@")) => self.word(&format!("@{label}")),
            _ => self.word(label),
        };
        (one.doc, one.source) = own.unwrap_or_else(word);
    }

    /// What is wrong with a table: words of the language of which nothing is said, phrases that are none, and rows that
    /// nothing is called as.
    #[must_use]
    pub fn problems(&self, all: &[Documented]) -> Vec<String> {
        let mut problems = Vec::new();
        let mut used = FxHashSet::default();
        let rows: &FxHashMap<(&str, &str, &str), Doc> = &self.rows;
        for one in all {
            let (doc, source) = one.doc;
            let word = one.word.as_str();
            let key = [one.record, one.field, word].join(" | ");
            if !doc.contains(' ') || doc.ends_with('.') {
                problems.push(format!("{key}: `{doc}` is no phrase"));
            }
            if source.is_empty() {
                problems.push(format!("{key}: where is it specified?"));
            }
            let keys =
                [(one.record, one.field, word), (EVERYWHERE, one.field, word), (WORDS, word, "")];
            used.extend(keys.into_iter().find(|key| rows.contains_key(key)));
        }
        let unused = rows.keys().filter(|row| !used.contains(*row));
        problems.extend(unused.map(|row| format!("{row:?}: nothing is called so")));
        // No row is lost because another one has the same name.
        if self.written != self.rows.len() {
            problems.push(format!("{} rows have {} names", self.written, self.rows.len()));
        }
        problems.sort();
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::{Docs, Documented};
    use smol_str::SmolStr;

    const TABLE: &str = "a text before it | with | bars\n## step\nthen | §1 | what comes next\n\
        mode: fast | §2 | without waiting\n## *\nmode | §3 | how it is done\n## words\nOR | §4 | one of two\n\
        ## links\n§ | https://example.com\n";

    #[test]
    fn rows_are_found_by_record_everywhere_and_as_words() {
        let docs = Docs::read(TABLE);
        assert_eq!(docs.field("step", "then"), ("what comes next", "§1"));
        assert_eq!(docs.field("flow", "then"), ("", ""));
        assert_eq!(docs.field("flow", "mode"), ("how it is done", "§3"));
        assert_eq!(docs.value("step", "mode", "fast"), ("without waiting", "§2"));
        assert_eq!(docs.value("step", "mode", "OR"), ("one of two", "§4"));
        assert_eq!(docs.value("flow", "mode", "fast"), ("", ""));
        assert_eq!(docs.link("§4"), Some("https://example.com"));
        assert_eq!(docs.link("MICA"), None);
    }

    #[test]
    fn what_is_missing_and_what_is_unused_is_a_problem() {
        let docs = Docs::read(TABLE);
        let row = |record, field, word: &'static str| {
            let doc = match word {
                "" => docs.field(record, field),
                word => docs.value(record, field, word),
            };
            let word = SmolStr::new_static(word);
            Documented { record, field, word, shape: String::new(), required: false, doc }
        };
        let all = [row("step", "then", ""), row("step", "mode", ""), row("", "", "OR")];
        assert_eq!(docs.problems(&all), [r#"("step", "mode", "fast"): nothing is called so"#]);
        let all = [&all[..], &[row("step", "mode", "fast"), row("step", "goal", "")]].concat();
        assert_eq!(
            docs.problems(&all),
            ["step | goal | : `` is no phrase", "step | goal | : where is it specified?"]
        );
    }
}
