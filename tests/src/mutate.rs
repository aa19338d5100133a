//! Damaged documents, as they occur while typing, pasting or converting.

/// A changed text, with a description of the change.
pub type Mutant = (String, String);

/// Changes without meaning: the IR must stay the same.
#[must_use]
pub fn harmless(text: &str) -> Vec<Mutant> {
    let unix = text.replace("\r\n", "\n");
    vec![
        ("with CRLF".to_owned(), unix.replace('\n', "\r\n")),
        ("with a byte order mark".to_owned(), format!("\u{feff}{unix}")),
        ("without the final newline".to_owned(), unix.trim_end_matches('\n').to_owned()),
        (
            "with blank lines at the end".to_owned(),
            format!("{}\n\n\n", unix.trim_end_matches('\n')),
        ),
        (
            "with white space at the end".to_owned(),
            format!("{}\n  \t\n", unix.trim_end_matches('\n')),
        ),
    ]
}

/// Changes with any effect. `stride` is the distance of the positions at which a text is cut.
pub fn damaged(text: &str, stride: usize) -> impl Iterator<Item = Mutant> + '_ {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let every = stride.div_ceil(40).max(1);
    let count = lines.len();
    let starts: Vec<usize> = lines
        .iter()
        .scan(0, |at, line| {
            let start = *at;
            *at += line.len();
            Some(start)
        })
        .collect();
    let at_line = starts.clone().into_iter().map(move |at| (at, "at the start of a line"));
    let at_char =
        text.char_indices().map(|(at, _)| at).step_by(stride).map(|at| (at, "inside a line"));
    let prefixes = at_line
        .chain(at_char)
        .map(move |(at, what)| (format!("cut at byte {at}, {what}"), text[..at].to_owned()));
    let suffixes = starts
        .into_iter()
        .step_by(7 * every)
        .map(move |at| (format!("from byte {at} on"), text[at..].to_owned()));
    let edited = (0..count).step_by(every).flat_map(move |i| {
        let line = lines[i];
        let body = line.trim_start_matches([' ', '\t']);
        let indent = &line[..line.len() - body.len()];
        let with = |what: &str, middle: String| {
            let text = format!("{}{middle}{}", lines[..i].concat(), lines[i + 1..].concat());
            (format!("line {} {what}", i + 1), text)
        };
        let words: Vec<&str> = line.split(' ').collect();
        let half = line.floor_char_boundary(line.len() / 2);
        [
            with("deleted", String::new()),
            with("twice", format!("{line}{line}")),
            with("indented by one more", format!(" {line}")),
            with("indented by four more", format!("    {line}")),
            with("indented by one less", line.strip_prefix(' ').unwrap_or(line).to_owned()),
            with("at the margin", body.to_owned()),
            with("indented by a tab", format!("{}\t{body}", indent.replace("  ", "\t"))),
            with("broken in the middle", format!("{}\n{}", &line[..half], &line[half..])),
            with("with its words reversed", words.into_iter().rev().collect::<Vec<_>>().join(" ")),
            with("joined with the next", format!("{} ", line.trim_end())),
            with("without quotes", line.replace(['"', '\''], "")),
            with("without colons", line.replace(':', " ")),
            with("with an open bracket", line.replace([']', ')', '}'], "")),
            with("after a lone carriage return", format!("\r{line}")),
        ]
    });
    let whole = [
        ("with tabs for spaces".to_owned(), text.replace("  ", "\t")),
        ("in lower case".to_owned(), text.to_lowercase()),
        ("in upper case".to_owned(), text.to_uppercase()),
        ("with lone carriage returns".to_owned(), text.replace('\n', "\r")),
        ("on one line".to_owned(), text.replace('\n', " ")),
        ("with umlauts".to_owned(), text.replace(['e', 'E'], "ë")),
        ("with wide spaces".to_owned(), text.replace(' ', "\u{a0}")),
        ("twice".to_owned(), format!("{text}{text}")),
    ];
    prefixes.chain(suffixes).chain(edited).chain(whole)
}

#[cfg(test)]
mod tests {
    use super::damaged;

    #[test]
    fn all_prefixes_at_stride_one() {
        let text = "aé\nb\n";
        let all: Vec<String> = damaged(text, 1).map(|(_, text)| text).collect();
        for prefix in ["", "a", "aé", "aé\n", "aé\nb"] {
            assert!(all.iter().any(|t| t == prefix), "{prefix:?}");
        }
    }
}
