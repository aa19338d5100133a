//! What was found before.

use super::Question;
use crate::load::{Contents, Group};
use crate::request::Request;
use agentir_cache::{Cache, CacheError, Key, KeyBuilder};
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
    fn key(&self, contents: &Contents, request: &Request<'_>) -> Option<Key> {
        let mut key = self.asked.clone();
        contents.identify(request.configs, &mut key)?;
        Some(key.key())
    }

    /// What is kept under this is the key of what is found in the files of a program, as long as none of
    /// them is touched.
    fn stamp(&self, group: &Group, request: &Request<'_>) -> Option<Key> {
        let mut key = self.asked.clone();
        key.add("stamp");
        group.stamp(request, &mut key)?;
        Some(key.key())
    }

    /// Keeps what was found; what cannot be written is not kept.
    pub fn put(&self, key: Key, value: Option<Vec<u8>>) {
        if let Some(value) = value {
            self.cache.put(key, &value);
        }
    }
}

/// What is known of a program.
pub enum Known<T> {
    /// What was found before; with what is in the files, where that is needed.
    Before(T, Option<Contents>),
    /// Nothing: what is in the files, and the key to keep under what is found in them.
    Nothing(Contents, Option<Key>),
}

/// What was found before in a program. Its files are read only if they were touched since, or if what was
/// found `needs` them.
pub fn known<T>(
    store: Option<&Store>,
    group: Group,
    request: &Request<'_>,
    decode: impl Fn(&[u8]) -> Option<T>,
    needs: impl Fn(&T) -> bool,
) -> Known<T> {
    let Some(store) = store else { return Known::Nothing(group.read(request), None) };
    let get = |key: &Key| decode(&store.cache.get(key)?);
    // It is made before the files are read: what changes meanwhile has another one.
    let stamp = store.stamp(&group, request);
    let untouched = stamp.as_ref().and_then(|stamp| Key::from_bytes(&store.cache.get(stamp)?));
    if let Some(value) = untouched.as_ref().and_then(get)
        && !needs(&value)
    {
        return Known::Before(value, None);
    }
    let contents = group.read(request);
    let key = store.key(&contents, request);
    if let (Some(stamp), Some(key)) = (stamp, &key)
        && untouched.as_ref() != Some(key)
    {
        store.cache.put(stamp, key.bytes());
    }
    match key.as_ref().and_then(get) {
        Some(value) => Known::Before(value, Some(contents)),
        None => Known::Nothing(contents, key),
    }
}
