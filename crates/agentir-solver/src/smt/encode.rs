//! A problem for Z3.
//!
//! What Z3 cannot say is left open, so it may find states that are none (the evaluator then refuses
//! them), but where it finds nothing, there is nothing.

use super::regex::found_in;
use super::term::{Readings, Term, Text, all, any, is, real, yes};
use crate::atom_class::{
    is_constant as constant, is_length, literals, may_occur_in_number as in_numbers,
    unprefixed as bare,
};
use crate::classes::FIELD;
use crate::problem::{Atom, AtomKind, ConstraintKind as GoalKind, Problem, Slot};
use crate::query::{Bound, FactKind, Type};
use crate::search::Assignment;
use crate::truth::{Formula, TruthSet as Outcomes};
use agentir_eval::{Date, Object, Value, evaluate, parse_number};
use agentir_expr::dialect::{Equality, Unset};
use agentir_expr::{BinaryOp, Expr, ExprKind, Literal, Path, Segment, UnaryOp};
use agentir_z3::z3::ast::{Bool, Int, Real};
use agentir_z3::z3::{Model, Solver};
use rustc_hash::FxHashSet;
use smol_str::{SmolStr, format_smolstr};
use std::cell::Cell;
use std::collections::BTreeMap;

/// The steps of saying a node of an expression to Z3.
const STEPS_OF_ENCODING: u64 = 20;

/// Whether something fails, and whether it is true if not.
#[derive(Clone)]
struct Truth {
    fails: Bool,
    holds: Bool,
}

/// Goals as Z3 has them.
pub(crate) struct Encoding<'p, 'a> {
    problem: &'p Problem<'a>,
    goals: Vec<Bool>,
    variables: BTreeMap<usize, Variable>,
    readings: Readings,
    /// Whether patterns are among the goals.
    has_patterns: Cell<bool>,
}

struct Variable {
    kind: Int,
    term: Term,
}

impl<'p, 'a> Encoding<'p, 'a> {
    pub(crate) fn new(problem: &'p Problem<'a>, goals: &[usize]) -> Self {
        let mut this = Self {
            problem,
            goals: Vec::new(),
            variables: BTreeMap::new(),
            readings: Readings::new(),
            has_patterns: Cell::new(false),
        };
        let goals: Vec<_> = goals.iter().filter_map(|g| problem.constraints.get(*g)).collect();
        for variable in goals.iter().flat_map(|g| g.variables.iter().copied()) {
            this.add_variable(variable);
        }
        let mut used: Vec<usize> = goals.iter().flat_map(|g| g.atoms.iter().copied()).collect();
        used.sort_unstable();
        used.dedup();
        let mut atoms: BTreeMap<usize, Truth> = BTreeMap::new();
        let mut told = FxHashSet::default();
        for at in used {
            let Some(atom) = problem.atoms.get(at) else { continue };
            problem.work.spend(atom.steps.saturating_mul(STEPS_OF_ENCODING));
            let mut tell = |text: &str| {
                if told.insert(SmolStr::new(text)) {
                    this.goals.extend(this.readings.told(text));
                }
            };
            match &atom.kind {
                AtomKind::Expr(expr) => literals(expr, &mut |literal, _| {
                    if let Literal::String(text) = literal {
                        tell(text);
                    }
                }),
                AtomKind::Fact(FactKind::OneOf(values)) => {
                    values.iter().for_each(|v| {
                        if let Value::Text(text) = v {
                            tell(text);
                        }
                    });
                }
                AtomKind::Fact(FactKind::Is(Value::Text(text))) => tell(text),
                _ => {}
            }
            let truth = this.atom(at, atom);
            atoms.insert(at, truth);
        }
        for goal in goals {
            let met = match &goal.kind {
                GoalKind::Is(formula, wanted) => among(&truth(formula, &atoms), *wanted),
                GoalKind::Differ([(a, wanted_a), (b, wanted_b)]) => {
                    let a = among(&truth(a, &atoms), *wanted_a);
                    let b = among(&truth(b, &atoms), *wanted_b);
                    a.eq(&b).not()
                }
            };
            this.goals.push(met);
        }
        this
    }

