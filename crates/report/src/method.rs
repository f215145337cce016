//! The short form of `docs/method.md` that every report carries; a test holds their headings
//! together. A new number gets its line in [`DEFINITIONS`] and its heading there.

use minijinja::{Value, context};

/// A number's name, which is also a heading of `docs/method.md`, and its definition.
pub const DEFINITIONS: &[(&str, &str)] = &[
    (
        "Window",
        "The whole intervals of the measure phase. Warm-up and cool-down do not count; a run that \
         ended early gives the intervals it has.",
    ),
    (
        "Achieved rate",
        "Reads and writes that succeeded in the window, divided by its length. An offered rate \
         counts fsyncs too, and is compared with the rate of all kinds together.",
    ),
    ("Throughput", "Bytes moved by them, divided by the same time. 1 MiB is 1,048,576 bytes."),
    (
        "Response time",
        "From the instant at which an operation was due to its completion: what a user of the \
         storage feels. In a closed loop an operation is due when the one before it completes, so \
         it differs from the service time by the making and checking of data only.",
    ),
    (
        "Service time",
        "From the issue of an operation to its completion, as this host sees it. The data of a \
         write is made before it is issued.",
    ),
    (
        "Percentiles",
        "The time that this share of all operations of the window, of all repeats, did not exceed \
         (nearest rank, upper edge of a histogram bucket at most 0.1 % wide). With fewer than ten \
         samples above it a percentile is not given.",
    ),
    (
        "Outstanding",
        "Operations issued and not completed: their time integral over the window, divided by its \
         length.",
    ),
    (
        "Uncertainty",
        "Half-width of the 95 % interval (Student t). With repeats: from the differences between \
         them. With a single run: from its intervals, whose number is reduced by the correlation \
         of neighbours. Of a percentile in a single run: from the share of operations above it in \
         each interval. Above half of the value only that is printed.",
    ),
    (
        "CPU per operation",
        "User and system time of the whole process over the window, divided by all operations \
         completed in it.",
    ),
    (
        "Schedule delay",
        "Response time minus service time on average: how late operations were issued, because \
         every slot was taken or because the generator made or checked data. A schedule whose \
         backlog grows by more than a hundredth of the operations due is called overloaded.",
    ),
    (
        "Little's law",
        "Outstanding must equal achieved rate times service time; with the backlog, achieved rate \
         times response time. A difference above 2 % is a warning, except where operations failed; \
         the second form does not hold where the backlog of an open loop changed over the window.",
    ),
    (
        "Steady state",
        "From the first third of the window to the last the achieved rate changes by at most 10 %, \
         or by no more than its noise, and five rounds lie within 20 % and their line within 10 % \
         (SNIA); in an open loop the mean response time too.",
    ),
    (
        "Search",
        "Runs decided from those before: more outstanding operations each time until throughput \
         has stopped rising, imprecise points again, then depths between where the curve bends; then \
         Poisson arrivals at shares of the largest rate found, until one is more than the target \
         takes.",
    ),
    (
        "Mix",
        "Reads among the reads and writes that succeeded in the window, beside the share asked \
         for. Every thousand operations of a worker hold it exactly when they are issued.",
    ),
    (
        "Warm-up",
        "Where MSER-5 cuts the run's intervals, beside the planned warm-up. A warning where the \
         transient reaches into the window and changes its mean; the window stays the plan's.",
    ),
    (
        "Outliers",
        "Intervals more than five scaled median absolute deviations and 10 % from the median, and \
         repeats that Grubbs' test names. They are counted in every figure.",
    ),
    (
        "Wire",
        "Bytes that operations moved beside those that the kernel counted at the NFS mount, the \
         block device or the network interface. Where more than 10 % are missing, a cache of this \
         host answered, and the figure is not one of the storage.",
    ),
    (
        "Repeats disagree",
        "Repeats whose achieved rates differ by more than their intervals explain (Welch's \
         analysis of variance, 1 %).",
    ),
    (
        "Floor",
        "The mean service time at queue depth 1 of one worker in a closed loop: an operation that \
         is alone. Without such a load point there is none.",
    ),
    (
        "Saturation",
        "Whether throughput has stopped rising. Reached where two doublings of the queue depth \
         bring less than 5 % each (upper bound), where the rate equals a limit that fourcorners set, or in \
         an open loop where an offered rate could not be kept. Not reached where operations do not \
         wait yet. Anything else is inconclusive.",
    ),
    (
        "Knees",
        "The load from which response time pays for little rate, by the largest rate over response \
         time, by the last point within an objective (twice the floor unless one is given), by \
         Kneedle, and by floor times saturation. In brackets: the least and the largest load that \
         it may be.",
    ),
    (
        "Fitted models",
        "Models of queueing whose parameters explain a curve best, with 95 % confidence intervals. \
         Not measured: they hold if the model does. A model fits if it misses the points by at \
         most 5 %, and none by more than 15 %.",
    ),
    (
        "Charts of curves",
        "Bands and whiskers are 95 % intervals; dotted are settings and the ceilings of limits \
         that were found, dash-dotted the model that fits best, which was not measured; a ring is \
         the knee by rate over response time.",
    ),
    (
        "Charts over time",
        "A point is one interval, or several neighbouring ones taken together where a run is long. \
         A heat map has every operation of its run in one cell, by when it completed and how long \
         it took.",
    ),
    (
        "Verdicts",
        "What limits a curve, where throughput has stopped rising: each cause predicts how the \
         ceiling moves with connections, transfer size, direction and workers, and is weighed by \
         Bayes' rule against all load points and what is known beforehand. Below 90 % (95 % for \
         several causes together) the answer is \"not enough data\".",
    ),
    (
        "Comparison",
        "The same load points of two experiments, figure by figure: Welch's t on the repeats' \
         values, a test by ranks beside it, and Holm's correction for the number of figures. A \
         winner is named only where nothing else differs that was not allowed to.",
    ),
    (
        "Prediction",
        "Bounds of every part (demand of an operation, limits that are known) and mean value \
         analysis between them; the parts' numbers are fitted to published figures, and intervals \
         come from how far off the fit is. Nothing of it was measured here.",
    ),
    (
        "Expectations",
        "Published figures by their distance: a sum over what differs, by which they are ordered \
         and nothing else. What a figure comes to here is its number times what the model makes of \
         each difference in turn.",
    ),
    (
        "Tuning",
        "The least concurrency that reaches a rate: Little's law from the response time of one \
         operation at a time, measured and corrected until one number is enough and one less is \
         not, or until throughput has stopped rising below it.",
    ),
    (
        "Sizing",
        "Every design that the facts allow: level, QoS type, kind and number of volumes, size and \
         number of hosts. Quotas and limits are whole GiB and KiB/s, so nothing is rounded. Shown are \
         those that no other beats in cost, spare throughput and number of things to run.",
    ),
    (
        "Schedule",
        "A volume's limit in each phase is its quota times what the level gives for each GiB, up \
         to the most that a volume of its kind gets. A pool is paid by the hour at the size that it has: its price times the share of the \
         week. After a move to a higher level the next move down waits for the cool-down.",
    ),
    (
        "Hosts and datastores",
        "Hosts are the most of those by processors, by memory and by what vSAN can hold, each sum \
         divided by what one host has. On top of the first two some of each cluster are kept free \
         for hosts that fail (one, unless asked otherwise). Beside datastores on files vSAN does \
         not count. A pool is the least that holds all quotas and gives all throughput; machines \
         are placed longest first, then exchanged while the fullest datastore gains by it.",
    ),
];

