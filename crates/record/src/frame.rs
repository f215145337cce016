//! The content of a frame: one event.
//!
//! Events are in the postcard format: integers as LEB128, floats as eight bytes, texts with
//! their length, an enum as the position of its variant. An interval has its own, denser form
//! (`interval`). Numbers of kinds belong to the format and are never reused.

mod old_warning;

use metrics::fleet::{FleetHost, HostEvent};
use metrics::interval::Interval;
use metrics::run_record::{ChosenIoMethod, Outcome, Prepared};
use metrics::service_counters::ServiceCounters;
use metrics::tree_comparison::TreeComparison;
use metrics::warning::Warning;
use serde::{Deserialize, Serialize};
use workload::op::OpKind;
use workload::plan::Run;

use crate::codec::{Cursor, Malformed, UNKNOWN_KINDS, put_u64};
use crate::interval;

/// The I/O method that was chosen.
pub const ENGINE: u8 = 1;
/// A file set that is ready.
pub const PREPARED: u8 = 2;
/// The start of a run.
pub const RUN_STARTED: u8 = 3;
/// An interval of a run.
pub const INTERVAL: u8 = 4;
/// Read, but no longer written.
const OLD_WARNING: u8 = 5;
/// The end of a run.
pub const RUN_FINISHED: u8 = 6;
/// The end of the experiment.
pub const FINISHED: u8 = 7;
/// Service-side counters of a run.
pub const SERVICE_COUNTERS: u8 = 8;
/// A warning.
pub const WARNING: u8 = 9;
/// The hosts of a fleet.
pub const FLEET: u8 = 10;
/// An interval of one host.
pub const HOST_INTERVAL: u8 = 11;
/// An event of one host.
pub const HOST_EVENT: u8 = 12;
/// Whose spool a journal is: the first frame of a spool, and not part of a record.
pub const SPOOL: u8 = 13;
/// The trees of a run, compared with what its operations must have left.
pub const TREES: u8 = 14;

/// An event of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub enum Frame {
    /// The I/O method was chosen.
    Engine(ChosenIoMethod),
    /// A file set is ready.
    Prepared(Prepared),
    /// A run began.
    RunStarted {
        /// The wall clock, in milliseconds since 1970.
        started_unix_ms: u64,
        /// The run.
        run: Box<Run>,
    },
    /// An interval is complete.
    Interval {
        /// Its run.
        run_index: u32,
        /// The interval.
        interval: Box<Interval>,
    },
    /// A warning was given.
    Warning {
        /// Its run; `None` for the experiment.
        run_index: Option<u32>,
        /// The warning.
        warning: Warning,
    },
    /// A run ended.
    RunFinished {
        /// The run.
        run_index: u32,
        /// Its outcome.
        outcome: Outcome,
    },
    /// The experiment ended.
    Finished(Outcome),
    /// The counters of the service for a run.
    ServiceCounters {
        /// The run.
        run_index: u32,
        /// The counters.
        counts: ServiceCounters,
    },
    /// The trees of a run were compared, or could not be.
    Trees {
        /// The run.
        run_index: u32,
        /// Each tree.
        trees: Vec<TreeComparison>,
    },
    /// The hosts that measure.
    Fleet(Vec<FleetHost>),
    /// An interval of one host is complete.
    HostInterval {
        /// The host's position in the fleet.
        host: u32,
        /// Its run.
        run_index: u32,
        /// The interval.
        interval: Box<Interval>,
    },
    /// Something happened to one host.
    HostEvent {
        /// The host's position in the fleet.
        host: u32,
        /// The run.
        run_index: u32,
        /// The event.
        event: HostEvent,
    },
}

impl Frame {
    /// Reads a frame of kind `kind`.
    ///
    /// # Errors
    /// The payload does not match its kind, or the kind is unknown.
    pub fn decode(kind: u8, payload: &[u8]) -> Result<Frame, Malformed> {
        Ok(match kind {
            ENGINE => Frame::Engine(decode(payload)?),
            PREPARED => Frame::Prepared(decode(payload)?),
            RUN_STARTED => {
                let (started_unix_ms, json) = decode(payload)?;
                Frame::RunStarted { started_unix_ms, run: Box::new(decode_run(json)?) }
            }
            INTERVAL => {
                let (run_index, interval) = interval::decode(payload)?;
                Frame::Interval { run_index, interval: Box::new(interval) }
            }
            OLD_WARNING => {
                let (run_index, warning) = old_warning::decode(payload)?;
                Frame::Warning { run_index, warning }
            }
            WARNING => {
                refuse_nested(payload)?;
                let (run_index, warning) = decode(payload)?;
                Frame::Warning { run_index, warning }
            }
            RUN_FINISHED => {
                let (run_index, outcome) = decode(payload)?;
                Frame::RunFinished { run_index, outcome }
            }
            FINISHED => Frame::Finished(decode(payload)?),
            SERVICE_COUNTERS => {
                let (run_index, counts) = decode_counters(payload)?;
                Frame::ServiceCounters { run_index, counts }
            }
            TREES => {
                let (run_index, trees) = decode(payload)?;
                Frame::Trees { run_index, trees }
            }
            FLEET => Frame::Fleet(decode(payload)?),
            HOST_INTERVAL => {
                let mut cursor = Cursor::new(payload);
                let host = cursor.u32()?;
                let (run_index, interval) = interval::decode(cursor.rest())?;
                Frame::HostInterval { host, run_index, interval: Box::new(interval) }
            }
            HOST_EVENT => {
                let (run_index, host, event) = decode(payload)?;
                Frame::HostEvent { host, run_index, event }
            }
            _ => return Err(Malformed("this version of fourcorners does not know its kind")),
        })
    }

