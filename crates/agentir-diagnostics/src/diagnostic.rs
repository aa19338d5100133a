//! What a finding is made of.

use crate::evidence::{Binding, Evidence, Premise, Run};
use crate::source::{SourceMap, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many labels a sentence has at most beside the primary one.
const MAX_LABELS: usize = 9;

/// The kebab-case name of a rule, such as `unreachable-step`. The catalogue in `agentir-lint` describes
/// each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct RuleName(pub &'static str);

/// The severity of a finding.
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
    /// Its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// The confidence that a finding is right, independent of its severity.
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

/// A span of the source with a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// The span.
    pub span: Span,
    /// The message: lower-case start, no final full stop; may be empty.
    pub message: String,
}

/// Whether a fix may be applied without review.
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

/// A property of the text in the primary span; the Language Server Protocol's `DiagnosticTag`.
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
    /// Its name in reports.
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
    /// Whether it may be applied without review.
    pub applicability: Applicability,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The rule that reported the finding.
    pub rule: RuleName,
    /// The severity.
    pub severity: Severity,
    /// The confidence.
    pub confidence: Confidence,
    /// What is wrong: lower-case start, no final full stop, user text in backticks.
    pub message: String,
    /// The primary span; findings are sorted by it.
    pub primary: Label,
    /// Other spans that explain the finding.
    pub labels: Vec<Label>,
    /// What to write instead.
    pub help: Option<String>,
    /// Why it matters: what happens at run time.
    pub note: Option<String>,
    /// Alternative fixes, the preferred one first. At most one of them is applied.
    pub fixes: Vec<Fix>,
    /// Properties of the text in the primary span. The pipeline sets them by rule.
    pub tags: Vec<Tag>,
    /// Where the rule's page is on the web. The pipeline sets it, if the project configures
    /// `rule-pages`.
    pub page: Option<String>,
    /// The evidence for the finding, for programs.
    pub evidence: Option<Box<Evidence>>,
    /// Whether what stands at the primary span is a secret. It is shown nowhere, whatever it looks like; see
    /// [`SourceMap::conceal`].
    pub secret: bool,
}

impl Label {
    /// `message` at `span`.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into() }
    }
}

impl Diagnostic {
    /// Calls `change` with every span in it.
    pub fn spans_mut(&mut self, change: &mut dyn FnMut(&mut Span)) {
        change(&mut self.primary.span);
        self.labels.iter_mut().for_each(|label| change(&mut label.span));
        let edits = self.fixes.iter_mut().flat_map(|fix| &mut fix.edits);
        edits.for_each(|edit| change(&mut edit.span));
        if let Some(evidence) = &mut self.evidence {
            evidence.spans_mut(change);
        }
    }

    /// Calls `change` with every text in it that may quote a document, but for the texts of edits.
    pub(crate) fn texts_mut(&mut self, change: &mut dyn FnMut(&mut String)) {
        change(&mut self.message);
        change(&mut self.primary.message);
        self.labels.iter_mut().for_each(|label| change(&mut label.message));
        self.help.iter_mut().chain(&mut self.note).chain(&mut self.page).for_each(&mut *change);
        self.fixes.iter_mut().for_each(|fix| change(&mut fix.title));
        if let Some(evidence) = &mut self.evidence {
            evidence.texts_mut(change);
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
            secret: false,
        }
    }

    /// Says that what stands at the primary span is a secret.
    #[must_use]
    pub const fn secret(mut self) -> Self {
        self.secret = true;
        self
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

    /// The message with the texts of the labels and their places: what the finding says where its source is not shown.
    #[must_use]
    pub fn sentence(&self, sources: &SourceMap) -> String {
        let mut text = self.message.clone();
        if !self.primary.message.is_empty() {
            text.push_str(": ");
            text.push_str(&self.primary.message);
        }
        let said: Vec<&Label> = self.labels.iter().filter(|l| !l.message.is_empty()).collect();
        let mut others: Vec<String> = said
            .iter()
            .take(MAX_LABELS)
            .map(|label| {
                let file = sources.get(label.span.file);
                let line = file.map_or(1, |file| file.line_column(label.span.start).line);
                match file.filter(|_| label.span.file != self.primary.span.file) {
                    Some(file) => format!("{}:{line}: {}", file.name, label.message),
                    None => format!("line {line}: {}", label.message),
                }
            })
            .collect();
        match said.len().saturating_sub(MAX_LABELS) {
            0 => {}
            1 => others.push("1 more place".to_owned()),
            more => others.push(format!("{more} more places")),
        }
        if !others.is_empty() {
            text.push_str(&format!(" ({})", others.join("; ")));
        }
        text
    }

    /// Sets the message at the primary span itself.
    #[must_use]
    pub fn at(mut self, message: impl Into<String>) -> Self {
        self.primary.message = message.into();
        self
    }

    /// Adds a label at another span.
    #[must_use]
    pub fn label(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label::new(span, message));
        self
    }

    /// Sets the help: what to write instead.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Sets the note: why the finding matters.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    /// Sets the confidence, if it is lower than certain.
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

    /// Adds an example to the evidence: values of variables with which the problem occurs.
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

    /// Adds the steps of an execution to the evidence. `repeats`: the first step follows the
    /// last one.
    #[must_use]
    pub fn run(mut self, steps: impl IntoIterator<Item = Label>, repeats: bool) -> Self {
        let steps: Vec<Label> = steps.into_iter().collect();
        if !steps.is_empty() {
            self.evidence.get_or_insert_default().run = Some(Run { steps, repeats });
        }
        self
    }

    /// Asks whether `near` was meant at the primary span, and offers to insert it there.
    #[must_use]
    pub fn did_you_mean(self, near: &str) -> Self {
        self.help(format!("did you mean `{near}`?")).replace(near, Applicability::Unsafe)
    }

    /// Offers to replace the primary span by `text`.
    #[must_use]
    pub fn replace(self, text: impl Into<String>, applicability: Applicability) -> Self {
        let span = self.primary.span;
        self.replace_at(span, text, applicability)
    }

    /// Offers to replace `span`, which is not the primary one, by `text`.
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
