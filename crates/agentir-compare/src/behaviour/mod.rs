//! Behavioural equivalence: whether a conversation distinguishes two programs.

mod bisimulation;
mod guards;
mod labels;
mod pairs;
mod system;

use crate::location::{AnnouncedLosses, Location};
use crate::prover::{Condition, Prover};
use crate::{Side, Verdict};
use agentir_diagnostics::Span;
use agentir_flow::cfg::{AgentId, Cfg, Origin};
use agentir_solver::Answer;
use bisimulation::{Distinction, Partition};
use guards::{Atom, Atoms, Guards};
use pairs::PointPair;
use petgraph::graph::NodeIndex;
use rustc_hash::FxHashSet;
use schemars::JsonSchema;
use serde::Serialize;
use system::{Builder, Move, Program, System};

/// The maximal number of times that refinement is restarted because the solver refuted a
/// combination of conditions.
const MAX_REFINEMENTS: usize = 500;

/// The maximal number of turns that are shown before a difference.
const MAX_SHOWN_TURNS: usize = 20;

/// The comparison of the behaviour of two programs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Behaviour {
    /// The number of corresponding program points: the entries of agents, and their steps.
    pub places: usize,
    /// The number of them from which no conversation distinguishes the programs.
    pub same: usize,
    /// What could not be decided, and why.
    pub undecided: Vec<String>,
    /// The differences, in the order in which a conversation reaches them.
    pub different: Vec<Divergence>,
}

/// A conversation after which two programs differ.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Divergence {
    /// The agent.
    pub agent: String,
    /// The step at which the conversation begins; the entry of the agent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The number of turns that are omitted before `conversation`.
    pub turns_before: usize,
    /// The turns that both programs take first.
    pub conversation: Vec<Turn>,
    /// The conditions under which they then differ.
    pub when: Vec<String>,
    /// A state in which these conditions hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// What the first program does next.
    pub left: Vec<Turn>,
    /// What the second program does next.
    pub right: Vec<Turn>,
    /// Whether a loss was announced for its cause.
    pub announced: bool,
}

/// An action in a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Turn {
    /// The conditions under which it is taken.
    pub when: Vec<String>,
    /// The action: “says …”, “calls …”, “waits for the user”.
    pub does: String,
    /// Its location in the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Location>,
}

impl Divergence {
    /// Whether another one follows the same turn, where it reports the same difference.
    fn duplicates(&self, other: &Self) -> bool {
        let [one, other_one] =
            [self, other].map(|d| d.conversation.last().and_then(|t| t.at.as_ref()));
        match (one, other_one) {
            (Some(one), Some(other)) => one == other,
            _ => self.left == other.left && self.right == other.right,
        }
    }
}

impl Turn {
    /// Calls `change` with every text in it.
    fn texts_mut(&mut self, change: &mut dyn FnMut(&mut String)) {
        self.when.iter_mut().for_each(&mut *change);
        change(&mut self.does);
        self.at.iter_mut().for_each(|at| change(&mut at.file));
    }
}

impl Behaviour {
    /// Calls `change` with every text in it.
    pub(crate) fn texts_mut(&mut self, change: &mut dyn FnMut(&mut String)) {
        self.undecided.iter_mut().for_each(&mut *change);
        for one in &mut self.different {
            change(&mut one.agent);
            let texts = one.step.iter_mut().chain(&mut one.when).chain(&mut one.state);
            texts.for_each(&mut *change);
            let turns = one.conversation.iter_mut().chain(&mut one.left).chain(&mut one.right);
            turns.for_each(|turn| turn.texts_mut(change));
        }
    }

    pub(crate) fn verdict(&self) -> Verdict {
        Verdict::of(self.different.iter().map(|d| d.announced), self.undecided.is_empty())
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.places += other.places;
        self.same += other.same;
        self.undecided.extend(other.undecided);
        self.different.extend(other.different);
    }
}

