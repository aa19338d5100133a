//! Programs that share files: what can be checked without the rest of a workspace, and be kept while it changes.

use crate::assemble::LoadedProgram;
use crate::check::{CheckOptions, check_part};
use crate::load::Loaded;
use agentir_diagnostics::{Diagnostic, FileId};
use agentir_lint::Cancelled;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// Programs that share files, or files that belong to no program.
#[derive(Debug)]
pub struct Unit {
    /// The programs, by their index.
    programs: Vec<usize>,
    /// Their files, in order.
    files: Vec<FileId>,
    /// What decides the findings.
    state: State,
    findings: Arc<OnceLock<Vec<Diagnostic>>>,
}

/// What decides the findings of a unit beside the options of a check.
#[derive(Debug, PartialEq)]
struct State {
    /// The names and texts of the files.
    files: Vec<(Arc<str>, Arc<str>)>,
    /// The files of each program, and whether it is known to have no others.
    programs: Vec<(Vec<FileId>, bool)>,
    /// What reading the files found.
    front_end: Vec<Diagnostic>,
    /// The steps that the solver may take for a program.
    max_steps: u64,
}

impl Unit {
    /// Its files, in order.
    #[must_use]
    pub fn files(&self) -> &[FileId] {
        &self.files
    }

    /// Its findings, in order, if it was checked.
    #[must_use]
    pub fn findings(&self) -> Option<&[Diagnostic]> {
        self.findings.get().map(Vec::as_slice)
    }

    /// What reading its files alone finds, as a check reports it: without what comments suppress, and at the levels of the
    /// configuration.
    ///
    /// # Errors
    /// If the check was cancelled.
    pub fn read_findings(
        &self,
        loaded: &Loaded,
        options: CheckOptions<'_>,
    ) -> Result<Vec<Diagnostic>, Cancelled> {
        self.check(loaded, CheckOptions { fragment: true, ..options })
    }

    fn check(
        &self,
        loaded: &Loaded,
        options: CheckOptions<'_>,
    ) -> Result<Vec<Diagnostic>, Cancelled> {
        let programs: Vec<&LoadedProgram> =
            self.programs.iter().filter_map(|index| loaded.programs.get(*index)).collect();
        let options = CheckOptions { max_steps: self.state.max_steps, ..options };
        let files = (&loaded.sources, self.files.as_slice());
        let (checked, _) = check_part(&programs, self.state.front_end.clone(), files, options)?;
        Ok(checked.diagnostics)
    }
}

/// The units of what was loaded. `max_steps` are those of the solver for each program.
#[must_use]
pub fn units(loaded: &Loaded, max_steps: u64) -> Vec<Unit> {
    let count = loaded.sources.len();
    let mut groups = Groups::new(count);
    let files_of = |program: &LoadedProgram| {
        let all = program.files.iter().chain(&program.unread).chain(&program.data);
        all.map(|file| file.0 as usize).collect::<Vec<_>>()
    };
    for program in &loaded.programs {
        let files = files_of(program);
        if let Some(first) = files.first() {
            files.iter().for_each(|file| groups.join(*first, *file));
        }
    }
    // Files of no program are one unit: nothing is found in them but by reading them.
    let mut is_member = vec![false; count];
    for file in loaded.programs.iter().flat_map(files_of) {
        if let Some(is_member) = is_member.get_mut(file) {
            *is_member = true;
        }
    }
    let unit_of = |file: usize, groups: &mut Groups| {
        is_member.get(file).copied().unwrap_or_default().then(|| groups.of(file))
    };
    let mut all: BTreeMap<Option<usize>, Unit> = BTreeMap::new();
    for (id, file) in loaded.sources.iter() {
        let unit = all.entry(unit_of(id.0 as usize, &mut groups)).or_insert_with(|| Unit {
            programs: Vec::new(),
            files: Vec::new(),
            state: State {
                files: Vec::new(),
                programs: Vec::new(),
                front_end: Vec::new(),
                max_steps,
            },
            findings: Arc::default(),
        });
        unit.files.push(id);
        unit.state.files.push((Arc::clone(&file.name), Arc::clone(&file.text)));
    }
    for (index, program) in loaded.programs.iter().enumerate() {
        let first = files_of(program).first().copied();
        if let Some(unit) = first.and_then(|file| all.get_mut(&unit_of(file, &mut groups))) {
            unit.programs.push(index);
            unit.state.programs.push((program.files.clone(), program.program.complete));
        }
    }
    for finding in &loaded.diagnostics {
        let unit = unit_of(finding.primary.span.file.0 as usize, &mut groups);
        if let Some(unit) = all.get_mut(&unit) {
            unit.state.front_end.push(finding.clone());
        }
    }
    all.into_values().collect()
}

/// Takes the findings of units that are as they were. All else that decides findings must be as it was, too: the
/// configurations and the rules that run.
pub fn keep(units: &mut [Unit], before: &[Unit]) {
    let known: FxHashMap<Option<FileId>, &Unit> =
        before.iter().map(|unit| (unit.files.first().copied(), unit)).collect();
    for unit in units {
        let same = known.get(&unit.files.first().copied());
        if let Some(same) = same.filter(|same| same.is_like(unit)) {
            unit.findings = Arc::clone(&same.findings);
        }
    }
}

impl Unit {
    fn is_like(&self, other: &Self) -> bool {
        // Texts that did not change are shared, and need not be compared.
        let is_same =
            |(one, other): (&Arc<str>, &Arc<str>)| Arc::ptr_eq(one, other) || one == other;
        let (State { files, programs, front_end, max_steps }, theirs) = (&self.state, &other.state);
        self.files == other.files
            && files.len() == theirs.files.len()
            && files.iter().zip(&theirs.files).all(|((name, text), (other_name, other_text))| {
                is_same((name, other_name)) && is_same((text, other_text))
            })
            && *programs == theirs.programs
            && *front_end == theirs.front_end
            && *max_steps == theirs.max_steps
    }
}

/// Checks those of some units that were not checked.
///
/// # Errors
/// If the check was cancelled. Units that were done by then keep their findings.
pub fn check_units<'u>(
    units: impl IntoIterator<Item = &'u Unit>,
    loaded: &Loaded,
    options: CheckOptions<'_>,
) -> Result<(), Cancelled> {
    let open: Vec<&Unit> = units.into_iter().filter(|unit| unit.findings.get().is_none()).collect();
    let check = |unit: &Unit| {
        let found = unit.check(loaded, options)?;
        // Another thread may have been faster, with the same.
        let _ = unit.findings.set(found);
        Ok(())
    };
    match open.as_slice() {
        // A thread pool costs more than a single one.
        [one] => check(one),
        several => several.par_iter().try_for_each(|unit| check(unit)),
    }
}

/// Disjoint sets of numbers.
struct Groups(Vec<usize>);

impl Groups {
    fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    /// The smallest number of the set of one.
    fn of(&mut self, mut one: usize) -> usize {
        while let Some(above) = self.0.get(one).copied().filter(|above| *above != one) {
            let next = self.0.get(above).copied().unwrap_or(above);
            if let Some(here) = self.0.get_mut(one) {
                *here = next;
            }
            one = next;
        }
        one
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.of(one), self.of(other));
        if let Some(here) = self.0.get_mut(one.max(other)) {
            *here = one.min(other);
        }
    }
}
