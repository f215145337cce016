//! What a journal's frame holds: one thing that happened.
//!
//! Encoding takes what happened by reference and writes into the journal's buffer; [`Frame`] is
//! what reading gives back. Kinds and tags are numbers of the format: they are never reused.

mod warning;

use metrics::interval::Interval;
use metrics::run_record::{EngineUsed, Outcome, Prepared};
use metrics::warning::Warning;
use metrics::witness::WitnessCounts;
use workload::plan::{EngineChoice, Run};

use crate::codec::{Cursor, Malformed, put_text, put_u64};
use crate::interval;
use warning::decode_warning;
pub(crate) use warning::encode_warning;

pub(crate) const ENGINE: u8 = 1;
pub(crate) const PREPARED: u8 = 2;
pub(crate) const RUN_STARTED: u8 = 3;
pub(crate) const INTERVAL: u8 = 4;
pub(crate) const WARNING: u8 = 5;
pub(crate) const RUN_FINISHED: u8 = 6;
pub(crate) const FINISHED: u8 = 7;
pub(crate) const WITNESSED: u8 = 8;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Frame {
    Engine(EngineUsed),
    Prepared(Prepared),
    RunStarted { started_unix_ms: u64, run: Box<Run> },
    Interval { run_index: u32, interval: Box<Interval> },
    Warning { run_index: Option<u32>, warning: Warning },
    RunFinished { run_index: u32, outcome: Outcome },
    Finished(Outcome),
    Witnessed { run_index: u32, counts: WitnessCounts },
}

impl Frame {
    /// Reads a frame of kind `kind`.
    pub(crate) fn decode(kind: u8, payload: &[u8]) -> Result<Frame, Malformed> {
        let mut cursor = Cursor::new(payload);
        let frame = match kind {
            ENGINE => Frame::Engine(decode_engine(&mut cursor)?),
            PREPARED => Frame::Prepared(Prepared {
                stream: cursor.text()?,
                written_bytes: cursor.u64()?,
                took_ns: cursor.u64()?,
            }),
            RUN_STARTED => Frame::RunStarted {
                started_unix_ms: cursor.u64()?,
                run: Box::new(decode_run(&cursor.text()?)?),
            },
            INTERVAL => {
                let (run_index, interval) = interval::decode(&mut cursor)?;
                Frame::Interval { run_index, interval: Box::new(interval) }
            }
            WARNING => {
                let run_index = decode_run_index(&mut cursor)?;
                Frame::Warning { run_index, warning: decode_warning(&mut cursor)? }
            }
            RUN_FINISHED => Frame::RunFinished {
                run_index: cursor.u32()?,
                outcome: decode_outcome(&mut cursor)?,
            },
            FINISHED => Frame::Finished(decode_outcome(&mut cursor)?),
            WITNESSED => {
                Frame::Witnessed { run_index: cursor.u32()?, counts: decode_witness(&mut cursor)? }
            }
            _ => return Err(Malformed("its kind is not one that this fourcorners knows")),
        };
        cursor.end()?;
        Ok(frame)
    }

    /// The run of an interval frame, without reading the rest of it.
    pub(crate) fn run_of_interval(payload: &[u8]) -> Result<u32, Malformed> {
        Cursor::new(payload).u32()
    }
}

pub(crate) fn encode_engine(used: &EngineUsed, out: &mut Vec<u8>) {
    out.push(match used.engine {
        EngineChoice::Auto => 0,
        EngineChoice::IoUring => 1,
        EngineChoice::Psync => 2,
        EngineChoice::NfsClient => 3,
    });
    put_text(out, &used.reason);
}

fn decode_engine(cursor: &mut Cursor<'_>) -> Result<EngineUsed, Malformed> {
    let engine = match cursor.u8()? {
        0 => EngineChoice::Auto,
        1 => EngineChoice::IoUring,
        2 => EngineChoice::Psync,
        3 => EngineChoice::NfsClient,
        _ => return Err(Malformed("its engine is not one that this fourcorners knows")),
    };
    Ok(EngineUsed { engine, reason: cursor.text()? })
}

