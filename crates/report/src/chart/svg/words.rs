//! Words in a picture: how wide they are, and what must be escaped.

/// Widths of the printable ASCII characters, in thousandths of the font's size.
///
/// Source: DejaVu Sans 2.37, table `hmtx`. The other fonts that pictures name are narrower, so what
/// has room in this one has room in them.
const WIDTHS: [u16; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
];
/// A character that is not ASCII.
const OTHER: u16 = 700;

/// About how wide a line is, in pixels.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let thousandths = text.chars().map(|c| {
        let place = (c as usize).checked_sub(32);
        f64::from(place.and_then(|place| WIDTHS.get(place)).copied().unwrap_or(OTHER))
    });
    thousandths.fold(0.0, |sum, width| sum + width) * size / 1000.0
}

/// As much of a line as has room, with an ellipsis where something is left out.
pub(super) fn fitted(text: &str, size: f64, room: f64) -> String {
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

/// Text as it may stand in an element or an attribute; characters that XML does not have are left
/// out.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if c < ' ' || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_can_become_markup() {
        assert_eq!(
            escaped("<a href=\"x\">&\u{1}</a>"),
            "&lt;a href=&quot;x&quot;&gt;&amp;&lt;/a&gt;"
        );
    }

    #[test]
    fn a_line_that_is_too_wide_ends_with_an_ellipsis_inside_its_room() {
        let long = "random read 8 KiB, queue depth 64, workers 16";
        let cut = fitted(long, 13.0, 120.0);
        assert!(cut.ends_with('…') && width(&cut, 13.0) <= 120.0, "{cut}");
        assert_eq!(fitted("short", 13.0, 120.0), "short");
    }
}
