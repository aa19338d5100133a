//! Checks `access`.

use super::super::tree::Value;
use super::{Check, EMPLOYEE};
use agentir_expr::{ExprKind, Literal};

/// `access-sharing-policy-not-allowed`, `access-verified-customer-record-access-not-allowed`, and the
/// compiler's constraints on the lists.
pub(super) fn check(check: &mut Check<'_, '_, '_>) {
    let Some(access) = check.root.record("access") else { return };
    let kind = check.agent_type();
    for name in ["sharing_policy", "verified_customer_record_access"] {
        let Some(field) = access.field(name) else { continue };
        if let Some((kind, _)) = kind.as_ref().filter(|(k, _)| k == EMPLOYEE) {
            check.not_for(field, kind);
        }
        let Value::Record(block) = &field.value else { continue };
        if name == "verified_customer_record_access" && block.field("use_default_objects").is_none()
        {
            check.missing(
                block,
                "use_default_objects",
                field.key,
                format!("`{name}` has no `use_default_objects`"),
                "add `use_default_objects: True` or `use_default_objects: False`",
            );
        }
        for list in ["custom_sharing_entities", "additional_objects"] {
            let Some(Value::List(items)) = block.field(list).map(|f| &f.value) else { continue };
            for item in items {
                match &item.kind {
                    ExprKind::Literal(Literal::String(text)) if !text.trim().is_empty() => {}
                    ExprKind::Path(path) if path.namespace.is_some() => {}
                    _ => check.invalid(
                        item.span,
                        format!("`{item}` is not an object name"),
                        "write its name in quotes",
                    ),
                }
            }
        }
    }
}
