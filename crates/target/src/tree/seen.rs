//! Which names a walk has seen: one bit for each number of a class.

use std::sync::atomic::{AtomicU64, Ordering};

use workload::names::{Name, NameClass, NameStream};

const CLASSES: [NameClass; 6] = [
    NameClass::File,
    NameClass::Original,
    NameClass::Moved,
    NameClass::Link,
    NameClass::Symlink,
    NameClass::Made,
];

/// Which names have been seen, by several threads.
#[derive(Debug)]
pub(crate) struct Seen {
    classes: [Vec<AtomicU64>; CLASSES.len()],
}

impl Seen {
    /// None of the names of `stream`.
    pub(crate) fn new(stream: &NameStream) -> Seen {
        let words = |class| stream.numbers(class).div_ceil(64);
        let bits = |class| (0..words(class)).map(|_| AtomicU64::new(0)).collect();
        Seen { classes: CLASSES.map(bits) }
    }

    fn word(&self, name: Name) -> Option<&AtomicU64> {
        let class = CLASSES.iter().position(|class| *class == name.class)?;
        self.classes[class].get((name.number / 64) as usize)
    }

    /// Notes a name.
    pub(crate) fn insert(&self, name: Name) {
        if let Some(word) = self.word(name) {
            word.fetch_or(1 << (name.number % 64), Ordering::Relaxed);
        }
    }

    /// Whether a name was noted.
    pub(crate) fn contains(&self, name: Name) -> bool {
        self.word(name)
            .is_some_and(|word| word.load(Ordering::Relaxed) & 1 << (name.number % 64) != 0)
    }
}
