//! Warnings in a journal's frames. Tags are numbers of the format: they are never reused.

use metrics::warning::{Figure, Warning};
use metrics::wire::WirePlace;

use crate::codec::{Cursor, Malformed, put_f64, put_text, put_u64};

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
        Warning::NotSteady { figure, drift, thirds: Some(thirds) } => {
            out.push(23);
            put_figure(*figure, out);
            put_f64(out, *drift);
            thirds.iter().for_each(|third| put_f64(out, *third));
        }
        Warning::NotSteady { figure, drift, thirds: None } => {
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
        Warning::ThreadsShareProcessors { threads, processors } => {
            out.push(24);
            put_u64(out, *threads);
            put_u64(out, u64::from(*processors));
        }
        Warning::ConnectionsUneven { least, most, spread } => {
            out.push(15);
            put_f64(out, *least);
            put_f64(out, *most);
            put_f64(out, *spread);
        }
        Warning::ServerRestarted { times, rewritten_bytes } => {
            out.push(25);
            put_u64(out, *times);
            put_u64(out, *rewritten_bytes);
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

pub(super) fn decode_warning(cursor: &mut Cursor<'_>) -> Result<Warning, Malformed> {
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
            place: match cursor.u8()? {
                place if usize::from(place) < WirePlace::ALL.len() => {
                    WirePlace::ALL[usize::from(place)]
                }
                _ => return Err(Malformed("its place is not one that this fourcorners knows")),
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
        _ => return Err(Malformed("its warning is not one that this fourcorners knows")),
    })
}
