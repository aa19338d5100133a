//! Calls against the tables of [`functions`](crate::functions) and [`methods`](crate::methods).

use crate::expr::{Expr, ExprKind, Literal, Name, Visit};
use crate::functions::{
    Function, Parameter, ParameterType, Scope, function, function_ignoring_case, functions,
    methods, without_namespace,
};
use crate::version::Version;
use agentir_diagnostics::{Applicability, Diagnostic, RuleName, Spanned, closest};

const UNKNOWN: RuleName = RuleName("unknown-function");
const ARITY: RuleName = RuleName("function-arity");
const ARGUMENT: RuleName = RuleName("function-argument-type");

/// Reports calls of functions that `version` does not have or that may not be called in `scope`,
/// with the wrong number of arguments, or with a constant that cannot be right.
pub fn check_calls(
    expr: &Expr,
    scope: Scope,
    version: Version,
    report: &mut dyn FnMut(Diagnostic),
) {
    expr.visit(&mut |e| {
        match &e.kind {
            ExprKind::Call { function: name, args } => match function(&name.value) {
                Some(f) if f.exists_in(version) && callable(f, scope) => {
                    check_arguments(&name.value, name, f.parameters, &f.signature(), args, report);
                }
                Some(f) => report(not_here(name, f, version)),
                None => report(unknown(name, scope, version)),
            },
            ExprKind::Method { method: name, args, .. } => {
                match methods().iter().find(|m| m.name == name.value) {
                    Some(m) => {
                        check_arguments(m.name, name, m.parameters, &m.signature(), args, report);
                    }
                    None => report(unknown_method(name)),
                }
            }
            _ => {}
        }
        Visit::Children
    });
}

fn callable(function: &Function, scope: Scope) -> bool {
    function.scope == Scope::Everywhere || scope == Scope::Guardrail
}

fn not_here(name: &Spanned<Name>, function: &Function, version: Version) -> Diagnostic {
    if version < function.since {
        let since = function.since.name();
        let message = format!("the {} language has no function `{name}`", version.name());
        Diagnostic::error(UNKNOWN, name.span, message)
            .note(format!("`{}` was added in the {since} version", function.signature()))
    } else if let Some(removed) = function.removed.filter(|r| version >= *r) {
        let message = format!("the function `{name}` was removed");
        Diagnostic::error(UNKNOWN, name.span, message)
            .note(format!("it was removed in the {} version", removed.name()))
    } else {
        let message = format!("`{name}` may only be called in the `check` of a guardrail");
        Diagnostic::error(UNKNOWN, name.span, message)
    }
}

fn unknown(name: &Spanned<Name>, scope: Scope, version: Version) -> Diagnostic {
    let message = format!("there is no function `{name}`");
    let diagnostic = Diagnostic::error(UNKNOWN, name.span, message);
    let usable = |f: &&Function| f.exists_in(version) && callable(f, scope);
    if let Some(same) = function_ignoring_case(&name.value).filter(usable) {
        return diagnostic
            .help(format!("write `{}`: function names are case-sensitive", same.written()))
            .replace(same.written(), Applicability::Safe);
    }
    let bare = without_namespace(&name.value).unwrap_or(&name.value);
    let near = closest(bare, functions().iter().filter(usable).map(|f| f.name)).and_then(function);
    match near {
        Some(near) => diagnostic
            .help(format!("did you mean `{}`?", near.written()))
            .replace(near.written(), Applicability::Unsafe),
        None => diagnostic,
    }
}

fn unknown_method(name: &Spanned<Name>) -> Diagnostic {
    let message = format!("there is no method `{name}`");
    let diagnostic = Diagnostic::warning(UNKNOWN, name.span, message);
    match closest(&name.value, methods().iter().map(|m| m.name)) {
        Some(near) => diagnostic.did_you_mean(near),
        None => diagnostic,
    }
}

fn check_arguments(
    callee: &str,
    name: &Spanned<Name>,
    parameters: &'static [Parameter],
    signature: &str,
    args: &[Expr],
    report: &mut dyn FnMut(Diagnostic),
) {
    let least = parameters.iter().filter(|p| !p.optional).count();
    let most =
        if parameters.last().is_some_and(|p| p.variadic) { None } else { Some(parameters.len()) };
    if args.len() < least || most.is_some_and(|most| args.len() > most) {
        let expected = match most {
            Some(most) if most == least => arguments(least),
            Some(most) => format!("{least} to {}", arguments(most)),
            None => format!("at least {}", arguments(least)),
        };
        let message = format!("`{callee}` expects {expected}, found {}", args.len());
        report(
            Diagnostic::error(ARITY, name.span, message)
                .help(format!("its signature is `{signature}`")),
        );
    }
    let last = parameters.last().filter(|p| p.variadic);
    for (arg, parameter) in args.iter().zip(parameters.iter().chain(last.into_iter().cycle())) {
        if cannot_be(arg, parameter.ty) {
            let message = format!(
                "`{}` of `{callee}` expects {}, found {}",
                parameter.name,
                parameter.ty.words(),
                words(arg),
            );
            report(
                Diagnostic::warning(ARGUMENT, arg.span, message)
                    .help(format!("its signature is `{signature}`")),
            );
        }
    }
}

