//! Counts, as users write them.

use crate::ParseError;
use crate::number::split_unit;

/// Parses a whole number with an optional decimal suffix: `1_000_000`, `250k`, `1.5M`, `2G`. Like those of
/// rates, suffixes are decimal and may be in lower case.
///
/// # Errors
/// The text is not a count, is not whole (`0.5`, `1.0005k`), or exceeds 64 bits.
pub fn parse_count(text: &str) -> Result<u64, ParseError> {
    let wrong = || ParseError::new(text, "a whole number such as `5000`, `250k` or `1M`");
    let (number, suffix) = split_unit(text);
    let digits: String = number.chars().filter(|c| *c != '_').collect();
    let thousands = match suffix {
        "" => 0,
        "k" | "K" => 1,
        "M" | "m" => 2,
        "G" | "g" => 3,
        _ => return Err(wrong()),
    };
    let (whole, fraction) = match digits.split_once('.') {
        None => (&digits[..], ""),
        // `5.` and `.5k` are mistakes, and so is `5.0` without a suffix.
        Some((whole, fraction)) if thousands > 0 && !whole.is_empty() && !fraction.is_empty() => {
            (whole, fraction.trim_end_matches('0'))
        }
        Some(_) => return Err(wrong()),
    };
    if whole.is_empty() {
        return Err(wrong());
    }
    // In integers, because 1.1 is not exact in binary.
    let zeros = (3 * thousands as usize).checked_sub(fraction.len()).ok_or_else(wrong)?;
    format!("{whole}{fraction}{}", "0".repeat(zeros)).parse().map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_decimal_suffixes() {
        for (text, count) in [
            ("0", 0),
            ("1_000_000", 1_000_000),
            ("250k", 250_000),
            ("1M", 1_000_000),
            ("1m", 1_000_000),
            ("1.5M", 1_500_000),
            ("1.10k", 1_100),
            ("0.001k", 1),
            (" 2 G ", 2_000_000_000),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(parse_count(text), Ok(count), "{text}");
        }
    }

    #[test]
    fn what_is_not_a_whole_number_is_refused() {
        for text in [
            "",
            "k",
            "-3",
            "+3",
            "1.5",
            "5.",
            ".5k",
            "1.0005k",
            "1.2.3k",
            "1Mi",
            "1e6",
            "1 k k",
            "18446744073709551616",
            "20000000000G",
        ] {
            let error = parse_count(text).expect_err(text);
            assert!(error.to_string().contains("`250k` or `1M`"), "{error}");
        }
    }
}
