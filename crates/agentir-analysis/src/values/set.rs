//! Sets of values: finite sets, intervals, and whether a variable may be unset, with what they rest on.

use agentir_diagnostics::Span;
use agentir_eval::Value;
use std::fmt;

/// More values than these become an interval, or anything.
pub(crate) const MAX_VALUES: usize = 16;

/// More sources than these are not listed.
const MAX_SOURCES: usize = 12;

/// What a variable may hold at a program point.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueSet {
    /// Whether it may have no value.
    pub unset: bool,
    /// The values that it may have.
    pub known: Known,
    /// What the set rests on, in source order; some of it if it is much.
    pub sources: Vec<Source>,
}

/// The values of a variable that has one.
#[derive(Debug, Clone, PartialEq)]
pub enum Known {
    /// One of these; none if it is empty.
    Values(Vec<Value>),
    /// A number of this interval.
    Range(Range),
    /// Anything.
    Any,
}

/// An interval of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The lower bound.
    pub least: f64,
    /// The upper bound.
    pub most: f64,
    /// Whether the numbers are whole.
    pub whole: bool,
}

/// What a set rests on: a place in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source {
    /// The place.
    pub span: Span,
    /// What it does.
    pub kind: SourceKind,
}

/// How a variable comes to its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SourceKind {
    /// It begins with it.
    Initial,
    /// An assignment.
    Assigned,
    /// It is removed.
    Cleared,
    /// A handoff or a delegation passes it.
    Passed,
    /// Every path here requires a test.
    Tested,
}

impl Range {
    /// All numbers.
    pub(crate) const ALL: Self =
        Self { least: f64::NEG_INFINITY, most: f64::INFINITY, whole: false };

    fn of(values: &[Value]) -> Option<Self> {
        let mut range =
            Self { least: f64::INFINITY, most: f64::NEG_INFINITY, whole: !values.is_empty() };
        for value in values {
            let Value::Number(n) = value else { return None };
            range.least = range.least.min(*n);
            range.most = range.most.max(*n);
            range.whole &= n.fract() == 0.0;
        }
        (!values.is_empty()).then_some(range)
    }

    fn hull(self, other: Self) -> Self {
        Self {
            least: self.least.min(other.least),
            most: self.most.max(other.most),
            whole: self.whole && other.whole,
        }
    }

    pub(crate) fn is_empty(self) -> bool {
        self.least > self.most
    }

    fn holds(self, value: &Value) -> bool {
        let Value::Number(n) = value else { return false };
        self.least <= *n && *n <= self.most && (!self.whole || n.fract() == 0.0)
    }
}

impl ValueSet {
    /// No value at all: nothing reaches here.
    pub(crate) const fn none() -> Self {
        Self { unset: false, known: Known::Values(Vec::new()), sources: Vec::new() }
    }

    /// Anything.
    pub(crate) const fn any() -> Self {
        Self { unset: true, known: Known::Any, sources: Vec::new() }
    }

    /// No value.
    pub(crate) fn unset() -> Self {
        Self { unset: true, ..Self::none() }
    }

    /// One value.
    pub(crate) fn of(value: Value) -> Self {
        match value.is_unset() {
            true => Self::unset(),
            false => Self { known: Known::Values(vec![value]), ..Self::none() },
        }
    }

    pub(crate) fn of_range(range: Range) -> Self {
        Self { known: Known::Range(range), ..Self::none() }
    }

    /// Whether nothing is known.
    pub(crate) fn is_any(&self) -> bool {
        self.unset && matches!(self.known, Known::Any)
    }

    /// Whether there is no state with it.
    pub(crate) fn is_none(&self) -> bool {
        !self.unset
            && match &self.known {
                Known::Values(values) => values.is_empty(),
                Known::Range(range) => range.is_empty(),
                Known::Any => false,
            }
    }

    /// All its values, that of an unset variable included, if they are few.
    pub(crate) fn listed(&self) -> Option<Vec<Value>> {
        let mut all = match &self.known {
            Known::Values(values) => values.clone(),
            Known::Range(range) if range.is_empty() => Vec::new(),
            _ => return None,
        };
        if self.unset {
            all.push(Value::Undefined);
        }
        Some(all)
    }

    /// The interval of its numbers, if it has no other values.
    pub(crate) fn range(&self) -> Option<Range> {
        match &self.known {
            Known::Values(values) => Range::of(values),
            Known::Range(range) => Some(*range),
            Known::Any => None,
        }
    }

