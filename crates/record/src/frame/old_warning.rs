//! Warnings in frames of kind 5, as older versions wrote them: the run's index plus 1, or 0 without
//! a run, then a tag and the fields.

use metrics::warning::{Figure, Warning};
use metrics::wire::CounterSource;

use crate::codec::{Cursor, Malformed};

pub(super) fn decode(payload: &[u8]) -> Result<(Option<u32>, Warning), Malformed> {
    let mut cursor = Cursor::new(payload);
    let run_index = cursor.u64()?.checked_sub(1).map(u32::try_from).transpose();
    let run_index = run_index.map_err(|_| Malformed("a number exceeds 32 bits"))?;
    let warning = decode_warning(&mut cursor)?;
    cursor.end()?;
    Ok((run_index, warning))
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
        3 => {
            Warning::NotSteady { figure: Figure::AchievedRate, drift: cursor.f64()?, thirds: None }
        }
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
        13 => {
            Warning::NotSteady { figure: Figure::ResponseTime, drift: cursor.f64()?, thirds: None }
        }
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
            source: match cursor.u8()? {
                source if usize::from(source) < CounterSource::ALL.len() => {
                    CounterSource::ALL[usize::from(source)]
                }
                _ => {
                    return Err(Malformed(
                        "this version of fourcorners does not know a counter's source",
                    ));
                }
            },
            counted_bytes: cursor.u64()?,
            wire_bytes: cursor.u64()?,
        },
        23 => Warning::NotSteady {
            figure: decode_figure(cursor)?,
            drift: cursor.f64()?,
            thirds: Some([cursor.f64()?, cursor.f64()?]),
        },
        24 => Warning::ThreadsShareProcessors { threads: cursor.u64()?, processors: cursor.u32()? },
        25 => Warning::ServerRestarted { times: cursor.u64()?, rewritten_bytes: cursor.u64()? },
        _ => return Err(Malformed("this version of fourcorners does not know its warning")),
    })
}

fn decode_figure(cursor: &mut Cursor<'_>) -> Result<Figure, Malformed> {
    match cursor.u8()? {
        0 => Ok(Figure::AchievedRate),
        1 => Ok(Figure::ResponseTime),
        _ => Err(Malformed("this version of fourcorners does not know its figure")),
    }
}
