//! What was found before.

use super::Question;
use crate::load::Contents;
use agentir_cache::{Cache, CacheError, Key, KeyBuilder};
use agentir_config::Configs;
use std::collections::BTreeSet;
use std::env;
use std::path::{Path, PathBuf};

/// The results of one kind of work, asked for in one way.
pub struct Store {
    cache: Cache,
    /// Everything that decides a result beside the files.
    asked: KeyBuilder,
}

/// The folder that caches of users are in, as the XDG base directory specification and the systems have
/// it; nothing where none is known.
pub fn folder() -> Option<PathBuf> {
    let set = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || set("HOME");
    let base = set("XDG_CACHE_HOME").or_else(|| match env::consts::OS {
        "macos" => Some(home()?.join("Library/Caches")),
        "windows" => set("LOCALAPPDATA"),
        _ => Some(home()?.join(".cache")),
    })?;
    Some(base.join("agentir"))
}

impl Store {
    /// The results in a folder.
    pub fn open(folder: &Path, kind: &str, question: &Question<'_>) -> Result<Self, CacheError> {
        let cache = Cache::open(folder)?;
        let mut asked = KeyBuilder::default();
        asked.add(env!("CARGO_PKG_VERSION")).add(env!("AGENTIR_BUILD")).add(kind);
        let Question { request, selection, .. } = question;
        asked.add(format!("{:?} {:?}", request.options, request.script));
        for rules in [&selection.select, &selection.ignore] {
            asked.add(format!("{:?}", rules.iter().collect::<BTreeSet<_>>()));
        }
        Ok(Self { cache, asked })
    }

    /// The key of what is found in some files; nothing if not all of them could be read.
    pub fn key(&self, contents: &Contents, configs: &Configs) -> Option<Key> {
        let mut key = self.asked.clone();
        contents.identify(configs, &mut key)?;
        Some(key.key())
    }

    pub fn get(&self, key: &Key) -> Option<Vec<u8>> {
        self.cache.get(key)
    }

    /// Keeps what was found; what cannot be written is not kept.
    pub fn put(&self, key: Key, value: Option<Vec<u8>>) {
        if let Some(value) = value {
            self.cache.put(key, &value);
        }
    }
}
