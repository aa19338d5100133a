//! The paper of ADL compares five ways for agents to share a conversation (section 4, Table 1). Here it
//! is measured again: `docs/orchestration.md`.

use crate::check::{Checked, File, check};
use agentir_lang_abl::Options;
use agentir_model::Offline;
use agentir_runtime::{
    Event, EventKind, Host, Input, Machine, NoHuman, Observer, OrchestrationMethod, Usage,
};
use agentir_scenario::FixedClock;
use agentir_tools::{Stubs, Toolbox};
use rayon::prelude::*;
use std::fmt::Write;

/// The agents: one that chooses, with a guardrail, and three that answer.
const BOT: [(&str, &str); 4] = [
    ("corner_desk.agent.abl", include_str!("corner_desk.agent.abl")),
    ("shop_policy.agent.abl", include_str!("shop_policy.agent.abl")),
    ("book_guide.agent.abl", include_str!("book_guide.agent.abl")),
    ("order_clerk.agent.abl", include_str!("order_clerk.agent.abl")),
];

/// What tools answer.
const TOOLS: &str = "
tools:
  genre_of_book:
    - answer: { genre: crime }
  bestsellers:
    - answer: { titles: [The Cold Harbour, Nine Bells] }
  place_order:
    - answer: { order_number: B-1 }
";

/// Conversations in which every message is for another agent than the one before, with who is to
/// answer it.
const DIALOGUES: [&[(&str, &str)]; 5] = [
    &[
        ("Can you recommend a novel?", "Book_Guide"),
        ("Actually, I'd like to place an order for a book instead.", "Order_Clerk"),
        ("What are your opening hours?", "Shop_Policy"),
        ("Which author would you recommend for a long train ride?", "Book_Guide"),
        ("Please cancel my order.", "Order_Clerk"),
    ],
    &[
        ("How long does shipping take?", "Shop_Policy"),
        ("I want to buy a book.", "Order_Clerk"),
        ("Is there a novel like my favourite book?", "Book_Guide"),
        ("Do you do gift wrapping?", "Shop_Policy"),
        ("I want to change my order.", "Order_Clerk"),
    ],
    &[
        ("I want to place an order.", "Order_Clerk"),
        ("Wait, can you recommend another genre first?", "Book_Guide"),
        ("And how do returns and refunds work?", "Shop_Policy"),
        ("Fine, then I want to buy it: place the order.", "Order_Clerk"),
        ("Do you sell vouchers in the shop?", "Shop_Policy"),
    ],
    &[
        ("Which genre do you recommend for the summer?", "Book_Guide"),
        ("Is shipping free?", "Shop_Policy"),
        ("Recommend me an author of that genre.", "Book_Guide"),
        ("I would like to order it.", "Order_Clerk"),
        ("What about a refund and returns?", "Shop_Policy"),
    ],
    &[
        ("Do you have gift wrapping in the shop?", "Shop_Policy"),
        ("A recommendation for a crime novel, please.", "Book_Guide"),
        ("I want to buy two books.", "Order_Clerk"),
        ("Which favourite author should I read next?", "Book_Guide"),
        ("Until when is the shop open, what are the opening hours?", "Shop_Policy"),
    ],
];

/// The paper's Table 1: tokens of all prompts of a turn, and seconds.
const PAPER: [(OrchestrationMethod, u64, &str); 5] = [
    (OrchestrationMethod::Merging, 540, "2.34"),
    (OrchestrationMethod::FirstSuccess, 1732, "10.39"),
    (OrchestrationMethod::BestOfN, 1301, "7.29"),
    (OrchestrationMethod::Proactive, 540, "3.36"),
    (OrchestrationMethod::Autonomous, 601, "3.26"),
];

/// What the conversations cost by one method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Messages of users.
    pub turns: u64,
    /// Questions to the model.
    pub questions: u64,
    /// Their tokens, and those of the answers.
    pub usage: Usage,
    /// Turns in which the agent answered that was to.
    pub right: u64,
}

impl Cost {
    fn plus(mut self, other: Self) -> Self {
        self.turns += other.turns;
        self.questions += other.questions;
        self.usage += other.usage;
        self.right += other.right;
        self
    }

