//! Warnings in words: what was seen, with its numbers; why it matters; what to try next.

use units::{Bytes, Nanos, OpsPerSec, thousands};

use super::{Explanation, Figure, Warning};

impl Warning {
    /// The warning in words: what was seen, with its numbers; why it matters; what to try next.
    pub fn explain(&self) -> Explanation {
        let seen = self.seen();
        let (code, matters, remedy) = self.lesson();
        Explanation { code, seen, matters, remedy }
    }

    fn seen(&self) -> String {
        match self {
            Warning::GeneratorBusy { busy } => {
                format!("the busiest worker used {} of the processor it has", percent(*busy))
            }
            Warning::ProcessorsBusy { used, processors } => match processors {
                1 => format!("the process used {used:.2} of this host's 1 processor"),
                _ => format!("the process used {used:.2} of this host's {processors} processors"),
            },
            Warning::ThreadsShareProcessors { threads, processors } => match processors {
                1 => format!("{} threads share 1 processor", thousands(*threads)),
                _ => format!("{} threads share {processors} processors", thousands(*threads)),
            },
            Warning::ScheduleDelayHigh { delay_mean_ns, service_mean_ns } => format!(
                "operations were issued {} late on average; the service time mean was {}",
                Nanos(*delay_mean_ns),
                Nanos(*service_mean_ns)
            ),
            Warning::Overloaded { offered_rate, achieved_rate, backlog } => format!(
                "{} were offered, {} were achieved; at the end of the window {} operations were \
                 due but not issued",
                OpsPerSec::new(*offered_rate),
                OpsPerSec::new(*achieved_rate),
                thousands(*backlog)
            ),
            Warning::NotSteady { figure, thirds: Some([first, last]), .. } => format!(
                "between the first and the last third of the window the {} went from {} to {}",
                figure.name(),
                figure.print(*first),
                figure.print(*last)
            ),
            Warning::NotSteady { figure, drift, thirds: None } => format!(
                "between the first and the last third of the window the {} {}",
                figure.name(),
                moved(*drift)
            ),
            Warning::WindowTooShort { intervals } => match intervals {
                0 => "no complete interval was measured".to_owned(),
                1 => "the window has 1 interval".to_owned(),
                _ => format!("the window has {intervals} intervals"),
            },
            Warning::FewSamplesForPercentile { percentile, samples_above } => {
                // 99.9 comes from 0.999 and may not be exact.
                let percentile = (percentile * 1000.0).round() / 1000.0;
                match samples_above {
                    1 => format!("1 sample lies above p{percentile}"),
                    _ => format!("{samples_above} samples lie above p{percentile}"),
                }
            }
            Warning::LittleMismatch { outstanding_mean, expected } => format!(
                "the time integral gives {} operations on average, achieved rate times mean time \
                 gives {}",
                mean_count(*outstanding_mean),
                mean_count(*expected)
            ),
            Warning::WorkingSetFitsCache { working_set_bytes, memory_bytes } => format!(
                "the working set is {}, this host's memory {}, and I/O is buffered",
                Bytes::new(*working_set_bytes),
                Bytes::new(*memory_bytes)
            ),
            Warning::ErrorsSeen { errors } => {
                let words: Vec<String> = errors
                    .iter()
                    .map(|(kind, error, count)| format!("{} {kind} ({error})", thousands(*count)))
                    .collect();
                format!("operations failed: {}", words.join(", "))
            }
            Warning::RepeatsDisagree { spread, chance, repeat } => {
                let mut words = format!(
                    "the highest and the lowest repeat lie {} of their mean apart, more than their \
                     intervals explain",
                    percent(*spread)
                );
                if let Some(chance) = chance {
                    words.push_str(&format!(" (by chance: {})", chance_in_words(*chance)));
                }
                if let Some(repeat) = repeat {
                    words.push_str(&format!("; without repeat {} the others agree", repeat + 1));
                }
                words
            }
            Warning::OutlierRepeat { repeat, rate, others_mean } => format!(
                "repeat {} achieved {}, the others {} on average; it is counted in every figure",
                repeat + 1,
                OpsPerSec::new(*rate),
                OpsPerSec::new(*others_mean)
            ),
            Warning::RoundsDiffer { figure, excursion, slope } => format!(
                "the window's five rounds lie {} of their mean apart by {} (20 % is allowed), the \
                 line through them {} (10 % is allowed)",
                percent(*excursion),
                figure.name(),
                moved(*slope)
            ),
            Warning::WarmUpTooShort { figure, planned_ns, cut_ns, no_end, bias } => {
                let until = if *no_end { "at least " } else { "" };
                format!(
                    "the {} settles after {until}{} (MSER-5), and {} of warm-up were planned: the \
                     window's mean is {} off what follows",
                    figure.name(),
                    Nanos(*cut_ns as f64),
                    Nanos(*planned_ns as f64),
                    signed_percent(*bias)
                )
            }
            Warning::OutlierIntervals { outliers, intervals, figure, start_ns, value, median } => {
                let verb = if *outliers == 1 { "lies" } else { "lie" };
                format!(
                    "{outliers} of {intervals} intervals {verb} far from the others, the farthest \
                     at {}: {} {}, median {}; they are counted in every figure",
                    Nanos(*start_ns as f64),
                    figure.name(),
                    figure.print(*value),
                    figure.print(*median)
                )
            }
            Warning::HostNoisy { steal } => {
                format!("the hypervisor took {} of this host's processor time", percent(*steal))
            }
            Warning::EndedEarly { reason } => {
                format!("the run ended before its plan did: {reason}")
            }
            Warning::ConnectionsUneven { least, most, spread } => format!(
                "the connections of a stream did between {} and {}, {} of their mean apart",
                OpsPerSec::new(*least),
                OpsPerSec::new(*most),
                percent(*spread)
            ),
            Warning::ConnectionReestablished { connections, reconnects, replays } => {
                let plural = if *connections == 1 { "connection" } else { "connections" };
                format!(
                    "{} {plural} made again {} times in all, with {} calls sent again",
                    thousands(*connections),
                    thousands(*reconnects),
                    thousands(*replays)
                )
            }
            Warning::ServerRestarted { times, rewritten_bytes } => {
                let plural = if *times == 1 { "time" } else { "times" };
                format!(
                    "the server restarted or lost its cache during the run: its write verifier \
                     changed {} {plural}, and {} that it had not committed were written again",
                    thousands(*times),
                    Bytes::new(*rewritten_bytes)
                )
            }
            Warning::ServedFromCache { is_read, place, counted_bytes, wire_bytes } => {
                let missing = 1.0 - *wire_bytes as f64 / (*counted_bytes).max(1) as f64;
                let (done, way, verb) = match is_read {
                    true => ("read", "came to", "delivered"),
                    false => ("written", "left", "took"),
                };
                format!(
                    "{} of the bytes {done} never {way} this host: operations moved {}, {} {verb} \
                     {}",
                    percent(missing),
                    Bytes::new(*counted_bytes),
                    place.in_words(),
                    Bytes::new(*wire_bytes)
                )
            }
            Warning::NotStorage { filesystem } => {
                format!(
                    "the target lies on {filesystem}, which keeps data in memory or does not \
                     support direct I/O"
                )
            }
        }
    }

