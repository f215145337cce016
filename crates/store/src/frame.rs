//! What a journal's frame holds: one thing that happened.
//!
//! Encoding takes what happened by reference and writes into the journal's buffer; [`Frame`] is
//! what reading gives back. Kinds and tags are numbers of the format: they are never reused.

use metrics::interval::Interval;
use metrics::run_record::{EngineUsed, Outcome, Prepared};
use metrics::warning::{Figure, Warning};
use metrics::wire::WirePlace;
use metrics::witness::WitnessCounts;
use workload::plan::{EngineChoice, Run};

use crate::codec::{Cursor, Malformed, put_f64, put_text, put_u64};
use crate::interval;

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
    Interval { run_index: u32, interval: Interval },
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
                Frame::Interval { run_index, interval }
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

pub(crate) fn encode_warning(run_index: Option<u32>, warning: &Warning, out: &mut Vec<u8>) {
    put_u64(out, run_index.map_or(0, |index| u64::from(index) + 1));
    match warning {
        Warning::GeneratorBusy { busy } => {
            out.push(0);
            put_f64(out, *busy);
        }
        Warning::ScheduleDelayHigh { delay_mean_ns, service_mean_ns } => {
            out.push(1);
            put_f64(out, *delay_mean_ns);
            put_f64(out, *service_mean_ns);
        }
        Warning::Overloaded { offered_rate, achieved_rate, backlog } => {
            out.push(2);
            put_f64(out, *offered_rate);
            put_f64(out, *achieved_rate);
            put_u64(out, *backlog);
        }
        Warning::NotSteady { figure, drift } => {
            // A record of before the second figure was judged has the first one's tag.
            out.push(match figure {
                Figure::AchievedRate => 3,
                Figure::ResponseTime => 13,
            });
            put_f64(out, *drift);
        }
        Warning::WindowTooShort { intervals } => {
            out.push(4);
            put_u64(out, u64::from(*intervals));
        }
        Warning::FewSamplesForPercentile { percentile, samples_above } => {
            out.push(5);
            put_f64(out, *percentile);
            put_u64(out, *samples_above);
        }
        Warning::LittleMismatch { outstanding_mean, expected } => {
            out.push(6);
            put_f64(out, *outstanding_mean);
            put_f64(out, *expected);
        }
        Warning::WorkingSetFitsCache { working_set_bytes, memory_bytes } => {
            out.push(7);
            put_u64(out, *working_set_bytes);
            put_u64(out, *memory_bytes);
        }
        Warning::ErrorsSeen { errors } => {
            out.push(8);
            put_u64(out, errors.len() as u64);
            for (kind, error, count) in errors {
                put_text(out, kind);
                put_text(out, error);
                put_u64(out, *count);
            }
        }
        Warning::RepeatsDisagree { spread, chance: None, repeat: None } => {
            out.push(9);
            put_f64(out, *spread);
        }
        Warning::RepeatsDisagree { spread, chance, repeat } => {
            out.push(17);
            put_f64(out, *spread);
            // Chance is between 0 and 1; the place of a repeat that there is none of is 0.
            put_f64(out, chance.unwrap_or(-1.0));
            put_u64(out, repeat.map_or(0, |repeat| u64::from(repeat) + 1));
        }
        Warning::OutlierRepeat { repeat, rate, others_mean } => {
            out.push(18);
            put_u64(out, u64::from(*repeat));
            put_f64(out, *rate);
            put_f64(out, *others_mean);
        }
        Warning::RoundsDiffer { figure, excursion, slope } => {
            out.push(19);
            put_figure(*figure, out);
            put_f64(out, *excursion);
            put_f64(out, *slope);
        }
        Warning::WarmUpTooShort { figure, planned_ns, cut_ns, no_end, bias } => {
            out.push(20);
            put_figure(*figure, out);
            put_u64(out, *planned_ns);
            put_u64(out, *cut_ns);
            out.push(u8::from(*no_end));
            put_f64(out, *bias);
        }
        Warning::OutlierIntervals { outliers, intervals, figure, start_ns, value, median } => {
            out.push(21);
            put_u64(out, u64::from(*outliers));
            put_u64(out, u64::from(*intervals));
            put_figure(*figure, out);
            put_u64(out, *start_ns);
            put_f64(out, *value);
            put_f64(out, *median);
        }
        Warning::ServedFromCache { is_read, place, counted_bytes, wire_bytes } => {
            out.push(22);
            out.push(u8::from(*is_read));
            let number = WirePlace::ALL.iter().position(|known| known == place);
            out.push(number.map_or(u8::MAX, |number| number as u8));
            put_u64(out, *counted_bytes);
            put_u64(out, *wire_bytes);
        }
        Warning::HostNoisy { steal } => {
            out.push(10);
            put_f64(out, *steal);
        }
        Warning::EndedEarly { reason } => {
            out.push(11);
            put_text(out, reason);
        }
        Warning::NotStorage { filesystem } => {
            out.push(12);
            put_text(out, filesystem);
        }
        Warning::ProcessorsBusy { used, processors } => {
            out.push(14);
            put_f64(out, *used);
            put_u64(out, u64::from(*processors));
        }
        Warning::ConnectionsUneven { least, most, spread } => {
            out.push(15);
            put_f64(out, *least);
            put_f64(out, *most);
            put_f64(out, *spread);
        }
        Warning::ConnectionReestablished { connections, reconnects, replays } => {
            out.push(16);
            put_u64(out, *connections);
            put_u64(out, *reconnects);
            put_u64(out, *replays);
        }
    }
}