/// The heading's anchor in `docs/method.md`, as GitHub and GitLab make it: lower case, spaces as
/// hyphens, punctuation left out.
pub fn anchor(name: &str) -> String {
    let kept = name.to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || *c == ' ' || *c == '-');
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Links to definitions on the page.
pub(crate) fn links(names: &[&'static str]) -> Vec<Value> {
    let known = |name: &str| DEFINITIONS.iter().any(|(defined, _)| *defined == name);
    let link = |name: &&'static str| {
        debug_assert!(known(name), "`{name}` is linked to and not defined");
        context! { name => *name, anchor => anchor(name) }
    };
    names.iter().map(link).collect()
}

/// What stands beside a record where published figures do.
const BESIDE: [&str; 2] = ["Prediction", "Expectations"];

/// What is bought, of which no record says anything.
const NOT_MEASURED: [&str; 3] = ["Sizing", "Schedule", "Hosts and datastores"];

/// Whether a record may show what is defined.
///
/// * `published` - published figures and what a model says stand beside it
pub(crate) fn is_of_record(name: &str, published: bool) -> bool {
    !NOT_MEASURED.contains(&name) && (published || !BESIDE.contains(&name))
}

/// The definitions of what a record may show.
///
/// * `published` - as for [`is_of_record`]
pub(crate) fn definitions(published: bool) -> Vec<Value> {
    definitions_where(|name| is_of_record(name, published))
}

/// The definitions whose name is `wanted`, as a page shows them.
pub(crate) fn definitions_where(wanted: impl Fn(&str) -> bool) -> Vec<Value> {
    let entry = |(name, words): &(&str, &str)| {
        context! { name => *name, words => *words, anchor => anchor(name) }
    };
    DEFINITIONS.iter().filter(|(name, _)| wanted(name)).map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_are_those_that_a_reader_of_markdown_makes() {
        assert_eq!(anchor("Little's law"), "littles-law");
        assert_eq!(anchor("CPU per operation"), "cpu-per-operation");
    }
}
