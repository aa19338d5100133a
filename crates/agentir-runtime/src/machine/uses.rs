//! What the uses of names tell that no declaration tells: the type of a variable that is compared with numbers, the arguments
//! of a function whose signature is not known, and which outputs are not for the model.

use super::Run;
use crate::model::{FieldSpec, Purpose, ToolSpec};
use agentir_expr::{BinaryOp, Expr, ExprKind, Literal, Visit};
use agentir_ir::{Agent, Data, Program};
use rustc_hash::FxHashSet;
use serde_json::Value as Json;

/// The length from which a word that a function and a variable share says that the function is about the variable.
const MIN_SHARED_WORD: usize = 4;

/// The names of variables that conditions compare with numbers by their order: `count > 8`.
pub(super) fn numeric_names(program: &Program) -> FxHashSet<&str> {
    let mut names = FxHashSet::default();
    for agent in program.agents() {
        agent.walk(&mut |node| node.exprs(&mut |expr| compared(expr, &mut names)));
    }
    names
}

/// Adds the variables in an expression that are compared with numbers.
fn compared<'p>(expr: &'p Expr, names: &mut FxHashSet<&'p str>) {
    expr.visit(&mut |part| {
        let ExprKind::Binary { op, left, right } = &part.kind else { return Visit::Children };
        let ordered = matches!(
            op,
            BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual
        );
        let number = |side: &Expr| matches!(&side.kind, ExprKind::Literal(Literal::Number(_)));
        for (one, other) in [(left, right), (right, left)] {
            if let Some(path) = one.as_path().filter(|_| ordered && number(other))
                && path.segments.is_empty()
            {
                names.insert(path.root.value.as_str());
            }
        }
        Visit::Children
    });
}

impl<'p> Run<'_, 'p, '_> {
    /// A function whose signature is not known: it is given what its agent collects (Agent Declaration Language, appendix B.1).
    /// What the instructions name before the function, or what the function is named after, has to be known.
    pub(super) fn unsigned(&self, name: &str) -> ToolSpec {
        let mut tool = ToolSpec::new(name, "", Purpose::Call);
        let Ok(agent) = self.agent() else { return tool };
        let text = self.instructions_of(agent);
        let called = text.find(name);
        let parameters = agent.gather.fields.iter().map(|field| {
            let own = field.name.value.as_str();
            let named = text.find(own).is_some_and(|at| called.is_some_and(|called| at < called));
            let about = own.split('_').filter(|word| word.len() >= MIN_SHARED_WORD);
            let about = about.into_iter().any(|word| name.split('_').any(|part| part == word));
            FieldSpec { required: named || about, ..self.variable_spec(own) }
        });
        tool.parameters = parameters.collect();
        tool
    }

    /// The author's instructions in one text.
    fn instructions_of(&self, agent: &Agent) -> String {
        let identity = &agent.identity;
        let prompt = identity.system_prompt.iter().map(|prompt| self.render(&prompt.template));
        let texts = identity.instructions.iter().map(|instruction| self.render(&instruction.text));
        prompt.chain(texts).collect::<Vec<_>>().join("\n")
    }

    /// The part of a result that the model sees: an output with `filter_from_agent` is not for it (Agent Script reference,
    /// outputs of actions).
    pub(super) fn seen_by_model(&self, tool: &str, result: &Json) -> Json {
        let about = self.tool(tool).and_then(|tool| {
            let own = tool.extensions.0.get(self.dialect().id())?;
            own.get("outputs").map(|outputs| &outputs.value)
        });
        let hides =
            |name: &str| match about.and_then(|about| about.get(name)?.get("filter_from_agent")) {
                Some(Data::Bool(hidden)) => *hidden,
                Some(Data::String(word)) => word.eq_ignore_ascii_case("true"),
                _ => false,
            };
        match result {
            Json::Object(fields) if self.traits().hides_outputs => {
                let seen = fields.iter().filter(|(name, _)| !hides(name));
                Json::Object(seen.map(|(name, value)| (name.clone(), value.clone())).collect())
            }
            other => other.clone(),
        }
    }
}
