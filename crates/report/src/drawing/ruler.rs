//! The range of each axis of a chart and its ticks, the same in a picture and on the page.

use super::ticks::{self, NINES};
use super::{Axis, Chart, Layout, Panel, Scale, Series, Shape};

/// Room on both sides of the data along x, as a share of the axis.
const MARGIN: f64 = 0.04;
/// Up to so many measured loads, each has a tick; otherwise ticks are at round values.
const LOADS_MAX: usize = 12;
/// More labels of a logarithmic axis touch each other in a panel of several below each other.
const LOW_PANEL_TICKS_MAX: usize = 9;
/// Room above bars for their values, as a share of the axis.
const ROOM_FOR_VALUES: f64 = 0.08;

/// The axes of a panel.
pub(crate) struct Rulers {
    pub(crate) x: Ruler,
    pub(crate) y: Ruler,
    pub(crate) right: Option<Ruler>,
}

/// The axes of each panel.
pub(crate) fn rulers(chart: &Chart) -> Vec<Rulers> {
    let of_panel = |(number, panel): (usize, &Panel)| {
        // Small multiples are compared, so they have the same axes.
        let (all, row): (&[Panel], &[Panel]) = match chart.layout {
            Layout::Grid(columns) => {
                (&chart.panels, chart.panels.chunks(columns).nth(number / columns).unwrap_or(&[]))
            }
            Layout::OverTime => (std::slice::from_ref(panel), std::slice::from_ref(panel)),
        };
        let right = panel.right.as_ref();
        let y = Ruler::along_y(&panel.y, &heights(row, false));
        Rulers {
            x: match chart.is_over_time() {
                true => Ruler::of_time(all),
                false => Ruler::along_x(&panel.x, all),
            },
            y: if chart.is_over_time() { y.of_low_panel() } else { y },
            right: right.map(|axis| Ruler::along_y(axis, &heights(row, true))),
        }
    };
    chart.panels.iter().enumerate().map(of_panel).collect()
}

/// An axis with its range.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ruler {
    scale: Scale,
    /// The value at its start.
    pub(crate) first: f64,
    /// The value at its end.
    pub(crate) last: f64,
    /// The values of its ticks, ascending.
    pub(crate) ticks: Vec<f64>,
}

impl Ruler {
    fn new(scale: &Scale, [first, last]: [f64; 2], ticks: Vec<f64>) -> Ruler {
        Ruler { scale: scale.clone(), first, last, ticks }
    }

    /// From the first tick to the last.
    fn between(scale: &Scale, ticks: Vec<f64>) -> Ruler {
        let ends = [ticks[0], ticks[ticks.len() - 1]];
        Ruler::new(scale, ends, ticks)
    }

    /// From the start of a run to its last interval.
    fn of_time(panels: &[Panel]) -> Ruler {
        let [_, max] = ends(&values_of_x(panels), &Scale::Linear).unwrap_or([0.0, 1.0]);
        let mut ticks = ticks::linear(max);
        ticks.retain(|tick| *tick < max);
        ticks.push(max);
        Ruler::between(&Scale::Linear, ticks)
    }

    /// From the lowest to the highest value, so that nothing is drawn where nothing was measured.
    fn along_x(axis: &Axis, panels: &[Panel]) -> Ruler {
        let scale = &axis.scale;
        let values = values_of_x(panels);
        let Some([min, max]) = ends(&values, scale) else {
            return Ruler::of_names_or_one(scale);
        };
        match scale {
            Scale::Names(_) => Ruler::of_names_or_one(scale),
            Scale::Nines => Ruler::between(scale, vec![1.0, max.max(10.0)]),
            Scale::Linear | Scale::Span => {
                let margin =
                    if max > min { (max - min) * MARGIN } else { min.abs().max(1.0) / 2.0 };
                let start = if min >= 0.0 { (min - margin).max(0.0) } else { min - margin };
                let range = [start, max + margin];
                let ticks = within(ticks::spanning(range[0], range[1]), range);
                Ruler::new(scale, range, ticks)
            }
            Scale::Log(base) => {
                let doublings = (max / min).log2().max(2.0);
                let margin = (doublings * MARGIN).exp2();
                let range = [min / margin, max * margin];
                let loads = measured_x(panels, scale);
                let round = || within(ticks::logarithmic(min, max, *base), range);
                let ticks = if loads.len() <= LOADS_MAX { loads } else { round() };
                Ruler::new(scale, range, if ticks.is_empty() { round() } else { ticks })
            }
        }
    }

    /// From 0 on a linear axis; from tick to tick on the others.
    fn along_y(axis: &Axis, values: &[f64]) -> Ruler {
        let scale = &axis.scale;
        let Some([min, max]) = ends(values, scale) else {
            return Ruler::of_names_or_one(scale);
        };
        let ticks = match scale {
            Scale::Names(_) => return Ruler::of_names_or_one(scale),
            Scale::Linear => ticks::linear(max),
            Scale::Span => ticks::spanning(min, max),
            Scale::Log(base) => ticks::logarithmic(min, max, *base),
            Scale::Nines => vec![1.0, max.max(10.0)],
        };
        Ruler::between(scale, ticks)
    }