fn arguments(n: usize) -> String {
    match n {
        0 => "no arguments".to_owned(),
        1 => "1 argument".to_owned(),
        n => format!("{n} arguments"),
    }
}

/// Whether a constant cannot even be coerced to what is expected.
fn cannot_be(arg: &Expr, ty: ParameterType) -> bool {
    use Literal::{Bool, Date, Number, Regex, String};
    let literal = match &arg.kind {
        ExprKind::Literal(literal) => literal,
        ExprKind::List(_) => {
            return !matches!(
                ty,
                ParameterType::Any | ParameterType::Array | ParameterType::Boolean
            );
        }
        ExprKind::Object(_) => {
            return !matches!(
                ty,
                ParameterType::Any | ParameterType::Object | ParameterType::Boolean
            );
        }
        _ => return false,
    };
    match ty {
        ParameterType::Any | ParameterType::Boolean => false,
        ParameterType::String => matches!(literal, Bool(_)),
        ParameterType::Number => match literal {
            String(text) => text.trim().parse::<f64>().is_err(),
            Regex(_) | Date(_) => true,
            _ => false,
        },
        ParameterType::Date => matches!(literal, Bool(_) | Regex(_)),
        ParameterType::Array | ParameterType::Object => {
            matches!(literal, String(_) | Number(_) | Bool(_) | Regex(_) | Date(_))
        }
    }
}

fn words(arg: &Expr) -> String {
    match &arg.kind {
        ExprKind::List(_) => "a list".to_owned(),
        ExprKind::Object(_) => "an object".to_owned(),
        _ => format!("`{arg}`"),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::expr::Path;
    use agentir_diagnostics::Span;

    fn string(text: &str) -> Expr {
        Expr::literal(Literal::String(text.into()), Span::default())
    }
    fn call(name: &str, args: Vec<Expr>) -> Expr {
        let function = Spanned::new(name.into(), Span::default());
        Expr::new(ExprKind::Call { function, args }, Span::default()).unwrap()
    }
    fn problems(expr: &Expr, scope: Scope, version: Version) -> Vec<String> {
        let mut found = Vec::new();
        check_calls(expr, scope, version, &mut |d| {
            found.push(format!("{}: {}|{}", d.rule.0, d.message, d.help.unwrap_or_default()));
        });
        found
    }
    fn here(expr: &Expr) -> Vec<String> {
        problems(expr, Scope::Everywhere, Version::Current)
    }

    #[test]
    fn slips_get_a_suggestion() {
        assert_eq!(
            here(&call("UPER", vec![string("x")])),
            ["unknown-function: there is no function `UPER`|did you mean `UPPER`?"]
        );
        assert_eq!(
            here(&call("upper", vec![string("x")])),
            [
                "unknown-function: there is no function `upper`|write `UPPER`: function names are case-sensitive"
            ]
        );
        assert_eq!(here(&call("frobnicate", vec![])).len(), 1);
    }

    #[test]
    fn arguments_are_counted() {
        assert_eq!(
            here(&call("MASK", vec![string("x")])),
            [
                "function-arity: `MASK` expects 2 to 3 arguments, found 1|its signature is `MASK(s, pattern, char?)`"
            ]
        );
        assert_eq!(
            here(&call("NOW", vec![string("x")])),
            ["function-arity: `NOW` expects no arguments, found 1|its signature is `NOW()`"]
        );
        assert_eq!(here(&call("COALESCE", vec![string("x"); 9])), Vec::<String>::new());
    }

    #[test]
    fn only_impossible_constants_are_reported() {
        assert_eq!(
            here(&call("ABS", vec![string("x")])),
            [
                "function-argument-type: `n` of `ABS` expects a number, found `\"x\"`|its signature is `ABS(n)`"
            ]
        );
        assert_eq!(here(&call("ABS", vec![string("5")])), Vec::<String>::new());
        let path =
            Expr::path(Path::variable(Spanned::new("x".into(), Span::default())), Span::default());
        assert_eq!(here(&call("ABS", vec![path])), Vec::<String>::new());
        assert_eq!(here(&call("OBJECT_MERGE", vec![string("a"), string("b")])).len(), 2);
    }

    #[test]
    fn versions_and_scopes_count() {
        let count = call("word_count", vec![string("x")]);
        assert_eq!(here(&count).len(), 1);
        assert_eq!(problems(&count, Scope::Guardrail, Version::Current), Vec::<String>::new());
        let avg = call("AVG", vec![string("1")]);
        assert_eq!(problems(&avg, Scope::Everywhere, Version::Legacy), Vec::<String>::new());
        assert_eq!(here(&avg), ["unknown-function: the function `AVG` was removed|"]);
        let newest = call("FIRST_NON_EMPTY", vec![string("1")]);
        assert_eq!(here(&newest).len(), 1);
        assert_eq!(problems(&newest, Scope::Everywhere, Version::Newest), Vec::<String>::new());
    }
}
