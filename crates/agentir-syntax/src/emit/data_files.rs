//! Files of data beside a program, which a platform loads: the questions of knowledge bases (`knowledge/*.csv`), and tables
//! that several agents look values up in (`tables/*.csv`). They are CSV (RFC 4180) with a line for the names of the columns.

use crate::rules;
use crate::text::offset;
use agentir_diagnostics::{Diagnostic, FileId, Span, Spanned};
use agentir_expr::Template;
use agentir_ir::{Data, LookupTable, Question};
use smol_str::SmolStr;

/// The names of columns.
type Columns = &'static [&'static str];

/// The fields of a line.
type Line = Vec<Spanned<SmolStr>>;

/// The folders that the files are in.
pub const DATA_FOLDERS: [&str; 2] = ["knowledge", "tables"];

/// The columns of questions.
const QUESTIONS: [&str; 2] = ["question", "answer"];
/// The columns of tables that say what stands for a value.
const PAIRS: [&str; 2] = ["name", "value"];
/// The columns of tables of values.
const VALUES: [&str; 1] = ["value"];

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

/// Whether a path is that of a data file: in its folder itself, so that no name leads to another place.
#[must_use]
pub fn is_data_path(path: &str) -> bool {
    let is_name = |name: &str| {
        let is_plain = !name.contains(['/', '\\', ':', '\0']) && !name.starts_with('.');
        is_plain && !name.trim().is_empty()
    };
    knowledge_of(path).or_else(|| table_of(path)).is_some_and(is_name)
}

/// Writes questions.
#[must_use]
pub fn questions_to_csv(questions: &[Question]) -> String {
    let text = |text: &Option<Template>| text.as_ref().map_or("", |t| &t.text.value).to_owned();
    let all = questions.iter().map(|q| vec![text(&q.question), text(&q.answer)]);
    to_csv(&QUESTIONS, all)
}

/// Reads questions, and says what is wrong. Lines of another form are left out.
#[must_use]
pub fn questions_from_csv(file: FileId, text: &str) -> (Vec<Question>, Vec<Diagnostic>) {
    let (header, lines, problems) = read(file, text, &[&QUESTIONS]);
    let question = |fields: Line| {
        let [question, answer] = <[_; 2]>::try_from(fields).ok()?;
        let span = question.span;
        let (question, answer) = (Template::plain(question), Template::plain(answer));
        Some(Question { question: Some(question), answer: Some(answer), span })
    };
    let all = header.map(|_| lines.into_iter().filter_map(question).collect());
    (all.unwrap_or_default(), problems)
}

/// Writes the content of a table: what is looked up, and what it stands for; or the values alone. `None` if it has other
/// content.
#[must_use]
pub fn table_to_csv(table: &LookupTable) -> Option<String> {
    let Some(map) = &table.map else {
        let values = table.values.iter().map(|value| vec![value.text.value.to_string()]);
        return Some(to_csv(&VALUES, values));
    };
    let pair =
        |(name, value): (&String, &Data)| Some(vec![name.clone(), value.as_str()?.to_owned()]);
    let all: Vec<Vec<String>> = map.as_object()?.iter().map(pair).collect::<Option<_>>()?;
    Some(to_csv(&PAIRS, all.into_iter()))
}

/// The content of a table.
#[derive(Debug, Default)]
pub struct Rows {
    /// The values, if the file has nothing else.
    pub values: Vec<Template>,
    /// The values by what stands for them.
    pub map: Option<Data>,
}

