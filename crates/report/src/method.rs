//! The short form of `docs/method.md` in every report; a test compares their headings. A new number
//! gets a line in [`DEFINITIONS`] and a heading there.

use minijinja::{Value, context};

/// The name of each number, which is also a heading of `docs/method.md`, and its definition.
pub const DEFINITIONS: &[(&str, &str)] = &[
    (
        "Window",
        "The complete intervals of the measure phase, without warm-up and cool-down. A run that ended \
         early has fewer intervals.",
    ),
    (
        "Achieved rate",
        "Successful reads and writes in the window per second. An offered rate includes fsyncs and is \
         compared with the rate of all kinds of operation.",
    ),
    ("Throughput", "Bytes moved by those operations per second. 1 MiB is 1,048,576 bytes."),
    (
        "Response time",
        "Time from when an operation was due until it completed: latency including the time spent \
         waiting to be sent. In a closed loop an operation is due when the previous one completes, so \
         response time exceeds service time only by the time to generate and verify data.",
    ),
    (
        "Service time",
        "Time from when an operation was issued until it completed, as this host sees it. The data of \
         a write is generated before it is issued.",
    ),
    (
        "Percentiles",
        "The time that this share of all operations in the window, of all repeats, did not exceed \
         (nearest rank; upper edge of a histogram bucket at most 0.1 % wide). n/a: fewer than ten \
         samples above it.",
    ),
    ("Outstanding", "Operations issued and not completed, averaged over the window."),
    (
        "Uncertainty",
        "Half-width of the 95 % confidence interval (Student's t): from the differences between \
         repeats or, for a single run, between its intervals, corrected for their correlation. For a \
         percentile of a single run: from the share of operations above it in each interval. Above \
         half of the value it is printed as >50 %.",
    ),
    (
        "CPU per operation",
        "User and system time of the whole process in the window per completed operation.",
    ),
    (
        "Schedule delay",
        "Mean response time minus mean service time: how late operations were issued, because all \
         slots were in use or data was being generated or verified. A schedule is overloaded if its \
         backlog grows by more than 1 % of the operations due.",
    ),
    (
        "Little's law",
        "Outstanding must equal achieved rate times service time and, including the backlog, achieved \
         rate times response time. A difference above 2 % is a warning unless operations failed. The \
         second form does not apply if the backlog of an open loop changed over the window.",
    ),
    (
        "Steady state",
        "Between the first and the last third of the window the achieved rate changes by at most 10 % \
         or within its noise; five rounds are within 20 % and their trend line within 10 % (SNIA). \
         In an open loop this also applies to the mean response time.",
    ),
    (
        "Users",
        "Overload is the share of scenarios that could not be started when they were due because the \
         user's earlier one still ran; the first of each user is not counted. A duration is from the \
         start of a scenario to the end of its last operation, think times included. The overload \
         point is between the most users whose overload is tolerated, as for all fewer, and the \
         fewest with more.",
    ),
    (
        "Search",
        "Each run depends on the previous ones: more outstanding operations until throughput has \
         stopped rising, repeats of imprecise load points, then queue depths near the bend; then \
         Poisson arrivals at shares of the highest rate until the target is overloaded.",
    ),
    (
        "Mix",
        "The share of reads among successful reads and writes in the window, compared with the \
         requested share, which every thousand issued operations of a worker match exactly.",
    ),
    (
        "Business metric",
        "Each load point offers a multiple of the streams' rates. It passes if every stream achieves the \
         required share of its offered rate and the response time is within its ceiling, each with the \
         whole confidence interval. The overall response time is the area below the mean response \
         time over the achieved rate, from the origin to the largest passing load point, divided by the \
         highest rate (SPEC SFS).",
    ),
    (
        "Warm-up",
        "Where MSER-5 ends the transient of a run, compared with the planned warm-up. A warning says \
         that the transient changes the mean of the window. The window is not changed.",
    ),
    (
        "Outliers",
        "Intervals more than five scaled median absolute deviations and 10 % from the median, and \
         repeats found by Grubbs' test. Outliers are included in all results.",
    ),
    (
        "Network counters",
        "Bytes that operations moved, compared with the kernel's counters of the NFS mount, the block \
         device or the network interface. If more than 10 % are missing, a client cache \
         answered, and the result is not one of the storage.",
    ),
    (
        "Several hosts",
        "Totals are merged from the hosts' intervals by their numbers: counts are added, and percentiles \
         are those of all samples. All hosts start at one instant; the spread is between the first and \
         the last start, and its error that of the two least known clocks. A lost host is missing from \
         totals from the end of its last interval on.",
    ),
    (
        "Several targets",
        "Each worker sends to one target, and totals are the sums over targets. Percentiles of a total \
         are those of all samples.",
    ),
    (
        "Scaling efficiency",
        "The rate for each host or target over that of the first row. Its interval combines those of \
         both rates.",
    ),
    (
        "Repeatability",
        "Repeats are not repeatable if their achieved rates differ by more than their confidence \
         intervals explain (Welch's analysis of variance, 1 %).",
    ),
    (
        "Latency floor",
        "Mean service time at queue depth 1 of one worker in a closed loop: the latency of an \
         unloaded operation. It requires such a load point.",
    ),
    (
        "Saturation",
        "Whether throughput has stopped rising. Reached: two doublings of the queue depth add less \
         than 5 % each (upper bound), the rate equals a limit that fourcorners set, or an open loop \
         did not meet an offered rate. Not reached: operations do not wait yet. Otherwise \
         inconclusive.",
    ),
    (
        "Knees",
        "The load beyond which response time rises for little gain in rate, by four methods: maximum \
         rate over response time, last point within an objective (twice the latency floor by \
         default), Kneedle, and floor times saturation. In brackets: the range of the load.",
    ),
    (
        "Fitted models",
        "Queueing models whose parameters explain a curve best, with 95 % confidence intervals. Not \
         measured: they hold if the model does. A model fits if it misses the points by at most 5 % \
         (RMS) and none by more than 15 %.",
    ),
    (
        "Charts of curves",
        "Bands and whiskers are 95 % confidence intervals. Dotted: settings and ceilings; \
         dash-dotted: the best fitted model, not measured; ring: the knee by rate over response time.",
    ),
    (
        "Charts over time",
        "A point is one interval, or several combined if a run is long. A cell of a heat map counts \
         the operations of a run by time of completion and response time.",
    ),
    (
        "Verdicts",
        "What limits a curve once throughput has stopped rising. Each limit predicts how the ceiling \
         moves with connections, transfer size, direction and workers, and Bayes' rule weighs it \
         against all load points and prior knowledge. Below 90 % (95 % for several limits together) \
         the answer is \"not enough data\".",
    ),
    (
        "Comparison",
        "The same load points of two experiments: Welch's t test on the values of repeats, a rank \
         test, and Holm's correction for the number of figures. A winner is named only if nothing \
         else differs that is not allowed to.",
    ),
    (
        "Prediction",
        "Bounds of every resource (service demand, known limits) and mean value analysis between \
         them. Parameters are fitted to published figures, and intervals come from the errors of \
         the fit. Nothing is measured.",
    ),
    (
        "Observation",
        "Figures of a trace: an operation that begins where a run of its file ended is sequential; the \
         working set is the distinct blocks of 4 KiB; concurrency is the time in flight over the \
         duration. Nothing is measured.",
    ),
    (
        "Expectations",
        "Published figures in the order of their distance, a sum over what differs. A figure is \
         converted to this configuration by the model's factor for each difference.",
    ),
    (
        "Tuning",
        "The lowest concurrency that reaches a rate: Little's law with the response time at queue \
         depth 1, measured and corrected until one number is sufficient and one less is not, or \
         until throughput has stopped rising below the rate.",
    ),
    (
        "Sizing",
        "Every design that the facts allow: service level, QoS type, kind and number of volumes, size \
         and number of hosts, in whole GiB and KiB/s. Shown are designs that no other beats in cost, \
         spare throughput and number of components.",
    ),
    (
        "Schedule",
        "A volume's limit in each phase is its quota times the throughput per GiB of its level, up to \
         the maximum of its kind. A pool costs its hourly price times its share of the week. After a \
         move to a higher level the next move down waits for the cool-down.",
    ),
    (
        "Conditions",
        "A condition is judged at each load point by the 95 % confidence interval of its value: met \
         or not met if the whole interval is on one side of the bound, otherwise inconclusive. A \
         requirement of the experiment is met where the opposite condition is not. The distance is \
         the deciding value divided by the required one, less 1.",
    ),
    (
        "Hosts and datastores",
        "The number of hosts is the largest of those required for processors, for memory and for \
         vSAN capacity, plus spare hosts of each cluster for failures (one by default). With NFS \
         datastores vSAN does not count. A pool is the smallest with all quotas and throughput. \
         Machines are placed largest first, then exchanged while this relieves the fullest \
         datastore.",
    ),
];

