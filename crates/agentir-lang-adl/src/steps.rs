//! Reads steps (Appendix A, `step_block`; B.4).

use super::inline;
use super::reader::{Reader, duplicate};
use super::schema::{self, VERBS};
use super::tree::{Assignment, Branch, Step, StepKind};
use crate::rules;
use agentir_diagnostics::{Applicability, Diagnostic, Span, Spanned, closest};
use agentir_expr::Name;
use agentir_syntax::misspelled::{explain_missing, misspelling, unknown_field};
use agentir_syntax::outline::{Entry, EntryKind, Key, Scalar, Style};
use agentir_syntax::text::{listed, offset};
use smol_str::SmolStr;

/// The context of a list of steps.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    /// The steps of an agent or a subflow.
    Top,
    /// Inside a `then` or an `else`.
    Nested,
}

/// Reads a list of steps.
pub(super) fn list<'t>(
    reader: &mut Reader<'_>,
    entries: &'t [Entry<'t>],
    context: Context,
) -> Vec<Step<'t>> {
    let mut steps: Vec<Step<'t>> = Vec::new();
    for entry in entries {
        match &entry.kind {
            EntryKind::Item { entries } => match entries.as_slice() {
                [Entry { kind: EntryKind::Line { text, .. }, .. }] => {
                    steps.push(word_step(reader, entry, text));
                }
                [] => reader.problems.push(
                    Diagnostic::error(
                        rules::INVALID_VALUE,
                        entry.span(reader.file),
                        "there is no step after this dash",
                    )
                    .help("write a step, or remove the dash"),
                ),
                pairs => verb_step(reader, entry, pairs, context, &mut steps),
            },
            // A map instead of a list: each pair is read as a step; the caller reports the missing list.
            EntryKind::Pair { .. } => {
                verb_step(reader, entry, std::slice::from_ref(entry), context, &mut steps);
            }
            EntryKind::Line { text, .. } => steps.push(word_step(reader, entry, text)),
        }
    }
    steps
}

fn step<'t>(kind: StepKind<'t>, span: Span) -> Step<'t> {
    Step { kind, span, unknown: Vec::new() }
}

/// A step that is a single word: `user`.
fn word_step<'t>(reader: &mut Reader<'_>, entry: &'t Entry<'t>, text: &Scalar<'t>) -> Step<'t> {
    let value = text.value();
    let span = text.span;
    let error = |message: String| Diagnostic::error(rules::INVALID_VALUE, span, message);
    match value.trim() {
        "user" => return step(StepKind::User, span),
        "return" => {
            reader.problems.push(
                error("`return` has no status".to_owned())
                    .note("MICA's validator rejects the file")
                    .help("write `return: success`, or `return: error, …`"),
            );
            let status = Spanned::new(SmolStr::new_static("success"), span);
            return step(StepKind::Return { status, message: None }, span);
        }
        "begin" | "end" => {
            reader.problems.push(
                Diagnostic::warning(
                    rules::LEGACY_FORM,
                    span,
                    format!("`{}` is an obsolete step", value.trim()),
                )
                .note("MICA's validator accepts it, but its runtime raises an error")
                .help("remove it: a flow begins with its first step and ends with its last"),
            );
        }
        other if let Some((verb, value)) = without_colon(other) => {
            let at = Span::new(span.file, span.start, span.start + offset(verb.len()));
            reader.problems.push(
                Diagnostic::error(rules::SYNTAX, at, format!("a `:` is missing after `{verb}`"))
                    .help(format!("write `{verb}: {value}`")),
            );
            let start = span.end.saturating_sub(offset(value.len()));
            let name = || Spanned::new(SmolStr::new(value), Span::new(span.file, start, span.end));
            let kind = match verb {
                "call" => StepKind::Call { target: name(), args: Vec::new() },
                "next" => StepKind::Next { target: name(), tries: None },
                "label" => StepKind::Label(name()),
                _ => StepKind::Other(entry),
            };
            return step(kind, span);
        }
        other => {
            let wide = other.find('：');
            let finding = match wide {
                Some(at) => Diagnostic::warning(
                    rules::TYPOGRAPHIC_PUNCTUATION,
                    span,
                    "`：` is a full-width colon, so this is not a key and a value",
                )
                .note("MICA reads the whole line as the name of a step")
                .help(format!(
                    "write `{}: {}`",
                    other.get(..at).unwrap_or_default(),
                    "…"
                )),
                None => {
                    let finding = error(format!("`{other}` is not a step"));
                    match closest(other, ["user"]) {
                        Some(near) => finding
                            .did_you_mean(near),
                        None => finding.help(format!(
                            "`user` is the only step without a value; to go to a label write `next: {other}`"
                        )),
                    }
                }
            };
            reader.problems.push(finding);
        }
    }
    step(StepKind::Other(entry), span)
}

