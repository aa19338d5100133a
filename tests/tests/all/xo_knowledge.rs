//! Knowledge of XO exports: questions, small talk.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

use super::xo_shapes::{abl, bot, has, has_not, read, says, shown, to_abl};
use agentir_convert::{Preservation, Task};
use serde_json::{Value, json};

/// A bot with so many questions.
fn with_questions(count: usize) -> Value {
    let faqs: Vec<Value> = (0..count)
        .map(|n| json!({"question": format!("Question {n}, \"quoted\"?"), "responseType": "message",
            "alternateQuestions": [{"question": format!("Other {n}")}],
            "answer": [{"text": format!("Answer%20{n}%0Aof%20two%20lines"), "type": "basic", "channel": "default"}]}))
        .collect();
    let small = json!([{"language": "en", "groups": [{"groupName": "greetings", "nodes": [
        {"userUtterances": [{"text": "!hello ~emohello"}, {"text": "~emogoodbye"}],
         "botUtterances": [{"channel": "default", "text": "Hello%20you!", "type": "basic"}]},
        {"userUtterances": [{"text": "who be you"}],
         "botUtterances": [{"channel": "default", "text": "I%20am%20%26lt%3Bdisplay-bot-name%26gt%3B.", "type": "basic"}]},
        {"userUtterances": [{"text": "!y ~yes"}, {"text": "~ibedone"}],
         "botUtterances": [{"channel": "default", "text": "Well%20then.", "type": "basic"}]}]}]}]);
    let tasks =
        json!([{"name": "Vans", "description": "What drivers ask", "faqs": {"faqs": faqs}}]);
    bot(&[says("Said", &[("en", "Hi")])], &json!({"knowledgeTasks": tasks, "smallTalk": small}))
}

#[test]
fn questions_are_a_file_that_a_tool_searches() {
    let done = to_abl(&read(&with_questions(30)));
    let text = shown(&done);
    has(
        &text,
        &[
            "INTENT(Vans) -> vans",
            "description: \"What drivers ask\"",
            "search_vans(query: string)",
            "type: searchai",
            "kb_name: vans",
            "\"Question 29, \"\"quoted\"\"?\",\"Answer 29\nof two lines\"",
            "\"Other 29\",\"Answer 29\nof two lines\"",
            "INTENT(Small_talk) -> small_talk",
            "- hello\n    Hello you!",
            "- goodbye\n    Hello you!",
            "- who be you\n    I am Bot.",
        ],
    );
    // Who says yes answers a question.
    has_not(&text, &["Well then", "ibedone"]);
    // Each of them was read back, none is only said to be there.
    let asked = done.report.entries.iter().filter(|e| e.path.contains("Vans.knowledge.questions"));
    let kept: Vec<_> = asked.map(|e| e.preservation).collect();
    assert_eq!(kept.len(), 2 * 60);
    assert!(kept.iter().all(|p| *p == Preservation::Kept));
}

#[test]
fn knowledge_bases_of_similar_names_are_different_files() {
    let task = |name: &str| {
        let faqs: Vec<Value> = (0..8)
            .map(|n| {
                json!({"question": format!("Question {n} of {name}"),
                "answer": [{"text": "Yes.", "type": "basic", "channel": "default"}]})
            })
            .collect();
        json!({"name": name, "faqs": {"faqs": faqs}})
    };
    let tasks = json!({"knowledgeTasks": [task("Vans"), task("vans"), task("VANS")]});
    let done = to_abl(&read(&bot(&[says("Said", &[("en", "Hi")])], &tasks)));
    let text = shown(&done);
    for base in ["vans", "vans_2", "vans_3"] {
        has(
            &text,
            &[
                &format!("--- knowledge/{base}.csv\n"),
                &format!("search_{base}(query: string)"),
                &format!("kb_name: {base}\n"),
            ],
        );
    }
    // Each agent has its own questions.
    let asked = done.report.entries.iter().filter(|e| e.path.contains(".knowledge.questions"));
    assert!(asked.clone().count() >= 24);
    assert!(asked.into_iter().all(|e| e.preservation == Preservation::Kept));
}

/// An export with one knowledge task.
fn with_task(task: &Value) -> Value {
    bot(&[says("Said", &[("en", "Hi")])], &json!({"knowledgeTasks": [task]}))
}