    /// With few enough ticks for a low panel: between its ends, a logarithmic axis has powers of ten.
    fn of_low_panel(mut self) -> Ruler {
        let is_power = |tick: f64| (tick.log10() - tick.log10().round()).abs() < 1e-9;
        if self.scale == Scale::Log(10) && self.ticks.len() > LOW_PANEL_TICKS_MAX {
            let ends = [self.first, self.last];
            self.ticks.retain(|tick| ends.contains(tick) || is_power(*tick));
        }
        self
    }

    /// The axis of names, or one without values.
    fn of_names_or_one(scale: &Scale) -> Ruler {
        match scale {
            Scale::Names(names) => {
                let ticks = (0..names.len()).map(|n| n as f64).collect();
                Ruler::new(scale, [0.0, names.len() as f64], ticks)
            }
            Scale::Log(_) | Scale::Nines => Ruler::between(scale, vec![1.0, 10.0]),
            Scale::Linear | Scale::Span => Ruler::between(scale, vec![0.0, 1.0]),
        }
    }

    /// The position of a value, from 0 at the start to 1 at the end.
    pub(crate) fn position(&self, value: f64) -> f64 {
        match &self.scale {
            Scale::Linear | Scale::Span => {
                (value - self.first) / (self.last - self.first).max(f64::MIN_POSITIVE)
            }
            Scale::Log(_) | Scale::Nines => {
                let first = self.first.log10();
                (value.max(self.first).log10() - first) / (self.last.log10() - first)
            }
            Scale::Names(names) => (value + 0.5) / names.len() as f64,
        }
    }

    /// The share of the axis for each name.
    pub(crate) fn name_width(&self) -> f64 {
        match &self.scale {
            Scale::Names(names) => 1.0 / names.len().max(1) as f64,
            _ => 0.05,
        }
    }

    /// The divisor of the labels, and its suffix: `16k`. A logarithmic axis spans magnitudes.
    pub(crate) fn magnitude(&self) -> (f64, &'static str) {
        match self.scale {
            Scale::Linear | Scale::Span => ticks::magnitude(self.first.abs().max(self.last.abs())),
            Scale::Log(_) | Scale::Nines | Scale::Names(_) => (1.0, ""),
        }
    }

    /// The values of ticks, and their labels.
    pub(crate) fn labels(&self) -> Vec<(f64, String)> {
        match &self.scale {
            Scale::Names(names) => {
                names.iter().enumerate().map(|(n, name)| (n as f64, name.clone())).collect()
            }
            Scale::Nines => {
                let shown = NINES.iter().filter(|(_, x)| *x <= self.last);
                shown.map(|(name, x)| (*x, (*name).to_owned())).collect()
            }
            Scale::Log(_) => self.ticks.iter().map(|tick| (*tick, ticks::label(*tick))).collect(),
            Scale::Linear | Scale::Span => {
                let labels = ticks::labels(&self.ticks, self.magnitude());
                self.ticks.iter().copied().zip(labels).collect()
            }
        }
    }
}

/// The lowest and the highest value that an axis can show.
fn ends(values: &[f64], scale: &Scale) -> Option<[f64; 2]> {
    let shown = values.iter().copied().filter(|value| scale.has(*value));
    shown.fold(None, |ends, value| match ends {
        None => Some([value, value]),
        Some([min, max]) => Some([value.min(min), value.max(max)]),
    })
}

fn within(mut ticks: Vec<f64>, [first, last]: [f64; 2]) -> Vec<f64> {
    ticks.retain(|tick| (first..=last).contains(tick));
    ticks
}

