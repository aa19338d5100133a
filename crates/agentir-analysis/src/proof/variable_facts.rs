//! The facts that an agent's declarations state about its variables, for the solver.
//!
//! Only facts that hold wherever a condition may be evaluated: types, enumerations, ranges,
//! patterns of fields, types of results, the values of runtime variables. Restrictions on the
//! values of a field count only if nothing but the user's answers write the variable.

use crate::expressions::Results;
use crate::index::AgentIndex;
use crate::symbols::{AgentSymbols, ProgramSymbols};
use crate::variables::Variables;
use agentir_diagnostics::{Span, Spanned};
use agentir_eval::Value;
use agentir_expr::{
    Dialect, Expr, ExprKind, Literal, Name, ParameterType, Path, Segment, TypeExpr, TypeKind,
    Version,
};
use agentir_ir::{Entity, GatherField, Requirement, ReturnType, Validation};
use agentir_solver::{Bound, FactKind, Facts, Label, Type};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use std::rc::Rc;
use std::sync::Arc;

/// The source of a fact. The default is that of a hypothesis, which needs no explanation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FactSource {
    /// The span; `None` for facts of the language itself.
    pub span: Option<Span>,
    /// The explanation; completes "because …".
    pub message: String,
    /// Whether the fact follows from the paths to the queried program point. Other facts hold
    /// everywhere.
    pub on_paths: bool,
    /// The places that it rests on, each with what it does.
    pub places: Vec<(Span, String)>,
}

/// The facts about variables that hold everywhere in an agent.
#[derive(Debug)]
pub struct VariableFacts {
    /// The dialect of its conditions.
    pub dialect: Dialect,
    pub(super) facts: Arc<Facts>,
    /// The sources of the agent's own facts, whose labels follow those of `declared`.
    own: Vec<FactSource>,
    declared: Rc<SharedDeclarations>,
}

/// The facts of declarations that all agents of a program share. In Agent Script they hold in every
/// agent; in other dialects that depends on the agent's assignments.
#[derive(Debug, Default)]
pub(crate) struct SharedDeclarations {
    facts: Arc<Facts>,
    sources: Vec<FactSource>,
}

impl SharedDeclarations {
    pub(crate) fn new(cx: &ProgramSymbols<'_>) -> Self {
        let (mut facts, mut sources) = (Facts::new(), Vec::new());
        for variable in cx.variables.values() {
            let Some(ty) = variable.ty.as_ref().and_then(type_of) else { continue };
            let label = u32::try_from(sources.len()).ok().map(Label);
            sources.push(FactSource::at(variable.name.span, declared_as(ty)));
            facts.add(shared_variable(&variable.name), FactKind::Type(ty), label);
        }
        Self { facts: Arc::new(facts), sources }
    }
}

fn declared_as(ty: Type) -> String {
    format!("it is declared as {}", type_name(ty))
}

/// Returns a variable as Agent Script refers to it.
fn shared_variable(name: &Spanned<Name>) -> Path {
    let namespace = Some(Spanned::new(Name::new_static("variables"), name.span));
    Path { namespace, ..Path::variable(name.clone()) }
}

/// Returns the solver's type for a type name of a field, a variable or a result.
fn type_called(name: &str) -> Option<Type> {
    Some(match name {
        "string" | "text" | "free_text" | "str" | "email" | "phone" | "enum" | "pattern" => {
            Type::Text
        }
        "number" | "float" | "double" | "currency" | "decimal" => Type::Number,
        "integer" | "int" | "long" => Type::Integer,
        "boolean" | "bool" => Type::Bool,
        "date" | "datetime" => Type::Date,
        "array" | "list" => Type::List,
        "object" => Type::Object,
        _ => return None,
    })
}

fn type_of(ty: &TypeExpr) -> Option<Type> {
    match &ty.kind {
        TypeKind::Named(name) => type_called(&name.to_lowercase()),
        TypeKind::Array(_) => Some(Type::List),
        TypeKind::Object(_) => Some(Type::Object),
    }
}

fn type_of_parameter(ty: ParameterType) -> Option<Type> {
    Some(match ty {
        ParameterType::String => Type::Text,
        ParameterType::Number => Type::Number,
        ParameterType::Boolean => Type::Bool,
        ParameterType::Object => Type::Object,
        ParameterType::Array => Type::List,
        _ => return None,
    })
}

