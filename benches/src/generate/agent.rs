//! Documents without a flow: agents led by the model, supervisors, libraries, profiles.

use super::words::{DEEDS, FIELDS, JOBS, LIMITS, Random, THINGS, TRAITS, VERBS};
use std::fmt::Write as _;

/// What an agent is about.
#[derive(Debug)]
pub(super) struct Subject {
    /// Its name: `Kayak_Rental_3`.
    pub name: String,
    /// The thing: `kayak`.
    pub thing: &'static str,
    /// The names of its tools: `find_kayak`.
    pub tools: Vec<String>,
    /// What it asks for.
    pub fields: Vec<(&'static str, &'static str, &'static str)>,
    /// Whether it belongs to a project with a supervisor, a library and a profile.
    pub shared: bool,
}

impl Subject {
    pub(super) fn new(index: usize, shared: bool, random: &mut Random) -> Self {
        let thing = random.pick(THINGS);
        let (first, rest) = thing.split_at(1);
        let name = format!("{}{rest}_{}_{}", first.to_uppercase(), random.pick(DEEDS), index + 1);
        let count = random.between(2, 5);
        let tools = random
            .pick_some(VERBS, count)
            .into_iter()
            .map(|verb| format!("{verb}_{thing}"))
            .collect();
        let at = random.below(FIELDS.len());
        let count = random.between(3, 8);
        let fields = FIELDS.iter().cycle().skip(at).take(count).copied().collect();
        Self { name, thing, tools, fields, shared }
    }

    /// The fields as parameters of a tool: the first one or two.
    pub(super) fn parameters(
        &self,
        tool: usize,
    ) -> impl Iterator<Item = (&'static str, &'static str)> + '_ {
        let plain = |ty| if matches!(ty, "email" | "phone") { "string" } else { ty };
        self.fields.iter().take(1 + tool % 2).map(move |(name, ty, _)| (*name, plain(*ty)))
    }
}

/// Header, goal, persona, limitations, in the case of the format.
pub(super) fn head(subject: &Subject, random: &mut Random) -> String {
    let mut text = format!("# How a {} is dealt with.\nAGENT: {}\n", subject.thing, subject.name);
    if subject.shared {
        text.push_str("\nUSE BEHAVIOR_PROFILE: on_the_phone\n");
    }
    let _ = write!(
        text,
        "\nGOAL: \"Help the customer with the {} from the first question to the last\"\n",
        subject.thing
    );
    let _ = write!(text, "\nPERSONA: |\n  {} {}.\n", random.pick(TRAITS), random.pick(JOBS));
    let sentences = random.between(2, 9);
    for sentence in random.prose(sentences) {
        let _ = writeln!(text, "  {sentence}");
    }
    text.push_str("\nLIMITATIONS:\n");
    let count = random.between(1, 3);
    for limit in random.pick_some(LIMITS, count) {
        let _ = writeln!(text, "  - \"{limit}\"");
    }
    text
}

/// The tools of a subject.
pub(super) fn tools(subject: &Subject, random: &mut Random) -> String {
    let mut text = String::from("\nTOOLS:\n");
    for (i, tool) in subject.tools.iter().enumerate() {
        let parameters: Vec<String> =
            subject.parameters(i).map(|(name, ty)| format!("{name}: {ty}")).collect();
        let _ = writeln!(
            text,
            "  {tool}({}) -> {{status: string, count: number, reference: string}}",
            parameters.join(", ")
        );
        let _ = writeln!(text, "    description: \"{}\"", random.prose(1).concat());
        if random.chance(30) {
            text.push_str("    side_effects: true\n    confirm: always\n");
        }
        text.push('\n');
    }
    text
}

/// An agent that asks for what it needs in any order.
pub(super) fn gatherer(subject: &Subject, random: &mut Random) -> String {
    let mut text = head(subject, random);
    text.push_str(&tools(subject, random));
    text.push_str("GATHER:\n");
    for (name, ty, question) in &subject.fields {
        let _ = write!(text, "  {name}:\n    prompt: \"{question}\"\n    type: {ty}\n");
        match *ty {
            "number" if random.chance(60) => text.push_str(
                "    required: true\n    validate:\n      type: range\n      rule: \"1-60\"\n      error: \"Please give a number between 1 and 60.\"\n",
            ),
            _ if random.chance(50) => text.push_str("    required: true\n"),
            _ => text.push_str("    required: false\n"),
        }
        text.push('\n');
    }
    text.push_str("MEMORY:\n  session:\n    - wants_person\n        INITIAL: false\n    - attempts\n        INITIAL: 0\n");
    if let (Some(tool), Some((field, ..))) = (subject.tools.first(), subject.fields.first()) {
        text.push_str("\nCONSTRAINTS:\n  order:\n");
        let _ = write!(
            text,
            "    - REQUIRE {field} IS SET BEFORE calling {tool}\n      ON_FAIL: \"Let me ask for that first.\"\n"
        );
        if random.chance(50) {
            text.push_str("    - REQUIRE attempts < 5\n      ON_FAIL: ESCALATE\n");
        }
        let _ = write!(
            text,
            "\nESCALATE:\n  triggers:\n    - WHEN: wants_person == true OR attempts >= 4\n      REASON: \"Asked for a person\"\n      PRIORITY: high\n"
        );
        text.push_str("\nON_ERROR:\n  tool_error:\n    RESPOND: \"The register does not answer, I will try once more.\"\n    RETRY: 2\n    THEN: ESCALATE\n");
        let _ = write!(
            text,
            "\nCOMPLETE:\n  - WHEN: {tool}.reference IS SET\n    RESPOND: \"Done. Your reference is {{{{{tool}.reference}}}}{{{{#if attempts}}}} after {{{{attempts}}}} attempts{{{{/if}}}}.\"\n"
        );
    }
    text
}