    /// Tokens of all prompts of a turn.
    #[must_use]
    pub const fn tokens(&self) -> u64 {
        (self.usage.input_tokens + self.turns / 2) / self.turns
    }
}

/// The agents that are measured.
#[must_use]
pub fn bot() -> Checked {
    let files = BOT.map(|(name, text)| File { name: name.to_owned(), text: text.to_owned() });
    check(&files, Options::default())
}

/// Who of the agents spoke last.
#[derive(Default)]
struct Speaker(Vec<String>);

impl Observer for Speaker {
    fn event(&mut self, event: &Event) {
        match &event.kind {
            EventKind::Say { .. } => self.0.push(event.agent.clone()),
            EventKind::Attempt { by, taken: true } => self.0.push(by.clone()),
            _ => {}
        }
    }
}

/// What one conversation costs.
fn dialogue(
    machine: &Machine<'_>,
    method: Option<OrchestrationMethod>,
    turns: &[(&str, &str)],
) -> Cost {
    let clock = FixedClock::at("2026-03-02T10:00:00Z").unwrap();
    let extractor = Offline::at(clock.moment().clone());
    let mut model = extractor.clone();
    let stubs = Stubs::read(TOOLS).unwrap();
    let mut tools = Toolbox::new(machine.program()).stubs(stubs);
    let mut session = machine.session(Some("Corner_Desk")).unwrap();
    session.set_orchestration(method);
    let mut cost = Cost::default();
    for (says, wanted) in [("", "")].iter().chain(turns) {
        let input = (!says.is_empty()).then(|| Input::text(*says));
        let mut speaker = Speaker::default();
        let mut host = Host {
            model: &mut model,
            extractor: &extractor,
            tools: &mut tools,
            human: &mut NoHuman,
            clock: &clock,
            observer: &mut speaker,
        };
        let came = machine.turn(&mut session, input.as_ref(), &mut host).unwrap();
        assert!(came.error.is_none(), "{says}: {:?}", came.error);
        cost.turns += u64::from(input.is_some());
        cost.right += u64::from(input.is_some() && speaker.0.last().is_some_and(|s| s == wanted));
    }
    cost.questions = session.model_calls;
    cost.usage = session.usage;
    cost
}

/// What the conversations cost by a method, or as the language says.
#[must_use]
pub fn measure(method: Option<OrchestrationMethod>) -> Cost {
    let checked = bot();
    let machine = Machine::new(&checked.program);
    let costs = DIALOGUES.par_iter().map(|turns| dialogue(&machine, method, turns));
    costs.reduce(Cost::default, Cost::plus)
}

/// A number of tenths.
fn tenths(count: u64, of: u64) -> String {
    let tenths = (count * 10 + of / 2) / of;
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// The document.
#[must_use]
pub fn document() -> String {
    let mut text = include_str!("head.md").to_owned();
    let mut bars = (Vec::new(), Vec::new());
    for (method, paper, seconds) in PAPER {
        let cost = measure(Some(method));
        let _ = writeln!(
            text,
            "| {method} | {} | {} | {} of {} | {paper} | {seconds} |",
            cost.tokens(),
            tenths(cost.questions, cost.turns),
            cost.right,
            cost.turns,
        );
        bars.0.push(cost.tokens().to_string());
        bars.1.push(paper.to_string());
    }
    let cost = measure(None);
    let _ = writeln!(
        text,
        "| none (ABL's own rules) | {} | {} | {} of {} | – | – |",
        cost.tokens(),
        tenths(cost.questions, cost.turns),
        cost.right,
        cost.turns,
    );
    let names: Vec<&str> = PAPER.iter().map(|(method, ..)| method.name()).collect();
    let _ = write!(
        text,
        "\n```mermaid\nxychart-beta\n    title \"Prompt tokens per turn: bars measured here, line from the paper\"\n    x-axis [{}]\n    y-axis \"tokens\" 0 --> 2000\n    bar [{}]\n    line [{}]\n```\n",
        names.join(", "),
        bars.0.join(", "),
        bars.1.join(", "),
    );
    text.push_str(include_str!("tail.md"));
    text
}
