//! The declared types of an agent's names, for type inference.

use crate::expressions::{Member, Results, member};
use crate::index::AgentIndex;
use crate::script::{Outputs, outputs};
use crate::symbols::{AgentSymbols, ProgramSymbols};
use crate::variables::first;
use agentir_diagnostics::Span;
use agentir_expr::{
    Coercion, Expr, Known, Mismatch, ParameterType, Path, ValueType, function, infer,
};
use agentir_ir::SessionVariable;
use rustc_hash::{FxHashMap, FxHashSet};

/// The types of references with a namespace: variables, and the outputs of the action that `@outputs`
/// refers to.
#[derive(Debug, Clone, Copy)]
pub struct ReferenceTypes<'c, 'a> {
    variables: &'c VariableTypes<'a>,
    outputs: &'c OutputTypes,
    coercion: &'static Coercion,
}

/// The types of the variables that a program shares, for those that declare one.
pub type VariableTypes<'a> = FxHashMap<&'a str, ValueType>;

/// The types of the outputs that an agent reads, by the span of the read.
pub type OutputTypes = FxHashMap<Span, ValueType>;

/// Returns the types of the variables that a program shares.
pub(crate) fn variable_types<'a>(program: &ProgramSymbols<'a>) -> VariableTypes<'a> {
    let typed = |(name, variable): (&&'a str, &&'a SessionVariable)| {
        Some((*name, ValueType::of(variable.ty.as_ref()?)?))
    };
    program.variables.iter().filter_map(typed).collect()
}

/// Returns the types of the outputs that an agent reads.
pub(crate) fn output_types(cx: &AgentSymbols<'_, '_>) -> OutputTypes {
    let mut types = OutputTypes::default();
    outputs(cx.agent, &mut |path, here| {
        let Outputs::Of(tool, _) = *here else { return };
        let fields = cx.tool(&tool.value).and_then(|t| t.returns.as_ref()).map(|r| &r.fields);
        let field = fields.and_then(|f| f.iter().find(|f| f.name.value == path.root.value));
        if let Some(ty) = field.and_then(|f| ValueType::of(&f.ty)) {
            types.insert(path.root.span, ty);
        }
    });
    types
}

/// Returns the ill-typed expressions in conditions.
pub(crate) fn mistyped_conditions(
    index: &AgentIndex<'_>,
    types: &ReferenceTypes<'_, '_>,
) -> FxHashSet<Span> {
    let mut found = FxHashSet::default();
    for expr in index.conditions.iter().filter_map(|(c, _)| c.expr()) {
        types.infer(expr, &mut |span, _| {
            found.insert(span);
        });
    }
    found
}

impl<'c, 'a> ReferenceTypes<'c, 'a> {
    pub(crate) const fn new(
        variables: &'c VariableTypes<'a>,
        outputs: &'c OutputTypes,
        coercion: &'static Coercion,
    ) -> Self {
        Self { variables, outputs, coercion }
    }

    /// Returns the type of a variable.
    pub fn variable(&self, name: &str) -> Option<ValueType> {
        self.variables.get(name).cloned()
    }

    fn root(&self, path: &Path) -> Option<ValueType> {
        match path.namespace.as_ref()?.value.as_str() {
            "variables" => self.variable(&path.root.value),
            "outputs" => self.outputs.get(&path.root.span).cloned(),
            "system_variables" if path.root.value == "user_input" => Some(ValueType::Text),
            _ => None,
        }
    }

    /// Infers the type of an expression. Calls `found` with each type error.
    pub fn infer(&self, expr: &Expr, found: &mut dyn FnMut(Span, Mismatch)) -> Option<ValueType> {
        let known = Known {
            coercion: self.coercion,
            root: &|path| self.root(path),
            function: &|name| (name == "len").then_some(ValueType::Number),
        };
        infer(expr, &known, found)
    }

    /// Returns the type of an expression, if it can never be converted to `wanted`.
    pub fn mismatch(&self, expr: &Expr, wanted: &ValueType) -> Option<ValueType> {
        self.coercion.mismatch(expr, wanted, || self.infer(expr, &mut |_, _| {}))
    }
}

