//! The list of records, from the index where it is current and from the run directories otherwise.

use metrics::run_record::Outcome;

use crate::annotation::{self, Annotation};
use crate::index::Index;
use crate::removal::disk_bytes;
use crate::root::Root;
use crate::summary::{Stamp, Summary};
use crate::{Error, journal};

/// A record in the list.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// Its name in the store.
    pub id: String,
    /// The experiment's name; empty if the manifest cannot be read.
    pub name: String,
    /// The target, as the user wrote it; empty if the manifest cannot be read.
    pub target: String,
    /// Overrides from the command line, as `KEY=VALUE`.
    pub overrides: Vec<String>,
    /// Start, in milliseconds since 1970; 0 if the manifest cannot be read.
    pub started_unix_ms: u64,
    /// Runs that ended as planned.
    pub runs_done: u32,
    /// Runs in the plan.
    pub runs_planned: u32,
    /// Whether it is running, and otherwise how it ended.
    pub state: State,
    /// Label and note; empty if they cannot be read.
    pub annotation: Annotation,
    /// The space that its run directory takes, in bytes.
    pub disk_bytes: u64,
    /// The text stored by `Store::put_digests`, unless the record changed since.
    pub digest: Option<String>,
}

/// Whether a record's experiment is running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// A process is writing the record.
    Running,
    /// How it ended; [`Outcome::Aborted`] if no end was recorded and no process writes to it.
    Ended(Outcome),
    /// It cannot be read.
    Damaged {
        /// The file, what is wrong with it, and the remedy.
        reason: String,
    },
}

impl State {
    /// The name in tables and files: `running`, `done`, `interrupted`, `failed`, `aborted` or
    /// `damaged`.
    pub fn name(&self) -> &'static str {
        match self {
            State::Running => "running",
            State::Ended(Outcome::Done) => "done",
            State::Ended(Outcome::Interrupted) => "interrupted",
            State::Ended(Outcome::Failed { .. }) => "failed",
            State::Ended(Outcome::Aborted) => "aborted",
            State::Damaged { .. } => "damaged",
        }
    }
    fn of_summary(summary: &Summary, live: bool) -> State {
        match (&summary.damage, &summary.outcome) {
            (Some(reason), _) => State::Damaged { reason: reason.clone() },
            (None, Some(outcome)) => State::Ended(outcome.clone()),
            (None, None) if live => State::Running,
            (None, None) => State::Ended(Outcome::Aborted),
        }
    }
}

/// All records, the oldest first.
pub(crate) fn list(root: &Root) -> Result<Vec<Listed>, Error> {
    let ids = root.ids()?;
    let mut index = usable_index(root, |index| index.retain(&ids));
    let mut listed: Vec<Listed> =
        ids.into_iter().map(|id| list_one(root, &mut index, id)).collect();
    listed.sort_by(|a, b| (a.started_unix_ms, &a.id).cmp(&(b.started_unix_ms, &b.id)));
    Ok(listed)
}

/// Adds a finished record to the index. A failure is ignored: the next [`list`] adds what is
/// missing.
pub(crate) fn index_finished(root: &Root, id: &str) {
    let mut index = usable_index(root, |_| Ok(()));
    list_one(root, &mut index, id.to_owned());
}

/// Stores digests in the index. A failure is ignored: they are computed again.
pub(crate) fn put_digests(root: &Root, digests: &[(String, String)]) {
    let _computed_again = usable_index(root, |_| Ok(())).put_digests(digests);
}

fn list_one(root: &Root, index: &mut Index, id: String) -> Listed {
    let directory = root.run_directory(&id);
    // A damaged record is read again: it may have been repaired, or was only unreachable.
    let known = index.get(&id).filter(|known| known.damage.is_none());
    let is_current = |known: &Summary| known.stamp == Stamp::of(&directory);
    let is_ended = known.as_ref().is_some_and(|known| known.outcome.is_some() && is_current(known));
    // Checked before the stamp, so that a record that ends meanwhile is read again.
    let live = !is_ended && matches!(journal::is_live(&directory.join(journal::NAME)), Ok(true));
    let summary = known.filter(|known| is_ended || is_current(known)).unwrap_or_else(|| {
        let summary = Summary::read(&directory);
        index.put_if_possible(&id, &summary);
        summary
    });
    Listed {
        state: State::of_summary(&summary, live),
        id,
        runs_done: summary.runs_done(),
        name: summary.name,
        target: summary.target,
        overrides: summary.overrides,
        started_unix_ms: summary.started_unix_ms,
        runs_planned: summary.runs_planned,
        annotation: annotation::read(&directory).unwrap_or_default(),
        disk_bytes: disk_bytes(&directory),
        digest: summary.digest,
    }
}

/// The index on disk after `change`, rebuilt if it is unreadable. If it cannot be used, an empty
/// index in memory, so that listing always works.
fn usable_index(root: &Root, change: impl Fn(&mut Index) -> rusqlite::Result<()>) -> Index {
    // Without records there is no store yet, and listing creates none.
    if !root.runs().is_dir() {
        return Index::in_memory();
    }
    let path = root.index();
    let open = || {
        let mut index = Index::open(&path)?;
        change(&mut index)?;
        Ok(index)
    };
    open()
        .or_else(|error| {
            let again = Index::is_unreadable(&error) && Index::remove(&path).is_ok();
            if again { open() } else { Err(error) }
        })
        .unwrap_or_else(|_| Index::in_memory())
}