    pub(crate) fn has_patterns(&self) -> bool {
        self.has_patterns.get()
    }

    pub(crate) fn assert(&self, solver: &Solver) {
        for goal in &self.goals {
            solver.assert(goal);
        }
    }

    /// Symbols are named by the variable's place, so that the same question is the same to Z3.
    fn add_variable(&mut self, at: usize) {
        if self.variables.contains_key(&at) {
            return;
        }
        let name = |part: &str| format!("{part}{at}");
        let kind = Int::new_const(name("kind"));
        let of = |n: i64| kind.eq(Int::from_i64(n));
        let term = Term {
            fails: of(7),
            is_bool: of(1),
            is_number: of(2),
            is_text: of(3),
            is_date: of(4),
            is_list: of(5),
            is_object: of(6),
            bool: Bool::new_const(name("bool")),
            number: Real::new_const(name("number")),
            text: Text::new_const(name("text")),
            date: Real::new_const(name("date")),
            size: Int::new_const(name("size")).to_real(),
        };
        let path = self.problem.variables.get(at).map(|v| &v.path);
        let part = path.is_some_and(|p| !p.segments.is_empty());
        let may_fail = part && self.problem.semantics.unset_member == Unset::Error;
        let most = if may_fail { 7 } else { 6 };
        self.goals.push(kind.ge(Int::from_i64(0)));
        self.goals.push(kind.le(Int::from_i64(most)));
        self.goals.push(term.size.ge(real(0.0)));
        if !self.problem.any(|d| d.semantics().has_dates) {
            self.goals.push(term.is_date.not());
        }
        self.variables.insert(at, Variable { kind, term });
    }

    fn atom(&mut self, at: usize, atom: &Atom<'a>) -> Truth {
        let open = || Truth {
            fails: if atom.may_fail { Bool::new_const(format!("fails{at}")) } else { yes(false) },
            holds: Bool::new_const(format!("holds{at}")),
        };
        match &atom.kind {
            AtomKind::Opaque => open(),
            // Where dialects meet, conditions may come out either way: "no state" stays true.
            AtomKind::Expr(_) if self.problem.any(|d| !d.computes_like(self.problem.dialect)) => {
                open()
            }
            AtomKind::Expr(expr) => self.expr(expr).unwrap_or_else(open),
            AtomKind::Fact(kind) => {
                let term = atom.variables.first().and_then(|v| self.variables.get(v));
                let holds = term.and_then(|v| self.fact(kind, &v.term));
                holds.map_or_else(open, |holds| Truth { fails: yes(false), holds })
            }
            AtomKind::Part => match atom.variables.as_slice() {
                [whole, part] => Truth { fails: yes(false), holds: self.part(*whole, *part) },
                _ => open(),
            },
        }
    }

    /// That a part fits the whole; as `Problem::fits`.
    fn part(&self, whole: usize, part: usize) -> Bool {
        let (Some(w), Some(p)) = (self.variables.get(&whole), self.variables.get(&part)) else {
            return yes(true);
        };
        let paths = self.problem.variables.get(whole).zip(self.problem.variables.get(part));
        let Some((wp, pp)) = paths else { return yes(true) };
        let rest = pp.path.segments.get(wp.path.segments.len()..).unwrap_or_default();
        if is_length(&pp.path) {
            return yes(true);
        }
        let some = w.term.size.gt(real(0.0));
        let listed = matches!(rest.first(), Some(Segment::Index(_)));
        let list = if listed { w.term.is_list.clone() } else { yes(false) };
        let open = all(&[&any(&[&w.term.is_object, &list]), &some]);
        let inside = if rest.len() > 1 { yes(true) } else { p.term.fails.not() };
        let fails = self.problem.semantics.unset_member == Unset::Error;
        let unset = all(&[&p.term.is_unset(), &p.term.fails.not()]);
        let outside = if fails {
            // An empty object has no such field, which is not an error; anything else is one.
            let empty = all(&[&w.term.is_object, &yes(rest.len() == 1)]);
            empty.ite(&unset, &p.term.fails)
        } else {
            unset
        };
        open.ite(&inside, &outside)
    }