/// The anchor of a heading in `docs/method.md`, as GitHub and GitLab make it: lower case, with
/// hyphens for spaces and without punctuation.
pub fn anchor(name: &str) -> String {
    let kept = name.to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || *c == ' ' || *c == '-');
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Links to definitions on the page.
pub(crate) fn links(names: &[&'static str]) -> Vec<Value> {
    let is_defined = |name: &str| DEFINITIONS.iter().any(|(defined, _)| *defined == name);
    let link = |name: &&'static str| {
        debug_assert!(is_defined(name), "`{name}` is not defined");
        context! { name => *name, anchor => anchor(name) }
    };
    names.iter().map(link).collect()
}

/// Definitions for records with published figures.
const WITH_PUBLISHED: [&str; 2] = ["Prediction", "Expectations"];

/// Definitions for sizing and for traces, which no record uses.
const NOT_MEASURED: [&str; 4] = ["Sizing", "Schedule", "Hosts and datastores", "Observation"];

/// Whether the report of a record may use a definition.
///
/// * `has_published` - the report contains published figures
pub(crate) fn is_of_record(name: &str, has_published: bool) -> bool {
    !NOT_MEASURED.contains(&name) && (has_published || !WITH_PUBLISHED.contains(&name))
}

/// The definitions with these names, as a page takes them.
pub(crate) fn definitions_where(is_used: impl Fn(&str) -> bool) -> Vec<Value> {
    let entry = |(name, definition): &(&str, &str)| {
        context! { name => *name, definition => *definition, anchor => anchor(name) }
    };
    DEFINITIONS.iter().filter(|(name, _)| is_used(name)).map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_are_those_of_github() {
        assert_eq!(anchor("Little's law"), "littles-law");
        assert_eq!(anchor("CPU per operation"), "cpu-per-operation");
    }
}
