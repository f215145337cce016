//! The frame of a panel: the positions of values, and the axes.

use super::elements::{element, escaped, text};
use crate::drawing::ruler::{Ruler, Rulers};
use crate::drawing::text_width::{fitted, width};
use crate::drawing::theme::Palette;
use crate::drawing::{Axis, Panel, Scale};

/// Font size of numbers on axes, in pixels.
const NUMBERS: f64 = 13.0;
/// Font size of the names of axes, in pixels.
const NAMES: f64 = 14.0;
/// Font size of the title of one of several panels, in pixels.
const TITLE: f64 = 13.5;
/// Room between the numbers of neighbouring ticks, in pixels.
const GAP: f64 = 8.0;

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

/// Which axes of a panel have names and numbers; in small multiples those at the edge.
#[derive(Clone, Copy)]
pub(super) struct Shown {
    pub(super) x_name: bool,
    pub(super) y_name: bool,
    pub(super) y_numbers: bool,
}

/// The axes of a panel within its area.
pub(super) struct Frame {
    pub(super) area: Area,
    x: Ruler,
    y: Ruler,
    right: Option<Ruler>,
}

impl Frame {
    pub(super) fn new(rulers: Rulers, area: Area) -> Frame {
        Frame { area, x: rulers.x, y: rulers.y, right: rulers.right }
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
    pub(super) fn draw(&self, panel: &Panel, shown: Shown, palette: &Palette, out: &mut String) {
        self.shades(panel, out);
        self.left_axis(&panel.y, shown, palette, out);
        if let (Some(ruler), Some(axis)) = (&self.right, &panel.right) {
            self.right_axis(ruler, axis, palette, out);
        }
        self.x_axis(panel, shown.x_name, palette, out);
        let title = fitted(&panel.title, TITLE, self.area.width);
        if !title.is_empty() {
            let at = (self.area.left, self.area.top - 8.0);
            text(out, at, "start", TITLE, palette.text, &title);
        }
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

    fn left_axis(&self, axis: &Axis, shown: Shown, palette: &Palette, out: &mut String) {
        let Area { left, width: across, .. } = self.area;
        let names = matches!(axis.scale, Scale::Names(_));
        let labels = self.y.labels();
        // At most about ten names fit above each other.
        let every = if names { labels.len().div_ceil(10).max(1) } else { 1 };
        for (value, label) in labels.iter().step_by(every) {
            let y = self.area.bottom() - self.y.position(*value) * self.area.height;
            if !names {
                element(
                    out,
                    format_args!(
                        "<path d=\"M{left:.1} {y:.1}h{across:.1}\" stroke=\"{}\"/>",
                        palette.line
                    ),
                );
            }
            if shown.y_numbers {
                text(out, (left - 8.0, y + 4.5), "end", NUMBERS, palette.faint, label);
            }
        }
        if shown.y_name {
            let middle = self.area.top + self.area.height / 2.0;
            let room = self.area.height + 20.0;
            vertical_text(out, (left - 74.0, middle), palette.faint, &axis.name, room);
        }
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

    fn x_axis(&self, panel: &Panel, is_named: bool, palette: &Palette, out: &mut String) {
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
        let names = matches!(panel.x.scale, Scale::Names(_));
        // Names are cut if they are few; otherwise those that would touch are left out.
        let room = across / labels.len().max(1) as f64;
        let are_cut = names && labels.len() <= 16;
        let mut taken = f64::NEG_INFINITY;
        for (value, label) in &labels {
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
            let label = if are_cut { fitted(label, NUMBERS, room - GAP) } else { label.clone() };
            let half = width(&label, NUMBERS) / 2.0;
            if x - half < taken + GAP {
                continue;
            }
            taken = x + half;
            text(out, (x, bottom + 19.0), "middle", NUMBERS, palette.faint, &label);
        }
        if is_named {
            let middle = (left + across / 2.0, bottom + 42.0);
            let name = fitted(&panel.x.name, NAMES, across + 60.0);
            text(out, middle, "middle", NAMES, palette.faint, &name);
        }
    }
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