fn put_figure(figure: Figure, out: &mut Vec<u8>) {
    out.push(match figure {
        Figure::AchievedRate => 0,
        Figure::ResponseTime => 1,
    });
}

fn decode_figure(cursor: &mut Cursor<'_>) -> Result<Figure, Malformed> {
    match cursor.u8()? {
        0 => Ok(Figure::AchievedRate),
        1 => Ok(Figure::ResponseTime),
        _ => Err(Malformed("its figure is not one that this fourcorners knows")),
    }
}

fn decode_warning(cursor: &mut Cursor<'_>) -> Result<Warning, Malformed> {
    Ok(match cursor.u8()? {
        0 => Warning::GeneratorBusy { busy: cursor.f64()? },
        1 => Warning::ScheduleDelayHigh {
            delay_mean_ns: cursor.f64()?,
            service_mean_ns: cursor.f64()?,
        },
        2 => Warning::Overloaded {
            offered_rate: cursor.f64()?,
            achieved_rate: cursor.f64()?,
            backlog: cursor.u64()?,
        },
        3 => Warning::NotSteady { figure: Figure::AchievedRate, drift: cursor.f64()? },
        4 => Warning::WindowTooShort { intervals: cursor.u32()? },
        5 => Warning::FewSamplesForPercentile {
            percentile: cursor.f64()?,
            samples_above: cursor.u64()?,
        },
        6 => Warning::LittleMismatch { outstanding_mean: cursor.f64()?, expected: cursor.f64()? },
        7 => Warning::WorkingSetFitsCache {
            working_set_bytes: cursor.u64()?,
            memory_bytes: cursor.u64()?,
        },
        8 => {
            let count = cursor.count(3)?;
            let mut errors = Vec::with_capacity(count);
            for _ in 0..count {
                errors.push((cursor.text()?, cursor.text()?, cursor.u64()?));
            }
            Warning::ErrorsSeen { errors }
        }
        9 => Warning::RepeatsDisagree { spread: cursor.f64()?, chance: None, repeat: None },
        10 => Warning::HostNoisy { steal: cursor.f64()? },
        11 => Warning::EndedEarly { reason: cursor.text()? },
        12 => Warning::NotStorage { filesystem: cursor.text()? },
        13 => Warning::NotSteady { figure: Figure::ResponseTime, drift: cursor.f64()? },
        14 => Warning::ProcessorsBusy { used: cursor.f64()?, processors: cursor.u32()? },
        15 => Warning::ConnectionsUneven {
            least: cursor.f64()?,
            most: cursor.f64()?,
            spread: cursor.f64()?,
        },
        16 => Warning::ConnectionReestablished {
            connections: cursor.u64()?,
            reconnects: cursor.u64()?,
            replays: cursor.u64()?,
        },
        17 => Warning::RepeatsDisagree {
            spread: cursor.f64()?,
            chance: Some(cursor.f64()?).filter(|chance| *chance >= 0.0),
            repeat: cursor.u32()?.checked_sub(1),
        },
        18 => Warning::OutlierRepeat {
            repeat: cursor.u32()?,
            rate: cursor.f64()?,
            others_mean: cursor.f64()?,
        },
        19 => Warning::RoundsDiffer {
            figure: decode_figure(cursor)?,
            excursion: cursor.f64()?,
            slope: cursor.f64()?,
        },
        20 => Warning::WarmUpTooShort {
            figure: decode_figure(cursor)?,
            planned_ns: cursor.u64()?,
            cut_ns: cursor.u64()?,
            no_end: cursor.u8()? != 0,
            bias: cursor.f64()?,
        },
        21 => Warning::OutlierIntervals {
            outliers: cursor.u32()?,
            intervals: cursor.u32()?,
            figure: decode_figure(cursor)?,
            start_ns: cursor.u64()?,
            value: cursor.f64()?,
            median: cursor.f64()?,
        },
        22 => Warning::ServedFromCache {
            is_read: cursor.u8()? != 0,
            place: match cursor.u8()? {
                place if usize::from(place) < WirePlace::ALL.len() => {
                    WirePlace::ALL[usize::from(place)]
                }
                _ => return Err(Malformed("its place is not one that this fourcorners knows")),
            },
            counted_bytes: cursor.u64()?,
            wire_bytes: cursor.u64()?,
        },
        _ => return Err(Malformed("its warning is not one that this fourcorners knows")),
    })
}