/// Reads the content of a table, and says what is wrong. Lines of another form are left out.
#[must_use]
pub fn table_from_csv(file: FileId, text: &str) -> (Rows, Vec<Diagnostic>) {
    let (header, lines, mut problems) = read(file, text, &[&PAIRS, &VALUES]);
    let mut rows = Rows::default();
    match header {
        Some(columns) if columns == VALUES => {
            let values = lines.into_iter().filter_map(|mut fields| fields.pop());
            rows.values = values.map(Template::plain).collect();
        }
        Some(_) => {
            let mut map = serde_json::Map::new();
            for fields in lines {
                let Ok([name, value]) = <[_; 2]>::try_from(fields) else { continue };
                let (key, data) = (name.value.to_string(), Data::from(value.value.as_str()));
                match map.get(&key) {
                    Some(other) if *other != data => problems.push(
                        problem(name.span, format!("`{key}` stands for two values"))
                            .help("leave one of the lines out"),
                    ),
                    _ => drop(map.insert(key, data)),
                }
            }
            rows.map = Some(Data::Object(map));
        }
        None => {}
    }
    (rows, problems)
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

fn problem(at: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(rules::SYNTAX, at, message)
}

/// Which of the forms a file has, by the names of its columns, its other lines, and what is wrong with it.
fn read(
    file: FileId,
    text: &str,
    forms: &[Columns],
) -> (Option<Columns>, Vec<Line>, Vec<Diagnostic>) {
    let mut problems = Vec::new();
    let mut all = records(file, text, &mut problems).into_iter();
    let header = all.next().unwrap_or_default();
    let is_form = |form: &&&[&str]| {
        let same = |(column, field): (&&str, &Spanned<SmolStr>)| {
            field.value.trim().eq_ignore_ascii_case(column)
        };
        form.len() == header.len() && form.iter().zip(&header).all(same)
    };
    let Some(form) = forms.iter().find(is_form) else {
        let names: Vec<String> = forms.iter().map(|form| format!("`{}`", form.join(","))).collect();
        let at = header.first().map_or(Span::new(file, 0, 0), |field| field.span);
        let missing = problem(at, "the first line does not name the columns")
            .help(format!("begin the file with {}", names.join(" or ")));
        return (None, Vec::new(), vec![missing]);
    };
    let mut lines = Vec::new();
    for fields in all {
        if fields.len() == form.len() {
            lines.push(fields);
            continue;
        }
        let at = fields.first().map_or(Span::new(file, 0, 0), |field| field.span);
        let (has, wants) = (fields.len(), form.len());
        let counted = |n: usize| if n == 1 { "1 field".to_owned() } else { format!("{n} fields") };
        problems.push(
            problem(at, format!("this line has {} in place of {}", counted(has), counted(wants)))
                .help("put a field that has a comma or a line break in it in quotes: `\"a, b\"`"),
        );
    }
    (Some(form), lines, problems)
}

/// The lines of a file that are not empty, with their fields.
fn records(file: FileId, text: &str, problems: &mut Vec<Diagnostic>) -> Vec<Line> {
    let mut all = Vec::new();
    // Spreadsheets begin files with a mark for the order of bytes.
    let mut at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    while text.len() > at {
        let mut fields = Vec::new();
        let start = at;
        loop {
            let Field { value, end, is_closed } = field(text, at);
            let span = Span::new(file, offset(at), offset(end));
            if !is_closed {
                problems.push(
                    problem(
                        Span::new(file, offset(at), offset(at + 1)),
                        "this quote is not closed",
                    )
                    .help("write a quote inside of a field twice: `\"\"`"),
                );
            }
            fields.push(Spanned::new(SmolStr::new(value), span));
            let rest = text.get(end..).unwrap_or_default();
            if !rest.starts_with(',') {
                let line =
                    rest.find('\n').map_or(rest, |line| rest.get(..line).unwrap_or_default());
                if !line.trim().is_empty() {
                    let after = Span::new(file, offset(end), offset(end + line.trim_end().len()));
                    problems.push(
                        problem(after, "there is text behind the quote that closes the field")
                            .help("write a quote inside of a field twice: `\"\"`"),
                    );
                }
                at = end + line.len() + 1;
                break;
            }
            at = end + 1;
        }
        let is_blank =
            text.get(start..at.min(text.len())).is_some_and(|line| line.trim().is_empty());
        if !is_blank {
            all.push(fields);
        }
    }
    all
}

/// A field of a line.
struct Field {
    value: String,
    end: usize,
    /// Whether a quote that it begins with is closed.
    is_closed: bool,
}

/// The field at a position.
fn field(text: &str, start: usize) -> Field {
    let rest = text.get(start..).unwrap_or_default();
    let Some(mut inside) = rest.strip_prefix('"') else {
        let end = rest.find([',', '\n']).unwrap_or(rest.len());
        let value = rest.get(..end).unwrap_or_default();
        let value = value.strip_suffix('\r').unwrap_or(value);
        return Field { value: value.to_owned(), end: start + value.len(), is_closed: true };
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
            None => return Field { value, end: text.len() - inside.len(), is_closed: true },
        }
    }
    value.push_str(inside);
    Field { value, end: text.len(), is_closed: false }
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
        let (read, problems) = questions_from_csv(FileId(0), &questions_to_csv(&all));
        assert!(problems.is_empty(), "{problems:?}");
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
        for (text, questions, problems) in [
            ("question,answer\n\"a", 0, &["quote is not closed", "1 field in place of 2"][..]),
            ("h\nx,y\nz", 0, &["name the columns"]),
            ("question,answer\n\"a\"\n\"b\",\"c\"x\n", 1, &["text behind", "1 field in"]),
            ("question,answer\n1,2,3\n4,5", 1, &["3 fields in place of 2"]),
            ("\"", 0, &["name the columns"]),
            (",", 0, &["name the columns"]),
            ("", 0, &["name the columns"]),
            ("question,answer\n,\n", 1, &[]),
            ("\u{feff}Question, Answer\r\na,\"b\"\r\n\r\nc,d\r\n", 2, &[]),
        ] {
            let (all, found) = questions_from_csv(FileId(0), text);
            assert_eq!(all.len(), questions, "{text}");
            assert_eq!(found.len(), problems.len(), "{text}: {found:?}");
            for (found, said) in found.iter().zip(problems) {
                assert!(found.message.contains(said), "{text}: {found:?}");
            }
        }
        let (read, _) = questions_from_csv(FileId(0), "question,answer\r\na,b\r\n");
        let answer = read.first().and_then(|q| q.answer.as_ref());
        assert_eq!(answer.map(|a| a.text.value.as_str()), Some("b"));
    }

    #[test]
    fn tables_are_values_or_pairs() {
        let (rows, found) = table_from_csv(FileId(0), "name,value\nT1,town1\nT1,town1\nT2,town2\n");
        assert_eq!(rows.map, Some(serde_json::json!({"T1": "town1", "T2": "town2"})));
        assert!(found.is_empty() && rows.values.is_empty(), "{found:?}");
        let (rows, _) = table_from_csv(FileId(0), "value\na\n\"b,c\"\n");
        let values: Vec<&str> = rows.values.iter().map(|v| v.text.value.as_str()).collect();
        assert_eq!((values, rows.map), (vec!["a", "b,c"], None));
        let (_, found) = table_from_csv(FileId(0), "name,value\nT1,a\nT1,b\n");
        assert!(found.iter().any(|d| d.message.contains("two values")), "{found:?}");
    }
}
