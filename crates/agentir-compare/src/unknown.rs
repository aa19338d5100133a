//! What no comparison looks at.

use crate::Side;
use crate::prover::Prover;
use crate::values::{Values, segments};

use agentir_diagnostics::Span;
use agentir_expr::dialect::Tools;
use agentir_expr::{Dialect, Expr, ExprKind, Piece, Template, TemplatePart, Visit};
use agentir_ir::{Node, Program, Tool, ToolLibrary};
use agentir_ir_json::shared_expression;
use agentir_solver::{FactKind, Type};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Something that was not compared, by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NotCompared {
    /// What.
    pub what: Unknown,
    /// The tools, agents or languages.
    pub names: Vec<String>,
}

/// A kind of what is not compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unknown {
    /// What tools do whose declarations differ. Tools that are declared alike are the same tools.
    Tools,
    /// What functions in code do, if their code is not the same: nothing but their signatures is in a program.
    Code,
    /// What a model makes of texts that differ.
    Prompts,
    /// What expressions give that both languages have, but do not compute alike, and where they cannot be evaluated.
    Evaluation,
    /// What placeholders are in a text whose values may be none that both languages write alike.
    Rendering,
    /// Whether the import of a language that nobody writes read the program as its platform would.
    Import,
}

impl Unknown {
    /// The kind in a sentence, before the names.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Tools => "what tools do that are declared otherwise:",
            Self::Code => "the bodies of functions:",
            Self::Prompts => "what a model makes of texts that differ, of the agents",
            Self::Evaluation => {
                "whether both languages compute the same, also where something cannot be evaluated:"
            }
            Self::Rendering => "how truth values and what is not set are written in a text:",
            Self::Import => "whether the import understood the program as its platform does:",
        }
    }
}

/// Fields of agents that only a model reads.
const PROMPTS: &[&str] = &[
    "coordination",
    "execution",
    "gather",
    "identity",
    "knowledge",
    "policies",
    "reasoning",
    "templates",
];

/// The dialects of two programs, if those do not compute alike.
fn unlike(left: &Program, right: &Program) -> Option<[Dialect; 2]> {
    let both = [left.dialect(), right.dialect()];
    let [one, other] = both;
    (!one.computes_like(other)).then_some(both)
}

/// Whether languages may make different values of an expression: anything but a constant, a variable, and lists and
/// objects of these.
fn is_computed(expr: &Expr) -> bool {
    let mut computed = false;
    expr.visit(&mut |part| {
        computed |= match &part.kind {
            ExprKind::Literal(_) | ExprKind::List(_) | ExprKind::Object(_) => false,
            ExprKind::Path(path) => !path.segments.is_empty(),
            _ => true,
        };
        Visit::Children
    });
    computed
}

/// What both languages have: the text of the first that is also in the second.
fn in_both(left: BTreeSet<String>, right: &BTreeSet<String>) -> impl Iterator<Item = String> {
    left.into_iter().filter(|text| right.contains(text))
}

/// The expressions of a program whose values languages compute in their own ways. Conditions are proved.
fn computed(program: &Program) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for agent in program.agents() {
        agent.walk(&mut |node| {
            if !matches!(node, Node::Condition(..)) {
                node.exprs(&mut |expr| {
                    if is_computed(expr) {
                        all.insert(shared_expression(expr).to_string());
                    }
                });
            }
        });
    }
    all
}

/// The placeholders of a program for which `counts`, given the agent and the expression.
fn placeholders(program: &Program, counts: &dyn Fn(&str, &Expr) -> bool) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let mut add = |agent: &str, template: &Template| {
        for piece in template.pieces() {
            let Piece::Part(part, written) = piece else { continue };
            if part.literal().is_some() || part.mention(written).is_some() {
                continue;
            }
            if let TemplatePart::Value { expr, .. } | TemplatePart::SingleBrace { expr, .. } = part
                && counts(agent, expr)
            {
                all.insert(shared_expression(expr).to_string());
            }
        }
    };
    for agent in program.agents() {
        agent.walk(&mut |node| {
            if let Node::Template(template) = node {
                add(&agent.metadata.name.value, template);
            }
        });
    }
    all
}

/// The placeholders whose values may be written otherwise in texts of another dialect.
fn written_otherwise(
    left: &Program,
    right: &Program,
    [one, other]: [Dialect; 2],
    prover: &Prover,
) -> BTreeSet<String> {
    let [one, other] = [one.semantics(), other.semantics()];
    let unset = one.unset_text != other.unset_text;
    let truth = (one.true_text, one.false_text) != (other.true_text, other.false_text);
    if !unset && !truth {
        return BTreeSet::new();
    }
    let counts = |agent: &str, expr: &Expr| {
        let ExprKind::Path(path) = &expr.kind else {
            return !matches!(expr.kind, ExprKind::Literal(_));
        };
        let facts = prover.facts(agent, path);
        let is_set = facts.iter().any(|f| matches!(f.kind, FactKind::Set | FactKind::Is(_)));
        let is_typed = facts.iter().any(|fact| match &fact.kind {
            FactKind::Type(ty) => !matches!(ty, Type::Bool | Type::List | Type::Object),
            _ => false,
        });
        (unset && !is_set) || (truth && !is_typed)
    };
    in_both(placeholders(left, &counts), &placeholders(right, &|_, _| true)).collect()
}

