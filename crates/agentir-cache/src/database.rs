//! The database: one table.

use crate::Key;
use rusqlite::{Connection, ErrorCode, OptionalExtension, TransactionBehavior, params};
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::time::Duration;

/// How long another process may hold the database before we go on without it.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// How much of the database is kept in memory, in KiB; two megabytes are the default.
const CACHE_KIB: i64 = 32 << 10;

/// How many values are read in one transaction: to begin one takes as long as to read a value, and what
/// others write is seen in the next.
const READS_PER_TRANSACTION: u32 = 512;

/// The number of an entry: the first bytes of its key. SQLite finds numbers in half the time of bytes, and whether
/// an entry is that of the whole key is known by its seal.
pub(crate) fn row_id(key: &Key) -> i64 {
    key.bytes().first_chunk().map_or(0, |bytes| i64::from_le_bytes(*bytes))
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Database {
    connection: Connection,
    /// How many values were read since a transaction was begun.
    reads: u32,
}

/// Why the database could not be used.
#[derive(Debug)]
pub(crate) struct Error(rusqlite::Error);

impl Error {
    /// Whether the file is not a database, or is damaged.
    pub(crate) fn is_corrupt(&self) -> bool {
        let code = self.0.sqlite_error_code();
        matches!(code, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
            // A table that has other columns: it was not made here.
            || matches!(code, Some(ErrorCode::Unknown))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        Self(error)
    }
}

impl Database {
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        // Nothing is lost that cannot be found out again, so nothing waits for the disk; what a power cut
        // leaves is checked when read.
        connection.execute_batch("PRAGMA synchronous = OFF")?;
        // Keys come in no order, so what is read again and again is the whole database.
        connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
        if connection.pragma_query_value(None, "page_count", |row| row.get::<_, i64>(0))? == 0 {
            // Only before there is a table; later it would be written again each time.
            connection.execute_batch("PRAGMA auto_vacuum = INCREMENTAL")?;
        }
        // Readers and a writer do not wait for each other.
        connection.execute_batch(
            "PRAGMA journal_mode = WAL;
             CREATE TABLE IF NOT EXISTS entries (
                key INTEGER PRIMARY KEY, used INTEGER NOT NULL, value BLOB NOT NULL
             );",
        )?;
        connection.prepare("SELECT key, used, value FROM entries")?;
        Ok(Self { connection, reads: 0 })
    }

    /// A value and the day on which it was used last.
    pub(crate) fn get(&mut self, key: &Key) -> Option<(Vec<u8>, u64)> {
        if self.reads == READS_PER_TRANSACTION {
            self.commit_reads();
        }
        if self.reads == 0 {
            self.connection.execute_batch("BEGIN").ok()?;
        }
        self.reads += 1;
        let mut select =
            self.connection.prepare_cached("SELECT value, used FROM entries WHERE key = ?").ok()?;
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get::<_, i64>(1)?));
        let (value, used) = select.query_row([row_id(key)], row).optional().ok()??;
        Some((value, u64::try_from(used).unwrap_or(0)))
    }

    /// Ends the transaction that values are read in, if there is one.
    fn commit_reads(&mut self) {
        if std::mem::take(&mut self.reads) > 0 {
            // What cannot be ended is rolled back when the connection is closed; it wrote nothing.
            let _ended = self.connection.execute_batch("COMMIT");
        }
    }

    pub(crate) fn write(
        &mut self,
        entries: &[(Key, Vec<u8>)],
        used: &BTreeSet<Key>,
        today: u64,
    ) -> Result<(), Error> {
        let today = i64::try_from(today).unwrap_or(0);
        self.commit_reads();
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        {
            let mut insert = transaction.prepare_cached(
                "INSERT OR REPLACE INTO entries (key, used, value) VALUES (?, ?, ?)",
            )?;
            for (key, value) in entries {
                insert.execute(params![row_id(key), today, value])?;
            }
            let mut touch =
                transaction.prepare_cached("UPDATE entries SET used = ? WHERE key = ?")?;
            for key in used {
                touch.execute(params![today, row_id(key)])?;
            }
        }
        transaction.commit()?;
        Ok(())
    }

    /// Removes what was last used before `day`, and the oldest quarter as long as there is too much.
    /// What cannot be removed now will be another time.
    pub(crate) fn evict(&mut self, day: u64, max_size: u64) {
        self.commit_reads();
        let day = i64::try_from(day).unwrap_or(0);
        let removed =
            self.connection.execute("DELETE FROM entries WHERE used < ?", [day]).unwrap_or(0);
        let mut removed = removed > 0;
        while self.size().is_some_and(|size| size > max_size) {
            let quarter = "DELETE FROM entries WHERE key IN (SELECT key FROM entries ORDER BY used, key \
                           LIMIT (SELECT count(*) / 4 + 1 FROM entries))";
            match self.connection.execute(quarter, []) {
                Ok(rows) if rows > 0 => removed = true,
                _ => break,
            }
        }
        if removed {
            // Room that is not given back is used again.
            let _later = self.connection.execute_batch("PRAGMA incremental_vacuum");
        }
    }

    /// How many bytes are in use.
    fn size(&self) -> Option<u64> {
        let number =
            |name: &str| self.connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let pages = number("page_count").ok()? - number("freelist_count").ok()?;
        u64::try_from(pages * number("page_size").ok()?).ok()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests end by panicking")]
mod tests {
    use super::Database;
    use crate::KeyBuilder;
    use std::collections::BTreeSet;

    #[test]
    fn what_was_not_used_for_long_goes_first() {
        let folder = tempfile::tempdir().unwrap();
        let mut database = Database::open(&folder.path().join("x")).unwrap();
        let key = |n: u64| KeyBuilder::default().add(n.to_le_bytes()).key();
        for day in 0..40 {
            database.write(&[(key(day), vec![0; 50_000])], &BTreeSet::new(), day).unwrap();
        }
        database.write(&[], &BTreeSet::from([key(0)]), 40).unwrap();
        let there = |database: &mut Database| -> Vec<u64> {
            (0..40).filter(|n| database.get(&key(*n)).is_some()).collect()
        };
        database.evict(10, u64::MAX);
        let old: Vec<u64> = std::iter::once(0).chain(10..40).collect();
        assert_eq!(there(&mut database), old, "0 was used again");
        database.evict(10, 1_000_000);
        let left = there(&mut database);
        assert!((5..=19).contains(&left.len()), "{left:?}");
        assert_eq!(left.first(), Some(&0));
        assert_eq!(left.last(), Some(&39));
        assert!(!left.contains(&10));
    }
}
