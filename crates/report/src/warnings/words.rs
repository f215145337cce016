//! The texts of warnings: what was found, with numbers; why it matters; what to do next. (The form is
//! hyperfine's.)

use std::time::Duration;

use metrics::warning::{Figure, Warning};
use metrics::wire::CounterSource;
use units::{Bytes, Nanos, OpsPerSec, print_whole_seconds, thousands};

/// Why a warning matters, and what to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advice {
    /// Why it matters for the result.
    pub effect: &'static str,
    /// What to do next.
    pub remedy: &'static str,
}

/// What was found, with its numbers.
pub fn found(warning: &Warning) -> String {
    match warning {
        Warning::GeneratorBusy { busy } => {
            format!("the busiest worker used {} of its processor", percent(*busy))
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
            "operations were issued {} late on average; the mean service time was {}",
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
            name(figure),
            print(figure, *first),
            print(figure, *last)
        ),
        Warning::NotSteady { figure, drift, thirds: None } => format!(
            "between the first and the last third of the window the {} {}",
            name(figure),
            moved(*drift)
        ),
        Warning::WindowTooShort { intervals } => match intervals {
            0 => "no complete interval was measured".to_owned(),
            1 => "the window has 1 interval".to_owned(),
            _ => format!("the window has {intervals} intervals"),
        },
        Warning::FewSamplesForPercentile { percentile, samples_above } => {
            // Computed from 0.999, so 99.9 may not be exact.
            let percentile = (percentile * 1000.0).round() / 1000.0;
            match samples_above {
                1 => format!("only 1 sample is above p{percentile}"),
                _ => format!("only {samples_above} samples are above p{percentile}"),
            }
        }
        Warning::LittleMismatch { outstanding_mean, expected } => format!(
            "mean outstanding is {} by the time integral, but {} by achieved rate × mean service \
             time",
            mean_count(*outstanding_mean),
            mean_count(*expected)
        ),
        Warning::WorkingSetFitsCache { working_set_bytes, memory_bytes } => format!(
            "the working set is {}, this host's memory {}, and I/O is buffered",
            Bytes::new(*working_set_bytes),
            Bytes::new(*memory_bytes)
        ),
        Warning::ErrorsSeen { errors } => {
            let list: Vec<String> = errors
                .iter()
                .map(|(kind, error, count)| format!("{} {kind} ({error})", thousands(*count)))
                .collect();
            format!("operations failed: {}", list.join(", "))
        }
        Warning::RepeatsDisagree { spread, chance, repeat } => {
            let mut text = format!(
                "the highest and the lowest repeat differ by {} of their mean, more than their \
                 confidence intervals explain",
                percent(*spread)
            );
            if let Some(chance) = chance {
                text.push_str(&format!(" (probability by chance: {})", odds(*chance)));
            }
            if let Some(repeat) = repeat {
                text.push_str(&format!("; without repeat {} the others agree", repeat + 1));
            }
            text
        }
        Warning::OutlierRepeat { repeat, rate, others_mean } => format!(
            "repeat {} achieved {}, the others {} on average; it is included in all results",
            repeat + 1,
            OpsPerSec::new(*rate),
            OpsPerSec::new(*others_mean)
        ),
        Warning::RoundsDiffer { figure, excursion, slope } => format!(
            "the five rounds of the window differ in {} by {} of their mean (limit 20 %), and \
             their trend {} (limit 10 %)",
            name(figure),
            percent(*excursion),
            moved(*slope)
        ),
        Warning::WarmUpTooShort { figure, planned_ns, cut_ns, no_end, bias } => {
            let at_least = if *no_end { "at least " } else { "" };
            format!(
                "the {} reaches steady state after {at_least}{} (MSER-5), but the warm-up was {}: \
                 the window's mean differs by {} from the mean after that",
                name(figure),
                Nanos(*cut_ns as f64),
                Nanos(*planned_ns as f64),
                signed_percent(*bias)
            )
        }
        Warning::OutlierIntervals { outliers, intervals, figure, start_ns, value, median } => {
            let verb = if *outliers == 1 { "is an outlier" } else { "are outliers" };
            format!(
                "{outliers} of {intervals} intervals {verb}, the farthest at {}: {} {}, median \
                 {}; outliers are included in all results",
                Nanos(*start_ns as f64),
                name(figure),
                print(figure, *value),
                print(figure, *median)
            )
        }
        Warning::HostNoisy { steal } => {
            format!("the hypervisor took {} of this host's processor time", percent(*steal))
        }
        Warning::EndedEarly { reason } => {
            format!("the run ended before the end of its plan: {reason}")
        }
        Warning::ConnectionsUneven { least, most, spread } => format!(
            "the connections of a stream achieved between {} and {}, a difference of {} of their \
             mean",
            OpsPerSec::new(*least),
            OpsPerSec::new(*most),
            percent(*spread)
        ),
        Warning::ConnectionReestablished { connections, reconnects, replays } => {
            let subject = match connections {
                1 => "1 connection was".to_owned(),
                _ => format!("{} connections were", thousands(*connections)),
            };
            let times = if *reconnects == 1 { "time" } else { "times" };
            format!(
                "{subject} lost and replaced {} {times} in total; {} calls were repeated",
                thousands(*reconnects),
                thousands(*replays)
            )
        }
        Warning::ServerRestarted { times, rewritten_bytes } => {
            let plural = if *times == 1 { "time" } else { "times" };
            format!(
                "the server restarted or lost its cache during the run: its write verifier \
                 changed {} {plural}, and {} of uncommitted data were rewritten",
                thousands(*times),
                Bytes::new(*rewritten_bytes)
            )
        }
        Warning::ServedFromCache { is_read, source, counted_bytes, wire_bytes } => {
            let missing = 1.0 - *wire_bytes as f64 / (*counted_bytes).max(1) as f64;
            let (done, way, verb) = match is_read {
                true => ("read", "reached", "delivered"),
                false => ("written", "left", "received"),
            };
            format!(
                "{} of the bytes {done} never {way} this host: operations moved {}, but {} {verb} \
                 {}",
                percent(missing),
                Bytes::new(*counted_bytes),
                counter_source(*source),
                Bytes::new(*wire_bytes)
            )
        }
        Warning::ScrapesFailed { url, failed, scrapes, reason } => format!(
            "{} of {} scrapes of {url} failed, the last one because {reason}",
            thousands(*failed),
            thousands(*scrapes)
        ),
        Warning::ScrapedDamaged { reason } => {
            format!("the stored metrics of other systems are not shown: {reason}")
        }
        Warning::NotStorage { filesystem } => {
            format!(
                "the target is on {filesystem}, which keeps data in memory or does not \
                 support direct I/O"
            )
        }
        Warning::WorkingSetFitsServerCache { working_set_bytes } => format!(
            "the working set is {}, which the file server's own cache may hold",
            Bytes::new(*working_set_bytes)
        ),
        Warning::OnHosts { hosts, of, warning } => {
            let count = hosts.len();
            let on = match hosts.as_slice() {
                [only] => only.clone(),
                all if count == *of as usize => format!("all {} hosts", all.len()),
                [first, second] => format!("{first} and {second}"),
                [first, ..] => format!("{first} and {} more of {of} hosts", count - 1),
                [] => "a host".to_owned(),
            };
            format!("on {on}: {}", found(warning))
        }
        Warning::HostsLost { lost, of } => {
            let from_ns = lost.iter().map(|(_, at_ns, _)| *at_ns).min().unwrap_or(0);
            let left = (*of as usize).saturating_sub(lost.len());
            let reasons: Vec<String> =
                lost.iter().map(|(name, _, why)| format!("{name}: {why}")).collect();
            format!(
                "{left} of {of} hosts from t = {}; lost {}",
                Nanos(from_ns as f64),
                reasons.join("; ")
            )
        }
        Warning::HostsStartedApart { spread_ns, error_ns, last } => format!(
            "the hosts started within {} (at most {} more or less), {last} last",
            Nanos(*spread_ns as f64),
            Nanos(*error_ns as f64)
        ),
        Warning::HostsDiffer { facts } => {
            let of_fact = |(fact, hosts): &(String, Vec<String>)| match hosts.as_slice() {
                [first, second, rest @ ..] if !rest.is_empty() => {
                    format!("{fact} on {first}, {second} and {} more", rest.len())
                }
                hosts => format!("{fact} on {}", hosts.join(" and ")),
            };
            let facts: Vec<String> = facts.iter().map(of_fact).collect();
            format!("different from the other hosts: {}", facts.join("; "))
        }
        Warning::HostSlower { host, rate, median } => format!(
            "{host} completed {} per second, and half of the other hosts {} or more",
            thousands(rate.round() as u64),
            thousands(median.round() as u64)
        ),
        Warning::SpoolFailed { path, reason } => {
            format!("the intervals could not be written to the spool {path}: {reason}")
        }
        Warning::WallClockOff { ahead_ns, error_ns } => {
            let word = if *ahead_ns < 0 { "behind" } else { "ahead of" };
            format!(
                "the wall clock is {} (± {}) {word} that of the controller",
                print_whole_seconds(Duration::from_nanos(ahead_ns.unsigned_abs())),
                Nanos(*error_ns as f64)
            )
        }
    }
}

