//! The names of a program, and of the runtime, that may be written at an offset.

use agentir_analysis::references::{References, Scope, Symbol, SymbolId, SymbolKind};
use agentir_diagnostics::{FileId, Span};
use agentir_expr::dialect::{Functions, ReferenceSpace, Referent, Tools, Traits};
use agentir_expr::{
    Dialect, ExprKind, Function, METHODS_SOURCE, Path, Scope as FunctionScope, Segment, TypeExpr,
    TypeKind, Version, functions, methods,
};
use agentir_flow::cfg::AgentId;
use agentir_ir::{Agent, Node, Program, Requirement, Tool, WriteUse};
use agentir_syntax::context::{Context, Expected, ExpectedKind, NameKind, Shape};
use agentir_syntax::docs::Doc;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

/// The names around an offset.
pub(super) struct Names<'a> {
    program: &'a Program,
    references: &'a References,
    file: FileId,
    offset: u32,
    /// The agents that the offset may belong to: one, but for files that agents share.
    agents: Vec<(AgentId, &'a Agent)>,
    dialect: Dialect,
    version: Version,
}

impl<'a> Names<'a> {
    pub(super) fn new(
        program: &'a Program,
        references: &'a References,
        versions: &[Version],
        file: FileId,
        offset: u32,
    ) -> Self {
        let agents = agents_at(program, file, offset);
        let first = agents.first().copied();
        let dialect = first.map_or_else(|| program.dialect(), |(_, agent)| agent.metadata.dialect);
        let version = first.and_then(|(id, _)| versions.get(id.index())).copied();
        let version = version.unwrap_or(Version::Newest);
        Self { program, references, file, offset, agents, dialect, version }
    }

    /// The agents that the offset may belong to.
    pub(super) fn agents(&self) -> &[(AgentId, &'a Agent)] {
        &self.agents
    }

    pub(super) fn symbol(&self, id: SymbolId) -> Option<&'a Symbol> {
        self.references.symbol(id)
    }

    /// The names that may be written in a place.
    pub(super) fn expected(&self, context: &Context) -> Vec<Expected> {
        let mut all = Vec::new();
        let qualifier = context.qualifier.as_deref();
        if let Some(namespaces) = references_of(context) {
            self.references(namespaces, qualifier, context, &mut all);
        }
        match qualifier {
            None => {
                context.names().for_each(|kind| self.of_kind(kind, context, &mut all));
                if context.shapes.contains(&Shape::Type) {
                    self.of_kind(NameKind::Entity, context, &mut all);
                }
                if context.takes_expression() {
                    self.roots(context, &mut all);
                }
                if let Some(path) = &context.compared {
                    self.values(path, context, &mut all);
                }
            }
            Some(path) if !path.starts_with('@') => {
                self.paths_below(path, &mut all);
                if context.takes_expression() {
                    self.members(path, context, &mut all);
                }
            }
            Some(_) => {}
        }
        all.sort_by(|a, b| (a.kind, &a.label).cmp(&(b.kind, &b.label)));
        all
    }

