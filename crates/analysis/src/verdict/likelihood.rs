//! How well each hypothesis explains what was observed.
//!
//! Observations of one series are treated as independent, each with a likelihood under every
//! hypothesis: the ratios of other series' ceilings to this one's, whether the ceiling equals a
//! known amount, and direct observations of processors, slots and evenness. The numbers here apply
//! to systems in general. They were found on simulated systems with known limits and examined on
//! other simulated and on real ones (`cargo xtask bench judgement`, `docs/reference/limits.md`).
//! `docs/method.md` lists them.

use statistics::distributions::normal_below;

use super::hypothesis::{HYPOTHESES, Hypothesis, Ratio, Use};
use super::known::{Known, KnownLimit};
use super::series::Series;
use super::{Difference, Evidence, Limit};
use crate::estimate::Estimate;
use crate::host_state::HostSummary;
use crate::workload_signature::WorkloadSignature;

/// One value per hypothesis; the last one is for any other limit.
pub(crate) type PerHypothesis = [f64; HYPOTHESES.len() + 1];

/// An observation with its likelihood under each hypothesis.
#[derive(Clone, Debug)]
pub(crate) struct Observation {
    pub(crate) evidence: Evidence,
    /// The load points concerned, as indices into `Findings::load_points`.
    pub(crate) load_points: Vec<usize>,
    pub(crate) likelihoods: PerHypothesis,
}

/// Share of ratios that deviate further from their prediction than its standard error implies.
const LOOSE_SHARE: f64 = 0.10;
/// Standard error of those ratios.
const LOOSE_SIGMA: f64 = 0.10;
/// Probability that another limit applies first although it should be no nearer than before,
/// because of the change.
const OTHER_NEW: f64 = 0.06;
/// Mean distance of the next limit above the present one, as a logarithm: a ceiling predicted to
/// rise rises to that one at most.
const OTHER_ABOVE: f64 = 1.5;
/// Probability that more is measured than a ceiling allows.
const EXCEEDED: f64 = 0.002;
/// Range of ceilings without a prediction, as a logarithm.
const RANGE: f64 = 4.0;
/// Range of unknown amounts, as a logarithm: four decades.
const AMOUNT_RANGE: f64 = 9.2;
/// Probability that a limit given by the user does not apply.
const KNOWN_WRONG: f64 = 0.10;
/// Probability that other clients use part of a shared limit.
const SHARED: f64 = 0.05;
/// Largest part that they use, as a logarithm.
const SHARED_RANGE: f64 = 1.5;
/// Probability that a limit set by this program does not apply.
const CERTAIN_WRONG: f64 = 1e-6;
/// Standard error of an amount compared with a known one, in addition to that of the hypothesis.
const AMOUNT_SIGMA: f64 = 0.01;

/// The observations of `series`, compared with `all` others.
pub(crate) fn observations(series: &Series, all: &[Series], known: &Known) -> Vec<Observation> {
    let mut found = Vec::new();
    let mut add = |observation: Option<(Evidence, PerHypothesis)>, load_points: Vec<usize>| {
        if let Some((evidence, likelihoods)) = observation {
            found.push(Observation { evidence, load_points, likelihoods });
        }
    };
    let top = || vec![series.top_load_point()];
    add(host_processors(series), top());
    add(service_processor(series), top());
    add(client_slots(series, known), top());
    for limit in known.limits_of(&series.signature) {
        add(known_amount(&limit, series, known), top());
    }
    add(slots_in_use(series, known), top());
    add(evenness(series), top());
    add(knee(series), series.load_points.clone());
    for other in all {
        let points = vec![series.top_load_point(), other.top_load_point()];
        add(compared(series, other, known), points);
    }
    found
}

/// The likelihood of every hypothesis from `of`, and `else_` for any other limit.
fn each(of: impl Fn(&Hypothesis) -> f64, else_: f64) -> PerHypothesis {
    let mut values = [else_; HYPOTHESES.len() + 1];
    for (value, hypothesis) in values.iter_mut().zip(&HYPOTHESES) {
        *value = of(hypothesis);
    }
    values
}

/// One likelihood for hypotheses about `limit`, another for the rest.
fn split(limits: &[Limit], these: f64, others: f64) -> PerHypothesis {
    each(|one| if limits.contains(&one.limit) { these } else { others }, others)
}

