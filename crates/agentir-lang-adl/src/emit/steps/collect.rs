//! Emits field collection.

use super::{Position, Steps};
use crate::emit::yaml::Yaml;
use agentir_ir::{Collect, GatherField};

impl<'p> Steps<'p> {
    /// The prompt of a field: from its step, or from its declaration in the agent.
    fn prompt(&self, field: &'p GatherField) -> Option<&'p agentir_expr::Template> {
        let declared =
            || self.agent.gather.fields.iter().find(|f| f.name.value == field.name.value);
        field.prompt.as_ref().or_else(|| declared()?.prompt.as_ref())
    }

    fn said(&self, text: &agentir_expr::Template) -> Vec<Yaml> {
        let mut said = Vec::new();
        self.say(text, &mut said);
        said
    }

    /// Collects fields; those missing after the answer are asked for again.
    pub(super) fn collect(
        &mut self,
        collect: &'p Collect,
        out: &mut Vec<Yaml>,
        position: Position<'p>,
    ) {
        if let Some(text) = &collect.present {
            self.say(text, out);
        }
        // After a message the user answers first; then missing fields are asked for.
        let message_before = out.last().is_some_and(|last| last.is_pair("bot"))
            && collect.gather.prompt.is_none()
            && collect.gather.fields.iter().all(|field| self.prompt(field).is_none())
            && collect.gather.fields.len() > 1
            && !position.nested;
        if message_before {
            out.push(Yaml::text("user"));
        }
        if let Some(prompt) = &collect.gather.prompt {
            self.say(prompt, out);
            out.push(Yaml::text("user"));
        }
        for field in &collect.gather.fields {
            let prompt = self.prompt(field);
            let prompted = field.prompt_mode != Some("extract_only");
            let asked = prompt.map(|text| self.said(text)).or_else(|| {
                let text = format!("Please tell me the {}.", field.name.value.replace('_', " "));
                (prompted && collect.gather.prompt.is_none())
                    .then(|| vec![Yaml::pair("bot", Yaml::Quoted(text))])
            });
            let Some(mut asked) = asked else { continue };
            let name = field.name.value.as_str();
            let label = format!("ask_{name}");
            let again = field.required && field.default.is_none() && !position.nested;
            let label = if again { self.fresh(&label) } else { label };
            if again {
                out.push(Yaml::pair("label", Yaml::text(label.as_str())));
            }
            if again && message_before {
                asked.extend([Yaml::text("user"), Yaml::pair("next", Yaml::text(label))]);
                let then = asked;
                out.push(Yaml::Map(vec![
                    ("if".to_owned(), Yaml::text(format!("{name} == None"))),
                    ("then".to_owned(), Yaml::List(then)),
                ]));
                continue;
            }
            if message_before {
                continue;
            }
            out.append(&mut asked);
            out.push(Yaml::text("user"));
            if again {
                let then = vec![Yaml::pair("next", Yaml::text(label))];
                out.push(Yaml::Map(vec![
                    ("if".to_owned(), Yaml::text(format!("{name} == None"))),
                    ("then".to_owned(), Yaml::List(then)),
                ]));
            }
        }
        self.statements(&collect.on_success.0, out, position, None);
    }
}
