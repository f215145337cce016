//! A chart as data: axes, series and captions, in the units shown. It is drawn as options for
//! ECharts on the page ([`echarts`]), as a picture for slides ([`svg`]), and as a table for readers
//! who cannot see it ([`numbers`]), so all three show the same.
//!
//! For: positions, names, numbers. Not for: what the numbers mean.

pub(crate) mod echarts;
pub(crate) mod numbers;
#[cfg(feature = "png")]
pub mod png;
pub(crate) mod ruler;
pub(crate) mod sparkline;
pub(crate) mod svg;
mod symbol;
pub(crate) mod text_width;
pub mod theme;
pub(crate) mod ticks;

use crate::table::Table;

/// One panel, or several.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// The name of a file with it, without extension: lower case, digits and hyphens.
    pub name: String,
    /// A few words, for the head of a slide.
    pub title: String,
    /// What it shows, in a sentence: the caption, also read by screen readers.
    pub caption: String,
    /// Its panels, in reading order.
    pub panels: Vec<Panel>,
    /// How several panels are arranged.
    pub layout: Layout,
    /// Names with a colour and symbol that they have in every chart, by index; the other names use
    /// the indices that remain, in order.
    pub colours: Vec<(String, usize)>,
    /// The numbers for readers who cannot see it.
    pub alternative: Alternative,
}

/// How several panels are arranged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// Below each other, over the same time.
    #[default]
    OverTime,
    /// Small multiples: rows of this many panels. All have the same x axis, those of a row the same
    /// y axis.
    Grid(usize),
}

/// Where the numbers of a chart are found as text.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Alternative {
    /// A table made of the chart's own points.
    #[default]
    OwnPoints,
    /// A more precise table.
    Given(Table),
    /// The caption: a table would have too many points, which the export has.
    Caption,
}

/// Series on a pair of axes, or on three.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// What distinguishes it from the other panels; empty if nothing does.
    pub title: String,
    /// From left to right.
    pub x: Axis,
    /// On the left, from bottom to top.
    pub y: Axis,
    /// On the right, for a second quantity.
    pub right: Option<Axis>,
    /// What is drawn, the first at the bottom.
    pub series: Vec<Series>,
    /// Named vertical lines.
    pub marks: Vec<Mark>,
    /// Named horizontal lines.
    pub levels: Vec<Level>,
    /// Named points.
    pub flags: Vec<Flag>,
    /// Ranges of x that are not part of the result.
    pub shades: Vec<[f64; 2]>,
    /// The quantity of [`Point::load`], such as `queue depth`.
    pub load: String,
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// Quantity and unit.
    pub name: String,
    /// How values map to positions.
    pub scale: Scale,
}

/// How values map to positions on an axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Scale {
    /// Linear, from 0; along x from the lowest value.
    #[default]
    Linear,
    /// Linear, over the values only: for differences.
    Span,
    /// Logarithmic with this base.
    Log(u32),
    /// One position for each name; a value is a name's index.
    Names(Vec<String>),
    /// Percentiles, with every further nine at the same distance; a value is `1 / (1 - fraction)`.
    Nines,
}

/// Shapes of one name, which have one colour.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The name in the legend.
    pub name: String,
    /// Whether it uses the right axis.
    pub right: bool,
    /// What is drawn.
    pub shape: Shape,
}

/// How a series is drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Points joined in order; one without y is a gap.
    Line {
        /// The points.
        points: Vec<Point>,
        /// The style of the line.
        stroke: Stroke,
    },
    /// A bar for each name of the x axis.
    Bars {
        /// Name index, height and confidence interval of each bar.
        points: Vec<Point>,
        /// On top of the series before it, instead of next to it.
        stacked: bool,
    },
    /// A heat map.
    Cells {
        /// Column, row and value of each cell.
        cells: Vec<(usize, usize, f64)>,
        /// What the darkest and the brightest colour are: 0, and the largest value.
        ends: [String; 2],
    },
    /// The spread of repeats: x, and minimum, quartiles and maximum.
    Boxes(Vec<(f64, [f64; 5])>),
}

/// A point of a series.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// The value on the x axis.
    pub x: f64,
    /// The value on the y axis; `None` where there is no number.
    pub y: Option<f64>,
    /// The ends of the 95 % confidence interval of y.
    pub interval: Option<[f64; 2]>,
    /// The load at which it was measured, if that is not x.
    pub load: Option<f64>,
}

