//! Reads what a stream does to names: the tree (`names`), its file sizes, and the shares of the kinds of
//! operations (`mix`).
//!
//! Not for: checks of the tree against the mix and the load (`name_load`).

use std::ops::Range;

use settings::{Diagnostic, Node, Source, did_you_mean};
use toml::de::DeValue;
use units::{Bytes, parse_count};

use crate::keys::{
    APPEND, DEPTH, FILES, FILES_PER_DIRECTORY, Kind, NAME_LENGTH, SIGMA, WEIGHT, WIDTH,
};
use crate::names::{NameMix, NameSize, NameSpread, TreeShape, WeightedFileSize};
use crate::op::OpKind;
use crate::rate_trace;
use crate::reader::Reader;
use crate::value::{Names, Value};

/// More directories are assumed to be a mistake: targets keep each of them at hand.
const DIRECTORIES_MAX: u64 = 1_000_000;
/// Each row is stored in every run of a plan.
const ROWS_MAX: usize = 10_000;
/// Larger files are not drawn from a lognormal distribution unless `max` is given.
const LOGNORMAL_MAX_BYTES: u64 = 1 << 30;
/// The keys of `names`.
const KEYS: [&str; 8] =
    ["files", "depth", "width", "files_per_directory", "name_length", "spread", "size", "append"];
const SIZES_FORM: &str =
    "a size and a weight in each line, such as `4KiB,120`, the smallest size first";

impl Reader<'_, '_> {
    /// `{ files = 10000, size = "4KiB" }`. What the table lacks is that of `base`, or the default.
    pub(crate) fn names_table(&mut self, node: &Node<'_>, base: Option<&Names>) -> Option<Names> {
        let before = self.problems.len();
        let table = self.part("names", node, &KEYS, &Kind::Names.allowed())?;
        let tree = base.map(|base| &base.tree);
        let files = match (table.get("files"), tree) {
            (Some(node), _) => self.number("files", FILES, node),
            (None, Some(tree)) => Some(tree.files),
            (None, None) => {
                self.refuse(node, "`names` lacks `files`", &Kind::Names.allowed());
                return None;
            }
        };
        let mut or = |name, kind, otherwise| match table.get(name) {
            None => Some(otherwise),
            Some(node) => self.number(name, kind, node),
        };
        let of_tree =
            |value: fn(&TreeShape) -> u32, default| u64::from(tree.map_or(default, value));
        let depth = or("depth", DEPTH, of_tree(|tree| tree.depth, 1));
        let width = or("width", WIDTH, of_tree(|tree| tree.width, 10));
        let name_length = or("name_length", NAME_LENGTH, of_tree(|tree| tree.name_length, 12));
        let append = base.map_or(4096, |base| base.append_bytes);
        let append = or("append", APPEND, u64::from(append));
        let spread = match table.get("spread") {
            None => Some(tree.map_or_else(NameSpread::default, |tree| tree.spread)),
            Some(node) => {
                self.one("spread", Kind::Word(&NameSpread::NAMES), node).map(spread_named)
            }
        };
        let sizes = match table.get("size") {
            None => Some(tree.map_or_else(|| NameSize::constant(0), |tree| tree.sizes.clone())),
            Some(node) => self.file_sizes(node),
        };
        let each = match table.get("files_per_directory") {
            None => base.and_then(|base| base.files_per_directory),
            Some(node) => Some(self.number("files_per_directory", FILES_PER_DIRECTORY, node)?),
        };
        let (files, depth, width) = (files?, depth? as u32, width?);
        let span_of = table.get("files_per_directory").unwrap_or(node);
        let directories = self.directories(span_of, each, files, width.checked_pow(depth))?;
        let names = Names {
            tree: TreeShape {
                files,
                depth,
                width: width as u32,
                directories,
                name_length: name_length? as u32,
                spread: spread?,
                sizes: sizes?,
            },
            files_per_directory: each,
            append_bytes: append? as u32,
        };
        (self.problems.len() == before).then_some(names)
    }

