//! A picture of a system: hosts, their connections, endpoints, volumes and pools, as layers from top
//! to bottom with lines between them. It is narrow enough for a phone.

use std::fmt::Write as _;

use units::thousands;

use crate::drawing::text_width::fitted;

/// Width of the picture, in pixels.
const WIDTH: f64 = 440.0;
/// Height of a layer: its title and its boxes.
const LAYER: f64 = 54.0;
/// Height of the lines between layers, with the words next to them.
const LINES: f64 = 34.0;
/// Height of a box, and of the title above it.
const BOX: f64 = 26.0;
const TITLE: f64 = 22.0;
/// Font size, in pixels.
const FONT: f64 = 13.0;
/// More members of a layer are drawn as this many boxes, the last with the number of the others.
const BOXES_MAX: u64 = 6;
/// Gap between boxes.
const GAP: f64 = 10.0;

/// Equal parts of a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// How many.
    pub count: u64,
    /// With their number: `2 hosts: D32s_v5`.
    pub title: String,
    /// What connects it to the next layer.
    pub below: Links,
}

/// What connects a layer to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Links {
    /// Each member is connected to each member of the next layer: `8 connections each`.
    Connections(String),
    /// Each member of the larger layer belongs to one of the smaller, distributed evenly; nothing
    /// below the last layer.
    Members,
}

impl Links {
    fn words(&self) -> &str {
        match self {
            Links::Connections(words) => words,
            Links::Members => "",
        }
    }
}

/// A system from its hosts to its pools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagram {
    /// The layers, hosts first.
    pub layers: Vec<Layer>,
}

impl Diagram {
    /// The system in a sentence, for readers who cannot see the picture.
    pub fn text(&self) -> String {
        let mut words: Vec<&str> = Vec::new();
        for layer in &self.layers {
            words.extend([layer.title.as_str(), layer.below.words()]);
        }
        words.retain(|part| !part.is_empty());
        format!("{}.", words.join(" - "))
    }

    /// As inline SVG in the colours of the text around it.
    pub(crate) fn svg(&self) -> String {
        let count = self.layers.len() as f64;
        let height = count * LAYER + (count - 1.0).max(0.0) * LINES;
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "<svg class=\"diagram\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
             aria-label=\"{}\">",
            escaped(&self.text())
        );
        for (index, layer) in self.layers.iter().enumerate() {
            let top = index as f64 * (LAYER + LINES);
            let title = escaped(&fitted(&layer.title, FONT, WIDTH));
            let _ = writeln!(
                out,
                "<text x=\"0\" y=\"{:.0}\" font-size=\"{FONT}\">{title}</text>",
                top + 15.0
            );
            let boxes = boxes(layer.count);
            for (number, (left, wide)) in boxes.iter().enumerate() {
                let _ = writeln!(
                    out,
                    "<rect x=\"{left:.1}\" y=\"{:.1}\" width=\"{wide:.1}\" height=\"{BOX}\" \
                     rx=\"4\"/>",
                    top + TITLE
                );
                if number + 1 == boxes.len() && layer.count > BOXES_MAX {
                    let others = thousands(layer.count - BOXES_MAX + 1);
                    let _ = writeln!(
                        out,
                        "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"{FONT}\" \
                         text-anchor=\"middle\">+{others}</text>",
                        left + wide / 2.0,
                        top + TITLE + 17.5
                    );
                }
            }
            let Some(next) = self.layers.get(index + 1) else { continue };
            let next = self::boxes(next.count);
            lines(&boxes, &next, &layer.below, top + TITLE + BOX, &mut out);
            let below = escaped(&fitted(layer.below.words(), FONT, WIDTH));
            if !below.is_empty() {
                // The words have a background, so that lines do not cross them.
                let _ = writeln!(
                    out,
                    "<text class=\"link\" x=\"{:.1}\" y=\"{:.1}\" font-size=\"{FONT}\" \
                     text-anchor=\"middle\">{below}</text>",
                    WIDTH / 2.0,
                    top + LAYER + LINES / 2.0
                );
            }
        }
        out.push_str("</svg>");
        out
    }
}

/// Left edge and width of the boxes of a layer.
fn boxes(count: u64) -> Vec<(f64, f64)> {
    let drawn = count.clamp(1, BOXES_MAX);
    let wide = (WIDTH - GAP * (drawn - 1) as f64) / drawn as f64;
    // One box over the whole width would look like a frame.
    let wide = wide.min(WIDTH / 2.0);
    let all = wide * drawn as f64 + GAP * (drawn - 1) as f64;
    let left = (WIDTH - all) / 2.0;
    (0..drawn).map(|index| (left + index as f64 * (wide + GAP), wide)).collect()
}

/// The lines between the boxes of two layers.
fn lines(upper: &[(f64, f64)], lower: &[(f64, f64)], links: &Links, top: f64, out: &mut String) {
    // Titles of the next layer are at the left, between its boxes and the lines.
    let foot = top + LINES + (LAYER - BOX - TITLE);
    let middle = |(left, wide): (f64, f64)| left + wide / 2.0;
    let pairs: Vec<(usize, usize)> = match links {
        Links::Connections(_) => {
            (0..upper.len()).flat_map(|from| (0..lower.len()).map(move |to| (from, to))).collect()
        }
        Links::Members => {
            let most = upper.len().max(lower.len());
            (0..most).map(|one| (one * upper.len() / most, one * lower.len() / most)).collect()
        }
    };
    for (from, to) in pairs {
        let (from, to) = (middle(upper[from]), middle(lower[to]));
        let _ = writeln!(out, "<path d=\"M{from:.1} {top:.1}L{to:.1} {foot:.1}\"/>");
    }
}

/// Text for an element or an attribute.
fn escaped(text: &str) -> String {
    minijinja::HtmlEscape(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(count: u64, title: &str, below: Links) -> Layer {
        Layer { count, title: title.to_owned(), below }
    }

    #[test]
    fn each_host_has_a_line_to_each_volume() {
        let below = Links::Connections("8 connections each".to_owned());
        let layers = vec![layer(2, "2 hosts", below), layer(3, "3 volumes", Links::Members)];
        let diagram = Diagram { layers };
        let svg = diagram.svg();
        assert_eq!((svg.matches("<rect").count(), svg.matches("<path").count()), (5, 6));
        assert_eq!(diagram.text(), "2 hosts - 8 connections each - 3 volumes.");
        assert!(svg.contains("aria-label=\"2 hosts - 8 connections each - 3 volumes.\""), "{svg}");
    }

    #[test]
    fn each_volume_has_a_line_to_its_pool() {
        let layers =
            vec![layer(4, "4 volumes", Links::Members), layer(2, "2 pools", Links::Members)];
        let svg = Diagram { layers }.svg();
        let ends: Vec<&str> =
            svg.split("L").skip(1).filter_map(|to| to.split(' ').next()).collect();
        assert_eq!(ends.len(), 4);
        assert!(ends[0] == ends[1] && ends[1] != ends[2] && ends[2] == ends[3], "{svg}");
    }

    #[test]
    fn many_members_are_a_few_boxes_with_the_number_of_the_others() {
        let svg = Diagram { layers: vec![layer(1000, "1,000 <hosts>", Links::Members)] }.svg();
        assert_eq!(svg.matches("<rect").count(), 6);
        assert!(svg.contains("+995") && svg.contains("1,000 &lt;hosts&gt;"), "{svg}");
    }
}
