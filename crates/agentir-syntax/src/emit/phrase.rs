//! Expressions as phrases, for texts that a model or a person reads.

use agentir_expr::{
    BinaryOp, Condition, Expr, ExprKind, Literal, Path, Piece, Segment, Template, TemplatePart,
    UnaryOp,
};

/// An expression as a phrase, without characters that the condition parser reads as operators.
#[must_use]
pub fn expr_phrase(expr: &Expr) -> String {
    let list =
        |items: &[Expr], word: &str| items.iter().map(expr_phrase).collect::<Vec<_>>().join(word);
    if let Some(words) = said_words(expr) {
        let words: Vec<_> = words.into_iter().map(string_literal).collect();
        return format!("the user says one of {}", words.join(", "));
    }
    match &expr.kind {
        ExprKind::Literal(Literal::String(text)) => format!("\"{text}\""),
        ExprKind::Template(text) => format!("\"{}\"", template_phrase(text)),
        ExprKind::Literal(Literal::Regex(text)) => format!("the pattern {}", string_literal(text)),
        ExprKind::Literal(literal) => literal.to_string(),
        ExprKind::Path(path) if is_user_message(path) => "the message".to_owned(),
        ExprKind::Path(path) => dotted_path(path).unwrap_or_else(|| without_namespace(path)),
        ExprKind::List(items) => list(items, ", "),
        ExprKind::And(parts) => {
            let part = |p: &Expr| match &p.kind {
                ExprKind::Or(_) => format!("({})", expr_phrase(p)),
                _ => expr_phrase(p),
            };
            parts.iter().map(part).collect::<Vec<_>>().join(" and ")
        }
        ExprKind::Or(parts) => list(parts, " or "),
        ExprKind::Object(entries) => {
            entries.iter().map(|e| e.key.value.as_str()).collect::<Vec<_>>().join(", ")
        }
        ExprKind::Call { function, args } => format!("{function} of {}", list(args, " and ")),
        ExprKind::Method { receiver, method, args } if args.is_empty() => {
            format!("{method} of {}", expr_phrase(receiver))
        }
        ExprKind::Method { receiver, method, args } => {
            format!("{} {method} {}", expr_phrase(receiver), list(args, " and "))
        }
        ExprKind::Subscript { base, index } => {
            format!("item {} of {}", expr_phrase(index), expr_phrase(base))
        }
        ExprKind::Member { base, segment } => format!("{segment} of {}", expr_phrase(base)),
        ExprKind::Unary { op, operand } => match op {
            UnaryOp::Not => match &operand.kind {
                ExprKind::Binary { op: BinaryOp::Equal | BinaryOp::StrictEqual, left, right } => {
                    format!("{} is not {}", expr_phrase(left), expr_phrase(right))
                }
                ExprKind::Path(_) => format!("{} is not true", expr_phrase(operand)),
                _ => format!("not ({})", expr_phrase(operand)),
            },
            UnaryOp::Negate => format!("minus {}", expr_phrase(operand)),
            UnaryOp::Plus => expr_phrase(operand),
            UnaryOp::IsNumber => format!("{} is a number", expr_phrase(operand)),
        },
        ExprKind::IsSet { operand, negated } => {
            format!("{} is {}set", expr_phrase(operand), if *negated { "not " } else { "" })
        }
        ExprKind::Binary { op: op @ (BinaryOp::Is | BinaryOp::IsNot), left, right }
            if matches!(literal(right), Some(Literal::Null)) =>
        {
            let not = if *op == BinaryOp::Is { "not " } else { "" };
            format!("{} is {not}set", expr_phrase(left))
        }
        ExprKind::Binary { op, left, right } => {
            let word = match op {
                BinaryOp::Implies => {
                    return format!("if {} then {}", expr_phrase(left), expr_phrase(right));
                }
                BinaryOp::Equal | BinaryOp::StrictEqual | BinaryOp::Is => "is",
                BinaryOp::NotEqual | BinaryOp::StrictNotEqual | BinaryOp::IsNot => "is not",
                BinaryOp::Less => "is less than",
                BinaryOp::LessEqual => "is at most",
                BinaryOp::Greater => "is greater than",
                BinaryOp::GreaterEqual => "is at least",
                BinaryOp::In => "is one of",
                BinaryOp::NotIn => "is none of",
                BinaryOp::Matches => "matches",
                BinaryOp::Contains => "contains",
                BinaryOp::StartsWith => "starts with",
                BinaryOp::EndsWith => "ends with",
                BinaryOp::Add => "plus",
                BinaryOp::Subtract => "minus",
                BinaryOp::Multiply => "times",
                BinaryOp::Divide => "divided by",
                BinaryOp::Remainder => "modulo",
            };
            format!("{} {word} {}", expr_phrase(left), expr_phrase(right))
        }
        ExprKind::Conditional { condition, then, otherwise } => {
            format!(
                "{} if {}, else {}",
                expr_phrase(then),
                expr_phrase(condition),
                expr_phrase(otherwise)
            )
        }
        ExprKind::Spread(inner) => expr_phrase(inner),
        ExprKind::Ellipsis => "what the user says".to_owned(),
    }
}