    /// Code, why it matters, what to try next.
    fn lesson(&self) -> (&'static str, &'static str, &'static str) {
        match self {
            Warning::GeneratorBusy { .. } => (
                "generator_busy",
                "A worker without idle time cannot issue faster: the rate may be this host's \
                 limit, not the target's, and times include waiting for the worker itself.",
                "Give the stream more workers (`workers`), pin them (`--pin`), or use a host with \
                 more processors. `fourcorners run null:` shows what this host can generate at \
                 most.",
            ),
            Warning::ProcessorsBusy { .. } => (
                "processors_busy",
                "Workers that share processors wait for each other: the rate may be this host's \
                 limit, not the target's, and times include the waiting.",
                "Use no more workers than there are processors to spare (`workers`), offer less, \
                 or use a host with more processors. `fourcorners run null:` shows what this host \
                 can generate at most.",
            ),
            Warning::ThreadsShareProcessors { .. } => (
                "threads_share_processors",
                "A thread that waits for its turn on a processor adds the wait to the times of its \
                 operation: a few operations wait for long, which raises means far above medians.",
                "Leave out `--engine psync`: io_uring keeps a queue depth with one thread. Use no \
                 more `workers` than processors, or allow the process more processors (affinity, \
                 the CPU quota of its container).",
            ),
            Warning::ScheduleDelayHigh { .. } => (
                "schedule_delay_high",
                "Response times count from the instant at which an operation was due, so they \
                 include this wait, as a user's would; service times do not show it.",
                "In a closed loop the generator needs this time to make and check data: raise \
                 `workers`, and compare service times with other tools. With an offered rate \
                 believe the response time; raise `queue_depth` or `workers`, and if the wait \
                 stays, the target is too slow for this rate.",
            ),
            Warning::Overloaded { .. } => (
                "overloaded",
                "The backlog grows for as long as the run lasts, and response times with it: they \
                 describe the length of the run, not the target.",
                "Offer less than the achieved rate (`arrival`), or raise `queue_depth` and \
                 `workers` if operations waited for a free slot.",
            ),
            Warning::NotSteady { .. } => (
                "not_steady",
                "A mean over a window that still changes depends on when the window was: caches \
                 fill, burst credit runs out, flash begins to collect garbage.",
                "Warm up for longer (`warm_up`), measure for longer (`measure`), and look at the \
                 time series for where it settles.",
            ),
            Warning::WindowTooShort { intervals: 0 } => (
                "nothing_measured",
                "A run that ends before the first interval of its window is over has no number to \
                 show.",
                "Remove the cause of the early end and run it again; if it ended as planned, \
                 measure for longer (`measure`).",
            ),
            Warning::WindowTooShort { .. } => (
                "window_too_short",
                "The uncertainty is estimated from how intervals differ; with so few of them it \
                 would itself be a guess, so none is given.",
                "Measure for longer (`measure`), or choose a shorter `interval`.",
            ),
            Warning::FewSamplesForPercentile { .. } => (
                "few_samples_for_percentile",
                "With fewer than ten samples above it, a percentile is decided by a few operations \
                 and changes from run to run; it is not printed as a number.",
                "Measure for longer (`measure`), repeat more often (`repeats`), or read a lower \
                 percentile.",
            ),
            Warning::LittleMismatch { .. } => (
                "little_mismatch",
                "By Little's law the two are equal on a window in which as many operations begin \
                 as end. Either this window does not balance, or something was counted wrongly.",
                "Measure for many times the longest service time. If it stays, please report it \
                 with the record: it would be a mistake of fourcorners.",
            ),
            Warning::WorkingSetFitsCache { .. } => (
                "working_set_fits_cache",
                "Reads are answered from memory once they have been read, and writes are taken by \
                 memory: these are figures of this host's page cache, not of the storage.",
                "Use direct I/O (`direct = true`), or a working set of at least twice the memory.",
            ),
            Warning::ErrorsSeen { .. } => (
                "errors_seen",
                "Failed operations are not in the rate nor in the times: what fails quickly can \
                 make the rest look fast.",
                "Look at the kinds of error and the intervals they fell in, and at the system's \
                 log; repeat once the cause is gone.",
            ),
            Warning::RepeatsDisagree { .. } => (
                "repeats_disagree",
                "Something changes between repeats that the uncertainty within one of them does \
                 not know: other users of the storage, caches, placement.",
                "Repeat more often (`repeats`), in random order (`order = \"randomised\"`), at \
                 another time of day; do not compare with other records by less than this \
                 difference.",
            ),
            Warning::OutlierRepeat { .. } => (
                "outlier_repeat",
                "A repeat that the others do not explain is either a disturbance or a second state \
                 of the target; dropping it would choose the answer, so it stays in.",
                "Look at its time series and at what else ran then; repeat more often \
                 (`repeats`).",
            ),
            Warning::RoundsDiffer { .. } => (
                "rounds_differ",
                "A window whose parts differ has a mean that depends on where it was cut: burst \
                 credit, caches that are flushed, garbage collection come and go.",
                "Measure over many of its periods (`measure`), and look at the time series.",
            ),
            Warning::WarmUpTooShort { .. } => (
                "warm_up_too_short",
                "What a target does in its first seconds is in the mean of what it does for good. \
                 The window is the plan's and was not changed.",
                "Warm up for longer than that (`warm_up`) and run it again.",
            ),
            Warning::OutlierIntervals { .. } => (
                "outlier_intervals",
                "A few intervals that stall, or run ahead, are what a user feels and what a mean \
                 hides; they are not left out of any figure.",
                "Look at the time series at these moments, and at what the host and the storage \
                 did then.",
            ),
            Warning::HostNoisy { .. } => (
                "host_noisy",
                "While the processor is taken away, operations can neither be issued nor be seen \
                 to end: long times may be the host's.",
                "Use a host with processors of its own, or repeat when its neighbours are quiet.",
            ),
            Warning::EndedEarly { .. } => (
                "ended_early",
                "Everything measured until then is kept, but the window is shorter than planned \
                 and may lack its steady part.",
                "Remove the cause and run it again.",
            ),
            Warning::ConnectionsUneven { .. } => (
                "connections_uneven",
                "The sum over all connections hides the slow ones: a limit for each network flow, \
                 a slower server address, or a policy that gives them unequal work.",
                "Look at the table of connections: addresses, outstanding calls, round-trip times. \
                 `policy=least-outstanding` in the target's options lets fast connections take \
                 more.",
            ),
            Warning::ConnectionReestablished { .. } => (
                "connection_reestablished",
                "Operations that were outstanding when a connection was lost waited until it was \
                 made again; their times include it.",
                "Look at the time series for the gap, and at the network and the server's log for \
                 its cause.",
            ),
            Warning::ServerRestarted { .. } => (
                "server_restarted",
                "Data written again takes part of the throughput without being counted as \
                 operations, and operations waited for it.",
                "Check the server's log for a restart or failover, and run again once it is \
                 stable.",
            ),
            Warning::ServedFromCache { is_read: true, .. } => (
                "served_from_cache",
                "What did not come over the wire came from this host's memory: the figure is not \
                 one of the storage.",
                "Use direct I/O (`direct = true`), a working set of at least twice the memory, or \
                 an export without a mount (`nfs://`), where nothing is cached.",
            ),
            Warning::ServedFromCache { .. } => (
                "held_in_cache",
                "What did not go over the wire waits in this host's memory, or was written over \
                 there: the figure is not one of the storage.",
                "Use direct I/O (`direct = true`), `dsync = true` or `fsync_every`, or an export \
                 without a mount (`nfs://`), where nothing is cached.",
            ),
            Warning::NotStorage { .. } => (
                "not_storage",
                "The operations may never have left this host's memory: such figures say nothing \
                 about storage.",
                "Name a directory on the volume you want to know about; `df -T DIR` shows the file \
                 system a directory lies on.",
            ),
        }
    }
}

