//! Words and random numbers.

use agentir_runtime::SplitMix64;

/// Numbers that look random and are the same on every machine.
#[derive(Debug, Clone)]
pub struct Random(SplitMix64);

impl Random {
    /// The stream that begins with a state.
    #[must_use]
    pub const fn from_state(state: u64) -> Self {
        Self(SplitMix64::new(state))
    }

    /// A separate stream for each part of a seed.
    pub(super) const fn new(seed: u64, part: u64) -> Self {
        let part = part.wrapping_mul(0xD1B5_4A32_D192_ED03);
        Self(SplitMix64::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ part))
    }

    fn next(&mut self) -> u64 {
        self.0.next()
    }

    /// A number below `limit`; zero if there is none.
    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit.max(1) as u64).unwrap_or(0)
    }

    /// A number from `low` to `high`, both included.
    pub(super) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True with a probability of `percent` in a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of these.
    pub(super) fn pick(&mut self, from: &[&'static str]) -> &'static str {
        let at = self.below(from.len());
        from.get(at).copied().unwrap_or_default()
    }

    /// `count` different ones of these.
    pub(super) fn pick_some(&mut self, from: &[&'static str], count: usize) -> Vec<&'static str> {
        let mut from = from.to_vec();
        (0..count.min(from.len())).map(|_| from.swap_remove(self.below(from.len()))).collect()
    }

    /// Sentences, for texts that only the model reads.
    pub(super) fn prose(&mut self, sentences: usize) -> Vec<String> {
        (0..sentences)
            .map(|_| {
                format!("{} {} {}.", self.pick(OPENINGS), self.pick(MIDDLES), self.pick(ENDINGS))
            })
            .collect()
    }
}

/// What agents are about.
pub(super) const THINGS: &[&str] = &[
    "kayak",
    "piano",
    "greenhouse",
    "scooter",
    "orchard",
    "sailboat",
    "loom",
    "kiln",
    "beehive",
    "tandem",
    "telescope",
    "tractor",
    "caravan",
    "aquarium",
    "harp",
    "printer",
    "boiler",
    "passport",
    "parcel",
    "permit",
    "locker",
    "ticket",
    "invoice",
    "contract",
    "membership",
    "voucher",
    "meter",
    "antenna",
    "clinic",
    "studio",
];

/// What they do about it.
pub(super) const DEEDS: &[&str] =
    &["Rental", "Repair", "Booking", "Renewal", "Advice", "Transfer", "Delivery", "Pickup"];

/// What tools do.
pub(super) const VERBS: &[&str] =
    &["find", "reserve", "price", "cancel", "check", "move", "confirm", "release"];

/// What can be asked for: a name, a type, a question.
pub(super) const FIELDS: &[(&str, &str, &str)] = &[
    ("visit_date", "date", "Which day would suit you?"),
    ("guest_count", "number", "How many people will come along?"),
    ("postal_code", "string", "What is the postal code there?"),
    ("contact_mail", "email", "Which e-mail address may we use?"),
    ("contact_phone", "phone", "Under which number can we reach you?"),
    ("colour", "string", "Which colour do you have in mind?"),
    ("duration_days", "number", "For how many days do you need it?"),
    ("has_insurance", "boolean", "Is it insured already?"),
    ("remarks", "string", "Is there anything else we should know?"),
    ("size_class", "string", "Small, medium or large?"),
    ("customer_number", "string", "What is your customer number?"),
    ("street", "string", "In which street do you live?"),
];

/// Who they are.
pub(super) const TRAITS: &[&str] =
    &["Patient", "Cheerful", "Brisk", "Calm", "Careful", "Plain-spoken", "Kind", "Exact"];
/// And what.
pub(super) const JOBS: &[&str] =
    &["clerk", "dispatcher", "adviser", "librarian", "porter", "workshop owner", "guide"];

/// What they cannot do.
pub(super) const LIMITS: &[&str] = &[
    "Cannot change a price",
    "Cannot promise a date that the calendar does not show",
    "Does not give legal advice",
    "Cannot see orders of other people",
    "Does not take payments in cash",
    "Cannot extend a contract that has ended",
];

const OPENINGS: &[&str] = &[
    "Ask one thing at a time and",
    "Before you promise anything,",
    "If somebody is in a hurry,",
    "Whenever you are not sure,",
    "Once all is known,",
    "When the line is bad,",
    "In the evening and on Sundays,",
    "With a returning customer,",
];
const MIDDLES: &[&str] = &[
    "repeat what was said in your own words",
    "say what happens next",
    "look into the calendar first",
    "offer the nearest day that is free",
    "name the price with all fees",
    "keep every answer below three sentences",
    "leave out what the caller knows already",
    "thank them for waiting",
];
const ENDINGS: &[&str] = &[
    "and wait for an answer",
    "without pressing anybody",
    "so that nobody is surprised later",
    "and write it down",
    "as a friendly neighbour would",
    "before anything is booked",
    "unless they ask for more",
    "and mind the opening hours",
];