    fn fact(&self, kind: &FactKind, term: &Term) -> Option<Bool> {
        let unset = term.is_unset();
        let exactly = |value: &Value| Some(is(term, &Term::constant(value)?));
        let holds = match kind {
            FactKind::Set => return Some(unset.not()),
            FactKind::Is(value) => return exactly(value),
            FactKind::OneOf(values) => {
                let each: Vec<Bool> = values.iter().map(exactly).collect::<Option<_>>()?;
                any(&each.iter().collect::<Vec<_>>())
            }
            FactKind::Type(ty) => match ty {
                Type::Text => term.is_text.clone(),
                Type::Number => term.is_number.clone(),
                Type::Integer => all(&[&term.is_number, &term.number.is_int()]),
                Type::Bool => term.is_bool.clone(),
                Type::Date => {
                    let said = all(&[&term.is_text, &self.readings.is_date(&term.text)]);
                    any(&[&term.is_date, &said])
                }
                Type::List => term.is_list.clone(),
                Type::Object => term.is_object.clone(),
            },
            FactKind::AtLeast(bound, n) => measured(*bound, term, |m| m.ge(real(*n))),
            FactKind::AtMost(bound, n) => measured(*bound, term, |m| m.le(real(*n))),
            FactKind::Pattern(by) => {
                self.has_patterns.set(true);
                let matches = found_in(by, &term.text, &self.problem.work)?;
                let number = all(&[&term.is_number, &Bool::fresh_const("matches")]);
                let other = any(&[&term.is_text, &term.is_number]).not();
                any(&[&all(&[&term.is_text, &matches]), &number, &other])
            }
        };
        Some(any(&[&unset, &holds]))
    }

    /// Whether an expression holds; none if it cannot be said.
    fn expr(&mut self, expr: &Expr) -> Option<Truth> {
        let certain = |holds: Bool, fails: Bool| Some(Truth { fails, holds });
        match &expr.kind {
            ExprKind::IsSet { operand, negated } => {
                let term = self.term(operand)?;
                let set = term.is_set();
                certain(if *negated { set.not() } else { set }, term.fails)
            }
            ExprKind::Unary { op: UnaryOp::IsNumber, operand } => {
                let term = self.term(operand)?;
                let said = all(&[&term.is_text, &self.readings.is_number(&term.text)]);
                certain(any(&[&term.is_number, &said]), term.fails)
            }
            ExprKind::Unary { op: UnaryOp::Not, operand } => {
                let inner = self.expr(operand)?;
                certain(inner.holds.not(), inner.fails)
            }
            ExprKind::Call { function, args } => match (bare(&function.value), args.as_slice()) {
                (test @ ("IS_ARRAY" | "IS_NUMBER" | "IS_STRING"), [arg]) => {
                    let term = self.term(arg)?;
                    let holds = match test {
                        "IS_ARRAY" => term.is_list,
                        "IS_NUMBER" => term.is_number,
                        _ => term.is_text,
                    };
                    certain(holds, term.fails)
                }
                _ => self.value(expr),
            },
            ExprKind::Method { receiver, method, args } => {
                let op = match method.value.as_str() {
                    "contains" | "includes" => BinaryOp::Contains,
                    "startsWith" => BinaryOp::StartsWith,
                    "endsWith" => BinaryOp::EndsWith,
                    "matches" => BinaryOp::Matches,
                    _ => return self.value(expr),
                };
                match args.as_slice() {
                    [arg] => self.content(op, receiver, arg),
                    _ => None,
                }
            }
            ExprKind::Binary { op, left, right } => self.binary(*op, left, right, expr),
            _ => self.value(expr),
        }
    }

