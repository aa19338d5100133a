//! A parallel map with results in order.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::mpsc;

/// How many things a thread may be ahead of what is done with the results: as many results are in
/// memory at most, and as much slower than the others may one of them be before they wait for it.
const AHEAD: usize = 64;

/// How many things a thread takes at a time at most: to hand over one takes about as long as to find out that
/// nothing changed in it.
const TOGETHER: usize = 8;

/// Tells that a thread is done, also where it panicked.
struct Done<R> {
    index: usize,
    result: Option<R>,
    to: mpsc::Sender<(usize, Option<R>)>,
}

impl<R> Drop for Done<R> {
    fn drop(&mut self) {
        // Nobody listens any more when the others have been told to stop.
        let _told = self.to.send((self.index, self.result.take()));
    }
}

/// Does `job` with all items on all threads. `done` gets the results on this thread, in the order of the
/// items, while others are still being worked on, until it says that it is enough.
pub fn in_order<T: Send, R: Send>(
    items: Vec<T>,
    job: impl Fn(T) -> R + Sync,
    mut done: impl FnMut(usize, R) -> ControlFlow<()>,
) {
    let items = match <[T; 1]>::try_from(items) {
        // A thread pool costs more than a small program.
        Ok([only]) => {
            let _: ControlFlow<()> = done(0, job(only));
            return;
        }
        Err(items) => items,
    };
    let threads = rayon::current_num_threads();
    let window = AHEAD * threads;
    // Few are spread over all threads.
    let together = (items.len() / (TOGETHER * threads)).clamp(1, TOGETHER);
    let job = &job;
    rayon::in_place_scope_fifo(|scope| {
        let (to, results) = mpsc::channel();
        let mut items = items.into_iter();
        let mut waiting: BTreeMap<usize, Vec<R>> = BTreeMap::new();
        let (mut begun, mut next) = (0, 0);
        loop {
            while begun < next + window {
                let some: Vec<T> = items.by_ref().take(together).collect();
                if some.is_empty() {
                    break;
                }
                let index = begun;
                begun += some.len();
                let to = to.clone();
                scope.spawn_fifo(move |_| {
                    let mut told = Done { index, result: None, to };
                    told.result = Some(some.into_iter().map(job).collect());
                });
            }
            if next == begun {
                return;
            }
            match results.recv() {
                Ok((index, Some(results))) => waiting.insert(index, results),
                // It panicked, which ends the scope, too.
                Ok((_, None)) | Err(mpsc::RecvError) => return,
            };
            while let Some(results) = waiting.remove(&next) {
                for result in results {
                    let index = next;
                    next += 1;
                    if done(index, result).is_break() {
                        return;
                    }
                }
            }
        }
    });
}

#[cfg(test)]
#[allow(clippy::panic, reason = "tests end by panicking")]
mod tests {
    use super::in_order;
    use std::ops::ControlFlow;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn results_come_in_order_and_few_wait() {
        let begun = AtomicUsize::new(0);
        let mut seen = Vec::new();
        in_order(
            (0..5000).collect(),
            |n: usize| {
                begun.fetch_add(1, Ordering::Relaxed);
                if n.is_multiple_of(100) {
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
                n * 2
            },
            |index, doubled| {
                let ahead = begun.load(Ordering::Relaxed) - index;
                let most = super::AHEAD * rayon::current_num_threads() + super::TOGETHER;
                assert!(ahead <= most, "{ahead}");
                assert_eq!(doubled, index * 2);
                seen.push(index);
                ControlFlow::Continue(())
            },
        );
        assert_eq!(seen, (0..5000).collect::<Vec<_>>());
    }

    #[test]
    fn it_ends_when_it_is_enough() {
        let begun = AtomicUsize::new(0);
        in_order(
            (0..100_000).collect(),
            |_: usize| begun.fetch_add(1, Ordering::Relaxed),
            |index, _| if index == 10 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) },
        );
        assert!(begun.into_inner() < 100_000);
    }

    #[test]
    #[should_panic(expected = "the fourth")]
    fn a_panic_is_a_panic() {
        in_order(
            (0..1000).collect(),
            |n: usize| assert!(n != 4, "the fourth"),
            |_, ()| ControlFlow::Continue(()),
        );
    }
}
