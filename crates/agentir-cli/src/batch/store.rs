//! What was found before.

use super::CheckQuery;
use agentir_cache::{Cache, CacheError, Key, KeyBuilder};
use agentir_project::{Contents, ProgramFiles, Request};
use std::collections::BTreeSet;
use std::env;
use std::path::{Path, PathBuf};

/// The results of one kind of work, asked for in one way.
pub struct Store {
    cache: Cache,
    /// The key of everything that decides a result beside the files.
    asked: Key,
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
    pub fn open(folder: &Path, kind: &str, query: &CheckQuery<'_>) -> Result<Self, CacheError> {
        let cache = Cache::open(folder)?;
        let mut asked = KeyBuilder::default();
        asked.add(env!("CARGO_PKG_VERSION")).add(env!("AGENTIR_BUILD")).add(kind);
        let CheckQuery { request, selection, .. } = query;
        asked.add(format!("{:?}", request.options));
        for rules in [&selection.select, &selection.ignore] {
            asked.add(format!("{:?}", rules.iter().collect::<BTreeSet<_>>()));
        }
        Ok(Self { cache, asked: asked.key() })
    }

    /// The key of what is found in some files; nothing if not all of them could be read.
    fn key(&self, contents: &Contents) -> Option<Key> {
        let mut key = KeyBuilder::default();
        key.add(self.asked.bytes());
        contents.identify(&mut |part| {
            key.add(part);
        })?;
        Some(key.key())
    }

    /// What is kept under this is the key of what is found in the files of a program, as long as none of
    /// them is touched.
    fn stamp(&self, group: &ProgramFiles, request: &Request<'_>) -> Option<Key> {
        let mut key = KeyBuilder::default();
        key.add("stamp").add(self.asked.bytes());
        group.stamp(request, &mut |part| {
            key.add(part);
        })?;
        Some(key.key())
    }

    /// Keeps what was found; what cannot be written is not kept.
    pub fn put(&self, place: &Place, value: Option<Vec<u8>>) {
        if let Some(value) = value {
            self.cache.put(place.key, &value);
            self.stamp_as(place, &value);
        }
    }

    fn stamp_as(&self, place: &Place, value: &[u8]) {
        if let Some(stamp) = place.stamp {
            let small = if value.len() <= SMALL { value } else { &[] };
            self.cache.put(stamp, &[place.key.bytes(), small].concat());
        }
    }
}

/// Values of at most so many bytes are kept beside the stamps of files as well, so that nothing has to be
/// asked twice for the many programs in which nothing is found.
const SMALL: usize = 64;

/// Where something is kept.
pub struct Place {
    key: Key,
    /// Under which the key is kept, as long as no file is touched.
    stamp: Option<Key>,
}

/// What is known of a program.
pub enum Known<T> {
    /// What was found before; with what is in the files, where that is needed.
    Before(T, Option<Contents>),
    /// Nothing: what is in the files, and where to keep what is found in them.
    Nothing(Contents, Option<Place>),
}

/// What was found before in a program. Its files are read only if they were touched since, or if what was
/// found `needs` them.
pub fn known<T>(
    store: Option<&Store>,
    group: ProgramFiles,
    request: &Request<'_>,
    decode: impl Fn(&[u8]) -> Option<T>,
    needs: impl Fn(&T) -> bool,
) -> Known<T> {
    let Some(store) = store else { return Known::Nothing(group.read(request), None) };
    // It is made before the files are read: what changes meanwhile has another one.
    let stamp = store.stamp(&group, request);
    let stamped = stamp.as_ref().and_then(|stamp| store.cache.get(stamp));
    let stamped = stamped.as_deref().and_then(Key::split_first);
    let untouched = stamped.and_then(|(key, value)| match value {
        [] => decode(&store.cache.get(&key)?),
        value => decode(value),
    });
    if let Some(value) = untouched.filter(|value| !needs(value)) {
        return Known::Before(value, None);
    }
    let contents = group.read(request);
    let Some(key) = store.key(&contents) else { return Known::Nothing(contents, None) };
    let place = Place { key, stamp };
    let kept = store.cache.get(&key).and_then(|bytes| Some((decode(&bytes)?, bytes)));
    match kept {
        Some((value, bytes)) => {
            if stamped.is_none_or(|(known, _)| known != key) {
                store.stamp_as(&place, &bytes);
            }
            Known::Before(value, Some(contents))
        }
        None => Known::Nothing(contents, Some(place)),
    }
}
