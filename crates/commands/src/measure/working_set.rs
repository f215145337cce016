//! `--working-set`: spreads a working set of a given size over the files of an experiment.
//!
//! For: working sets above the cache of a file server, without an experiment file. Not for: accessing
//! a part of the files, which is `area`.

use anyhow::anyhow;
use units::{Bytes, counted};
use workload::overrides::Override;
use workload::plan::Plan;

use crate::outcome::Failure;

const FLAG: &str = "--working-set";
/// The keys that the flag decides.
const KEYS: [&str; 3] = ["files", "file_size", "area"];
/// Above this size there are more files instead of larger ones: file servers place whole files, and
/// a few huge ones would not use all of a server.
const FILE_BYTES_MAX: u64 = 64 << 30;
/// The sizes of files are multiples of this.
const BLOCK_BYTES: u64 = 4096;
/// The most files of a stream, as in the table of keys.
const FILES_MAX: u64 = 10_000;

/// The files of one stream.
struct StreamFiles {
    name: String,
    files: u64,
    bytes: u64,
    /// The largest transfer, which a file must hold.
    transfer_bytes: u64,
    /// The stream accesses all of its files.
    is_whole: bool,
    /// All load points have the same files.
    is_same: bool,
}

/// Refuses `--set` of a key that the flag decides.
pub(super) fn refuse_other_sizes(set: &[String]) -> Result<(), Failure> {
    let key = |text: &str| {
        let path = text.split('=').next().unwrap_or_default();
        path.rsplit('.').next().unwrap_or_default().trim().to_owned()
    };
    match set.iter().find(|text| KEYS.contains(&key(text).as_str())) {
        None => Ok(()),
        Some(text) => Err(Failure::input(anyhow!(
            "use {FLAG} with `--set {text}`: the working set decides the number and size of files; \
             leave one of them out"
        ))),
    }
}

/// The overrides of `files` and `file_size` with which all files of `plan` together have `total`
/// bytes, or slightly more because files consist of whole blocks.
pub(super) fn overrides(plan: &Plan, total: Bytes) -> Result<Vec<Override>, Failure> {
    let streams = streams(plan);
    let all_bytes: u64 = streams.iter().map(|stream| stream.bytes).sum();
    let mut overrides = Vec::new();
    for stream in &streams {
        let name = &stream.name;
        if !stream.is_whole {
            return Err(Failure::input(anyhow!(
                "use {FLAG}: stream `{name}` of the experiment accesses only the `area` of its \
                 files; remove `area`, or set `files` and `file_size` instead of {FLAG}"
            )));
        }
        if !stream.is_same {
            return Err(Failure::input(anyhow!(
                "use {FLAG}: the load points of stream `{name}` differ in the number or size of their \
                 files, which {FLAG} would make equal; leave {FLAG} out"
            )));
        }
        let share_bytes = scaled(total.get(), stream.bytes, all_bytes);
        let files = stream.files.max(share_bytes.div_ceil(FILE_BYTES_MAX));
        let file_bytes = share_bytes.div_ceil(files).next_multiple_of(BLOCK_BYTES);
        let least_bytes = stream.files * stream.transfer_bytes.max(BLOCK_BYTES);
        if share_bytes < least_bytes {
            let least = scaled(least_bytes, all_bytes, stream.bytes);
            return Err(Failure::input(anyhow!(
                "use {FLAG} {total}: too small for {} of stream `{name}` with transfers of {}; at \
                 least {}",
                counted(stream.files, "file"),
                Bytes::new(stream.transfer_bytes),
                Bytes::new(least),
            )));
        }
        if files > FILES_MAX {
            let most = scaled(FILES_MAX * FILE_BYTES_MAX, all_bytes, stream.bytes);
            return Err(Failure::input(anyhow!(
                "use {FLAG} {total}: stream `{name}` would need more than {FILES_MAX} files of {}; \
                 at most {}",
                Bytes::new(FILE_BYTES_MAX),
                Bytes::new(most),
            )));
        }
        // A stream is only named among several.
        let key = |key: &str| match streams.len() {
            1 => key.to_owned(),
            _ => format!("{name}.{key}"),
        };
        overrides.push(Override::option(FLAG, &key("files"), &files.to_string()));
        overrides.push(Override::option(FLAG, &key("file_size"), &written(file_bytes)));
    }
    Ok(overrides)
}

/// The files of each stream.
fn streams(plan: &Plan) -> Vec<StreamFiles> {
    let mut streams: Vec<StreamFiles> = Vec::new();
    for stream in plan.model_streams() {
        let set = stream.working_set;
        let found = StreamFiles {
            name: stream.name.clone(),
            files: u64::from(set.files),
            bytes: u64::from(set.files) * set.file_size_bytes,
            transfer_bytes: stream.transfer_size_max_bytes(),
            is_whole: set.area_bytes == set.file_size_bytes,
            is_same: true,
        };
        match streams.iter_mut().find(|known| known.name == found.name) {
            None => streams.push(found),
            Some(known) => {
                known.is_same &= (known.files, known.bytes) == (found.files, found.bytes);
                known.transfer_bytes = known.transfer_bytes.max(found.transfer_bytes);
                known.is_whole &= found.is_whole;
            }
        }
    }
    streams
}

/// `amount × part / whole`, rounded up.
fn scaled(amount: u64, part: u64, whole: u64) -> u64 {
    let exact = (u128::from(amount) * u128::from(part)).div_ceil(u128::from(whole.max(1)));
    u64::try_from(exact).unwrap_or(u64::MAX)
}

/// A size as a user writes it; in bytes if that would be rounded.
fn written(bytes: u64) -> String {
    let text = Bytes::new(bytes).to_string();
    match text.parse::<Bytes>() {
        Ok(same) if same.get() == bytes => text,
        _ => bytes.to_string(),
    }
}
