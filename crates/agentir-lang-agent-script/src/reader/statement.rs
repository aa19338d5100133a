//! Reads statements (specification part I, 5).

use super::super::inline::{self, EntryPoint, Parsed};
use super::super::outline::{
    Branch as RawBranch, BranchKind, Entry, EntryKind, Inline, Key, Text, Word,
};
use super::super::schema::{COLLECT, ProcedureKind, V3_2};
use super::super::template::{self, Segment};
use super::super::tree::{Branch, CollectForm, Procedure, Statement, StatementKind};
use super::{Reader, excerpt, spelled};
use agentir_diagnostics::{Applicability, Diagnostic, Edit, Fix, Span, closest};
use agentir_expr::{BinaryOp, Expr, ExprKind, Literal};
use agentir_syntax::rules;
use agentir_syntax::text::offset;

/// The context of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StatementContext {
    /// In a procedure of this kind.
    In(ProcedureKind),
    /// Below `run`.
    Callback,
    /// Below a tool of the model.
    Binding,
    /// In a block without a table.
    Unknown,
}

/// A keyword that a statement begins with.
pub(crate) struct Keyword {
    /// As it is written.
    pub words: &'static str,
    /// What follows it, in words.
    pub then: &'static str,
    /// Where it has an effect.
    pub contexts: &'static [StatementContext],
}

const PROMPT: StatementContext = StatementContext::In(ProcedureKind::Prompt);
const DETERMINISTIC: StatementContext = StatementContext::In(ProcedureKind::Deterministic);
const EXIT: StatementContext = StatementContext::In(ProcedureKind::Exit);
const CALLBACK: StatementContext = StatementContext::Callback;
const BINDING: StatementContext = StatementContext::Binding;

/// Where statements that act have an effect.
const ACTING: &[StatementContext] = &[PROMPT, DETERMINISTIC, CALLBACK, BINDING];

/// The keywords.
pub(crate) static KEYWORDS: &[Keyword] = &[
    keyword("set", "variable and its value", ACTING),
    keyword("run", "action", ACTING),
    keyword("with", "inputs", &[CALLBACK, BINDING]),
    keyword("to", "target of a transition", &[BINDING]),
    keyword("if", "condition", ACTING),
    keyword("else", "", ACTING),
    keyword("transition to", "target", &[PROMPT, DETERMINISTIC, EXIT, CALLBACK, BINDING]),
    keyword("available when", "condition", &[BINDING]),
    keyword("collect", "variable", &[PROMPT]),
    keyword("ask for", "variable", &[PROMPT]),
];

const fn keyword(
    words: &'static str,
    then: &'static str,
    contexts: &'static [StatementContext],
) -> Keyword {
    Keyword { words, then, contexts }
}

