//! The width of text in a picture.

/// Widths of the printable ASCII characters, in thousandths of the font size.
///
/// Source: DejaVu Sans 2.37, table `hmtx`. The other fonts that pictures name are narrower.
const WIDTHS: [u16; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
];
/// The width of any other character.
const OTHER: u16 = 700;

/// The approximate width of a line, in pixels.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let thousandths = text.chars().map(|c| {
        let index = (c as usize).checked_sub(32);
        f64::from(index.and_then(|index| WIDTHS.get(index)).copied().unwrap_or(OTHER))
    });
    thousandths.fold(0.0, |sum, width| sum + width) * size / 1000.0
}

/// As much of a line as fits into `room` pixels, with an ellipsis if it is cut.
pub(crate) fn fitted(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut kept = String::new();
    for c in text.chars() {
        if width(&kept, size) + width("m…", size) > room {
            break;
        }
        kept.push(c);
    }
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_wide_is_cut_with_an_ellipsis() {
        let long = "random read 8 KiB, queue depth 64, workers 16";
        let cut = fitted(long, 13.0, 120.0);
        assert!(cut.ends_with('…') && width(&cut, 13.0) <= 120.0, "{cut}");
        assert_eq!(fitted("short", 13.0, 120.0), "short");
    }
}
