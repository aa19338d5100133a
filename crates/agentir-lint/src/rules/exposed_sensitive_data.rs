//! Sensitive data that is exposed.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::taint::{Flow, Taint};
use agentir_diagnostics::{Confidence, Diagnostic, Label, RuleName, Severity, Span};
use agentir_expr::dialect::Construct;
use agentir_expr::{Argument, Expr, Template};
use agentir_flow::cfg::Origin;
use agentir_ir::{Data, Statement, Tool};
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("exposed-sensitive-data"),
    group: Group::Security,
    severity: Severity::Warning,
    summary: "sensitive data flows into logs, prompts, messages, other systems or tools not cleared for it",
    vendor: &[],
    requires: &[Construct::SensitiveData],
    check: Check::Agent(check),
};

/// A sink that exposes sensitive data.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sink<'a> {
    Log,
    Prompt,
    Message,
    Remote(&'a str),
    Tool(&'a str),
}

impl Sink<'_> {
    fn message(self) -> String {
        match self {
            Self::Log => "is written to the log".to_owned(),
            Self::Prompt => "is written into the prompt".to_owned(),
            Self::Message => "is shown to the user in full".to_owned(),
            Self::Remote(agent) => format!("is sent to the remote agent `{agent}`"),
            Self::Tool(tool) => format!("is passed to `{tool}`, which is not cleared for it"),
        }
    }

    const fn help(self) -> &'static str {
        match self {
            Self::Log => "leave it out of the log, or log `MASK(…)` of it",
            Self::Prompt => "leave it out: the model can ask a tool to work with it",
            Self::Message => "show `MASK(…)` of it, such as its last four characters",
            Self::Remote(_) => "leave it out, or pass only what the other agent needs",
            Self::Tool(_) => {
                "add `pii_access` to the tool if it may see the value, or leave it out"
            }
        }
    }
}

struct Search<'c, 'a, 'r, 's> {
    cx: &'c AgentContext<'c, 'a>,
    taint: Taint<'a>,
    report: &'r mut Report<'s>,
    reported: FxHashSet<Span>,
}

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let taint = Taint::new(cx);
    if taint.is_empty() {
        return;
    }
    let mut search = Search { cx, taint, report, reported: FxHashSet::default() };
    search.prompts();
    if !cx.traits().hides_outputs {
        search.statements();
        search.others();
    }
}

