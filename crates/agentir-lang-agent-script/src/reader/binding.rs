//! Reads bindings: tools as exposed to the model.

use super::super::inline::{EntryPoint, Parsed};
use super::super::outline::{Entry, EntryKind, Inline};
use super::super::schema::RecordType;
use super::super::tree::{Binding, Record, StatementKind};
use super::value::Named;
use super::{Names, Reader};
use agentir_diagnostics::{Applicability, Diagnostic, Spanned};
use agentir_expr::{Expr, ExprKind, Name};
use agentir_syntax::rules;

impl<'s> Reader<'s, '_> {
    pub(super) fn bindings(
        &mut self,
        ty: &'static RecordType,
        entries: Vec<Entry<'s>>,
    ) -> Vec<Binding<'s>> {
        self.named(ty, entries, "`name: @actions.name`", false, Self::binding)
    }

    fn binding(&mut self, ty: &'static RecordType, entry: Named<'s>) -> Binding<'s> {
        let Named { name, inline, children, span } = entry;
        let mut action = None;
        let mut targets = Vec::new();
        match inline {
            Inline::Text(text) => {
                if let Some(expr) = super::super::inline::plain(self.file(), text.raw, text.start) {
                    action = Some(expr);
                } else if let Some(Parsed::Binding(expr, to)) =
                    self.reading.parse(text.raw, text.start, EntryPoint::Binding)
                {
                    action = Some(*expr);
                    targets = to;
                }
                if let Some(expr) = &action {
                    self.check_binding(&name, expr, &targets);
                }
            }
            Inline::Nothing => self.report(
                Diagnostic::error(
                    rules::MISSING_FIELD,
                    name.span,
                    format!("the tool `{name}` has no target"),
                )
                .help(format!("write `{name}: @actions.name`")),
            ),
            other => self.no_value(&name.value, other),
        }
        let mut binding = Binding {
            properties: Record {
                ty,
                span,
                name: Some(name.clone()),
                fields: Vec::new(),
                unknown: Vec::new(),
            },
            name,
            action,
            targets,
            available: Vec::new(),
            with: Vec::new(),
            body: Vec::new(),
            span,
        };
        let mut known = Names::default();
        for entry in children {
            if matches!(entry.kind, EntryKind::Pair { .. }) {
                self.entry(&mut binding.properties, &mut known, entry);
                continue;
            }
            let statement = self.statement(entry, super::statement::StatementContext::Binding);
            match statement.kind {
                StatementKind::With(with) => binding.with.extend(with),
                StatementKind::To(targets) => binding.targets.extend(targets),
                StatementKind::Available(expr) => {
                    binding.available.push(Spanned::new(expr, statement.span));
                }
                _ => binding.body.push(statement),
            }
        }
        self.check_whole(&binding.properties);
        self.check_after(&binding);
        binding
    }

    /// Reports statements after `@utils.setVariables`, which never run.
    fn check_after(&mut self, binding: &Binding<'s>) {
        let sets = binding.action.as_ref().and_then(Expr::as_path).is_some_and(|p| {
            p.namespace.as_ref().is_some_and(|n| n.value == "utils")
                && p.root.value == "setVariables"
        });
        if let (true, Some(first)) = (sets, binding.body.first()) {
            self.report(
                Diagnostic::error(
                    rules::MISPLACED_STATEMENT,
                    self.first_line_of(first.span),
                    "`@utils.setVariables` cannot be followed by anything",
                )
                .note("the platform ignores it")
                .help("move it to `after_reasoning:`, below an `if` on one of these variables"),
            );
        }
    }

    /// Reports `go to @subagent.x` and similar phrases in place of an action.
    fn check_binding(
        &mut self,
        name: &Spanned<Name>,
        action: &Expr,
        targets: &[super::super::tree::Target],
    ) {
        let bare = action.as_path().filter(|p| p.namespace.is_none());
        let Some(path) = bare else {
            if !matches!(action.kind, ExprKind::Path(_)) {
                self.report(
                    Diagnostic::error(
                        rules::INVALID_VALUE,
                        action.span,
                        format!("the tool `{name}` expects a reference"),
                    )
                    .help(format!("write `{name}: @actions.name`")),
                );
            }
            return;
        };
        let diagnostic = Diagnostic::error(
            rules::INVALID_VALUE,
            action.span,
            format!("a tool cannot refer to `{}`", path.root),
        );
        self.report(if targets.is_empty() {
            let meant = format!("@actions.{}", path.root);
            let diagnostic = diagnostic.help(format!("write `{meant}`"));
            if path.namespace.is_none() && path.segments.is_empty() {
                diagnostic.replace(meant, Applicability::Unsafe)
            } else {
                diagnostic
            }
        } else {
            diagnostic
                .help("write `@utils.transition to @subagent.name`")
                .replace("@utils.transition", Applicability::Safe)
        });
    }
}