/// Interpolates linearly in a table whose rows ascend.
fn interpolated(at: f64, table: &[(f64, f64)]) -> f64 {
    let after = table.iter().position(|(x, _)| *x >= at);
    match after {
        None => table[table.len() - 1].1,
        Some(0) => table[0].1,
        Some(after) => {
            let ((x0, y0), (x1, y1)) = (table[after - 1], table[after]);
            y0 + (y1 - y0) * (at - x0) / (x1 - x0)
        }
    }
}

/// Likelihood of a busy share if the processor is the limit, and if it is not.
const BUSY_IF_LIMIT: [(f64, f64); 5] =
    [(0.70, 0.002), (0.85, 0.04), (0.92, 0.3), (0.97, 0.9), (1.0, 0.95)];
const BUSY_IF_NOT: [(f64, f64); 5] =
    [(0.70, 0.9), (0.85, 0.08), (0.92, 0.02), (0.97, 0.002), (0.99, 0.0004)];

/// How busy this host's processors are at the highest rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostPressure {
    /// 1 if no processor time is left for more operations.
    pub(crate) share: f64,
    /// All processors are busy, but not with this process, and it hardly waits for them: it is
    /// unknown whether the kernel works for it.
    pub(crate) is_unclear: bool,
}

/// From this share on, this process uses the processors fully.
const OWN_SHARE: f64 = 0.4;
/// Processors at least this busy have no time left.
const ALL_BUSY: f64 = 0.95;
/// Below this share of waiting the generator hardly waits.
const WAITING_MIN_SHARE: f64 = 0.85;

/// A worker that always runs or waits to run has no time left, whichever process uses the
/// processor. If all processors are busy mostly with this process, its threads (including the
/// service of an emulated volume) limit each other. A control group's quota limits like fewer
/// processors. Processors kept busy by others do not limit threads that sleep.
pub(crate) fn host_pressure(series: &Series) -> Option<HostPressure> {
    let host = series.top.host.as_ref();
    let of = |number: fn(&HostSummary) -> Option<Estimate>| {
        host.and_then(number).map(|estimate| estimate.value.max(0.0))
    };
    let processors = host.and_then(|host| host.processors);
    let process = of(|host| host.process);
    let own = process.zip(processors).map(|(share, count)| share * count);
    // The factor by which threads take longer because they wait for processors.
    let stretch = of(|host| host.run_queue_delay)
        .zip(own.filter(|own| *own > 0.0))
        .map_or(1.0, |(delay, own)| 1.0 + delay / own);
    let stolen = of(|host| host.steal).map_or(0.0, |steal| steal.min(0.9));
    let worker = series.top.worker_busy.map(|busy| busy * stretch / (1.0 - stolen));
    let busy = of(|host| host.busy);
    let filled = busy.zip(process).map(|(busy, own)| busy * (own / OWN_SHARE).min(1.0));
    let quota = own.zip(host.and_then(|host| host.quota)).map(|(own, quota)| own / quota);
    let share = [worker, filled, quota].into_iter().flatten().reduce(f64::max)?.min(1.0);
    let is_unclear = share < WAITING_MIN_SHARE && busy.is_some_and(|busy| busy + stolen > ALL_BUSY);
    Some(HostPressure { share, is_unclear })
}

fn host_processors(series: &Series) -> Option<(Evidence, PerHypothesis)> {
    let pressure = host_pressure(series)?;
    let host = series.top.host.as_ref();
    let others = host.and_then(|host| Some(host.others?.value.max(0.0) * host.processors?));
    let likelihoods = match pressure.is_unclear {
        true => [1.0; HYPOTHESES.len() + 1],
        false => split(
            &[Limit::ClientCpu],
            interpolated(pressure.share, &BUSY_IF_LIMIT),
            interpolated(pressure.share, &BUSY_IF_NOT),
        ),
    };
    Some((Evidence::HostProcessors { busy: pressure.share, others }, likelihoods))
}

/// The processor of the program's own service, if it runs in this process.
fn service_processor(series: &Series) -> Option<(Evidence, PerHypothesis)> {
    let busy = series.top.host.as_ref()?.service_cpu?.value.min(1.0);
    let likelihoods = split(
        &[Limit::ServerCpu],
        interpolated(busy, &BUSY_IF_LIMIT),
        interpolated(busy, &BUSY_IF_NOT),
    );
    Some((Evidence::ServiceProcessor { busy }, likelihoods))
}