/// The verb and the value of a step that lacks the colon between them.
fn without_colon(text: &str) -> Option<(&str, &str)> {
    let (verb, value) = text.split_once(' ')?;
    VERBS.contains(&verb).then(|| (verb, value.trim()))
}

/// A step that is a map: a verb and its further keys.
fn verb_step<'t>(
    reader: &mut Reader<'_>,
    entry: &'t Entry<'t>,
    pairs: &'t [Entry<'t>],
    context: Context,
    steps: &mut Vec<Step<'t>>,
) {
    let span = entry.span(reader.file);
    let mut fields: Vec<(&'t Key<'t>, Option<&'t Scalar<'t>>, &'t [Entry<'t>], &'t Entry<'t>)> =
        Vec::new();
    for pair in pairs {
        let EntryKind::Pair { key, value, children } = &pair.kind else { continue };
        if let Some((first, ..)) = fields.iter().find(|(k, ..)| k.text == key.text) {
            reader.problems.push(duplicate(key, first.span));
            continue;
        }
        fields.push((key, value.as_ref(), children, pair));
    }
    let get = |name: &str| fields.iter().find(|(k, ..)| k.text == name);
    let Some(verb) = VERBS.iter().copied().find(|v| get(v).is_some()) else {
        no_verb(reader, entry, &fields.iter().map(|(k, ..)| *k).collect::<Vec<_>>(), steps);
        return;
    };
    let beside = schema::companion_keys(verb);
    let mut unknown = Vec::new();
    // `- else:` with `then:` beside it: its steps are those of the `else`.
    let misplaced_then = match (get("else"), get("then")) {
        (Some((_, None, none, _)), Some((then, None, children, _)))
            if verb == "else" && none.is_empty() && !children.is_empty() =>
        {
            reader.problems.push(else_with_then(then.span));
            let children: &[Entry<'_>] = children;
            Some(children)
        }
        _ => None,
    };
    for (key, _, _, pair) in &fields {
        let is_read = misplaced_then.is_some() && key.text == "then";
        if key.text == verb || beside.contains(&key.text) || is_read {
            continue;
        }
        unknown.push(*pair);
        let finding = if VERBS.contains(&key.text) || key.text == "user" {
            Diagnostic::error(
                rules::TWO_VERBS,
                key.span,
                format!("this step has two verbs: `{verb}` and `{}`", key.text),
            )
            .note(format!("MICA executes `{verb}` and silently ignores `{}`", key.text))
            .help(format!("write a separate step: `- {}: …`", key.text))
        } else {
            let message = format!("a step with `{verb}` cannot have `{}`", key.text);
            let near = closest(key.text, beside.iter().chain(VERBS).copied());
            let finding = unknown_field(key.span, message, near);
            match near {
                Some(_) => finding,
                None => finding.help("remove it"),
            }
        };
        reader.problems.push(finding);
    }
    let Some(&(key, value, children, _)) = get(verb) else { return };
    let tries = get("tries")
        .filter(|_| beside.contains(&"tries"))
        .and_then(|(key, value, ..)| tries(reader, key, *value));
    match verb {
        "if" | "else if" => {
            let then = get("then").copied();
            let others =
                fields.iter().filter(|(k, ..)| !beside.contains(&k.text) && k.text != verb);
            let misspelled = misspelling(
                "then",
                others.map(|(k, ..)| (k.text, k.span)),
                beside.iter().chain(VERBS).copied(),
            );
            let then = then.ok_or(misspelled);
            let branch = branch(reader, key, value, then, tries, span);
            let attached = get("else")
                .map(|(key, value, children, _)| otherwise(reader, key, *value, children));
            if attached.is_some() && context == Context::Nested {
                let at = get("else").map_or(span, |(key, ..)| key.span);
                reader.problems.push(nested_else(
                    at,
                    "MICA drops this `else` because it is nested in a `then` or an `else`",
                    "it only reads an `else` next to its `if` at the top level of a flow or subflow",
                ));
            }
            let joined = verb == "else if" && can_extend_last_if(steps, &unknown);
            if joined {
                extend_last_if(steps, std::iter::once(branch).chain(attached), span);
                return;
            }
            if verb == "else if" {
                reader.problems.push(else_without_if(key, "else if"));
            }
            let mut branches = vec![branch];
            branches.extend(attached);
            steps.push(Step { kind: StepKind::If(branches), span, unknown });
        }
        "else" => {
            let branch = otherwise(reader, key, value, misplaced_then.unwrap_or(children));
            if can_extend_last_if(steps, &unknown) {
                if context == Context::Nested {
                    reader.problems.push(nested_else(
                        key.span,
                        "MICA refuses this `else` because it is nested in a `then` or an `else`",
                        "its validator takes it for an `if` without a `then`",
                    ));
                }
                extend_last_if(steps, std::iter::once(branch), span);
            } else {
                reader.problems.push(else_without_if(key, "else"));
                steps.push(Step { kind: StepKind::Other(entry), span, unknown });
            }
        }
        _ => {
            let kind =
                simple_step(reader, verb, (key, value, children), get("args").copied(), tries);
            let kind = kind.unwrap_or(StepKind::Other(entry));
            steps.push(Step { kind, span, unknown });
        }
    }
}