#[cfg(test)]
mod tests {
    use metrics::connection::ConnectionInterval;
    use metrics::histogram::{BUCKETS, Counts};
    use metrics::interval::{KindInterval, StreamInterval, WorkerInterval};
    use metrics::wire::{WireInterval, WirePlace};
    use proptest::collection::{btree_map, vec};
    use proptest::prelude::*;
    use workload::connection::{CallCounters, Endpoint, TcpState};
    use workload::outcome::ErrorKind;

    use super::*;

    fn any_counts() -> impl Strategy<Value = Counts> {
        let buckets = btree_map(0..BUCKETS as u32, any::<u64>(), 0..20);
        (buckets, any::<u64>(), any::<u128>(), any::<u64>(), any::<u64>()).prop_map(
            |(buckets, over_range, sum_ns, min_ns, max_ns)| Counts {
                buckets: buckets.into_iter().collect(),
                over_range,
                sum_ns,
                min_ns,
                max_ns,
            },
        )
    }

    fn any_kind() -> impl Strategy<Value = KindInterval> {
        let failed = any::<[u64; ErrorKind::COUNT]>();
        (any::<u64>(), any::<u64>(), failed, any_counts(), proptest::option::of(any_counts()))
            .prop_map(|(completed, bytes, failed, service, response)| KindInterval {
                completed,
                bytes,
                failed,
                response: response.unwrap_or_else(|| service.clone()),
                service,
            })
    }

