//! The types of AgentIR, one description each.

mod agent;
mod coordination;
mod flow;
mod gather;
mod knowledge;
mod memory;
mod program;
mod rules;
mod statement;
mod tool;