impl Figure {
    const fn name(self) -> &'static str {
        match self {
            Figure::AchievedRate => "achieved rate",
            Figure::ResponseTime => "response time mean",
        }
    }

    fn print(self, value: f64) -> String {
        match self {
            Figure::AchievedRate => OpsPerSec::new(value).to_string(),
            Figure::ResponseTime => Nanos(value).to_string(),
        }
    }
}

/// `3.800`, and `585,920` where a fraction tells nothing.
fn mean_count(mean: f64) -> String {
    if mean >= 1000.0 { thousands(mean.round() as u64) } else { format!("{mean:.3}") }
}

/// `2 in 1,000`, and no more zeros than a reader counts.
fn chance_in_words(chance: f64) -> String {
    match chance {
        _ if chance < 1e-6 => "less than 1 in 1,000,000".to_owned(),
        _ => format!("1 in {}", thousands((1.0 / chance).round() as u64)),
    }
}

/// `12.3 %` for 0.1234.
fn percent(fraction: f64) -> String {
    units::fraction_percent(fraction, 1)
}

/// The window's mean against what follows, which it cannot fall short of by more than 100 %.
fn signed_percent(fraction: f64) -> String {
    let sign = if fraction > 0.0 { "+" } else { "" };
    format!("{sign}{}", percent(fraction))
}

