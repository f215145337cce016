//! Texts inside a frame (names of lines and points), placed so that no two overlap.

use super::elements::{element, text};
use super::frame::{Area, Frame};
use crate::drawing::Panel;
use crate::drawing::text_width::{fitted, width};
use crate::drawing::theme::Palette;

/// Font size, in pixels.
const SIZE: f64 = 12.0;
/// Height of a line of text, in pixels.
const HEIGHT: f64 = 15.0;
/// Distance between a text and what it names, in pixels.
const GAP: f64 = 5.0;
/// Half the width of a ring around a point, in pixels.
const RING: f64 = 10.0;
/// Distance between the name of a horizontal line and the line, which may have symbols on it.
const CLEARANCE: f64 = 6.0;
/// Share of the frame's width that a text may have.
const WIDTH_MAX: f64 = 0.6;

/// A text with the rectangle that it covers.
#[derive(Clone, Debug)]
struct Placed {
    text: String,
    left: f64,
    top: f64,
    width: f64,
}

impl Placed {
    fn overlaps(&self, other: &Placed) -> bool {
        self.left < other.left + other.width
            && other.left < self.left + self.width
            && self.top < other.top + HEIGHT
            && other.top < self.top + HEIGHT
    }
}

/// The texts of a panel.
pub(super) struct Labels {
    area: Area,
    placed: Vec<Placed>,
}

impl Labels {
    pub(super) fn new(area: Area) -> Labels {
        Labels { area, placed: Vec::new() }
    }

    /// Draws the named lines and points of a panel.
    pub(super) fn draw(
        &mut self,
        panel: &Panel,
        frame: &Frame,
        palette: &Palette,
        out: &mut String,
    ) {
        let Area { left, top, width: across, .. } = self.area;
        for mark in &panel.marks {
            let x = frame.x(mark.x);
            let bottom = self.area.bottom();
            dashed(out, format_args!("M{x:.1} {top:.1}V{bottom:.1}"), palette);
            // Towards the middle, so that the text stays inside the frame.
            let is_in_right_half = x > left + across / 2.0;
            self.add(&mark.name, |wide, row| {
                let left = if is_in_right_half { x - GAP - wide } else { x + GAP };
                (left, top + 2.0 + HEIGHT * row)
            });
        }
        for level in &panel.levels {
            let y = frame.y(level.y, false);
            dashed(out, format_args!("M{left:.1} {y:.1}h{across:.1}"), palette);
            let right = self.area.right();
            // Above the line, otherwise below it, then further away.
            self.add(&level.name, |wide, row| {
                let away = HEIGHT * (row / 2.0).floor();
                let above = y - HEIGHT - CLEARANCE - away;
                let is_above = (row as usize).is_multiple_of(2) && above >= top;
                (right - GAP - wide, if is_above { above } else { y + CLEARANCE + away })
            });
        }
        for flag in &panel.flags {
            let (x, y) = (frame.x(flag.x), frame.y(flag.y, false));
            self.reserve((x - RING, y - HEIGHT / 2.0), 2.0 * RING);
        }
        for flag in &panel.flags {
            let (x, y) = (frame.x(flag.x), frame.y(flag.y, false));
            let right = self.area.right();
            // Below the ring, so that it does not cover a line that rises; otherwise above it.
            self.add(&flag.name, |wide, row| {
                let aside = x + 12.0;
                let left = if aside + wide > right { x - 12.0 - wide } else { aside };
                let away = HEIGHT * (row / 2.0).floor();
                let is_below = (row as usize).is_multiple_of(2);
                (left, if is_below { y + 3.0 + away } else { y - 3.0 - HEIGHT - away })
            });
        }
        for one in self.placed.iter().filter(|one| !one.text.is_empty()) {
            element(
                out,
                format_args!(
                    "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{HEIGHT}\" \
                     fill=\"{}\" fill-opacity=\"0.75\"/>",
                    one.left - 1.0,
                    one.top,
                    one.width + 2.0,
                    palette.ground
                ),
            );
            let at = (one.left, one.top + HEIGHT - 3.5);
            text(out, at, "start", SIZE, palette.text, &one.text);
        }
    }

    /// Keeps texts away from what is already drawn.
    fn reserve(&mut self, (left, top): (f64, f64), width: f64) {
        self.placed.push(Placed { text: String::new(), left, top, width });
    }

    /// The value of a bar, centred above its end; left out where it would touch another text.
    pub(super) fn value(&mut self, (x, end): (f64, f64), value: &str) {
        let wide = width(value, SIZE);
        let placed = Placed {
            text: value.to_owned(),
            left: x - wide / 2.0,
            top: end - HEIGHT - 1.0,
            width: wide,
        };
        let is_inside = placed.top >= self.area.top - HEIGHT;
        if is_inside && !self.placed.iter().any(|other| other.overlaps(&placed)) {
            self.placed.push(placed);
        }
    }

    /// Adds a text in the first row where it fits.
    ///
    /// * `corner` - the left upper corner for a width and the number of a row
    fn add(&mut self, name: &str, corner: impl Fn(f64, f64) -> (f64, f64)) {
        if name.is_empty() {
            return;
        }
        let name = fitted(name, SIZE, self.area.width * WIDTH_MAX);
        let wide = width(&name, SIZE);
        let rows = (2.0 * self.area.height / HEIGHT) as u32;
        let at = |row: u32| {
            let (left, top) = corner(wide, f64::from(row));
            Placed { text: name.clone(), left: left.max(self.area.left + 1.0), top, width: wide }
        };
        let is_free = |one: &Placed| {
            let is_inside = one.top >= self.area.top && one.top + HEIGHT <= self.area.bottom();
            is_inside && !self.placed.iter().any(|other| other.overlaps(one))
        };
        if let Some(one) = (0..rows.max(1)).map(at).find(is_free) {
            self.placed.push(one);
        }
    }
}

/// A line that was not measured.
fn dashed(out: &mut String, path: std::fmt::Arguments<'_>, palette: &Palette) {
    element(
        out,
        format_args!(
            "<path d=\"{path}\" stroke=\"{}\" stroke-width=\"1.5\" stroke-dasharray=\"7 4\"/>",
            palette.faint
        ),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    const AREA: Area = Area { left: 100.0, top: 50.0, width: 600.0, height: 300.0 };

    #[test]
    fn texts_that_would_overlap_are_placed_below_each_other() {
        let mut labels = Labels::new(AREA);
        for name in ["read delay", "write delay", "throughput limit"] {
            labels.add(name, |wide, row| (690.0 - wide, 60.0 + HEIGHT * row));
        }
        let tops: Vec<f64> = labels.placed.iter().map(|one| one.top).collect();
        assert_eq!(tops, [60.0, 75.0, 90.0]);
        assert!(!labels.placed[0].overlaps(&labels.placed[1]));
    }

    #[test]
    fn texts_far_from_each_other_stay_next_to_what_they_name() {
        let mut labels = Labels::new(AREA);
        labels.add("one", |_, row| (120.0, 60.0 + HEIGHT * row));
        labels.add("two", |_, row| (400.0, 60.0 + HEIGHT * row));
        assert_eq!(labels.placed[1].top, 60.0);
    }

    #[test]
    fn the_value_of_a_bar_that_would_touch_its_neighbour_is_left_out() {
        let mut labels = Labels::new(AREA);
        labels.value((200.0, 200.0), "16.4k");
        labels.value((210.0, 200.0), "16.5k");
        labels.value((300.0, 200.0), "16.6k");
        assert_eq!(labels.placed.len(), 2);
    }
}
