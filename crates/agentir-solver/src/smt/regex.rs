//! Regular expressions for Z3, by way of SMT-LIB: the C interface of Z3 4.8 lacks a part of what the
//! language has.

use super::term::Text;
use super::text::escaped;
use crate::work::Work;
use agentir_eval::portable;
use agentir_z3::z3::ast::{Ast, Bool};
use regex_syntax::hir::{Class, ClassUnicode, Hir, HirKind, Look};
use std::fmt::Write;

/// How many repetitions are written out.
const MOST_REPETITIONS: u32 = 200;

/// How long a written pattern gets.
const LONGEST: usize = 100_000;

/// The steps of reading a byte of what is written.
const STEPS_OF_BYTE: u64 = 4;

/// That a pattern is found in a text, if Z3 can say it: no anchors but at the ends, no word
/// boundaries.
pub(crate) fn found_in(pattern: &str, text: &Text, work: &Work) -> Option<Bool> {
    if pattern.len() > 1000 {
        return None;
    }
    let hir = regex_syntax::parse(&portable(pattern)).ok()?;
    let mut written = String::from("(declare-const subject String)(assert (str.in_re subject ");
    whole(&hir, &mut written)?;
    written.push_str("))");
    work.spend(STEPS_OF_BYTE * written.len() as u64);
    let reader = agentir_z3::z3::Solver::new();
    reader.from_string(written);
    let read = reader.get_assertions();
    let [found] = read.as_slice() else { return None };
    Some(found.substitute(&[(&Text::new_const("subject"), text)]))
}

/// The texts in which a pattern is found.
fn whole(hir: &Hir, out: &mut String) -> Option<()> {
    let mut parts: &[Hir] = match hir.kind() {
        HirKind::Concat(parts) => parts,
        _ => std::slice::from_ref(hir),
    };
    // One operand alone is not a concatenation, so there are always two.
    out.push_str("(re.++ (str.to_re \"\") (str.to_re \"\")");
    match parts.split_first() {
        Some((first, rest)) if is_look(first, Look::Start) => parts = rest,
        _ => out.push_str(" re.all"),
    }
    let mut open = true;
    if let Some((last, rest)) = parts.split_last()
        && is_look(last, Look::End)
    {
        parts = rest;
        open = false;
    }
    for part in parts {
        exactly(part, out)?;
    }
    out.push_str(if open { " re.all)" } else { ")" });
    Some(())
}

fn is_look(hir: &Hir, look: Look) -> bool {
    matches!(hir.kind(), HirKind::Look(found) if *found == look)
}

/// A text in quotes.
fn quoted(text: &str, out: &mut String) -> Option<()> {
    let text = escaped(text)?.replace('"', "\"\"");
    write!(out, "\"{text}\"").ok()
}

fn literal(text: &str, out: &mut String) -> Option<()> {
    out.push_str(" (str.to_re ");
    quoted(text, out)?;
    out.push(')');
    Some(())
}

/// The texts that match as a whole. Recursive; `regex_syntax` refuses deep patterns.
fn exactly(hir: &Hir, out: &mut String) -> Option<()> {
    if out.len() > LONGEST {
        return None;
    }
    match hir.kind() {
        HirKind::Empty => literal("", out)?,
        HirKind::Literal(text) => literal(std::str::from_utf8(&text.0).ok()?, out)?,
        HirKind::Class(Class::Unicode(class)) => characters(class, out)?,
        HirKind::Class(Class::Bytes(class)) => {
            characters(&class.to_unicode_class().filter(|_| class.is_ascii())?, out)?;
        }
        HirKind::Look(_) => return None,
        HirKind::Capture(capture) => exactly(&capture.sub, out)?,
        HirKind::Concat(parts) => {
            out.push_str(" (re.++ (str.to_re \"\")");
            parts.iter().try_for_each(|part| exactly(part, out))?;
            out.push(')');
        }
        HirKind::Alternation(parts) => {
            out.push_str(" (re.union re.none");
            parts.iter().try_for_each(|part| exactly(part, out))?;
            out.push(')');
        }
        HirKind::Repetition(repetition) => {
            let (least, most) = (repetition.min, repetition.max);
            if least.max(most.unwrap_or(0)) > MOST_REPETITIONS {
                return None;
            }
            match most {
                None if least == 0 => out.push_str(" (re.*"),
                None if least == 1 => out.push_str(" (re.+"),
                None => {
                    let _ = write!(out, " (re.++ ((_ re.loop {least} {least})");
                    exactly(&repetition.sub, out)?;
                    out.push_str(") (re.*");
                    exactly(&repetition.sub, out)?;
                    out.push_str("))");
                    return Some(());
                }
                Some(0) => return literal("", out),
                Some(most) => {
                    let _ = write!(out, " ((_ re.loop {least} {most})");
                }
            }
            exactly(&repetition.sub, out)?;
            out.push(')');
        }
    }
    Some(())
}

/// One of a set of characters; those that Z3 does not know are not part of any string it finds.
fn characters(class: &ClassUnicode, out: &mut String) -> Option<()> {
    const LARGEST: char = '\u{2ffff}';
    if class.iter().count() > 500 {
        return None;
    }
    out.push_str(" (re.union re.none");
    for range in class.iter().filter(|r| r.start() <= LARGEST) {
        out.push_str(" (re.range ");
        quoted(range.start().encode_utf8(&mut [0; 4]), out)?;
        out.push(' ');
        quoted(range.end().min(LARGEST).encode_utf8(&mut [0; 4]), out)?;
        out.push(')');
    }
    out.push(')');
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use agentir_z3::z3::SatResult;
    use std::str::FromStr;

    #[test]
    fn z3_agrees_with_the_evaluator() {
        assert!(agentir_z3::load().is_ok());
        let patterns = [
            r"^[a-c]+$",
            r"room\s*\d+",
            r"^\w+@\w+\.com$",
            r"a|bc",
            r"^(ab){2,3}$",
            r"^.$",
            r"[^x]y",
            r#""q""#,
            r"^ü.?$",
            r"(?i)^ja",
            r"^a{3,}$",
            "^$",
        ];
        let texts = [
            "", "a", "abc", "room 12", "ROOM", "me@x.com", "abab", "ababab", "abababab", "xy",
            "zy", "\"q\"", "ü", "üb", "JA!", "aaaa", "\n", "日",
        ];
        for pattern in patterns {
            for text in texts {
                let form = escaped(text).and_then(|t| Text::from_str(&t).ok());
                let found = form.and_then(|t| found_in(pattern, &t, &Work::new(u64::MAX)));
                let found = found.unwrap_or_else(|| unreachable!("{pattern} cannot be said"));
                let solver = agentir_z3::z3::Solver::new();
                solver.assert(found);
                let by = agentir_eval::pattern(pattern).unwrap_or_else(|_| unreachable!());
                let expected = if by.is_match(text) { SatResult::Sat } else { SatResult::Unsat };
                assert_eq!(solver.check(), expected, "{pattern} in {text:?}");
            }
        }
    }
}