    /// The truthiness of a value.
    fn value(&mut self, expr: &Expr) -> Option<Truth> {
        let term = self.term(expr)?;
        let holds = self.readings.truthy(&term, self.problem.semantics);
        Some(Truth { fails: term.fails, holds })
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr, whole: &Expr) -> Option<Truth> {
        match op {
            BinaryOp::Contains | BinaryOp::StartsWith | BinaryOp::EndsWith | BinaryOp::Matches => {
                return self.content(op, left, right);
            }
            BinaryOp::In | BinaryOp::NotIn => {
                let ExprKind::List(items) = &right.kind else { return None };
                let term = self.term(left)?;
                let strict = self.problem.dialect.semantics().equality == Equality::Strict;
                let mut each = Vec::new();
                let mut fails = term.fails.clone();
                for item in items {
                    let item = self.term(item)?;
                    each.push(if strict {
                        self.readings.strictly_equal(&term, &item)
                    } else {
                        self.readings.equal(&term, &item)
                    });
                    fails = any(&[&fails, &item.fails]);
                }
                let within = any(&each.iter().collect::<Vec<_>>());
                let holds = if op == BinaryOp::In { within } else { within.not() };
                return Some(Truth { fails, holds });
            }
            BinaryOp::Add
            | BinaryOp::Subtract
            | BinaryOp::Multiply
            | BinaryOp::Divide
            | BinaryOp::Remainder => return self.value(whole),
            BinaryOp::Implies => return None,
            _ => {}
        }
        let (a, b) = (self.term(left)?, self.term(right)?);
        let either = any(&[&a.fails, &b.fails]);
        let readings = &self.readings;
        let (less, same, unordered) = readings.order(&a, &b, self.problem.semantics);
        let ordered = any(&[&either, &unordered]);
        let (holds, fails) = match op {
            BinaryOp::Equal => (readings.equal(&a, &b), either),
            BinaryOp::NotEqual => {
                let unset = any(&[&a.is_unset(), &b.is_unset()]);
                (any(&[&unset, &readings.equal(&a, &b).not()]), either)
            }
            BinaryOp::StrictEqual => (readings.strictly_equal(&a, &b), either),
            BinaryOp::StrictNotEqual => (readings.strictly_equal(&a, &b).not(), either),
            BinaryOp::Is => (is(&a, &b), either),
            BinaryOp::IsNot => (is(&a, &b).not(), either),
            BinaryOp::Less => (less, ordered),
            BinaryOp::LessEqual => (any(&[&less, &same]), ordered),
            // Nothing in ABL is greater that is in no order.
            BinaryOp::Greater => {
                let (more, _, _) = readings.order(&b, &a, self.problem.semantics);
                (more, ordered)
            }
            BinaryOp::GreaterEqual => {
                let (more, _, _) = readings.order(&b, &a, self.problem.semantics);
                (any(&[&more, &same]), ordered)
            }
            _ => return None,
        };
        Some(Truth { fails, holds })
    }

