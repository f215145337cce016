//! The result at one glance: the answer first, then what an architect needs to act on it. The terminal
//! and the first screen of the report print these strings, so that they cannot disagree.
//!
//! Reading order: [`Glance`], then [`terminal`], which lays it out with a table ([`rows`]) and a line
//! for each curve ([`curves`]).

mod caveats;
mod curves;
mod rows;
mod terminal;

use std::time::Duration;

use analysis::Findings;
use analysis::findings::Note;
use analysis::verdict::Answer;
use units::{Utc, counted, print_whole_seconds};

use crate::emulated;
use crate::look::Tone;
use crate::record::{Record, overrides};
use crate::sections::bottleneck::{by_answer, least_certain};
use crate::sections::{hosts, metric, tune, users};
use crate::verdict::{self, Brief, brief};

use curves::Causes;

pub use caveats::Caveat;
pub use curves::{CurveGlance, OperatingPoint, Saturation};
pub(crate) use terminal::head;
pub use terminal::{Layout, text};

/// Most recommendations.
const RECOMMENDATIONS_MAX: usize = 3;

/// Most workloads whose largest passing value is in the verdict; the section has all.
const METRIC_SENTENCES_MAX: usize = 2;

/// What a reader needs first; everything else is in the full text and in the report.
#[derive(Clone, Debug, PartialEq)]
pub struct Glance {
    /// What was measured: `emulated volume, 1 TiB Ultra`.
    pub title: String,
    /// Experiment, duration and date: `four-corners, 2 min 11 s, 2026-11-22 19:24 UTC`.
    pub context: String,
    /// What the user changed in the experiment.
    pub overrides: Option<String>,
    /// The verdict, at most two sentences, and what it covers if that is a part of the window.
    pub verdict: Vec<String>,
    /// What the verdict means, for its colour.
    pub tone: Tone,
    /// How the experiment ended, if not as planned: interrupted, overloaded, not precise enough.
    pub notes: Vec<String>,
    /// The best curve of each workload variant, in the order of the plan.
    pub curves: Vec<CurveGlance>,
    /// Curves of the experiment that are not in `curves`.
    pub curves_left_out: usize,
    /// What to do, at most three sentences.
    pub recommendations: Vec<String>,
    /// What makes numbers doubtful, at most five, in the order of their letters.
    pub caveats: Vec<Caveat>,
    /// Caveats that are not in `caveats`.
    pub caveats_left_out: usize,
    /// How many hosts measured, and how far apart they started; `None` for one.
    pub hosts: Option<String>,
    /// Whether the service-side counters agree; `None` without them.
    pub service_counters: Option<String>,
    /// Whether the trees are what their operations must have left; empty without operations on names.
    pub trees: Vec<String>,
}

impl Glance {
    /// The glance at a record; `None` if nothing was measured.
    pub fn of(record: Record<'_>) -> Option<Glance> {
        let findings = record.findings;
        if findings.load_points.is_empty() {
            return None;
        }
        let Brief { mut sentences, mut tone, is_one_answer } = match &findings.tune {
            Some(tune) => tune::verdict::brief(findings, tune),
            None => brief(findings),
        };
        if let Some(found) = &findings.metric {
            // The metric is the question; what limits it is one sentence more.
            sentences.truncate(1);
            sentences.splice(0..0, metric::brief(findings, METRIC_SENTENCES_MAX));
            tone = if metric::is_known(found) { Tone::Good } else { Tone::Warning };
        }
        let of_users = findings.curves.iter();
        let of_users: Vec<String> =
            of_users.filter_map(|curve| users::overload_point(findings, curve)).collect();
        if !of_users.is_empty() {
            // The overload point is the question of a population.
            sentences.splice(0..0, of_users);
            tone = if users::is_known(findings) { Tone::Good } else { Tone::Warning };
        }
        let (caveats, caveats_left_out) = caveats::caveats(findings);
        let curves = &findings.summary.curves;
        let causes = if is_one_answer { Causes::InVerdict } else { Causes::Each };
        Some(Glance {
            title: findings.target.clone(),
            context: context(findings),
            overrides: overrides(findings),
            verdict: sentences,
            tone: if is_failed(findings) { Tone::Bad } else { tone },
            notes: notes(findings),
            curves: curves.iter().map(|one| CurveGlance::of(findings, one, causes)).collect(),
            curves_left_out: findings.summary.curves_left_out,
            // The answer of a tuning says what to do.
            recommendations: match &findings.tune {
                Some(_) => Vec::new(),
                None => recommendations(findings, is_one_answer),
            },
            caveats,
            caveats_left_out,
            hosts: findings.fleet.as_ref().map(hosts::introduction),
            service_counters: emulated::service_counters_in_brief(findings),
            trees: crate::trees::sentences(findings),
        })
    }
}

/// `four-corners, 2m11s, 2026-11-22 19:24 UTC`
fn context(findings: &Findings) -> String {
    let lasted = print_whole_seconds(Duration::from_nanos(findings.duration_ns));
    let utc = Utc::from_unix_ms(findings.started_unix_ms);
    let started = format!("{} {:02}:{:02} UTC", utc.date(), utc.hour, utc.minute);
    format!("{}, {lasted}, {started}", findings.name)
}

fn is_failed(findings: &Findings) -> bool {
    findings.notes.iter().any(|note| matches!(note, Note::Failed { .. } | Note::Aborted))
}

/// How the experiment ended, if not as planned.
fn notes(findings: &Findings) -> Vec<String> {
    // The details of a failure are in the full text.
    let first_line = |note: &Note| {
        let words = verdict::words::note(note);
        words.lines().next().unwrap_or_default().to_owned()
    };
    let mut notes: Vec<String> = findings.notes.iter().map(first_line).collect();
    if findings.is_overloaded() {
        notes.push("Overloaded: the offered rate exceeded what the target sustains.".to_owned());
    }
    match findings.not_converged() {
        0 => {}
        wide => notes.push(format!(
            "{wide} of {} did not reach the precision of --until after the maximum number of \
             repeats (run.repeats_max).",
            counted(findings.load_points.len() as u64, "load point")
        )),
    }
    notes
}

/// The first remedy for each limit, and the experiment that would tell more where the answer is open.
fn recommendations(findings: &Findings, is_one_answer: bool) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    for same in by_answer(findings) {
        let least = least_certain(&same);
        let sentence = match &least.answer {
            // The verdict has the next command already.
            Answer::NotEnoughData(_) if is_one_answer => None,
            Answer::NotEnoughData(_) => verdict::next_command(findings, least),
            Answer::Limited { .. } | Answer::NotReached => {
                verdict::advice(findings, least).into_iter().next()
            }
        };
        sentences.extend(sentence.filter(|one| !sentences.contains(one)));
    }
    sentences.truncate(RECOMMENDATIONS_MAX);
    sentences
}