    pub(crate) fn resting_on(mut self, span: Span, kind: SourceKind) -> Self {
        self.add_source(Source { span, kind });
        self
    }

    pub(crate) fn add_source(&mut self, source: Source) {
        if self.sources.len() < MAX_SOURCES
            && let Err(at) = self.sources.binary_search(&source)
        {
            self.sources.insert(at, source);
        }
    }

    /// Adds what another set may hold. Returns whether that is more.
    pub(crate) fn join(&mut self, other: &Self) -> bool {
        if self.is_any() {
            return false;
        }
        let mut grew = other.unset && !self.unset;
        self.unset |= other.unset;
        grew |= self.join_known(&other.known);
        if self.is_any() {
            self.sources.clear();
            return true;
        }
        let before = self.sources.len();
        other.sources.iter().for_each(|source| self.add_source(*source));
        grew || self.sources.len() > before
    }

    fn join_known(&mut self, other: &Known) -> bool {
        let joined = match (&mut self.known, other) {
            (Known::Any, _) => return false,
            (_, Known::Values(more)) if more.is_empty() => return false,
            (Known::Values(own), Known::Values(more)) => {
                let before = own.len();
                for value in more {
                    if !own.contains(value) {
                        own.push(value.clone());
                    }
                }
                if own.len() <= MAX_VALUES {
                    return own.len() > before;
                }
                Range::of(own).map_or(Known::Any, Known::Range)
            }
            (Known::Values(own), Known::Range(_)) if own.is_empty() => other.clone(),
            (Known::Values(own), Known::Range(range)) => match Range::of(own) {
                Some(own) => Known::Range(own.hull(*range)),
                None => Known::Any,
            },
            (Known::Range(range), Known::Values(more)) => {
                if more.iter().all(|value| range.holds(value)) {
                    return false;
                }
                match Range::of(more) {
                    Some(more) => Known::Range(range.hull(more)),
                    None => Known::Any,
                }
            }
            (Known::Range(range), Known::Range(more)) => {
                let hull = range.hull(*more);
                if hull == *range {
                    return false;
                }
                Known::Range(hull)
            }
            (_, Known::Any) => Known::Any,
        };
        self.known = joined;
        true
    }

    /// Moves the bounds that grew since `before` to the next threshold, so that loops end.
    pub(crate) fn widen(&mut self, before: &Self, thresholds: &[f64]) {
        let (Some(old), Some(new)) = (before.range(), self.range()) else { return };
        let mut wide = new;
        if new.most > old.most {
            let above = thresholds.iter().copied().find(|t| *t >= new.most);
            wide.most = above.unwrap_or(f64::INFINITY);
        }
        if new.least < old.least {
            let below = thresholds.iter().rev().copied().find(|t| *t <= new.least);
            wide.least = below.unwrap_or(f64::NEG_INFINITY);
        }
        if wide != new {
            self.known = Known::Range(wide);
        }
    }

    /// Whether a value is in the set.
    #[must_use]
    pub fn holds(&self, value: &Value) -> bool {
        match &self.known {
            _ if value.is_unset() => self.unset,
            Known::Values(values) => values.contains(value),
            Known::Range(range) => range.holds(value),
            Known::Any => true,
        }
    }
}

impl fmt::Display for ValueSet {
    /// As completes "it is …".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = match &self.known {
            Known::Values(values) => values.as_slice(),
            Known::Range(range) => {
                match (range.least.is_finite(), range.most.is_finite()) {
                    (true, true) => write!(f, "from {} to {}", range.least, range.most)?,
                    (true, false) => write!(f, "at least {}", range.least)?,
                    (false, true) => write!(f, "at most {}", range.most)?,
                    (false, false) => f.write_str("a number")?,
                }
                &[]
            }
            Known::Any => {
                f.write_str("anything")?;
                &[]
            }
        };
        for (at, value) in values.iter().enumerate() {
            let before = match at {
                0 => "",
                _ if at + 1 == values.len() && !self.unset => " or ",
                _ => ", ",
            };
            write!(f, "{before}`{value}`")?;
        }
        match (self.unset, values.is_empty() && matches!(self.known, Known::Values(_))) {
            (true, true) => f.write_str("unset"),
            (true, false) => f.write_str(" or unset"),
            (false, _) => Ok(()),
        }
    }
}