/// Whether the last step is an `if` that an `else` can follow.
fn can_extend_last_if(steps: &[Step<'_>], unknown: &[&Entry<'_>]) -> bool {
    let open = |branches: &[Branch<'_>]| branches.last().is_some_and(|b| b.condition.is_some());
    unknown.is_empty()
        && matches!(steps.last(), Some(Step { kind: StepKind::If(branches), .. }) if open(branches))
}

fn extend_last_if<'t>(steps: &mut [Step<'t>], more: impl Iterator<Item = Branch<'t>>, span: Span) {
    if let Some(Step { kind: StepKind::If(branches), span: whole, .. }) = steps.last_mut() {
        branches.extend(more);
        *whole = whole.to(span);
    }
}

/// An `else` at a place where MICA has none.
fn nested_else(at: Span, message: &'static str, note: &'static str) -> Diagnostic {
    Diagnostic::warning(rules::MICA_NESTED_ELSE, at, message)
        .note(note)
        .help("let the `then` set an argument, and test it in an `if` that follows")
}

fn else_without_if(key: &Key<'_>, verb: &str) -> Diagnostic {
    Diagnostic::error(
        rules::ELSE_WITHOUT_IF,
        key.span,
        format!("this `{verb}` has no matching `if`"),
    )
    .note("it must directly follow an `if` or an `else if`; MICA never executes it")
    .help("write an `if` before it, or move it directly after the one it belongs to")
}

fn no_verb<'t>(
    reader: &mut Reader<'_>,
    entry: &'t Entry<'t>,
    keys: &[&Key<'_>],
    steps: &mut Vec<Step<'t>>,
) {
    let span = entry.span(reader.file);
    let Some(key) = keys.first() else { return };
    if key.text == "user" {
        reader.problems.push(
            Diagnostic::error(rules::INVALID_VALUE, key.span, "`user` does not take a value")
                .note("MICA's validator rejects the file")
                .help("write `- user`, without a colon"),
        );
        steps.push(step(StepKind::User, span));
        return;
    }
    let finding =
        Diagnostic::error(rules::INVALID_VALUE, key.span, format!("`{}` is not a step", key.text));
    reader.problems.push(match closest(key.text, VERBS.iter().copied()) {
        Some(near) => finding.did_you_mean(near),
        None => {
            let all: Vec<String> =
                ["user"].iter().chain(VERBS).map(|verb| format!("`{verb}`")).collect();
            finding.help(format!("steps are {}", listed(&all)))
        }
    });
    steps.push(step(StepKind::Other(entry), span));
}

