//! Texts as Z3 writes them.
//!
//! Z3 4.8 takes bytes, of which `\u{…}` stands for a character up to 2FFFF; it gives texts back in
//! the same form. So everything but plain ASCII is escaped, the backslash included.

use std::fmt::Write;

/// The largest character that Z3 knows.
const LARGEST: u32 = 0x2_FFFF;

/// Longer texts are not given to Z3.
const LONGEST: usize = 10_000;

/// The text in Z3's form, if it can have it.
pub(crate) fn escaped(text: &str) -> Option<String> {
    if text.len() > LONGEST {
        return None;
    }
    let mut made = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            ' '..='~' if c != '\\' => made.push(c),
            c if u32::from(c) <= LARGEST => {
                let _ = write!(made, "\\u{{{:x}}}", u32::from(c));
            }
            _ => return None,
        }
    }
    Some(made)
}

/// The text that Z3 means; none if it has characters that are none.
pub(crate) fn unescaped(text: &str) -> Option<String> {
    let mut made = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        made.push_str(before);
        let (code, behind) = escape_code(escape)?;
        made.push(char::from_u32(code)?);
        rest = behind;
    }
    made.push_str(rest);
    Some(made)
}

/// The number that an escape stands for, and what is behind it; a backslash before anything else is
/// itself.
fn escape_code(escape: &str) -> Option<(u32, &str)> {
    let hexadecimal = |digits: &str| u32::from_str_radix(digits, 16).ok();
    if let Some(braced) = escape.strip_prefix("\\u{") {
        let (digits, behind) = braced.split_once('}')?;
        return Some((hexadecimal(digits)?, behind));
    }
    for (prefix, length) in [("\\u", 4), ("\\x", 2)] {
        if let Some(after) = escape.strip_prefix(prefix) {
            let (digits, behind) = after.split_at_checked(length)?;
            return Some((hexadecimal(digits)?, behind));
        }
    }
    Some((u32::from('\\'), escape.get(1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use agentir_z3::z3::SatResult;
    use std::str::FromStr;

    #[test]
    fn z3_gives_texts_back_as_they_were() {
        assert!(agentir_z3::load().is_ok());
        for text in
            ["", "a", "größe", "\\u{41}", "\\", "日本", "\0\n\t\"'", "𝒳", "\u{2ffff}", "\\x41"]
        {
            let form = escaped(text).unwrap_or_else(|| unreachable!("{text}"));
            assert_eq!(unescaped(&form).as_deref(), Some(text));
            let solver = agentir_z3::z3::Solver::new();
            let variable = agentir_z3::z3::ast::String::new_const("x");
            let value =
                agentir_z3::z3::ast::String::from_str(&form).unwrap_or_else(|_| unreachable!());
            solver.assert(variable.eq(&value));
            let length = i64::try_from(text.chars().count()).unwrap_or_default();
            solver.assert(variable.length().eq(agentir_z3::z3::ast::Int::from_i64(length)));
            assert_eq!(solver.check(), SatResult::Sat, "{text:?} has {length} characters");
            let found = solver
                .get_model()
                .and_then(|m| m.eval(&variable, true))
                .and_then(|v| v.as_string())
                .and_then(|v| unescaped(&v));
            // Z3 does not escape backslashes in what it gives back, so such texts cannot be told from
            // escapes; the evaluator refuses a state that comes of it.
            if !text.starts_with("\\u") && !text.starts_with("\\x") {
                assert_eq!(found.as_deref(), Some(text), "{form}");
            }
        }
        assert_eq!(escaped("\u{30000}"), None);
    }
}
