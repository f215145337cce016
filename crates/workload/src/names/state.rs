//! The names of one lane after any number of steps: computed, without memory for the names.

use super::content::Content;
use super::stream::NameStream;
use super::{Name, NameClass};
use crate::mix::BLOCK;

/// The names of a lane after its first `steps` steps.
#[derive(Clone, Debug)]
pub struct NameState<'a> {
    stream: &'a NameStream,
    lane: u32,
    /// Complete blocks of operations.
    block: u64,
    /// The images that are done in the block after these.
    done: [u64; (BLOCK as usize).div_ceil(64)],
}

/// What a name is expected to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// A file.
    File {
        /// Its size.
        size_bytes: u64,
        /// Its content.
        content: Content,
    },
    /// A symbolic link, whose text is the leaf of this name.
    Symlink {
        /// The name.
        text: Name,
    },
    /// An empty directory.
    Directory,
}

/// The classes that belong to lanes.
const CLASSES: [NameClass; 5] =
    [NameClass::File, NameClass::Moved, NameClass::Link, NameClass::Symlink, NameClass::Made];

impl<'a> NameState<'a> {
    /// The state of `lane` after `steps` steps, from 0: that of the start.
    pub fn new(stream: &'a NameStream, lane: u32, steps: u64) -> NameState<'a> {
        let (block, within) = (steps / stream.block(), steps % stream.block());
        let mut done = [0; (BLOCK as usize).div_ceil(64)];
        for within in 0..within as u32 {
            let image = stream.image(lane, block, within) as usize;
            done[image / 64] |= 1 << (image % 64);
        }
        NameState { stream, lane, block, done }
    }

    /// What `name` is, if it exists; `None` too for originals and for names of other lanes.
    pub fn find(&self, name: Name) -> Option<Expected> {
        let ring = self.stream.classes.ring(name.class)?;
        let (lane, slot) = ring.owner(name.number)?;
        if lane != self.lane {
            return None;
        }
        let position = ring.position_at(lane, slot, self.block);
        self.exists(name.class, position).then(|| self.expected(name, position))
    }

    /// The names that exist, in no particular order.
    pub fn names(&self) -> impl Iterator<Item = (Name, Expected)> + '_ {
        CLASSES.into_iter().flat_map(move |class| {
            let ring = self.stream.classes.ring(class).filter(|ring| ring.names > 0);
            let positions = ring.map_or(0..0, |ring| {
                let first = self.block * ring.adds;
                first..first + ring.population(self.lane) + ring.adds
            });
            positions.filter(move |position| self.exists(class, *position)).filter_map(
                move |position| {
                    let number = self.stream.classes.ring(class)?.number(self.lane, position);
                    let name = Name { class, number };
                    Some((name, self.expected(name, position)))
                },
            )
        })
    }

    /// How many names exist.
    pub fn count(&self) -> u64 {
        let mut count = 0;
        for class in CLASSES {
            let Some(ring) = self.stream.classes.ring(class).filter(|ring| ring.names > 0) else {
                continue;
            };
            count += ring.population(self.lane);
            for rank in 0..ring.adds {
                count += u64::from(self.is_done(self.stream.adding(class, rank)));
                count -= u64::from(self.is_done(self.stream.removing(class, rank)));
            }
        }
        count
    }

    /// Whether the name at `position` of the class exists; positions before the first of the block
    /// do not.
    fn exists(&self, class: NameClass, position: u64) -> bool {
        let Some(ring) = self.stream.classes.ring(class) else { return false };
        let (oldest, population) = (self.block * ring.adds, ring.population(self.lane));
        let Some(age) = position.checked_sub(oldest) else { return false };
        if age < ring.adds && self.is_done(self.stream.removing(class, age)) {
            return false;
        }
        match age.checked_sub(population) {
            None => true,
            Some(rank) => rank < ring.adds && self.is_done(self.stream.adding(class, rank)),
        }
    }

    fn expected(&self, name: Name, position: u64) -> Expected {
        let stream = self.stream;
        let contents = &stream.contents;
        let fixed = |name| {
            let (size_bytes, content) = contents.fixed_file(name);
            (u64::from(size_bytes), content)
        };
        let (size_bytes, content) = match name.class {
            NameClass::Made => return Expected::Directory,
            NameClass::Symlink => return Expected::Symlink { text: contents.referred(name) },
            NameClass::Link => fixed(contents.referred(name)),
            NameClass::Moved => {
                // Each rename moves a file by the population.
                let moved = &stream.classes.moved;
                let at_start = position % moved.population(self.lane).max(1);
                let number = moved.number(self.lane, at_start);
                fixed(Name { class: NameClass::Moved, number })
            }
            _ => {
                let end = contents.first_change(self.block + 1);
                contents.file(self.lane, position, end, |change| {
                    let (kind, rank) = contents.kind_of_change(change.rank);
                    change.block < self.block || self.is_done(stream.image_of(kind, rank))
                })
            }
        };
        Expected::File { size_bytes, content }
    }

    #[inline]
    fn is_done(&self, image: u64) -> bool {
        self.done[image as usize / 64] & 1 << (image % 64) != 0
    }
}

impl NameStream {
    /// What an original is; `None` for other names. Originals do not belong to a lane.
    pub fn original(&self, name: Name) -> Option<Expected> {
        if name.class != NameClass::Original || name.number >= self.classes.originals {
            return None;
        }
        let (size_bytes, content) = self.contents.fixed_file(name);
        let size_bytes = size_bytes.into();
        Some(Expected::File { size_bytes, content })
    }
}
