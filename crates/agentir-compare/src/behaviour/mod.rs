//! Behavioural equivalence: is there a conversation that distinguishes two programs?

mod actions;
mod bisimulation;
mod guards;
mod pairs;
mod system;

use crate::place::{Announced, Place};
use crate::prover::{Asked, Prover};
use crate::{Side, Verdict};
use agentir_diagnostics::Span;
use agentir_flow::cfg::Cfg;
use agentir_solver::Answer;
use bisimulation::{Blocks, Why};
use guards::{Atom, Atoms, Guards};
use pairs::Both;
use rustc_hash::FxHashSet;
use schemars::JsonSchema;
use serde::Serialize;
use system::{Builder, Move, Program, System};

/// How often what the solver refutes may be learnt before it is given up.
const MOST_LESSONS: usize = 500;

/// How many turns before a difference are shown.
const SHOWN: usize = 20;

/// What two programs do the same and what not.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Behaviour {
    /// How many places both have: where agents begin, and their steps.
    pub places: usize,
    /// At how many of them no conversation tells the programs apart.
    pub same: usize,
    /// Why nothing could be said, where that is so.
    pub undecided: Vec<String>,
    /// The differences, each where it is; the one that a conversation comes to first is the first.
    pub different: Vec<Divergence>,
}

/// A place at which two programs do not do the same.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Divergence {
    /// The agent.
    pub agent: String,
    /// The step from which the conversation begins; where the agent begins if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// How many turns of the conversation are left out before those that are shown.
    pub turns_before: usize,
    /// What both do first.
    pub conversation: Vec<Turn>,
    /// What must hold then for the difference to show.
    pub when: Vec<String>,
    /// A state in which all of that holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// What the first program does then.
    pub left: Vec<Turn>,
    /// What the second does.
    pub right: Vec<Turn>,
    /// Whether a loss was announced where it begins.
    pub announced: bool,
}

/// Something that is done in a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Turn {
    /// What must hold for it.
    pub when: Vec<String>,
    /// What is done: “says …”, “calls …”, “waits for the user”.
    pub does: String,
    /// Where the program says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Place>,
}

impl Divergence {
    /// Whether another one begins behind the same turn, where it shows the same.
    fn is_where(&self, other: &Self) -> bool {
        let [one, other_one] =
            [self, other].map(|d| d.conversation.last().and_then(|t| t.at.as_ref()));
        match (one, other_one) {
            (Some(one), Some(other)) => one == other,
            _ => self.left == other.left && self.right == other.right,
        }
    }
}

impl Behaviour {
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
    announced: &Announced,
    prover: &mut Prover,
) -> Behaviour {
    let graphs = [Cfg::of_program(left.program), Cfg::of_program(right.program)];
    let [first, second] = &graphs;
    let (pairs, agents) = pairs::agents([left.program, right.program], [first, second], announced);
    let places = pairs::places([first, second], &agents, announced);
    let mut found = Behaviour { places: places.len(), ..Behaviour::default() };
    let [ours, theirs] = &pairs;
    let own = Announced::nothing();
    let programs = [Program::new(first, ours, &own), Program::new(second, theirs, announced)];
    let programs = programs.each_ref();
    let questions = programs.map(Program::asked);
    let Some(atoms) = Atoms::new(&questions, prover) else {
        found.undecided.push("there are too many conditions".to_owned());
        return found;
    };
    let mut guards = Guards::new(&atoms);
    let mut comparing =
        Comparing { sides: [left, right], programs, atoms: &atoms, prover, announced, lessons: 0 };
    match comparing.all(&places, &mut guards) {
        Some(all) => {
            found.same = all.same;
            found.undecided = all.undecided;
            found.different = all.different;
        }
        None => found.undecided.push("the graphs are too large to be compared".to_owned()),
    }
    found
}