    fn any_stream() -> impl Strategy<Value = StreamInterval> {
        let used = prop_oneof![Just(KindInterval::default()), any_kind()];
        let kinds = (used, any_kind(), Just(KindInterval::default()));
        (any::<[u64; 4]>(), any::<[u128; 2]>(), kinds).prop_map(|(counts, times, kinds)| {
            StreamInterval {
                issued: counts[0],
                outstanding_start: counts[1],
                outstanding_end: counts[2],
                outstanding_time_ns: times[0],
                backlog_end: counts[3],
                backlog_time_ns: times[1],
                kinds: kinds.into(),
            }
        })
    }

    fn any_endpoint() -> impl Strategy<Value = Endpoint> {
        prop_oneof![
            any::<([u8; 4], u16)>().prop_map(|(octets, port)| Endpoint::v4(octets, port)),
            any::<([u8; 16], u16)>().prop_map(|(octets, port)| Endpoint::v6(octets, port)),
        ]
    }

    fn any_connection() -> impl Strategy<Value = ConnectionInterval> {
        let numbers = any::<([u32; 3], [u64; 9], [u64; 5], u128)>();
        let tcp = proptest::option::of(any::<[u64; 3]>());
        (numbers, any_endpoint(), any_endpoint(), tcp).prop_map(
            |((place, calls, counts, outstanding_time_ns), local, remote, tcp)| {
                let kind = |at: usize| CallCounters {
                    operations: calls[at],
                    calls: calls[at + 1],
                    bytes: calls[at + 2],
                };
                ConnectionInterval {
                    stream: place[0],
                    lane: place[1],
                    number: place[2],
                    local,
                    remote,
                    kinds: [kind(0), kind(3), kind(6)],
                    outstanding_end: counts[0],
                    outstanding_time_ns,
                    span_ns: counts[1],
                    reconnects: counts[2],
                    replays: counts[3],
                    retries: counts[4],
                    tcp: tcp.map(|[rtt_ns, rtt_deviation_ns, retransmits]| TcpState {
                        rtt_ns,
                        rtt_deviation_ns,
                        retransmits,
                    }),
                }
            },
        )
    }

    fn any_interval() -> impl Strategy<Value = Interval> {
        let worker = any::<(u32, u32, u64)>();
        let worker =
            worker.prop_map(|(stream, lane, cpu_ns)| WorkerInterval { stream, lane, cpu_ns });
        let wire = (0..4usize, any::<[u64; 2]>()).prop_map(|(place, bytes)| WireInterval {
            place: WirePlace::ALL[place],
            received_bytes: bytes[0],
            sent_bytes: bytes[1],
        });
        let streams = vec(any_stream(), 0..3);
        let parts = (streams, vec(worker, 0..5), vec(any_connection(), 0..4), vec(wire, 0..3));
        (0..u32::MAX, any::<[u64; 4]>(), parts).prop_map(
            |(index, times, (streams, workers, connections, wire))| Interval {
                index,
                start_ns: times[0].min(times[1]),
                end_ns: times[0].max(times[1]),
                process_user_ns: times[2],
                process_system_ns: times[3],
                streams,
                workers,
                connections,
                wire,
            },
        )
    }

    /// Numbers that are equal to themselves.
    fn any_number() -> impl Strategy<Value = f64> {
        prop_oneof![any::<f64>().prop_filter("a NaN is not equal to itself", |x| !x.is_nan())]
    }