/// The types of what is in scope: variables, fields, results of tools.
pub struct ScopedTypes<'c, 'a> {
    /// The declared type and its span by name; `None` if declarations disagree.
    declared: FxHashMap<&'a str, Option<(ValueType, Span)>>,
    /// Variables with assignments, which may have any type.
    assigned: FxHashSet<&'a str>,
    results: Results<'c, 'a>,
    coercion: &'static Coercion,
}

impl<'c, 'a> ScopedTypes<'c, 'a> {
    /// Collects the declared types of an agent.
    #[must_use]
    pub fn new(cx: &'c AgentSymbols<'c, 'a>) -> Self {
        let mut declared: FxHashMap<&str, Option<(ValueType, Span)>> = FxHashMap::default();
        let session = cx.agent.memory.session.iter().map(|v| {
            let ty = v.ty.as_ref().and_then(|ty| Some((ValueType::of(ty)?, ty.span)));
            (v.name.value.as_str(), ty)
        });
        let fields = cx.index.fields.iter().map(|f| {
            let ty = f.ty.as_ref().and_then(|ty| Some((ValueType::named(&ty.value)?, ty.span)));
            (f.name.value.as_str(), ty)
        });
        for (name, ty) in session.chain(fields) {
            let known = declared.entry(name).or_insert_with(|| ty.clone());
            if known.as_ref().map(|(ty, _)| ty) != ty.as_ref().map(|(ty, _)| ty) {
                *known = None;
            }
        }
        let sets = cx.index.sets.iter().map(|s| s.target.root.value.as_str());
        let writes = cx.index.writes.iter().map(|(name, _)| first(&name.value));
        Self {
            declared,
            assigned: sets.chain(writes).collect(),
            results: Results::new(cx),
            coercion: cx.agent.metadata.dialect.coercion(),
        }
    }

    /// Returns the declared type of a variable, and its span.
    pub fn declared(&self, name: &str) -> Option<&(ValueType, Span)> {
        self.declared.get(name)?.as_ref()
    }

    /// Returns the type of a path.
    pub fn of(&self, path: &'a Path) -> Option<ValueType> {
        let name = path.root.value.as_str();
        match self.results.get(name) {
            Some((_, ty)) => match member(ty, &path.segments) {
                Member::Found(ty) => ValueType::of(ty),
                Member::Missing(..) | Member::Unknown => None,
            },
            None if path.segments.is_empty() => self.root(name),
            None => None,
        }
    }

    /// Returns the declared type of a variable, if nothing is assigned to it.
    fn root(&self, name: &str) -> Option<ValueType> {
        self.declared(name).filter(|_| !self.assigned.contains(name)).map(|(ty, _)| ty.clone())
    }

    /// Infers the type of an expression. Calls `found` with each type error.
    pub fn infer(&self, expr: &Expr, found: &mut dyn FnMut(Span, Mismatch)) -> Option<ValueType> {
        let known = Known {
            coercion: self.coercion,
            root: &|path| match path.namespace {
                None if self.results.get(&path.root.value).is_none() => self.root(&path.root.value),
                _ => None,
            },
            function: &|name| function(name).and_then(|f| type_of(f.returns)),
        };
        infer(expr, &known, found)
    }

    /// Returns the type of an expression, if it can never be converted to `wanted`.
    pub fn mismatch(&self, expr: &Expr, wanted: &ValueType) -> Option<ValueType> {
        self.coercion.mismatch(expr, wanted, || self.infer(expr, &mut |_, _| {}))
    }
}

/// Returns the type of a function's result.
fn type_of(ty: ParameterType) -> Option<ValueType> {
    Some(match ty {
        ParameterType::String => ValueType::Text,
        ParameterType::Number => ValueType::Number,
        ParameterType::Boolean => ValueType::Boolean,
        ParameterType::Array => ValueType::List(None),
        ParameterType::Object => ValueType::Object,
        _ => return None,
    })
}