/// From this share on, slots count as full.
const SLOTS_FULL: f64 = 0.97;
/// Calls at the highest load over slots, from which on the slots can be full.
const SLOTS_EXCEEDED: f64 = 1.1;
/// Calls that take at most this many times as long as unloaded ones do not wait.
const CALLS_WAIT_NOT: f64 = 1.15;
/// From this factor on, calls wait.
const CALLS_WAIT: f64 = 1.5;

/// Full slots are weak evidence, because slots fill up in front of any other limit. Full slots
/// whose calls take no longer than a single one are the limit.
fn client_slots(series: &Series, known: &Known) -> Option<(Evidence, PerHypothesis)> {
    let slots = known.client_slots?;
    let last = series.measured().next_back()?;
    let calls = series.deepest() * series.calls_per_op() / series.connections();
    if calls <= SLOTS_EXCEEDED * slots {
        let evidence = Evidence::ClientSlots { outstanding: calls.min(slots), slots, full: false };
        return Some((evidence, split(&[Limit::ClientSlots], 0.0, 1.0)));
    }
    let (outstanding, unloaded_s) = (series.top.calls_outstanding?, series.unloaded_s?);
    let full = outstanding >= SLOTS_FULL * slots;
    let rate = last.rate.value.max(series.level());
    let call_s = outstanding * series.connections() / (rate * series.calls_per_op());
    let waiting = call_s / unloaded_s;
    let (slots_are_limit, others) = match full {
        true if waiting < CALLS_WAIT_NOT => (0.9, 0.02),
        true if waiting > CALLS_WAIT => (0.01, 0.6),
        true => (0.2, 0.2),
        false => (0.005, 0.6),
    };
    let evidence = Evidence::ClientSlots { outstanding, slots, full };
    Some((evidence, split(&[Limit::ClientSlots], slots_are_limit, others)))
}

/// Usual numbers of slots in servers.
const SLOT_COUNTS: std::ops::RangeInclusive<i32> = 2..=10;
/// Fewer concurrent requests than this are not full slots.
const SLOTS_MIN: f64 = 0.85;

/// Concurrent requests in the server: a limit of slots is a whole number, usually a power of two.
fn slots_in_use(series: &Series, known: &Known) -> Option<(Evidence, PerHypothesis)> {
    let amount = |uses: Use| {
        let hypothesis = HYPOTHESES.iter().find(|one| one.uses == uses)?;
        hypothesis.amount(series, series.level(), known.null_round_trip_s)
    };
    let per_connection = amount(Use::ServerTimePerConnection)?;
    let total = amount(Use::ServerTime)?;
    let likelihood = |slots: f64| {
        let off = SLOT_COUNTS.map(|power| (slots.log2() - f64::from(power)).abs());
        match off.fold(f64::INFINITY, f64::min) {
            _ if slots < SLOTS_MIN => 0.01,
            off if off < 0.08 => 1.6,
            _ => 0.9,
        }
    };
    let likelihoods = each(
        |one| match one.uses {
            Use::ServerTimePerConnection => likelihood(per_connection),
            Use::ServerTime => likelihood(total),
            _ => 1.0,
        },
        1.0,
    );
    Some((Evidence::ServerSlots { per_connection, total }, likelihoods))
}

/// Variance over mean of counts below which operations complete evenly; 1 is random.
pub(crate) const EVEN_MAX: f64 = 0.1;
/// Above this they complete at random.
const UNEVEN_MIN: f64 = 0.5;

/// How evenly operations complete: evenly behind a limit on the rate of bytes or operations, less
/// evenly behind a limit on work.
fn evenness(series: &Series) -> Option<(Evidence, PerHypothesis)> {
    let dispersion = series.top.dispersion.filter(|_| series.is_reached())?;
    let (works, paces) = match dispersion {
        even if even < EVEN_MAX => (0.2, 0.6),
        uneven if uneven > UNEVEN_MIN => (0.6, 0.25),
        _ => (0.2, 0.15),
    };
    let neither = (works + paces) / 2.0;
    let of = |one: &Hypothesis| match (one.limit, one.uses) {
        // A generator's loop may be as even as a rate limit.
        (Limit::ClientCpu, _) => neither,
        (_, Use::Work(_) | Use::ServerTime | Use::ServerTimePerConnection) => works,
        _ => paces,
    };
    Some((Evidence::Evenness { dispersion }, each(of, neither)))
}

