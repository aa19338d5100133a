//! Declares the tools of programs that call functions in code, where that code was not given.

use agentir_expr::dialect::Tools;
use agentir_expr::{Dialect, Expr, ExprKind, Literal, Name, TypeExpr};
use agentir_ir::{Extensions, Node, Parameter, Program, ReturnType, Tool, ToolLibrary};
use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Declares tools that are called but not declared: functions in code that was not given. The parameters are taken
/// from the calls. What only a model calls is given what its agent collects (ADL, appendix B.1). `dialect` is that of the
/// library that declares what belongs to no agent.
pub fn declare_called_tools(program: &mut Program, dialect: Dialect) {
    let declared: FxHashSet<Name> = program.tools().map(|tool| tool.name.value.clone()).collect();
    let mut library: IndexMap<Name, Tool> = IndexMap::new();
    for agent in program.agents_mut() {
        let tools = agent.metadata.dialect.traits().tools;
        if tools != Tools::Functions || !agent.tools.is_empty() {
            continue;
        }
        let mut tools: IndexMap<Name, Tool> = IndexMap::new();
        let mut read: IndexSet<Name> = IndexSet::new();
        let mut paths = |e: &Expr| e.paths(&mut |p| read.extend([p.root.value.clone()]));
        agent.walk(&mut |node| {
            node.exprs(&mut paths);
            if let Node::Call(call) = node {
                let name = call.tool.value.clone();
                if declared.contains(&name) {
                    return;
                }
                let tool = tools.entry(name).or_insert_with(|| Tool::new(call.tool.clone()));
                for argument in &call.with {
                    let Some(name) = &argument.name else { continue };
                    if tool.parameters.iter().all(|p| p.name.value != name.value) {
                        let ty = TypeExpr::named(type_of(&argument.value), name.span);
                        tool.parameters.push(Parameter::new(name.clone(), Some(ty)));
                    }
                }
            }
        });
        for tool in tools.values_mut().filter(|tool| read.contains(&tool.name.value)) {
            tool.returns = Some(ReturnType::new(TypeExpr::named("object", tool.span)));
        }
        for name in agent.use_tools.iter().filter(|name| !declared.contains(&name.value)) {
            let tool = library.entry(name.value.clone()).or_insert_with(|| Tool::new(name.clone()));
            for field in &agent.gather.fields {
                if tool.parameters.iter().all(|p| p.name.value != field.name.value) {
                    let parameter = Parameter::new(field.name.clone(), None);
                    tool.parameters.push(Parameter { required: false, ..parameter });
                }
            }
        }
        // The model may call any declared tool; a flow does not.
        if agent.flow.is_some() {
            agent.tools = tools.into_values().collect();
        } else {
            tools.into_iter().for_each(|(name, tool)| {
                library.entry(name).or_insert(tool);
            });
        }
    }
    if let Some(span) = library.values().next().map(|tool| tool.span) {
        let tools = library.into_values().collect();
        let (imports, extensions) = (Vec::new(), Extensions::default());
        program.libraries.push(Arc::new(ToolLibrary {
            dialect,
            tools,
            imports,
            comments: Vec::new(),
            extensions,
            span,
        }));
    }
}

/// The type of a constant. Variables of such languages are untyped and hold the user's words.
const fn type_of(value: &Expr) -> &'static str {
    match &value.kind {
        ExprKind::Literal(Literal::Number(_)) => "number",
        ExprKind::Literal(Literal::Bool(_)) => "boolean",
        _ => "string",
    }
}
