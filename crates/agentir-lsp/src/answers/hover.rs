//! Hover and signature help.

use super::{Answer, Question};
use crate::view::View;
use agentir::diagnostics::{self as base, FileId, Span};
use agentir::{Diagnostic, PointFacts};
use agentir_secrets::Masker;
use gen_lsp_types::{
    ActiveParameter, Documentation, Hover, HoverParams, HoverRequest, MarkupContent, MarkupKind,
    ParameterInformation, ParameterInformationLabel, SignatureHelp, SignatureHelpParams,
    SignatureHelpRequest, SignatureInformation,
};
use std::sync::Arc;

/// So many facts are shown.
const MAX_FACTS: usize = 12;

/// A text with parts, which is Markdown where the client shows it, and has no secrets.
pub(super) struct Page {
    is_markdown: bool,
    masker: Arc<Masker>,
    parts: Vec<String>,
}

impl Page {
    pub(super) const fn new(is_markdown: bool, masker: Arc<Masker>) -> Self {
        Self { is_markdown, masker, parts: Vec::new() }
    }

    pub(super) fn code(&mut self, code: &str) {
        let code = self.masker.mask(code);
        self.parts.push(match self.is_markdown {
            true => format!("```text\n{}\n```", code.replace("```", "'''")),
            false => code.into_owned(),
        });
    }

    /// A paragraph; but for their secrets, texts of authors are shown as they are.
    pub(super) fn text(&mut self, text: &str) {
        let text = self.masker.mask(text);
        self.parts.push(match self.is_markdown {
            true => escaped(&text),
            false => text.into_owned(),
        });
    }

    /// A paragraph with a heading and a list below it.
    fn list(&mut self, heading: &str, items: &[String]) {
        let mark = if self.is_markdown { "**" } else { "" };
        let item = |item: &String| format!("- {}", one_line(&self.masker.mask(item)));
        let items: Vec<String> = items.iter().map(item).collect();
        self.parts.push(format!("{mark}{heading}{mark}\n\n{}", items.join("\n")));
    }

    pub(super) fn content(self) -> MarkupContent {
        let (kind, between) = match self.is_markdown {
            true => (MarkupKind::Markdown, "\n\n"),
            false => (MarkupKind::PlainText, "\n\n"),
        };
        MarkupContent { kind, value: self.parts.join(between) }
    }
}

/// A text in which nothing is taken for HTML or an image; code and emphasis stay.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace("![", "!\\[")
}

/// What stands at a position: what it is, what its author and the language say of it, what holds there, and with which
/// values a finding occurs.
pub(crate) fn hover(question: &Question, params: HoverParams) -> Answer<HoverRequest> {
    let view = &question.view;
    let at = params.text_document_position_params;
    let Some((file, offset)) = view.place(&at.text_document.uri, at.position) else {
        return Ok(None);
    };
    let Some(source) = view.snapshot.sources().get(file) else { return Ok(None) };
    let mut page = Page::new(view.client.markdown, view.masker(file));
    let description = view.snapshot.describe(file, offset);
    if let Some(found) = &description {
        page.code(&found.title);
        found.texts.iter().for_each(|text| page.text(text));
    }
    if let Some(facts) = view.snapshot.facts_at(file, offset) {
        say_facts(view, file, &facts, &mut page);
    }
    let found = findings_at(view, file, offset);
    found.iter().for_each(|finding| say_witness(finding, &mut page));
    if page.parts.is_empty() {
        return Ok(None);
    }
    let span = description.map(|found| found.span);
    let range = span.map(|span| view.range(source, span));
    Ok(Some(Hover { contents: page.content().into(), range }))
}

/// The findings at an offset, if they are known already.
fn findings_at(view: &View, file: FileId, offset: u32) -> Vec<&Diagnostic> {
    if !view.snapshot.is_checked(file) {
        return Vec::new();
    }
    let is_here = |span: Span| span.start <= offset && offset <= span.end;
    let found = view.snapshot.check_file(file).into_iter().flatten();
    found.filter(|finding| is_here(finding.primary.span)).collect()
}

/// What holds at a program point on every path.
fn say_facts(view: &View, file: FileId, facts: &PointFacts, page: &mut Page) {
    if !facts.is_reachable {
        page.list("Never reached", &["no conversation leads here".to_owned()]);
        return;
    }
    let place = |span: Span| {
        let source = view.snapshot.sources().get(span.file)?;
        let line = source.line_column(span.start).line;
        Some(match span.file == file {
            true => format!(" (line {line})"),
            false => format!(" ({}:{line})", source.name),
        })
    };
    let mut items: Vec<String> = facts
        .facts
        .iter()
        .rev()
        .take(MAX_FACTS)
        .map(|fact| {
            let place = fact.span.and_then(place).unwrap_or_default();
            format!("{}{place}", fact.message)
        })
        .collect();
    items.reverse();
    if facts.facts.len() > MAX_FACTS {
        items.insert(0, format!("{} more", facts.facts.len() - MAX_FACTS));
    }
    if !items.is_empty() {
        page.list("Holds here, whatever was said before", &items);
    }
}

/// The values with which a finding occurs, and what it follows from.
fn say_witness(finding: &Diagnostic, page: &mut Page) {
    let Some(evidence) = &finding.evidence else { return };
    let values: Vec<String> = evidence
        .state
        .iter()
        .map(|base::Binding { variable, value }| match value {
            Some(value) => format!("`{variable}` is `{value}`"),
            None => format!("`{variable}` is not set"),
        })
        .collect();
    if !values.is_empty() {
        page.list(&format!("{}: for example, if", finding.rule.0), &values);
    }
    let core: Vec<String> = evidence.core.iter().map(|premise| premise.message.clone()).collect();
    if !core.is_empty() {
        page.list(&format!("{}: follows from", finding.rule.0), &core);
    }
}

fn one_line(text: &str) -> String {
    escaped(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// What a call takes, and which argument is being written.
pub(crate) fn signature(
    question: &Question,
    params: SignatureHelpParams,
) -> Answer<SignatureHelpRequest> {
    let view = &question.view;
    let at = params.text_document_position_params;
    let Some((file, offset)) = view.place(&at.text_document.uri, at.position) else {
        return Ok(None);
    };
    let Some(found) = view.snapshot.signature(file, offset) else { return Ok(None) };
    let masker = view.masker(file);
    let document = |text: &str| {
        let content = || {
            let mut page = Page::new(view.client.markdown, Arc::clone(&masker));
            page.text(text);
            Documentation::MarkupContent(page.content())
        };
        (!text.is_empty()).then(content)
    };
    let parameters = found.parameters.iter().map(|(name, doc)| ParameterInformation {
        label: ParameterInformationLabel::String(masker.mask(name).into_owned()),
        documentation: document(doc),
    });
    let active = found.active.and_then(|active| u32::try_from(active).ok());
    let active_parameter = active.map(ActiveParameter::Int);
    let information = SignatureInformation {
        label: masker.mask(&found.label).into_owned(),
        documentation: document(&found.doc),
        parameters: Some(parameters.collect()),
        active_parameter: None,
    };
    Ok(Some(SignatureHelp {
        signatures: vec![information],
        active_signature: Some(0),
        active_parameter,
    }))
}