    fn any_warning() -> impl Strategy<Value = Warning> {
        let errors = vec(any::<(String, String, u64)>(), 0..4);
        let parts = (0..23u8, any_number(), any_number(), any::<u64>(), any::<u64>(), errors);
        (parts, any::<String>()).prop_map(|((which, a, b, c, d, errors), text)| match which {
            0 => Warning::GeneratorBusy { busy: a },
            1 => Warning::ScheduleDelayHigh { delay_mean_ns: a, service_mean_ns: b },
            2 => Warning::Overloaded { offered_rate: a, achieved_rate: b, backlog: c },
            3 => Warning::NotSteady { figure: Figure::AchievedRate, drift: a },
            4 => Warning::WindowTooShort { intervals: c as u32 },
            5 => Warning::FewSamplesForPercentile { percentile: a, samples_above: c },
            6 => Warning::LittleMismatch { outstanding_mean: a, expected: b },
            7 => Warning::WorkingSetFitsCache { working_set_bytes: c, memory_bytes: d },
            8 => Warning::ErrorsSeen { errors },
            9 => Warning::RepeatsDisagree {
                spread: a,
                chance: (b >= 0.0).then_some(b),
                repeat: Some(7),
            },
            10 => Warning::HostNoisy { steal: a },
            11 => Warning::EndedEarly { reason: text },
            12 => Warning::NotSteady { figure: Figure::ResponseTime, drift: a },
            14 => Warning::ConnectionsUneven { least: a, most: b, spread: a },
            15 => Warning::ConnectionReestablished { connections: c, reconnects: d, replays: c },
            13 => Warning::ProcessorsBusy { used: a, processors: c as u32 },
            16 => Warning::RepeatsDisagree { spread: a, chance: None, repeat: None },
            17 => Warning::OutlierRepeat { repeat: c as u32 / 2, rate: a, others_mean: b },
            18 => Warning::RoundsDiffer { figure: Figure::AchievedRate, excursion: a, slope: b },
            19 => Warning::WarmUpTooShort {
                figure: Figure::ResponseTime,
                planned_ns: c,
                cut_ns: d,
                no_end: c > d,
                bias: a,
            },
            20 => Warning::OutlierIntervals {
                outliers: c as u32,
                intervals: d as u32,
                figure: Figure::ResponseTime,
                start_ns: c,
                value: a,
                median: b,
            },
            21 => Warning::ServedFromCache {
                is_read: c > d,
                place: WirePlace::ALL[(c % 4) as usize],
                counted_bytes: c,
                wire_bytes: d,
            },
            _ => Warning::NotStorage { filesystem: text },
        })
    }

    fn any_outcome() -> impl Strategy<Value = Outcome> {
        prop_oneof![
            Just(Outcome::Done),
            Just(Outcome::Interrupted),
            Just(Outcome::Aborted),
            any::<String>().prop_map(|reason| Outcome::Failed { reason }),
        ]
    }

    proptest! {
        #[test]
        fn any_interval_comes_back(run_index: u32, interval in any_interval()) {
            let mut payload = Vec::new();
            interval::encode(run_index, &interval, &mut payload);
            prop_assert_eq!(Frame::run_of_interval(&payload), Ok(run_index));
            let frame = Frame::decode(INTERVAL, &payload);
            prop_assert_eq!(frame, Ok(Frame::Interval { run_index, interval }));
        }

        #[test]
        fn any_warning_comes_back(run_index: Option<u32>, warning in any_warning()) {
            let mut payload = Vec::new();
            encode_warning(run_index, &warning, &mut payload);
            let frame = Frame::decode(WARNING, &payload);
            prop_assert_eq!(frame, Ok(Frame::Warning { run_index, warning }));
        }

        #[test]
        fn any_outcome_comes_back(run_index: u32, outcome in any_outcome()) {
            let mut payload = Vec::new();
            encode_run_finished(run_index, &outcome, &mut payload);
            let frame = Frame::decode(RUN_FINISHED, &payload);
            prop_assert_eq!(frame, Ok(Frame::RunFinished { run_index, outcome: outcome.clone() }));
            payload.clear();
            encode_outcome(&outcome, &mut payload);
            prop_assert_eq!(Frame::decode(FINISHED, &payload), Ok(Frame::Finished(outcome)));
        }

        #[test]
        fn any_witness_comes_back(run_index: u32, calls: [u64; 3], numbers: [u64; 4]) {
            let [failed, read_bytes, written_bytes, outstanding_max] = numbers;
            let counts =
                WitnessCounts { calls, failed, read_bytes, written_bytes, outstanding_max };
            let mut payload = Vec::new();
            encode_witnessed(run_index, &counts, &mut payload);
            let frame = Frame::decode(WITNESSED, &payload);
            prop_assert_eq!(frame, Ok(Frame::Witnessed { run_index, counts }));
        }

        #[test]
        fn any_preparation_comes_back(stream: String, written_bytes: u64, took_ns: u64) {
            let prepared = Prepared { stream, written_bytes, took_ns };
            let mut payload = Vec::new();
            encode_prepared(&prepared, &mut payload);
            prop_assert_eq!(Frame::decode(PREPARED, &payload), Ok(Frame::Prepared(prepared)));
        }

        #[test]
        fn foreign_payloads_are_refused_without_a_panic(kind: u8, payload: Vec<u8>) {
            let _refused_or_read = Frame::decode(kind, &payload);
        }
    }

