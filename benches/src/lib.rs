//! Generated programs of each language and of any size, and benchmarks of each phase.
//!
//! *Invariant*: the same seed gives the same programs, on every machine; nothing here writes a file.

mod convert;
mod documents;
mod external;
pub mod generate;
pub mod keystroke;
mod measure;
mod phases;
mod proofs;
pub mod server;
mod sizes;
mod turns;

pub use measure::Options;
use std::path::Path;

/// Measures everything and passes each table to `done` as soon as it is complete: one for each language, those of the
/// third-party corpus in the folder `external`, and those for sizes, conversations and proofs.
pub fn tables(options: &Options, external: Option<&Path>, mut done: impl FnMut(&str)) {
    // Those of ABL are programs of several files, the others of one.
    let (files, seed) = (options.files, options.seed);
    let abl = generate::projects(files, seed);
    done(&phases::table("ABL, generated", &abl, options));
    let scripts = generate::scripts(files / 2, seed);
    done(&phases::table("Agent Script, generated", &scripts, options));
    done(&phases::table("ADL, generated", &generate::bots(files / 2, seed), options));
    if let Some(root) = external {
        for (name, ending) in [("Agent Script", "agent"), ("ADL", "yml")] {
            let projects = external::projects(root, ending);
            if !projects.is_empty() {
                done(&phases::table(&format!("{name}, third-party"), &projects, options));
            }
        }
        done(&convert::table(root, options));
    }
    done(&sizes::table(options));
    done(&turns::table(options));
    done(&proofs::table(&abl, options.rounds));
}
