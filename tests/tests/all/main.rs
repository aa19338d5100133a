//! Tests of the whole program, one module a topic.
//!
//! One program on purpose: it is linked once, and tests of all topics share the processors.

mod adl;
mod agent_script;
mod compare;
mod constructs;
mod conversations;
mod conversions;
mod convert;
mod convert_abl;
mod convert_adl;
mod convert_agent_script;
mod convert_comments;
mod corpus;
mod cost;
mod draw;
mod external;
mod fixes;
mod fmt;
mod foreign;
mod fuzz;
mod generated;
mod graph;
mod hostile;
mod hygiene;
mod ir_json;
mod isolation;
mod loops;
mod migrate;
mod mutations;
mod nested;
mod notations;
mod orchestration;
mod pages;
mod proofs;
mod properties;
mod replay;
mod requests;
mod reviewed;
mod rosetta;
mod runtime;
mod solver;
mod specification;
mod updates;
mod vendor;
mod xo;