/// Returns the type of an assigned value, if it is obvious.
fn type_of_value(value: &Expr) -> Option<Type> {
    match &value.kind {
        ExprKind::Literal(Literal::String(_)) => Some(Type::Text),
        ExprKind::Literal(Literal::Number(n)) if n.fract() == 0.0 => Some(Type::Integer),
        ExprKind::Literal(Literal::Number(_)) => Some(Type::Number),
        ExprKind::Literal(Literal::Bool(_)) => Some(Type::Bool),
        ExprKind::List(_) => Some(Type::List),
        ExprKind::Object(_) => Some(Type::Object),
        _ => None,
    }
}

/// Whether a type is a subtype of another one.
fn is_a(value: Type, ty: Type) -> bool {
    value == ty || (value == Type::Integer && ty == Type::Number)
}

struct FactBuilder<'a, 'k> {
    facts: &'k mut Facts,
    sources: &'k mut Vec<FactSource>,
    /// The number of sources before the agent's own.
    before: usize,
    index: &'k AgentIndex<'a>,
    variables: &'k Variables<'a>,
    /// Assignments by variable.
    sets: FxHashMap<&'a str, Vec<&'a Expr>>,
    /// Variables that something other than an assignment writes.
    written: FxHashSet<&'a str>,
    /// Variables that other agents pass to this one.
    given: Option<&'k FxHashSet<&'a str>>,
}

impl VariableFacts {
    /// Collects the facts of an agent. `version` is that of its language, and `declared` are the
    /// facts that all agents of the program share, if it shares its variables.
    pub(crate) fn new(
        cx: &AgentSymbols<'_, '_>,
        version: Version,
        declared: Rc<SharedDeclarations>,
    ) -> Self {
        let dialect = cx.agent.metadata.dialect;
        let (mut facts, mut sources) = (Facts::extending(&declared.facts), Vec::new());
        let mut sets: FxHashMap<&str, Vec<&Expr>> = FxHashMap::default();
        for set in &cx.index.sets {
            sets.entry(&set.target.root.value).or_default().push(&set.value);
        }
        let written: FxHashSet<&str> =
            cx.index.writes.iter().map(|(name, _)| root(&name.value)).collect();
        let mut builder = FactBuilder {
            facts: &mut facts,
            sources: &mut sources,
            before: declared.sources.len(),
            index: cx.index,
            variables: cx.variables,
            sets,
            written,
            given: cx.program.passed.get(cx.agent.metadata.name.value.as_str()),
        };
        builder.system(dialect, version);
        builder.memory(cx);
        builder.fields(&cx.agent.entities);
        builder.results(cx);
        Self { dialect, facts: Arc::new(facts), own: sources, declared }
    }
}

impl VariableFacts {
    /// The number of sources.
    pub(super) fn source_count(&self) -> usize {
        self.declared.sources.len() + self.own.len()
    }

    /// Returns the source that a label refers to.
    pub(super) fn source(&self, label: usize) -> Option<&FactSource> {
        match label.checked_sub(self.declared.sources.len()) {
            Some(own) => self.own.get(own),
            None => self.declared.sources.get(label),
        }
    }

    /// Returns the facts.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Returns the enumerated values of a variable; empty if there is no enumeration.
    pub fn values(&self, path: &Path) -> Vec<Value> {
        let all = self.facts.get(path).iter();
        all.filter_map(|fact| match &fact.kind {
            FactKind::OneOf(values) => Some(values.clone()),
            _ => None,
        })
        .next()
        .unwrap_or_default()
    }

    /// Whether a variable is declared as a boolean.
    pub fn is_bool(&self, path: &Path) -> bool {
        self.facts.get(path).iter().any(|fact| fact.kind == FactKind::Type(Type::Bool))
    }

    /// Returns the sources that enumerate the values of a variable or declare it as a boolean.
    pub fn listed(&self, path: &Path) -> Vec<FactSource> {
        let all = self.facts.get(path).iter();
        all.filter(|fact| matches!(fact.kind, FactKind::OneOf(_) | FactKind::Type(Type::Bool)))
            .filter_map(|fact| self.source(fact.label?.0 as usize).cloned())
            .collect()
    }
}

fn root(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}

