//! Lowers memory (§3.7) and the state of a supervisor.

use super::fields::Fields;
use crate::inline::Store;
use crate::{HeaderValue, Record};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Expr, Name};
use agentir_ir::{
    Extensions, Memory, PersistentPath, Recall, RecallAction, Remember, SessionVariable,
    StateVariable, StoredValue,
};
use agentir_syntax::lower::merge_extensions;
use smol_str::{SmolStr, format_smolstr};

pub(super) fn memory(f: &mut Fields<'_>) -> Memory {
    let mut memory = Memory::default();
    let mut rest = Extensions::default();
    for mut m in f.records("memory") {
        memory.session.extend(m.items_of("session", &mut rest).into_iter().filter_map(session));
        for mut p in m.records("persistent") {
            let access = [("reads", "read"), ("writes", "write")];
            for (field, access) in access {
                for path in p.names(field) {
                    let span = path.span;
                    memory.persistent.push(plain_path(path, access, span));
                }
            }
            memory
                .persistent
                .extend(std::mem::take(&mut p.items).into_iter().filter_map(persistent));
            p.preserve(&mut rest);
        }
        memory.remember.extend(m.items_of("remember", &mut rest).into_iter().map(remember));
        memory.recall.extend(m.items_of("recall", &mut rest).into_iter().filter_map(recall));
        m.preserve(&mut rest);
    }
    for mut s in f.records("state") {
        state(std::mem::take(&mut s.items), "", &mut memory.state, &mut rest);
        s.preserve(&mut rest);
    }
    memory.extensions = rest;
    memory
}

fn session(item: Record<'_>) -> Option<SessionVariable> {
    let mut v = Fields::new(item);
    let name = v.name.take()?;
    Some(SessionVariable {
        ty: v.ty("type"),
        description: v.template("description"),
        initial_value: v.data("initial"),
        reset: v.choice("reset"),
        span: v.span,
        extensions: v.into_extensions(),
        ..SessionVariable::new(name)
    })
}

fn plain_path(path: Spanned<Name>, access: &'static str, span: Span) -> PersistentPath {
    let scope = PersistentPath::scope_of(&path.value);
    PersistentPath { span, ..PersistentPath::new(path, scope, access) }
}

fn persistent(item: Record<'_>) -> Option<PersistentPath> {
    let mut p = Fields::new(item);
    let path = p.name_of("path").or_else(|| p.name.take())?;
    p.name = None;
    let access = p.choice("access").unwrap_or("readwrite");
    let mut result = plain_path(path, access, p.span);
    if let Some(scope) = p.choice("scope") {
        result.scope = scope;
    }
    result.ty = p.ty("type");
    result.unit = p.plain_text("unit");
    result.default_value = p.data("default_value");
    result.sensitive = p.boolean("sensitive");
    result.sensitive_display = p.choice("sensitive_display");
    result.mask_config = super::gather::mask_config(&mut p);
    result.description = p.template("description");
    result.extensions = p.into_extensions();
    Some(result)
}

/// `value -> path`, or only one of them.
pub(super) fn stored(store: Store) -> StoredValue {
    StoredValue {
        value: Some(store.value),
        target: store.target.map(|path| {
            Spanned::new(SmolStr::new(Expr::path(path.value, path.span).to_string()), path.span)
        }),
        operation: None,
        unique: None,
        max_size: None,
    }
}

fn remember(item: Record<'_>) -> Remember {
    let mut r = Fields::new(item);
    let when = header_condition(&mut r).or_else(|| r.condition("when"));
    let mut extensions = Extensions::default();
    let store = r.store("store").map(stored).or_else(|| {
        let mut s = r.record("store")?;
        let value = StoredValue {
            value: s.expr("value"),
            target: s.name_of("target"),
            operation: s.choice("operation"),
            unique: s.boolean("unique"),
            max_size: s.plain_number("max_size"),
        };
        s.preserve(&mut extensions);
        Some(value)
    });
    let (ttl, span) = (r.text("ttl"), r.span);
    merge_extensions(&mut extensions, r.into_extensions());
    Remember { when, store, ttl, extensions, span }
}

/// The condition in an item's header.
pub(super) fn header_condition(f: &mut Fields<'_>) -> Option<agentir_expr::Condition> {
    let at = f.headers.iter().position(|h| matches!(h, HeaderValue::Condition(_, None)))?;
    match f.headers.remove(at) {
        HeaderValue::Condition(condition, None) => Some(*condition),
        _ => None,
    }
}

fn recall(item: Record<'_>) -> Option<Recall> {
    let mut r = Fields::new(item);
    let event = r.text("on").or_else(|| r.name.take())?;
    let instruction = r.template("instruction");
    let mut paths = r.names("paths");
    paths.extend(r.names("retrieve"));
    let action = match r.choice("action") {
        Some("load_memory") => Some(RecallAction::LoadMemory { domain: r.plain_text("domain") }),
        Some("prompt_llm") => {
            instruction.clone().map(|instruction| RecallAction::PromptLlm { instruction })
        }
        Some(_) => Some(RecallAction::InjectContext { paths }),
        None if !paths.is_empty() => Some(RecallAction::InjectContext { paths }),
        None => None,
    };
    let span = r.span;
    Some(Recall { event, instruction, action, extensions: r.into_extensions(), span })
}

fn state(
    items: Vec<Record<'_>>,
    prefix: &str,
    all: &mut Vec<StateVariable>,
    rest: &mut Extensions,
) {
    for item in items {
        let mut v = Fields::new(item);
        let Some(name) = v.name.take() else {
            v.preserve(rest);
            continue;
        };
        let full = if prefix.is_empty() {
            name.value.clone()
        } else {
            format_smolstr!("{prefix}.{}", name.value)
        };
        let inner = std::mem::take(&mut v.items);
        if !inner.is_empty() {
            state(inner, &full, all, rest);
            v.preserve(rest);
            continue;
        }
        all.push(StateVariable {
            name: Spanned::new(full, name.span),
            ty: v.ty("type"),
            required: v.boolean("required"),
            default: v.data("default"),
            description: v.template("description"),
            source: v.choice("source"),
            updated_by: v.names("updated_by"),
            span: v.span,
            extensions: v.into_extensions(),
        });
    }
}
