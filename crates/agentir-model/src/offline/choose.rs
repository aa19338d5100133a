//! Choosing among candidates by the words that a message shares with them, weighted by how well
//! each word distinguishes the candidates (inverse document frequency).

use super::phrases::complains;
use super::words::{Act, Word, act, is_act, name_words, similarity, words};
use agentir_runtime::{Candidate, ToolSpec};

/// Candidates with a lower confidence are not chosen.
pub(super) const MIN_CONFIDENCE: f64 = 0.3;

/// The penalty for each word of the message that no candidate contains.
const UNKNOWN_WORD_PENALTY: f64 = 0.25;

/// The penalty for a name or a number that no candidate contains: they are what the request is about.
const UNKNOWN_NAME_PENALTY: f64 = 0.05;

/// How much surer it is that a candidate is meant whose verb is for the same.
const SAME_ACT: f64 = 1.15;

/// How much less sure if its verb is for something else.
const OTHER_ACT: f64 = 0.5;

/// The penalty for a word that only other candidates contain.
const OTHER_CANDIDATE_PENALTY: f64 = 0.5;

/// The weight of a word that all candidates contain.
const COMMON_WORD_WEIGHT: f64 = 0.1;

/// How much more a word of the name counts than one of the description.
const NAME_WEIGHT: f64 = 1.1;

/// The number of candidates considered.
const MAX_CANDIDATES: usize = 256;

/// The number of words considered per text.
const MAX_WORDS: usize = 400;

/// A generous estimate of the length of a word and the space after it, in bytes.
const MAX_WORD_BYTES: usize = 8;

/// The words of a candidate.
struct CandidateWords {
    name: Vec<Word>,
    examples: Vec<Vec<Word>>,
    keywords: Vec<Vec<Word>>,
    /// All distinct words.
    all: Vec<Word>,
    /// What its name or the beginning of its description says that it does.
    act: Option<Act>,
}

impl CandidateWords {
    fn of(candidate: &Candidate) -> Self {
        let content = |text: &str| {
            // Limits the work for long texts.
            let start =
                text.get(..text.floor_char_boundary(MAX_WORDS * MAX_WORD_BYTES)).unwrap_or(text);
            let mut found = words(start);
            found.retain(Word::is_content);
            found.truncate(MAX_WORDS);
            found
        };
        let name = name_words(&candidate.name);
        let examples: Vec<_> = candidate.examples.iter().take(64).map(|e| content(e)).collect();
        let quoted = super::spans::quotations(&candidate.description).into_iter().map(words);
        let quoted = quoted.filter(|phrase| phrase.len() >= 2);
        let keywords = candidate.keywords.iter().take(64).map(|k| words(k));
        let keywords: Vec<_> = keywords.chain(quoted).collect();
        let mut all: Vec<Word> = Vec::new();
        let fields = [name.clone(), content(&candidate.description)];
        for word in fields.iter().chain(&examples).chain(&keywords).flatten() {
            // "Do not use this for refunds" describes what a candidate is not for.
            if all.len() < MAX_WORDS
                && !word.negated
                && word.is_content()
                && !all.iter().any(|known| known.stem == word.stem)
            {
                all.push(word.clone());
            }
        }
        let start = words(super::sentence(&candidate.description).as_str());
        let act = act(&name).or_else(|| act(start.get(..start.len().min(3)).unwrap_or_default()));
        Self { name, examples, keywords, all, act }
    }

    /// How well a word matches the candidate.
    fn knows(&self, word: &Word) -> f64 {
        let known = self.all.iter().map(|known| similarity(known, word)).fold(0.0, f64::max);
        // The name says what the candidate is; its description also says other things.
        let named = self.name.iter().map(|known| similarity(known, word)).fold(0.0, f64::max);
        known.max(if named >= 1.0 && self.name.len() > 1 { NAME_WEIGHT } else { 0.0 })
    }
}

/// A tool as something to choose.
pub(super) fn candidate(tool: &ToolSpec) -> Candidate {
    Candidate {
        name: tool.name.clone(),
        description: tool.description.clone(),
        examples: Vec::new(),
        keywords: Vec::new(),
    }
}

/// The chosen candidates with their confidence, highest first; ties keep the source order.
pub(super) fn choose(message: &str, candidates: &[Candidate], several: bool) -> Vec<(String, f64)> {
    let chosen = choose_by_words(message, candidates, several);
    // "The mixer is awful" is a complaint.
    if chosen.is_empty() && complains(message) {
        return choose_by_words("complaint", candidates, several);
    }
    chosen
}

