//! Random numbers that are the same on every machine.

/// A sequence of numbers that look random and follow from its first state (SplitMix64; Steele, Lea and Flood, 2014). It is not
/// for secrets.
#[derive(Clone, Copy, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The sequence that begins with a state.
    #[must_use]
    pub const fn new(state: u64) -> Self {
        Self(state)
    }

    /// The next number.
    #[must_use]
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}