pub(crate) fn compare(
    left: Side<'_>,
    right: Side<'_>,
    announced: &AnnouncedLosses,
    prover: &mut Prover,
) -> Behaviour {
    let graphs = [Cfg::of_program(left.program), Cfg::of_program(right.program)];
    let [first, second] = &graphs;
    let (pairs, agents) = pairs::agents([left.program, right.program], [first, second], announced);
    let points = pairs::points([first, second], &agents, announced);
    let mut found = Behaviour { places: points.len(), ..Behaviour::default() };
    found.different.extend(other_beginning([left, right], [first, second], &agents, announced));
    let [ours, theirs] = &pairs;
    let own = AnnouncedLosses::none();
    let programs = [
        Program::new((left.program, first), ours, &own),
        Program::new((right.program, second), theirs, announced),
    ];
    let programs = programs.each_ref();
    let occurrences = programs.map(Program::atom_occurrences);
    let Some(atoms) = Atoms::new(&occurrences, prover) else {
        found.undecided.push("there are too many conditions".to_owned());
        return found;
    };
    let mut guards = Guards::new(&atoms);
    let mut comparer = Comparer {
        sides: [left, right],
        programs,
        atoms: &atoms,
        prover,
        announced,
        refinements: 0,
        stopped: None,
    };
    match comparer.all(&points, &mut guards) {
        Some(all) => {
            found.same = all.same;
            found.undecided = all.undecided;
            found.different.extend(all.different);
        }
        None => found.undecided.push(comparer.too_large()),
    }
    found
}

/// The difference between two programs whose conversations begin with other agents.
fn other_beginning(
    sides: [Side<'_>; 2],
    cfgs: [&Cfg<'_>; 2],
    agents: &[(AgentId, AgentId)],
    announced: &AnnouncedLosses,
) -> Option<Divergence> {
    let [left, right] = sides.map(|side| side.program.entry());
    let find = |cfg: &Cfg<'_>, entry: Option<&agentir_ir::Agent>| {
        entry.and_then(|entry| cfg.find(&entry.metadata.name.value))
    };
    let [first, second] = cfgs;
    let begin = (find(first, left), find(second, right));
    match begin {
        (None, None) => return None,
        (Some(one), Some(other)) if agents.contains(&(one, other)) => return None,
        _ => {}
    }
    let turn = |entry: Option<&agentir_ir::Agent>, side: &Side<'_>| match entry {
        Some(entry) => {
            let name = &entry.metadata.name;
            let does = format!("begins with the agent `{name}`");
            Turn { when: Vec::new(), does, at: Location::of(side.sources, name.span) }
        }
        None => {
            let does = "does not say with which agent it begins".to_owned();
            Turn { when: Vec::new(), does, at: None }
        }
    };
    let [one, other] = &sides;
    let agent = left.or(right)?.metadata.name.value.to_string();
    Some(Divergence {
        agent,
        step: None,
        turns_before: 0,
        conversation: Vec::new(),
        when: Vec::new(),
        state: None,
        left: vec![turn(left, one)],
        right: vec![turn(right, other)],
        announced: announced.has_path("entry"),
    })
}

struct Comparer<'c, 'a> {
    sides: [Side<'a>; 2],
    programs: [&'c Program<'a>; 2],
    atoms: &'c Atoms,
    prover: &'c mut Prover,
    announced: &'c AnnouncedLosses,
    refinements: usize,
    /// The side and the node at which the graphs turned out to be too large.
    stopped: Option<(usize, NodeIndex)>,
}

/// The index of a pair of program points, with their difference or why it is undecided.
type PointResult = (usize, Result<Divergence, String>);

/// Whether the conditions of a distinguishing conversation can hold.
enum Feasibility {
    /// They can; with a state if there are conditions on the state.
    Feasible(Option<String>),
    /// They cannot, and the combination was excluded.
    Infeasible,
    /// The solver could not decide.
    Unknown,
}

impl Comparer<'_, '_> {
    /// Why nothing was decided: the graphs are too large, and where that turned out. A limit on all of a program is said of
    /// its first agent.
    fn too_large(&self) -> String {
        let why = "the graphs are too large to be compared";
        let (side, node) = self.stopped.map_or((0, None), |(side, node)| (side, Some(node)));
        let Some((side, program)) = self.sides.get(side).zip(self.programs.get(side)) else {
            return why.to_owned();
        };
        let node = node.and_then(|node| program.cfg.node(node));
        let part = node.and_then(|node| program.cfg.agent(node.agent));
        let Some(part) = part.or_else(|| program.cfg.agents().first()) else {
            return why.to_owned();
        };
        let name = &part.agent.metadata.name;
        let which =
            if self.stopped.is_some_and(|(side, _)| side == 1) { "second" } else { "first" };
        let at = node.and_then(|node| Location::of(side.sources, node.span));
        let at = at.or_else(|| Location::of(side.sources, name.span));
        let at = at.map_or_else(String::new, |at| format!(", {at}"));
        let how = if node.is_some() { "this was found at" } else { "they begin with" };
        format!("{why}; {how} agent `{name}` of the {which} program{at}")
    }

