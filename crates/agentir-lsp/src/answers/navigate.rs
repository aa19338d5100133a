//! From names to places: definitions, references, highlights, symbols, calls, links.

use super::{Answer, Failure, Question};
use crate::view::View;
use agentir::diagnostics::FileId;
use agentir::references::{Role, SymbolKind as Kind};
use agentir::{AgentCall, OutlineItem, ProgramId};
use gen_lsp_types::{
    BaseSymbolInformation, CallHierarchyIncomingCall, CallHierarchyIncomingCallsParams,
    CallHierarchyIncomingCallsRequest, CallHierarchyItem, CallHierarchyOutgoingCall,
    CallHierarchyOutgoingCallsParams, CallHierarchyOutgoingCallsRequest,
    CallHierarchyPrepareParams, CallHierarchyPrepareRequest, Definition, DefinitionParams,
    DefinitionRequest, DefinitionResponse, DocumentHighlight, DocumentHighlightKind,
    DocumentHighlightParams, DocumentHighlightRequest, DocumentLink, DocumentLinkParams,
    DocumentLinkRequest, DocumentSymbol, DocumentSymbolParams, DocumentSymbolRequest,
    DocumentSymbolResponse, Location, Range, ReferenceParams, ReferencesRequest, SymbolInformation,
    SymbolKind, Uri, WorkspaceSymbol, WorkspaceSymbolLocation, WorkspaceSymbolParams,
    WorkspaceSymbolRequest, WorkspaceSymbolResponse,
};
use std::collections::BTreeMap;

/// So many symbols of a workspace are listed.
const MAX_SYMBOLS: usize = 1_000;

/// Where what stands at a position is defined. At a definition, where it is used, as editors expect.
pub(crate) fn definition(
    question: &Question,
    params: DefinitionParams,
) -> Answer<DefinitionRequest> {
    let view = &question.view;
    let at = params.text_document_position_params;
    let Some((file, offset)) = view.place(&at.text_document.uri, at.position) else {
        return Ok(None);
    };
    let spans = view.snapshot.definitions(file, offset);
    let locations = spans.into_iter().filter_map(|span| view.location(span)).collect();
    Ok(Some(DefinitionResponse::Definition(Definition::LocationList(locations))))
}

/// Where what stands at a position is named.
pub(crate) fn references(
    question: &Question,
    params: ReferenceParams,
) -> Answer<ReferencesRequest> {
    let view = &question.view;
    let at = params.text_document_position_params;
    let Some((file, offset)) = view.place(&at.text_document.uri, at.position) else {
        return Ok(None);
    };
    let all = view.snapshot.occurrences(file, offset).into_iter();
    let wanted =
        all.filter(|one| params.context.include_declaration || one.role != Role::Definition);
    Ok(Some(wanted.filter_map(|one| view.location(one.span)).collect()))
}

/// Where what stands at a position is named in the same document.
pub(crate) fn highlights(
    question: &Question,
    params: DocumentHighlightParams,
) -> Answer<DocumentHighlightRequest> {
    let view = &question.view;
    let at = params.text_document_position_params;
    let Some((file, offset)) = view.place(&at.text_document.uri, at.position) else {
        return Ok(None);
    };
    let Some(source) = view.snapshot.sources().get(file) else { return Ok(None) };
    let all = view.snapshot.occurrences(file, offset).into_iter();
    let here = all.filter(|one| one.span.file == file).map(|one| DocumentHighlight {
        range: view.range(source, one.span),
        kind: Some(match one.role {
            Role::Definition | Role::Write => DocumentHighlightKind::Write,
            Role::Read | Role::Alias => DocumentHighlightKind::Read,
            Role::Mention => DocumentHighlightKind::Text,
        }),
    });
    Ok(Some(here.collect()))
}

// ---- symbols -----------------------------------------------------------------------------------

pub(super) const fn symbol_kind(kind: Kind) -> SymbolKind {
    match kind {
        Kind::Agent | Kind::Alias => SymbolKind::Class,
        Kind::Variable => SymbolKind::Variable,
        Kind::Step => SymbolKind::Event,
        Kind::Tool => SymbolKind::Function,
        Kind::Parameter | Kind::ResultField => SymbolKind::Field,
        Kind::Template => SymbolKind::String,
        Kind::Profile => SymbolKind::Interface,
        Kind::Entity => SymbolKind::Struct,
        Kind::LookupTable => SymbolKind::Enum,
    }
}

