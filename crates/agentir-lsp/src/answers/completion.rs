//! Completion.

use super::hover::Page;
use super::{Answer, Failure, Question};
use crate::view::View;
use agentir::diagnostics::FileId;
use agentir::{Expected, ExpectedKind, NameKind};
use gen_lsp_types::{
    CompletionItem, CompletionItemKind, CompletionList, CompletionParams, CompletionRequest,
    CompletionResolveRequest, CompletionResponse, Documentation, InsertTextFormat, Position,
    TextEdit, Uri,
};
use serde::{Deserialize, Serialize};

/// The characters after which something may be offered.
pub(crate) const TRIGGERS: [&str; 6] = [".", "@", ":", " ", "(", "{"];

/// What an item needs to be described later.
#[derive(Serialize, Deserialize)]
struct ItemData {
    uri: Uri,
    position: Position,
    label: String,
}

/// What may be written at a position.
pub(crate) fn completion(
    question: &Question,
    params: CompletionParams,
) -> Answer<CompletionRequest> {
    let view = &question.view;
    let at = params.text_document_position_params;
    let Some((file, offset)) = view.place(&at.text_document.uri, at.position) else {
        return Ok(None);
    };
    let Some(source) = view.snapshot.sources().get(file) else { return Ok(None) };
    let typed = params.context.and_then(|context| context.trigger_character);
    if typed.as_deref() == Some(" ") && !follows_a_mark(source.text.get(..offset as usize)) {
        return Ok(None);
    }
    let Some(context) = view.snapshot.context(file, offset) else { return Ok(None) };
    let range = view.range(source, context.word);
    let expected = view.snapshot.expected(file, offset);
    let masker = view.masker(file);
    let items = expected.iter().enumerate().map(|(index, one)| {
        let data = ItemData {
            uri: at.text_document.uri.clone(),
            position: at.position,
            label: one.label.to_string(),
        };
        let (new_text, is_snippet) = inserted(view, one);
        CompletionItem {
            label: one.label.to_string(),
            kind: Some(kind(one.kind)),
            detail: (!one.shape.is_empty()).then(|| masker.mask(&one.shape).into_owned()),
            // What is required comes first, and else what the library says first.
            sort_text: Some(format!("{}{index:05}", u8::from(!one.required))),
            filter_text: Some(one.label.to_string()),
            insert_text_format: is_snippet.then_some(InsertTextFormat::Snippet),
            text_edit: Some(TextEdit { range, new_text }.into()),
            data: serde_json::to_value(data).ok(),
            ..CompletionItem::default()
        }
    });
    let items: Vec<CompletionItem> = items.collect();
    Ok(Some(CompletionResponse::CompletionList(CompletionList {
        is_incomplete: false,
        items,
        ..CompletionList::default()
    })))
}

/// Whether the spaces before an offset follow what a value is written behind: nobody wants a list at every space.
fn follows_a_mark(before: Option<&str>) -> bool {
    before.is_some_and(|before| before.trim_end_matches(' ').ends_with([':', '=', ',', '(', '[']))
}

/// The text to insert, and whether it has places for the cursor.
fn inserted(view: &View, one: &Expected) -> (String, bool) {
    if !view.client.snippets {
        return (one.insert.clone(), false);
    }
    let escaped = one.insert.replace('\\', "\\\\").replace('$', "\\$").replace('}', "\\}");
    if one.kind == ExpectedKind::Function && one.insert.ends_with('(') {
        // The parameters of `NAME(a, b?)` that must be there.
        let list = one.shape.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
        let names = list.into_iter().flat_map(|list| list.split(", "));
        let names = names.filter(|name| !name.is_empty() && !name.ends_with('?') && *name != "…");
        let fields: Vec<String> = names
            .enumerate()
            .map(|(index, name)| format!("${{{}:{}}}", index + 1, name.trim_start_matches('.')))
            .collect();
        let fields = if fields.is_empty() { "$1".to_owned() } else { fields.join(", ") };
        return (format!("{escaped}{fields})$0"), true);
    }
    (escaped, true)
}

const fn kind(kind: ExpectedKind) -> CompletionItemKind {
    match kind {
        ExpectedKind::Field => CompletionItemKind::Property,
        ExpectedKind::Keyword => CompletionItemKind::Keyword,
        ExpectedKind::Value => CompletionItemKind::EnumMember,
        ExpectedKind::Type => CompletionItemKind::TypeParameter,
        ExpectedKind::Namespace => CompletionItemKind::Module,
        ExpectedKind::Member => CompletionItemKind::Field,
        ExpectedKind::SystemVariable => CompletionItemKind::Constant,
        ExpectedKind::Function => CompletionItemKind::Function,
        ExpectedKind::Operator => CompletionItemKind::Operator,
        ExpectedKind::Name(name) => match name {
            NameKind::Agent => CompletionItemKind::Class,
            NameKind::Variable => CompletionItemKind::Variable,
            NameKind::Step => CompletionItemKind::Event,
            NameKind::Tool => CompletionItemKind::Function,
            NameKind::Parameter | NameKind::ResultField => CompletionItemKind::Field,
            NameKind::Template => CompletionItemKind::Text,
            NameKind::Profile => CompletionItemKind::Interface,
            NameKind::Entity => CompletionItemKind::Struct,
            NameKind::LookupTable => CompletionItemKind::Enum,
        },
    }
}

/// An item with what is said of it.
pub(crate) fn resolve(
    question: &Question,
    item: CompletionItem,
) -> Answer<CompletionResolveRequest> {
    let view = &question.view;
    let data = item.data.clone().unwrap_or_default();
    let data: ItemData =
        serde_json::from_value(data).map_err(|error| Failure::Params(error.to_string()))?;
    let place = view.place(&data.uri, data.position);
    let masker = place.map(|(file, _)| view.masker(file)).unwrap_or_default();
    let texts = place.and_then(|(file, offset)| described(view, file, offset, &data.label));
    let mut page = Page::new(view.client.markdown_in_completion, masker);
    for text in texts.iter().flatten() {
        page.text(text);
    }
    let documentation = texts
        .filter(|texts| !texts.is_empty())
        .map(|_| Documentation::MarkupContent(page.content()));
    Ok(CompletionItem { documentation, ..item })
}

/// What is said of something that may be written at an offset.
fn described(view: &View, file: FileId, offset: u32, label: &str) -> Option<Vec<String>> {
    let expected = view.snapshot.expected(file, offset);
    let one = expected.into_iter().find(|one| one.label == label)?;
    Some(view.snapshot.describe_expected(file, offset, &one))
}
