//! Path-sensitive dataflow: paths through the control-flow graph on which a variable is never
//! defined.
//!
//! A search propagates constants and prunes paths whose guards contradict them: an undefined
//! variable is unset, an assigned constant has its value. So `x IS SET` protects a read, and so
//! does a flag that is set together with `x`. Every path that is found follows edges of the graph;
//! finding none proves nothing.
//!
//! Only variables whose definitions are all known are searched (`locals`); those that the user, the
//! model, tools or other agents may fill count as set. The analysis is built once per agent, and
//! each rule searches it with a limit of its own, which `agentir check --statistics` reports.

mod dropped;
mod external;
mod locals;
mod search;
mod uses;

pub use dropped::{DroppedVariable, DroppedVariables};
pub(crate) use external::ExternalDefs;
pub(crate) use locals::written_outside;
pub use locals::{Constants, LocalVariables, root};
pub use search::{Dataflow, DefIndex, SearchStats, UndefinedPaths};
pub use uses::{Consequence, UseCollector, UseSite};
