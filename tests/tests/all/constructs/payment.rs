//! The agent of tests about calls, whatever they are about beside the call.

use std::fmt;

/// An agent that says "Hi.", and with the next message calls `pay`. What is given is whole lines of ABL.
#[derive(Clone, Copy)]
pub(super) struct Payment<'a> {
    /// How `pay` is declared beyond its parameter `amount`.
    pub(super) tool: &'a str,
    /// Further tools.
    pub(super) tools: &'a str,
    /// Further sections: `MEMORY`, `GATHER`, `CONSTRAINTS`.
    pub(super) sections: &'a str,
    /// What the flow has before its steps.
    pub(super) flow: &'a str,
    /// What the first step does with some messages instead of going to the call.
    pub(super) inputs: &'a str,
    /// The amount: an expression.
    pub(super) amount: &'a str,
    /// What follows the message "Paid.", and other consequences of the call.
    pub(super) paid: &'a str,
    /// Further steps.
    pub(super) steps: &'a str,
}

impl Default for Payment<'_> {
    fn default() -> Self {
        Self {
            tool: "    confirm: never\n",
            tools: "",
            sections: "",
            flow: "",
            inputs: "",
            amount: "1",
            paid: "    THEN: a\n",
            steps: "",
        }
    }
}

impl fmt::Display for Payment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tool, tools, sections, flow, inputs, amount, paid, steps } = self;
        write!(
            f,
            r#"AGENT: Desk
GOAL: "Payments"
TOOLS:
  pay(amount: number) -> {{ok: boolean}}
    description: "Pay"
{tool}{tools}{sections}FLOW:
{flow}  a:
    REASONING: false
    RESPOND: "Hi."
    ON_INPUT:
{inputs}      - ELSE:
        THEN: b
  b:
    REASONING: false
    CALL: pay({amount})
    ON_SUCCESS:
      RESPOND: "Paid."
{paid}{steps}"#
        )
    }
}