    /// Directories with files: all of the last level, or as many as the files need, with at most `each` in
    /// a directory.
    fn directories(
        &mut self,
        node: &Node<'_>,
        each: Option<u64>,
        files: u64,
        last_level: Option<u64>,
    ) -> Option<u64> {
        let most = last_level.unwrap_or(u64::MAX);
        let directories = each.map_or(most, |each| files.div_ceil(each));
        if directories > most {
            let wrong = format!("{files} files do not fit into {most} directories");
            let allowed = format!("`files_per_directory` of at least {}", files.div_ceil(most));
            let span = self.source.span(node.span());
            let hint = "or raise `depth` or `width`: the tree has `width` to the power of `depth` \
                        directories for files";
            self.problems.push(span.diagnostic(wrong, allowed).with_hint(hint));
            return None;
        }
        if directories > DIRECTORIES_MAX {
            let span = self.source.span(node.span());
            let wrong = span.diagnostic(
                "the tree has too many directories (`width` to the power of `depth`)",
                format!("at most {DIRECTORIES_MAX} directories"),
            );
            let hint = "lower `depth` or `width`, or raise `files_per_directory`";
            let found = last_level.map_or("more than 2^64".to_owned(), |_| directories.to_string());
            self.problems.push(wrong.with_found(found).with_hint(hint));
            return None;
        }
        Some(directories)
    }

    /// The sizes of files: one, several with their shares, a distribution, or a file.
    fn file_sizes(&mut self, node: &Node<'_>) -> Option<NameSize> {
        let DeValue::Table(table) = node.get_ref() else {
            return match self.one("size", Kind::FileSize, node)? {
                Value::Bytes(bytes) => Some(NameSize::constant(bytes)),
                _ => None,
            };
        };
        if let Some(inner) = table.get("lognormal") {
            self.part("size", node, &["lognormal"], &Kind::FileSizes.allowed())?;
            return self.lognormal(inner);
        }
        if let Some(inner) = table.get("file") {
            self.part("size", node, &["file"], &Kind::FileSizes.allowed())?;
            return self.size_file(inner);
        }
        let span = self.source.span(node.span());
        let sizes = self.shares(table, &span, "file size", Kind::FileSize)?;
        let sizes = sizes
            .into_iter()
            .map(|(size_bytes, weight)| WeightedFileSize { size_bytes, weight: u64::from(weight) });
        Some(NameSize::Weighted { sizes: sizes.collect() })
    }

    /// `{ median = "16KiB", sigma = 1.5, max = "1GiB" }`
    fn lognormal(&mut self, node: &Node<'_>) -> Option<NameSize> {
        let allowed = Kind::FileSizes.allowed();
        let table = self.part("lognormal", node, &["median", "sigma", "max"], &allowed)?;
        let (Some(median), Some(sigma)) = (table.get("median"), table.get("sigma")) else {
            let wrong = "`lognormal` needs `median` and `sigma`";
            self.refuse(node, wrong, &allowed);
            return None;
        };
        let median_bytes = self.number("median", Kind::FileSize, median)?;
        let Value::Skew(sigma) = self.one("sigma", SIGMA, sigma)? else { return None };
        let max_bytes = match table.get("max") {
            None => LOGNORMAL_MAX_BYTES.max(median_bytes),
            Some(max) => {
                let bytes = self.number("max", Kind::FileSize, max)?;
                if bytes < median_bytes {
                    let allowed = format!("at least {}", Bytes::new(median_bytes));
                    self.refuse(max, "the largest size is below the median", &allowed);
                    return None;
                }
                bytes
            }
        };
        Some(NameSize::Lognormal { median_bytes: median_bytes.max(1), sigma, max_bytes })
    }

    fn size_file(&mut self, node: &Node<'_>) -> Option<NameSize> {
        let Value::Text(path) = self.one("file", Kind::Text, node)? else { return None };
        match (self.read_file)(&path) {
            Ok(text) => {
                sizes_of_file(&path, &text).map_err(|wrong| self.problems.push(*wrong)).ok()
            }
            Err(reason) => {
                let span = self.source.span(node.span());
                let wrong = format!("the file of sizes cannot be read: {reason}");
                let wrong = span.diagnostic(wrong, SIZES_FORM);
                self.problems.push(wrong.with_hint("its path is relative to the experiment file"));
                None
            }
        }
    }

