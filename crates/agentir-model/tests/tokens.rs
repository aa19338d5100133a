//! Token counts, compared with those of the crate `bpe-openai` 0.3.2, which are those of `tiktoken`.

#![allow(missing_docs)]

use agentir_model::Tokens;

/// A text, how often it is repeated, and how many tokens that is for [`Tokens::O200k`] and for
/// [`Tokens::Cl100k`].
const COUNTS: &[(&str, usize, u64, u64)] = &[
    ("hello world", 1, 2, 2),
    ("tiktoken is great!", 1, 6, 6),
    (
        "The user wants to change the date of a booking; ask for the confirmation number first.",
        1,
        18,
        18,
    ),
    ("I'm sure they'LL say it's OK, won't we'Ve? DON'T", 1, 15, 19),
    ("  leading and trailing  ", 1, 5, 5),
    ("a\n\n  b\r\n\tc \n \n", 1, 7, 7),
    ("tab\tseparated\u{a0}values\u{3000}and\u{2003}spaces\u{85}x", 1, 12, 13),
    ("let total = items.iter().map(|x| x.price * 100).sum::<u64>(); // cents\n", 1, 24, 24),
    (
        r#"{"id": "call_1", "function": {"name": "search_books", "arguments": "{\"n\": 12345}"}}"#,
        1,
        29,
        29,
    ),
    ("1234567890 3.14159 2026-03-15T14:30:00Z +14155550123 ½ ² Ⅷ ٣٤٥", 1, 39, 42),
    ("https://example.com/a/b/?q=%20x&y=1#fragment", 1, 17, 17),
    ("Die Übernachtungsmöglichkeiten für größere Gruppen sind begrenzt.", 1, 13, 19),
    ("Où est l'hôtel ? Ça coûte 35 €.", 1, 11, 17),
    ("Мне нужно изменить дату бронирования.", 1, 8, 15),
    ("Θέλω να αλλάξω την κράτησή μου.", 1, 13, 27),
    ("أريد تغيير موعد الحجز.", 1, 7, 17),
    ("אני רוצה לשנות את ההזמנה.", 1, 9, 23),
    ("मुझे अपनी बुकिंग बदलनी है।", 1, 10, 30),
    ("ฉันต้องการเปลี่ยนวันที่จอง", 1, 10, 20),
    ("我想更改预订日期，请先问确认号码。", 1, 13, 16),
    ("予約の日付を変更したいです。", 1, 9, 15),
    ("예약 날짜를 변경하고 싶습니다.", 1, 8, 16),
    ("e\u{301}\u{308} Ǆ ǅ ʰ ſ 'ſ ﬁ 𝒜 𝟘", 1, 25, 27),
    ("👩\u{200d}🚀 👍🏽 🇩🇪 ❤\u{fe0f} ☃", 1, 15, 23),
    ("\u{0}\u{1b}[31m\u{7f}\u{feff}\u{fffd}\u{10ffff}", 1, 12, 11),
    ("<|endoftext|>", 1, 7, 7),
    ("a", 100_000, 12500, 12500),
    (" ", 100_000, 782, 782),
    ("\n", 100_001, 6251, 3126),
    ("ab", 30_000, 15000, 30000),
    ("xyzzy qq", 5_000, 15000, 15000),
    ("日本", 20_000, 20000, 40000),
    ("👍🏽", 5_000, 15000, 30000),
    ("=-", 30_000, 3750, 3750),
    ("7", 10_000, 3334, 3334),
    ("The quick brown fox jumps over the lazy dog. Größe 12,5 €\n", 2_000, 32000, 36000),
];

#[test]
fn counts_are_those_of_the_reference() {
    for (text, times, o200k, cl100k) in COUNTS {
        let long = text.repeat(*times);
        let counts = (Tokens::O200k.count(&long), Tokens::Cl100k.count(&long));
        assert_eq!(counts, (*o200k, *cl100k), "{text:?} × {times}");
    }
    assert_eq!(Tokens::O200k.count(""), 0);
}

#[test]
fn a_long_piece_without_order_is_merged_as_the_reference_does() {
    let mut state = 1_u32;
    let letter = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b'a' + (state >> 24) as u8 % 26)
    };
    let text: String = (0..50_000).map(letter).collect();
    assert_eq!(Tokens::O200k.count(&text), 25818);
    assert_eq!(Tokens::Cl100k.count(&text), 26954);
}