pub(crate) fn encode_prepared(prepared: &Prepared, out: &mut Vec<u8>) {
    put_text(out, &prepared.stream);
    put_u64(out, prepared.written_bytes);
    put_u64(out, prepared.took_ns);
}

pub(crate) fn encode_run_started(run: &Run, started_unix_ms: u64, out: &mut Vec<u8>) {
    put_u64(out, started_unix_ms);
    put_text(out, &serde_json::to_string(run).expect("a run is numbers, texts and lists"));
}

/// A run as no plan makes it is refused: what reads records divides by its interval and adds up its
/// phases and queue depths.
fn decode_run(json: &str) -> Result<Run, Malformed> {
    let run: Run = serde_json::from_str(json)
        .map_err(|_| Malformed("its run is not one that this fourcorners knows"))?;
    let phases = &run.phases;
    let time_fits = phases.warm_up_ns.checked_add(phases.measure_ns).is_some();
    let depth = run.streams.iter().try_fold(0u64, |sum, s| sum.checked_add(s.queue_depth_total()));
    let workers = run.streams.iter().try_fold(0u32, |sum, s| sum.checked_add(s.workers));
    if phases.interval_ns == 0 || !time_fits || depth.is_none() || workers.is_none() {
        return Err(Malformed("its run is not one that could be done"));
    }
    if run.streams.is_empty() {
        return Err(Malformed("its run has no streams"));
    }
    Ok(run)
}

pub(crate) fn encode_run_finished(run_index: u32, outcome: &Outcome, out: &mut Vec<u8>) {
    put_u64(out, u64::from(run_index));
    encode_outcome(outcome, out);
}

pub(crate) fn encode_witnessed(run_index: u32, counts: &WitnessCounts, out: &mut Vec<u8>) {
    put_u64(out, u64::from(run_index));
    put_u64(out, counts.calls.len() as u64);
    counts.calls.iter().for_each(|calls| put_u64(out, *calls));
    put_u64(out, counts.failed);
    put_u64(out, counts.read_bytes);
    put_u64(out, counts.written_bytes);
    put_u64(out, counts.outstanding_max);
}

fn decode_witness(cursor: &mut Cursor<'_>) -> Result<WitnessCounts, Malformed> {
    let mut counts = WitnessCounts::default();
    let kinds = cursor.count(1)?;
    if kinds > counts.calls.len() {
        return Err(Malformed("it has operation kinds that this fourcorners does not know"));
    }
    for calls in &mut counts.calls[..kinds] {
        *calls = cursor.u64()?;
    }
    counts.failed = cursor.u64()?;
    counts.read_bytes = cursor.u64()?;
    counts.written_bytes = cursor.u64()?;
    counts.outstanding_max = cursor.u64()?;
    Ok(counts)
}

pub(crate) fn encode_outcome(outcome: &Outcome, out: &mut Vec<u8>) {
    match outcome {
        Outcome::Done => out.push(0),
        Outcome::Interrupted => out.push(1),
        Outcome::Failed { reason } => {
            out.push(2);
            put_text(out, reason);
        }
        Outcome::Aborted => out.push(3),
    }
}

fn decode_outcome(cursor: &mut Cursor<'_>) -> Result<Outcome, Malformed> {
    Ok(match cursor.u8()? {
        0 => Outcome::Done,
        1 => Outcome::Interrupted,
        2 => Outcome::Failed { reason: cursor.text()? },
        3 => Outcome::Aborted,
        _ => return Err(Malformed("its outcome is not one that this fourcorners knows")),
    })
}

/// The run's number plus 1; 0 where a warning belongs to no run.
fn decode_run_index(cursor: &mut Cursor<'_>) -> Result<Option<u32>, Malformed> {
    match cursor.u64()?.checked_sub(1) {
        None => Ok(None),
        Some(index) => {
            u32::try_from(index).map(Some).map_err(|_| Malformed("a number is above 32 bits"))
        }
    }
}

#[cfg(test)]
mod tests;