/// What a document defines.
pub(crate) fn document_symbols(
    question: &Question,
    params: DocumentSymbolParams,
) -> Answer<DocumentSymbolRequest> {
    let view = &question.view;
    let Some((file, _)) = view.file(&params.text_document.uri) else { return Ok(None) };
    let outline = view.snapshot.outline(file);
    if view.client.nested_symbols {
        let items = outline.iter().filter_map(|item| nested(view, item)).collect();
        return Ok(Some(DocumentSymbolResponse::DocumentSymbolList(items)));
    }
    let mut flat = Vec::new();
    each(&outline, None, &mut |item, container| {
        if let Some(location) = view.location(item.span) {
            let base_symbol_information = base(item, container);
            #[expect(deprecated, reason = "the field is a part of the structure")]
            let symbol = SymbolInformation { deprecated: None, location, base_symbol_information };
            flat.push(symbol);
        }
    });
    Ok(Some(DocumentSymbolResponse::SymbolInformationList(flat)))
}

fn nested(view: &View, item: &OutlineItem) -> Option<DocumentSymbol> {
    let source = view.snapshot.sources().get(item.span.file)?;
    let children: Vec<DocumentSymbol> =
        item.children.iter().filter_map(|child| nested(view, child)).collect();
    #[expect(deprecated, reason = "the field is a part of the structure")]
    let symbol = DocumentSymbol {
        name: item.name.clone(),
        detail: (!item.detail.is_empty())
            .then(|| view.masker(item.span.file).mask(&item.detail).into_owned()),
        kind: symbol_kind(item.kind),
        tags: None,
        deprecated: None,
        range: view.range(source, item.span),
        selection_range: view.range(source, item.selection),
        children: (!children.is_empty()).then_some(children),
    };
    Some(symbol)
}

fn base(item: &OutlineItem, container: Option<&str>) -> BaseSymbolInformation {
    BaseSymbolInformation {
        name: item.name.clone(),
        kind: symbol_kind(item.kind),
        tags: None,
        container_name: container.map(str::to_owned),
    }
}

/// Visits all items, each with the name of what it belongs to.
fn each<'i>(
    items: &'i [OutlineItem],
    container: Option<&'i str>,
    visit: &mut dyn FnMut(&'i OutlineItem, Option<&'i str>),
) {
    for item in items {
        visit(item, container);
        each(&item.children, Some(&item.name), visit);
    }
}

/// What the files of the workspace define, of which the names contain the characters of a query in their order.
pub(crate) fn workspace_symbols(
    question: &Question,
    params: WorkspaceSymbolParams,
) -> Answer<WorkspaceSymbolRequest> {
    let view = &question.view;
    let mut found: Vec<WorkspaceSymbol> = Vec::new();
    for (file, _) in view.snapshot.sources().iter() {
        question.stop.check()?;
        let outline = view.snapshot.outline(file);
        each(&outline, None, &mut |item, container| {
            if found.len() < MAX_SYMBOLS
                && contains(&item.name, &params.query)
                && let Some(location) = view.location(item.selection)
            {
                found.push(WorkspaceSymbol {
                    location: WorkspaceSymbolLocation::Location(location),
                    data: None,
                    base_symbol_information: base(item, container),
                });
            }
        });
    }
    Ok(Some(WorkspaceSymbolResponse::WorkspaceSymbolList(found)))
}

/// Whether a name has the characters of a query in their order, in any case.
fn contains(name: &str, query: &str) -> bool {
    let mut rest = name.chars().flat_map(char::to_lowercase);
    let mut wanted = query.chars().flat_map(char::to_lowercase).filter(|c| !c.is_whitespace());
    wanted.all(|c| rest.any(|other| other == c))
}

// ---- calls -------------------------------------------------------------------------------------

/// The agent at a position, from which its handoffs are followed.
pub(crate) fn prepare_calls(
    question: &Question,
    params: CallHierarchyPrepareParams,
) -> Answer<CallHierarchyPrepareRequest> {
    let view = &question.view;
    let at = params.text_document_position_params;
    let Some((file, offset)) = view.place(&at.text_document.uri, at.position) else {
        return Ok(None);
    };
    let Some(id) = view.snapshot.program_of(file) else { return Ok(None) };
    let Some(program) = view.snapshot.ir(id) else { return Ok(None) };
    let defined = view.snapshot.definitions(file, offset);
    let index = program.agents().position(|agent| defined.contains(&agent.metadata.name.span));
    // Within an agent, that one is meant.
    let index = index.or_else(|| {
        program.agents().position(|agent| {
            let span = agent.span;
            span.file == file && span.start <= offset && offset <= span.end
        })
    });
    Ok(index.and_then(|index| item(view, id, index)).map(|item| vec![item]))
}

