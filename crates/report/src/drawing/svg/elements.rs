//! Elements of an SVG picture.

use std::fmt::Write as _;

/// Appends an element and a line break.
pub(super) fn element(out: &mut String, element: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = out.write_fmt(element);
    out.push('\n');
}

/// Appends text whose baseline starts, is centred, or ends at a point.
pub(super) fn text(
    out: &mut String,
    (x, y): (f64, f64),
    anchor: &str,
    size: f64,
    colour: &str,
    text: &str,
) {
    element(
        out,
        format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"{anchor}\" \
         fill=\"{colour}\">{}</text>",
            escaped(text)
        ),
    );
}

/// Text for an element or an attribute, without the characters that XML does not allow.
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
    fn names_from_users_cannot_become_markup() {
        assert_eq!(
            escaped("<a href=\"x\">&\u{1}</a>"),
            "&lt;a href=&quot;x&quot;&gt;&amp;&lt;/a&gt;"
        );
    }
}
