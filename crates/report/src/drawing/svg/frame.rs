//! The frame of a panel: the positions of values, and the axes.

use super::elements::{element, escaped, text};
use crate::drawing::text_width::{fitted, width};
use crate::drawing::theme::Palette;
use crate::drawing::ticks::{self, NINES};
use crate::drawing::{Axis, Panel, Point, Scale, Shape};

/// Font size of numbers on axes, in pixels.
const NUMBERS: f64 = 13.0;
/// Font size of the names of axes, in pixels.
const NAMES: f64 = 14.0;

/// A rectangle in pixels, y downwards.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Area {
    pub(super) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(super) fn bottom(&self) -> f64 {
        self.top + self.height
    }
}

/// An axis with its range.
pub(super) struct Ruler {
    scale: Scale,
    ticks: Vec<f64>,
}

impl Ruler {
    /// An axis that encloses these values. A linear one begins at 0, and ends with the largest value
    /// (`exact_end`) or the tick after it.
    fn over(axis: &Axis, values: &[f64], exact_end: bool) -> Ruler {
        let values = || values.iter().copied().filter(|value| axis.scale.has(*value));
        let (min, max) =
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        let ticks = match &axis.scale {
            _ if min > max => vec![0.0, 1.0],
            Scale::Linear if exact_end => {
                let mut ticks = ticks::linear(max);
                ticks.retain(|tick| *tick <= max);
                ticks
            }
            Scale::Linear => ticks::linear(max),
            Scale::Log(base) => ticks::logarithmic(min, max, *base),
            Scale::Nines => vec![1.0, max.max(10.0)],
            Scale::Names(names) => (0..names.len()).map(|n| n as f64).collect(),
        };
        let mut ruler = Ruler { scale: axis.scale.clone(), ticks };
        if exact_end && axis.scale == Scale::Linear && min <= max {
            ruler.ticks.retain(|tick| *tick < max);
            ruler.ticks.push(max);
        }
        ruler
    }

    /// The position of a value, from 0 at the start to 1 at the end.
    pub(super) fn position(&self, value: f64) -> f64 {
        let (first, last) = (self.ticks[0], self.ticks[self.ticks.len() - 1]);
        match &self.scale {
            Scale::Linear => (value - first) / (last - first).max(f64::MIN_POSITIVE),
            Scale::Log(_) | Scale::Nines => {
                // Values that cannot be shown are far below the axis, where they are clipped.
                let low = |v: f64| v.max(first * 1e-6).log10();
                (low(value) - first.log10()) / (last.log10() - first.log10())
            }
            Scale::Names(names) => (value + 0.5) / names.len() as f64,
        }
    }

    /// The share of the axis for each name.
    pub(super) fn name_width(&self) -> f64 {
        match &self.scale {
            Scale::Names(names) => 1.0 / names.len().max(1) as f64,
            _ => 0.05,
        }
    }

    /// The values of ticks, and their labels.
    fn labels(&self) -> Vec<(f64, String)> {
        match &self.scale {
            Scale::Names(names) => {
                names.iter().enumerate().map(|(n, name)| (n as f64, name.clone())).collect()
            }
            Scale::Nines => {
                let last = self.ticks[self.ticks.len() - 1];
                let shown = NINES.iter().filter(|(_, x)| *x <= last);
                shown.map(|(name, x)| (*x, (*name).to_owned())).collect()
            }
            _ => self.ticks.iter().map(|tick| (*tick, ticks::label(*tick))).collect(),
        }
    }
}

/// The axes of a panel within its area.
pub(super) struct Frame {
    pub(super) area: Area,
    x: Ruler,
    y: Ruler,
    right: Option<Ruler>,
}

impl Frame {
    /// The frame that encloses everything in a panel; the x axis of one of several panels ends with
    /// the data.
    pub(super) fn of(panel: &Panel, area: Area, is_one_of_several: bool) -> Frame {
        let ys = |right: bool| -> Vec<f64> { heights(panel, right) };
        Frame {
            area,
            x: Ruler::over(&panel.x, &values_of_x(panel), is_one_of_several),
            y: Ruler::over(&panel.y, &ys(false), false),
            right: panel.right.as_ref().map(|axis| Ruler::over(axis, &ys(true), false)),
        }
    }

    /// Pixels from the left edge of the picture.
    pub(super) fn x(&self, value: f64) -> f64 {
        self.area.left + self.x.position(value) * self.area.width
    }

    /// Pixels from the top of the picture.
    pub(super) fn y(&self, value: f64, right: bool) -> f64 {
        let ruler = self.right.as_ref().filter(|_| right).unwrap_or(&self.y);
        self.area.bottom() - ruler.position(value) * self.area.height
    }

    /// Pixels for each name along x.
    pub(super) fn column(&self) -> f64 {
        self.x.name_width() * self.area.width
    }

    /// Pixels for each name along y.
    pub(super) fn row(&self) -> f64 {
        self.y.name_width() * self.area.height
    }

    /// Draws the grid, and the axes with their numbers and names.
    pub(super) fn draw(&self, panel: &Panel, last: bool, palette: &Palette, out: &mut String) {
        self.shades(panel, out);
        self.left_axis(&self.y, &panel.y, palette, out);
        if let (Some(ruler), Some(axis)) = (&self.right, &panel.right) {
            self.right_axis(ruler, axis, palette, out);
        }
        self.x_axis(panel, last, palette, out);
    }

