//! Emits statements (specification part I, 5).

use super::document::Context;
use super::layout::{Writer, name};
use super::{data, expr};
use agentir_ir::{Body, Branch, Call, Collect, Data, Statement};

/// A reference to an agent.
pub(super) fn agent(context: &Context<'_>, to: &str) -> String {
    let space = if context.remote.contains(to) { "connected_subagent" } else { "subagent" };
    format!("@{space}.{to}")
}

pub(super) fn body(w: &mut Writer, context: &Context<'_>, body: &Body) {
    for one in &body.0 {
        statement(w, context, one);
    }
}

/// Statements that Agent Script lacks have been replaced during adaptation.
fn statement(w: &mut Writer, context: &Context<'_>, one: &Statement) {
    match one {
        Statement::Instruct { text } => w.bar("", &text.text.value),
        Statement::Set(set) => {
            let target = expr::path(&set.target);
            w.line(format!("set {target} = {}", expr::print(&set.value)));
        }
        Statement::Call(call) => run(w, context, call),
        Statement::If { branches } => branches_of(w, context, branches),
        Statement::Handoff(to) => {
            w.line(format!("transition to {}", agent(context, &to.agent.value)));
        }
        Statement::Collect(asked) => collect(w, asked),
        Statement::Other { value: Data::String(text), .. } => w.raw(text),
        _ => {}
    }
}

fn run(w: &mut Writer, context: &Context<'_>, call: &Call) {
    w.block(format!("run @actions.{}", call.tool.value), |w| {
        for argument in &call.with {
            if let Some(parameter) = &argument.name {
                let value = expr::print(&argument.value);
                w.line(format!("with {}={value}", name(&parameter.value)));
            }
        }
        body(w, context, &call.on_success);
    });
}

fn branches_of(w: &mut Writer, context: &Context<'_>, branches: &[Branch]) {
    for (i, branch) in branches.iter().enumerate() {
        let condition = branch.condition.as_ref();
        let head = match condition.map(|c| c.expr()) {
            Some(Some(condition)) => {
                let keyword = if i == 0 { "if" } else { "else if" };
                format!("{keyword} {}:", expr::print(condition))
            }
            // A condition that could not be parsed is preserved as its source line.
            Some(None) => match data::own_fields(&branch.extensions).get("if") {
                Some(Data::String(line)) => line.clone(),
                _ => continue,
            },
            None if i == 0 => {
                self::body(w, context, &branch.body);
                return;
            }
            None => "else:".to_owned(),
        };
        w.block(head, |w| body(w, context, &branch.body));
    }
}

fn collect(w: &mut Writer, asked: &Collect) {
    for field in &asked.gather.fields {
        // The older keyword takes a message, the newer one instructions.
        let message = field.prompt.as_ref().or(asked.present.as_ref());
        let keyword = if message.is_some() { "collect" } else { "ask for" };
        w.block(format!("{keyword} @variables.{}", field.name.value), |w| {
            if let Some(text) = message {
                w.template("message", text);
            }
            if let Some(text) = &field.description {
                w.template("instructions", text);
            }
            for (key, value) in data::own_fields(&field.extensions) {
                if let Data::String(text) = value {
                    w.text(&key, &text);
                }
            }
        });
    }
}