    /// `{ create = "2%", unlink = "2%", stat = "96%" }`
    pub(crate) fn mix_table(&mut self, node: &Node<'_>) -> Option<NameMix> {
        let DeValue::Table(table) = node.get_ref() else {
            self.refuse(node, "this is not a table", &Kind::Mix.allowed());
            return None;
        };
        let before = self.problems.len();
        let mut shares: Vec<(OpKind, u16)> = Vec::new();
        for (key, share) in table.iter() {
            let name = key.get_ref().as_ref();
            let kind = OpKind::named(name).filter(|kind| kind.is_on_names());
            let Some(kind) = kind else {
                let span = self.source.span(key.span());
                let mut wrong = span.diagnostic("unknown kind of operation", Kind::Mix.allowed());
                wrong.hint = match OpKind::named(name) {
                    Some(OpKind::Read) => Some("whole files are read by `read_file`".to_owned()),
                    Some(OpKind::Write) => {
                        Some("whole files are written by `write_file`".to_owned())
                    }
                    _ => did_you_mean(name, on_names().map(OpKind::name)),
                };
                self.problems.push(wrong);
                continue;
            };
            if let Some(Value::Share(permille)) = self.one(name, WEIGHT, share) {
                shares.push((kind, permille));
            }
        }
        let sum: u32 = shares.iter().map(|(_, permille)| u32::from(*permille)).sum();
        if self.problems.len() == before && sum != 1000 {
            let span = self.source.span(node.span());
            let wrong = "the shares of the kinds of operations do not add up to 100 %";
            let found = format!("{}%", f64::from(sum) / 10.0);
            self.problems.push(span.diagnostic(wrong, "a sum of 100 %").with_found(found));
        }
        (self.problems.len() == before).then(|| NameMix::of(&shares))
    }

    fn number(&mut self, name: &str, kind: Kind, node: &Node<'_>) -> Option<u64> {
        match self.one(name, kind, node)? {
            Value::Count(number) | Value::Bytes(number) => Some(number),
            _ => None,
        }
    }
}

/// The kinds of operations on names.
pub(crate) fn on_names() -> impl Iterator<Item = OpKind> {
    OpKind::ALL.into_iter().filter(|kind| kind.is_on_names())
}

fn spread_named(value: Value) -> NameSpread {
    let named = |name: &String| NameSpread::ALL.into_iter().find(|spread| spread.name() == name);
    match &value {
        Value::Text(name) => named(name).unwrap_or_default(),
        _ => NameSpread::default(),
    }
}

/// The sizes in a file: a CSV file with a size and a weight in each line.
///
/// * `name` - the file as the user named it
fn sizes_of_file(name: &str, text: &str) -> Result<NameSize, Box<Diagnostic>> {
    let source = Source::option(name, text);
    let refuse = |span: Range<usize>, wrong: &str, allowed: &str| {
        Err(Box::new(source.span(span).diagnostic(wrong, allowed)))
    };
    let mut sizes: Vec<WeightedFileSize> = Vec::new();
    for (at, line) in rate_trace::lines(text) {
        let span = at..at + line.len();
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let [size, weight] = fields[..] else {
            return refuse(span, "wrong line in a file of sizes", SIZES_FORM);
        };
        let size_bytes = size.parse::<Bytes>().ok().map(Bytes::get);
        let size_bytes = size_bytes.filter(|bytes| *bytes <= crate::keys::FILE_SIZE_MAX);
        let weight = parse_count(weight).ok().filter(|weight| (1..1 << 40).contains(weight));
        let (size_bytes, weight) = match (size_bytes, weight) {
            (Some(size_bytes), Some(weight)) => (size_bytes, weight),
            // A line with names of columns.
            (None, None) if sizes.is_empty() && size.starts_with(char::is_alphabetic) => continue,
            _ => return refuse(span, "wrong line in a file of sizes", SIZES_FORM),
        };
        if sizes.last().is_some_and(|last| size_bytes <= last.size_bytes) {
            return refuse(span, "the sizes of a file of sizes do not increase", "a larger size");
        }
        sizes.push(WeightedFileSize { size_bytes, weight });
        if sizes.len() > ROWS_MAX {
            return refuse(span, "a file of sizes has too many lines", "at most 10,000 lines");
        }
    }
    if sizes.is_empty() {
        return refuse(0..0, "a file of sizes has no line", SIZES_FORM);
    }
    Ok(NameSize::Weighted { sizes })
}