/// Loads within this factor of the knee show its shape.
const NEAR_KNEE: f64 = 2.0;
/// A knee is rounded if rates are below both bounds by more than this share.
const ROUNDED_MIN: f64 = 0.10;
/// Below this share it is sharp.
const SHARP_MAX: f64 = 0.03;

/// The shape of the knee: behind a rate limit operations wait only once the limit is reached;
/// behind a limit on work they queue earlier.
fn knee(series: &Series) -> Option<(Evidence, PerHypothesis)> {
    let (unloaded_s, level) = (series.unloaded_s?, series.level());
    if !series.is_reached() || !series.signature.closed {
        return None;
    }
    let shortfall = |load: f64, rate: f64| {
        let bound = (load / unloaded_s).min(level);
        let near = load / unloaded_s / level;
        (near > 1.0 / NEAR_KNEE && near < NEAR_KNEE).then(|| 1.0 - rate / bound)
    };
    let shortfalls = series.measured().filter_map(|step| shortfall(step.load, step.rate.value));
    let shortfall = shortfalls.reduce(f64::max)?;
    let (works, paces) = match shortfall {
        rounded if rounded > ROUNDED_MIN => (0.6, 0.25),
        sharp if sharp < SHARP_MAX => (0.25, 0.6),
        _ => (0.4, 0.4),
    };
    let of = |one: &Hypothesis| match one.uses {
        Use::Work(_) => works,
        _ => paces,
    };
    Some((Evidence::Knee { shortfall }, each(of, (works + paces) / 2.0)))
}

/// Whether the ceiling equals a known or given amount.
fn known_amount(
    one: &KnownLimit,
    series: &Series,
    known: &Known,
) -> Option<(Evidence, PerHypothesis)> {
    let limit = one.limit;
    let error = series.ceiling().error;
    let wrong = if one.certain { CERTAIN_WRONG } else { KNOWN_WRONG };
    let level = series.level();
    let comparable = |hypothesis: &Hypothesis| {
        hypothesis.limit == limit
            && !matches!(hypothesis.uses, Use::OperationsPerConnection | Use::ServerTime)
    };
    let amount = |hypothesis: &Hypothesis| {
        hypothesis.amount(series, level, known.null_round_trip_s).filter(|_| comparable(hypothesis))
    };
    let likelihood = |hypothesis: &Hypothesis| {
        let unknown = 1.0 / AMOUNT_RANGE;
        let Some(amount) = amount(hypothesis) else { return unknown };
        let model = match hypothesis.uses {
            Use::Sent | Use::Received | Use::Wire | Use::SharedWire => 0.04,
            Use::RoundTripPerConnection | Use::ServerTimePerConnection => 0.08,
            _ => 0.0,
        };
        let sigma = AMOUNT_SIGMA.hypot(error).hypot(model);
        let off = (amount / one.value).ln();
        let is_shared =
            matches!(limit, Limit::VolumeThroughput | Limit::Endpoint | Limit::OperationsPerSecond);
        let shared = if is_shared && !one.certain { SHARED } else { 0.0 };
        let of_others = Component::uniform(-SHARED_RANGE, 0.0, sigma).density(off);
        (1.0 - wrong - shared) * normal(off, sigma) + shared * of_others + wrong * unknown
    };
    let measured =
        HYPOTHESES.iter().filter(|hypothesis| comparable(hypothesis)).find_map(amount)?;
    let evidence =
        Evidence::Known { limit, measured, known: one.value, origin: one.origin.clone() };
    Some((evidence, each(likelihood, 1.0 / AMOUNT_RANGE)))
}

