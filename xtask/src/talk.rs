//! How sensibly the offline model answers.

use agentir_tests::talk::{SETS, hold, report};

pub(crate) fn print(only: &str, set: Option<&str>, verbose: bool) {
    for (name, _) in SETS.iter().filter(|(name, _)| set.is_none_or(|set| set == *name)) {
        print!("{}", report(name, &hold(name, only), verbose));
    }
}
