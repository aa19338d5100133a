//! Files of data beside a program, which a platform loads: the questions of knowledge bases (`knowledge/*.csv`), and tables
//! that several agents look values up in (`tables/*.csv`). They are CSV (RFC 4180) with a line for the names of the columns.

use crate::text::offset;
use agentir_diagnostics::{FileId, Span, Spanned};
use agentir_expr::Template;
use agentir_ir::{Data, LookupTable, Question};
use smol_str::SmolStr;

/// The path of the file of a knowledge base.
#[must_use]
pub fn knowledge_path(base: &str) -> String {
    format!("knowledge/{base}.csv")
}

/// The knowledge base that a file is loaded into.
#[must_use]
pub fn knowledge_of(path: &str) -> Option<&str> {
    path.strip_prefix("knowledge/")?.strip_suffix(".csv")
}

/// The path of the file of a table.
#[must_use]
pub fn table_path(table: &str) -> String {
    format!("tables/{table}.csv")
}

/// The table that a file is loaded into.
#[must_use]
pub fn table_of(path: &str) -> Option<&str> {
    path.strip_prefix("tables/")?.strip_suffix(".csv")
}

/// Writes questions.
#[must_use]
pub fn questions_to_csv(questions: &[Question]) -> String {
    let text = |text: &Option<Template>| text.as_ref().map_or("", |t| &t.text.value).to_owned();
    let all = questions.iter().map(|q| vec![text(&q.question), text(&q.answer)]);
    to_csv(&["question", "answer"], all)
}

/// Reads what [`questions_to_csv`] wrote. Lines of another form are skipped.
#[must_use]
pub fn questions_from_csv(file: FileId, text: &str) -> Vec<Question> {
    let question = |fields: Vec<Spanned<SmolStr>>| {
        let [question, answer] = <[_; 2]>::try_from(fields).ok()?;
        let span = question.span;
        let (question, answer) = (Template::plain(question), Template::plain(answer));
        Some(Question { question: Some(question), answer: Some(answer), span })
    };
    records(file, text).skip(1).filter_map(question).collect()
}

/// Writes the content of a table: what is looked up, and what it stands for; or the values alone. `None` if it has other
/// content.
#[must_use]
pub fn table_to_csv(table: &LookupTable) -> Option<String> {
    let Some(map) = &table.map else {
        let values = table.values.iter().map(|value| vec![value.text.value.to_string()]);
        return Some(to_csv(&["value"], values));
    };
    let pair =
        |(name, value): (&String, &Data)| Some(vec![name.clone(), value.as_str()?.to_owned()]);
    let all: Vec<Vec<String>> = map.as_object()?.iter().map(pair).collect::<Option<_>>()?;
    Some(to_csv(&["name", "value"], all.into_iter()))
}

/// Reads the content of a table into one.
pub fn table_from_csv(file: FileId, text: &str, table: &mut LookupTable) {
    let mut all = records(file, text);
    if all.next().is_some_and(|header| header.len() == 1) {
        table.values = all.filter_map(|mut fields| fields.pop()).map(Template::plain).collect();
        return;
    }
    let pair = |fields: Vec<Spanned<SmolStr>>| {
        let [name, value] = <[_; 2]>::try_from(fields).ok()?;
        Some((name.value.to_string(), Data::from(value.value.as_str())))
    };
    table.map = Some(Data::Object(all.filter_map(pair).collect()));
}

fn to_csv(header: &[&str], lines: impl Iterator<Item = Vec<String>>) -> String {
    let mut out = header.join(",");
    out.push('\n');
    for line in lines {
        for (at, field) in line.iter().enumerate() {
            out.push_str(if at == 0 { "\"" } else { ",\"" });
            out.push_str(&field.replace('"', "\"\""));
            out.push('"');
        }
        out.push('\n');
    }
    out
}

/// The lines of a file, with their fields.
fn records(file: FileId, text: &str) -> impl Iterator<Item = Vec<Spanned<SmolStr>>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        text.get(at..).filter(|rest| !rest.is_empty())?;
        let mut fields = Vec::new();
        loop {
            let (field, end) = field(text, at);
            let span = Span::new(file, offset(at), offset(end));
            fields.push(Spanned::new(SmolStr::new(field), span));
            let rest = text.get(end..).unwrap_or_default();
            if !rest.starts_with(',') {
                // What follows a closing quote belongs to nothing.
                at = end + rest.find('\n').map_or(rest.len(), |line| line + 1);
                return Some(fields);
            }
            at = end + 1;
        }
    })
}

/// The field at a position, and its end.
fn field(text: &str, start: usize) -> (String, usize) {
    let rest = text.get(start..).unwrap_or_default();
    let Some(mut inside) = rest.strip_prefix('"') else {
        let end = rest.find([',', '\n']).unwrap_or(rest.len());
        return (rest.get(..end).unwrap_or_default().to_owned(), start + end);
    };
    let mut value = String::new();
    while let Some(end) = inside.find('"') {
        value.push_str(inside.get(..end).unwrap_or_default());
        inside = inside.get(end + 1..).unwrap_or_default();
        match inside.strip_prefix('"') {
            Some(more) => {
                value.push('"');
                inside = more;
            }
            None => return (value, text.len() - inside.len()),
        }
    }
    value.push_str(inside);
    (value, text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let plain =
            |text: &str| Some(Template::plain(Spanned::new(SmolStr::new(text), Span::default())));
        let all: Vec<Question> = [("a \"b\", c", "d\ne"), ("", "\"\""), ("ä,", ",\n\"")]
            .into_iter()
            .map(|(question, answer)| Question {
                question: plain(question),
                answer: plain(answer),
                span: Span::default(),
            })
            .collect();
        let read = questions_from_csv(FileId(0), &questions_to_csv(&all));
        let texts = |all: &[Question]| -> Vec<(String, String)> {
            let text = |t: &Option<Template>| t.as_ref().map(|t| t.text.value.to_string());
            all.iter()
                .map(|q| {
                    (text(&q.question).unwrap_or_default(), text(&q.answer).unwrap_or_default())
                })
                .collect()
        };
        assert_eq!(texts(&read), texts(&all));
    }

    #[test]
    fn any_text_can_be_read() {
        for (text, lines) in [
            ("question,answer\n\"a", 0),
            ("h\nx,y\nz", 1),
            ("h\n\"a\"\n\"b\",\"c\"x\n", 1),
            ("\"", 0),
            (",", 0),
            ("", 0),
            ("h\n,\n", 1),
        ] {
            assert_eq!(questions_from_csv(FileId(0), text).len(), lines, "{text}");
        }
    }
}
