//! Tool libraries, and the output of compilation.

use crate::describe::*;
use crate::words;
use agentir_expr::dialect::NONE;
use agentir_ir::{CompilationIssue, CompilationOutput, Deployment, ToolLibrary};

object! {
    /// Tools shared by several agents.
    ToolLibrary = "ToolLibrary" {
        /// The tools.
        tools as "tools": default(Default::default());
        /// The modules imported by tools written in code.
        imports as "imports": list;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
    skip dialect = NONE;
    skip comments = Vec::new();
    then |library, _, reader| library.dialect = reader.dialect;
}

object! {
    /// Hints for deployment.
    Deployment = "Deployment" {
        /// `voice`, `digital` or `workflow`, by agent.
        runtime_recommendations as "runtime_recommendations": default(Default::default()) in &["voice", "digital", "workflow"];
        /// Stateless agents, of which many instances may run at once.
        parallel_safe as "parallel_safe": default(Default::default());
        /// Stateful agents.
        stateful as "stateful": default(Default::default());
        /// Agents that a human can take over from.
        hitl_capable as "hitl_capable": default(Default::default());
    }
}

object! {
    /// An error or warning of the compilation.
    CompilationIssue = "CompilationIssue" {
        /// The agent, if known.
        agent as "agent": optional;
        /// The message.
        message as "message": required;
        /// The rule.
        code as "code": required;
        /// The location: `file:line:column`.
        path as "path": required;
        /// `parse`, `compilation`, `validation`.
        kind as "type": required in &["parse", "compilation", "validation"];
        /// `error`, `warning`.
        severity as "severity": required in &["error", "warning"];
    }
}

object! {
    /// The output of `agentir compile`.
    CompilationOutput = "CompilationOutput" {
        /// The version of this format.
        version as "version": required in words::VERSIONS;
        /// The agents including supervisors. Agents with errors are omitted.
        agents as "agents": required;
        /// The agent that talks to the user first.
        entry_agent as "entry_agent": optional;
        /// Tools shared by several agents.
        libraries as "libraries": list;
        /// Standalone behaviour profiles.
        behavior_profiles as "behavior_profiles": list;
        /// Hints for deployment.
        deployment as "deployment": default(Default::default());
        /// Agents that run elsewhere, so that a name of one of them is defined.
        remote_agents as "remote_agents": list;
        /// Whether these are all agents of the program, so that a name that none of them has is undefined. Without the
        /// key they are if there are several.
        complete as "complete": optional;
        /// Errors that prevented agents from being compiled.
        compilation_errors as "compilation_errors": list;
        /// Warnings.
        compilation_warnings as "compilation_warnings": list;
        /// Settings of the platform that AgentIR has no field for.
        extensions as "extensions": list;
    }
}