/// Why a warning matters, and what to do next.
pub fn advice(warning: &Warning) -> Advice {
    let (effect, remedy) = match warning {
        Warning::GeneratorBusy { .. } => (
            "A worker without idle time cannot issue faster: this host, not the target, may limit \
             the rate, and times include waiting for the worker.",
            "Give the stream more workers (`workers`), pin them (`--pin`), or use a host with \
             more processors. `fourcorners run null:` shows the maximum rate of this host.",
        ),
        Warning::ProcessorsBusy { .. } => (
            "Workers that share processors wait for each other: this host, not the target, may \
             limit the rate, and times include the waiting.",
            "Use fewer workers than processors (`workers`), offer a lower rate, or use a host with \
             more processors. `fourcorners run null:` shows the maximum rate of this host.",
        ),
        Warning::ThreadsShareProcessors { .. } => (
            "A thread that waits for a processor adds this wait to the times of its operation: a \
             few operations take long, which raises the mean far above the median.",
            "Use at most as many `workers` as processors, over all targets of the host, or allow \
             the process more processors (affinity, the CPU quota of its container). With \
             `--engine psync` on a directory every outstanding operation needs a thread: leave it \
             out for reads and writes, because io_uring sustains a queue depth with one. \
             Operations on names use threads by default: lower `queue_depth`.",
        ),
        Warning::ScheduleDelayHigh { .. } => (
            "Response times are measured from when an operation was due, so they include this \
             delay, as for a user; service times do not.",
            "In a closed loop the generator needs this time to generate and verify data: raise \
             `workers`, and use service times for comparisons with other tools. With an offered \
             rate, use the response time and raise `queue_depth` or `workers`; if the delay \
             stays, the target is too slow for this rate.",
        ),
        Warning::Overloaded { .. } => (
            "The backlog and response times grow throughout the run: they depend on the length of \
             the run, not only on the target.",
            "Offer less than the achieved rate (`arrival`), or raise `queue_depth` and \
             `workers` if operations waited for a free slot.",
        ),
        Warning::NotSteady { .. } => (
            "The mean of a window without steady state depends on when it was measured: caches \
             fill, burst credit runs out, flash starts garbage collection.",
            "Use a longer warm-up (`warm_up`) and window (`measure`), and check the time series \
             for where it becomes steady.",
        ),
        Warning::WindowTooShort { intervals: 0 } => (
            "The run ended before the first interval of its window was complete, so there is no \
             result.",
            "Remove the cause and run again; if the run ended as planned, use a longer window \
             (`measure`).",
        ),
        Warning::WindowTooShort { .. } => (
            "The uncertainty is estimated from the variation between intervals, for which there \
             are too few, so none is given.",
            "Use a longer window (`measure`) or a shorter `interval`.",
        ),
        Warning::FewSamplesForPercentile { .. } => (
            "With fewer than ten samples above it, a percentile depends on a few operations and \
             varies from run to run, so it is not printed.",
            "Use a longer window (`measure`), more repeats (`repeats`), or a lower percentile.",
        ),
        Warning::LittleMismatch { .. } => (
            "By Little's law the two are equal if the window is balanced, that is, if as many \
             operations begin as end. Either it is not, or the accounting is wrong.",
            "Use a window of many times the longest service time. If the warning stays, please \
             report it with the record: it would be a bug in fourcorners.",
        ),
        Warning::WorkingSetFitsCache { .. } => (
            "Repeated reads are served from memory, and writes go to memory: the results are those \
             of this host's page cache, not of the storage.",
            "Use direct I/O (`direct = true`), or a working set of at least twice the memory.",
        ),
        Warning::ErrorsSeen { .. } => (
            "Failed operations are not included in rates and times; operations that fail quickly \
             can make the others look fast.",
            "Check the errors, when they occurred, and the system's log; run again once the cause \
             is removed.",
        ),
        Warning::RepeatsDisagree { .. } => (
            "Something changes between repeats that the confidence interval of a single repeat \
             does not include: other users of the storage, caches, placement.",
            "Use more repeats (`repeats`) in random order (`order = \"randomised\"`) at another \
             time of day; differences from other records that are smaller than this are not \
             significant.",
        ),
        Warning::OutlierRepeat { .. } => (
            "It is either a disturbance or a second state of the target. Dropping it would choose \
             the result, so it is kept.",
            "Check its time series and what else ran at that time; use more repeats (`repeats`).",
        ),
        Warning::RoundsDiffer { .. } => (
            "The mean of a window whose parts differ depends on where it begins: burst credit, \
             cache flushes and garbage collection alternate.",
            "Use a window of many periods (`measure`), and check the time series.",
        ),
        Warning::WarmUpTooShort { .. } => (
            "The warm-up was too short, so start-up behaviour is included in the mean. The window \
             was left as planned.",
            "Use a longer warm-up (`warm_up`) and run again.",
        ),
        Warning::OutlierIntervals { .. } => (
            "Users notice intervals that stall, although the mean hides them.",
            "Check the time series at these times, and what the host and the storage did then.",
        ),
        Warning::HostNoisy { .. } => (
            "Without the processor, operations can neither be issued nor completed: long times may \
             be caused by this host.",
            "Use a host with dedicated processors, or repeat at a quieter time.",
        ),
        Warning::EndedEarly { .. } => (
            "Everything measured until then is kept, but the window is shorter than planned and \
             may not have reached steady state.",
            "Remove the cause and run again.",
        ),
        Warning::OnHosts { warning, .. } => return advice(warning),
        Warning::HostsLost { .. } => (
            "Totals are those of fewer hosts from then on: rates are lower, and the storage was less \
             loaded.",
            "Remove the cause and run again; per-host results are complete until then.",
        ),
        Warning::HostsStartedApart { .. } => (
            "At the beginning and the end of the run not all hosts measured, so totals of those \
             intervals are too low.",
            "Use a warm-up that is longer than this, or hosts with a shorter round trip from here.",
        ),
        Warning::HostsDiffer { .. } => (
            "Hosts with different hardware, kernels or settings may differ in speed, and the slowest \
             of them is not visible in a total.",
            "Make them equal, or compare them in the table of hosts. `fourcorners check --hosts` judges \
             the settings that matter for a network file system.",
        ),
        Warning::HostSlower { .. } => (
            "The total is that of unequal hosts; with equal hosts it would be higher.",
            "Compare the hosts with `fourcorners check --hosts`, and their results in the table of \
             hosts.",
        ),
        Warning::WallClockOff { .. } => (
            "Hosts start by their monotonic clocks, so the results are not concerned. Logs and times of \
             files of this host do not match those of others.",
            "Synchronise the clocks, for example with chrony.",
        ),
        Warning::SpoolFailed { .. } => (
            "The results are complete while the connection lasts. If it is cut, intervals that were not \
             received are lost.",
            "Free space there, or name another directory with the variable FOURCORNERS_SPOOL on the \
             host.",
        ),
        Warning::ConnectionsUneven { .. } => (
            "The sum over all connections hides slow ones: a limit per network flow, a slower \
             server address, or a policy that distributes operations unevenly.",
            "Check the table of connections: addresses, outstanding calls, round-trip times. With \
             `policy=least-outstanding` in the target's options, fast connections carry more.",
        ),
        Warning::ConnectionReestablished { .. } => (
            "Operations that were outstanding when a connection was lost waited until it was \
             replaced; their times include this.",
            "Check the time series for the gap, and the network and the server's log for its \
             cause.",
        ),
        Warning::ServerRestarted { .. } => (
            "Rewritten data uses throughput without being counted as operations, and operations \
             waited for it.",
            "Check the server's log for a restart or failover, and run again once it is \
             stable.",
        ),
        Warning::ServedFromCache { is_read: true, .. } => (
            "The missing bytes came from this host's memory, so the result is not that of the \
             storage.",
            "Use direct I/O (`direct = true`), a working set of at least twice the memory, or \
             an export without a mount (`nfs://`), where nothing is cached.",
        ),
        Warning::ServedFromCache { .. } => (
            "The missing bytes are still in this host's memory, or were overwritten there, so the \
             result is not that of the storage.",
            "Use direct I/O (`direct = true`), `dsync = true` or `fsync_every`, or an export \
             without a mount (`nfs://`), where nothing is cached.",
        ),
        Warning::WorkingSetFitsServerCache { .. } => (
            "Reads of a working set below 64 GiB may be answered from the server's memory, so the \
             result may not be that of its storage.",
            "Use a working set above the server's cache: `--working-set 1TiB` spreads it over the \
             files.",
        ),
        Warning::ScrapesFailed { .. } => (
            "The metrics of that system have gaps, or none were stored; the results are not \
             affected.",
            "Check the address of --scrape, and whether the exporter answers within the reporting \
             period (`interval`).",
        ),
        Warning::ScrapedDamaged { .. } => (
            "The results are not affected.",
            "Restore the file `scraped` of the record from a copy, or remove it.",
        ),
        Warning::NotStorage { .. } => (
            "The operations may not have left this host's memory, so the result is not that of \
             the storage.",
            "Name a directory on the intended volume; `df -T DIR` shows the file system of a \
             directory.",
        ),
    };
    Advice { effect, remedy }
}

