//! What a finding is made of.

use crate::evidence::{Binding, Evidence, Premise, Run};
use crate::source::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kebab-case name of a rule, such as `unreachable-step`. The catalogue in `agentir-lint` says
/// what each one means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct RuleName(pub &'static str);

/// How bad it is if the finding is right.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know; nothing has to change.
    Info,
    /// Works, but probably not as meant, or not for long.
    Warning,
    /// Does not compile, or cannot behave as written.
    Error,
}

impl Severity {
    /// The word for it, which people and other programs read.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// How sure we are that the finding is right; not how bad it is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// A heuristic.
    Low,
    /// True unless something outside the files says otherwise.
    Medium,
    /// Follows from the files alone.
    High,
}

/// A place in the source and what to say about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What is there, lower-case, no final full stop; may be empty.
    pub message: String,
}

/// Whether a fix may be applied without a look.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Applicability {
    /// Only shown.
    DisplayOnly,
    /// Probably right, but may change the meaning.
    Unsafe,
    /// Keeps the meaning, or restores the obviously intended one.
    Safe,
}

/// Replaces the bytes of `span` by `text`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// What to replace; empty to insert.
    pub span: Span,
    /// What to put there.
    pub text: String,
}

/// What is special about the text a finding is about; the Language Server Protocol's `DiagnosticTag`.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Tag {
    /// It is unused or can never run; editors fade it out.
    Unnecessary,
    /// It is deprecated; editors strike it through.
    Deprecated,
}

impl Tag {
    /// The word for it in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unnecessary => "unnecessary",
            Self::Deprecated => "deprecated",
        }
    }
}

/// Edits that together fix a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    /// What the fix does, as an imperative: "replace by `destination`".
    pub title: String,
    /// The edits; they do not overlap.
    pub edits: Vec<Edit>,
    /// Whether it may be applied without a look.
    pub applicability: Applicability,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The rule that made it.
    pub rule: RuleName,
    /// How bad.
    pub severity: Severity,
    /// How sure.
    pub confidence: Confidence,
    /// What is wrong: lower-case start, no final full stop, user text in backticks.
    pub message: String,
    /// The place the finding is about; decides file and order.
    pub primary: Label,
    /// Other places that explain it.
    pub labels: Vec<Label>,
    /// What to write instead.
    pub help: Option<String>,
    /// Why it matters: what happens at run time.
    pub note: Option<String>,
    /// Alternative fixes, the preferred one first. At most one of them is applied.
    pub fixes: Vec<Fix>,
    /// What is special about the primary place. The pipeline sets it by rule.
    pub tags: Vec<Tag>,
    /// Where the rule's page is on the web. The pipeline sets it, if the project configures
    /// `rule-pages`.
    pub page: Option<String>,
    /// What the finding was concluded from, for programs.
    pub evidence: Option<Box<Evidence>>,
}

impl Label {
    /// `message` at `span`.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into() }
    }
}

impl Diagnostic {
    /// Calls `change` with every place in it.
    pub fn spans_mut(&mut self, change: &mut dyn FnMut(&mut Span)) {
        change(&mut self.primary.span);
        self.labels.iter_mut().for_each(|label| change(&mut label.span));
        let edits = self.fixes.iter_mut().flat_map(|fix| &mut fix.edits);
        edits.for_each(|edit| change(&mut edit.span));
        if let Some(evidence) = &mut self.evidence {
            evidence.spans_mut(change);
        }
    }

    /// A finding of `rule` at `span`.
    pub fn new(rule: RuleName, severity: Severity, span: Span, message: impl Into<String>) -> Self {
        Self {
            rule,
            severity,
            confidence: Confidence::High,
            message: message.into(),
            primary: Label { span, message: String::new() },
            labels: Vec::new(),
            help: None,
            note: None,
            fixes: Vec::new(),
            tags: Vec::new(),
            page: None,
            evidence: None,
        }
    }

    /// A finding of error level.
    pub fn error(rule: RuleName, span: Span, message: impl Into<String>) -> Self {
        Self::new(rule, Severity::Error, span, message)
    }

    /// A finding of warning level.
    pub fn warning(rule: RuleName, span: Span, message: impl Into<String>) -> Self {
        Self::new(rule, Severity::Warning, span, message)
    }

    /// A finding of information level.
    pub fn info(rule: RuleName, span: Span, message: impl Into<String>) -> Self {
        Self::new(rule, Severity::Info, span, message)
    }

    /// What to say at the primary place itself.
    #[must_use]
    pub fn at(mut self, message: impl Into<String>) -> Self {
        self.primary.message = message.into();
        self
    }

    /// Adds another place.
    #[must_use]
    pub fn label(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label::new(span, message));
        self
    }

    /// Says what to write instead.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Says why it matters.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    /// Says how sure we are, where that is less than certain.
    #[must_use]
    pub const fn confidence(mut self, confidence: Confidence) -> Self {
        self.confidence = confidence;
        self
    }

    /// Offers a fix; after the first one, as an alternative.
    #[must_use]
    pub fn fix(mut self, fix: Fix) -> Self {
        self.fixes.push(fix);
        self
    }

    /// The fix to apply without asking: the first that is at least as applicable as `least`.
    #[must_use]
    pub fn applicable_fix(&self, least: Applicability) -> Option<&Fix> {
        self.fixes.iter().find(|fix| fix.applicability >= least)
    }

    /// Adds an example to the evidence: values of variables with which it happens.
    #[must_use]
    pub fn example(mut self, state: impl IntoIterator<Item = Binding>) -> Self {
        let state: Vec<Binding> = state.into_iter().collect();
        if !state.is_empty() {
            self.evidence.get_or_insert_default().state.extend(state);
        }
        self
    }

    /// Adds lines of the proof to the evidence.
    #[must_use]
    pub fn proof(mut self, lines: impl IntoIterator<Item = Premise>) -> Self {
        let lines: Vec<Premise> = lines.into_iter().collect();
        if !lines.is_empty() {
            self.evidence.get_or_insert_default().core.extend(lines);
        }
        self
    }

    /// Adds to the evidence what happens one after the other. `repeats`: the first step follows the
    /// last one.
    #[must_use]
    pub fn run(mut self, steps: impl IntoIterator<Item = Label>, repeats: bool) -> Self {
        let steps: Vec<Label> = steps.into_iter().collect();
        if !steps.is_empty() {
            self.evidence.get_or_insert_default().run = Some(Run { steps, repeats });
        }
        self
    }

    /// Asks whether `near` was meant in the primary place, and offers to put it there.
    #[must_use]
    pub fn did_you_mean(self, near: &str) -> Self {
        self.help(format!("did you mean `{near}`?")).replace(near, Applicability::Unsafe)
    }

    /// Offers to replace the primary place by `text`.
    #[must_use]
    pub fn replace(self, text: impl Into<String>, applicability: Applicability) -> Self {
        let span = self.primary.span;
        self.replace_at(span, text, applicability)
    }

    /// Offers to replace `span`, which is another place than the primary one, by `text`.
    #[must_use]
    pub fn replace_at(
        self,
        span: Span,
        text: impl Into<String>,
        applicability: Applicability,
    ) -> Self {
        let text = text.into();
        self.fix(Fix {
            title: format!("replace by `{text}`"),
            edits: vec![Edit { span, text }],
            applicability,
        })
    }
}