fn choose_by_words(message: &str, candidates: &[Candidate], several: bool) -> Vec<(String, f64)> {
    let message_words = words(message);
    let wanted = act(&message_words);
    let rejected = rejected_words(&message_words);
    let mut heard: Vec<&Word> = Vec::new();
    for word in message_words.iter().filter(|w| w.is_content() && !rejected.contains(&w.at.start)) {
        if heard.len() < 64 && !heard.iter().any(|h| h.stem == word.stem) {
            heard.push(word);
        }
    }
    let known: Vec<CandidateWords> =
        candidates.iter().take(MAX_CANDIDATES).map(CandidateWords::of).collect();
    // One row per candidate, one column per word.
    let table: Vec<Vec<f64>> =
        known.iter().map(|k| heard.iter().map(|w| k.knows(w)).collect()).collect();
    let count = |column: usize| {
        table.iter().filter(|row| row.get(column).is_some_and(|known| *known > 0.0)).count()
    };
    let weights: Vec<f64> = (0..heard.len())
        .map(|column| match count(column) {
            0 => 0.0,
            #[expect(clippy::cast_precision_loss, reason = "at most 256")]
            n if table.len() > 1 => (table.len() as f64 / n as f64).ln() + COMMON_WORD_WEIGHT,
            _ => 1.0,
        })
        .collect();
    let known_acts: Vec<Option<Act>> = known.iter().map(|known| known.act).collect();
    let mut chosen: Vec<(String, f64)> = Vec::new();
    for ((candidate, known), row) in candidates.iter().zip(&known).zip(&table) {
        let (mut matched, mut against) = (0.0, 0.0);
        for ((known, weight), word) in row.iter().zip(&weights).zip(&heard) {
            matched += known * weight;
            against += if *weight == 0.0 {
                let text = message.get(word.at.clone()).unwrap_or_default();
                let name = word.at.start > 0 && text.starts_with(char::is_uppercase)
                    || text.chars().any(|c| c.is_ascii_digit());
                if name || is_act(word) { UNKNOWN_NAME_PENALTY } else { UNKNOWN_WORD_PENALTY }
            } else {
                (1.0 - known).max(0.0) * weight * OTHER_CANDIDATE_PENALTY
            };
        }
        // The verb distinguishes candidates about the same thing.
        if matched > 0.0 && wanted.is_some() && wanted == known.act {
            let same = known_acts.iter().filter(|act| **act == wanted).count();
            #[expect(clippy::cast_precision_loss, reason = "at most 256")]
            let weight = (known_acts.len() as f64 / same.max(1) as f64).ln();
            matched += weight;
        }
        let by_words = if matched > 0.0 { matched / (matched + against) } else { 0.0 };
        let fits = match (wanted, known.act) {
            (Some(wanted), Some(own)) if wanted == own => SAME_ACT,
            (Some(_), Some(_)) => OTHER_ACT,
            _ => 1.0,
        };
        let sure = (by_words.min(1.0) * fits).min(1.0) * 0.9;
        let sure =
            sure.max(exact_match_score(message, &message_words, &rejected, candidate, known));
        if sure >= MIN_CONFIDENCE {
            chosen.push((candidate.name.clone(), (sure * 1000.0).round() / 1000.0));
        }
    }
    // The sort is stable, so ties keep their order.
    chosen.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    if !several {
        chosen.truncate(1);
    }
    chosen
}

/// The confidence from literal matches: of an example, a keyword, or the name.
fn exact_match_score(
    message: &str,
    message_words: &[Word],
    rejected: &[usize],
    candidate: &Candidate,
    known: &CandidateWords,
) -> f64 {
    let plain = |text: &str| words(text).into_iter().map(|w| w.text).collect::<Vec<_>>();
    let message = plain(message);
    if message.is_empty() {
        return 0.0;
    }
    let same = |text: &String| plain(text) == message;
    if candidate.examples.iter().any(same)
        || same(&candidate.description)
        || plain(&candidate.name) == message
    {
        return 1.0;
    }
    let wanted = |words: &[Word]| {
        !words.is_empty()
            && message_words.windows(words.len()).any(|window| {
                window.iter().zip(words).all(|(spoken, word)| spoken.stem == word.stem)
                    && window.iter().all(|word| !rejected.contains(&word.at.start))
            })
    };
    let mut sure: f64 = 0.0;
    if known.keywords.iter().any(|keyword| wanted(keyword)) {
        sure = 0.95;
    }
    if known.name.len() > 1 && wanted(&known.name) {
        sure = sure.max(0.9);
    }
    for example in &known.examples {
        sure = sure.max(cosine_similarity(message_words, example) * 0.95);
    }
    sure
}

/// The cosine similarity of the content words of two texts.
fn cosine_similarity(message_words: &[Word], example: &[Word]) -> f64 {
    let content: Vec<&Word> = message_words.iter().filter(|w| w.is_content()).collect();
    if content.is_empty() || example.is_empty() || content.len() > 64 {
        return 0.0;
    }
    let common: f64 = example
        .iter()
        .map(|word| content.iter().map(|w| similarity(w, word)).fold(0.0, f64::max))
        .sum();
    #[expect(clippy::cast_precision_loss, reason = "a few hundred words at most")]
    let lengths = ((content.len() * example.len()) as f64).sqrt();
    (common / lengths).min(1.0)
}

/// The positions of words that the message rejects. Only negated wishes count: "I cannot log in" is
/// about logging in.
fn rejected_words(message_words: &[Word]) -> Vec<usize> {
    const REJECTIONS: &[&[&str]] = &[
        &["don't", "want"],
        &["dont", "want"],
        &["not", "want"],
        &["don't", "need"],
        &["not", "need"],
        &["no", "longer"],
        &["instead", "of"],
        &["rather", "than"],
        &["not", "interested"],
        &["not", "looking"],
        &["not", "here"],
    ];
    let mut rejected = Vec::new();
    let mut left = false;
    for (index, word) in message_words.iter().enumerate() {
        let starts = REJECTIONS.iter().any(|phrase| {
            let from = message_words.iter().skip(index).take(phrase.len());
            from.map(|w| w.text.as_str()).eq(phrase.iter().copied())
        });
        let until = message_words
            .get(index.wrapping_sub(1))
            .is_some_and(|before| before.negated && !word.negated);
        if starts {
            left = true;
        } else if until && !matches!(word.text.as_str(), "of" | "than") {
            left = false;
        }
        if left {
            rejected.push(word.at.start);
        }
    }
    rejected
}
