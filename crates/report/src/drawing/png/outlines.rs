//! Replaces the texts of a chart's SVG by outlines of letters, so that the PNG renderer needs neither
//! a font of the host nor a library for text layout (ADR 0018).
//!
//! Not for SVG in general: [`crate::drawing::svg`] writes one line per text, without nested elements.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::PngError;

/// DejaVu Sans: a line per letter, made by `assets/font/build.py`, which describes the format.
const OUTLINES: &str = include_str!("../../../assets/font/outlines.txt");
/// Font units per em of DejaVu Sans.
const UNITS_PER_EM: f32 = 2048.0;
/// Stands for letters without an outline.
const REPLACEMENT: char = '\u{FFFD}';

/// The outline of a letter.
#[derive(Clone, Copy, Debug)]
struct Letter {
    /// Distance to the next letter, in font units.
    advance: f32,
    /// SVG path data in font units, y upwards.
    path: &'static str,
}

#[derive(Clone, Debug)]
pub(super) struct Outlines(BTreeMap<char, Letter>);

impl Outlines {
    pub(super) fn embedded() -> Outlines {
        let letter = |line: &'static str| {
            let mut fields = line.splitn(3, ' ');
            let code = u32::from_str_radix(fields.next()?, 16).ok()?;
            let advance = fields.next()?.parse().ok()?;
            let path = fields.next().unwrap_or_default();
            Some((char::from_u32(code)?, Letter { advance, path }))
        };
        let letters = OUTLINES.lines().map(letter).collect::<Option<_>>();
        Outlines(letters.expect("the embedded outlines have the form that build.py writes"))
    }

    /// The SVG with a `<g>` of paths instead of each `<text>`.
    pub(super) fn replace_texts(&self, svg: &str) -> Result<String, PngError> {
        let incomplete = || PngError("a text in the SVG is incomplete".to_owned());
        let mut out = String::with_capacity(2 * svg.len());
        let mut rest = svg;
        while let Some((before, text)) = rest.split_once("<text ") {
            let (attributes, text) = text.split_once('>').ok_or_else(incomplete)?;
            let (content, after) = text.split_once("</text>").ok_or_else(incomplete)?;
            out.push_str(before);
            self.draw(&mut out, attributes, &unescaped(content)).ok_or_else(incomplete)?;
            rest = after;
        }
        out.push_str(rest);
        Ok(out)
    }

    /// Draws a text with the attributes of its element; `None` if a number is malformed. A `<g>`
    /// passes `fill` and `transform` on to the paths and ignores the other attributes.
    fn draw(&self, out: &mut String, attributes: &str, text: &str) -> Option<()> {
        let number = |name| attribute(attributes, name).unwrap_or("0").parse::<f32>().ok();
        let (mut x, y) = (number("x")?, number("y")?);
        let scale = number("font-size")? / UNITS_PER_EM;
        let letters = text.chars().map(|letter| self.letter(letter));
        let width = scale * letters.clone().map(|letter| letter.advance).sum::<f32>();
        x -= match attribute(attributes, "text-anchor") {
            Some("middle") => width / 2.0,
            Some("end") => width,
            _ => 0.0,
        };
        write!(out, "<g {attributes}>").ok()?;
        for Letter { advance, path } in letters {
            if !path.is_empty() {
                write!(
                    out,
                    "<path transform=\"translate({x:.2} {y:.2}) scale({scale:.5} -{scale:.5})\" \
                     d=\"{path}\"/>"
                )
                .ok()?;
            }
            x += scale * advance;
        }
        out.push_str("</g>");
        Some(())
    }

    fn letter(&self, letter: char) -> Letter {
        let found = self.0.get(&letter).or_else(|| self.0.get(&REPLACEMENT));
        *found.expect("the outlines have a replacement")
    }
}

/// The value of an attribute: `4` for `x` in `x="4" y="5"`.
fn attribute<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    let mut pairs = attributes.split("\" ").filter_map(|pair| pair.split_once("=\""));
    let (_, value) = pairs.find(|(found, _)| found.trim() == name)?;
    Some(value.trim_end_matches('"'))
}

/// A text without entities.
fn unescaped(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    text.replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outlined(svg: &str) -> String {
        Outlines::embedded().replace_texts(svg).expect("the SVG has complete texts")
    }

    #[test]
    fn each_letter_of_a_text_is_a_path_at_its_position() {
        let svg = "<a/><text x=\"10.0\" y=\"20\" font-size=\"20.48\" fill=\"#123\">!A</text><b/>";
        let out = outlined(svg);
        assert!(out.starts_with("<a/><g x=\"10.0\"") && out.ends_with("</g><b/>"), "{out}");
        assert!(out.contains("translate(10.00 20.00) scale(0.01000 -0.01000)\" d=\"M309 254"));
        // `!` has an advance of 821 units.
        assert!(out.contains("translate(18.21 20.00)") && !out.contains("<text"), "{out}");
    }

    #[test]
    fn the_anchor_moves_a_text_by_its_width() {
        let at = |anchor: &str| {
            let svg = format!(
                "<text x=\"0\" y=\"0\" font-size=\"20.48\" text-anchor=\"{anchor}\">!</text>"
            );
            let out = outlined(&svg);
            out.split("translate(")
                .nth(1)
                .and_then(|rest| rest.split(' ').next())
                .map(str::to_owned)
        };
        assert_eq!(at("start").as_deref(), Some("0.00"));
        assert_eq!(at("middle").as_deref(), Some("-4.11"));
        assert_eq!(at("end").as_deref(), Some("-8.21"));
    }

    #[test]
    fn entities_count_as_one_letter_and_unknown_letters_are_blank() {
        assert_eq!(outlined("<text font-size=\"9\">&amp;&lt;</text>").matches("<path").count(), 2);
        assert_eq!(outlined("<text font-size=\"9\">\u{6f22}</text>").matches("<path").count(), 0);
    }

    #[test]
    fn an_incomplete_text_is_an_error() {
        assert!(Outlines::embedded().replace_texts("<text x=\"1\">a").is_err());
    }
}
