//! From the number of a name to its directory and leaf, and back: pure functions.

use std::fmt::Write;

use super::{Name, NameClass, NameSpread, TreeShape};
use crate::random;

/// Bytes in the longest name that file systems allow.
const LEAF_BYTES_MAX: usize = 255;
/// Base of the digits in names: 0 to 9 and a to z.
const BASE: u64 = 36;

/// The paths of a tree.
#[derive(Clone, Debug)]
pub struct NameTree {
    files: u64,
    depth: u32,
    width: u64,
    directories: u64,
    name_length: usize,
    spread: NameSpread,
}

/// A name without its directory.
#[derive(Clone, Copy)]
pub struct Leaf {
    bytes: [u8; LEAF_BYTES_MAX],
    length: u8,
}

impl NameClass {
    /// Classes with leaves, and the letter with which these start. Directories of the tree start with
    /// `t`.
    const LETTERS: [(NameClass, u8); 7] = [
        (NameClass::File, b'f'),
        (NameClass::Original, b'o'),
        (NameClass::Moved, b'm'),
        (NameClass::Link, b'l'),
        (NameClass::Symlink, b's'),
        (NameClass::Made, b'd'),
        (NameClass::Missing, b'x'),
    ];

    const fn letter(self) -> u8 {
        match self {
            NameClass::Directory => b't',
            class => Self::LETTERS[class as usize].1,
        }
    }
}

impl NameTree {
    /// The tree of a plan.
    pub fn new(shape: &TreeShape) -> NameTree {
        NameTree {
            files: shape.files.max(1),
            depth: shape.depth,
            width: u64::from(shape.width.max(1)),
            directories: shape.directories.max(1),
            name_length: (shape.name_length as usize).clamp(1, LEAF_BYTES_MAX),
            spread: shape.spread,
        }
    }

    /// Directories with files, those of the last level.
    pub fn directories(&self) -> u64 {
        self.directories
    }

    /// Directories in each directory above the last level.
    pub fn width(&self) -> u64 {
        self.width
    }

    /// Levels of directories below the root.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Directories of `level`, from 1 (below the root) to [`NameTree::depth`].
    pub fn directories_of_level(&self, level: u32) -> u64 {
        let below = self.width.saturating_pow(self.depth.saturating_sub(level));
        self.directories.div_ceil(below)
    }

    /// Directories of all levels, without the root.
    pub fn directories_total(&self) -> u64 {
        (1..=self.depth).map(|level| self.directories_of_level(level)).sum()
    }

    /// Appends the path of directory `number` of `level`, relative to the root: `t03/t17`. Nothing
    /// for level 0.
    pub fn push_directory_path(&self, level: u32, number: u64, path: &mut String) {
        let digits = (self.width - 1).checked_ilog10().unwrap_or(0) as usize + 1;
        for up in (0..level).rev() {
            let index = number / self.width.saturating_pow(up) % self.width;
            if up + 1 < level {
                path.push('/');
            }
            // Writing to a string cannot fail.
            let _ = write!(path, "t{index:0digits$}");
        }
    }

    /// The directory that contains `name`: its number in the last level.
    #[inline]
    pub fn directory(&self, name: Name) -> u64 {
        let number = name.number;
        match (name.class, self.spread) {
            (NameClass::Directory, _) => number,
            (_, NameSpread::Fill) => {
                let scaled = u128::from(number % self.files) * u128::from(self.directories);
                (scaled / u128::from(self.files)) as u64
            }
            (_, NameSpread::RoundRobin) => number % self.directories,
            (class, NameSpread::Random) => {
                let bits = random::at(random::derive(class as u64, 0x5_9EAD), number);
                random::below(bits, self.directories)
            }
        }
    }

    /// The leaf of `name`: the letter of its class and its number, padded to the length of names.
    #[inline]
    pub fn leaf(&self, name: Name) -> Leaf {
        let mut bytes = [b'0'; LEAF_BYTES_MAX];
        bytes[0] = name.class.letter();
        let mut rest = name.number;
        let mut at = self.name_length;
        while rest > 0 && at > 1 {
            at -= 1;
            bytes[at] = b"0123456789abcdefghijklmnopqrstuvwxyz"[(rest % BASE) as usize];
            rest /= BASE;
        }
        Leaf { bytes, length: self.name_length as u8 }
    }

    /// The name with this leaf; `None` if it is of no name of a tree with this length of names.
    pub fn parse(&self, leaf: &[u8]) -> Option<Name> {
        let (letter, digits) = leaf.split_first()?;
        let (class, _) = NameClass::LETTERS.into_iter().find(|(_, known)| known == letter)?;
        if leaf.len() != self.name_length {
            return None;
        }
        let number = digits.iter().try_fold(0u64, |number, byte| {
            let digit = match byte {
                b'0'..=b'9' => byte - b'0',
                b'a'..=b'z' => byte - b'a' + 10,
                _ => return None,
            };
            number.checked_mul(BASE)?.checked_add(u64::from(digit))
        })?;
        Some(Name { class, number })
    }

    /// Appends the path of `name`, relative to the root: `t03/t17/f00000000042`.
    pub fn push_path(&self, name: Name, path: &mut String) {
        self.push_directory_path(self.depth, self.directory(name), path);
        if name.class == NameClass::Directory {
            return;
        }
        if self.depth > 0 {
            path.push('/');
        }
        path.push_str(self.leaf(name).as_str());
    }

    /// The shortest names in which `names` numbers differ, in bytes.
    pub fn name_length_min(names: u64) -> u32 {
        names.saturating_sub(1).checked_ilog(BASE).map_or(1, |digits| digits + 1) + 1
    }
}

impl Leaf {
    /// Its bytes, which are ASCII.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }
}

impl std::fmt::Debug for Leaf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
