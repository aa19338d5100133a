//! Shares of the work.

use agentir_cache::KeyBuilder;
use std::path::Path;
use std::str::FromStr;

/// A share: the `index`-th of `count`, from 1. Which share a program is in depends on where it is below
/// what was named, and on nothing else, so each machine finds the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: u64,
    count: u64,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(index, count)| {
            let (index, count) = (index.parse().ok()?, count.parse().ok()?);
            Some(Self { index, count })
        });
        match numbers {
            Some(shard) if (1..=shard.count).contains(&shard.index) => Ok(shard),
            Some(Self { count: 0, .. }) => {
                Err("the number of shards must be at least 1".to_owned())
            }
            Some(Self { count, .. }) => {
                Err(format!("shards range from 1/{count} to {count}/{count}"))
            }
            None => Err("expected a shard such as `2/5`, the second of five".to_owned()),
        }
    }
}

impl Shard {
    /// Whether the program at a place is in this share.
    pub fn takes(&self, place: &Path) -> bool {
        let mut hash = KeyBuilder::default();
        for part in place.components() {
            hash.add(part.as_os_str().as_encoded_bytes());
        }
        let key = hash.key();
        let number = key.bytes().iter().take(8).fold(0, |n, byte| (n << 8) | u64::from(*byte));
        number % self.count == self.index - 1
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests end by panicking")]
mod tests {
    use super::Shard;
    use std::path::PathBuf;

    #[test]
    fn each_program_is_in_one_share() {
        let shards: Vec<Shard> = (1..=4).map(|i| format!("{i}/4").parse().unwrap()).collect();
        let mut sizes = [0; 4];
        for n in 0..1000 {
            let place = PathBuf::from(format!("team/{n}"));
            let takes: Vec<usize> = (0..4).filter(|i| shards[*i].takes(&place)).collect();
            assert_eq!(takes.len(), 1);
            sizes[takes[0]] += 1;
        }
        assert!(sizes.iter().all(|size| (200..300).contains(size)), "{sizes:?}");
    }

    #[test]
    fn what_is_no_share_is_said() {
        for (text, said) in [
            ("0/4", "from 1/4 to 4/4"),
            ("5/4", "from 1/4 to 4/4"),
            ("1/0", "at least 1"),
            ("2", "`2/5`"),
            ("-1/2", "`2/5`"),
        ] {
            let error = text.parse::<Shard>().unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