    /// Tests of texts, by a constant. Numbers are texts as well, and lists have items: of these Z3 knows
    /// nothing.
    fn content(&mut self, op: BinaryOp, whole: &Expr, part: &Expr) -> Option<Truth> {
        let (ExprKind::Literal(Literal::String(by) | Literal::Regex(by)), term) =
            (&part.kind, self.term(whole)?)
        else {
            return None;
        };
        let found = if op == BinaryOp::Matches {
            self.has_patterns.set(true);
            found_in(by, &term.text, &self.problem.work)?
        } else {
            let by = Term::constant(&Value::Text(by.clone()))?.text;
            match op {
                BinaryOp::Contains => term.text.contains(&by),
                BinaryOp::StartsWith => by.prefix(&term.text),
                _ => by.suffix(&term.text),
            }
        };
        let open = Bool::fresh_const("content");
        let known = |value: bool| {
            let literal = Expr::literal(Literal::Bool(value), whole.span);
            let kind =
                ExprKind::Binary { op, left: Box::new(literal), right: Box::new(part.clone()) };
            let test = Expr::new(kind, whole.span).ok()?;
            let found = evaluate(&test, &agentir_eval::State::new(), self.problem.dialect).ok()?;
            Some(yes(found == Value::Bool(true)))
        };
        let bools = term.bool.ite(&known(true)?, &known(false)?);
        let numbers = op == BinaryOp::Matches || in_numbers(by);
        let number = if numbers { term.is_number.clone() } else { yes(false) };
        let list = if op == BinaryOp::Contains { term.is_list.clone() } else { yes(false) };
        let holds = any(&[
            &all(&[&term.is_text, &found]),
            &all(&[&term.is_bool, &bools]),
            &all(&[&any(&[&number, &term.is_date, &list]), &open]),
        ]);
        Some(Truth { fails: term.fails, holds })
    }

    fn term(&mut self, expr: &Expr) -> Option<Term> {
        match &expr.kind {
            _ if constant(expr) => {
                let value =
                    evaluate(expr, &agentir_eval::State::new(), self.problem.dialect).ok()?;
                Term::constant(&value)
            }
            ExprKind::Path(path) => self.path(path),
            ExprKind::Unary { op: UnaryOp::Negate, operand } => {
                let term = self.term(operand)?;
                let (fails, number) = self.operand(&term);
                Some(Term { fails, ..Term::of_number(number.unary_minus()) })
            }
            ExprKind::Call { function, args } => match (bare(&function.value), args.as_slice()) {
                (name @ ("LENGTH" | "len" | "size"), [arg]) => {
                    let term = self.term(arg)?;
                    Some(length(&term, name == "LENGTH"))
                }
                _ => None,
            },
            ExprKind::Method { receiver, method, args }
                if args.is_empty() && matches!(method.value.as_str(), "length" | "size") =>
            {
                let term = self.term(receiver)?;
                Some(length(&term, false))
            }
            ExprKind::Binary { op, left, right } => self.arithmetic(*op, left, right),
            _ => None,
        }
    }

    fn path(&self, path: &Path) -> Option<Term> {
        let variable = |path: &Path| {
            self.problem.variable_of(path).and_then(|v| self.variables.get(&v)).map(|v| &v.term)
        };
        if let Some(term) = variable(path) {
            return Some(term.clone());
        }
        // `.length` of a text or a list; what an object has by that name is not known.
        let (_, rest) = path.segments.split_last()?;
        let term = variable(&Path { segments: rest.to_vec(), ..path.clone() })?;
        let open = Term::open("member");
        let has = any(&[&term.is_text, &term.is_list]);
        let missing = self.problem.semantics.unset_member == Unset::Error;
        let lacking = all(&[&has.not(), &term.is_object.not()]);
        let lacks = all(&[&yes(missing), &lacking]);
        let within = |open: &Bool| all(&[&term.is_object, open]);
        let size = term.is_text.ite(&term.text.length().to_real(), &term.size);
        Some(Term {
            fails: any(&[&term.fails, &lacks]),
            is_bool: within(&open.is_bool),
            is_number: any(&[&has, &within(&open.is_number)]),
            is_text: within(&open.is_text),
            is_date: within(&open.is_date),
            is_list: within(&open.is_list),
            is_object: within(&open.is_object),
            number: has.ite(&size, &open.number),
            ..open
        })
    }

    fn operand(&self, term: &Term) -> (Bool, Real) {
        self.readings.operand(term, self.problem.semantics)
    }