impl<'s> Reader<'s, '_> {
    /// The statements of a field.
    pub(super) fn procedure(
        &mut self,
        name: &str,
        key: Key<'s>,
        steps: ProcedureKind,
        inline: Inline<'s>,
        children: Vec<Entry<'s>>,
    ) -> Procedure<'s> {
        let context = StatementContext::In(steps);
        let mut procedure = Procedure::default();
        match inline {
            Inline::Nothing => {
                if children.is_empty() {
                    let span = key.span(self.file());
                    self.report(
                        Diagnostic::warning(
                            rules::INVALID_VALUE,
                            span,
                            format!("`{name}` is empty"),
                        )
                        .help("add statements below it, or remove it"),
                    );
                }
            }
            Inline::Arrow(at, behind) => {
                procedure.arrow = Some(Span::new(self.file(), at, at + 2));
                if let Some(text) = behind {
                    let span = text.span(self.file());
                    self.report(
                        Diagnostic::error(
                            rules::SYNTAX,
                            span,
                            "statements begin on the line below `->`",
                        )
                        .help("move it to a separate line, indented"),
                    );
                    procedure.statements.push(Statement {
                        kind: StatementKind::Invalid(text.raw, Vec::new()),
                        span,
                    });
                }
            }
            Inline::Template(raw) => {
                let template = template::block(&mut self.reading, raw);
                let span = template.span;
                self.check_template(context, self.first_line_of(span));
                procedure
                    .statements
                    .push(Statement { kind: StatementKind::Template(template), span });
            }
            Inline::Text(text) => {
                let span = text.span(self.file());
                if text.quoted && steps == ProcedureKind::Prompt {
                    self.report(
                        Diagnostic::error(
                            rules::INVALID_VALUE,
                            span,
                            format!("`{name}` expects text after `|`, or statements"),
                        )
                        .help(format!("write `{name}: |` and the text below")),
                    );
                    let inner = text.raw.get(1..text.raw.len() - 1).unwrap_or_default();
                    let template = template::quoted(&mut self.reading, inner, span);
                    procedure
                        .statements
                        .push(Statement { kind: StatementKind::Template(template), span });
                } else {
                    self.report(
                        Diagnostic::error(
                            rules::INVALID_VALUE,
                            span,
                            format!("`{name}` expects statements, found `{}`", excerpt(text.raw)),
                        )
                        .help(format!("write `{name}: ->` and the statements below")),
                    );
                    procedure.statements.push(Statement {
                        kind: StatementKind::Invalid(text.raw, Vec::new()),
                        span,
                    });
                }
            }
        }
        procedure.statements.extend(self.statements(children, context));
        procedure
    }

    pub(super) fn statements(
        &mut self,
        entries: Vec<Entry<'s>>,
        context: StatementContext,
    ) -> Vec<Statement<'s>> {
        entries.into_iter().map(|entry| self.statement(entry, context)).collect()
    }

    pub(super) fn statement(
        &mut self,
        entry: Entry<'s>,
        context: StatementContext,
    ) -> Statement<'s> {
        let span = entry.span(self.file());
        let kind = match entry.kind {
            EntryKind::Template(raw) => {
                self.check_template(context, self.first_line_of(span));
                self.report_nested("|", entry.children);
                StatementKind::Template(template::block(&mut self.reading, raw))
            }
            EntryKind::Statement { word, text } => {
                self.keyword_statement(word, text, entry.children, span, context)
            }
            EntryKind::Conditional(branches) => self.conditional(branches, context),
            EntryKind::Line(text) => self.line(text, entry.children, context),
            EntryKind::Pair { key, value } => {
                let first = key.span(self.file());
                if key.instance.is_some() && self.report_foreign_statement(key.name, first) {
                    // `for x in y:`
                } else if context != StatementContext::Unknown {
                    let at = key.whole(self.file());
                    self.report(
                        Diagnostic::error(
                            rules::SYNTAX,
                            at,
                            format!("expected a statement, found the field `{}`", key.name),
                        )
                        .help("statements are `|`, `set`, `run`, `if`, `transition`"),
                    );
                }
                StatementKind::Data(self.unknown_pair(key, value, entry.children, span))
            }
            EntryKind::Item => {
                self.report(
                    Diagnostic::error(
                        rules::SYNTAX,
                        self.first_line_of(span),
                        "expected a statement, found a sequence item",
                    )
                    .help("write lists in a prompt after `|`"),
                );
                StatementKind::Invalid(
                    "-",
                    self.statements(entry.children, StatementContext::Unknown),
                )
            }
        };
        Statement { kind, span }
    }

    /// Reports a statement of another language.
    fn report_foreign_statement(&mut self, word: &str, at: Span) -> bool {
        let help = match word {
            "go" | "goto" => "write `transition to @subagent.name`",
            "let" | "var" => "write `set @variables.name = value`",
            "call" => "write `run @actions.name`",
            "print" | "say" => "write `| text`",
            "for" | "while" | "return" | "def" | "switch" | "match" | "case" | "try" => {
                "statements are `|`, `set`, `run`, `if`, `transition`"
            }
            _ => return false,
        };
        self.report(
            Diagnostic::error(
                rules::SYNTAX,
                at,
                format!("`{word}` is not a statement of Agent Script"),
            )
            .help(help),
        );
        true
    }

    fn misplaced(&mut self, span: Span, message: String, help: &str) {
        self.report(Diagnostic::error(rules::MISPLACED_STATEMENT, span, message).help(help));
    }

    /// Reports text for the model where there is no prompt.
    fn check_template(&mut self, context: StatementContext, span: Span) {
        match context {
            StatementContext::In(ProcedureKind::Prompt) | StatementContext::Unknown => {}
            StatementContext::In(_) => self.misplaced(
                span,
                "a prompt text has no effect here".to_owned(),
                "move it to `reasoning.instructions`",
            ),
            StatementContext::Callback | StatementContext::Binding => self.report(
                Diagnostic::warning(
                    rules::MISPLACED_STATEMENT,
                    span,
                    "text below an action is not added to the prompt",
                )
                .help("indent it like the action"),
            ),
        }
    }

    fn report_nested(&mut self, word: &str, children: Vec<Entry<'s>>) {
        if !children.is_empty() {
            // They stay in the tree, in the enclosing block.
            let below = self.no_children(word, children);
            self.misplaced.extend(below);
        }
    }

    fn keyword_statement(
        &mut self,
        word: Word,
        text: Text<'s>,
        children: Vec<Entry<'s>>,
        span: Span,
        context: StatementContext,
    ) -> StatementKind<'s> {
        let head = Span::new(span.file, span.start, span.start + offset(spelled(word).len()));
        if context == StatementContext::In(ProcedureKind::Exit) && word != Word::Transition {
            self.misplaced(
                head,
                format!("expected `transition`, found `{}`", spelled(word)),
                "write `transition to @kind.name`",
            );
        }
        match word {
            Word::Set => match self.reading.parse(text.raw, text.start, EntryPoint::Set) {
                Some(Parsed::Set(target, value)) => {
                    self.report_nested("set", children);
                    let value = self.interpolated(&value, text).unwrap_or(*value);
                    StatementKind::Set { target: *target, value }
                }
                _ => self.invalid(text, children),
            },
            Word::Run => self.run(text, children),
            Word::With => {
                let clause = self.reading.parse(text.raw, text.start, EntryPoint::With);
                let Some(Parsed::With(mut arguments)) = clause else {
                    return self.invalid(text, children);
                };
                for argument in &mut arguments {
                    if let Some(filled) = self.interpolated(&argument.value, text) {
                        argument.value = filled;
                    }
                }
                if matches!(context, StatementContext::In(_)) {
                    self.misplaced(
                        head,
                        "this `with` does not belong to an action".to_owned(),
                        "indent it below its `run`",
                    );
                }
                self.report_nested("with", children);
                StatementKind::With(arguments)
            }
            Word::To => {
                let clause = self.reading.parse(text.raw, text.start, EntryPoint::To);
                let Some(Parsed::Targets(targets)) = clause else {
                    return self.invalid(text, children);
                };
                if matches!(context, StatementContext::In(_)) {
                    self.misplaced(
                        head,
                        "this `to` does not belong to a transition".to_owned(),
                        "write `transition to @subagent.name` on one line",
                    );
                }
                self.report_nested("to", children);
                StatementKind::To(targets)
            }
            Word::Available => {
                let clause = self.reading.parse(text.raw, text.start, EntryPoint::Available);
                let Some(Parsed::Value(expr)) = clause else {
                    return self.invalid(text, children);
                };
                if context != StatementContext::Binding && context != StatementContext::Unknown {
                    self.misplaced(
                        head,
                        "`available when` only has an effect on tools of the model".to_owned(),
                        "use `if` here",
                    );
                }
                self.report_nested("available when", children);
                StatementKind::Available(*expr)
            }
            Word::Transition => {
                let clause = self.reading.parse(text.raw, text.start, EntryPoint::Transition);
                let Some(Parsed::Targets(targets)) = clause else {
                    return self.invalid(text, children);
                };
                let (with, body) = self.callback(children);
                StatementKind::Transition { targets, with, body }
            }
            Word::Collect | Word::Ask => self.collect(word, text, children, head, span, context),
            Word::StrayElse => {
                self.report(
                    Diagnostic::error(rules::SYNTAX, head, "this `else` has no matching `if`")
                        .help("indent it like the `if` it belongs to"),
                );
                self.invalid(text, children)
            }
        }
    }

    /// A text with placeholders as a concatenation of strings and values; `None` for other values, and for
    /// invalid placeholders, which have been reported.
    fn interpolated(&mut self, value: &Expr, line: Text<'s>) -> Option<Expr> {
        let ExprKind::Literal(Literal::String(text)) = &value.kind else { return None };
        if !text.contains("{!") {
            return None;
        }
        let span = value.span;
        let from = span.start.saturating_sub(line.start) as usize + 1;
        let to = (span.end.saturating_sub(line.start) as usize).saturating_sub(1);
        let template = template::quoted(&mut self.reading, line.raw.get(from..to)?, span);
        let mut whole = Expr::literal(Literal::String("".into()), span.at_start());
        for segment in template.segments() {
            let part = match segment {
                Segment::Text(text) => Expr::literal(Literal::String(text.into()), span),
                Segment::Placeholder(placeholder) => placeholder.expr.clone()?,
            };
            // A leading empty string makes the result a string; not needed if the first operand is one.
            let empty =
                matches!(&whole.kind, ExprKind::Literal(Literal::String(s)) if s.is_empty());
            if empty && matches!(part.kind, ExprKind::Literal(_)) {
                whole = part;
                continue;
            }
            let (left, right) = (Box::new(whole), Box::new(part));
            whole = Expr::new(ExprKind::Binary { op: BinaryOp::Add, left, right }, span).ok()?;
        }
        Some(whole)
    }

    /// An invalid line, already reported. Its nested lines are still read, but without knowing which statements
    /// are allowed there.
    fn invalid(&mut self, text: Text<'s>, children: Vec<Entry<'s>>) -> StatementKind<'s> {
        StatementKind::Invalid(text.raw, self.statements(children, StatementContext::Unknown))
    }

    fn run(&mut self, text: Text<'s>, children: Vec<Entry<'s>>) -> StatementKind<'s> {
        let Some(action) = self.reading.expr(text.raw, text.start, EntryPoint::Run) else {
            return self.invalid(text, children);
        };
        let named = action.as_path().is_some_and(|p| p.namespace.is_some());
        if !named {
            let diagnostic = Diagnostic::error(
                rules::INVALID_VALUE,
                action.span,
                format!("`run` expects an action, found `{}`", excerpt(text.raw)),
            );
            self.report(match (&action.kind, action.as_path()) {
                (_, Some(path)) => diagnostic.help(format!("write `run @actions.{}`", path.root)),
                (ExprKind::Call { .. }, _) => {
                    diagnostic.help("pass inputs with `with name=value` on the lines below")
                }
                _ => diagnostic.help("write `run @actions.name`"),
            });
        }
        let (with, body) = self.callback(children);
        StatementKind::Run { action, with, body }
    }

    /// The statements below an action: inputs, then the follow-up.
    fn callback(
        &mut self,
        children: Vec<Entry<'s>>,
    ) -> (Vec<super::super::tree::Argument>, Vec<Statement<'s>>) {
        let mut with = Vec::new();
        let mut body = Vec::with_capacity(children.len());
        for entry in children {
            let statement = self.statement(entry, StatementContext::Callback);
            match statement.kind {
                StatementKind::With(arguments) => with.extend(arguments),
                _ => body.push(statement),
            }
        }
        (with, body)
    }

    fn collect(
        &mut self,
        word: Word,
        text: Text<'s>,
        children: Vec<Entry<'s>>,
        head: Span,
        span: Span,
        context: StatementContext,
    ) -> StatementKind<'s> {
        let (goal, form) = match word {
            Word::Ask => (EntryPoint::Ask, CollectForm::AskFor),
            _ => (EntryPoint::Collect, CollectForm::Collect),
        };
        let Some(Parsed::Reference(target)) = self.reading.parse(text.raw, text.start, goal) else {
            return self.invalid(text, children);
        };
        if !matches!(
            context,
            StatementContext::In(ProcedureKind::Prompt) | StatementContext::Unknown
        ) {
            self.misplaced(
                head,
                format!("`{}` has no effect here", spelled(word)),
                "move it to `reasoning.instructions`",
            );
        }
        match (form, self.version) {
            (CollectForm::Collect, Some(version)) if version >= V3_2 => self.report(
                Diagnostic::warning(rules::DEPRECATED_FIELD, head, "`collect` is deprecated")
                    .help("write `ask for` instead")
                    .replace("ask for", Applicability::Unsafe),
            ),
            (CollectForm::AskFor, Some(version)) if version < V3_2 => self.report(
                Diagnostic::warning(
                    rules::NEWER_FORM,
                    head,
                    format!("`ask for` requires version {V3_2}"),
                )
                .note(format!("this document selects version {version}")),
            ),
            _ => {}
        }
        let properties = self.record(&COLLECT, span, None, children);
        StatementKind::Collect { target: *target, form, properties }
    }

    // ---- conditions ----------------------------------------------------------------------------

    fn conditional(
        &mut self,
        raw: Vec<RawBranch<'s>>,
        context: StatementContext,
    ) -> StatementKind<'s> {
        let mut branches = Vec::with_capacity(raw.len());
        let mut otherwise = None;
        if context == StatementContext::In(ProcedureKind::Exit)
            && let Some(first) = raw.first()
        {
            let head = Span::new(self.file(), first.start, first.start + 2);
            self.misplaced(
                head,
                "expected `transition`, found `if`".to_owned(),
                "write `transition to @kind.name`",
            );
        }
        for branch in raw {
            let span = Span::new(self.file(), branch.start, branch.end);
            if branch.kind == BranchKind::Else {
                self.check_else(branch.text, span);
                otherwise = Some(self.statements(branch.body, context));
                continue;
            }
            let condition = self.condition(branch.text, span);
            let body = self.statements(branch.body, context);
            branches.push(Branch { condition, body, span });
        }
        StatementKind::If { branches, otherwise }
    }

    fn condition(&mut self, text: Text<'s>, span: Span) -> Option<Expr> {
        if let Some(condition) = text.raw.strip_suffix(':')
            && let Some(expr) = inline::plain(self.file(), condition, text.start)
        {
            return Some(expr);
        }
        match self.reading.parse(text.raw, text.start, EntryPoint::Condition)? {
            Parsed::Condition(expr, colon) => {
                if !colon {
                    self.missing_colon(text, span);
                }
                Some(*expr)
            }
            _ => None,
        }
    }

    fn check_else(&mut self, text: Text<'s>, span: Span) {
        match text.raw {
            ":" => {}
            "" => self.missing_colon(text, span),
            raw => {
                let at = text.span(self.file());
                self.report(
                    Diagnostic::error(
                        rules::SYNTAX,
                        at,
                        format!("unexpected `{}` after `else`", excerpt(raw)),
                    )
                    .help("write `else:`, or `else if condition:`, and the statements below"),
                );
            }
        }
    }

    fn missing_colon(&mut self, text: Text<'s>, span: Span) {
        let end = text.end();
        self.report(
            Diagnostic::error(
                rules::SYNTAX,
                Span::new(span.file, span.start, end),
                "expected `:` at the end of this line",
            )
            .fix(Fix {
                title: "add `:`".to_owned(),
                edits: vec![Edit { span: Span::new(span.file, end, end), text: ":".to_owned() }],
                applicability: Applicability::Safe,
            }),
        );
    }

    // ---- other lines ---------------------------------------------------------------------------

    /// A line without a keyword.
    fn line(
        &mut self,
        text: Text<'s>,
        children: Vec<Entry<'s>>,
        context: StatementContext,
    ) -> StatementKind<'s> {
        let first = text.raw.split([' ', '\t']).next().unwrap_or_default();
        let word = first.chars().all(|c| c.is_alphanumeric() || c == '_');
        if word && first.len() < text.raw.len() {
            let at = Span::new(self.file(), text.start, text.start + offset(first.len()));
            if let Some(near) = closest(first, first_words()).filter(|_| first.len() > 2) {
                self.report(
                    Diagnostic::error(
                        rules::SYNTAX,
                        at,
                        format!("`{first}` is not a statement of Agent Script"),
                    )
                    .did_you_mean(near),
                );
                return self.invalid(text, children);
            }
            if self.report_foreign_statement(first, at) {
                return self.invalid(text, children);
            }
        }
        match self.reading.attempt(text.raw, text.start, EntryPoint::Value) {
            Ok(Parsed::Value(expr)) => {
                if context != StatementContext::Unknown {
                    self.report(
                        Diagnostic::warning(
                            rules::MISPLACED_STATEMENT,
                            expr.span,
                            "this value is unused",
                        )
                        .help("begin the line with `|`, `set`, `run`, `if` or `transition`"),
                    );
                }
                self.report_nested(excerpt(text.raw).as_str(), children);
                StatementKind::Expr(*expr)
            }
            Ok(_) => self.invalid(text, children),
            Err(failure) => {
                let prose = text.raw.split_whitespace().take(2).count() == 2
                    && !text.raw.contains(['@', '=', '(', '"']);
                if prose {
                    let span = text.span(self.file());
                    self.report(
                        Diagnostic::error(
                            rules::SYNTAX,
                            span,
                            format!("expected a statement, found `{}`", excerpt(text.raw)),
                        )
                        .help("write texts for the model after `|`"),
                    );
                } else {
                    let diagnostic = failure.diagnostic().map(|mut d| {
                        d.rule = rules::SYNTAX;
                        d
                    });
                    self.reading.problems.extend(diagnostic);
                }
                self.invalid(text, children)
            }
        }
    }
}

/// The words that statements begin with.
fn first_words() -> impl Iterator<Item = &'static str> {
    KEYWORDS.iter().filter_map(|keyword| keyword.words.split(' ').next())
}