/// The functions of a program that are code, with their code; and the files that have them, without white space around.
/// Comments are no code.
fn code(side: Side<'_>) -> (BTreeMap<&str, String>, BTreeSet<String>) {
    let is_code = |library: &&ToolLibrary| library.dialect.traits().tools == Tools::Functions;
    let text = |at: Span, comments: &[Span]| {
        let file = side.sources.get(at.file).filter(|_| at != Span::default())?;
        let mut code = String::new();
        let mut from = at.start;
        let within = comments.iter().filter(|one| at.start <= one.start && one.end <= at.end);
        for comment in within {
            add_code(&mut code, file.text.get(from as usize..comment.start as usize)?);
            from = comment.end;
        }
        add_code(&mut code, file.text.get(from as usize..at.end as usize)?);
        Some(code.trim().to_owned())
    };
    let (mut functions, mut files) = (BTreeMap::new(), BTreeSet::new());
    for library in side.program.libraries.iter().map(|one| &**one).filter(is_code) {
        files.extend(text(library.span, &library.comments));
        let tools = library.tools.iter();
        let of = |tool: &Tool| text(tool.span, &library.comments);
        functions.extend(tools.filter_map(|tool| Some((tool.name.value.as_str(), of(tool)?))));
    }
    (functions, files)
}

/// Adds what follows a comment, or begins the text. A comment leaves no white space before it, and no empty line.
fn add_code(code: &mut String, text: &str) {
    let before = code.trim_end_matches([' ', '\t']).len();
    code.truncate(before);
    let is_at_line = code.is_empty() || code.ends_with('\n');
    code.push_str(text.strip_prefix('\n').filter(|_| is_at_line).unwrap_or(text));
}

/// The functions of either program that the other one does not have, or not with the same code.
fn code_that_differs(left: Side<'_>, right: Side<'_>) -> BTreeSet<String> {
    let ((ours, our_files), (theirs, their_files)) = (code(left), code(right));
    if our_files == their_files {
        return BTreeSet::new();
    }
    let names: BTreeSet<&str> = ours.keys().chain(theirs.keys()).copied().collect();
    let differ = |name: &&str| ours.get(name) != theirs.get(name);
    names.into_iter().filter(differ).map(str::to_owned).collect()
}

/// What was not compared, given the values that differ.
pub(crate) fn not_compared(
    ours: Side<'_>,
    theirs: Side<'_>,
    values: &Values,
    prover: &Prover,
) -> Vec<NotCompared> {
    let (left, right) = (ours.program, theirs.program);
    let code = code_that_differs(ours, theirs);
    let mut evaluation = prover.assumed.clone();
    let mut rendering = BTreeSet::new();
    if let Some(dialects) = unlike(left, right) {
        evaluation.extend(in_both(computed(left), &computed(right)));
        rendering = written_otherwise(left, right, dialects, prover);
    }
    let mut tools = BTreeSet::new();
    let mut prompts = BTreeSet::new();
    for difference in &values.different {
        // What only the platform of one language knows is no part of a declaration that others could have.
        match segments(&difference.path).as_slice() {
            path if path.contains(&"extensions") => {}
            ["tools", name, ..] | ["agents", _, "tools", name, ..] => {
                tools.insert((*name).to_owned());
            }
            ["agents", agent, part, ..] if PROMPTS.contains(part) => {
                prompts.insert((*agent).to_owned());
            }
            _ => {}
        }
    }
    let dialects = |program: &Program| -> BTreeSet<&'static str> {
        let all = program.agents().map(|agent| agent.metadata.dialect);
        all.filter(|dialect| !dialect.traits().is_authored).map(|dialect| dialect.title()).collect()
    };
    // What was read in the same way on both sides was understood in the same way.
    let [ours, theirs] = [left, right].map(dialects);
    let import = ours.symmetric_difference(&theirs).map(|title| (*title).to_owned()).collect();
    let all: [(Unknown, BTreeSet<String>); 6] = [
        (Unknown::Tools, tools),
        (Unknown::Code, code),
        (Unknown::Prompts, prompts),
        (Unknown::Evaluation, evaluation),
        (Unknown::Rendering, rendering),
        (Unknown::Import, import),
    ];
    let all = all.into_iter().filter(|(_, names)| !names.is_empty());
    all.map(|(what, names)| NotCompared { what, names: names.into_iter().collect() }).collect()
}