    const fn traits(&self) -> &'static Traits {
        self.dialect.traits()
    }

    // ---- symbols -------------------------------------------------------------------------------

    /// The symbols of a kind that are visible here and that something defines, which the word at the offset does not.
    fn symbols(&self, kind: SymbolKind) -> impl Iterator<Item = (SymbolId, &'a Symbol)> {
        let references = self.references;
        let visible = move |scope: Scope| match scope {
            Scope::Program => true,
            Scope::Agent(id) => self.agents.iter().any(|(own, _)| *own == id),
            Scope::Symbol(_) => false,
        };
        references.symbols().filter(move |(id, symbol)| {
            symbol.kind == kind && visible(symbol.scope) && self.is_defined(*id)
        })
    }

    fn is_defined(&self, symbol: SymbolId) -> bool {
        self.references.definitions(symbol).iter().any(|span| !self.is_here(*span))
    }

    /// Whether a span holds the offset.
    const fn is_here(&self, span: Span) -> bool {
        span.file.0 == self.file.0 && span.start <= self.offset && self.offset <= span.end
    }

    /// The symbols that belong to a tool.
    fn of_tool(&self, tool: &str, kind: SymbolKind) -> Vec<&'a Symbol> {
        let tool = self.symbols(SymbolKind::Tool).find(|(_, symbol)| symbol.name == tool);
        let Some((tool, _)) = tool else { return Vec::new() };
        let below = |symbol: &&Symbol| symbol.kind == kind && symbol.scope == Scope::Symbol(tool);
        let references = self.references;
        // What functions in code return is known by what others read of it.
        let is_open = kind == SymbolKind::ResultField && self.traits().tools == Tools::Functions;
        let is_known = |id: SymbolId| {
            self.is_defined(id)
                || (is_open && references.occurrences(id).any(|one| !self.is_here(one.span)))
        };
        let all = references.symbols().filter(|(id, _)| is_known(*id));
        all.map(|(_, symbol)| symbol).filter(below).collect()
    }

    /// The agent of a name, which may be one that only the agents here have for it.
    pub(super) fn agent(&self, name: &str) -> Option<(AgentId, &'a Agent)> {
        let known = self.agents.iter().flat_map(|(_, agent)| &agent.available_agents);
        let mut known = known.filter(|known| known.alias.value == name);
        let name = known.find_map(|known| known.agent.as_ref()).map_or(name, |agent| &agent.value);
        let program = self.program;
        (0..).map(AgentId).zip(program.agents()).find(|(_, a)| a.metadata.name.value == name)
    }

    /// The variables that something in an agent defines.
    fn variables_of(&self, agent: AgentId) -> impl Iterator<Item = &'a Symbol> {
        let references = self.references;
        let all = references.symbols().filter(move |(id, symbol)| {
            symbol.kind == SymbolKind::Variable
                && symbol.scope == Scope::Agent(agent)
                && self.is_defined(*id)
        });
        all.map(|(_, symbol)| symbol)
    }

    fn of_kind(&self, kind: NameKind, context: &Context, all: &mut Vec<Expected>) {
        let symbol = match kind {
            NameKind::Agent => {
                self.aliases(all);
                SymbolKind::Agent
            }
            NameKind::Variable => return self.variables(context, all),
            NameKind::Step => SymbolKind::Step,
            NameKind::Tool => SymbolKind::Tool,
            NameKind::Parameter | NameKind::ResultField => {
                return self.parts_of_tool(kind, context.tool.as_ref(), context, all);
            }
            NameKind::Template => SymbolKind::Template,
            NameKind::Profile => SymbolKind::Profile,
            NameKind::Entity => SymbolKind::Entity,
            NameKind::LookupTable => SymbolKind::LookupTable,
        };
        let is_given = |name: &SmolStr| kind == NameKind::Agent && context.given.contains(name);
        let symbols = self.symbols(symbol).filter(|(_, symbol)| !is_given(&symbol.name));
        all.extend(symbols.map(|(_, symbol)| {
            let shape = match kind {
                NameKind::Tool => self.tool(&symbol.name).map(signature),
                _ => None,
            };
            let shape = shape.unwrap_or_else(|| kind.noun().to_owned());
            Expected::word(ExpectedKind::Name(kind), symbol.name.clone(), shape)
        }));
    }

    /// The names that an agent has for others.
    fn aliases(&self, all: &mut Vec<Expected>) {
        let known = self.agents.iter().flat_map(|(_, agent)| &agent.available_agents);
        let known = known.filter(|known| !self.is_here(known.span));
        all.extend(known.map(|known| {
            let name = known.alias.value.clone();
            let shape = match &known.agent {
                Some(agent) if agent.value != name => format!("the agent `{}`", agent.value),
                _ => "agent".to_owned(),
            };
            Expected::word(ExpectedKind::Name(NameKind::Agent), name, shape)
        }));
    }

    fn variables(&self, context: &Context, all: &mut Vec<Expected>) {
        // What is not an expression is written to.
        let is_target = !context.takes_expression();
        let types = self.types();
        for (_, symbol) in self.symbols(SymbolKind::Variable) {
            if is_target && self.is_linked(&symbol.name) {
                continue;
            }
            let shape = types.get(symbol.name.as_str()).map_or("variable", String::as_str);
            let kind = ExpectedKind::Name(NameKind::Variable);
            all.push(Expected::word(kind, symbol.name.clone(), shape));
        }
    }

    /// Parameters, or fields of the result, of the tool that is called.
    fn parts_of_tool(
        &self,
        kind: NameKind,
        tool: Option<&SmolStr>,
        context: &Context,
        all: &mut Vec<Expected>,
    ) {
        let Some(name) = tool else { return };
        let tool = self.tool(name);
        if tool.is_none()
            && let Some((id, agent)) = self.agent(name)
        {
            let arguments = agent.gather.fields.iter().map(|field| field.name.value.clone());
            // Others take and give values of variables.
            let others = (!self.traits().arguments_are_variables).then(|| self.variables_of(id));
            let others = others.into_iter().flatten().map(|symbol| symbol.name.clone());
            let names = arguments.chain(others).filter(|name| !context.given.contains(name));
            let shape = match self.traits().arguments_are_variables {
                true => "argument of the agent",
                false => "variable of the agent",
            };
            all.extend(names.map(|name| Expected::word(ExpectedKind::Name(kind), name, shape)));
            return;
        }
        let symbol = match kind {
            NameKind::Parameter => SymbolKind::Parameter,
            _ => SymbolKind::ResultField,
        };
        for part in self.of_tool(name, symbol) {
            if context.given.contains(&part.name) {
                continue;
            }
            let parameter =
                tool.and_then(|t| t.parameters.iter().find(|p| p.name.value == part.name));
            let field = tool.and_then(|tool| tool.returns.as_ref()).and_then(|returns| {
                returns.fields.iter().find(|field| field.name.value == part.name)
            });
            let ty = match kind {
                NameKind::Parameter => parameter.and_then(|p| p.ty.as_ref()),
                _ => field.map(|field| &field.ty),
            };
            let shape = ty.map_or_else(|| kind.noun().to_owned(), TypeExpr::to_string);
            let required = kind == NameKind::Parameter
                && parameter.is_some_and(agentir_analysis::calls::is_required);
            let one = Expected::word(ExpectedKind::Name(kind), part.name.clone(), shape);
            all.push(Expected { required, ..one });
        }
    }

    // ---- what is declared ----------------------------------------------------------------------

    /// The agents whose declarations hold here: all, where they share variables.
    pub(super) fn declaring(&self) -> impl Iterator<Item = &'a Agent> {
        let everyone = self.traits().shared_variables.then(|| self.program.agents());
        self.agents.iter().map(|(_, agent)| *agent).chain(everyone.into_iter().flatten())
    }

    fn tools(&self) -> impl Iterator<Item = &'a Tool> {
        let program = self.program;
        let own = self.agents.iter().flat_map(|(_, agent)| &agent.tools);
        let profiles = self.agents.iter().flat_map(move |(_, agent)| {
            let used = program.profiles().filter(|profile| {
                agent.use_behavior_profiles.iter().any(|name| name.value == profile.name.value)
            });
            agent.behavior_profiles.iter().chain(used).flat_map(|profile| &profile.tools_add)
        });
        own.chain(profiles).chain(program.libraries.iter().flat_map(|library| &library.tools))
    }

    pub(super) fn tool(&self, name: &str) -> Option<&'a Tool> {
        self.tools().find(|tool| tool.name.value == name)
    }

    fn is_linked(&self, name: &str) -> bool {
        let mut declared = self.declaring().flat_map(|agent| &agent.memory.session);
        declared.any(|v| v.name.value == name && v.mutability == Some("linked"))
    }

    /// The declared type of a variable.
    fn declared_type(&self, name: &str) -> Option<&'a TypeExpr> {
        self.declaring().find_map(|agent| {
            let memory = &agent.memory;
            let session = memory.session.iter().map(|v| (&v.name, &v.ty));
            let state = memory.state.iter().map(|v| (&v.name, &v.ty));
            let persistent = memory.persistent.iter().map(|v| (&v.path, &v.ty));
            let mut all = session.chain(state).chain(persistent);
            all.find(|(own, _)| own.value == name).and_then(|(_, ty)| ty.as_ref())
        })
    }

    /// The types of variables, in words.
    pub(super) fn types(&self) -> FxHashMap<&'a str, String> {
        let mut types = FxHashMap::default();
        for agent in self.declaring() {
            let memory = &agent.memory;
            let session = memory.session.iter().map(|v| (&v.name, &v.ty));
            let state = memory.state.iter().map(|v| (&v.name, &v.ty));
            let persistent = memory.persistent.iter().map(|v| (&v.path, &v.ty));
            for (name, ty) in session.chain(state).chain(persistent) {
                if let Some(ty) = ty {
                    types.entry(name.value.as_str()).or_insert_with(|| ty.to_string());
                }
            }
        }
        for (_, agent) in &self.agents {
            agent.walk(&mut |node| {
                if let Node::Field(field) = node
                    && let Some(ty) = &field.ty
                {
                    let name = field.name.value.as_str();
                    types.entry(name).or_insert_with(|| ty.value.to_string());
                }
            });
        }
        types
    }

    /// The tool whose result a name stands for: under its own name, or that of a call's result.
    fn tool_of_result(&self, name: &str) -> Option<&'a Tool> {
        let mut called = None;
        for (_, agent) in &self.agents {
            agent.walk(&mut |node| {
                if let Node::Call(call) = node
                    && call.result.as_ref().is_some_and(|result| result.value == name)
                {
                    called.get_or_insert(&call.tool.value);
                }
            });
        }
        self.tool(called.map_or(name, |tool| tool.as_str()))
    }

    // ---- expressions ---------------------------------------------------------------------------

    /// What an expression may begin with.
    fn roots(&self, context: &Context, all: &mut Vec<Expected>) {
        self.functions(all);
        // References say what they refer to.
        if self.traits().namespaced_references {
            return;
        }
        let kind = ExpectedKind::Name(NameKind::Variable);
        let types = self.types();
        for (_, symbol) in self.symbols(SymbolKind::Variable) {
            let shape = types.get(symbol.name.as_str()).map_or("variable", String::as_str);
            all.push(Expected::word(kind, symbol.name.clone(), shape));
        }
        if self.traits().reads_other_agents {
            all.extend(self.symbols(SymbolKind::Agent).map(|(_, symbol)| {
                let kind = ExpectedKind::Name(NameKind::Agent);
                let insert = format!("{}.", symbol.name);
                Expected::word(kind, symbol.name.clone(), "agent").inserting(insert)
            }));
        }
        // What functions in code return is not known.
        let is_open = self.traits().tools == Tools::Functions;
        let results = self.tools().filter(|tool| is_open || tool.returns.is_some());
        all.extend(results.map(|tool| {
            let kind = ExpectedKind::Name(NameKind::Tool);
            let insert = format!("{}.", tool.name.value);
            Expected::word(kind, tool.name.value.clone(), "result of the tool").inserting(insert)
        }));
        if self.called(context).is_some() {
            let kind = ExpectedKind::SystemVariable;
            let one = Expected::word(kind, RESULT, "what the tool returned");
            all.push(one.inserting(format!("{RESULT}.")));
        }
        for variable in self.system_variables() {
            let (root, member) = variable.split_once('.').unwrap_or((variable, ""));
            if !all.iter().any(|one| one.label == root) {
                let shape = if member.is_empty() { self.assigned(variable) } else { "" };
                all.push(Expected::word(ExpectedKind::SystemVariable, root, shape));
            }
        }
        let namespaces = self.dialect.runtime().namespaces.iter();
        all.extend(namespaces.filter(|space| self.version >= space.since).map(|space| {
            let one = Expected::word(ExpectedKind::Namespace, space.name, space.holds);
            one.inserting(format!("{}.", space.name))
        }));
    }

    fn functions(&self, all: &mut Vec<Expected>) {
        let mut push = |name: &str, signature: String, doc: Doc| {
            let one = Expected::word(ExpectedKind::Function, name, signature);
            all.push(one.inserting(format!("{name}(")).documented(doc));
        };
        match self.dialect.functions() {
            Functions::Listed(names) => {
                names.iter().for_each(|name| push(name, format!("{name}(…)"), Doc::default()))
            }
            Functions::Library => {
                let everywhere = |f: &&Function| {
                    f.scope == FunctionScope::Everywhere && f.exists_in(self.version)
                };
                functions()
                    .iter()
                    .filter(everywhere)
                    .for_each(|f| push(f.name, f.signature(), (f.summary, f.source)));
            }
        }
    }

    /// The variables that the runtime assigns, without those whose name varies.
    fn system_variables(&self) -> impl Iterator<Item = &'static str> {
        let known = self.dialect.runtime().variables.iter();
        let version = self.version;
        known.filter(move |v| version >= v.since).map(|v| v.name).filter(|name| !name.contains('*'))
    }

    fn assigned(&self, name: &str) -> &'static str {
        let found = self.dialect.runtime().variables.iter().find(|v| v.name == name);
        found.map_or("", |variable| variable.assigned)
    }

    /// The rest of names with dots in them: of persistent memory, and of the runtime.
    fn paths_below(&self, path: &str, all: &mut Vec<Expected>) {
        let below = |name: &str| {
            let rest = name.strip_prefix(path)?.strip_prefix('.')?;
            rest.split('.').next().map(str::to_owned)
        };
        for (_, symbol) in self.symbols(SymbolKind::Variable) {
            if let Some(rest) = below(&symbol.name) {
                let shape = self.declared_type(&symbol.name).map(TypeExpr::to_string);
                all.push(Expected::word(ExpectedKind::Member, rest, shape.unwrap_or_default()));
            }
        }
        for name in self.system_variables() {
            if let Some(rest) = below(name) {
                let shape = self.assigned(name);
                all.push(Expected::word(ExpectedKind::SystemVariable, rest, shape));
            }
        }
    }

    /// The members of a value.
    fn members(&self, path: &str, context: &Context, all: &mut Vec<Expected>) {
        let root = path.split('.').next().unwrap_or_default();
        let agent = self.agent(root).filter(|_| self.traits().reads_other_agents);
        if let Some((agent, _)) = agent {
            let kind = ExpectedKind::Name(NameKind::Variable);
            let names = self.variables_of(agent).map(|symbol| symbol.name.clone());
            all.extend(names.map(|name| Expected::word(kind, name, "variable")));
            return;
        }
        let path = Segments::of(path);
        if let Some(TypeKind::Object(fields)) =
            self.type_at(&path, context, MAX_ASSIGNMENTS).map(|ty| &ty.kind)
        {
            all.extend(fields.iter().map(|field| {
                let shape = field.ty.to_string();
                Expected::word(ExpectedKind::Member, field.name.value.clone(), shape)
            }));
        } else if path.rest.is_empty() {
            // What code returns has no type, but others may have read its fields.
            let tool = self.called(context).filter(|_| path.root == RESULT);
            let tool = tool.or_else(|| self.tool_of_result(path.root));
            let fields = tool.map(|tool| self.of_tool(&tool.name.value, SymbolKind::ResultField));
            all.extend(
                fields
                    .into_iter()
                    .flatten()
                    .map(|field| Expected::word(ExpectedKind::Member, field.name.clone(), "")),
            );
        }
        if matches!(self.dialect.functions(), Functions::Library) {
            all.extend(methods().iter().map(|method| {
                let one = Expected::word(ExpectedKind::Function, method.name, method.signature());
                one.inserting(format!("{}(", method.name))
                    .documented((method.summary, METHODS_SOURCE))
            }));
        }
    }

    /// The tool whose result the runtime calls `result` here.
    fn called(&self, context: &Context) -> Option<&'a Tool> {
        let has_result = self.dialect.runtime().lists(RESULT);
        self.tool(context.result_of.as_deref().filter(|_| has_result)?)
    }

    /// The type of a part of a value: as it is declared, as its tool returns it, or that of what is assigned to it,
    /// which may itself be assigned so many times.
    fn type_at(
        &self,
        path: &Segments<'_>,
        context: &Context,
        assignments: usize,
    ) -> Option<&'a TypeExpr> {
        let returned = |tool: &'a Tool| tool.returns.as_ref().map(|returns| &returns.ty);
        let root = self
            .declared_type(path.root)
            .or_else(|| self.called(context).filter(|_| path.root == RESULT).and_then(returned))
            .or_else(|| self.tool_of_result(path.root).and_then(returned))
            .or_else(|| self.assigned_type(path.root, context, assignments.checked_sub(1)?));
        path.rest.iter().try_fold(root?, |ty, part| part_of(ty, *part))
    }

    /// The type of what is first assigned to a variable, or of the items that it stands for, if that is a part of
    /// another value.
    fn assigned_type(
        &self,
        name: &str,
        context: &Context,
        assignments: usize,
    ) -> Option<&'a TypeExpr> {
        let mut value: Option<(&'a Path, bool)> = None;
        for (_, agent) in &self.agents {
            let mut source = None;
            agent.walk(&mut |node| match node {
                Node::Expr(expr) => source = Some(expr),
                Node::Set(set)
                    if set.target.root.value == name && set.target.segments.is_empty() =>
                {
                    if let ExprKind::Path(path) = &set.value.kind {
                        value.get_or_insert((path, false));
                    }
                }
                // The list is visited before the name of its items.
                Node::Writes(item, WriteUse::TransformItem) if item.value == name => {
                    if let Some(ExprKind::Path(path)) = source.map(|expr| &expr.kind) {
                        value.get_or_insert((path, true));
                    }
                }
                _ => {}
            });
        }
        let (value, is_item) = value?;
        let rest = value.segments.iter().map(|segment| match segment {
            Segment::Field(name) => Some(Some(name.value.as_str())),
            Segment::Index(_) => Some(None),
            _ => None,
        });
        let mut rest = rest.collect::<Option<Vec<_>>>()?;
        if is_item {
            rest.push(None);
        }
        let path = Segments { root: &value.root.value, rest };
        self.type_at(&path, context, assignments)
    }

    /// The texts that a variable may be: those of its field or entity, and those that the runtime assigns.
    fn values(&self, path: &str, context: &Context, all: &mut Vec<Expected>) {
        let name = path.rsplit_once('@').map_or(path, |(_, reference)| {
            reference.split_once('.').map_or(reference, |(_, name)| name)
        });
        let mut texts: Vec<&str> = Vec::new();
        for agent in self.declaring() {
            let entities = || agent.entities.iter();
            agent.walk(&mut |node| {
                let Node::Field(field) = node else { return };
                if field.name.value != name {
                    return;
                }
                let entity = field.entity_ref.as_ref();
                let entity =
                    entities().find(|one| entity.is_some_and(|e| e.value == one.name.value));
                let listed = entity.into_iter().flat_map(|entity| &entity.values);
                texts.extend(field.enum_values.iter().chain(listed).map(|one| one.value.as_str()));
                let required = field.validation.iter().filter_map(|v| v.requirements(true).ok());
                texts.extend(required.flatten().flat_map(|requirement| match requirement {
                    Requirement::OneOf(values) => values,
                    _ => Vec::new(),
                }));
            });
        }
        let known = self.dialect.runtime().variables.iter().filter(|v| self.version >= v.since);
        texts.extend(known.filter(|v| v.name == path).flat_map(|v| v.values));
        // Within quotes, a value is written without them.
        let is_quoted = !context.takes_expression();
        all.extend(texts.into_iter().map(|text| {
            let written = if is_quoted { text.to_owned() } else { format!("\"{text}\"") };
            Expected::word(ExpectedKind::Value, written, format!("value of {path}"))
        }));
    }

    // ---- references with namespaces ------------------------------------------------------------

    fn references(
        &self,
        namespaces: &[&'static str],
        qualifier: Option<&str>,
        context: &Context,
        all: &mut Vec<Expected>,
    ) {
        let Some(qualifier) = qualifier else {
            all.extend(self.namespaces(namespaces, context).map(|name| {
                let one = Expected::word(ExpectedKind::Namespace, format!("@{name}"), "");
                one.inserting(format!("@{name}."))
            }));
            return;
        };
        let Some(namespace) = qualifier.strip_prefix('@') else { return };
        if namespace.is_empty() {
            all.extend(self.namespaces(namespaces, context).map(|name| {
                let one = Expected::word(ExpectedKind::Namespace, name, "");
                one.inserting(format!("{name}."))
            }));
            return;
        }
        if !self.namespaces(namespaces, context).any(|name| name == namespace) {
            return;
        }
        match namespace {
            "variables" => self.variables(context, all),
            "actions" => {
                let before = all.len();
                self.of_kind(NameKind::Tool, context, all);
                // Texts mention the tools of the model, whose names run nothing.
                if !context.takes_expression() {
                    let mut at = 0;
                    all.retain(|one| {
                        at += 1;
                        at <= before || self.tool(&one.label).is_some()
                    });
                }
            }
            "outputs" => {
                let tool = context.result_of.as_ref();
                self.parts_of_tool(NameKind::ResultField, tool, context, all);
            }
            _ => {
                let known = self.dialect.runtime().reference(namespace);
                let members = known.and_then(|space| space.members).unwrap_or_default();
                let member = |name: &&'static str| Expected::word(ExpectedKind::Member, *name, "");
                all.extend(members.iter().map(member));
            }
        }
    }

    /// The namespaces that may be written; of those that can be read, if none are given.
    fn namespaces(
        &self,
        allowed: &[&'static str],
        context: &Context,
    ) -> impl Iterator<Item = &'static str> {
        // Agents have no values.
        let readable =
            |space: &&ReferenceSpace| matches!(space.holds, Referent::Program | Referent::Platform);
        let known = self.dialect.runtime().references.iter().filter(readable).map(|s| s.name);
        let names: Vec<&str> = if allowed.is_empty() { known.collect() } else { allowed.to_vec() };
        // Outputs are those of an action that was called.
        let has_outputs = context.result_of.is_some();
        names.into_iter().filter(move |name| *name != "outputs" || has_outputs)
    }
}