/// The measured values on the x axis, each once, ascending.
fn measured_x(panels: &[Panel], scale: &Scale) -> Vec<f64> {
    let series = panels.iter().flat_map(|panel| &panel.series).filter(|one| one.is_measured());
    let points = series.flat_map(Series::points).filter(|point| point.y.is_some());
    let mut values: Vec<f64> = points.map(|p| p.x).filter(|x| scale.has(*x)).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

/// Every value on the x axis of some panels.
fn values_of_x(panels: &[Panel]) -> Vec<f64> {
    let mut values = Vec::new();
    for panel in panels {
        for series in &panel.series {
            values.extend(series.points().iter().filter(|p| p.y.is_some()).map(|p| p.x));
            if let Shape::Boxes(boxes) = &series.shape {
                values.extend(boxes.iter().map(|(x, _)| *x));
            }
        }
        values.extend(panel.marks.iter().map(|mark| mark.x));
    }
    values
}

/// Every value on one y axis of some panels, including confidence intervals and named lines; stacked
/// bars are added up.
fn heights(panels: &[Panel], right: bool) -> Vec<f64> {
    let mut heights = Vec::new();
    for panel in panels {
        heights_of(panel, right, &mut heights);
        if !right {
            heights.extend(panel.levels.iter().map(|level| level.y));
            heights.extend(panel.flags.iter().map(|flag| flag.y));
        }
    }
    heights
}

fn heights_of(panel: &Panel, right: bool, heights: &mut Vec<f64>) {
    let scale = panel.right.as_ref().filter(|_| right).map_or(&panel.y.scale, |axis| &axis.scale);
    let mut stacks: Vec<(f64, f64)> = Vec::new();
    for series in panel.series.iter().filter(|s| (s.right && panel.right.is_some()) == right) {
        match &series.shape {
            Shape::Bars { points, stacked: true } => {
                for point in points {
                    let y = point.y.unwrap_or(0.0);
                    match stacks.iter_mut().find(|(x, _)| *x == point.x) {
                        Some((_, height)) => *height += y,
                        None => stacks.push((point.x, y)),
                    }
                }
            }
            Shape::Bars { points, stacked: false } => {
                let tallest = |y: f64| y * (1.0 + ROOM_FOR_VALUES);
                heights.extend(points.iter().filter_map(|p| p.y).map(tallest));
                heights
                    .extend(points.iter().filter_map(|p| p.interval).map(|ends| tallest(ends[1])));
            }
            Shape::Line { points, .. } => {
                heights.extend(points.iter().filter_map(|p| p.y));
                heights.extend(points.iter().filter_map(|p| p.drawn_interval(scale)).flatten());
            }
            Shape::Boxes(boxes) => heights.extend(boxes.iter().flat_map(|(_, five)| *five)),
            Shape::Cells { .. } => {}
        }
    }
    heights.extend(stacks.into_iter().map(|(_, height)| height * (1.0 + ROOM_FOR_VALUES)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawing::{Point, Stroke};

    fn panel(scale: [Scale; 2], points: &[(f64, f64)]) -> Panel {
        let points = points.iter().map(|(x, y)| Point::at(*x, Some(*y))).collect();
        let [x, y] = scale.map(|scale| Axis { name: String::new(), scale });
        let shape = Shape::Line { points, stroke: Stroke::Solid };
        let series = vec![Series { name: "a".to_owned(), right: false, shape }];
        Panel { x, y, series, ..Panel::default() }
    }

    fn grid(panels: Vec<Panel>, columns: usize) -> Vec<Rulers> {
        rulers(&Chart { panels, layout: Layout::Grid(columns), ..Chart::default() })
    }

    #[test]
    fn the_x_axis_begins_at_the_data_with_a_tick_at_each_measured_load() {
        let one = grid(vec![panel([Scale::Log(2), Scale::Linear], &[(3.0, 1.0), (48.0, 9.0)])], 1);
        let x = &one[0].x;
        assert_eq!(x.ticks, [3.0, 48.0]);
        // Four doublings with a margin of 4 % on both sides.
        assert!((x.first - 3.0 / 2f64.powf(0.16)).abs() < 1e-9, "{x:?}");
        assert!((x.position(3.0) - 0.16 / 4.32).abs() < 1e-9, "{x:?}");
    }

    #[test]
    fn a_linear_x_axis_does_not_begin_at_zero_and_a_linear_y_axis_does() {
        let points = [(1_000.0, 500.0), (2_000.0, 600.0)];
        let one = grid(vec![panel([Scale::Linear, Scale::Linear], &points)], 1);
        assert_eq!([one[0].x.first, one[0].x.last], [960.0, 2_040.0]);
        assert!(one[0].x.ticks.iter().all(|tick| (960.0..=2_040.0).contains(tick)));
        assert_eq!(one[0].y.first, 0.0);
    }

    #[test]
    fn small_multiples_share_the_x_axis_and_the_y_axis_of_their_row() {
        let of = |points: &[(f64, f64)]| panel([Scale::Log(2), Scale::Linear], points);
        let four = grid(
            vec![
                of(&[(1.0, 10.0)]),
                of(&[(4.0, 90.0)]),
                of(&[(1.0, 1_000.0)]),
                of(&[(2.0, 7_000.0)]),
            ],
            2,
        );
        assert!(four.windows(2).all(|pair| pair[0].x == pair[1].x));
        assert_eq!(four[0].y, four[1].y);
        assert_eq!(four[2].y, four[3].y);
        assert!(four[0].y.last < four[2].y.last);
    }

    #[test]
    fn a_logarithmic_axis_has_neither_zero_nor_nan() {
        let mut one = panel([Scale::Log(2), Scale::Log(10)], &[(1.0, 100.0), (2.0, 400.0)]);
        if let Shape::Line { points, .. } = &mut one.series[0].shape {
            points[0].interval = Some([-50.0, 250.0]);
            points.push(Point::at(0.0, Some(f64::NAN)));
        }
        let found = &grid(vec![one], 1)[0];
        assert_eq!([found.y.first, found.y.last], [100.0, 500.0]);
        assert!(found.x.first > 0.0);
        assert_eq!(found.y.position(-1.0), 0.0);
    }
}