    /// The host (0 without a fleet) and the run of an interval frame, without reading the rest of it;
    /// `None` for a frame of another kind.
    ///
    /// # Errors
    /// The payload does not begin with them.
    pub fn origin_of_interval(kind: u8, payload: &[u8]) -> Result<Option<(u32, u32)>, Malformed> {
        let mut cursor = Cursor::new(payload);
        match kind {
            INTERVAL => Ok(Some((0, cursor.u32()?))),
            HOST_INTERVAL => Ok(Some((cursor.u32()?, cursor.u32()?))),
            _ => Ok(None),
        }
    }
}

/// Appends an event to `out`.
pub fn encode(event: &impl Serialize, out: &mut Vec<u8>) {
    postcard::to_io(event, out).expect("a vector takes all bytes");
}

/// Reads an event in the postcard format.
///
/// # Errors
/// The payload does not match its kind.
pub fn decode<'a, T: Deserialize<'a>>(payload: &'a [u8]) -> Result<T, Malformed> {
    match postcard::take_from_bytes(payload) {
        Ok((event, [])) => Ok(event),
        _ => Err(Malformed("its content does not match its kind")),
    }
}

/// Reads the beginning of an event that another version may have written, and ignores what follows.
///
/// # Errors
/// The payload does not begin with it.
pub fn decode_beginning<'a, T: Deserialize<'a>>(payload: &'a [u8]) -> Result<T, Malformed> {
    let read = postcard::take_from_bytes(payload);
    read.map(|(event, _)| event).map_err(|_| Malformed("its content does not match its kind"))
}

/// The position of `Warning::OnHosts`, the only warning that contains another.
const ON_HOSTS: u32 = 27;

/// Refuses a warning about hosts that contains another one: decoding each level takes stack.
fn refuse_nested(payload: &[u8]) -> Result<(), Malformed> {
    type Outer = (Option<u32>, u32);
    type Inner<'a> = (Vec<&'a str>, u32, u32);
    let Ok(((_, ON_HOSTS), rest)) = postcard::take_from_bytes::<Outer>(payload) else {
        return Ok(());
    };
    match postcard::take_from_bytes::<Inner<'_>>(rest) {
        Ok(((_, _, ON_HOSTS), _)) => Err(Malformed("its warning is nested")),
        _ => Ok(()),
    }
}

/// Appends the start of a run.
pub fn encode_run_started(run: &Run, started_unix_ms: u64, out: &mut Vec<u8>) {
    let json = serde_json::to_string(run).expect("a run is numbers, texts and lists");
    encode(&(started_unix_ms, json), out);
}

/// Refuses a run that no plan contains: analysis divides by its interval, and adds its phases and
/// queue depths without checking for overflow.
fn decode_run(json: &str) -> Result<Run, Malformed> {
    let run: Run = serde_json::from_str(json)
        .map_err(|_| Malformed("this version of fourcorners cannot read its run"))?;
    let phases = &run.phases;
    let time_fits = phases.warm_up_ns.checked_add(phases.measure_ns).is_some();
    let depth = run.streams.iter().try_fold(0u64, |sum, s| sum.checked_add(s.queue_depth_total()));
    let workers = run.streams.iter().try_fold(0u32, |sum, s| sum.checked_add(s.workers));
    if phases.interval_ns == 0 || !time_fits || depth.is_none() || workers.is_none() {
        return Err(Malformed("its run cannot be executed"));
    }
    if run.streams.is_empty() {
        return Err(Malformed("its run has no streams"));
    }
    Ok(run)
}

/// Appends an interval of one host.
pub fn encode_host_interval(host: u32, run_index: u32, interval: &Interval, out: &mut Vec<u8>) {
    put_u64(out, u64::from(host));
    interval::encode(run_index, interval, out);
}

/// Appends service-side counters. The number of operation kinds is stored, so that kinds can be
/// added.
pub fn encode_counters(run_index: u32, counts: &ServiceCounters, out: &mut Vec<u8>) {
    let ServiceCounters { calls, failed, read_bytes, written_bytes, outstanding_max } = counts;
    // As many as older versions know, unless others occurred.
    let last = calls.iter().rposition(|calls| *calls > 0).map_or(0, |last| last + 1);
    let calls = &calls[..last.max(OpKind::DATA.len())];
    encode(&(run_index, calls, failed, read_bytes, written_bytes, outstanding_max), out);
}

fn decode_counters(payload: &[u8]) -> Result<(u32, ServiceCounters), Malformed> {
    let mut counts = ServiceCounters::default();
    let calls: Vec<u64>;
    let run_index;
    (
        run_index,
        calls,
        counts.failed,
        counts.read_bytes,
        counts.written_bytes,
        counts.outstanding_max,
    ) = decode(payload)?;
    let known = counts.calls.get_mut(..calls.len());
    known.ok_or(Malformed(UNKNOWN_KINDS))?.copy_from_slice(&calls);
    Ok((run_index, counts))
}

#[cfg(test)]
mod tests;