impl<'a> Search<'_, 'a, '_, '_> {
    fn template(&mut self, text: &'a Template, sink: Sink<'_>) {
        let mut all: Vec<&'a Expr> = Vec::new();
        for part in &text.parts {
            if let agentir_expr::TemplatePart::Value { expr, .. }
            | agentir_expr::TemplatePart::SingleBrace { expr, .. } = part
            {
                all.push(expr);
            }
        }
        all.into_iter().for_each(|e| self.expr(e, sink));
    }

    fn expr(&mut self, expr: &'a Expr, sink: Sink<'_>) {
        if let Some(flow) = self.taint.of_expr(expr) {
            self.tell(expr.span, &flow, sink);
        }
    }

    fn name(&mut self, name: &str, span: Span, sink: Sink<'_>) {
        if let Some(flow) = self.taint.of_name(name) {
            self.tell(span, &flow, sink);
        }
    }

    fn tell(&mut self, at: Span, flow: &Flow, sink: Sink<'_>) {
        let copied = !flow.steps.is_empty();
        // A masked field is safe in messages unless it has been copied.
        if (sink == Sink::Message && flow.masked && !copied) || !self.cx.owns(at) {
            return;
        }
        if !self.reported.insert(at) {
            return;
        }
        let mut finding: Diagnostic =
            self.report.finding(at, format!("{} {}", flow.what, sink.message()));
        let copies = flow.steps.iter().map(|step| Label::new(*step, "it is copied here"));
        finding.labels.push(Label::new(flow.declared, flow.reason.as_str()));
        finding.labels.extend(copies);
        let exposed = Label::new(at, finding.message.as_str());
        let run: Vec<Label> = finding.labels.iter().cloned().chain([exposed]).collect();
        finding = finding.run(run, false);
        if sink == Sink::Message && copied && flow.masked {
            finding = finding.note("the field is masked, but a copy of it is shown in full");
        }
        if sink == Sink::Message && !copied {
            // The platform may redact data that is declared as sensitive.
            finding.severity = Severity::Info;
            finding =
                finding.confidence(Confidence::Medium).note("the field has no `sensitive_display`");
        }
        self.report.push(finding.help(sink.help()));
    }

    fn prompts(&mut self) {
        let agent = self.cx.agent;
        let said = &agent.identity;
        let texts = said.goal.iter().chain(&said.persona).chain(&said.limitations);
        texts
            .chain(said.instructions.iter().map(|i| &i.text))
            .chain(said.system_prompt.iter().map(|p| &p.template))
            .for_each(|t| self.template(t, Sink::Prompt));
        let cfg = self.cx.program.graph();
        let Some(part) = self.cx.agent_cfg() else { return };
        for node in part.nodes().filter_map(|n| cfg.node(n)) {
            match node.origin {
                Origin::Statement(Statement::Instruct { text }) => {
                    self.template(text, Sink::Prompt);
                }
                Origin::Zone(zone) => {
                    zone.goal.iter().for_each(|t| self.template(t, Sink::Prompt));
                }
                _ => {}
            }
        }
    }

    fn statements(&mut self) {
        let cfg = self.cx.program.graph();
        let Some(part) = self.cx.agent_cfg() else { return };
        for node in part.nodes().filter_map(|n| cfg.node(n)) {
            match node.origin {
                Origin::Statement(Statement::Log { value }) => {
                    self.log(&value.value, value.span);
                }
                Origin::Statement(Statement::Respond(said)) => {
                    said.text.iter().for_each(|t| self.template(t, Sink::Message));
                }
                Origin::Statement(Statement::Call(call)) => {
                    let Some(tool) = self.cx.tool(&call.tool.value) else { continue };
                    if self.is_cleared(tool) {
                        continue;
                    }
                    for Argument { value, .. } in &call.with {
                        self.expr(value, Sink::Tool(&call.tool.value));
                    }
                    if !call.has_arguments {
                        for parameter in &tool.parameters {
                            self.name(
                                &parameter.name.value,
                                call.tool.span,
                                Sink::Tool(&call.tool.value),
                            );
                        }
                    }
                }
                Origin::Failure(failure) => {
                    failure.message.iter().for_each(|t| self.template(t, Sink::Message));
                }
                Origin::Completion(done) => {
                    done.respond.iter().for_each(|t| self.template(t, Sink::Message));
                }
                _ => {}
            }
        }
    }

    fn log(&mut self, value: &Data, at: Span) {
        match value {
            Data::String(text) => {
                let words = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.')));
                let holes = text.contains("{{");
                let named: Vec<&str> = words.filter(|w| holes || *w == text.trim()).collect();
                named.into_iter().for_each(|name| self.name(name, at, Sink::Log));
            }
            Data::Array(all) => all.iter().for_each(|v| self.log(v, at)),
            Data::Object(all) => all.values().for_each(|v| self.log(v, at)),
            _ => {}
        }
    }

    /// Whether a tool is cleared for personal data. Unknown if no tool declares that.
    fn is_cleared(&self, tool: &Tool) -> bool {
        let denied = |access: &Data| match access {
            Data::Bool(may) => !may,
            Data::String(word) => matches!(word.as_str(), "none" | "denied" | "deny" | "never"),
            _ => false,
        };
        match &tool.pii_access {
            Some(access) => !denied(access),
            None => !self.cx.index.tools.values().any(|t| t.pii_access.is_some()),
        }
    }

    fn others(&mut self) {
        let coordination = &self.cx.agent.coordination;
        for handoff in coordination.handoffs.iter().filter(|h| h.remote.is_some()) {
            let sink = Sink::Remote(&handoff.to.value);
            for value in &handoff.context.pass {
                self.name(&value.name.value, value.name.span, sink);
            }
            handoff.context.summary.iter().for_each(|t| self.template(t, sink));
            handoff.context.set.iter().for_each(|s| self.expr(&s.value, sink));
            handoff.context.bindings.iter().for_each(|b| self.expr(&b.value, sink));
            let whole =
                handoff.context.history.as_ref().is_some_and(|history| {
                    !matches!(history.as_str(), Some("none" | "summary_only"))
                });
            if whole && let Some(flow) = self.taint.user_input() {
                self.tell(handoff.to.span, &flow, sink);
            }
        }
        for delegate in coordination.delegates.iter().filter(|d| d.remote.is_some()) {
            let sink = Sink::Remote(&delegate.agent.value);
            delegate.input.iter().for_each(|(_, value)| self.expr(value, sink));
        }
    }
}