struct Comparing<'c, 'a> {
    sides: [Side<'a>; 2],
    programs: [&'c Program<'a>; 2],
    atoms: &'c Atoms,
    prover: &'c mut Prover,
    announced: &'c Announced,
    lessons: usize,
}

/// A place by its number, with its difference or why nobody can say.
type Told = (usize, Result<Divergence, String>);

/// What came of a difference when the solver was asked whether its conditions can hold.
enum Shown {
    /// They can; a state if one is needed.
    Possible(Option<String>),
    /// They cannot, and that was learnt.
    Impossible,
    /// Nobody knows.
    Unknown,
}

impl Comparing<'_, '_> {
    fn all(&mut self, places: &[Both], guards: &mut Guards) -> Option<Behaviour> {
        let mut found = Behaviour::default();
        // From the beginning of each agent what a conversation comes to first.
        let begins = |at: usize| places.get(at).is_some_and(|p| p.step.is_none());
        let (parted, mut chosen) = self.differences(places, guards, false, &begins)?;
        found.same = places.len() - parted.len();
        if parted.is_empty() {
            return Some(found);
        }
        // Where a difference is, and not only what leads to it.
        let parted: FxHashSet<usize> = parted.into_iter().collect();
        let (_, roots) = self.differences(places, guards, true, &|at| parted.contains(&at))?;
        for (place, difference) in roots {
            let told = |one: &Result<Divergence, String>| match (one, &difference) {
                (Ok(one), Ok(other)) => one.is_where(other),
                _ => false,
            };
            if !chosen.iter().any(|(at, one)| *at == place || told(one)) {
                chosen.push((place, difference));
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

    /// The places that are not the same, and for those `wanted` the first difference or why it could
    /// not be decided. What the solver refutes on the way is learnt, and all is refined again.
    fn differences(
        &mut self,
        places: &[Both],
        guards: &mut Guards,
        stops: bool,
        wanted: &dyn Fn(usize) -> bool,
    ) -> Option<(Vec<usize>, Vec<Told>)> {
        let system = Builder::new(self.programs, self.atoms, guards).build(places, stops)?;
        'again: loop {
            let blocks = Blocks::new(&system, guards)?;
            let mut parted = Vec::new();
            let mut found = Vec::new();
            for (at, (states, place)) in system.places.iter().zip(places).enumerate() {
                if blocks.same(*states) {
                    continue;
                }
                parted.push(at);
                if !wanted(at) {
                    continue;
                }
                let why = blocks.why(&system, guards, *states)?;
                match self.shown(&why, guards) {
                    Shown::Impossible => {
                        self.lessons += 1;
                        if self.lessons > MOST_LESSONS {
                            return None;
                        }
                        continue 'again;
                    }
                    Shown::Possible(state) => {
                        let divergence =
                            self.divergence(places, place, &system, guards, &why, state);
                        found.push((at, Ok(divergence)));
                    }
                    Shown::Unknown => {
                        let step = place
                            .step
                            .as_deref()
                            .map_or_else(String::new, |s| format!(", step `{s}`"));
                        let when = self.conditions(&why.cube).join(" and ");
                        found.push((
                            at,
                            Err(format!(
                                "agent `{}`{step}: whether it can be that {when}",
                                place.agent
                            )),
                        ));
                    }
                }
            }
            return Some((parted, found));
        }
    }

    /// Asks the solver whether the conditions on the way can hold, action by action: between two
    /// actions anything may change.
    fn shown(&mut self, why: &Why, guards: &mut Guards) -> Shown {
        let mut unknown = false;
        let mut state = None;
        let cubes = why.before.iter().map(|p| &p.cube).chain([&why.cube]);
        for cube in cubes {
            state = None;
            let mut asked: Vec<(&Asked, bool)> = Vec::new();
            let mut agent = None;
            for (variable, holds) in cube {
                if let Some((Atom::Condition(one @ Asked::Expr(..)), whose)) =
                    self.atoms.of(*variable)
                {
                    asked.push((one, *holds));
                    agent.get_or_insert(whose);
                }
            }
            let Some(agent) = agent else { continue };
            match self.prover.possible(&asked, agent) {
                Answer::Sat(example) => {
                    state = Some(example.to_string()).filter(|text| !text.is_empty());
                }
                Answer::Unsat(_) => {
                    let cube: Vec<(u16, bool)> = cube
                        .iter()
                        .copied()
                        .filter(|(variable, _)| {
                            let atom = self.atoms.of(*variable).map(|(atom, _)| atom);
                            matches!(atom, Some(Atom::Condition(Asked::Expr(..))))
                        })
                        .collect();
                    guards.learn(&cube);
                    return Shown::Impossible;
                }
                Answer::Unknown(_) => unknown = true,
            }
        }
        if unknown { Shown::Unknown } else { Shown::Possible(state) }
    }

    /// The values of variables in words.
    fn conditions(&self, cube: &[(u16, bool)]) -> Vec<String> {
        let says = |(variable, holds): &(u16, bool)| {
            let (atom, _) = self.atoms.of(*variable)?;
            Some(match (atom, *holds) {
                (Atom::Condition(asked), true) => format!("{asked}"),
                (Atom::Condition(asked), false) => format!("not ({asked})"),
                (Atom::Event(event), true) => event.clone(),
                (Atom::Event(event), false) => format!("not: {event}"),
            })
        };
        cube.iter().filter_map(says).collect()
    }

    fn span(&self, side: usize, at: Move) -> Option<Span> {
        Some(self.programs.get(side)?.cfg.node(at.node)?.span)
    }

    fn turn(&self, places: &[Both], system: &System, side: usize, at: Move) -> Turn {
        let says = system.actions.get(at.action as usize).cloned().unwrap_or_default();
        // A jump to a place that both have says which.
        let place = says.strip_prefix("place ").and_then(|n| n.parse::<usize>().ok());
        let does = match place.and_then(|n| places.get(n)) {
            Some(Both { step: Some(step), .. }) => format!("goes on with the step `{step}`"),
            Some(Both { agent, .. }) => format!("goes on with the agent `{agent}`"),
            None => says,
        };
        let place = self.sides.get(side).zip(self.span(side, at));
        Turn { when: Vec::new(), does, at: place.and_then(|(s, at)| Place::of(s.sources, at)) }
    }

    /// Whether a loss is reported of what is done: at its place, or at one of the values that it is
    /// done with.
    fn told(&self, side: usize, at: Move) -> bool {
        let Some(node) = self.programs.get(side).and_then(|program| program.cfg.node(at.node))
        else {
            return false;
        };
        // What has no place of its own is somewhere in its step.
        let span = match node.step {
            Some(step) if node.span == Span::default() => step.span,
            _ => node.span,
        };
        // Who asks for a variable depends on how it is declared.
        let asked = actions::fields(node).into_iter().any(|name| self.announced.declaration(name));
        asked
            || self.reported(side, span)
            || actions::places(node).into_iter().any(|span| self.reported(side, span))
    }

    fn reported(&self, side: usize, span: Span) -> bool {
        let side_of = self.sides.get(side);
        side_of.is_some_and(|one| self.announced.span(side, one.sources, span))
    }

    /// Whether a loss is reported of what decides that the two are not the same: of a condition that
    /// only one of them asks, or of the way to what only one of them does.
    fn decided_by_a_loss(&self, system: &System, why: &Why) -> bool {
        let (side, only) = why.only;
        let from = why.states.get(side).and_then(|state| *system.node.get(*state as usize)?);
        let way = from.zip(self.programs.get(side)).map(|(from, p)| p.way(from, only.node));
        let asked = why.cube.iter().flat_map(|(variable, _)| self.atoms.of_one_side(*variable));
        way.into_iter().flatten().map(|span| (side, span)).chain(asked).any(|(side, span)| {
            // What a whole step or agent decides is written where it begins.
            self.reported(side, span.at_start())
        })
    }

    fn divergence(
        &self,
        places: &[Both],
        place: &Both,
        system: &System,
        guards: &mut Guards,
        why: &Why,
        state: Option<String>,
    ) -> Divergence {
        let turns_before = why.before.len().saturating_sub(SHOWN);
        let conversation = why
            .before
            .iter()
            .skip(turns_before)
            .map(|passed| {
                let [first, _] = passed.moves;
                let turn = self.turn(places, system, 0, first);
                Turn { when: self.conditions(&passed.cube), ..turn }
            })
            .collect();
        // What each can do where these conditions hold.
        let mut doing = [Vec::new(), Vec::new()];
        let mut announced = self.decided_by_a_loss(system, why);
        for (side, (state, doing)) in why.states.iter().zip(&mut doing).enumerate() {
            for m in system.moves.get(*state as usize).into_iter().flatten() {
                let guard = guards.where_holds(m.guard, &why.cube);
                let guard = guards.possible(guard);
                if guard == guards::Guard::NEVER {
                    continue;
                }
                announced = announced || self.told(side, *m);
                let turn = self.turn(places, system, side, *m);
                if !doing.contains(&turn) {
                    doing.push(turn);
                }
            }
        }
        let [mut left, mut right] = doing;
        let (side, only) = why.only;
        let only = self.turn(places, system, side, only);
        // What both can do tells nothing; what only one can comes first.
        let names = |turns: &[Turn]| turns.iter().map(|t| t.does.clone()).collect::<Vec<_>>();
        let (ours, theirs) = (names(&left), names(&right));
        let alone = |turns: &mut Vec<Turn>, others: &[String]| {
            turns.retain(|t| !others.contains(&t.does) || t.does == only.does);
        };
        alone(&mut left, &theirs);
        alone(&mut right, &ours);
        Divergence {
            agent: place.agent.clone(),
            step: place.step.clone(),
            turns_before,
            conversation,
            when: self.conditions(&why.cube),
            state,
            left,
            right,
            announced,
        }
    }
}
