//! Tools of type `searchai` whose questions lie beside the program: a search by words. It changes nothing, so it always
//! answers.

use agentir_ir::{Question, Tool};
use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeSet, HashMap};

/// How many questions are found at most.
const MAX_FOUND: usize = 3;

/// How much of what is asked and of a question has to be the same.
const MIN_SCORE: f64 = 0.4;

/// The questions that are most like what is asked, with their answers: the best first, in the order of the file where they
/// are equally good. The search looks at words, not at what they mean:
///
/// - A word is a run of letters and digits, in any case, and counts once.
/// - A word that few questions have weighs more: ln((questions + 1) / (questions with the word + 0.5)), as in BM25.
/// - The score is the weight of the words that both have, twice, by the weight of the words of one and those of the other (the
///   coefficient of Dice). What has less than 0.4 is not found.
pub(crate) fn search(tool: &Tool, arguments: &Map<String, Json>) -> Json {
    let asked = arguments.values().find_map(Json::as_str).unwrap_or_default();
    let asked = words(asked);
    let all: Vec<(BTreeSet<String>, &Question)> = tool
        .questions
        .iter()
        .map(|question| (words(question.question.as_ref().map_or("", |q| &q.text.value)), question))
        .collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    all.iter().flat_map(|(words, _)| words).for_each(|word| *counts.entry(word).or_default() += 1);
    #[expect(clippy::cast_precision_loss, reason = "there are not that many questions")]
    let weight = |word: &String| {
        let count = counts.get(word.as_str()).copied().unwrap_or(0);
        ((all.len() as f64 + 1.0) / (count as f64 + 0.5)).ln()
    };
    let sum = |words: &mut dyn Iterator<Item = &String>| -> f64 { words.map(weight).sum() };
    let total = sum(&mut asked.iter());
    let score = |words: &BTreeSet<String>| {
        let both = sum(&mut words.intersection(&asked));
        2.0 * both / (total + sum(&mut words.iter())).max(f64::MIN_POSITIVE)
    };
    let scored = all.iter().map(|(words, question)| (score(words), *question));
    let mut found: Vec<(f64, &Question)> =
        scored.filter(|(score, _)| *score >= MIN_SCORE).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    let text = |text: &Option<agentir_expr::Template>| {
        text.as_ref().map_or(Json::Null, |text| Json::from(text.text.value.as_str()))
    };
    let mut answers: Vec<Json> = Vec::new();
    for (_, question) in found {
        let (asked, answer) = (text(&question.question), text(&question.answer));
        // Several ways to ask have one answer.
        if answers.iter().all(|known| known.get("answer") != Some(&answer)) {
            answers.push(json!({ "question": asked, "answer": answer }));
        }
        if answers.len() == MAX_FOUND {
            break;
        }
    }
    answers.into()
}

fn words(text: &str) -> BTreeSet<String> {
    let all = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    all.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use agentir_diagnostics::{Span, Spanned};
    use agentir_expr::Template;

    fn tool(all: &[(&str, &str)]) -> Tool {
        let name = Spanned::new("search".into(), Span::default());
        let text = |text: &str| Some(Template::plain(Spanned::new(text.into(), Span::default())));
        let question = |(q, a): &(&str, &str)| Question {
            question: text(q),
            answer: text(a),
            span: Span::default(),
        };
        Tool { questions: all.iter().map(question).collect(), ..Tool::new(name) }
    }

    fn found(tool: &Tool, asked: &str) -> Vec<String> {
        let arguments = Map::from_iter([("query".to_owned(), Json::from(asked))]);
        let found = search(tool, &arguments);
        let answers = found.as_array().into_iter().flatten();
        answers.filter_map(|one| Some(one.get("answer")?.as_str()?.to_owned())).collect()
    }

    #[test]
    fn rare_words_decide() {
        let tool = tool(&[
            ("What is the minimum age?", "21"),
            ("What is the price of a large van?", "90"),
            ("What is the deposit?", "200"),
            ("how much do I have to leave as a deposit", "200"),
            ("What is your address?", "Harbour Road 1"),
        ]);
        assert_eq!(found(&tool, "what is the MINIMUM age"), ["21"]);
        assert_eq!(found(&tool, "deposit"), ["200"]);
        assert_eq!(found(&tool, "price of a van"), ["90"]);
        // Words that most questions have are not enough, and neither are unknown ones.
        assert_eq!(found(&tool, "what is the weather in Oslo tomorrow"), [""; 0]);
        assert_eq!(found(&tool, "?"), [""; 0]);
        assert_eq!(found(&tool, "Straße"), [""; 0]);
    }

    #[test]
    fn letters_of_all_languages_are_words() {
        let tool = tool(&[("¿Cuál es la edad mínima?", "21"), ("最低年龄", "21 岁")]);
        assert_eq!(found(&tool, "EDAD MÍNIMA"), ["21"]);
        assert_eq!(found(&tool, "最低年龄"), ["21 岁"]);
    }
}