/// The ratio of another series' ceiling to this one's.
fn compared(series: &Series, other: &Series, known: &Known) -> Option<(Evidence, PerHypothesis)> {
    let differences = differences(series, other);
    let (a, b) = (&series.signature, &other.signature);
    // How the cost of one kind of operation on names relates to that of another is unknown.
    let is_unrelated = (a.on_names || b.on_names) && a.kind != b.kind;
    if differences.is_empty() || is_unrelated {
        return None;
    }
    let (here, there) = (series.ceiling(), other.ceiling());
    let (low, high) = ((there.low / here.low).ln(), (there.high / here.low).ln());
    let error = here.error.hypot(there.error);
    let circumstances = Circumstances::of(series, other, known);
    // If the load was enough for the highest predicted ceiling, the measured rate is a ceiling,
    // even if the other series has too few points to show that it is flat.
    let loads = HYPOTHESES.iter().map(|one| needed_load(series, other, circumstances.ratio(one)));
    let needed = loads.flatten().fold(0.0, f64::max);
    let is_ceiling = needed > 0.0 && other.deepest() >= needed && other.is_top_precise();
    let high = if is_ceiling { low } else { high };
    let likelihood = |ratio: Ratio| of_ratio(ratio, low, high, error, circumstances.more_bytes);
    let evidence = Evidence::Compared {
        with: other.name.clone(),
        differences,
        operations: other.level() / series.level(),
        bytes: other.level() * other.top.bytes_per_op / (series.level() * series.top.bytes_per_op),
        reached: other.is_reached(),
    };
    let of = |one: &Hypothesis| likelihood(circumstances.ratio(one));
    Some((evidence, each(of, likelihood(Ratio::Any))))
}

/// The load at which another series of the same operations would reach its predicted ceiling: by
/// Little's law, the load of this series' plateau times the ratio of the ceilings. `None` if that
/// is unknown.
fn needed_load(series: &Series, other: &Series, ratio: Ratio) -> Option<f64> {
    let from = series.steps[series.plateau.from?]?.load;
    let most = match ratio {
        Ratio::Exactly(most, _) | Ratio::Between(_, most) => most,
        Ratio::Any => return None,
    };
    let same_kind = series.signature.kind == other.signature.kind;
    let closed = series.signature.closed && other.signature.closed;
    (same_kind && closed).then_some(from * most.exp())
}

/// Comparison of two series.
pub(crate) struct Circumstances<'a> {
    series: &'a Series,
    other: &'a Series,
    null_round_trip_s: Option<f64>,
    processors: f64,
    /// Logarithm of the other series' transfer size over this one's.
    more_bytes: f64,
}

impl<'a> Circumstances<'a> {
    pub(crate) fn of(series: &'a Series, other: &'a Series, known: &Known) -> Circumstances<'a> {
        Circumstances {
            series,
            other,
            null_round_trip_s: known.null_round_trip_s,
            processors: known.processors.map_or(f64::INFINITY, f64::from),
            more_bytes: more_bytes(&series.signature, &other.signature),
        }
    }

    /// A hypothesis's prediction of the other series' ceiling.
    pub(crate) fn ratio(&self, hypothesis: &Hypothesis) -> Ratio {
        hypothesis.ratio(self.series, self.other, self.null_round_trip_s, self.processors)
    }

    /// The ceiling from which another limit may apply first, and the probability that one does; see
    /// [`next_limit`].
    pub(crate) fn next_limit(&self, ratio: f64) -> (f64, f64) {
        next_limit(ratio, self.more_bytes)
    }

    /// Likelihood of a measured ratio (as a logarithm) with this standard error.
    pub(crate) fn likelihood(&self, ratio: Ratio, measured: f64, error: f64) -> f64 {
        of_ratio(ratio, measured, measured, error, self.more_bytes)
    }
}

/// Logarithm of the second transfer size over the first; operations without data count as a byte.
fn more_bytes(a: &WorkloadSignature, b: &WorkloadSignature) -> f64 {
    (b.transfer_bytes.max(1.0) / a.transfer_bytes.max(1.0)).ln()
}

pub(crate) fn differences(series: &Series, other: &Series) -> Vec<Difference> {
    let (a, b) = (&series.signature, &other.signature);
    let mut found = Vec::new();
    if a.connections != b.connections {
        let of = |connections: Option<u32>| connections.unwrap_or(1);
        found.push(Difference::Connections { from: of(a.connections), to: of(b.connections) });
    }
    // What operations on names move is measured, so it differs by chance.
    let are_planned = !(a.on_names && b.on_names);
    if are_planned && more_bytes(a, b).abs() > 0.01 {
        let (from, to) = (a.transfer_bytes, b.transfer_bytes);
        found.push(Difference::TransferSize { from, to });
    }
    if are_planned && (a.read_share - b.read_share).abs() > 0.01 {
        found.push(Difference::ReadShare { from: a.read_share, to: b.read_share });
    }
    if a.order != b.order {
        found.push(Difference::Order);
    }
    if a.workers != b.workers {
        found.push(Difference::Workers { from: a.workers, to: b.workers });
    }
    if a.volumes != b.volumes {
        found.push(Difference::Volumes { from: a.volumes, to: b.volumes });
    }
    if a.hosts != b.hosts {
        found.push(Difference::Hosts { from: a.hosts, to: b.hosts });
    }
    found
}

