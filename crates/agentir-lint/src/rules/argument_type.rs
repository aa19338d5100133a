//! An argument of the wrong type.

use crate::arguments::{Family, matched, signature};
use crate::names::{Member, Results, member};
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::{Expr, ExprKind, Literal, Path};
use rustc_hash::FxHashMap;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("argument-type"),
    group: Group::Names,
    severity: Severity::Error,
    summary: "a tool call gives a value that cannot be what the parameter takes",
    vendor: &["T-06"],
    dialects: crate::rule::ABL,
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_>, report: &mut Report<'_>) {
    let mut types = None;
    for matched in matched(cx) {
        for (parameter, given) in &matched.parameters {
            let (Some(argument), Some(wanted)) =
                (given, parameter.ty.as_ref().and_then(Family::of))
            else {
                continue;
            };
            let found = match &argument.value.kind {
                ExprKind::Path(path) => {
                    types.get_or_insert_with(|| Types::new(cx)).of(path).filter(|f| f.never(wanted))
                }
                _ => constant(&argument.value, wanted),
            };
            if let Some(found) = found {
                let message = format!(
                    "`{}` of `{}` should be {}, not {}",
                    parameter.name,
                    matched.tool.name,
                    wanted.words(),
                    found.words(),
                );
                report.push(
                    report
                        .finding(argument.value.span, message)
                        .label(parameter.span, "declared here")
                        .help(format!("its signature is `{}`", signature(matched.tool)))
                        .note("a value that cannot be converted makes the call fail"),
                );
            }
        }
    }
}

/// What a constant is, if it cannot become what is wanted.
fn constant(value: &Expr, wanted: Family) -> Option<Family> {
    let found = match &value.kind {
        ExprKind::List(_) => Family::List,
        ExprKind::Object(_) => Family::Object,
        ExprKind::Literal(Literal::Number(_)) => Family::Number,
        ExprKind::Literal(Literal::Bool(_)) => Family::Boolean,
        ExprKind::Literal(Literal::String(text)) => {
            let text = text.trim();
            let fits = match wanted {
                Family::Number => text.parse::<f64>().is_ok(),
                Family::Boolean => matches!(text, "true" | "false"),
                Family::List | Family::Object => text.starts_with(['[', '{']),
                Family::Text | Family::Date => true,
            };
            return (!fits && !text.contains("{{")).then_some(Family::Text);
        }
        _ => return None,
    };
    found.never(wanted).then_some(found)
}

/// What is known about the types of variables.
struct Types<'c, 'a> {
    /// By name; nothing where declarations disagree.
    declared: FxHashMap<&'a str, Option<Family>>,
    results: Results<'c, 'a>,
}

impl<'c, 'a> Types<'c, 'a> {
    fn new(cx: &'c AgentContext<'a>) -> Self {
        let mut declared: FxHashMap<&str, Option<Family>> = FxHashMap::default();
        let session = cx.agent.memory.session.iter();
        let session = session.map(|v| (v.name.value.as_str(), v.ty.as_ref().and_then(Family::of)));
        let fields = cx.facts.fields.iter();
        let fields = fields
            .map(|f| (f.name.value.as_str(), f.ty.as_ref().and_then(|t| Family::named(&t.value))));
        for (name, family) in session.chain(fields) {
            let known = declared.entry(name).or_insert(family);
            if *known != family {
                *known = None;
            }
        }
        // Who assigns may assign anything.
        for set in &cx.facts.sets {
            declared.insert(&set.target.root.value, None);
        }
        Self { declared, results: Results::new(cx) }
    }

    fn of(&self, path: &'a Path) -> Option<Family> {
        let name = path.root.value.as_str();
        match self.results.get(name) {
            Some((_, ty)) => match member(ty, &path.segments) {
                Member::Found(ty) => Family::of(ty),
                Member::Missing(..) | Member::Unknown => None,
            },
            None if path.segments.is_empty() => self.declared.get(name).copied().flatten(),
            None => None,
        }
    }
}
