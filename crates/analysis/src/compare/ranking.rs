//! Ranking of three or more systems, as far as they differ.

use statistics::holm::holm;

use super::figure::Figure;
use super::figures::{self, Design, FigureComparison, Verdict};
use super::host_use;
use super::side::{PointSide, Sample, Side};
use super::{Options, name_of_all};

/// Ranking of the sides by one main figure of one load point.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// The load point's label.
    pub load_point: String,
    /// The figure.
    pub figure: Figure,
    /// The best first.
    pub ranks: Vec<RankedSide>,
}

/// One side's rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankedSide {
    /// Index of the side among the comparison's sides.
    pub side: usize,
    /// Mean of its repeats.
    pub value: f64,
    /// One more than the number of sides that are significantly better. Sides without a significant
    /// difference may share a rank.
    pub rank: usize,
}

/// Comparisons of all pairs of sides for one load point and figure.
struct Field {
    load_point: String,
    figure: Figure,
    values: Vec<f64>,
    /// `(first, second, their comparison)`.
    duels: Vec<(usize, usize, FigureComparison)>,
}

/// The rankings of the load points that all sides have, with one error rate over all tests.
pub(super) fn rankings(sides: &[Side], options: &Options) -> Vec<Ranking> {
    let mut fields: Vec<Field> =
        sides[0].points.iter().flat_map(|point| fields(sides, point, options)).collect();
    let mut tests: Vec<&mut FigureComparison> = fields
        .iter_mut()
        .flat_map(|field| field.duels.iter_mut().map(|(_, _, duel)| duel))
        .filter(|duel| duel.p.is_some() && duel.basis.between_runs())
        .collect();
    let p: Vec<f64> = tests.iter().filter_map(|duel| duel.p).collect();
    for (duel, adjusted) in tests.iter_mut().zip(holm(&p)) {
        duel.p_adjusted = Some(adjusted);
    }
    fields.into_iter().map(|field| ranking(field, options)).collect()
}

fn fields(sides: &[Side], point: &PointSide, options: &Options) -> Vec<Field> {
    let of_side = |side: &'_ Side| -> Option<usize> {
        let same = |p: &PointSide| p.variant == point.variant && p.parameters == point.parameters;
        side.points.iter().position(same)
    };
    let Some(indices) = sides.iter().map(of_side).collect::<Option<Vec<usize>>>() else {
        return Vec::new();
    };
    let main = point.subjects.iter().take(1).flat_map(|subject| &subject.samples);
    main.filter(|sample| sample.main)
        .filter_map(|wanted| {
            let sample = |side: usize| -> Option<&Sample> {
                let subject = sides[side].points[indices[side]].subjects.first()?;
                subject.samples.iter().find(|sample| sample.figure == wanted.figure)
            };
            let samples: Vec<&Sample> = (0..sides.len()).map(sample).collect::<Option<_>>()?;
            let values = samples.iter().map(|s| s.mean()).collect::<Option<Vec<f64>>>()?;
            let host = |side: usize| sides[side].points[indices[side]].host;
            let mut duels = Vec::new();
            for first in 0..sides.len() {
                for second in first + 1..sides.len() {
                    let design = Design::of(&sides[first], &sides[second]);
                    let (a, b) = (samples[first], samples[second]);
                    let mut duel = figures::compared(a, b, design, options.run_to_run);
                    let (a, b) = (host(first), host(second));
                    duel.host_differs = host_use::contrast(a, b).is_some();
                    let lost = |side: usize| sides[side].points[indices[side]].missing_hosts();
                    duel.hosts_lost = lost(first).or(lost(second)).is_some();
                    duels.push((first, second, duel));
                }
            }
            let of_sides = indices.iter().zip(sides).map(|(index, side)| &side.points[*index]);
            let load_point = name_of_all(&of_sides.enumerate().collect::<Vec<_>>());
            Some(Field { load_point, figure: wanted.figure, values, duels })
        })
        .collect()
}

fn ranking(field: Field, options: &Options) -> Ranking {
    let mut better_than = vec![0; field.values.len()];
    for (first, second, duel) in &field.duels {
        match figures::verdict(duel, options.resolution) {
            Verdict::Better => better_than[*first] += 1,
            Verdict::Worse => better_than[*second] += 1,
            Verdict::NoDifference | Verdict::CannotTell(_) => {}
        }
    }
    let each = field.values.iter().zip(better_than).enumerate();
    let mut ranks: Vec<RankedSide> = each
        .map(|(side, (value, better))| RankedSide { side, value: *value, rank: better + 1 })
        .collect();
    let more_is_better = field.figure.more_is_better();
    ranks.sort_by(|a, b| {
        let by_value = a.value.total_cmp(&b.value);
        a.rank.cmp(&b.rank).then(if more_is_better { by_value.reverse() } else { by_value })
    });
    Ranking { load_point: field.load_point, figure: field.figure, ranks }
}