impl<'a> FactBuilder<'a, '_> {
    fn add(&mut self, path: Path, kind: FactKind, span: Option<Span>, message: impl Into<String>) {
        let message = message.into();
        let source = FactSource { span, message, ..FactSource::default() };
        let label = match self
            .sources
            .len()
            .checked_sub(1)
            .filter(|last| self.sources.get(*last) == Some(&source))
        {
            Some(at) => at,
            None => {
                self.sources.push(source);
                self.sources.len() - 1
            }
        };
        let label = u32::try_from(self.before + label).ok().map(Label);
        self.facts.add(path, kind, label);
    }

    /// Adds the facts about runtime variables, unless the author defines one of the same name.
    fn system(&mut self, dialect: Dialect, version: Version) {
        for name in dialect.runtime().said {
            if !self.sets.contains_key(*name) && !self.variables.defined.contains(*name) {
                let at = Path::dotted(name, Span::default());
                let message = format!("`{name}` is what the user has just said, a string");
                self.add(at, FactKind::Type(Type::Text), None, message);
            }
        }
        for variable in dialect.runtime().variables {
            let taken = self.sets.contains_key(root(variable.name))
                || (variable.authored_wins && self.variables.defined.contains(variable.name));
            if variable.name.contains('*') || variable.since > version || taken {
                continue;
            }
            let at = Path::dotted(variable.name, Span::default());
            let name = variable.name;
            if let Some(ty) = type_of_parameter(variable.ty) {
                let message = format!("`{name}` is set by the runtime and is {}", type_name(ty));
                self.add(at.clone(), FactKind::Type(ty), None, message);
            }
            if !variable.values.is_empty() {
                let values = variable.values.iter().map(|v| Value::from(*v)).collect();
                let all = variable.values.join("`, `");
                let message = format!("the runtime sets `{name}` to one of `{all}`");
                self.add(at, FactKind::OneOf(values), None, message);
            }
        }
    }

    /// Whether assignments and the user's answers are all that sets a variable.
    fn is_own(&self, name: &str) -> bool {
        !self.written.contains(name) && self.given.is_none_or(|given| !given.contains(name))
    }

    /// Whether all assignments to a variable have a type.
    fn has_only_type(&self, name: &str, ty: Type) -> bool {
        self.is_own(name)
            && self.sets.get(name).is_none_or(|all| {
                all.iter().all(|value| type_of_value(value).is_some_and(|found| is_a(found, ty)))
            })
    }

    /// Whether only the user's answers fill a variable.
    fn only_user_fills(&self, name: &str) -> bool {
        self.is_own(name) && !self.sets.contains_key(name)
    }

    fn memory(&mut self, cx: &AgentSymbols<'_, 'a>) {
        let shared = &cx.program.variables;
        let traits = cx.traits();
        // The types of shared variables have been added.
        let elsewhere = shared.values().copied().filter(|_| !traits.shared_variables);
        for variable in cx.agent.memory.session.iter().chain(elsewhere) {
            let Some(ty) = variable.ty.as_ref().and_then(type_of) else { continue };
            let name = &variable.name;
            let known = shared.get(name.value.as_str()).is_some_and(|v| v.name.span == name.span);
            let unsure = !traits.enforces_types && !self.has_only_type(&name.value, ty);
            if unsure || (traits.shared_variables && known) {
                continue;
            }
            let at = match traits.namespaced_references {
                true => shared_variable(name),
                false => Path::variable(name.clone()),
            };
            self.add(at, FactKind::Type(ty), Some(name.span), declared_as(ty));
        }
    }

    fn fields(&mut self, entities: &[Entity]) {
        let mut by_name: FxHashMap<&str, Vec<&'a GatherField>> = FxHashMap::default();
        for field in &self.index.fields {
            by_name.entry(&field.name.value).or_default().push(field);
        }
        let entities: FxHashMap<&str, &Entity> =
            entities.iter().map(|e| (e.name.value.as_str(), e)).collect();
        let mut names: Vec<_> = by_name.into_iter().collect();
        names.sort_unstable_by_key(|(name, _)| *name);
        for (_, all) in names {
            // A field that is collected in several steps combines their restrictions; those that say nothing take over
            // what the agent's own field says.
            let says = |field: &&&'a GatherField| {
                field.ty.is_some()
                    || field.entity_ref.is_some()
                    || field.validation.is_some()
                    || field.range.is_some()
                    || !field.enum_values.is_empty()
            };
            let own: Vec<&'a GatherField> = all.iter().filter(says).copied().collect();
            let (Some(field), None) = (own.first().or(all.first()).copied(), own.get(1)) else {
                continue;
            };
            let entity = field.entity_ref.as_ref().and_then(|e| entities.get(e.value.as_str()));
            self.field(field, entity.copied());
        }
    }

    fn field(&mut self, field: &'a GatherField, entity: Option<&Entity>) {
        let at = || Path::variable(field.name.clone());
        let name = field.name.value.as_str();
        let ty = field
            .ty
            .as_ref()
            .and_then(|ty| Some((type_called(&ty.value)?, ty.span)))
            .or_else(|| entity.and_then(|e| Some((type_called(e.ty)?, e.name.span))));
        if let Some((ty, span)) = ty
            && self.has_only_type(name, ty)
        {
            // A number that a model finds need not be whole.
            let ty = if ty == Type::Integer { Type::Number } else { ty };
            self.add(at(), FactKind::Type(ty), Some(span), format!("it is {}", type_name(ty)));
        }
        if !self.only_user_fills(name) {
            return;
        }
        let ty = ty.map(|(ty, _)| ty);
        let listed = [Some(field.enum_values.as_slice()), entity.map(|e| e.values.as_slice())];
        // A list has several of them, a default need not be one, and another list of them may count.
        let is_default = |values: &[Spanned<SmolStr>]| {
            let default = field.default.as_ref().map(|default| match default.as_str() {
                Some(text) => text.to_owned(),
                None => default.to_string(),
            });
            default.is_none_or(|default| values.iter().any(|v| v.value == default))
        };
        let is_list = field.list.is_some() || ty == Some(Type::List);
        for values in listed.into_iter().flatten() {
            if !is_list && is_default(values) && self.is_only_list(field, values) {
                self.listed(at(), values, ty);
            }
        }
        let listed_values = !field.enum_values.is_empty();
        let checks = [field.validation.as_ref(), entity.and_then(|e| e.validation.as_ref())];
        for validation in checks.into_iter().flatten() {
            self.validation(&at(), validation, ty, listed_values);
        }
        if let Some(Ok(range)) = field.own_range() {
            self.requirement(&at(), &range, field.name.span, ty, listed_values);
        }
        if let Some(pattern) = entity.and_then(|e| e.pattern.as_ref()) {
            self.pattern(at(), pattern);
        }
    }

    /// Whether no validation of a field lists other values.
    fn is_only_list(&self, field: &GatherField, values: &[Spanned<SmolStr>]) -> bool {
        let others =
            field.validation.iter().flat_map(|v| v.requirements(true).into_iter().flatten());
        others.into_iter().all(|requirement| match requirement {
            Requirement::OneOf(others) => {
                others.len() == values.len()
                    && others.iter().all(|one| values.iter().any(|v| v.value == *one))
            }
            _ => true,
        })
    }

    /// The possible values of a variable, as values of its type. What has no type may be kept as a number or as a text.
    fn listed(&mut self, at: Path, values: &[Spanned<SmolStr>], ty: Option<Type>) {
        let (Some(first), Some(last)) = (values.first(), values.last()) else { return };
        let number = |text: &str| text.trim().parse::<f64>().ok().map(Value::number);
        let boolean = |text: &str| match text.trim() {
            "true" | "True" => Some(Value::Bool(true)),
            "false" | "False" => Some(Value::Bool(false)),
            _ => None,
        };
        let value = |text: &str| match ty {
            Some(Type::Number | Type::Integer) => number(text)?.ok(),
            Some(Type::Bool) => boolean(text),
            Some(Type::Text) => Some(Value::from(text)),
            _ if number(text).is_some() || boolean(text).is_some() => None,
            _ => Some(Value::from(text)),
        };
        let Some(all) = values.iter().map(|v| value(&v.value)).collect() else { return };
        let span = first.span.to(last.span);
        self.add(at, FactKind::OneOf(all), Some(span), "these are its possible values");
    }

    fn pattern(&mut self, at: Path, pattern: &Spanned<SmolStr>) {
        let fact = FactKind::Pattern(pattern.value.clone());
        self.add(at, fact, Some(pattern.span), "its values match this pattern");
    }

    fn validation(&mut self, at: &Path, validation: &Validation, ty: Option<Type>, listed: bool) {
        // A rule that cannot be understood refuses all values.
        for requirement in validation.requirements(listed).into_iter().flatten() {
            self.requirement(at, &requirement, validation.rule.span, ty, listed);
        }
    }

    fn requirement(
        &mut self,
        at: &Path,
        requirement: &Requirement<'_>,
        span: Span,
        ty: Option<Type>,
        listed: bool,
    ) {
        match requirement {
            Requirement::Pattern(pattern) => {
                self.pattern(at.clone(), &Spanned::new(SmolStr::new(pattern), span));
            }
            // Lowering also creates a validation from an enumeration.
            Requirement::OneOf(values) if !listed => {
                let values: Vec<_> =
                    values.iter().map(|v| Spanned::new(SmolStr::new(v), span)).collect();
                self.listed(at.clone(), &values, ty);
            }
            Requirement::Range { least, most } => {
                // A range restricts numbers; for strings it restricts the length.
                let bound = match ty {
                    Some(Type::Number | Type::Integer) => Bound::Value,
                    _ => return,
                };
                for fact in [
                    least.map(|n| FactKind::AtLeast(bound, n)),
                    most.map(|n| FactKind::AtMost(bound, n)),
                ]
                .into_iter()
                .flatten()
                {
                    self.add(at.clone(), fact, Some(span), "its values are in this range");
                }
            }
            Requirement::OneOf(_) | Requirement::Email | Requirement::Phone | Requirement::Url => {}
        }
    }

    /// Adds the facts about tool results, under the names by which they are read.
    fn results(&mut self, cx: &AgentSymbols<'_, 'a>) {
        let mut named: FxHashMap<&str, Option<&'a ReturnType>> = FxHashMap::default();
        for call in &self.index.calls {
            let returns = cx.tool(&call.tool.value).and_then(|t| t.returns.as_ref());
            let mut give = |name: &'a str| {
                let known = named.entry(name).or_insert(returns);
                // Several results of different types under one name.
                if known.map(|r| &r.ty) != returns.map(|r| &r.ty) {
                    *known = None;
                }
            };
            if let Some(result) = &call.result {
                give(&result.value);
            }
            give(&call.tool.value);
        }
        let mut named: Vec<_> = named.into_iter().collect();
        named.sort_unstable_by_key(|(name, _)| *name);
        for (name, returns) in named {
            let Some(returns) = returns else { continue };
            if self.sets.contains_key(name) {
                continue;
            }
            for field in &returns.fields {
                let Some(ty) = type_of(&field.ty) else { continue };
                let mut at = Path::dotted(name, field.name.span);
                at.segments.push(Segment::Field(field.name.clone()));
                let message = format!("the tool returns {} here", type_name(ty));
                self.add(at, FactKind::Type(ty), Some(field.name.span), message);
            }
        }
        self.items(cx);
    }

    /// Adds the facts about the items of lists in results.
    fn items(&mut self, cx: &AgentSymbols<'_, 'a>) {
        let results = Results::new(cx);
        let mut items: Vec<_> = results.items().collect();
        items.sort_unstable_by_key(|(name, _)| *name);
        for (name, item) in items {
            let TypeKind::Object(fields) = &item.kind else { continue };
            for field in fields {
                let Some(ty) = type_of(&field.ty) else { continue };
                let mut at = Path::dotted(name, field.name.span);
                at.segments.push(Segment::Field(field.name.clone()));
                let message = format!("the items of the list have {} here", type_name(ty));
                self.add(at, FactKind::Type(ty), Some(field.name.span), message);
            }
        }
    }
}

/// Returns the name of a type with its article.
const fn type_name(ty: Type) -> &'static str {
    match ty {
        Type::Text => "a string",
        Type::Number => "a number",
        Type::Integer => "a whole number",
        Type::Bool => "`true` or `false`",
        Type::Date => "a date",
        Type::List => "a list",
        Type::Object => "an object",
    }
}

impl VariableFacts {
    /// Whether all values of a variable are enumerated.
    pub fn is_listed(&self, path: &Path) -> bool {
        let listed =
            |kind: &FactKind| matches!(kind, FactKind::OneOf(_) | FactKind::Type(Type::Bool));
        self.facts.get(path).iter().any(|fact| listed(&fact.kind))
    }
}