    /// Sums, differences, and products and quotients by a constant, exact; where texts or lists may be
    /// joined, nothing is known.
    fn arithmetic(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Option<Term> {
        let (a, b) = (self.term(left)?, self.term(right)?);
        let ((fails_a, x), (fails_b, y)) = (self.operand(&a), self.operand(&b));
        let mut fails = any(&[&fails_a, &fails_b]);
        let factor = constant(left) || constant(right);
        let number = match op {
            BinaryOp::Add => Real::add(&[&x, &y]),
            BinaryOp::Subtract => Real::sub(&[&x, &y]),
            BinaryOp::Multiply if factor => Real::mul(&[&x, &y]),
            BinaryOp::Divide if constant(right) => {
                fails = any(&[&fails, &y.eq(real(0.0))]);
                x.div(&y)
            }
            _ => return None,
        };
        let sum = Term { fails, ..Term::of_number(number) };
        if op != BinaryOp::Add {
            return Some(sum);
        }
        let joins = any(&[&a.is_text, &b.is_text, &all(&[&a.is_list, &b.is_list])]);
        let open = Term::open("joined");
        let lost = any(&[&a.fails, &b.fails]);
        let pick = |sum: &Bool, open: &Bool| joins.ite(open, sum);
        Some(Term {
            fails: any(&[&lost, &pick(&sum.fails, &open.fails)]),
            is_bool: pick(&sum.is_bool, &open.is_bool),
            is_number: pick(&sum.is_number, &open.is_number),
            is_text: pick(&sum.is_text, &open.is_text),
            is_date: pick(&sum.is_date, &open.is_date),
            is_list: pick(&sum.is_list, &open.is_list),
            is_object: pick(&sum.is_object, &open.is_object),
            number: joins.ite(&open.number, &sum.number),
            ..open
        })
    }

    /// What the variables stand for in a model.
    pub(crate) fn state(&self, model: &Model) -> Assignment {
        let slot = |variable: &Variable| {
            let kind = model.eval(&variable.kind, true).and_then(|k| k.as_i64()).unwrap_or(0);
            let number = |n: &Real| {
                model.eval(n, true).map_or(0.0, |n| match n.as_rational() {
                    Some((a, b)) => a as f64 / b as f64,
                    None => n.approx(17).parse().unwrap_or(0.0),
                })
            };
            let term = &variable.term;
            Slot::Value(match kind {
                1 => Value::Bool(
                    model.eval(&term.bool, true).and_then(|b| b.as_bool()).unwrap_or(false),
                ),
                2 => Value::Number(number(&term.number) + 0.0),
                3 => self.text(model, term),
                4 => Date::from_seconds(number(&term.date) as i64).map_or(Value::Null, Value::Date),
                5 => {
                    let size = number(&term.size).clamp(0.0, 1000.0) as usize;
                    Value::list(vec![Value::text("item"); size]).unwrap_or_default()
                }
                6 if number(&term.size) > 0.0 => {
                    let fields = BTreeMap::from([(SmolStr::new_static(FIELD), Value::Bool(true))]);
                    Value::object(fields).unwrap_or_default()
                }
                6 => Value::Object(Object::default()),
                7 => return Slot::Missing,
                _ => Value::Undefined,
            })
        };
        self.variables.iter().map(|(at, variable)| (*at, slot(variable))).collect()
    }

    /// A text of a model. Z3 does not know which numbers and dates texts say; where it wants a text
    /// that says one, it gets such a text.
    fn text(&self, model: &Model, term: &Term) -> Value {
        let text = model
            .eval(&term.text, true)
            .and_then(|t| t.as_string())
            .and_then(|t| super::text::unescaped(&t))
            .unwrap_or_default();
        let says = |is: Bool| model.eval(&is, true).and_then(|b| b.as_bool()).unwrap_or(false);
        let number = |n: Real| model.eval(&n, true).and_then(|n| n.as_rational());
        if says(self.readings.is_number(&term.text))
            && parse_number(&text).is_none()
            && let Some((a, b)) = number(self.readings.number(&term.text))
        {
            return Value::text(format_smolstr!("{}", a as f64 / b as f64));
        }
        if says(self.readings.is_date(&term.text))
            && Date::parse(&text).is_none()
            && let Some((a, b)) = number(self.readings.date(&term.text))
            && let Some(date) = Date::from_seconds(a / b.max(1))
        {
            return Value::text(format_smolstr!("{date}"));
        }
        Value::text(text)
    }
}

/// The length of a value; what has none gives 0 or fails. `LENGTH` does not count fields.
fn length(term: &Term, lenient: bool) -> Term {
    let whole = if lenient { yes(false) } else { term.is_object.clone() };
    let has = any(&[&term.is_text, &term.is_list, &whole]);
    let number = term.is_text.ite(
        &term.text.length().to_real(),
        &any(&[&term.is_list, &whole]).ite(&term.size, &real(0.0)),
    );
    let fails = if lenient { term.fails.clone() } else { any(&[&term.fails, &has.not()]) };
    Term { fails, ..Term::of_number(number) }
}

/// That a bound is kept by what has one.
fn measured(bound: Bound, term: &Term, keeps: impl Fn(&Real) -> Bool) -> Bool {
    match bound {
        Bound::Value => any(&[&term.is_number.not(), &keeps(&term.number)]),
        Bound::Length => {
            let text = any(&[&term.is_text.not(), &keeps(&term.text.length().to_real())]);
            let list = any(&[&term.is_list.not(), &keeps(&term.size)]);
            all(&[&text, &list])
        }
    }
}

/// What a formula comes out as.
fn truth(formula: &Formula, atoms: &BTreeMap<usize, Truth>) -> Truth {
    match formula {
        Formula::Const(outcome) => Truth {
            fails: yes(*outcome == Outcomes::ERROR),
            holds: yes(*outcome == Outcomes::TRUE),
        },
        Formula::Atom(at) => atoms
            .get(at)
            .cloned()
            .unwrap_or_else(|| Truth { fails: yes(false), holds: Bool::fresh_const("atom") }),
        Formula::Not(inner) => {
            let inner = truth(inner, atoms);
            Truth { fails: inner.fails, holds: inner.holds.not() }
        }
        Formula::And(parts) => chain(parts, true, atoms),
        Formula::Or(parts) => chain(parts, false, atoms),
        Formula::If(parts) => {
            let [condition, then, otherwise] = &**parts;
            let condition = truth(condition, atoms);
            let (then, otherwise) = (truth(then, atoms), truth(otherwise, atoms));
            let fails = condition.holds.ite(&then.fails, &otherwise.fails);
            Truth {
                fails: any(&[&condition.fails, &fails]),
                holds: condition.holds.ite(&then.holds, &otherwise.holds),
            }
        }
    }
}

/// A chain goes on as long as its parts come out as `neutral`; built from its end.
fn chain(parts: &[Formula], neutral: bool, atoms: &BTreeMap<usize, Truth>) -> Truth {
    let end = Truth { fails: yes(false), holds: yes(neutral) };
    parts.iter().rev().fold(end, |rest, part| {
        let part = truth(part, atoms);
        let goes_on = if neutral { part.holds.clone() } else { part.holds.not() };
        let goes_on = all(&[&part.fails.not(), &goes_on]);
        let holds = if neutral {
            all(&[&part.holds, &rest.holds])
        } else {
            any(&[&part.holds, &rest.holds])
        };
        Truth { fails: any(&[&part.fails, &all(&[&goes_on, &rest.fails])]), holds }
    })
}

/// Whether a truth is one of `wanted`.
fn among(truth: &Truth, wanted: Outcomes) -> Bool {
    let holds = all(&[&truth.fails.not(), &truth.holds]);
    let not = all(&[&truth.fails.not(), &truth.holds.not()]);
    let mut parts = Vec::new();
    for (outcome, is) in
        [(Outcomes::TRUE, &holds), (Outcomes::FALSE, &not), (Outcomes::ERROR, &truth.fails)]
    {
        if wanted.intersects(outcome) {
            parts.push(is);
        }
    }
    any(&parts)
}