type FieldParts<'t> = (&'t Key<'t>, Option<&'t Scalar<'t>>, &'t [Entry<'t>], &'t Entry<'t>);

/// A branch. Without its `then`, the key that is a misspelling of it, if there is one, is the mistake.
fn branch<'t>(
    reader: &mut Reader<'_>,
    key: &Key<'t>,
    condition: Option<&'t Scalar<'t>>,
    then: Result<FieldParts<'t>, Option<Span>>,
    tries: Option<Spanned<u32>>,
    whole: Span,
) -> Branch<'t> {
    let empty = Scalar::bare("", Span::new(key.span.file, key.span.end, key.span.end));
    let (condition, intent) = inline::condition(condition.unwrap_or(&empty), reader.problems);
    let (steps, end) = match then {
        Ok((then, value, children, _)) => {
            if value.is_some() || children.is_empty() {
                report_not_a_list(reader, then, "then");
            }
            (
                list(reader, children, Context::Nested),
                children.last().map_or(then.span.end, |c| c.end),
            )
        }
        Err(misspelled) => {
            let message = format!("this `{}` has no `then`", key.text);
            if !misspelled.is_some_and(|at| explain_missing(reader.problems, at, &message)) {
                reader.problems.push(
                    Diagnostic::error(rules::MISSING_FIELD, key.span, message)
                        .note("MICA's validator rejects the file")
                        .help("add `then:` below it, with steps"),
                );
            }
            (Vec::new(), key.span.end)
        }
    };
    let span = Span::new(whole.file, key.span.start, end.max(condition.text.span.end));
    Branch { condition: Some(condition), intent, steps, tries, span }
}

fn else_with_then(then: Span) -> Diagnostic {
    Diagnostic::error(rules::INVALID_VALUE, then, "`else` does not take a `then`")
        .note("MICA never executes the steps below it")
        .help("delete `then:` and write the steps directly below `else:`")
}

fn otherwise<'t>(
    reader: &mut Reader<'_>,
    key: &Key<'t>,
    value: Option<&'t Scalar<'t>>,
    children: &'t [Entry<'t>],
) -> Branch<'t> {
    // `else:` with a nested `then:`.
    let children = match children {
        [Entry { kind: EntryKind::Pair { key: then, children, .. }, .. }]
            if then.text == "then" =>
        {
            reader.problems.push(else_with_then(then.span));
            children.as_slice()
        }
        other => other,
    };
    if value.is_some() || children.is_empty() {
        report_not_a_list(reader, key, "else");
    }
    let steps = list(reader, children, Context::Nested);
    let end = children.last().map_or(key.span.end, |c| c.end);
    let span = Span::new(key.span.file, key.span.start, end);
    Branch { condition: None, intent: None, steps, tries: None, span }
}

fn report_not_a_list(reader: &mut Reader<'_>, key: &Key<'_>, what: &str) {
    reader.problems.push(
        Diagnostic::error(
            rules::INVALID_VALUE,
            key.span,
            format!("`{what}` expects a list of steps"),
        )
        .help("write each step after a dash, on its own line"),
    );
}

/// `tries: 3` (B.4.6).
fn tries(
    reader: &mut Reader<'_>,
    key: &Key<'_>,
    value: Option<&Scalar<'_>>,
) -> Option<Spanned<u32>> {
    let number = value.filter(|v| v.style == Style::Bare).and_then(|v| v.raw.parse::<u32>().ok());
    let Some(number) = number else {
        let at = value.map_or(key.span, |v| v.span);
        let finding = Diagnostic::error(rules::INVALID_VALUE, at, "`tries` expects a whole number")
            .note("MICA compares it with a number and raises an error");
        let quoted = value.and_then(|v| v.value().trim().parse::<u32>().ok());
        reader.problems.push(match quoted {
            Some(number) => finding
                .help(format!("write it without quotes: `tries: {number}`"))
                .replace(number.to_string(), Applicability::Safe),
            None => finding.help("write a number without quotes: `tries: 3`"),
        });
        return None;
    };
    let span = value.map_or(key.span, |v| v.span);
    if number == 0 {
        reader.problems.push(
            Diagnostic::warning(rules::MICA_TRIES, span, "MICA reads `tries: 0` as no limit")
                .help("remove `tries` if there should be no limit, or remove the jump"),
        );
        return None;
    }
    let times = if number == 1 { "once".to_owned() } else { format!("{number} times") };
    let help = match number - 1 {
        0 => "for one attempt in MICA, remove the jump".to_owned(),
        jumps => format!("for {number} attempts in MICA, write `tries: {jumps}`"),
    };
    reader.problems.push(
        Diagnostic::info(
            rules::MICA_TRIES,
            span,
            format!(
                "MICA jumps back {times}, so the steps run {} times in total",
                u64::from(number) + 1
            ),
        )
        .note("the paper (B.4.6) counts attempts, including the first")
        .help(help),
    );
    Some(Spanned::new(number, span))
}

