//! Agents with a flow.

use super::agent::{Subject, head, tools};
use super::words::Random;
use std::fmt::Write as _;

/// An agent that asks for its fields one after the other, calls its tools, and says goodbye.
pub(super) fn agent(subject: &Subject, random: &mut Random) -> String {
    let mut text = head(subject, random);
    text.push_str(&tools(subject, random));
    text.push_str(
        "MEMORY:\n  session:\n    - attempts\n        INITIAL: 0\n        RESET: per_session\n",
    );
    for (name, ..) in &subject.fields {
        let _ = writeln!(text, "    - {name}");
    }
    let asks: Vec<String> = subject.fields.iter().map(|(name, ..)| format!("ask_{name}")).collect();
    let calls: Vec<String> = subject.tools.iter().map(|tool| format!("try_{tool}")).collect();
    let mut steps: Vec<&str> = vec!["welcome"];
    steps.extend(asks.iter().map(String::as_str));
    steps.extend(calls.iter().map(String::as_str));
    steps.push("goodbye");
    let _ = write!(text, "\nFLOW:\n  {}\n", steps.join(" -> "));
    let mut following = steps.iter().skip(1);
    let mut next = || following.next().copied().unwrap_or("goodbye");

    let _ = write!(
        text,
        "\n  welcome:\n    REASONING: false\n    RESPOND: \"Welcome. Let us talk about the {}.\"\n    THEN: {}\n",
        subject.thing,
        next()
    );
    for ((name, ty, question), step) in subject.fields.iter().zip(&asks) {
        let then = next();
        match *ty {
            "boolean" | "string" if random.chance(30) => {
                branching(&mut text, step, name, question, then)
            }
            _ => {
                let _ = write!(
                    text,
                    "\n  {step}:\n    REASONING: false\n    GATHER:\n      - {name}:\n          type: {ty}\n          required: true\n          prompt: \"{question}\"\n    THEN: {then}\n"
                );
            }
        }
    }
    for (i, (tool, step)) in subject.tools.iter().zip(&calls).enumerate() {
        let arguments: Vec<&str> = subject.parameters(i).map(|(name, _)| name).collect();
        call(&mut text, step, tool, &arguments, next(), random);
    }
    text.push_str("\n  goodbye:\n    REASONING: false\n    RESPOND: \"Thank you, and until next time.\"\n    THEN: COMPLETE\n");
    text.push_str("\nON_ERROR:\n  tool_timeout:\n    RESPOND: \"One moment, the register is slow.\"\n    RETRY: 2\n    THEN: ESCALATE\n");
    text
}

/// A step that branches on the input.
fn branching(text: &mut String, step: &str, name: &str, question: &str, then: &str) {
    let _ = write!(
        text,
        "\n  {step}:\n    REASONING: false\n    RESPOND: \"{question}\"\n    ON_INPUT:\n      - IF: input == \"skip\" OR input.contains(\"later\")\n        RESPOND: \"We can come back to that.\"\n        SET: {name} = \"none\"\n        THEN: {then}\n      - IF: attempts >= 3\n        RESPOND: \"I will go on without it.\"\n        THEN: goodbye\n      - ELSE:\n        SET:\n          {name} = TRIM(input)\n          attempts = attempts + 1\n        RESPOND: \"I note {{{{{name}}}}}.\"\n        THEN: {then}\n"
    );
}

/// A step that calls a tool and branches on the result.
fn call(
    text: &mut String,
    step: &str,
    tool: &str,
    arguments: &[&str],
    then: &str,
    random: &mut Random,
) {
    let _ = write!(text, "\n  {step}:\n    REASONING: false\n");
    if random.chance(50) {
        let _ = writeln!(text, "    CALL: {tool}({})", arguments.join(", "));
    } else {
        let _ = writeln!(text, "    CALL: {tool}\n    WITH:");
        for argument in arguments {
            let _ = writeln!(text, "      {argument}: {argument}");
        }
    }
    if random.chance(60) {
        let _ = write!(
            text,
            "    ON_SUCCESS:\n      - IF: {tool}.status == \"free\" AND {tool}.count > {}\n        RESPOND: \"There are {{{{{tool}.count}}}}, the first is {{{{{tool}.reference}}}}.\"\n        THEN: {then}\n      - IF: {tool}.status == \"closed\"\n        RESPOND: \"They are closed today.\"\n        THEN: goodbye\n      - ELSE:\n        THEN: {then}\n    ON_FAIL:\n      RESPOND: \"That did not work, I am sorry.\"\n      THEN: goodbye\n",
            random.below(9)
        );
    } else {
        let _ = write!(
            text,
            "    ON_SUCCESS:\n      RESPOND: \"Noted under {{{{{tool}.reference}}}}.\"\n      THEN: {then}\n    ON_FAIL:\n      THEN: goodbye\n"
        );
    }
}
