//! Reads a spool: whose it is, what it contains, and where it is damaged.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use metrics::fleet::SpoolOwner;
use metrics::run_record::Outcome;
use record::frame::{self, Frame};
use record::framing::RawFrame;

use crate::{Error, journal};

/// A frame as stored: its kind and its payload.
type StoredFrame = (u8, Vec<u8>);

/// A spool up to its last complete frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpoolContent {
    /// Whose it is; `None` if its beginning is damaged.
    pub owner: Option<SpoolOwner>,
    /// Its agent runs.
    pub is_live: bool,
    /// Its runs, in the order of execution.
    pub runs: Vec<SpooledRun>,
    /// Why nothing, or nothing more, can be read.
    pub damage: Option<String>,
    /// Its size.
    pub bytes: u64,
    /// Since it was last written, in milliseconds.
    pub age_ms: u64,
    /// All frames after the first.
    pub frames: Vec<StoredFrame>,
}

/// One host's share of a run in a spool.
#[derive(Clone, Debug, PartialEq)]
pub struct SpooledRun {
    /// The run's position in the plan.
    pub run_index: u32,
    /// The load point in words.
    pub load_point: String,
    /// When it started, in milliseconds since 1970 by the host's clock.
    pub started_unix_ms: u64,
    /// The planned duration from the start, in nanoseconds.
    pub planned_ns: u64,
    /// Complete intervals.
    pub intervals: u32,
    /// How the share ended; `None` if it did not.
    pub outcome: Option<Outcome>,
}

impl SpoolContent {
    pub(crate) fn read(directory: &Path) -> Result<SpoolContent, Error> {
        let path = directory.join(journal::NAME);
        let fail = |source| Error::ReadFile { path: path.clone(), source };
        // Before the content, so that a spool that ends meanwhile is read again.
        let is_live = journal::is_live(&path)?;
        let changed = fs::metadata(&path).and_then(|found| found.modified()).map_err(fail)?;
        let age = SystemTime::now().duration_since(changed).unwrap_or_default();
        let bytes = fs::read(&path).map_err(fail)?;
        let mut content = SpoolContent {
            is_live,
            bytes: bytes.len() as u64,
            age_ms: age.as_millis() as u64,
            ..SpoolContent::default()
        };
        let (frames, damage) = journal::frames_before_damage(&path, &bytes);
        content.damage = damage.map(|damage| damage.to_string());
        content.take(directory, &frames);
        Ok(content)
    }

    /// The content of a spool whose journal has these frames.
    pub fn of_frames(directory: &Path, frames: &[RawFrame<'_>]) -> SpoolContent {
        let mut content = SpoolContent::default();
        content.take(directory, frames);
        content
    }

    /// Takes all frames, up to damage.
    fn take(&mut self, directory: &Path, frames: &[RawFrame<'_>]) {
        let mut frames = frames.iter();
        let first = frames.next().filter(|first| first.kind == frame::SPOOL);
        self.owner = first.and_then(|first| frame::decode(first.payload).ok());
        if self.owner.is_none() {
            let path = directory.to_owned();
            let reason = "its beginning, which names its record, is missing".to_owned();
            let damage = Error::DamagedSpool { path, reason }.to_string();
            self.damage.get_or_insert(damage);
            return;
        }
        for raw in frames {
            if let Err(reason) = self.add(raw.kind, raw.payload) {
                let offset = raw.offset_bytes;
                let reason = format!("at byte {offset}: {reason}");
                let path = directory.to_owned();
                self.damage = Some(Error::DamagedSpool { path, reason }.to_string());
                break;
            }
            self.frames.push((raw.kind, raw.payload.to_vec()));
        }
    }

    fn add(&mut self, kind: u8, payload: &[u8]) -> Result<(), &'static str> {
        let origin = Frame::origin_of_interval(kind, payload).map_err(|malformed| malformed.0)?;
        if let Some((_, run_index)) = origin {
            self.run_of(run_index)?.intervals += 1;
            return Ok(());
        }
        match Frame::decode(kind, payload).map_err(|malformed| malformed.0)? {
            Frame::RunStarted { started_unix_ms, run } => self.runs.push(SpooledRun {
                run_index: run.index,
                load_point: run.load_point(),
                started_unix_ms,
                planned_ns: run.phases.warm_up_ns + run.phases.measure_ns,
                intervals: 0,
                outcome: None,
            }),
            Frame::RunFinished { run_index, outcome } => {
                self.run_of(run_index)?.outcome = Some(outcome);
            }
            Frame::HostEvent { run_index, .. }
            | Frame::Warning { run_index: Some(run_index), .. } => {
                self.run_of(run_index)?;
            }
            _ => return Err("a spool does not contain this kind of frame"),
        }
        Ok(())
    }

    fn run_of(&mut self, run_index: u32) -> Result<&mut SpooledRun, &'static str> {
        let found = self.runs.iter_mut().rev().find(|run| run.run_index == run_index);
        found.ok_or("its run was not started")
    }

    /// Whether every run that was started has ended, and nothing is damaged.
    pub fn is_complete(&self) -> bool {
        !self.is_live && self.damage.is_none() && self.runs.iter().all(|run| run.outcome.is_some())
    }
}
