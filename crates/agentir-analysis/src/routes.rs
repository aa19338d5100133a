//! Routing rules and handoffs in evaluation order.

use agentir_diagnostics::{Span, Spanned};
use agentir_expr::Condition;
use agentir_ir::{Agent, Aliases, Handoff, NumberOrText, RoutingRule};
use smol_str::SmolStr;

/// A routing rule or a handoff.
#[derive(Debug, Clone, Copy)]
pub struct Route<'a> {
    /// Its source.
    pub span: Span,
    /// The target agent, if any.
    pub to: Option<&'a str>,
    /// Its condition, if any.
    pub when: Option<&'a Condition>,
    /// The intents that it matches; empty for all.
    pub intents: &'a [Spanned<SmolStr>],
    /// Whether it has further requirements: a channel, variables that are set, excluded intents.
    pub narrowed: bool,
    /// Lower numbers come first.
    pub priority: Option<f64>,
    /// Its index in the source.
    position: usize,
    /// The index of its rule's first target.
    rule: Option<usize>,
}

impl<'a> Route<'a> {
    fn of_rule(
        aliases: &Aliases<'a>,
        rule: &'a RoutingRule,
        position: usize,
        first: usize,
    ) -> Self {
        Self {
            span: rule.span,
            to: rule.to.as_ref().map(|to| aliases.resolve(to).value.as_str()),
            when: rule.when.as_ref(),
            intents: &rule.intents,
            narrowed: !(rule.channels.is_empty()
                && rule.requires_state.is_empty()
                && rule.ignore_intents.is_empty()),
            priority: numeric_priority(rule.priority.as_ref()),
            position,
            rule: Some(first),
        }
    }

    fn of_handoff(aliases: &Aliases<'a>, handoff: &'a Handoff, position: usize) -> Self {
        Self {
            span: handoff.span,
            to: Some(aliases.resolve(&handoff.to).value.as_str()),
            when: handoff.when.as_ref(),
            intents: &[],
            narrowed: false,
            priority: numeric_priority(handoff.priority.as_ref()),
            position,
            rule: None,
        }
    }

    /// Whether the language specifies that this route is tried before the other one: by priority,
    /// or by source order if neither has one. The order of equal priorities is unspecified.
    pub fn precedes(&self, other: &Self) -> bool {
        match (self.priority, other.priority) {
            _ if self.is_of_rule_of(other) => self.position < other.position,
            (Some(own), Some(others)) => own < others,
            (None, None) => self.position < other.position,
            _ => false,
        }
    }

    /// Whether both are targets of one rule, which share its condition.
    #[must_use]
    pub fn is_of_rule_of(&self, other: &Self) -> bool {
        self.rule.is_some() && self.rule == other.rule
    }

    /// Whether the route matches an intent explicitly.
    pub fn takes(&self, intent: &str) -> bool {
        self.intents.iter().any(|i| i.value.eq_ignore_ascii_case(intent))
    }

    /// Returns the span of its condition, or its own.
    pub fn at(&self) -> Span {
        self.when.map_or(self.span.at_start(), Condition::span)
    }
}

/// Returns a priority that is a number.
pub fn numeric_priority(priority: Option<&NumberOrText>) -> Option<f64> {
    match priority {
        Some(NumberOrText::Number(n)) => Some(n.0),
        _ => None,
    }
}

const fn is_word(priority: Option<&NumberOrText>) -> bool {
    matches!(priority, Some(NumberOrText::Text(_)))
}

/// Returns the routing rules of a supervisor.
pub fn rules<'a>(agent: &'a Agent) -> Vec<Route<'a>> {
    let aliases = agent.aliases();
    let mut first = 0;
    let mut all = Vec::new();
    for (position, rule) in agent.routing.iter().flat_map(|r| &r.rules).enumerate() {
        if !rule.continues {
            first = position;
        }
        if !is_word(rule.priority.as_ref()) {
            all.push(Route::of_rule(&aliases, rule, position, first));
        }
    }
    all
}

/// Returns the handoffs that an agent declares for itself.
pub fn handoffs<'a>(agent: &'a Agent) -> Vec<Route<'a>> {
    // `HANDOFF_PROTOCOL` of a supervisor describes handoffs of other agents.
    let others = |h: &Handoff| h.extensions.has("from");
    let aliases = agent.aliases();
    let all = agent.coordination.handoffs.iter().enumerate();
    all.filter(|(_, handoff)| !is_word(handoff.priority.as_ref()) && !others(handoff))
        .map(|(position, handoff)| Route::of_handoff(&aliases, handoff, position))
        .collect()
}