/// A condition as a phrase.
#[must_use]
pub fn phrase(condition: &Condition) -> String {
    match condition.expr() {
        Some(expr) => expr_phrase(expr),
        None => condition.text.value.to_string(),
    }
}

/// `name` or `agent.name`, without namespaces of variables; `None` if it has an index.
#[must_use]
pub fn dotted_path(path: &Path) -> Option<String> {
    let mut text = match &path.namespace {
        Some(namespace) if namespace.value == "outputs" => format!("{namespace}.{}", path.root),
        _ => path.root.value.to_string(),
    };
    for segment in &path.segments {
        let Segment::Field(name) = segment else { return None };
        text.push('.');
        text.push_str(&name.value);
    }
    Some(text)
}

/// A path with its indices, without the namespace of variables.
fn without_namespace(path: &Path) -> String {
    let of_variables = path.namespace.as_ref().is_some_and(|space| space.value == "variables");
    match of_variables {
        true => Path { namespace: None, ..path.clone() }.to_string(),
        false => path.to_string(),
    }
}

/// A text in quotes: single ones, if it contains double ones and nothing to escape.
#[must_use]
pub fn string_literal(text: &str) -> String {
    if text.contains('"') && !text.contains(['\'', '\\']) {
        return format!("'{text}'");
    }
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Whether an expression is the user's last message, without regard to case and spaces around it.
#[must_use]
pub fn is_message(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Path(path) => path.segments.is_empty() && is_user_message(path),
        ExprKind::Call { function, args } => {
            let folds = ["LOWER", "UPPER", "TRIM"];
            folds.iter().any(|f| function.value.eq_ignore_ascii_case(f))
                && matches!(args.as_slice(), [message] if is_message(message))
        }
        _ => false,
    }
}

/// How a pattern ends that takes a message which begins with one of its words, whatever follows the word: "yes, please".
pub const ANSWER_TAIL: &str = "([ ,.!。，].*)?$";

/// The words that a pattern lists as alternatives: alone (`yes|sure`), as the whole message (`^(yes|sure)$`), or as its
/// beginning (`^(yes|sure)` and [`ANSWER_TAIL`]).
#[must_use]
pub fn pattern_words(pattern: &str) -> Option<Vec<&str>> {
    let listed = match pattern.strip_prefix("^(") {
        Some(rest) => {
            let (listed, tail) = rest.split_once(')')?;
            (tail == "$" || tail == ANSWER_TAIL).then_some(listed)?
        }
        None => pattern,
    };
    // Beyond ASCII no character has a meaning in patterns.
    let plain =
        |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || matches!(c, ' ' | '|' | '\'' | '-');
    let words: Vec<&str> = listed.split('|').collect();
    let are_words = listed.chars().all(plain) && words.iter().all(|word| !word.is_empty());
    are_words.then_some(words)
}