#[test]
fn questions_with_computed_answers_are_reported() {
    let answer =
        |text: &str, kind: &str| json!([{"text": text, "type": kind, "channel": "default"}]);
    let code = "for (const x of context.l) { print(x) }";
    let task = json!({"name": "Vans", "description": "Write &amp;lt;b&amp;gt;", "faqs": {"faqs": [
        {"question": "Fixed?", "answer": answer("Yes", "basic")},
        {"question": "Computed?", "answer": answer(code, "uxmap")}]}});
    let checked = read(&with_task(&task));
    let said = checked.lines();
    assert!(said.iter().any(|l| l.contains("the answer to this question is computed")), "{said:?}");
    let done = to_abl(&checked);
    has(&shown(&done), &["Fixed?", "Write &lt;b&gt;"]);
    // There is no file.
    let lost = done.report.losses().filter(|e| e.path.contains("knowledgeTasks"));
    let lost: Vec<String> = lost.map(|e| format!("{e:?}")).collect();
    assert!(!lost.is_empty());
    assert!(lost.iter().all(|e| !e.contains("knowledge/")), "{lost:?}");
}

/// What a user would have been answered is no training data: it is lost with what to do about it, and counted.
#[test]
fn lost_answers_are_something_to_look_at() {
    let said =
        |text: &str, channel: &str| json!({"text": text, "type": "basic", "channel": channel});
    let task = json!({"name": "Vans", "language": "en", "taxonomy": [{"label": "Vans"}], "faqs": {"faqs": [
        {"question": "Fee?", "terms": ["fee"], "conditionalAnswer": "if vip then free",
            "answer": [said("Ten", "default"), said("On the phone, call 112 first", "rtm")]},
        {"question": "How much now?",
            "answer": [{"text": "for (const x of context.l) { print(x) }", "type": "uxmap"}]}]}});
    let others =
        json!({"synonyms": {"van": ["lorry"]}, "mlParams": {"gram": 3}, "knowledgeTasks": [task]});
    let done = to_abl(&read(&bot(&[says("Said", &[("en", "Hi")])], &others)));
    let urgency = |text: &str| {
        let mut found = done.report.losses().filter(|e| e.value == text);
        let entry = found.next().unwrap_or_else(|| panic!("`{text}` is no loss"));
        (entry.task, entry.help.is_some())
    };
    for text in [
        "On the phone, call 112 first",
        "if vip then free",
        "How much now?",
        "for (const x of context.l) { print(x) }",
        "lorry",
    ] {
        assert_eq!(urgency(text), (Some(Task::Look), true), "{text}");
    }
    assert_eq!(urgency("fee"), (Some(Task::Nothing), false));
    let report = &done.report;
    assert!(report.totals.dropped >= 5, "{:?}", report.totals);
    assert!(
        report.todo.iter().any(|todo| todo.cause.contains("one fixed answer")),
        "{:?}",
        report.todo
    );
}

#[test]
fn small_talk_names_the_bot_and_decodes_once() {
    let talk = json!([{"language": "en", "groups": [{"groupName": "who", "nodes": [
        {"userUtterances": [{"text": "who are you"}], "botUtterances": [{"channel": "default",
            "text": "I am &lt;display-bot-name&gt;, write &amp;lt;b&amp;gt;", "type": "basic"}]}]}]}]);
    let others = json!({"smallTalk": talk});
    has(&abl(&bot(&[says("Said", &[("en", "Hi")])], &others)), &["I am Bot, write &lt;b&gt;"]);
}

#[test]
fn an_answer_is_repeated_for_each_way_to_ask_up_to_a_bound() {
    let more: Vec<Value> = (0..400).map(|n| json!({"question": format!("Way {n}")})).collect();
    let faq = json!({"question": "Main", "alternateQuestions": more,
        "answer": [{"text": "A".repeat(100_000), "type": "basic", "channel": "default"}]});
    let after = json!({"question": "Other main", "alternateQuestions": [{"question": "Other way"}],
        "answer": [{"text": "Short", "type": "basic", "channel": "default"}]});
    let checked = read(&with_task(&json!({"name": "V", "faqs": {"faqs": [faq, after]}})));
    let said = checked.lines();
    assert!(
        said.iter().any(|l| l.contains("233 other ways to ask this are not copied")),
        "{said:?}"
    );
    let questions: Vec<_> = checked
        .program
        .agents
        .iter()
        .flat_map(|agent| agent.knowledge.iter().flat_map(|k| &k.questions))
        .filter_map(|q| q.question.as_ref().map(|q| q.text.value.to_string()))
        .collect();
    assert_eq!(questions.len(), 401 - 233 + 2);
    for kept in ["Main", "Way 0", "Other main", "Other way"] {
        assert!(questions.iter().any(|q| q == kept), "{kept}");
    }
}
