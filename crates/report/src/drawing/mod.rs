//! A chart as data: axes, series and captions, in the units shown. It is drawn as options for
//! ECharts on the page ([`echarts`]), as a picture for slides ([`svg`]), and as a table for readers
//! who cannot see it ([`numbers`]), so all three show the same.
//!
//! For: positions, names, numbers. Not for: what the numbers mean.

pub(crate) mod echarts;
pub(crate) mod numbers;
#[cfg(feature = "png")]
pub mod png;
pub(crate) mod svg;
mod text_width;
pub mod theme;
pub(crate) mod ticks;

use crate::table::Table;

/// One panel, or several below each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// The name of a file with it, without extension: lower case, digits and hyphens.
    pub name: String,
    /// A few words, for the head of a slide.
    pub title: String,
    /// What it shows, in a sentence: the caption, also read by screen readers.
    pub caption: String,
    /// Its panels, the upper first.
    pub panels: Vec<Panel>,
    /// The numbers for readers who cannot see it.
    pub alternative: Alternative,
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
    /// Ranges of x that are not part of the result.
    pub shades: Vec<[f64; 2]>,
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
    /// Linear, from 0.
    #[default]
    Linear,
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
    /// A heat map: column, row and value of each cell.
    Cells(Vec<(usize, usize, f64)>),
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
}

/// The style of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stroke {
    /// Measured, with a symbol at each point.
    #[default]
    Solid,
    /// A second measured quantity, such as p99 next to the mean.
    Dashed,
    /// Not measured: a setting or a limit.
    Dotted,
    /// Not measured: a fitted model.
    Model,
    /// No line: a ring around each point, which belongs to another series.
    Rings,
    /// No line: separate points, such as published figures.
    Points,
    /// Measured, with too many points for symbols.
    Plain,
    /// `Plain` for a second quantity.
    PlainDashed,
}

impl Stroke {
    /// The kind of line, as ECharts and the SVG writer name it.
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
    pub(crate) const fn has_symbols(self) -> bool {
        matches!(self, Stroke::Solid | Stroke::Dashed | Stroke::Points)
    }

    /// Whether its points were measured.
    pub(crate) const fn is_measured(self) -> bool {
        !matches!(self, Stroke::Dotted | Stroke::Model | Stroke::Rings)
    }
}

/// A vertical line.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// The text next to it.
    pub name: String,
    /// Its value on the x axis.
    pub x: f64,
}

impl Series {
    /// Whether it shows measurements; settings, limits and models are explained in the caption.
    pub(crate) fn is_measured(&self) -> bool {
        match &self.shape {
            Shape::Line { stroke, .. } => stroke.is_measured(),
            Shape::Bars { .. } | Shape::Cells(_) => true,
        }
    }
}

impl Chart {
    /// The names of all series, each once, in order; the index of a name selects its colour.
    pub(crate) fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for series in self.panels.iter().flat_map(|panel| &panel.series) {
            if !names.contains(&series.name.as_str()) {
                names.push(&series.name);
            }
        }
        names
    }

    /// Whether it shows at least one measured number.
    pub(crate) fn has_measurements(&self) -> bool {
        let mut measured =
            self.panels.iter().flat_map(|panel| &panel.series).filter(|one| one.is_measured());
        measured.any(|series| match &series.shape {
            Shape::Line { points, .. } | Shape::Bars { points, .. } => {
                points.iter().any(|p| p.y.is_some())
            }
            Shape::Cells(cells) => !cells.is_empty(),
        })
    }
}

impl Point {
    /// A point without a confidence interval.
    pub(crate) const fn at(x: f64, y: Option<f64>) -> Point {
        Point { x, y, interval: None }
    }

    /// A point with the half-width of its confidence interval.
    pub(crate) fn with_half_width(x: f64, y: Option<f64>, half: Option<f64>) -> Point {
        let interval = y.zip(half).map(|(y, half)| [y - half, y + half]);
        Point { x, y, interval }
    }
}

/// The confidence intervals of a line as a band, `[x, low, high]` from left to right. `None` if the
/// points do not ascend along a numeric axis or one has no interval; whiskers show them then.
pub(crate) fn band(axis: &Axis, points: &[Point]) -> Option<Vec<[f64; 3]>> {
    let ascending = points.windows(2).all(|pair| pair[0].x < pair[1].x);
    if points.len() < 2 || !ascending || matches!(axis.scale, Scale::Names(_)) {
        return None;
    }
    let edges = |p: &Point| p.interval.filter(|_| p.y.is_some()).map(|[a, b]| [p.x, a, b]);
    points.iter().map(edges).collect()
}

impl Scale {
    /// Whether the axis can show a value.
    pub(crate) fn has(&self, value: f64) -> bool {
        match self {
            Scale::Linear => value.is_finite(),
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
