//! A chart's SVG as PNG: the same picture on every host, because its font is inside the program.

use std::sync::Arc;

use anyhow::Context;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};

/// The subset of DejaVu Sans that `assets/font/build.sh` makes.
const FONT: &[u8] = include_bytes!("../assets/font/DejaVuSans.ttf");
/// Pixels for each of the SVG's: 1920 across, as a projector has.
const SCALE: f32 = 2.0;

/// Draws SVG pictures into pixels.
pub(crate) struct Painter {
    options: Options<'static>,
}

impl Painter {
    pub(crate) fn new() -> Painter {
        let mut fonts = Database::new();
        fonts.load_font_data(FONT.to_vec());
        // Whatever font is asked for, this is the one there is.
        fonts.set_sans_serif_family("DejaVu Sans");
        let font_family = "DejaVu Sans".to_owned();
        Painter { options: Options { fontdb: Arc::new(fonts), font_family, ..Options::default() } }
    }

    /// The picture as a PNG file. An error is a mistake of ours: the SVG is our own.
    pub(crate) fn png(&self, svg: &str) -> anyhow::Result<Vec<u8>> {
        let tree = Tree::from_str(svg, &self.options).context("read the picture")?;
        let size = tree.size();
        let (width, height) = ((size.width() * SCALE) as u32, (size.height() * SCALE) as u32);
        let mut pixels = Pixmap::new(width, height).context("make room for the picture")?;
        resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
        pixels.encode_png().context("encode the picture")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Dark pixels of a picture of a word.
    fn ink(word: &str) -> usize {
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100\" height=\"30\" \
             font-family=\"{}\"><rect width=\"100\" height=\"30\" fill=\"#ffffff\"/>\
             <text x=\"5\" y=\"20\" font-size=\"16\" fill=\"#000000\">{word}</text></svg>",
            report::chart::svg::FONTS
        );
        let png = Painter::new().png(&svg).unwrap();
        let pixels = Pixmap::decode_png(&png).unwrap();
        assert_eq!((pixels.width(), pixels.height()), (200, 60));
        pixels.pixels().iter().filter(|pixel| pixel.red() < 128).count()
    }

    #[test]
    fn words_are_drawn_without_a_font_of_the_host() {
        assert_eq!(ink(""), 0);
        assert!(ink("l") > 20 && ink("µs ± Σ") > ink("l") * 3);
    }
}
