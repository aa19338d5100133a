//! Token counts of requests and answers.

mod encoding;

use crate::chat::Chat;
use agentir_runtime::{Answer, ModelTask, Usage};
use serde_json::Value as Json;

/// What each message of a chat costs beside its text, and what begins the answer
/// (OpenAI, "How to count tokens with tiktoken").
const PER_MESSAGE: u64 = 3;

/// A tokenizer: byte pair encoding with a vocabulary that is part of the program and decompressed when
/// it is first used.
///
/// A text of n bytes takes time in O(n log n), whatever it consists of; the reference implementation
/// takes quadratic time for some texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tokens {
    /// Of GPT-4o and later, which the ADL paper measured with.
    #[default]
    O200k,
    /// Of GPT-4 and GPT-3.5.
    Cl100k,
}

impl Tokens {
    /// The tokenizer of a model, by its name; the newest one if it is not known.
    #[must_use]
    pub fn of_model(model: &str) -> Self {
        // Services put the name of the company before it.
        let model = model.rsplit('/').next().unwrap_or(model);
        let old = model.starts_with("gpt-3.5")
            || model == "gpt-4"
            || model.starts_with("gpt-4-")
            || model.starts_with("gpt-4:");
        if old { Self::Cl100k } else { Self::O200k }
    }

    /// How many tokens a text is.
    #[must_use]
    pub fn count(self, text: &str) -> u64 {
        if text.is_empty() {
            return 0;
        }
        let encoding = match self {
            Self::O200k => &encoding::O200K,
            Self::Cl100k => &encoding::CL100K,
        };
        encoding.count(text) as u64
    }

    /// What a question costs, sent as a chat.
    #[must_use]
    pub fn question(self, ask: &ModelTask) -> u64 {
        self.chat(&Chat::of(ask))
    }

    /// What a chat costs: its messages, the tools that are offered, the form that is asked for.
    #[must_use]
    pub fn chat(self, chat: &Chat) -> u64 {
        let messages = chat.messages.iter().map(|message| {
            let texts = message.as_object().into_iter().flatten().map(|(_, value)| match value {
                Json::String(text) => self.count(text),
                Json::Null => 0,
                other => self.count(&other.to_string()),
            });
            PER_MESSAGE + texts.sum::<u64>()
        });
        let tools = chat.tools.iter().map(|tool| self.count(&tool.to_string()));
        let form = chat.form.as_ref().map_or(0, |form| self.count(&form.to_string()));
        messages.sum::<u64>() + tools.sum::<u64>() + form + PER_MESSAGE
    }

    /// What an answer costs.
    #[must_use]
    pub fn answer(self, answer: &Answer) -> u64 {
        match answer {
            Answer::Message { text, calls } => {
                let calls = calls.iter().map(|call| {
                    let arguments = Json::Object(call.arguments.clone()).to_string();
                    PER_MESSAGE + self.count(&call.name) + self.count(&arguments)
                });
                self.count(text) + calls.sum::<u64>()
            }
            Answer::Values(values) => self.count(&Json::Object(values.clone()).to_string()),
            Answer::Choice(chosen) => self.count(&crate::chat::choice_json(chosen).to_string()),
            Answer::Verdict(holds) => self.count(&crate::chat::verdict_json(*holds).to_string()),
            Answer::Several(answers) => {
                let all = answers.iter().enumerate().map(|(index, answer)| {
                    self.count(&crate::chat::part_name(index)) + self.answer(answer)
                });
                all.sum()
            }
            Answer::Summary(text) => self.count(text),
        }
    }

    /// What a question and its answer cost together.
    #[must_use]
    pub fn usage(self, ask: &ModelTask, answer: &Answer) -> Usage {
        Usage { input_tokens: self.question(ask), output_tokens: self.answer(answer) }
    }
}