const fn name(figure: &Figure) -> &'static str {
    match figure {
        Figure::AchievedRate => "achieved rate",
        Figure::ResponseTime => "mean response time",
    }
}

fn print(figure: &Figure, value: f64) -> String {
    match figure {
        Figure::AchievedRate => OpsPerSec::new(value).to_string(),
        Figure::ResponseTime => Nanos(value).to_string(),
    }
}

/// Where bytes were counted.
pub(crate) const fn counter_source(of: CounterSource) -> &'static str {
    match of {
        CounterSource::NfsMount => "the NFS mount",
        CounterSource::BlockDevice => "the block device",
        CounterSource::Interface => "the network interface",
        CounterSource::Loopback => "the loopback interface",
    }
}

/// Three decimals below 1,000: `3.800`, `585,920`.
fn mean_count(mean: f64) -> String {
    if mean >= 1000.0 { thousands(mean.round() as u64) } else { format!("{mean:.3}") }
}

/// `1 in 2,500`; at least 1 in 1,000,000.
fn odds(chance: f64) -> String {
    match chance {
        _ if chance < 1e-6 => "less than 1 in 1,000,000".to_owned(),
        _ => format!("1 in {}", thousands((1.0 / chance).round() as u64)),
    }
}

/// 0.1234 as `12.3 %`.
fn percent(fraction: f64) -> String {
    units::fraction_percent(fraction, 1)
}

