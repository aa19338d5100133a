//! What `docs/tools.md` shows works as it says.

use crate::call_by_name;
use agentir_runtime::FailureKind;
use agentir_tools::{McpFile, Stubs};
use serde_json::json;
use std::path::Path;

/// The examples in YAML, in their order.
fn examples() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tools.md");
    let page = std::fs::read_to_string(page).unwrap();
    let blocks = page.split("```yaml\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn examples_work() {
    let examples = examples();
    let [stubs, agents, servers] = examples.as_slice() else {
        panic!("{} examples", examples.len())
    };
    let mut stubs = Stubs::read(stubs).unwrap();
    let mut ask = |with| call_by_name(&mut stubs, "search_hotels", with);
    let three = json!({ "city": "Paris", "guests": 3 });
    assert_eq!(ask(three).unwrap(), json!([{ "name": "Grand Paris", "beds": 3 }]));
    let old = ask(json!({ "city": "Old Town" })).unwrap_err();
    assert_eq!((old.kind, old.message.as_str()), (FailureKind::Api, "the Old Town system is down"));
    assert_eq!(ask(json!({ "city": "Rome" })).unwrap_err().kind, FailureKind::Timeout);
    assert_eq!(ask(json!({ "city": "Rome" })).unwrap(), json!([]));
    let mut agents = Stubs::read(agents).unwrap();
    let mut tell = |with| call_by_name(&mut agents, "Billing_Agent", with).unwrap();
    let first = tell(json!({ "message": "a refund", "context": { "order": "A7" }, "history": [] }));
    assert_eq!((&first["done"], &first["conversation"]), (&json!(false), &json!("c1")));
    let then = tell(json!({ "message": "all of it", "conversation": first["conversation"] }));
    assert_eq!((&then["done"], &then["result"]), (&json!(true), &json!({ "amount": 12 })));
    assert_eq!(McpFile::read(servers).unwrap().servers.len(), 2);
}
