//! What a cache gives back, whatever happens to its files.

#![allow(clippy::unwrap_used, reason = "tests end by panicking")]

use agentir_cache::{Cache, Key, KeyBuilder};
use std::fs;
use std::path::{Path, PathBuf};

fn key(of: &str) -> Key {
    KeyBuilder::default().add(of).key()
}

fn database(folder: &Path) -> PathBuf {
    let is = |path: &PathBuf| path.extension().is_some_and(|e| e == "sqlite");
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).find(is).unwrap()
}

#[test]
fn what_was_put_is_there_in_the_next_run() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path()).unwrap();
    cache.put(key("a"), b"what was found");
    cache.put(key("nothing"), b"");
    drop(cache);
    let cache = Cache::open(folder.path()).unwrap();
    assert_eq!(cache.get(&key("a")).as_deref(), Some(&b"what was found"[..]));
    assert_eq!(cache.get(&key("nothing")).as_deref(), Some(&b""[..]));
    assert_eq!(cache.get(&key("b")), None);
}

#[test]
fn parts_of_keys_are_set_off() {
    let of = |parts: &[&str]| {
        let mut key = KeyBuilder::default();
        for part in parts {
            key.add(part);
        }
        key.key()
    };
    assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
    assert_ne!(of(&["ab"]), of(&["ab", ""]));
}

/// An entry is found by a part of its key, and given back only for the whole.
#[test]
fn keys_that_begin_alike_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = *key("a").bytes();
    bytes[31] ^= 1;
    let (other, _) = Key::split_first(&bytes).unwrap();
    let cache = Cache::open(folder.path()).unwrap();
    cache.put(key("a"), b"of a");
    drop(cache);
    let cache = Cache::open(folder.path()).unwrap();
    assert_eq!(cache.get(&other), None);
    cache.put(other, b"of the other");
    drop(cache);
    let cache = Cache::open(folder.path()).unwrap();
    assert_eq!(cache.get(&other).as_deref(), Some(&b"of the other"[..]));
    assert_eq!(cache.get(&key("a")), None, "there is room for one of them");
}

#[test]
fn a_file_that_is_no_database_is_begun_anew() {
    let folder = tempfile::tempdir().unwrap();
    drop(Cache::open(folder.path()).unwrap());
    fs::write(database(folder.path()), "this is not what it was\n".repeat(1000)).unwrap();
    let cache = Cache::open(folder.path()).unwrap();
    assert_eq!(cache.get(&key("a")), None);
    cache.put(key("a"), b"again");
    drop(cache);
    assert_eq!(Cache::open(folder.path()).unwrap().get(&key("a")).as_deref(), Some(&b"again"[..]));
}

/// Whichever byte is broken: what comes back is what was put, or nothing.
#[test]
fn broken_bytes_are_no_entry() {
    let folder = tempfile::tempdir().unwrap();
    let value = b"a value that can be found in the file".repeat(20);
    {
        let cache = Cache::open(folder.path()).unwrap();
        for n in 0..50 {
            cache.put(key(&n.to_string()), &value);
        }
    }
    let path = database(folder.path());
    let whole = fs::read(&path).unwrap();
    assert!(whole.len() > 10_000, "the entries are in the database, not beside it");
    let mut lost = 0;
    for at in (0..whole.len()).step_by(331) {
        let mut broken = whole.clone();
        if let Some(byte) = broken.get_mut(at) {
            *byte ^= 0x55;
        }
        fs::write(&path, &broken).unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        for n in 0..50 {
            match cache.get(&key(&n.to_string())) {
                Some(found) => assert_eq!(found, value, "byte {at}"),
                None => lost += 1,
            }
        }
    }
    assert!(lost > 50, "{lost}");
}

#[test]
fn several_may_write_at_once() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let folder = folder.path();
            scope.spawn(move || {
                for round in 0..5 {
                    let cache = Cache::open(folder).unwrap();
                    for n in 0..20 {
                        cache.put(key(&format!("{thread} {round} {n}")), format!("{n}").as_bytes());
                    }
                }
            });
        }
    });
    let cache = Cache::open(folder.path()).unwrap();
    let all = (0..4).flat_map(|t| (0..5).flat_map(move |r| (0..20).map(move |n| (t, r, n))));
    for (t, r, n) in all {
        let found = cache.get(&key(&format!("{t} {r} {n}")));
        assert_eq!(found, Some(n.to_string().into_bytes()), "{t} {r} {n}");
    }
}

#[test]
fn cleaning_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    Cache::open(folder.path()).unwrap().put(key("a"), b"x");
    assert!(Cache::clean(folder.path()).unwrap() > 0);
    fs::write(folder.path().join("findings-1.sqlite"), "of an earlier form").unwrap();
    fs::write(folder.path().join("findings.txt"), "somebody else's").unwrap();
    assert_eq!(Cache::clean(folder.path()).unwrap(), 18);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(Cache::clean(folder.path()).unwrap(), 0);
    assert_eq!(Cache::open(folder.path()).unwrap().get(&key("a")), None);
}

#[test]
fn a_folder_that_cannot_be_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = Cache::open(&file).unwrap_err().to_string();
    assert!(error.contains("file"), "{error}");
}