    fn all(&mut self, points: &[PointPair], guards: &mut Guards) -> Option<Behaviour> {
        let mut found = Behaviour::default();
        // The first difference from the entry of each agent.
        let begins = |at: usize| points.get(at).is_some_and(|p| p.step.is_none());
        let (parted, mut chosen) = self.differences(points, guards, false, &begins)?;
        found.same = points.len() - parted.len();
        if parted.is_empty() {
            return Some(found);
        }
        // The origin of each difference, and not only what leads to it.
        let parted: FxHashSet<usize> = parted.into_iter().collect();
        let (_, roots) = self.differences(points, guards, true, &|at| parted.contains(&at))?;
        for (point, difference) in roots {
            let duplicate = |one: &Result<Divergence, String>| match (one, &difference) {
                (Ok(one), Ok(other)) => one.duplicates(other),
                _ => false,
            };
            if !chosen.iter().any(|(at, one)| *at == point || duplicate(one)) {
                chosen.push((point, difference));
            }
        }
        for (_, difference) in chosen {
            match difference {
                Ok(divergence) => found.different.push(divergence),
                Err(why) => found.undecided.push(why),
            }
        }
        Some(found)
    }

    /// The pairs of program points that are not bisimilar, and for those `wanted` the first difference
    /// or why it could not be decided. Combinations that the solver refutes are excluded, and
    /// refinement restarts.
    fn differences(
        &mut self,
        points: &[PointPair],
        guards: &mut Guards,
        stops: bool,
        wanted: &dyn Fn(usize) -> bool,
    ) -> Option<(Vec<usize>, Vec<PointResult>)> {
        let mut builder = Builder::new(self.programs, self.atoms, guards);
        let Some(system) = builder.build(points, stops) else {
            self.stopped = builder.stopped;
            return None;
        };
        'refine: loop {
            let partition = Partition::new(&system, guards)?;
            let mut parted = Vec::new();
            let mut found = Vec::new();
            for (at, (states, point)) in system.points.iter().zip(points).enumerate() {
                if partition.bisimilar(*states) {
                    continue;
                }
                parted.push(at);
                if !wanted(at) {
                    continue;
                }
                let distinction = partition.distinguish(&system, guards, *states)?;
                if guards.too_large {
                    return None;
                }
                match self.feasibility(&distinction, guards) {
                    Feasibility::Infeasible => {
                        self.refinements += 1;
                        if self.refinements > MAX_REFINEMENTS {
                            return None;
                        }
                        continue 'refine;
                    }
                    Feasibility::Feasible(state) => {
                        let divergence =
                            self.divergence(points, point, &system, guards, &distinction, state);
                        found.push((at, Ok(divergence)));
                    }
                    Feasibility::Unknown => {
                        let step = point
                            .step
                            .as_deref()
                            .map_or_else(String::new, |s| format!(", step `{s}`"));
                        let when = self.conditions(&distinction.cube).join(" and ");
                        found.push((
                            at,
                            Err(format!(
                                "agent `{}`{step}: whether it can be that {when}",
                                point.agent
                            )),
                        ));
                    }
                }
            }
            return (!guards.too_large).then_some((parted, found));
        }
    }

