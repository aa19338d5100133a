//! Questions with fixed answers as a file that knowledge bases load: CSV (RFC 4180) with a line for each.

use crate::text::offset;
use agentir_diagnostics::{FileId, Span, Spanned};
use agentir_expr::Template;
use agentir_ir::Question;
use smol_str::SmolStr;
use std::fmt::Write;

/// The names of the columns.
const HEADER: &str = "question,answer\n";

/// Writes questions.
#[must_use]
pub fn questions_to_csv(questions: &[Question]) -> String {
    let mut text = HEADER.to_owned();
    for asked in questions {
        let field = |text: &Option<Template>| {
            let text = text.as_ref().map_or("", |t| t.text.value.as_str());
            format!("\"{}\"", text.replace('"', "\"\""))
        };
        let _ = writeln!(text, "{},{}", field(&asked.question), field(&asked.answer));
    }
    text
}

/// Reads what [`questions_to_csv`] wrote. Lines of another form are skipped.
#[must_use]
pub fn questions_from_csv(file: FileId, text: &str) -> Vec<Question> {
    let mut all = Vec::new();
    let mut at = text.starts_with(HEADER).then_some(HEADER.len()).unwrap_or_default();
    while at < text.len() {
        let question = field(file, text, &mut at);
        let comma = text.get(at..).is_some_and(|rest| rest.starts_with(','));
        at += usize::from(comma);
        let answer = if comma { field(file, text, &mut at) } else { None };
        if let (Some(question), Some(answer)) = (question, answer) {
            let span = question.text.span;
            all.push(Question { question: Some(question), answer: Some(answer), span });
        }
        let rest = text.get(at..).unwrap_or_default();
        at += rest.find('\n').map_or(rest.len(), |end| end + 1);
    }
    all
}

/// A quoted field at a position, which then is behind it.
fn field(file: FileId, text: &str, at: &mut usize) -> Option<Template> {
    let start = *at + 1;
    let mut rest = text.get(*at..)?.strip_prefix('"')?;
    let mut value = String::new();
    loop {
        let end = rest.find('"')?;
        value.push_str(rest.get(..end)?);
        rest = rest.get(end + 1..)?;
        match rest.strip_prefix('"') {
            Some(more) => {
                value.push('"');
                rest = more;
            }
            None => break,
        }
    }
    *at = text.len() - rest.len();
    let span = Span::new(file, offset(start), offset(*at - 1));
    Some(Template::plain(Spanned::new(SmolStr::new(value), span)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let plain = |text: &str| {
            Some(Template::plain(Spanned::new(SmolStr::new(text), Span::default())))
        };
        let all: Vec<Question> = [("a \"b\", c", "d\ne"), ("", "\"\""), ("ä,", ",\n\"")]
            .into_iter()
            .map(|(question, answer)| Question {
                question: plain(question),
                answer: plain(answer),
                span: Span::default(),
            })
            .collect();
        let text = questions_to_csv(&all);
        let read = questions_from_csv(FileId(0), &text);
        let texts = |all: &[Question]| -> Vec<(String, String)> {
            let text = |t: &Option<Template>| t.as_ref().unwrap().text.value.to_string();
            all.iter().map(|q| (text(&q.question), text(&q.answer))).collect()
        };
        assert_eq!(texts(&read), texts(&all));
        for broken in ["question,answer\n\"a", "x\ny", "\"a\"\n\"b\",\"c\"\n", "\"", ","] {
            let _ = questions_from_csv(FileId(0), broken);
        }
        assert_eq!(questions_from_csv(FileId(0), "\"a\"\n\"b\",\"c\"\n").len(), 1);
    }
}
