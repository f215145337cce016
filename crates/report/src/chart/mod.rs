//! A chart before it is drawn: what is shown, in the units that are shown. From it come the options
//! for ECharts on the page ([`echarts`]), pictures for slides ([`svg`]), and the table for those
//! who cannot see it ([`table`]), so all three show the same.
//!
//! For: places, names, numbers. Not for: colours, pixels, or what the numbers mean.

pub(crate) mod echarts;
pub mod svg;
pub(crate) mod table;
pub mod theme;
pub(crate) mod ticks;

use crate::document::Table;

/// One figure: one panel, or several below each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// What a file of it is called, without ending: lower case, digits and hyphens.
    pub name: String,
    /// A few words, for the head of a slide.
    pub title: String,
    /// What it shows, in a sentence: the caption, and what a screen reader says.
    pub caption: String,
    /// Its panels, the upper first.
    pub panels: Vec<Panel>,
    /// The numbers for those who cannot see it.
    pub alternative: Alternative,
}

/// Where the numbers of a chart stand as text.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Alternative {
    /// A table made of the chart's own points.
    #[default]
    OwnPoints,
    /// A table that says it better.
    Given(Table),
    /// In the caption: there are too many points for a table, which the export has.
    Caption,
}

/// One pair of axes, or three.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// From left to right.
    pub x: Axis,
    /// At the left, upwards.
    pub y: Axis,
    /// At the right, where a second quantity is shown.
    pub right: Option<Axis>,
    /// What is drawn, the first at the bottom.
    pub series: Vec<Series>,
    /// Lines across with a name.
    pub marks: Vec<Mark>,
    /// Stretches of x that do not count.
    pub shades: Vec<[f64; 2]>,
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// Quantity and unit.
    pub name: String,
    /// How values become places.
    pub scale: Scale,
}

/// How values become places on an axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Scale {
    /// Evenly, from 0.
    #[default]
    Linear,
    /// Each multiple of the base as far from the last one.
    Log(u32),
    /// One place for each name; a value is a name's number, from 0.
    Names(Vec<String>),
    /// Each further nine of a percentile as far from the last one; a value is `1 / (1 - fraction)`.
    Nines,
}

/// Things of one name, which have one colour.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// What the legend says.
    pub name: String,
    /// Whether it belongs to the right axis.
    pub right: bool,
    /// What is drawn.
    pub shape: Shape,
}

/// What is drawn of a series.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Points joined in their order; one without y is a gap.
    Line {
        /// Where, and the 95 % interval where it is known.
        points: Vec<Point>,
        /// How it is drawn.
        stroke: Stroke,
    },
    /// A bar for each name of the x axis.
    Bars {
        /// Its place, height, and the 95 % interval.
        points: Vec<Point>,
        /// Upon those of the series before it, instead of beside them.
        stacked: bool,
    },
    /// A cell for each pair of names: column, row, value.
    Cells(Vec<(usize, usize, f64)>),
}

/// A point of a series.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// Place from left to right.
    pub x: f64,
    /// Place upwards; `None` where there is no number.
    pub y: Option<f64>,
    /// The ends of the 95 % interval of y.
    pub interval: Option<[f64; 2]>,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stroke {
    /// Measured, few enough points to show each.
    #[default]
    Solid,
    /// A second quantity of the same things, as p99 beside the mean.
    Dashed,
    /// Not measured: a setting, a limit.
    Dotted,
    /// Not measured: what a fitted model says.
    Model,
    /// No line: a ring around each point, which is one of another series.
    Rings,
    /// No line: points that stand alone, as what others published.
    Points,
    /// Measured, too many points to show each.
    Plain,
    /// As `Plain`, of a second quantity.
    PlainDashed,
}

impl Stroke {
    /// The name that SVG and ECharts share in their way.
    pub(crate) const fn kind(self) -> &'static str {
        match self {
            Stroke::Solid | Stroke::Plain => "solid",
            Stroke::Dashed | Stroke::PlainDashed => "dashed",
            Stroke::Dotted => "dotted",
            Stroke::Model => "dash-dotted",
            Stroke::Rings | Stroke::Points => "none",
        }
    }

    /// Whether each point has a symbol.
    pub(crate) const fn symbols(self) -> bool {
        matches!(self, Stroke::Solid | Stroke::Dashed | Stroke::Points)
    }

    /// Whether its points were measured, each once.
    pub(crate) const fn measured(self) -> bool {
        !matches!(self, Stroke::Dotted | Stroke::Model | Stroke::Rings)
    }
}

/// A line across the panel.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// What stands beside it.
    pub name: String,
    /// Where on the x axis.
    pub x: f64,
}

impl Chart {
    /// Names of all series, each once, in the order in which they are met: its place there is its
    /// colour.
    pub(crate) fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for series in self.panels.iter().flat_map(|panel| &panel.series) {
            if !names.contains(&series.name.as_str()) {
                names.push(&series.name);
            }
        }
        names
    }

    /// Whether there is anything to see: at least one number.
    pub(crate) fn shows_something(&self) -> bool {
        self.panels.iter().flat_map(|panel| &panel.series).any(|series| match &series.shape {
            Shape::Line { points, stroke } => {
                stroke.measured() && points.iter().any(|p| p.y.is_some())
            }
            Shape::Bars { points, .. } => points.iter().any(|p| p.y.is_some()),
            Shape::Cells(cells) => !cells.is_empty(),
        })
    }
}

impl Point {
    /// A point without uncertainty.
    pub(crate) const fn at(x: f64, y: Option<f64>) -> Point {
        Point { x, y, interval: None }
    }

    /// A point with the half-width of its interval.
    pub(crate) fn with_half_width(x: f64, y: Option<f64>, half: Option<f64>) -> Point {
        let interval = y.zip(half).map(|(y, half)| [y - half, y + half]);
        Point { x, y, interval }
    }
}

/// The intervals of a line as a band, `[x, low, high]` from left to right: where its points ascend
/// along an axis of numbers and each has an interval. Elsewhere each interval stands alone.
pub(crate) fn band(axis: &Axis, points: &[Point]) -> Option<Vec<[f64; 3]>> {
    let ascending = points.windows(2).all(|pair| pair[0].x < pair[1].x);
    if points.len() < 2 || !ascending || matches!(axis.scale, Scale::Names(_)) {
        return None;
    }
    let edges = |p: &Point| p.interval.filter(|_| p.y.is_some()).map(|[a, b]| [p.x, a, b]);
    points.iter().map(edges).collect()
}

impl Scale {
    /// Whether a value has a place here.
    pub(crate) fn has(&self, value: f64) -> bool {
        match self {
            Scale::Linear => value.is_finite(),
            Scale::Log(_) | Scale::Nines => value.is_finite() && value > 0.0,
            Scale::Names(names) => value >= 0.0 && value < names.len() as f64,
        }
    }
}

/// Four digits: finer than a chart can show, and short.
pub(crate) fn round(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let scale = 10f64.powi(3 - value.abs().log10().floor() as i32);
    (value * scale).round() / scale
}