/// The namespaces of the references that may be written; empty if any.
fn references_of(context: &Context) -> Option<&'static [&'static str]> {
    context.shapes.iter().find_map(|shape| match shape {
        Shape::Reference(namespaces) => Some(*namespaces),
        _ => None,
    })
}

/// The agents that an offset may belong to.
fn agents_at(program: &Program, file: FileId, offset: u32) -> Vec<(AgentId, &Agent)> {
    let all = || (0..).map(AgentId).zip(program.agents());
    let here = || all().filter(|(_, agent)| agent.metadata.name.span.file == file);
    let holds = |agent: &Agent| agent.span.start <= offset && offset <= agent.span.end;
    let around = here()
        .filter(|(_, agent)| holds(agent))
        .min_by_key(|(_, agent)| agent.span.end - agent.span.start);
    let before = || {
        here()
            .filter(|(_, agent)| agent.span.start <= offset)
            .max_by_key(|(_, agent)| agent.span.start)
    };
    match around.or_else(before).or_else(|| here().next()) {
        Some(one) => vec![one],
        None => all().collect(),
    }
}

/// The name that the runtime gives what a tool returned, in what follows the call.
const RESULT: &str = "result";

/// The number of assignments that the type of a variable is looked up through.
const MAX_ASSIGNMENTS: usize = 4;

