//! A curve as a small line without axes, for a card: its shape, not its numbers.

use crate::number::plain;

/// Width and height of the drawing, in pixels.
const SIZE: (f64, f64) = (120.0, 28.0);
/// Room for the line's width and the point at its end.
const MARGIN: f64 = 3.0;

/// The values from left to right at equal distances, from 0 at the bottom to the largest at the top,
/// as an SVG element in the colour of the text around it. Empty with fewer than two numbers.
pub(crate) fn sparkline(values: &[f64]) -> String {
    let finite: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    let most = finite.iter().copied().fold(0.0, f64::max);
    let (Some(first), Some(last)) = (finite.first(), finite.last()) else { return String::new() };
    if finite.len() < 2 || most <= 0.0 {
        return String::new();
    }
    let (width, height) = SIZE;
    let step = (width - 2.0 * MARGIN) / (finite.len() - 1) as f64;
    let y = |value: f64| height - MARGIN - value.max(0.0) / most * (height - 2.0 * MARGIN);
    let points = finite.iter().enumerate();
    let points: Vec<String> = points
        .map(|(index, value)| format!("{:.1},{:.1}", MARGIN + step * index as f64, y(*value)))
        .collect();
    format!(
        "<svg class=\"sparkline\" role=\"img\" aria-label=\"From {} to {}, highest {}\" \
         width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" fill=\"none\">\
         <polyline points=\"{}\" stroke=\"currentColor\" stroke-width=\"2\" \
         stroke-linejoin=\"round\"/>\
         <circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"currentColor\"/></svg>",
        plain(*first),
        plain(*last),
        plain(most),
        points.join(" "),
        width - MARGIN,
        y(*last),
    )
}

#[cfg(test)]
mod tests {
    use super::sparkline;

    #[test]
    fn a_line_runs_from_edge_to_edge_and_from_zero_to_the_largest_value() {
        let drawn = sparkline(&[0.0, 50.0, 100.0]);
        assert!(drawn.contains("points=\"3.0,25.0 60.0,14.0 117.0,3.0\""), "{drawn}");
        assert!(
            drawn.contains("role=\"img\" aria-label=\"From 0 to 100, highest 100\""),
            "{drawn}"
        );
    }

    #[test]
    fn without_two_numbers_there_is_nothing_to_draw() {
        assert_eq!(sparkline(&[]), "");
        assert_eq!(sparkline(&[5.0]), "");
        assert_eq!(sparkline(&[f64::NAN, 5.0]), "");
        assert_eq!(sparkline(&[0.0, 0.0]), "");
    }
}