    #[test]
    fn every_engine_comes_back() {
        for engine in [EngineChoice::Auto, EngineChoice::IoUring, EngineChoice::Psync] {
            let used = EngineUsed { engine, reason: "forced by `--engine`".to_owned() };
            let mut payload = Vec::new();
            encode_engine(&used, &mut payload);
            assert_eq!(Frame::decode(ENGINE, &payload), Ok(Frame::Engine(used)));
        }
    }

    /// The payload of an interval with one stream whose reads have these service times.
    fn with_buckets(buckets: Vec<(u32, u64)>) -> Vec<u8> {
        let mut stream = StreamInterval::default();
        stream.kinds[0].service = Counts { buckets, ..Counts::default() };
        let mut payload = Vec::new();
        let interval = Interval { streams: vec![stream], ..Interval::default() };
        interval::encode(0, &interval, &mut payload);
        payload
    }

    #[test]
    fn buckets_that_do_not_exist_or_do_not_ascend_are_refused() {
        let last = BUCKETS as u32 - 1;
        assert!(Frame::decode(INTERVAL, &with_buckets(vec![(0, 1), (last, 1)])).is_ok());
        for buckets in [
            vec![(last + 1, 1)],
            vec![(u32::MAX, 1)],
            vec![(5, 1), (5, 1)],
            // The distance backwards wraps around.
            vec![(5, 1), (4, 1)],
        ] {
            let refused = Frame::decode(INTERVAL, &with_buckets(buckets.clone()));
            assert!(refused.is_err(), "{buckets:?}");
        }
    }

    #[test]
    fn an_interval_that_ends_before_it_begins_is_refused() {
        let decode = |index: u32, start_ns: u64, end_ns: u64| {
            let mut payload = Vec::new();
            let interval = Interval { index, start_ns, end_ns, ..Interval::default() };
            interval::encode(0, &interval, &mut payload);
            Frame::decode(INTERVAL, &payload)
        };
        assert!(decode(0, 7, 7).is_ok());
        assert!(decode(0, 8, 7).is_err());
        assert!(decode(u32::MAX, 7, 8).is_err(), "no interval can follow it");
    }

    #[test]
    fn sums_over_all_intervals_that_overflow_are_refused() {
        let with = |bytes: u64, sum_ns: u128| {
            let mut stream = StreamInterval::default();
            stream.kinds[1].bytes = bytes;
            stream.kinds[1].response.sum_ns = sum_ns;
            Interval { streams: vec![stream], ..Interval::default() }
        };
        let mut sums = interval::Sums::default();
        assert_eq!(sums.add(&with(u64::MAX - 1, u128::MAX - 1)), Ok(()));
        assert_eq!(sums.add(&with(1, 1)), Ok(()));
        assert!(sums.add(&with(1, 0)).is_err());
        assert!(sums.add(&with(0, 1)).is_err());
    }