/// The style of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stroke {
    /// Measured, with a symbol at each point.
    #[default]
    Solid,
    /// Measured: the 99th percentile next to the mean, thinner and with smaller symbols.
    Thin,
    /// Not measured: a fitted model, or the rates that a plan offers.
    Model,
    /// No line: a ring around each point, which belongs to another series.
    Rings,
    /// No line: separate points, such as published figures.
    Points,
    /// `Points` for the 99th percentile.
    ThinPoints,
    /// Measured, with too many points for symbols.
    Plain,
    /// `Plain` for the 99th percentile.
    PlainThin,
}

impl Stroke {
    /// The width of the line, in pixels.
    pub(crate) const fn width(self) -> f64 {
        match self {
            Stroke::Solid | Stroke::Plain | Stroke::Model => 2.5,
            Stroke::Thin | Stroke::PlainThin => 1.25,
            Stroke::Rings | Stroke::Points | Stroke::ThinPoints => 0.0,
        }
    }

    /// The size of its symbols relative to those of a solid line; `None` without symbols.
    pub(crate) const fn symbol_scale(self) -> Option<f64> {
        match self {
            Stroke::Solid | Stroke::Points => Some(1.0),
            Stroke::Thin | Stroke::ThinPoints => Some(0.6),
            Stroke::Model | Stroke::Rings | Stroke::Plain | Stroke::PlainThin => None,
        }
    }

    /// Whether its points are joined.
    pub(crate) const fn is_joined(self) -> bool {
        !matches!(self, Stroke::Rings | Stroke::Points | Stroke::ThinPoints)
    }

    /// Whether it shows the 99th percentile.
    pub(crate) const fn is_p99(self) -> bool {
        matches!(self, Stroke::Thin | Stroke::ThinPoints | Stroke::PlainThin)
    }

    /// Whether its points were measured.
    pub(crate) const fn is_measured(self) -> bool {
        !matches!(self, Stroke::Model | Stroke::Rings)
    }
}

/// A dashed vertical line.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// The text next to it.
    pub name: String,
    /// Its value on the x axis.
    pub x: f64,
}

/// A dashed horizontal line: a setting, a limit or a target, which was not measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// The text next to it.
    pub name: String,
    /// Its value on the left y axis.
    pub y: f64,
}

/// A named point.
#[derive(Clone, Debug, PartialEq)]
pub struct Flag {
    /// The text next to it.
    pub name: String,
    /// Its value on the x axis.
    pub x: f64,
    /// Its value on the left y axis.
    pub y: f64,
}

impl Series {
    /// Whether it shows measurements; models are explained in the caption.
    pub(crate) fn is_measured(&self) -> bool {
        match &self.shape {
            Shape::Line { stroke, .. } => stroke.is_measured(),
            Shape::Bars { .. } | Shape::Cells { .. } | Shape::Boxes(_) => true,
        }
    }

    /// Whether it shows the 99th percentile next to the mean.
    pub(crate) fn is_p99(&self) -> bool {
        matches!(&self.shape, Shape::Line { stroke, .. } if stroke.is_p99())
    }

    /// Its points; none if it has other shapes.
    pub(crate) fn points(&self) -> &[Point] {
        match &self.shape {
            Shape::Line { points, .. } | Shape::Bars { points, .. } => points,
            Shape::Cells { .. } | Shape::Boxes(_) => &[],
        }
    }
}

impl Chart {
    /// The names of all series, each once, in order, with the indices of their colours and symbols.
    pub(crate) fn names(&self) -> Vec<(&str, usize)> {
        let fixed = |name: &str| self.colours.iter().find(|(known, _)| known == name);
        let mut free = (0..).filter(|index| !self.colours.iter().any(|(_, used)| used == index));
        let mut names: Vec<(&str, usize)> = Vec::new();
        for series in self.panels.iter().flat_map(|panel| &panel.series) {
            let name = series.name.as_str();
            if names.iter().any(|(known, _)| *known == name) {
                continue;
            }
            let index = match fixed(name) {
                Some((_, index)) => *index,
                None => free.next().unwrap_or_default(),
            };
            names.push((name, index));
        }
        names
    }

    /// The names in the legend: those that are no title of a panel.
    pub(crate) fn legend(&self) -> Vec<(&str, usize)> {
        let is_title = |name: &str| self.panels.iter().any(|panel| panel.title == name);
        self.names().into_iter().filter(|(name, _)| !is_title(name)).collect()
    }

    /// Whether it shows one run over time.
    pub(crate) fn is_over_time(&self) -> bool {
        self.panels.len() > 1 && self.layout == Layout::OverTime
    }

    /// Whether it has several rows of panels.
    pub(crate) fn is_tall(&self) -> bool {
        match self.layout {
            Layout::OverTime => self.panels.len() > 1,
            Layout::Grid(columns) => self.panels.len() > columns,
        }
    }

