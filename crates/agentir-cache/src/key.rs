//! Keys, and values that prove that they are what was put under theirs.

use blake3::Hasher;

/// How many bytes of a hash stand before a value.
const SEAL_BYTES: usize = 16;

/// A hash of everything that decides a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key([u8; 32]);

impl Key {
    /// Splits `bytes` into a key, by its [bytes](Self::bytes), and the rest.
    #[must_use]
    pub fn split_first(bytes: &[u8]) -> Option<(Self, &[u8])> {
        bytes.split_first_chunk().map(|(key, rest)| (Self(*key), rest))
    }

    /// As bytes.
    #[must_use]
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The value, prefixed by a keyed hash of it.
    pub(crate) fn seal(&self, value: &[u8]) -> Vec<u8> {
        let mut sealed = self.hash(value).to_vec();
        sealed.extend_from_slice(value);
        sealed
    }

    /// The value, if it is intact and was sealed with this key.
    pub(crate) fn unseal(&self, mut sealed: Vec<u8>) -> Option<Vec<u8>> {
        let (seal, value) = sealed.split_at_checked(SEAL_BYTES)?;
        if seal != self.hash(value) {
            return None;
        }
        sealed.drain(..SEAL_BYTES);
        Some(sealed)
    }

    fn hash(&self, value: &[u8]) -> [u8; SEAL_BYTES] {
        let hash = blake3::keyed_hash(&self.0, value);
        let mut seal = [0; SEAL_BYTES];
        for (to, from) in seal.iter_mut().zip(hash.as_bytes()) {
            *to = *from;
        }
        seal
    }
}

/// Parts of at least this size are hashed separately, which hashes several blocks at once; data that
/// follows other parts in the hasher is not.
const LARGE_PART_BYTES: usize = 1024;

/// The number of bytes of small parts that are hashed together.
const BUFFER_BYTES: usize = 4096;

/// Makes a key of parts. Each is set off from the next by its length, so `ab`, `c` is not `a`, `bc`.
#[derive(Clone, Debug)]
pub struct KeyBuilder {
    /// What is hashed; nothing for most keys, which are small. It takes two kilobytes.
    hasher: Option<Box<Hasher>>,
    /// What is not hashed yet.
    pending: Vec<u8>,
}

impl Default for KeyBuilder {
    fn default() -> Self {
        // What most keys take, so that it does not grow in steps.
        Self { hasher: None, pending: Vec::with_capacity(512) }
    }
}

impl KeyBuilder {
    /// Adds a part.
    pub fn add(&mut self, part: impl AsRef<[u8]>) -> &mut Self {
        let part = part.as_ref();
        self.pending.extend_from_slice(&(part.len() as u64).to_le_bytes());
        if part.len() < LARGE_PART_BYTES {
            self.pending.extend_from_slice(part);
        } else {
            self.pending.extend_from_slice(blake3::hash(part).as_bytes());
        }
        if self.pending.len() >= BUFFER_BYTES {
            self.hasher.get_or_insert_default().update(&self.pending);
            self.pending.clear();
        }
        self
    }

    /// The key of all parts so far.
    #[must_use]
    pub fn key(&self) -> Key {
        let hash = match &self.hasher {
            Some(hasher) => hasher.clone().update(&self.pending).finalize(),
            None => blake3::hash(&self.pending),
        };
        Key(*hash.as_bytes())
    }
}