/// An agent as an item of a hierarchy.
fn item(view: &View, program: ProgramId, index: usize) -> Option<CallHierarchyItem> {
    let agent = view.snapshot.ir(program)?.agents().nth(index)?;
    let name = &agent.metadata.name;
    let source = view.snapshot.sources().get(name.span.file)?;
    let whole =
        if agent.span.file == name.span.file { agent.span.to(name.span) } else { name.span };
    Some(CallHierarchyItem {
        name: name.value.to_string(),
        kind: SymbolKind::Class,
        tags: None,
        detail: None,
        uri: view.uri(source)?,
        range: view.range(source, whole),
        selection_range: view.range(source, name.span),
        data: None,
    })
}

/// The agent of an item: the document may have changed since.
fn agent_of(view: &View, item: &CallHierarchyItem) -> Option<(ProgramId, usize)> {
    let (file, offset) = view.place(&item.uri, item.selection_range.start)?;
    let id = view.snapshot.program_of(file)?;
    let agents = view.snapshot.ir(id)?.agents();
    let is_it = |span: agentir::diagnostics::Span| {
        span.file == file && span.start <= offset && offset <= span.end
    };
    let mut agents = agents.enumerate();
    let found = agents.find(|(_, agent)| {
        let name = &agent.metadata.name;
        is_it(name.span) && name.value == item.name
    });
    found.map(|(index, _)| (id, index))
}

/// The calls of a program by the agent at their other end, with their ranges.
fn grouped(
    view: &View,
    calls: impl Iterator<Item = AgentCall>,
    other: impl Fn(&AgentCall) -> Option<usize>,
) -> BTreeMap<usize, Vec<Range>> {
    let mut all: BTreeMap<usize, Vec<Range>> = BTreeMap::new();
    for call in calls {
        let source = view.snapshot.sources().get(call.span.file);
        if let (Some(other), Some(source)) = (other(&call), source) {
            all.entry(other).or_default().push(view.range(source, call.span));
        }
    }
    all
}

/// Who hands over to an agent.
pub(crate) fn incoming(
    question: &Question,
    params: CallHierarchyIncomingCallsParams,
) -> Answer<CallHierarchyIncomingCallsRequest> {
    let view = &question.view;
    let Some((id, index)) = agent_of(view, &params.item) else { return Ok(None) };
    let calls = view.snapshot.agent_calls(id).into_iter().filter(|call| call.to == Some(index));
    let by_agent = grouped(view, calls, |call| Some(call.from));
    let calls = by_agent.into_iter().filter_map(|(from, from_ranges)| {
        Some(CallHierarchyIncomingCall { from: item(view, id, from)?, from_ranges })
    });
    Ok(Some(calls.collect()))
}

/// Who an agent hands over to.
pub(crate) fn outgoing(
    question: &Question,
    params: CallHierarchyOutgoingCallsParams,
) -> Answer<CallHierarchyOutgoingCallsRequest> {
    let view = &question.view;
    let Some((id, index)) = agent_of(view, &params.item) else { return Ok(None) };
    let calls = view.snapshot.agent_calls(id).into_iter().filter(|call| call.from == index);
    let by_agent = grouped(view, calls, |call| call.to);
    let calls = by_agent.into_iter().filter_map(|(to, from_ranges)| {
        Some(CallHierarchyOutgoingCall { to: item(view, id, to)?, from_ranges })
    });
    Ok(Some(calls.collect()))
}

// ---- links -------------------------------------------------------------------------------------

/// The names in a document that lead to other files.
pub(crate) fn links(
    question: &Question,
    params: DocumentLinkParams,
) -> Answer<DocumentLinkRequest> {
    let view = &question.view;
    let Some((file, source)) = view.file(&params.text_document.uri) else { return Ok(None) };
    let links = view.snapshot.links(file).into_iter().filter_map(|link| {
        let Location { uri, range } = view.location(link.target)?;
        Some(DocumentLink {
            range: view.range(source, link.span),
            target: Some(at_line(uri, range)),
            tooltip: Some(link.title),
            data: None,
        })
    });
    Ok(Some(links.collect()))
}

/// A URI with the position in it, as editors write it.
fn at_line(uri: Uri, range: Range) -> Uri {
    let start = range.start;
    Uri(format!("{}#L{},{}", uri.0, start.line + 1, start.character + 1))
}

/// The file of a document that a request is about.
pub(super) fn file_of(question: &Question, uri: &Uri) -> Result<FileId, Failure> {
    let found = question.view.file(uri).map(|(file, _)| file);
    found.ok_or_else(|| Failure::Refused(format!("`{}` is no agent of this workspace", uri.0)))
}