/// 0.08 as `+8.0 %`.
fn signed_percent(fraction: f64) -> String {
    let sign = if fraction > 0.0 { "+" } else { "" };
    format!("{sign}{}", percent(fraction))
}

/// A change as a share of a mean; it may exceed the mean.
fn moved(fraction: f64) -> String {
    let verb = if fraction < 0.0 { "falls" } else { "rises" };
    format!("{verb} by an amount equal to {} of the mean", percent(fraction.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `(warning, code, found)`: one of each kind.
    fn one_of_each() -> Vec<(Warning, &'static str, &'static str)> {
        vec![
            (
                Warning::GeneratorBusy { busy: 0.9642 },
                "generator_busy",
                "the busiest worker used 96.4 % of its processor",
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
                "operations were issued 1.50 ms late on average; the mean service time was 250 µs",
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
                "only 4 samples are above p99.9",
            ),
            (
                Warning::LittleMismatch { outstanding_mean: 585_920.4, expected: 3.8 },
                "little_mismatch",
                "mean outstanding is 585,920 by the time integral, but 3.800 by achieved rate × mean \
                 service time",
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
                "the highest and the lowest repeat differ by 31.0 % of their mean, more than their \
                 confidence intervals explain (probability by chance: 1 in 2,500); without repeat 3 \
                 the others agree",
            ),
            (
                Warning::OutlierRepeat { repeat: 4, rate: 700.0, others_mean: 1000.0 },
                "outlier_repeat",
                "repeat 5 achieved 700 ops/s, the others 1,000 ops/s on average; it is included in \
                 all results",
            ),
            (
                Warning::RoundsDiffer {
                    figure: Figure::AchievedRate,
                    excursion: 0.4,
                    slope: -0.031,
                },
                "rounds_differ",
                "the five rounds of the window differ in achieved rate by 40.0 % of their mean \
                 (limit 20 %), and their trend falls by an amount equal to 3.1 % of the mean (limit \
                 10 %)",
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
                "the mean response time reaches steady state after 7.00 s (MSER-5), but the warm-up \
                 was 2.00 s: the window's mean differs by +8.0 % from the mean after that",
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
                "2 of 60 intervals are outliers, the farthest at 12.0 s: achieved rate 200 ops/s, \
                 median 10,000 ops/s; outliers are included in all results",
            ),
            (
                Warning::HostNoisy { steal: 0.052 },
                "host_noisy",
                "the hypervisor took 5.2 % of this host's processor time",
            ),
            (
                Warning::EndedEarly { reason: "interrupted by the user".to_owned() },
                "ended_early",
                "the run ended before the end of its plan: interrupted by the user",
            ),
            (
                Warning::ConnectionsUneven { least: 900.0, most: 1500.0, spread: 0.5 },
                "connections_uneven",
                "the connections of a stream achieved between 900 ops/s and 1,500 ops/s, a \
                 difference of 50.0 % of their mean",
            ),
            (
                Warning::ConnectionReestablished { connections: 1, reconnects: 2, replays: 31 },
                "connection_reestablished",
                "1 connection was lost and replaced 2 times in total; 31 calls were repeated",
            ),
            (
                Warning::ServerRestarted { times: 1, rewritten_bytes: 3 << 20 },
                "server_restarted",
                "the server restarted or lost its cache during the run: its write verifier changed \
                 1 time, and 3 MiB of uncommitted data were rewritten",
            ),
            (
                Warning::ServedFromCache {
                    is_read: true,
                    source: CounterSource::BlockDevice,
                    counted_bytes: 100 << 30,
                    wire_bytes: 2 << 30,
                },
                "served_from_cache",
                "98.0 % of the bytes read never reached this host: operations moved 100 GiB, but the \
                 block device delivered 2 GiB",
            ),
            (
                Warning::ServedFromCache {
                    is_read: false,
                    source: CounterSource::NfsMount,
                    counted_bytes: 1 << 30,
                    wire_bytes: 0,
                },
                "held_in_cache",
                "100.0 % of the bytes written never left this host: operations moved 1 GiB, but the \
                 NFS mount received 0 B",
            ),
            (
                Warning::NotStorage { filesystem: "tmpfs".to_owned() },
                "not_storage",
                "the target is on tmpfs, which keeps data in memory or does not support direct I/O",
            ),
            (
                Warning::ScrapesFailed {
                    url: "http://filer:9100/metrics".to_owned(),
                    failed: 3,
                    scrapes: 1200,
                    reason: "connection refused".to_owned(),
                },
                "scrapes_failed",
                "3 of 1,200 scrapes of http://filer:9100/metrics failed, the last one because \
                 connection refused",
            ),
            (
                Warning::ScrapedDamaged { reason: "a frame is damaged".to_owned() },
                "scraped_damaged",
                "the stored metrics of other systems are not shown: a frame is damaged",
            ),
            (
                Warning::WorkingSetFitsServerCache { working_set_bytes: 1 << 30 },
                "working_set_fits_server_cache",
                "the working set is 1 GiB, which the file server's own cache may hold",
            ),
            (
                Warning::HostsLost {
                    lost: vec![("vm07".to_owned(), 312_000_000_000, "it is frozen".to_owned())],
                    of: 24,
                },
                "hosts_lost",
                "23 of 24 hosts from t = 312 s; lost vm07: it is frozen",
            ),
            (
                Warning::HostsStartedApart {
                    spread_ns: 3_000_000,
                    error_ns: 200_000,
                    last: "vm07".to_owned(),
                },
                "hosts_started_apart",
                "the hosts started within 3.00 ms (at most 200 µs more or less), vm07 last",
            ),
            (
                Warning::HostsDiffer {
                    facts: vec![
                        ("kernel.release".to_owned(), vec!["vm07".to_owned()]),
                        (
                            "nic.mtu_bytes".to_owned(),
                            ["a", "b", "c", "d"].map(str::to_owned).to_vec(),
                        ),
                    ],
                },
                "hosts_differ",
                "different from the other hosts: kernel.release on vm07; nic.mtu_bytes on a, b and 2 \
                 more",
            ),
            (
                Warning::HostSlower { host: "vm07".to_owned(), rate: 800.0, median: 1000.4 },
                "host_slower",
                "vm07 completed 800 per second, and half of the other hosts 1,000 or more",
            ),
            (
                Warning::SpoolFailed {
                    path: "/spool/a".to_owned(),
                    reason: "No space left on device".to_owned(),
                },
                "spool_failed",
                "the intervals could not be written to the spool /spool/a: No space left on device",
            ),
            (
                Warning::WallClockOff { ahead_ns: -3_600_000_000_000, error_ns: 20_000_000 },
                "wall_clock_off",
                "the wall clock is 1h (± 20.0 ms) behind that of the controller",
            ),
        ]
    }

    #[test]
    fn every_warning_states_what_was_found_with_its_numbers() {
        for (warning, code, text) in one_of_each() {
            assert_eq!((warning.code(), found(&warning).as_str()), (code, text));
        }
    }

    #[test]
    fn a_warning_about_hosts_names_them_and_has_the_kind_and_the_advice_of_the_warning() {
        let warning = Warning::HostNoisy { steal: 0.031 };
        let on = |hosts: &[&str]| Warning::OnHosts {
            hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
            of: 3,
            warning: Box::new(warning.clone()),
        };
        for (hosts, begins) in [
            (&["a"][..], "on a: "),
            (&["a", "b"], "on a and b: "),
            (&["a", "b", "c"], "on all 3 hosts: "),
        ] {
            assert_eq!(found(&on(hosts)), format!("{begins}{}", found(&warning)));
        }
        assert_eq!((on(&["a"]).code(), advice(&on(&["a"]))), (warning.code(), advice(&warning)));
    }

    #[test]
    fn a_drift_names_its_figure() {
        let thirds = Some([1.5e6, 800e3]);
        let warning = Warning::NotSteady { figure: Figure::ResponseTime, drift: -0.4, thirds };
        let text = found(&warning);
        assert!(text.ends_with("mean response time went from 1.50 ms to 800 µs"), "{text}");
        // An older record without both values.
        let warning =
            Warning::NotSteady { figure: Figure::AchievedRate, drift: -1.414, thirds: None };
        let text = found(&warning);
        assert!(text.ends_with("falls by an amount equal to 141.4 % of the mean"), "{text}");
    }

    #[test]
    fn every_warning_has_complete_sentences() {
        let mut codes = Vec::new();
        for (warning, _, _) in one_of_each() {
            let code = warning.code();
            let Advice { effect, remedy } = advice(&warning);
            for text in [effect, remedy] {
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