/// Likelihood of the other series' ceiling given its prediction.
///
/// A mixture: near the prediction; further from it than its standard error; lower, because another
/// limit applies first; rarely higher. For a known ceiling it is a density, for known bounds the
/// probability that the ceiling is between them; the same kind for all hypotheses.
///
/// * `low`, `high`: bounds of the logarithm of the other series' ceiling over this one's
/// * `error`: standard error of both
fn of_ratio(ratio: Ratio, low: f64, high: f64, error: f64, more_bytes: f64) -> f64 {
    let is_number = high - low < 1e-6;
    let over = |component: Component| match is_number {
        true => component.density(low),
        false => (component.below(high) - component.below(low)).max(0.0),
    };
    let (least, most, model) = match ratio {
        Ratio::Exactly(ratio, model) => (ratio, ratio, model),
        Ratio::Between(least, most) => (least, most, LOOSE_SIGMA),
        Ratio::Any => {
            return over(Component::uniform(-RANGE / 2.0, RANGE / 2.0, error));
        }
    };
    let near = Component::uniform(least, most, model.hypot(error));
    let loose = Component::uniform(least, most, LOOSE_SIGMA.hypot(error).max(near.sigma));
    let new = Component::uniform(least - RANGE / 2.0, least, near.sigma);
    let higher = Component::uniform(most, most + RANGE, near.sigma);
    let (rise, risen) = next_limit(least, more_bytes);
    let rising =
        Component { decay: OTHER_ABOVE, ..Component::uniform(rise, least.max(rise), near.sigma) };
    let as_predicted = (1.0 - OTHER_NEW - EXCEEDED) * (1.0 - risen);
    as_predicted * ((1.0 - LOOSE_SHARE) * over(near) + LOOSE_SHARE * over(loose))
        + (1.0 - OTHER_NEW - EXCEEDED) * risen * over(rising)
        + OTHER_NEW * over(new)
        + EXCEEDED * over(higher)
}

/// The ceiling from which other limits may apply before one predicted to change by `ratio`, and the
/// probability that one does. In operations per second, limits on operations are unchanged, and
/// limits on bytes change inversely with the transfer size.
fn next_limit(ratio: f64, more_bytes: f64) -> (f64, f64) {
    let from = (-more_bytes).min(0.0);
    let room = (ratio - from).max(0.0);
    (from, 1.0 - (-room / OTHER_ABOVE).exp())
}

/// A distribution from `least` to `most`, convolved with a normal one: uniform, or decreasing
/// exponentially from `least`.
#[derive(Clone, Copy, Debug)]
struct Component {
    least: f64,
    most: f64,
    sigma: f64,
    /// Mean of the exponential; infinite if uniform.
    decay: f64,
}

impl Component {
    const fn uniform(least: f64, most: f64, sigma: f64) -> Component {
        Component { least, most, sigma, decay: f64::INFINITY }
    }

    fn density(self, at: f64) -> f64 {
        let Component { least, most, sigma, decay } = self;
        let width = most - least;
        if width < 0.1 * sigma {
            return normal(at - (least + most) / 2.0, sigma);
        }
        let inside = normal_below((at - least) / sigma) - normal_below((at - most) / sigma);
        if decay.is_infinite() {
            return inside / width;
        }
        let from = ((at - least) / decay).max(0.0);
        inside * (-from).exp() / (decay * (1.0 - (-width / decay).exp()))
    }

    fn below(self, at: f64) -> f64 {
        let Component { least, most, sigma, decay } = self;
        if at == f64::INFINITY {
            return 1.0;
        }
        let width = most - least;
        if width < 2.0 * sigma {
            return normal_below((at - (least + most) / 2.0) / sigma.hypot(width / 12f64.sqrt()));
        }
        let share = ((at - least) / width).clamp(0.0, 1.0);
        match decay.is_infinite() {
            true => share,
            false => (1.0 - (-share * width / decay).exp()) / (1.0 - (-width / decay).exp()),
        }
    }
}

fn normal(off: f64, sigma: f64) -> f64 {
    (-0.5 * (off / sigma).powi(2)).exp() / (sigma * std::f64::consts::TAU.sqrt())
}