    /// Asks the solver whether the conditions of a conversation can hold, action by action: between two
    /// actions any variable may change.
    fn feasibility(&mut self, distinction: &Distinction, guards: &mut Guards) -> Feasibility {
        let mut unknown = false;
        let mut state = None;
        let cubes = distinction.prefix.iter().map(|p| &p.cube).chain([&distinction.cube]);
        for cube in cubes {
            state = None;
            let mut conditions: Vec<(&Condition, bool)> = Vec::new();
            let mut agent = None;
            for (variable, holds) in cube {
                if let Some((Atom::Condition(one @ Condition::Expr(..)), whose)) =
                    self.atoms.atom(*variable)
                {
                    conditions.push((one, *holds));
                    agent.get_or_insert(whose);
                }
            }
            let Some(agent) = agent else { continue };
            match self.prover.possible(&conditions, agent) {
                Answer::Sat(example) => {
                    state = Some(example.to_string()).filter(|text| !text.is_empty());
                }
                Answer::Unsat(_) => {
                    let cube: Vec<(u16, bool)> = cube
                        .iter()
                        .copied()
                        .filter(|(variable, _)| {
                            let atom = self.atoms.atom(*variable).map(|(atom, _)| atom);
                            matches!(atom, Some(Atom::Condition(Condition::Expr(..))))
                        })
                        .collect();
                    guards.learn(&cube);
                    return Feasibility::Infeasible;
                }
                Answer::Unknown(_) => unknown = true,
            }
        }
        if unknown { Feasibility::Unknown } else { Feasibility::Feasible(state) }
    }

    /// The values of variables as text.
    fn conditions(&self, cube: &[(u16, bool)]) -> Vec<String> {
        let text = |(variable, holds): &(u16, bool)| {
            let (atom, _) = self.atoms.atom(*variable)?;
            Some(match (atom, *holds) {
                (Atom::Condition(condition), true) => condition.to_string(),
                (Atom::Condition(condition), false) => format!("not ({condition})"),
                (Atom::Event(event), true) => event.clone(),
                (Atom::Event(event), false) => format!("not: {event}"),
            })
        };
        cube.iter().filter_map(text).collect()
    }

    fn span(&self, side: usize, at: Move) -> Option<Span> {
        Some(self.programs.get(side)?.cfg.node(at.node)?.span)
    }

    fn turn(&self, points: &[PointPair], system: &System, side: usize, at: Move) -> Turn {
        let text = system.labels.get(at.label as usize).cloned().unwrap_or_default();
        // A jump to a common program point carries its index.
        let point = text.strip_prefix("point ").and_then(|n| n.parse::<usize>().ok());
        let does = match point.and_then(|n| points.get(n)) {
            Some(PointPair { step: Some(step), .. }) => format!("goes on with the step `{step}`"),
            Some(PointPair { agent, .. }) => format!("goes on with the agent `{agent}`"),
            None => text,
        };
        let span = self.sides.get(side).zip(self.span(side, at));
        Turn { when: Vec::new(), does, at: span.and_then(|(s, at)| Location::of(s.sources, at)) }
    }

    /// Whether a loss is reported for an action, at its span or at one of the values that it uses.
    fn is_announced(&self, side: usize, at: Move) -> bool {
        let Some(node) = self.programs.get(side).and_then(|program| program.cfg.node(at.node))
        else {
            return false;
        };
        // A node without a span is located at its step.
        let span = match node.step {
            Some(step) if node.span == Span::default() => step.span,
            _ => node.span,
        };
        // Which agent asks for a variable depends on its declaration.
        let collected =
            labels::fields(node).into_iter().any(|name| self.announced.has_declaration(name));
        // An assignment that only the output has may be made from others.
        let program = self.programs.get(side);
        let agent = program.and_then(|program| program.cfg.agent(node.agent));
        let assigned = agent.zip(labels::assigned(node)).is_some_and(|(part, variable)| {
            self.announced.has_assignment(&part.agent.metadata.name.value, &variable)
        });
        collected
            || assigned
            || self.is_loss_reported(side, span)
            || labels::value_spans(node).into_iter().any(|span| self.is_loss_reported(side, span))
            || program.and_then(|program| program.called(node)).is_some_and(|tool| {
                let sets = tool.on_result.iter().chain(&tool.on_error);
                labels::spans_of(sets).into_iter().any(|span| self.is_loss_reported(side, span))
            })
    }