    /// Whether it shows at least one measured number.
    pub(crate) fn has_measurements(&self) -> bool {
        let mut measured =
            self.panels.iter().flat_map(|panel| &panel.series).filter(|one| one.is_measured());
        measured.any(|series| match &series.shape {
            Shape::Line { points, .. } | Shape::Bars { points, .. } => {
                points.iter().any(|p| p.y.is_some())
            }
            Shape::Cells { cells, .. } => !cells.is_empty(),
            Shape::Boxes(boxes) => !boxes.is_empty(),
        })
    }
}

impl Axis {
    /// The unit in its name: `MiB/s` of `throughput, MiB/s`.
    pub(crate) fn unit(&self) -> &str {
        self.name.rsplit_once(", ").map_or("", |(_, unit)| unit)
    }
}

impl Point {
    /// A point without a confidence interval.
    pub(crate) const fn at(x: f64, y: Option<f64>) -> Point {
        Point { x, y, interval: None, load: None }
    }

    /// A point with the half-width of its confidence interval.
    pub(crate) fn with_half_width(x: f64, y: Option<f64>, half: Option<f64>) -> Point {
        let interval = y.zip(half).map(|(y, half)| [y - half, y + half]);
        Point { x, y, interval, load: None }
    }

    /// Its interval as drawn on an axis: where the axis has no lower end, as a logarithmic one has
    /// no zero, from the value itself, so that nothing runs off the frame.
    pub(crate) fn drawn_interval(&self, scale: &Scale) -> Option<[f64; 2]> {
        let (y, [low, high]) = self.y.zip(self.interval)?;
        Some([if scale.has(low) { low } else { y }, high])
    }
}

/// The confidence intervals of a line as a band, `[x, low, high]` from left to right. `None` if the
/// points do not ascend along a numeric axis, or one has no interval or one that the y axis cannot
/// show; whiskers show them then.
pub(crate) fn band(x: &Axis, y: &Scale, points: &[Point]) -> Option<Vec<[f64; 3]>> {
    let ascending = points.windows(2).all(|pair| pair[0].x < pair[1].x);
    if points.len() < 2 || !ascending || matches!(x.scale, Scale::Names(_)) {
        return None;
    }
    let edges = |p: &Point| {
        let [low, high] = p.interval.filter(|_| p.y.is_some())?;
        y.has(low).then_some([p.x, low, high])
    };
    points.iter().map(edges).collect()
}

impl Scale {
    /// Whether the axis can show a value.
    pub(crate) fn has(&self, value: f64) -> bool {
        match self {
            Scale::Linear | Scale::Span => value.is_finite(),
            Scale::Log(_) | Scale::Nines => value.is_finite() && value > 0.0,
            Scale::Names(names) => value >= 0.0 && value < names.len() as f64,
        }
    }
}

/// Four significant digits, finer than a chart can show.
pub(crate) fn round(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let scale = 10f64.powi(3 - value.abs().log10().floor() as i32);
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_that_a_logarithmic_axis_cannot_show_is_whiskers_that_begin_at_the_value() {
        let x = Axis { name: String::new(), scale: Scale::Log(2) };
        let point = |x: f64, half: f64| Point::with_half_width(x, Some(100.0), Some(half));
        let wide = [point(1.0, 20.0), point(2.0, 130.0)];
        assert_eq!(band(&x, &Scale::Log(10), &wide), None);
        assert_eq!(wide[1].drawn_interval(&Scale::Log(10)), Some([100.0, 230.0]));
        assert_eq!(wide[1].drawn_interval(&Scale::Linear), Some([-30.0, 230.0]));
        let narrow = band(&x, &Scale::Log(10), &[point(1.0, 20.0), point(2.0, 10.0)]);
        assert_eq!(narrow, Some(vec![[1.0, 80.0, 120.0], [2.0, 90.0, 110.0]]));
    }

    #[test]
    fn a_name_keeps_its_colour_and_the_others_use_those_that_remain() {
        let series = |name: &str| Series {
            name: name.to_owned(),
            right: false,
            shape: Shape::Boxes(Vec::new()),
        };
        let panel =
            Panel { series: vec![series("a"), series("b"), series("c")], ..Panel::default() };
        let chart = Chart {
            panels: vec![panel],
            colours: vec![("b".to_owned(), 0), ("absent".to_owned(), 2)],
            ..Chart::default()
        };
        assert_eq!(chart.names(), [("a", 1), ("b", 0), ("c", 3)]);
    }
}