/// A change as a share of a mean, which may be more than all of the mean.
fn moved(fraction: f64) -> String {
    let verb = if fraction < 0.0 { "falls" } else { "rises" };
    format!("{verb} by an amount equal to {} of the mean", percent(fraction.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::WirePlace;

    /// `(warning, code, seen)`: one of each kind.
    fn one_of_each() -> Vec<(Warning, &'static str, &'static str)> {
        vec![
            (
                Warning::GeneratorBusy { busy: 0.9642 },
                "generator_busy",
                "the busiest worker used 96.4 % of the processor it has",
            ),
            (
                Warning::ProcessorsBusy { used: 1.966, processors: 2 },
                "processors_busy",
                "the process used 1.97 of this host's 2 processors",
            ),
            (
                Warning::ThreadsShareProcessors { threads: 32, processors: 1 },
                "threads_share_processors",
                "32 threads share 1 processor",
            ),
            (
                Warning::ScheduleDelayHigh { delay_mean_ns: 1.5e6, service_mean_ns: 250e3 },
                "schedule_delay_high",
                "operations were issued 1.50 ms late on average; the service time mean was 250 us",
            ),
            (
                Warning::Overloaded {
                    offered_rate: 20e3,
                    achieved_rate: 12_345.4,
                    backlog: 76_000,
                },
                "overloaded",
                "20,000 ops/s were offered, 12,345 ops/s were achieved; at the end of the window \
                 76,000 operations were due but not issued",
            ),
            (
                Warning::NotSteady {
                    figure: Figure::AchievedRate,
                    drift: -1.41,
                    thirds: Some([1200.0, 130.0]),
                },
                "not_steady",
                "between the first and the last third of the window the achieved rate went from \
                 1,200 ops/s to 130 ops/s",
            ),
            (
                Warning::WindowTooShort { intervals: 0 },
                "nothing_measured",
                "no complete interval was measured",
            ),
            (
                Warning::WindowTooShort { intervals: 1 },
                "window_too_short",
                "the window has 1 interval",
            ),
            (
                Warning::FewSamplesForPercentile { percentile: 99.9, samples_above: 4 },
                "few_samples_for_percentile",
                "4 samples lie above p99.9",
            ),
            (
                Warning::LittleMismatch { outstanding_mean: 585_920.4, expected: 3.8 },
                "little_mismatch",
                "the time integral gives 585,920 operations on average, achieved rate times mean \
                 time gives 3.800",
            ),
            (
                Warning::WorkingSetFitsCache { working_set_bytes: 1 << 30, memory_bytes: 24 << 30 },
                "working_set_fits_cache",
                "the working set is 1 GiB, this host's memory 24 GiB, and I/O is buffered",
            ),
            (
                Warning::ErrorsSeen {
                    errors: vec![
                        ("read".to_owned(), "input_output".to_owned(), 1_072_942),
                        ("write".to_owned(), "no_space".to_owned(), 1),
                    ],
                },
                "errors_seen",
                "operations failed: 1,072,942 read (input_output), 1 write (no_space)",
            ),
            (
                Warning::RepeatsDisagree { spread: 0.31, chance: Some(0.0004), repeat: Some(2) },
                "repeats_disagree",
                "the highest and the lowest repeat lie 31.0 % of their mean apart, more than their \
                 intervals explain (by chance: 1 in 2,500); without repeat 3 the others agree",
            ),
            (
                Warning::OutlierRepeat { repeat: 4, rate: 700.0, others_mean: 1000.0 },
                "outlier_repeat",
                "repeat 5 achieved 700 ops/s, the others 1,000 ops/s on average; it is counted in \
                 every figure",
            ),
            (
                Warning::RoundsDiffer {
                    figure: Figure::AchievedRate,
                    excursion: 0.4,
                    slope: -0.031,
                },
                "rounds_differ",
                "the window's five rounds lie 40.0 % of their mean apart by achieved rate (20 % is \
                 allowed), the line through them falls by an amount equal to 3.1 % of the mean (10 % \
                 is allowed)",
            ),
            (
                Warning::WarmUpTooShort {
                    figure: Figure::ResponseTime,
                    planned_ns: 2_000_000_000,
                    cut_ns: 7_000_000_000,
                    no_end: false,
                    bias: 0.08,
                },
                "warm_up_too_short",
                "the response time mean settles after 7.00 s (MSER-5), and 2.00 s of warm-up were \
                 planned: the window's mean is +8.0 % off what follows",
            ),
            (
                Warning::OutlierIntervals {
                    outliers: 2,
                    intervals: 60,
                    figure: Figure::AchievedRate,
                    start_ns: 12_000_000_000,
                    value: 200.0,
                    median: 10_000.0,
                },
                "outlier_intervals",
                "2 of 60 intervals lie far from the others, the farthest at 12.0 s: achieved rate \
                 200 ops/s, median 10,000 ops/s; they are counted in every figure",
            ),
            (
                Warning::HostNoisy { steal: 0.052 },
                "host_noisy",
                "the hypervisor took 5.2 % of this host's processor time",
            ),
            (
                Warning::EndedEarly { reason: "interrupted by the user".to_owned() },
                "ended_early",
                "the run ended before its plan did: interrupted by the user",
            ),
            (
                Warning::ConnectionsUneven { least: 900.0, most: 1500.0, spread: 0.5 },
                "connections_uneven",
                "the connections of a stream did between 900 ops/s and 1,500 ops/s, 50.0 % of \
                 their mean apart",
            ),
            (
                Warning::ConnectionReestablished { connections: 1, reconnects: 2, replays: 31 },
                "connection_reestablished",
                "1 connection made again 2 times in all, with 31 calls sent again",
            ),
            (
                Warning::ServerRestarted { times: 1, rewritten_bytes: 3 << 20 },
                "server_restarted",
                "the server restarted or lost its cache during the run: its write verifier changed \
                 1 time, and 3 MiB that it had not committed were written again",
            ),
            (
                Warning::ServedFromCache {
                    is_read: true,
                    place: WirePlace::BlockDevice,
                    counted_bytes: 100 << 30,
                    wire_bytes: 2 << 30,
                },
                "served_from_cache",
                "98.0 % of the bytes read never came to this host: operations moved 100 GiB, the \
                 block device delivered 2 GiB",
            ),
            (
                Warning::ServedFromCache {
                    is_read: false,
                    place: WirePlace::NfsMount,
                    counted_bytes: 1 << 30,
                    wire_bytes: 0,
                },
                "held_in_cache",
                "100.0 % of the bytes written never left this host: operations moved 1 GiB, the \
                 NFS mount took 0 B",
            ),
            (
                Warning::NotStorage { filesystem: "tmpfs".to_owned() },
                "not_storage",
                "the target lies on tmpfs, which keeps data in memory or does not support direct \
                 I/O",
            ),
        ]
    }

    #[test]
    fn every_warning_says_what_was_seen_with_its_numbers() {
        for (warning, code, seen) in one_of_each() {
            let explanation = warning.explain();
            assert_eq!((explanation.code, explanation.seen.as_str()), (code, seen));
        }
    }

    #[test]
    fn a_drift_names_the_figure_that_drifts() {
        let thirds = Some([1.5e6, 800e3]);
        let warning = Warning::NotSteady { figure: Figure::ResponseTime, drift: -0.4, thirds };
        let seen = warning.explain().seen;
        assert!(seen.ends_with("response time mean went from 1.50 ms to 800 us"), "{seen}");
        // A record without both values.
        let warning =
            Warning::NotSteady { figure: Figure::AchievedRate, drift: -1.414, thirds: None };
        let seen = warning.explain().seen;
        assert!(seen.ends_with("falls by an amount equal to 141.4 % of the mean"), "{seen}");
    }

    #[test]
    fn every_warning_teaches_in_whole_sentences() {
        let mut codes = Vec::new();
        for (warning, _, _) in one_of_each() {
            let Explanation { code, matters, remedy, .. } = warning.explain();
            for text in [matters, remedy] {
                assert!(text.ends_with('.') && !text.contains("  "), "{code}: {text}");
                assert!(text.starts_with(|c: char| c.is_ascii_uppercase()), "{code}: {text}");
            }
            codes.push(code);
        }
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), one_of_each().len(), "codes are unique");
    }
}