    #[test]
    fn a_run_that_could_not_be_done_is_refused() {
        let stream = r#"{"name":"a","read_permille":1000,
            "transfer_sizes":[{"size_bytes":8192,"weight":1}],"access_pattern":"uniform",
            "working_set":{"files":1,"file_size_bytes":8192,"area_bytes":8192},
            "queue_depth":4294967295,"workers":WORKERS,"arrival":{"closed":{"think_time_ns":0}},
            "direct":true,"dsync":false,"fsync_every_writes":null,
            "data":{"compressible_permille":0,"duplicate_permille":0}}"#;
        let decode = |streams: &[&str], measure_ns: u64, interval_ns: u64| {
            let json = format!(
                r#"{{"index":0,"variant":"v","parameters":[],"repeat":0,"seed":1,"streams":[{}],
                "phases":{{"warm_up_ns":1,"measure_ns":{measure_ns},"interval_ns":{interval_ns}}},
                "tolerated_errors":0,"operation_deadline_ns":1}}"#,
                streams.join(",")
            );
            decode_run(&json)
        };
        let one = stream.replace("WORKERS", "1");
        let many = stream.replace("WORKERS", "4294967295");
        assert!(decode(&[&one], 10, 1).is_ok(), "{:?}", decode(&[&one], 10, 1));
        assert!(decode(&[&one], 10, 0).is_err(), "intervals of no length");
        assert!(decode(&[&one], u64::MAX, 1).is_err(), "phases beyond the end of time");
        assert!(decode(&[], 10, 1).is_err(), "no streams");
        assert!(decode(&[&many, &many], 10, 1).is_err(), "more workers than can be counted");
    }

    #[test]
    fn a_drift_stored_before_figures_had_names_is_the_achieved_rates() {
        let mut payload = vec![0, 3];
        put_f64(&mut payload, 0.25);
        let warning = Warning::NotSteady { figure: Figure::AchievedRate, drift: 0.25 };
        let frame = Frame::Warning { run_index: None, warning };
        assert_eq!(Frame::decode(WARNING, &payload), Ok(frame));
    }

    #[test]
    fn an_interval_that_is_cut_or_too_long_is_refused() {
        let mut payload = Vec::new();
        interval::encode(3, &Interval::default(), &mut payload);
        for length in 0..payload.len() {
            assert!(Frame::decode(INTERVAL, &payload[..length]).is_err(), "{length}");
        }
        payload.push(0);
        assert!(Frame::decode(INTERVAL, &payload).is_err());
    }

    #[test]
    fn an_interval_of_before_there_were_connections_is_read_and_one_without_is_written_so() {
        let mut payload = Vec::new();
        let connection = ConnectionInterval { span_ns: 7, ..ConnectionInterval::default() };
        let with = Interval { connections: vec![connection], ..Interval::default() };
        interval::encode(3, &with, &mut payload);
        let mut before = Vec::new();
        interval::encode(3, &Interval::default(), &mut before);
        assert_eq!(before.len(), 8, "run, index, four times, no workers, no streams");
        assert!(payload.starts_with(&before));
        let frame = Frame::Interval { run_index: 3, interval: Interval::default() };
        assert_eq!(Frame::decode(INTERVAL, &before), Ok(frame));
        for length in before.len() + 1..payload.len() {
            assert!(Frame::decode(INTERVAL, &payload[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn response_times_of_a_closed_loop_are_stored_once() {
        let service = Counts {
            buckets: (5000..5300).map(|bucket| (bucket, 7)).collect(),
            sum_ns: 1,
            ..Counts::default()
        };
        let size = |response: &Counts| {
            let mut interval = Interval::default();
            let mut stream = StreamInterval::default();
            stream.kinds[0] = KindInterval {
                completed: 2100,
                service: service.clone(),
                response: response.clone(),
                ..KindInterval::default()
            };
            interval.streams.push(stream);
            let mut payload = Vec::new();
            interval::encode(0, &interval, &mut payload);
            payload.len()
        };
        let mut other = service.clone();
        other.sum_ns += 1;
        assert!(size(&service) < 700, "{}", size(&service));
        assert!(size(&other) > 1200, "{}", size(&other));
    }
}
