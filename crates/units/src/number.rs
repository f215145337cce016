//! Numbers in texts: parsing, and thousands separators.

/// Printed instead of a number that is not finite.
pub(crate) const NOT_A_NUMBER: &str = "n/a";

/// Splits `12.5 MiB/s` into the texts of number and unit, trimmed.
pub(crate) fn split_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end =
        text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

/// Parses a non-negative decimal number such as `1_024` or `1.5`.
pub(crate) fn parse_number(text: &str) -> Option<f64> {
    let digits: String = text.chars().filter(|c| *c != '_').collect();
    if digits.is_empty() {
        return None;
    }
    digits.parse::<f64>().ok().filter(|n| n.is_finite())
}

/// `1234567` as `1,234,567`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
