//! How many answers of the offline model are sensible, at least, with the agents of this repository.

use agentir_tests::talk::{SETS, hold_own, report};

/// The number of sensible answers of each set. Whoever improves the offline model raises it.
const FLOORS: &[(&str, usize)] = &[
    ("known", 15),
    ("held-out", 10),
    ("blind-1", 0),
    ("blind-2", 2),
    ("blind-3", 20),
    ("blind-4", 9),
    ("blind-5", 26),
    ("blind-6", 38),
    ("blind-7", 14),
    ("blind-8", 36),
    ("blind-9", 24),
    ("blind-10", 8),
];

#[test]
fn the_offline_model_answers_as_sensibly_as_before() {
    let mut worse = String::new();
    for (set, _) in SETS {
        let talks = hold_own(set);
        let replies = talks.iter().filter_map(|talk| talk.replies.as_ref()).flatten();
        let sensible = replies.filter(|reply| reply.faults.is_empty()).count();
        let floor = FLOORS.iter().find(|(name, _)| *name == set).map(|(_, floor)| *floor);
        if floor.is_none_or(|floor| sensible < floor) {
            worse += &format!("{set}: {sensible}, not {floor:?}\n{}", report(set, &talks, false));
        }
    }
    assert!(worse.is_empty(), "{worse}");
}
