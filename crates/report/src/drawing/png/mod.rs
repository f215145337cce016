//! Renders a chart's SVG as PNG, the same on every host: the outlines of letters are in the program.

mod outlines;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

use outlines::Outlines;

/// Pixels per SVG unit: 1920 across, as a projector.
const SCALE: f32 = 2.0;

/// Why an image cannot be rendered: an internal error, because the SVG is written by [`super::svg`].
#[derive(Debug, thiserror::Error)]
#[error("render the image: {0}")]
pub struct PngError(String);

/// Renders SVG images.
#[derive(Debug)]
pub struct Painter {
    outlines: Outlines,
}

impl Painter {
    /// A painter with the letters in the program.
    pub fn embedded() -> Painter {
        Painter { outlines: Outlines::embedded() }
    }

    /// The image as a PNG file.
    pub fn png(&self, svg: &str) -> Result<Vec<u8>, PngError> {
        let svg = self.outlines.replace_texts(svg)?;
        let tree = Tree::from_str(&svg, &Options::default())
            .map_err(|error| PngError(error.to_string()))?;
        let size = tree.size();
        let (width, height) = ((size.width() * SCALE) as u32, (size.height() * SCALE) as u32);
        let mut pixels = Pixmap::new(width, height)
            .ok_or_else(|| PngError(format!("{width} x {height} pixels")))?;
        resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
        pixels.encode_png().map_err(|error| PngError(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Dark pixels of an image of a word.
    fn ink(word: &str) -> usize {
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100\" height=\"30\" \
             font-family=\"{}\"><rect width=\"100\" height=\"30\" fill=\"#ffffff\"/>\
             <text x=\"5\" y=\"20\" font-size=\"16\" fill=\"#000000\">{word}</text></svg>",
            crate::drawing::svg::FONTS
        );
        let png = Painter::embedded().png(&svg).unwrap();
        let pixels = Pixmap::decode_png(&png).unwrap();
        assert_eq!((pixels.width(), pixels.height()), (200, 60));
        pixels.pixels().iter().filter(|pixel| pixel.red() < 128).count()
    }

    #[test]
    fn text_is_rendered_without_fonts_of_the_host() {
        assert_eq!(ink(""), 0);
        assert!(ink("l") > 20 && ink("µs ± Σ") > ink("l") * 3);
    }
}
