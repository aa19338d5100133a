//! Who answers which call.

use crate::server::{say, web};
use crate::{arguments, call_by_name, here, program};
use agentir_ir::Program;
use agentir_runtime::{FailureKind, MAX_ARGUMENTS, ToolCall, ToolFailure, Tools};
use agentir_tools::{Allow, EnvVars, Http, McpFile, Stubs, Toolbox};
use serde_json::{Value as Json, json};

const DESK: &str = r#"AGENT: Desk
GOAL: "Help"
TOOLS:
  find(city: string, guests: number = 2, when?: date) -> {hotels: string[]}
    description: "Find hotels"
  book(hotel: string, rooms: {beds: number, view?: string}[], paid: boolean, kind: string) -> {number: string}
    type: http
    endpoint: "https://hotels.example/book"
    method: POST
    parameters:
      kind:
        enum: [single, double]
  menu(stall: string) -> {dish: string}[]
    type: table
    table:
      - { stall: A, dish: soup }
      - { stall: B, dish: cake }
      - { stall: A, dish: tea }
  airport(code: string) -> string
    type: table
    table: airports
  station(name: string) -> string
    type: table
    table: stations
  remote(x: string) -> string
    type: lambda
    function: f
  nothing(x: string) -> string
LOOKUP_TABLES:
  airports:
    source: inline
    map: { LHR: London, CDG: Paris }
  stations:
    source: inline
    values: [Alma, Bethnal]
    case_sensitive: true
    fuzzy_match: true
"#;

fn desk() -> Program {
    program(&[("desk.agent.abl", DESK)])
}

fn call(by: &mut Toolbox, program: &Program, name: &str, with: Json) -> Result<Json, ToolFailure> {
    let tool = program.tools().find(|t| t.name.value == name);
    by.call(&ToolCall {
        agent: "Desk",
        name,
        tool,
        remote: None,
        arguments: arguments(with),
        timeout_ms: 5000,
        idempotency_key: String::new(),
        session: serde_json::Map::new(),
    })
}

#[test]
fn nothing_reaches_the_world_unless_it_may() {
    let program = desk();
    let mut toolbox = Toolbox::new(&program).http(Http::new(EnvVars::default(), here()));
    let good = json!({ "hotel": "Ritz", "rooms": [], "paid": true, "kind": "single" });
    let mut told = Vec::new();
    for (name, with) in [
        ("book", good.clone()),
        ("remote", json!({ "x": "1" })),
        ("nothing", json!({ "x": "1" })),
        ("find", json!({ "city": "Oslo" })),
        ("undeclared", json!({ "x": 1 })),
    ] {
        let failure = call(&mut toolbox, &program, name, with).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Refused);
        told.push(failure.explanation().to_owned());
    }
    insta::assert_snapshot!(told.join("\n--\n"));
    // Others are allowed, this one is not.
    let only = Allow::Only(["find".to_owned()].into());
    let mut toolbox = toolbox.allow(only);
    let failure = call(&mut toolbox, &program, "book", good).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Refused);
    assert_eq!(toolbox.calls().len(), 6);
}

#[test]
fn tables_always_answer() {
    let program = desk();
    let mut toolbox = Toolbox::new(&program);
    let mut ask = |name: &str, with| call(&mut toolbox, &program, name, with).unwrap();
    let soup_and_tea = json!([{ "stall": "A", "dish": "soup" }, { "stall": "A", "dish": "tea" }]);
    assert_eq!(ask("menu", json!({ "stall": "A" })), soup_and_tea);
    assert_eq!(ask("menu", json!({ "stall": "Z" })), json!([]));
    assert_eq!(ask("airport", json!({ "code": "lhr" })), json!("London"));
    assert_eq!(ask("airport", json!({ "code": "XXX" })), Json::Null);
    // As fields look values up (Cur. 3.5.2): case counts where the table says so, and texts may be similar.
    for (said, found) in
        [("Alma", json!("Alma")), ("alma", Json::Null), ("Bethnall", json!("Bethnal"))]
    {
        assert_eq!(ask("station", json!({ "name": said })), found, "{said}");
    }
}

#[test]
fn stubs_answer_first_and_get_arguments_as_declared() {
    let program = desk();
    let stubs = "tools:\n  find:\n    - answer: { hotels: ['{{city}} for {{guests}}'] }\n  menu:\n    - answer: []\n  undeclared:\n    - answer: 1\n";
    let mut toolbox = Toolbox::new(&program).stubs(Stubs::read(stubs).unwrap());
    // The default is added, and a number that came as text is one.
    let two = json!({ "hotels": ["Oslo for 2"] });
    assert_eq!(call(&mut toolbox, &program, "find", json!({ "city": "Oslo" })).unwrap(), two);
    let with = json!({ "city": "Oslo", "guests": "2", "when": null });
    assert_eq!(call(&mut toolbox, &program, "find", with).unwrap(), two);
    assert_eq!(call(&mut toolbox, &program, "menu", json!({ "stall": "A" })).unwrap(), json!([]));
    assert_eq!(call_by_name(&mut toolbox, "undeclared", json!({})).unwrap(), json!(1));
    // What is remembered is what was asked.
    assert_eq!(json!(toolbox.calls()[0].arguments), json!({ "city": "Oslo" }));
}

