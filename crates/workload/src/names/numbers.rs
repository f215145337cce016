//! The numbers of names, for a walk of the tree.

use super::ring::Ring;
use super::stream::NameStream;
use super::{Name, NameClass};

impl NameStream {
    /// Lanes of the stream.
    pub const fn lanes(&self) -> u64 {
        self.classes.files.lanes
    }

    /// Numbers of names of a class are below this; 0 for classes without numbers of their own.
    pub fn numbers(&self, class: NameClass) -> u64 {
        match class {
            NameClass::Original => self.population().originals,
            class => self.classes.ring(class).map_or(0, Ring::numbers),
        }
    }

    /// The original that a hard or symbolic link refers to.
    pub const fn referred(&self, link: Name) -> Name {
        self.contents.referred(link)
    }
}
