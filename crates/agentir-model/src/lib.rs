//! What answers the runtime's questions to a language model.
//!
//! Three implementations of [`agentir_runtime::Model`]:
//!
//! - [`Scripted`] answers from a file: for tests, in which every word counts;
//! - [`Offline`] answers by rules of thumb: the embedded default, which costs nothing, needs no
//!   network, and gives the same answer every time;
//! - [`OpenAi`] asks a service that speaks the protocol of OpenAI's chat completions.
//!
//! All three count tokens alike: a question is made into the chat that a service would be sent
//! ([`Chat`]), and where no service says what it cost, that chat is counted ([`Tokens`]). So the
//! figures of an offline run are those of the prompts, and the runs of different models compare.
//!
//! *Invariant*: only [`OpenAi`] touches the network, and nothing but its retries looks at a clock;
//! no model invents a value that nobody gave, and no key is ever part of an error.

mod chat;
mod fields;
mod offline;
mod openai;
mod script;
mod tokens;

pub use chat::Chat;
pub use fields::{fits, schema_of};
pub use offline::{DateOrder, Offline};
pub use openai::{ApiKey, Endpoint, EndpointError, OpenAi};
pub use script::{FailureMode, Script, ScriptEntry, ScriptError, Scripted, Times, script_schema};
pub use tokens::Tokens;