    fn shades(&self, panel: &Panel, out: &mut String) {
        for [from, to] in &panel.shades {
            let (left, right) = (self.x(*from), self.x(*to));
            let Area { top, height, .. } = self.area;
            element(
                out,
                format_args!(
                    "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{height:.1}\" \
                 fill=\"#808080\" fill-opacity=\"0.18\"/>",
                    (right - left).max(0.0)
                ),
            );
        }
    }

    fn left_axis(&self, ruler: &Ruler, axis: &Axis, palette: &Palette, out: &mut String) {
        let Area { left, width: across, .. } = self.area;
        let names = matches!(axis.scale, Scale::Names(_));
        let labels = ruler.labels();
        // At most about ten names fit above each other.
        let every = if names { labels.len().div_ceil(10).max(1) } else { 1 };
        for (value, label) in labels.iter().step_by(every) {
            let y = self.area.bottom() - ruler.position(*value) * self.area.height;
            if !names {
                element(
                    out,
                    format_args!(
                        "<path d=\"M{left:.1} {y:.1}h{across:.1}\" stroke=\"{}\"/>",
                        palette.line
                    ),
                );
            }
            text(out, (left - 8.0, y + 4.5), "end", NUMBERS, palette.faint, label);
        }
        let middle = self.area.top + self.area.height / 2.0;
        vertical_text(
            out,
            (left - 74.0, middle),
            palette.faint,
            &axis.name,
            self.area.height + 20.0,
        );
    }

    fn right_axis(&self, ruler: &Ruler, axis: &Axis, palette: &Palette, out: &mut String) {
        let edge = self.area.right();
        for (value, label) in ruler.labels() {
            let y = self.area.bottom() - ruler.position(value) * self.area.height;
            element(
                out,
                format_args!("<path d=\"M{edge:.1} {y:.1}h5\" stroke=\"{}\"/>", palette.faint),
            );
            text(out, (edge + 9.0, y + 4.5), "start", NUMBERS, palette.faint, &label);
        }
        let middle = self.area.top + self.area.height / 2.0;
        vertical_text(
            out,
            (edge + 72.0, middle),
            palette.faint,
            &axis.name,
            self.area.height + 20.0,
        );
    }

    fn x_axis(&self, panel: &Panel, last: bool, palette: &Palette, out: &mut String) {
        let Area { left, width: across, top, height } = self.area;
        let bottom = self.area.bottom();
        element(
            out,
            format_args!(
                "<path d=\"M{left:.1} {bottom:.1}h{across:.1}\" stroke=\"{}\"/>",
                palette.faint
            ),
        );
        let labels = self.x.labels();
        let room = across / labels.len().max(1) as f64;
        let widest = labels.iter().map(|(_, l)| width(l, NUMBERS)).fold(0.0, f64::max);
        let names = matches!(panel.x.scale, Scale::Names(_));
        // Numbers that would touch are left out; names are cut.
        let every = match names && labels.len() <= 16 {
            true => 1,
            false => ((widest + 10.0) / room).ceil().max(1.0) as usize,
        };
        for (value, label) in labels.iter().step_by(every) {
            let x = self.x(*value);
            if panel.x.scale == Scale::Nines {
                element(
                    out,
                    format_args!(
                        "<path d=\"M{x:.1} {top:.1}v{height:.1}\" stroke=\"{}\" \
                     stroke-dasharray=\"2 4\"/>",
                        palette.faint
                    ),
                );
            } else {
                element(
                    out,
                    format_args!(
                        "<path d=\"M{x:.1} {bottom:.1}v5\" stroke=\"{}\"/>",
                        palette.faint
                    ),
                );
            }
            let label =
                if names { fitted(label, NUMBERS, room * every as f64) } else { label.clone() };
            text(out, (x, bottom + 19.0), "middle", NUMBERS, palette.faint, &label);
        }
        if last {
            let middle = (left + across / 2.0, bottom + 42.0);
            text(out, middle, "middle", NAMES, palette.faint, &panel.x.name);
        }
    }
}

/// Every value on the x axis of a panel.
fn values_of_x(panel: &Panel) -> Vec<f64> {
    let of_series = panel.series.iter().flat_map(|series| match &series.shape {
        Shape::Line { points, .. } | Shape::Bars { points, .. } => {
            points.iter().map(|p| p.x).collect()
        }
        Shape::Cells(_) => Vec::new(),
    });
    of_series.collect()
}

/// Every value on one of a panel's y axes, including the upper ends of confidence intervals; stacked
/// bars are added up.
fn heights(panel: &Panel, right: bool) -> Vec<f64> {
    let mut heights = Vec::new();
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
            Shape::Line { points, .. } | Shape::Bars { points, .. } => {
                heights.extend(points.iter().filter_map(|p| p.y));
                let upper = |p: &Point| p.interval.map(|[_, high]| high);
                heights.extend(points.iter().filter_map(upper));
            }
            Shape::Cells(_) => {}
        }
    }
    heights.extend(stacks.into_iter().map(|(_, height)| height));
    heights
}

/// Text from bottom to top, centred at a point.
fn vertical_text(out: &mut String, (x, y): (f64, f64), colour: &str, text: &str, room: f64) {
    element(
        out,
        format_args!(
            "<text transform=\"translate({x:.1} {y:.1}) rotate(-90)\" font-size=\"{NAMES}\" \
         text-anchor=\"middle\" fill=\"{colour}\">{}</text>",
            escaped(&fitted(text, NAMES, room))
        ),
    );
}
