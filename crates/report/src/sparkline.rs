//! A few values as a line of blocks, for terminals: `▁▂▅▇█`.

/// Blocks of one to eight eighths.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The last `width` values, the newest at the right, from 0 to the largest among them; a blank where
/// there is no number.
pub fn text(values: &[f64], width: usize) -> String {
    let shown = &values[values.len().saturating_sub(width)..];
    let finite = shown.iter().copied().filter(|value| value.is_finite());
    let most = finite.fold(0.0, f64::max);
    let block = |value: &f64| match (value.is_finite(), most > 0.0) {
        (false, _) => ' ',
        (true, false) => BLOCKS[0],
        (true, true) => {
            let eighths = (value.max(0.0) / most * BLOCKS.len() as f64).ceil() as usize;
            BLOCKS[eighths.clamp(1, BLOCKS.len()) - 1]
        }
    };
    shown.iter().map(block).collect()
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn heights_are_shares_of_the_largest_value() {
        assert_eq!(text(&[0.0, 1.0, 4.0, 8.0], 4), "▁▁▄█");
        assert_eq!(text(&[100.0, 100.0], 8), "██");
        assert_eq!(text(&[0.0, 0.0], 8), "▁▁");
    }

    #[test]
    fn only_the_newest_values_that_fit_are_shown() {
        assert_eq!(text(&[8.0, 1.0, 2.0], 2), "▄█");
        assert_eq!(text(&[], 10), "");
        assert_eq!(text(&[1.0], 0), "");
    }

    #[test]
    fn a_missing_value_is_blank() {
        assert_eq!(text(&[8.0, f64::NAN, 8.0], 3), "█ █");
    }
}
