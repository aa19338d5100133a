//! Secrets of issuers whose formats have several parts.

use crate::bytes::{WORD, is};
use crate::table::{Alphabet, DISCORD_PARTS, DISCORD_STARTS, FORMS, Part, SALESFORCE, TELEGRAM};
use crate::values::{entropy, is_placeholder};
use crate::{Secret, is_words};
use std::ops::Range;

/// A secret whose form has parts, which begins at the start of a word.
pub(super) fn of_parts(line: &str, at: usize) -> Option<Secret> {
    FORMS.iter().find_map(|(parts, what)| {
        let mut rest = line.as_bytes().get(at..)?;
        let all = rest.len();
        for part in *parts {
            let length = match part {
                Part::Text(text) if rest.starts_with(text.as_bytes()) => text.len(),
                Part::Text(_) => return None,
                Part::Run(alphabet, least, most) => {
                    let next = rest.iter().take(most + 1);
                    let length = next.take_while(|byte| alphabet.has(**byte)).count();
                    if length < *least {
                        return None;
                    }
                    length.min(*most)
                }
            };
            rest = rest.get(length..)?;
        }
        let ends = !rest.first().is_some_and(|byte| is(*byte, WORD));
        let range = at..at + all - rest.len();
        let secret = line.get(range.clone())?;
        let is_secret = ends && !is_placeholder(secret) && entropy(secret) > 3.0;
        is_secret.then(|| Secret { what: (*what).to_owned(), range })
    })
}

/// The token of a Discord bot.
pub(super) fn discord(line: &str, at: usize) -> Option<Secret> {
    let mut rest = line.as_bytes().get(at..)?;
    let [first, second] = DISCORD_STARTS;
    if !first.contains(rest.first()?) || !second.contains(rest.get(1)?) {
        return None;
    }
    let mut length = 0;
    for (number, (min, max)) in DISCORD_PARTS.into_iter().enumerate() {
        if number > 0 {
            rest = rest.strip_prefix(b".")?;
            length += 1;
        }
        let part = rest.iter().take(max + 1).take_while(|byte| Alphabet::Url.has(**byte)).count();
        if !(min..=max).contains(&part) {
            return None;
        }
        rest = rest.get(part..)?;
        length += part;
    }
    let secret = line.get(at..at + length)?;
    let is_secret = !is_placeholder(secret) && !is_words(secret) && entropy(secret) > 3.5;
    is_secret.then(|| Secret { what: "a Discord bot token".to_owned(), range: at..at + length })
}

/// The secret part of the token of a Telegram bot; `at` is the colon after the number of the bot.
pub(super) fn telegram(line: &[u8], at: usize) -> Option<Range<usize>> {
    let ((min, max), start, length) = TELEGRAM;
    let after = line.get(at..)?.strip_prefix(b":")?;
    if !after.starts_with(start) {
        return None;
    }
    let before = line.get(..at)?.iter().rev().take(max + 1);
    let digits = before.take_while(|byte| byte.is_ascii_digit()).count();
    let found = after.iter().take(length + 1).take_while(|byte| Alphabet::Url.has(**byte)).count();
    ((min..=max).contains(&digits) && found == length).then(|| at + 1..at + 1 + length)
}

/// The identifier of a session of Salesforce: the organisation, `!`, and the session.
pub(super) fn salesforce(line: &str, at: usize) -> Option<Secret> {
    let (start, organisations, least) = SALESFORCE;
    let rest = line.get(at..)?;
    if !rest.starts_with(start) {
        return None;
    }
    let (organisation, session) =
        rest.get(..rest.len().min(4096)).unwrap_or(rest).split_once('!')?;
    if !organisations.contains(&organisation.len())
        || !organisation.bytes().all(|byte| byte.is_ascii_alphanumeric())
    {
        return None;
    }
    let length = session.bytes().take_while(|byte| Alphabet::Dotted.has(*byte)).count();
    let range = at..at + organisation.len() + 1 + length;
    (length >= least).then(|| Secret { what: "a Salesforce session".to_owned(), range })
}

#[cfg(test)]
mod tests {
    use crate::mask;
    use crate::table::Alphabet;
    use crate::tests::body;

    #[test]
    fn forms_without_a_prefix_are_found_by_their_parts() {
        let (alnum, hex) = (|n| body(Alphabet::Alnum, n), |n| body(Alphabet::Hex, n));
        for (secret, what) in [
            (format!("aB38Q~{}", alnum(34)), "Entra"),
            (format!("{}.atlasv1.{}", alnum(14), alnum(64)), "Terraform"),
            (format!("pat{}.{}", alnum(14), hex(64)), "Airtable"),
            (format!("{}-us12", hex(32)), "Mailchimp"),
        ] {
            for text in [secret.clone(), format!("key \"{secret}\""), format!("# {secret}, then")] {
                let found = crate::secrets(&text);
                let found: Vec<_> =
                    found.iter().map(|s| (&text[s.range.clone()], &s.what)).collect();
                assert!(
                    matches!(&found[..], [(one, of)] if *one == secret && of.contains(what)),
                    "{text}"
                );
                assert_eq!(mask(&text), text.replace(&secret, &format!("{}…", &secret[..4])));
            }
        }
        for plain in ["a.atlasv1.b", "pattern.name", "version-us12", "abc8Q~x"] {
            assert_eq!(crate::secrets(plain), []);
        }
    }

    #[test]
    fn sessions_of_salesforce_are_not_shown() {
        let session = "00D5g00000AbCdE!AQ0AQHnKm3xQz8vP2rLw9tYb4cJf7gDs1hXe6kVn5uTa";
        assert_eq!(mask(&format!("sid={session}")), "sid=00D5…");
        assert_eq!(mask(&format!("use {session} now")), "use 00D5… now");
        assert_eq!(mask("00D5g00000AbCdE!"), "00D5g00000AbCdE!");
        assert_eq!(
            mask("the number 00D5g00000AbCdE! is short"),
            "the number 00D5g00000AbCdE! is short"
        );
    }
}