#[test]
fn arguments_are_held_to_the_declaration() {
    let program = desk();
    let mut toolbox = Toolbox::new(&program);
    let mut wrong = |name: &str, with| {
        let failure = call(&mut toolbox, &program, name, with).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Error);
        failure.message
    };
    let room = json!([{ "beds": 2, "view": "sea" }, { "view": "yard" }]);
    let told = [
        wrong("find", json!({})),
        wrong("find", json!({ "cty": "Oslo" })),
        wrong("find", json!({ "city": null })),
        wrong("find", json!({ "city": ["Oslo"], "guests": "two", "when": 5 })),
        wrong("book", json!({ "hotel": 1, "rooms": room, "paid": "perhaps", "kind": "triple" })),
        wrong(
            "book",
            json!({ "hotel": 1, "rooms": [{ "beds": "many" }], "paid": "true", "kind": "single" }),
        ),
        wrong("book", json!({ "hotel": 1, "rooms": "no list", "paid": 1, "kind": "single" })),
    ];
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn arguments_have_a_limit() {
    let program = desk();
    let stubs = Stubs::read("tools:\n  find:\n    - answer: 1\n").unwrap();
    let mut toolbox = Toolbox::new(&program).stubs(stubs).allow(Allow::Everything);
    let with = |n: usize| json!({ "city": "x".repeat(n) });
    let most = MAX_ARGUMENTS - json!({ "city": "" }).to_string().len();
    assert!(call(&mut toolbox, &program, "find", with(most)).is_ok());
    let failure = call(&mut toolbox, &program, "find", with(most + 1)).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Refused);
    assert!(
        failure
            .explanation()
            .starts_with("the arguments of `find` have 512 KB, and 512 KB is the most"),
        "{failure}"
    );
}

#[test]
fn libraries_say_how_tools_are_reached() {
    let web = web(|seen, _| {
        say(
            200,
            json!([seen.line, seen.header("x-from"), seen.header("authorization")]).to_string(),
        )
    });
    let library = format!(
        "TOOLS:\n  base_url: \"{}/api/\"\n  auth: bearer\n  auth_config:\n    token: \"{{{{secrets.T}}}}\"\n  headers:\n    X-From: library\n\n  find(city: string, guests: number)\n    type: http\n    endpoint: \"/find/{{city}}\"\n    headers:\n      X-From: tool\n  plain()\n    endpoint: plain\n",
        web.url()
    );
    let program = program(&[("desk.agent.abl", DESK), ("hotels.tools.abl", &library)]);
    let http = Http::new([("T", "tok")].into_iter().collect(), here());
    let mut toolbox = Toolbox::new(&program).http(http).allow(Allow::Everything);
    // The agent's declaration says what it takes, with its default; the library how it is called.
    let found = call(&mut toolbox, &program, "find", json!({ "city": "Oslo" })).unwrap();
    assert_eq!(found, json!(["GET /api/find/Oslo?guests=2", "tool", "Bearer tok"]));
    let found = call(&mut toolbox, &program, "plain", json!({})).unwrap();
    assert_eq!(found, json!(["GET /api/plain", "library", "Bearer tok"]));
}

#[test]
fn files_of_servers_that_are_wrong_are_told() {
    let told = [
        "servers:\n  desk: {}\n",
        "servers:\n  desk: { command: a, url: b }\n",
        "servers:\n  desk: { command: a, headers: { b: c } }\n",
        "servers:\n  desk: { url: a, args: [b] }\n",
        "servers:\n  desk: { comand: a }\n",
        "servers: 1\n",
    ]
    .map(|file| {
        McpFile::read(file).unwrap_err().to_string().lines().next().unwrap_or_default().to_owned()
    });
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn so_do_agents_for_their_own_tools() {
    let web = web(|seen, _| say(200, json!(seen.line).to_string()));
    let agent = format!(
        "AGENT: Desk\nGOAL: \"Help\"\nTOOLS:\n  base_url: \"{}/own\"\n  find(city: string)\n    type: http\n    endpoint: \"/find/{{city}}\"\n",
        web.url()
    );
    let program = program(&[("desk.agent.abl", &agent)]);
    let mut toolbox =
        Toolbox::new(&program).http(Http::new(EnvVars::default(), here())).allow(Allow::Everything);
    let found = call(&mut toolbox, &program, "find", json!({ "city": "Oslo" })).unwrap();
    assert_eq!(found, json!("GET /own/find/Oslo"));
}