/// A step without branches.
fn simple_step<'t>(
    reader: &mut Reader<'_>,
    verb: &str,
    (key, value, children): (&Key<'t>, Option<&'t Scalar<'t>>, &'t [Entry<'t>]),
    args: Option<FieldParts<'t>>,
    tries: Option<Spanned<u32>>,
) -> Option<StepKind<'t>> {
    if verb == "set" {
        if value.is_some() || children.is_empty() {
            reader.problems.push(
                Diagnostic::error(
                    rules::INVALID_VALUE,
                    key.span,
                    "`set` expects arguments and values",
                )
                .help("write `name: value` below it"),
            );
        }
        return Some(StepKind::Set(assignments(reader, children)));
    }
    let Some(value) = value else {
        let (what, help) = match verb {
            "bot" => ("has no text", "write the text to show: `bot: \"…\"`"),
            "return" => ("has no status", "write `return: success`, or `return: error, …`"),
            "call" => ("has no target", "write the name of an agent or a function"),
            _ => ("has no target", "write the name of a label or a subflow"),
        };
        reader.problems.push(
            Diagnostic::error(rules::INVALID_VALUE, key.span, format!("this `{verb}` {what}"))
                .help(help),
        );
        return None;
    };
    reader.report_yaml_surprises(value, verb);
    Some(match verb {
        "bot" => StepKind::Bot(inline::template(value, reader.problems)),
        "label" => StepKind::Label(name(value)),
        "next" => StepKind::Next { target: name(value), tries },
        "call" => {
            let args = match args {
                Some((key, scalar, children, _)) => {
                    if scalar.is_some() {
                        reader.problems.push(
                            Diagnostic::error(
                                rules::INVALID_VALUE,
                                key.span,
                                "`args` expects arguments and values",
                            )
                            .help("write `name: value` below it"),
                        );
                    }
                    assignments(reader, children)
                }
                None => Vec::new(),
            };
            StepKind::Call { target: name(value), args }
        }
        _ => return_step(reader, value),
    })
}

fn name(value: &Scalar<'_>) -> Spanned<Name> {
    Spanned::new(SmolStr::new(value.value().trim()), value.span)
}

fn assignments<'t>(reader: &mut Reader<'_>, entries: &'t [Entry<'t>]) -> Vec<Assignment> {
    let mut all = Vec::new();
    for (key, value) in reader.pairs(entries) {
        if key.text.trim().is_empty() {
            reader.problems.push(
                Diagnostic::error(rules::INVALID_VALUE, key.span, "this value has no name")
                    .help("write `name: value`"),
            );
            continue;
        }
        let target = inline::key_path(key.text, key.span);
        let empty = Scalar::bare("", Span::new(key.span.file, key.span.end, key.span.end));
        let value = value.unwrap_or(&empty);
        all.push(Assignment {
            target,
            literal: inline::literal(value),
            path: inline::path(value),
            value_span: value.span,
            quoted: value.is_quoted(),
        });
    }
    all
}

fn return_step<'t>(reader: &mut Reader<'_>, value: &Scalar<'t>) -> StepKind<'t> {
    let Some((status, message)) = inline::returned(value) else {
        reader.problems.push(
            Diagnostic::error(
                rules::INVALID_VALUE,
                value.span,
                "`return` expects a status and a message",
            )
            .note("MICA treats every status except `success` as a failure")
            .help("write `return: success, …` or `return: error, …`"),
        );
        let status = Spanned::new(SmolStr::new_static("error"), value.span);
        let message = Spanned::new(value.to_smol(), value.span);
        return StepKind::Return { status, message: Some(message) };
    };
    if !matches!(status.value.as_str(), "success" | "error") {
        let near = closest(&status.value, ["success", "error"])
            .or_else(|| status.value.starts_with("succe").then_some("success"));
        let finding = Diagnostic::warning(
            rules::INVALID_VALUE,
            status.span,
            format!("unknown status `{status}`"),
        )
        .note("MICA treats every status except `success` as a failure");
        reader.problems.push(match near {
            Some(near) => finding.did_you_mean(near),
            None => finding.help("write `success` or `error`"),
        });
    }
    let comma = message.as_ref().is_some_and(|m| m.value.contains(','));
    if comma && status.value != "success" {
        let at = message.as_ref().map_or(value.span, |m| m.span);
        reader.problems.push(
            Diagnostic::warning(
                rules::MICA_RETURN,
                at,
                format!("MICA treats this `{status}` as a success because of the comma in the message"),
            )
            .note("it splits `return` at every comma, and with more than two parts it falls back to `success`")
            .help("write the message without commas"),
        );
    }
    StepKind::Return { status, message }
}
