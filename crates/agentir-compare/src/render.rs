//! Comparisons as text. Their JSON is their serialization.

use crate::behaviour::{Divergence, Turn};
use crate::conditions::ConditionDifference;
use crate::location::Location;
use crate::unknown::Unknown;
use crate::values::{ValueDifference, Values};
use crate::{Comparison, Verdict};
use serde_json::Value;
use std::fmt::Write;

/// The number of differences that are printed in full; the others are in the JSON.
const MAX_SHOWN: usize = 10;

/// The number of characters of a value that are printed.
const MAX_VALUE: usize = 80;

fn at(location: Option<&Location>) -> String {
    location.map_or_else(String::new, |location| format!("   ({location})"))
}

/// A number with what is counted.
fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn turns(out: &mut String, who: &str, all: &[Turn]) {
    if all.is_empty() {
        let _ = writeln!(out, "    {who}: nothing more");
    }
    for turn in all {
        let _ = writeln!(out, "    {who}: {}{}", turn.does, at(turn.at.as_ref()));
    }
}

/// A value, shortened to a line.
fn shortened(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(MAX_VALUE) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

impl Divergence {
    /// The conversation, one turn per line. `names` are the names of the two programs.
    #[must_use]
    pub fn text(&self, names: [&str; 2]) -> String {
        let [left, right] = names;
        let mut out = String::new();
        let step = self.step.as_ref().map_or_else(String::new, |step| format!(", step `{step}`"));
        let announced = if self.announced { " (announced)" } else { "" };
        let _ = writeln!(out, "agent `{}`{step}{announced}:", self.agent);
        if self.turns_before > 0 {
            let _ =
                writeln!(out, "    after {} turns in which both do the same", self.turns_before);
        }
        for turn in &self.conversation {
            if !turn.when.is_empty() {
                let _ = writeln!(out, "    where {}", turn.when.join(", and "));
            }
            let _ = writeln!(out, "    both: {}{}", turn.does, at(turn.at.as_ref()));
        }
        if !self.when.is_empty() {
            let state = self.state.as_ref().map_or_else(String::new, |s| format!("   (as in {s})"));
            let _ = writeln!(out, "    where {}{state}", self.when.join(", and "));
        }
        turns(&mut out, left, &self.left);
        turns(&mut out, right, &self.right);
        out
    }
}

impl ConditionDifference {
    fn text(&self, names: [&str; 2]) -> String {
        let [left, right] = names;
        let announced = if self.announced { " (announced)" } else { "" };
        format!(
            "{}{announced}: they differ where {}\n    {left}: {}{}\n    {right}: {}{}\n",
            self.path,
            self.state,
            self.left,
            at(self.left_at.as_ref()),
            self.right,
            at(self.right_at.as_ref()),
        )
    }
}

impl Comparison {
    /// What was compared and what was not, in three statements: control flow, values outside of it, and what nothing looks
    /// at. `name` is that of the second program; that it does the same is only said if there is nothing else to say.
    #[must_use]
    pub fn statements(&self, name: &str) -> Vec<String> {
        let mut all =
            vec![format!("control flow: {}: {}", self.control_flow_verdict(), self.summary())];
        let Values { kept, different } = &self.values;
        let reported = different.iter().filter(|one| one.announced).count();
        let mut values =
            format!("values outside of control flow: {kept} kept, {} differ", different.len());
        if reported > 0 {
            let _ = write!(values, ", {reported} of them reported");
        }
        all.push(values);
        let unknown = self.not_compared.iter().map(|one| {
            let names: Vec<_> =
                one.names.iter().take(MAX_SHOWN).map(|n| format!("`{n}`")).collect();
            let more = match one.names.len().saturating_sub(MAX_SHOWN) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("{} {}{more}", one.what.text(), names.join(", "))
        });
        let unknown: Vec<String> = unknown.collect();
        let unknown =
            if unknown.is_empty() { "nothing else".to_owned() } else { unknown.join("; ") };
        all.push(format!("not compared: {unknown}"));
        if self.is_same() {
            all.push(format!("the {name} is proved to behave the same"));
        }
        all
    }

    /// The verdict on control flow. What could not be decided hides no difference that is known.
    fn control_flow_verdict(&self) -> String {
        let (conditions, behaviour) = (&self.conditions, &self.behaviour);
        let differs = !conditions.different.is_empty() || !behaviour.different.is_empty();
        match self.control_flow {
            Verdict::Same if self.is_unknown(Unknown::Evaluation) => {
                "proved equal where both compute the same".to_owned()
            }
            Verdict::Same => "proved equal".to_owned(),
            Verdict::SameButAnnounced => "differs only where a loss is reported".to_owned(),
            Verdict::Undecided if differs => {
                let undecided = conditions.undecided + behaviour.undecided.len();
                format!("differs where a loss is reported, {undecided} could not be decided")
            }
            Verdict::Undecided => "equal as far as it could be decided".to_owned(),
            Verdict::Different => "differs".to_owned(),
        }
    }

    /// The evidence of the verdict on control flow.
    #[must_use]
    pub fn summary(&self) -> String {
        let c = &self.conditions;
        let b = &self.behaviour;
        let mut parts = Vec::new();
        let same = c.identical + c.proved;
        if same > 0 {
            let typed = match c.if_typed {
                0 => String::new(),
                n => format!(", {n} as long as what is compared with a number is one"),
            };
            let count = counted(same, "condition") + if same == 1 { " holds" } else { " hold" };
            parts.push(format!("{count} in the same states ({} proved{typed})", c.proved));
        }
        if c.in_words > 0 {
            parts.push(match (same, c.in_words) {
                (0, 1) => "1 condition is words for the model".to_owned(),
                (0, n) => format!("{n} conditions are words for the model"),
                (_, 1) => "1 is words for the model".to_owned(),
                (_, n) => format!("{n} are words for the model"),
            });
        }
        if c.undecided > 0 {
            parts.push(format!("{} could not be decided", counted(c.undecided, "condition")));
        }
        match c.different.len() {
            0 => {}
            1 => parts.push("1 condition differs".to_owned()),
            several => parts.push(format!("{several} conditions differ")),
        }
        let apart = b.places.saturating_sub(b.same);
        parts.push(if apart == 0 {
            let places = match b.places {
                1 => "the 1 place",
                n => &format!("each of the {n} places"),
            };
            format!("from {places} that both programs have, no conversation distinguishes them")
        } else if b.undecided.is_empty() {
            format!(
                "they diverge at {apart} of {} {}",
                b.places,
                if b.places == 1 { "place" } else { "places" }
            )
        } else {
            format!(
                "from {} of {} places it is proved that no conversation distinguishes them",
                b.same, b.places
            )
        });
        parts.join(", ")
    }

    /// Differences that were not announced in full, and the number of the others. `names` are the
    /// names of the two programs.
    #[must_use]
    pub fn text(&self, names: [&str; 2]) -> String {
        let mut out = String::new();
        let conditions = self.conditions.different.iter().filter(|d| !d.announced);
        let diverging = self.behaviour.different.iter().filter(|d| !d.announced);
        let shown: Vec<String> = conditions
            .map(|d| format!("condition {}", d.text(names)))
            .chain(diverging.map(|d| d.text(names)))
            .collect();
        shown.iter().take(MAX_SHOWN).for_each(|text| out.push_str(text));
        if shown.len() > MAX_SHOWN {
            let _ = writeln!(out, "and {} more", shown.len() - MAX_SHOWN);
        }
        for why in &self.behaviour.undecided {
            let _ = writeln!(out, "undecided: {why}");
        }
        let announced = self.conditions.different.iter().filter(|d| d.announced).count()
            + self.behaviour.different.iter().filter(|d| d.announced).count();
        match announced {
            0 => {}
            1 => out.push_str("1 difference at a place where a loss is reported\n"),
            n => {
                let _ = writeln!(out, "{n} differences at places where a loss is reported");
            }
        }
        out
    }

    /// The values outside of control flow that differ, those first that no loss accounts for, one per line; the number
    /// of further ones. `names` are the names of the two programs.
    #[must_use]
    pub fn differing_values(&self, names: [&str; 2]) -> String {
        let mut all: Vec<&ValueDifference> = self.values.different.iter().collect();
        all.sort_by_key(|one| one.announced);
        let mut out = String::new();
        for one in all.iter().take(MAX_SHOWN) {
            let said = |value: Option<&Value>, written: Option<&String>| {
                // Texts are shown as the files have them.
                let written = written.map(|text| Value::from(text.as_str()));
                written.as_ref().or(value).map_or_else(|| "nothing".to_owned(), shortened)
            };
            let [ours, theirs] = &one.written;
            let left = said(one.left.as_ref(), ours.as_ref());
            let right = said(one.right.as_ref(), theirs.as_ref());
            let [first, second] = names;
            let reported = if one.announced { " (reported)" } else { "" };
            let _ = writeln!(out, "{}{reported}: {first}: {left}, {second}: {right}", one.path);
        }
        if all.len() > MAX_SHOWN {
            let _ = writeln!(out, "and {} more values differ", all.len() - MAX_SHOWN);
        }
        out
    }

    fn is_unknown(&self, what: Unknown) -> bool {
        self.not_compared.iter().any(|one| one.what == what)
    }

    /// Whether the programs are proved equivalent.
    #[must_use]
    pub const fn is_same(&self) -> bool {
        matches!(self.verdict, Verdict::Same)
    }
}