    fn is_loss_reported(&self, side: usize, span: Span) -> bool {
        self.announced.has_span(side, span)
    }

    /// Whether a loss is reported for the cause of a difference: for a condition that only one program
    /// tests, or for the path to the unmatched action.
    fn caused_by_loss(&self, system: &System, distinction: &Distinction) -> bool {
        let (side, only) = distinction.unmatched;
        let from =
            distinction.states.get(side).and_then(|state| *system.node.get(*state as usize)?);
        let path =
            from.zip(self.programs.get(side)).map(|(from, p)| p.internal_path(from, only.node));
        let conditions = distinction
            .cube
            .iter()
            .flat_map(|(variable, _)| self.atoms.one_sided_occurrences(*variable));
        path.into_iter().flatten().map(|span| (side, span)).chain(conditions).any(|(side, span)| {
            // What a whole step or agent decides is located at its start.
            self.is_loss_reported(side, span.at_start())
        })
    }

    /// Whether a difference is right behind the call of a function that the first program does not declare and whose loss
    /// is reported: what comes of the call rests on how the output declares it.
    fn follows_a_guessed_call(&self, distinction: &Distinction) -> bool {
        distinction.prefix.last().is_some_and(|step| {
            let [first, _] = step.moves;
            let node = self.programs.first().and_then(|program| program.cfg.node(first.node));
            node.is_some_and(|node| matches!(node.origin, Origin::Name(_)))
                && self.is_announced(0, first)
        })
    }

    fn divergence(
        &self,
        points: &[PointPair],
        point: &PointPair,
        system: &System,
        guards: &mut Guards,
        distinction: &Distinction,
        state: Option<String>,
    ) -> Divergence {
        let turns_before = distinction.prefix.len().saturating_sub(MAX_SHOWN_TURNS);
        let conversation = distinction
            .prefix
            .iter()
            .skip(turns_before)
            .map(|step| {
                let [first, _] = step.moves;
                let turn = self.turn(points, system, 0, first);
                Turn { when: self.conditions(&step.cube), ..turn }
            })
            .collect();
        // The moves that are enabled under these conditions.
        let mut enabled = [Vec::new(), Vec::new()];
        let mut announced =
            self.caused_by_loss(system, distinction) || self.follows_a_guessed_call(distinction);
        for (side, (state, enabled)) in distinction.states.iter().zip(&mut enabled).enumerate() {
            for m in system.moves.get(*state as usize).into_iter().flatten() {
                let guard = guards.restrict(m.guard, &distinction.cube);
                let guard = guards.possible(guard);
                if guard == guards::Guard::NEVER {
                    continue;
                }
                announced = announced || self.is_announced(side, *m);
                let turn = self.turn(points, system, side, *m);
                if !enabled.contains(&turn) {
                    enabled.push(turn);
                }
            }
        }
        let [mut left, mut right] = enabled;
        let (side, only) = distinction.unmatched;
        let only = self.turn(points, system, side, only);
        // Leave out the moves of both, except the label of the unmatched move.
        let names = |turns: &[Turn]| turns.iter().map(|t| t.does.clone()).collect::<Vec<_>>();
        let (ours, theirs) = (names(&left), names(&right));
        let retain_own = |turns: &mut Vec<Turn>, others: &[String]| {
            turns.retain(|t| !others.contains(&t.does) || t.does == only.does);
        };
        retain_own(&mut left, &theirs);
        retain_own(&mut right, &ours);
        Divergence {
            agent: point.agent.clone(),
            step: point.step.clone(),
            turns_before,
            conversation,
            when: self.conditions(&distinction.cube),
            state,
            left,
            right,
            announced,
        }
    }
}