/// A small agent in YAML.
pub(super) fn yaml(subject: &Subject, random: &mut Random) -> String {
    let mut text = format!("# How a {} is dealt with.\nagent: {}\n", subject.thing, subject.name);
    let _ = write!(
        text,
        "\ngoal: \"Help the customer with the {}\"\n\npersona: |\n  {} {}.\n",
        subject.thing,
        random.pick(TRAITS),
        random.pick(JOBS)
    );
    let sentences = random.between(2, 8);
    for sentence in random.prose(sentences) {
        let _ = writeln!(text, "  {sentence}");
    }
    let _ = write!(text, "\nlimitations:\n  - \"{}\"\n\ntools:\n", random.pick(LIMITS));
    for (i, tool) in subject.tools.iter().enumerate() {
        let _ = write!(
            text,
            "  - name: {tool}\n    description: \"{}\"\n    parameters:\n",
            random.prose(1).concat()
        );
        for (name, ty) in subject.parameters(i) {
            let _ = write!(text, "      - name: {name}\n        type: {ty}\n");
        }
        text.push_str("    returns:\n      type: object\n      fields:\n        status: string\n        reference: string\n");
    }
    text.push_str("\ngather:\n");
    for (name, ty, question) in &subject.fields {
        let _ = write!(
            text,
            "  {name}:\n    prompt: \"{question}\"\n    type: {ty}\n    required: {}\n",
            random.chance(60)
        );
    }
    if let Some(tool) = subject.tools.first() {
        let _ = write!(
            text,
            "\ncomplete:\n  - when: {tool}.reference IS SET\n    respond: \"Done: {{{{{tool}.reference}}}}\"\n"
        );
    }
    text
}

/// Who answers what.
pub(super) fn supervisor(agents: &[Subject], random: &mut Random) -> String {
    let mut text = String::from(
        "# The first to answer.\nSUPERVISOR: Front_Desk\n\nGOAL: \"Bring every customer to the one who can help\"\n\nPERSONA: |\n",
    );
    for sentence in random.prose(3) {
        let _ = writeln!(text, "  {sentence}");
    }
    text.push_str("\nAGENTS:\n");
    for (i, agent) in agents.iter().enumerate() {
        let _ = writeln!(text, "  {}_{}: {}", agent.thing, i + 1, agent.name);
    }
    text.push_str("\nROUTING:\n");
    for (i, agent) in agents.iter().enumerate() {
        let thing = agent.thing;
        let _ = writeln!(
            text,
            "  - INTENT({thing}_{}, {thing}_help_{}) -> {thing}_{}",
            i + 1,
            i + 1,
            i + 1
        );
    }
    if let Some(first) = agents.first() {
        let _ = writeln!(text, "  - DEFAULT -> {}_1", first.thing);
    }
    text.push_str("\nMEMORY:\n  session:\n    - customer_name\n\nCOMPLETE:\n  - WHEN: handoff.completed == true\n    RESPOND: \"Can I do anything else for you?\"\n");
    text
}

/// Tools for all agents of a project.
pub(super) fn library(random: &mut Random) -> String {
    let mut text = String::from(
        "# What all desks use.\nTOOLS:\n  base_url: \"https://records.example/api\"\n  auth: bearer\n  timeout: 8000\n\n",
    );
    for thing in random.pick_some(THINGS, 4) {
        let _ = write!(
            text,
            "  list_{thing}_records(customer: string, limit: number = 10) -> {{items: object[], total: number}}\n    description: \"{}\"\n    type: http\n    endpoint: \"/{thing}/records\"\n    method: GET\n\n",
            random.prose(1).concat()
        );
    }
    text
}

/// How agents behave on the telephone.
pub(super) fn profile(random: &mut Random) -> String {
    let mut text = String::from(
        "# Callers hear, they do not read.\nBEHAVIOR_PROFILE: on_the_phone\n\nPRIORITY: 10\nWHEN: channel == \"voice\"\n\nINSTRUCTIONS: |\n",
    );
    for sentence in random.prose(5) {
        let _ = writeln!(text, "  {sentence}");
    }
    text
}
