//! The types of the names of an agent, as its declarations say, for inference.

use crate::rule::AgentContext;
use crate::script::{Outputs, outputs};
use agentir_diagnostics::Span;
use agentir_expr::{Coercion, Expr, Known, Mismatch, Path, ValueType, infer};
use rustc_hash::FxHashMap;

/// The types of what an agent of Agent Script refers to: variables, and the outputs of the action that
/// `@outputs` stands for where it is read.
pub(crate) struct ScriptTypes<'c, 'a> {
    cx: &'c AgentContext<'a>,
    outputs: FxHashMap<Span, ValueType>,
}

impl<'c, 'a> ScriptTypes<'c, 'a> {
    pub(crate) fn new(cx: &'c AgentContext<'a>) -> Self {
        let mut types = FxHashMap::default();
        outputs(cx, &mut |path, here| {
            let Outputs::Of(tool, _) = *here else { return };
            let fields = cx.tool(&tool.value).and_then(|t| t.returns.as_ref()).map(|r| &r.fields);
            let field = fields.and_then(|f| f.iter().find(|f| f.name.value == path.root.value));
            if let Some(ty) = field.and_then(|f| ValueType::of(&f.ty)) {
                types.insert(path.root.span, ty);
            }
        });
        Self { cx, outputs: types }
    }

    /// The type of a variable, by its name.
    pub(crate) fn variable(&self, name: &str) -> Option<ValueType> {
        ValueType::of(self.cx.program.variables.get(name)?.ty.as_ref()?)
    }

    fn root(&self, path: &Path) -> Option<ValueType> {
        match path.namespace.as_ref()?.value.as_str() {
            "variables" => self.variable(&path.root.value),
            "outputs" => self.outputs.get(&path.root.span).cloned(),
            "system_variables" if path.root.value == "user_input" => Some(ValueType::Text),
            _ => None,
        }
    }

    /// The type of an expression's value; `found` is told what in it cannot work.
    pub(crate) fn infer(
        &self,
        expr: &Expr,
        found: &mut dyn FnMut(Span, Mismatch),
    ) -> Option<ValueType> {
        let known = Known {
            coercion: &Coercion::AGENT_SCRIPT,
            root: &|path| self.root(path),
            function: &|name| (name == "len").then_some(ValueType::Number),
        };
        infer(expr, &known, found)
    }

    /// What an expression gives, if that can never become a value of the type `wanted`.
    pub(crate) fn mismatch(&self, expr: &Expr, wanted: &ValueType) -> Option<ValueType> {
        let coercion = &Coercion::AGENT_SCRIPT;
        coercion.rejects(expr, wanted).or_else(|| {
            let found = self.infer(expr, &mut |_, _| {})?;
            coercion.never(&found, wanted).then_some(found)
        })
    }
}
