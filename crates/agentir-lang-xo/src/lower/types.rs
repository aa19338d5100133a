//! Types and options of what tools are given, as the rest of the bot shows them: the fields that are asked for, the values
//! that are set, and what scripts do with what they read.

use crate::script::Use;
use agentir_diagnostics::Span;
use agentir_expr::{BinaryOp, Expr, ExprKind, Literal, Path, Segment, TypeExpr, TypeKind};
use agentir_ir::{Agent, GatherField, Node, ToolType};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

/// What a parameter is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Given {
    Type(&'static str),
    ListOf(&'static str),
}

impl Given {
    fn expr(self, span: Span) -> TypeExpr {
        match self {
            Self::Type(name) => TypeExpr::named(name, span),
            Self::ListOf(name) => {
                let item = Box::new(TypeExpr::named(name, span));
                TypeExpr { kind: TypeKind::Array(item), span }
            }
        }
    }
}

/// The type that a script shows of a value that it reads at `path`, of which `known` segments name the value.
pub(super) fn of_uses(uses: &[(Path, Use)], path: &Path, known: usize) -> Option<TypeExpr> {
    let mut found: Option<Given> = None;
    for (used, how) in uses {
        let whole = used.segments.get(..known);
        if used.root.value != path.root.value || whole != path.segments.get(..known) {
            continue;
        }
        let one = match used.segments.get(known..) {
            Some([Segment::Index(_), Segment::Field(_), ..]) => Some(Given::ListOf("object")),
            Some([Segment::Index(_)]) => of_use(*how).map(Given::ListOf),
            Some([Segment::Field(_), ..]) => Some(Given::Type("object")),
            Some([]) => of_use(*how).map(Given::Type),
            _ => None,
        };
        match (found, one) {
            (Some(found), Some(one)) if found != one => return None,
            (_, one) => found = found.or(one),
        }
    }
    found.map(|given| given.expr(path.root.span))
}

/// The type of a value that a script uses in one way. Whether something equals a number is asked of anything, and of the
/// items of a list nothing is known.
const fn of_use(how: Use) -> Option<&'static str> {
    match how {
        Use::Number => Some("number"),
        Use::Compared(
            BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual,
            _,
        ) => Some("number"),
        Use::Text => Some("string"),
        Use::Compared(..) | Use::List | Use::Any => None,
    }
}

/// The type of the constants that agents assign to a variable, if they are of one type.
pub(super) fn assigned(agents: &[Agent], name: &str) -> Option<&'static str> {
    let mut found = Some(None);
    for agent in agents {
        agent.walk(&mut |node| {
            if let Node::Set(set) = node
                && set.target.to_string() == name
                && let Some(known) = found
            {
                let one = constant(&set.value);
                found =
                    (one.is_some() && known.is_none_or(|known| Some(known) == one)).then_some(one);
            }
        });
    }
    found.flatten()
}

fn constant(value: &Expr) -> Option<&'static str> {
    match &value.kind {
        ExprKind::Literal(Literal::String(_)) => Some("string"),
        ExprKind::Literal(Literal::Number(_)) => Some("number"),
        ExprKind::Literal(Literal::Bool(_)) => Some("boolean"),
        ExprKind::Object(_) => Some("object"),
        _ => None,
    }
}

/// The type of a field's values, as tools have it. Of a field with several values, one may be taken for a list or not.
fn of_field(field: &GatherField) -> Option<Given> {
    if field.list.is_some() {
        return None;
    }
    // What is chosen from is a text.
    let ty = field.ty.as_ref().map_or("enum", |ty| ty.value.as_str());
    let ty = match ty {
        "number" | "integer" | "float" | "currency" => "number",
        "boolean" => "boolean",
        "date" => "date",
        "datetime" => "datetime",
        "object" | "attachment" => "object",
        _ => "string",
    };
    Some(Given::Type(ty))
}

/// Says of each parameter what the calls show: that it may be missing, and of those of scripts the type.
pub(super) fn parameters(agents: &mut [Agent]) {
    // By tool and parameter.
    let mut optional: FxHashSet<(SmolStr, SmolStr)> = FxHashSet::default();
    let mut types: FxHashMap<(SmolStr, SmolStr), Option<Given>> = FxHashMap::default();
    let mut lists: FxHashSet<(SmolStr, SmolStr)> = FxHashSet::default();
    for agent in agents.iter() {
        let mut fields: FxHashMap<&str, &GatherField> = FxHashMap::default();
        agent.walk(&mut |node| {
            if let Node::Field(field) = node {
                fields.entry(&field.name.value).or_insert(field);
            }
        });
        agent.walk(&mut |node| {
            let Node::Call(call) = node else { return };
            for argument in &call.with {
                let (Some(name), Some(path)) = (&argument.name, argument.value.as_path()) else {
                    continue;
                };
                let key = (call.tool.value.clone(), name.value.clone());
                let is_whole = path.segments.is_empty();
                let field = fields.get(path.root.value.as_str()).filter(|_| is_whole);
                if field.is_some_and(|field| field.list.is_some()) {
                    lists.insert(key.clone());
                }
                if field.is_some_and(|field| !field.required) {
                    optional.insert(key.clone());
                }
                let given = match path.root.value.as_str() {
                    // The environment holds texts.
                    "env" => Some(Given::Type("string")),
                    name => field.and_then(|field| of_field(field)).or_else(|| {
                        let known = agent.memory.session.iter().find(|v| v.name.value == name)?;
                        let is_number = known.ty.as_ref()?.to_string() == "number";
                        (is_whole && is_number).then_some(Given::Type("number"))
                    }),
                };
                types
                    .entry(key)
                    .and_modify(|known| *known = known.filter(|known| Some(*known) == given))
                    .or_insert(given);
            }
        });
    }
    for tool in agents.iter_mut().flat_map(|agent| &mut agent.tools) {
        let is_script = tool.tool_type == Some(ToolType::Sandbox);
        for parameter in &mut tool.parameters {
            let key = (tool.name.value.clone(), parameter.name.value.clone());
            parameter.required &= !optional.contains(&key);
            let shown = types.get(&key).copied().flatten().filter(|_| is_script);
            if let Some(given) = shown {
                parameter.ty = Some(given.expr(parameter.name.span));
            } else if lists.contains(&key) && is_script {
                parameter.ty = None;
            }
        }
    }
}