/// What the user's message is compared with, if an expression is a pattern of alternatives.
fn said_words(expr: &Expr) -> Option<Vec<&str>> {
    match &expr.kind {
        ExprKind::Binary { op: BinaryOp::Matches, left, right } if is_message(left) => {
            match &right.kind {
                ExprKind::Literal(Literal::Regex(pattern)) => pattern_words(pattern),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether a variable holds the user's last message.
#[must_use]
pub fn is_user_message(path: &Path) -> bool {
    path.namespace.is_none() && matches!(path.root.value.as_str(), "input" | "user_input")
}

/// The literal that an expression is.
#[must_use]
pub fn literal(expr: &Expr) -> Option<&Literal> {
    match &expr.kind {
        ExprKind::Literal(literal) => Some(literal),
        _ => None,
    }
}

/// A text with its placeholders as `${path}`. References to what can be called are names, filters and blocks are dropped;
/// of a call only the first argument stays.
#[must_use]
pub fn template_phrase(template: &Template) -> String {
    let mut out = String::with_capacity(template.text.value.len());
    for piece in template.pieces() {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Part(part, _) if part.literal().is_some() => {
                out.push_str(part.literal().unwrap_or_default());
            }
            Piece::Part(part, written) => match (part.mention(written), part) {
                (Some(name), _) => out.push_str(name),
                (
                    None,
                    TemplatePart::Value { expr, .. } | TemplatePart::SingleBrace { expr, .. },
                ) => out.push_str(&inserted(expr)),
                _ => {}
            },
        }
    }
    out
}

/// What a placeholder inserts: `${path}`, also beside other text, and words where no path can be written.
fn inserted(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Binary { op: BinaryOp::Add, left, right } if is_text(left) || is_text(right) => {
            inserted(left) + &inserted(right)
        }
        ExprKind::Literal(Literal::String(text)) => text.to_string(),
        _ => first_path(expr).map_or_else(|| expr_phrase(expr), |path| format!("${{{path}}}")),
    }
}

/// Whether an expression is a text, to which others are appended.
fn is_text(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Literal(Literal::String(_)) | ExprKind::Template(_) => true,
        ExprKind::Binary { op: BinaryOp::Add, left, right } => is_text(left) || is_text(right),
        _ => false,
    }
}

fn first_path(expr: &Expr) -> Option<String> {
    if let Some(path) = expr.as_path() {
        return dotted_path(path);
    }
    let mut first = None;
    expr.paths(&mut |path| {
        if first.is_none() {
            first = dotted_path(path);
        }
    });
    first
}

/// A sentence without the signs that parsers of conditions read as operators.
#[must_use]
pub fn sentence(text: &str) -> String {
    const SIGNS: &[(&str, &str)] = &[
        ("==", " is "),
        ("!=", " is not "),
        (">=", " is at least "),
        ("<=", " is at most "),
        ("&&", " and "),
        ("||", " or "),
        (">", " is more than "),
        ("<", " is less than "),
        ("=", " is "),
    ];
    let spoken = SIGNS.iter().fold(text.to_owned(), |text, (sign, word)| text.replace(sign, word));
    if spoken == text { spoken } else { spoken.split_whitespace().collect::<Vec<_>>().join(" ") }
}

/// Words for the model that a language reads as words, as far as there are such: most languages take whatever could be
/// an expression for one. `is_read` is whether a text is read as words.
#[must_use]
pub fn readable_words(text: &str, is_read: impl Fn(&str) -> bool) -> String {
    if is_read(text) {
        return text.to_owned();
    }
    let spoken = sentence(text).replace(['(', ')', '"', '\'', '{', '}', '[', ']', '`'], " ");
    let spoken = spoken.split_whitespace().collect::<Vec<_>>().join(" ");
    let lower = spoken.to_lowercase();
    let said = |words: &str| format!("this is the case: {words}");
    let candidates = [spoken.clone(), said(&spoken), lower.clone(), said(&lower)];
    candidates.into_iter().find(|text| is_read(text)).unwrap_or_else(|| {
        // Operators among the words.
        let letters = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        format!("what these words describe: {}", letters.collect::<Vec<_>>().join("-"))
    })
}