/// A path, as it is written: its root, and the names of members, or `None` for items of lists.
struct Segments<'p> {
    root: &'p str,
    rest: Vec<Option<&'p str>>,
}

impl<'p> Segments<'p> {
    fn of(path: &'p str) -> Self {
        let mut all = path.split('.').flat_map(|name| {
            let (name, items) = name
                .split_once('[')
                .map_or((name, 0), |(name, rest)| (name, rest.matches('[').count() + 1));
            std::iter::once(Some(name)).chain(std::iter::repeat_n(None, items))
        });
        let root = all.next().flatten().unwrap_or_default();
        Self { root, rest: all.collect() }
    }
}

/// The type of a member of an object, or of the items of a list.
fn part_of<'a>(ty: &'a TypeExpr, part: Option<&str>) -> Option<&'a TypeExpr> {
    match (&ty.kind, part) {
        (TypeKind::Object(fields), Some(name)) => {
            fields.iter().find(|field| field.name.value == name).map(|field| &field.ty)
        }
        (TypeKind::Array(item), None) => Some(item),
        _ => None,
    }
}

/// What a tool takes and gives: `(title: string, branch?: string) -> {copy_id: string}`.
pub(crate) fn signature(tool: &Tool) -> String {
    let parameters: Vec<String> = tool
        .parameters
        .iter()
        .map(|parameter| {
            let mark = if agentir_analysis::calls::is_required(parameter) { "" } else { "?" };
            let name = &parameter.name.value;
            match &parameter.ty {
                Some(ty) => format!("{name}{mark}: {ty}"),
                None => format!("{name}{mark}"),
            }
        })
        .collect();
    let returns = tool.returns.as_ref().map(|returns| format!(" -> {}", returns.ty));
    format!("({}){}", parameters.join(", "), returns.unwrap_or_default())
}
