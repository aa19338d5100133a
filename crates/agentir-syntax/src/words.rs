//! Words that may contain letters and digits of any script.
//!
//! A Unicode class in a logos pattern compiles into a state machine with thousands of states. The
//! lexers therefore match the ASCII characters of a word themselves, and their callbacks call
//! [`extend`] and [`begin`] for the characters that are not ASCII. Letters are those of
//! [`char::is_alphabetic`] (`\p{Alphabetic}`), digits those of [`char::is_numeric`] (`\p{N}`).

use logos::{Lexer, Logos};

/// Extends the token of `lexer` over all characters that follow and for which `is_part` holds.
pub fn extend<'s, Token>(lexer: &mut Lexer<'s, Token>, is_part: impl Fn(char) -> bool)
where
    Token: Logos<'s, Source = str>,
{
    let rest = lexer.remainder();
    // The pattern has matched every ASCII character that could be matched here.
    if rest.as_bytes().first().is_some_and(|byte| !byte.is_ascii()) {
        lexer.bump(prefix(rest, is_part));
    }
}

/// Completes a word of which the first character was matched and is not ASCII. Returns false, which
/// makes that character an error, if it is not a letter.
pub fn begin<'s, Token>(lexer: &mut Lexer<'s, Token>, is_part: impl Fn(char) -> bool) -> bool
where
    Token: Logos<'s, Source = str>,
{
    let begins = lexer.slice().starts_with(char::is_alphabetic);
    if begins {
        lexer.bump(prefix(lexer.remainder(), is_part));
    }
    begins
}

/// The length in bytes of the longest prefix of `text` of which every character satisfies `is_part`.
pub fn prefix(text: &str, is_part: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is_part(c)).unwrap_or(text.len())
}

/// Texts and reference patterns for the tests of lexers.
#[cfg(feature = "testing")]
pub mod testing {
    #![allow(clippy::unwrap_used, reason = "tests end by panicking")]

    use proptest::prelude::*;
    use regex::Regex;
    use std::ops::Range;
    use std::sync::LazyLock;

    /// Characters that the Unicode version of the `regex` crate knows. The one of the standard library
    /// may be newer.
    static ASSIGNED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\A\P{Cn}\z").unwrap());

    /// Texts in which letters of many scripts, digits, marks, emoji, white space and punctuation
    /// follow each other. `punctuation` is a regular expression for ASCII characters that may occur.
    pub fn text(punctuation: &str) -> impl Strategy<Value = String> {
        let character = prop_oneof![
            4 => "[a-zA-Z_]",
            1 => "[0-9]",
            2 => "[ \t]",
            4 => punctuation,
            // Letters: Latin, Greek, Cyrillic, Hebrew, Arabic, Devanagari, Thai, Hangul, Han, Kana,
            // outside the basic plane, modifier letters, letters that are symbols.
            4 => "[ßéŁǅαΩжЯאشहกข한漢あア𝒜𐐷ʰªⒶ]",
            // Digits of other scripts, numbers that are letters, fractions, superscripts.
            2 => "[٣३๓３Ⅷⅷ〇½²①𝟘]",
            // Marks that are alphabetic, marks that are not, joiners, variation selectors.
            3 => "[ािंֿٰ\u{345}\u{301}\u{308}\u{20dd}\u{93c}\u{94d}\u{200c}\u{200d}\u{fe0f}]",
            2 => "[😀👩🇩🏽❤☃]",
            // White space, operators, quotes, punctuation; what shares its first bytes with them.
            3 => "[\u{a0}\u{85}\u{2003}\u{2028}\u{3000}≠≤≥→≢≡⇒“”„‘’‚—…（），。·€\u{feff}\u{fffd}\u{10ffff}]",
            2 => any::<char>().prop_map(String::from).prop_map(|c| {
                if !c.is_ascii() && ASSIGNED.is_match(&c) { c } else { "é".to_owned() }
            }),
        ];
        prop::collection::vec(character, 0..24).prop_map(|characters| characters.concat())
    }

    /// Lines at any column, well nested or not, from these forms of a line. A `%` in a form is a word that occurs
    /// nowhere else: `w1`, `w2`, … in the order of the lines.
    pub fn lines(forms: &'static [&'static str]) -> impl Strategy<Value = String> {
        let form = prop::sample::select(forms);
        let line = (prop_oneof![3 => 0..5usize, 1 => 0..12usize], form);
        prop::collection::vec(line, 0..16).prop_map(|lines| {
            let mut words = 0;
            let mut text = String::new();
            for (column, form) in lines {
                text.push_str(&" ".repeat(column));
                for part in form.split_inclusive('%') {
                    match part.strip_suffix('%') {
                        Some(before) => {
                            words += 1;
                            text.push_str(&format!("{before}w{words}."));
                        }
                        None => text.push_str(part),
                    }
                }
                text.push('\n');
            }
            text
        })
    }

    /// The words of [`lines`] in a text, in order.
    pub fn words_of_lines(text: &str) -> Vec<String> {
        static WORD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"w[0-9]+\.").unwrap());
        WORD.find_iter(text).map(|word| word.as_str().to_owned()).collect()
    }

    /// The tokens of `text` by a reference pattern: the number of the group that matched, and where.
    /// What matches without a group is skipped.
    pub fn reference(pattern: &Regex, text: &str) -> Vec<(usize, Range<usize>)> {
        let all = pattern.captures_iter(text).filter_map(|captures| {
            let mut groups = captures.iter().enumerate().skip(1);
            groups.find_map(|(number, group)| Some((number, group?.range())))
        });
        all.collect()
    }
}
