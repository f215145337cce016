//! The value of a cell, and its conversion to a number, a boolean or a word.

/// A cell that is not empty.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    /// A text, trimmed.
    Text(String),
    /// A number.
    Number(f64),
    /// A boolean.
    Boolean(bool),
    /// The error of a formula: `#N/A`.
    Failed(String),
}

/// The decimal mark of a table's numbers that are texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decimal {
    /// `1,234.5`
    Point,
    /// `1.234,5`, as in countries whose CSV uses semicolons.
    Comma,
}

/// 2^53: above this a 64-bit float no longer represents every whole number.
const LARGEST: f64 = 9_007_199_254_740_992.0;

impl Cell {
    /// A text; `None` if the cell is blank.
    pub(crate) fn text(text: &str) -> Option<Cell> {
        let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        if text.is_empty() { None } else { Some(Cell::Text(text.to_owned())) }
    }

    /// The displayed text.
    pub(crate) fn shown(&self) -> String {
        match self {
            Cell::Text(text) | Cell::Failed(text) => text.clone(),
            Cell::Number(number) => number.to_string(),
            Cell::Boolean(value) => if *value { "True" } else { "False" }.to_owned(),
        }
    }

    /// A number that is not negative.
    ///
    /// # Errors
    /// What is allowed.
    pub(crate) fn number(&self, decimal: Decimal) -> Result<f64, &'static str> {
        const ALLOWED: &str = "a number";
        let number = match self {
            Cell::Number(number) => *number,
            Cell::Text(text) => parse(text, decimal).ok_or(ALLOWED)?,
            Cell::Boolean(_) | Cell::Failed(_) => return Err(ALLOWED),
        };
        match number {
            n if !n.is_finite() => Err(ALLOWED),
            n if n < 0.0 => Err("a number of at least 0"),
            n if n > LARGEST => Err("a smaller number"),
            n => Ok(n),
        }
    }

    /// A whole number.
    ///
    /// # Errors
    /// What is allowed.
    pub(crate) fn count(&self, decimal: Decimal) -> Result<u64, &'static str> {
        let number = self.number(decimal)?;
        if number.fract() != 0.0 {
            return Err("a whole number");
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        Ok(number as u64)
    }

    /// `True` or `False`, `Yes` or `No`, 1 or 0, in any case.
    ///
    /// # Errors
    /// What is allowed.
    pub(crate) fn boolean(&self) -> Result<bool, &'static str> {
        match self {
            Cell::Boolean(value) => Ok(*value),
            Cell::Number(1.0) => Ok(true),
            Cell::Number(0.0) => Ok(false),
            Cell::Text(text) => match text.to_lowercase().as_str() {
                "true" | "yes" | "1" => Ok(true),
                "false" | "no" | "0" => Ok(false),
                _ => Err("`True` or `False`"),
            },
            Cell::Number(_) | Cell::Failed(_) => Err("`True` or `False`"),
        }
    }
}

/// `1234`, `1,234,567`, `1.234.567`, `1 234`, `1'234`, `12.5`, `12,5`.
///
/// A single mark that could be either (`1,234`) is read according to the table's decimal mark.
fn parse(text: &str, decimal: Decimal) -> Option<f64> {
    let text: String =
        text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '\'' | '\u{2019}')).collect();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1.0, digits),
        None => (1.0, text.as_str()),
    };
    if !digits.chars().all(|c| c.is_ascii_digit() || c == '.' || c == ',') {
        return None;
    }
    let (points, commas) = (digits.matches('.').count(), digits.matches(',').count());
    let mark = match (points, commas) {
        (0, 0) => None,
        // With both marks, the last one is the decimal mark.
        (1.., 1..) if digits.rfind('.') > digits.rfind(',') => Some('.'),
        (1.., 1..) => Some(','),
        (1, 0) if decimal == Decimal::Point || !is_grouped(digits, '.') => Some('.'),
        (0, 1) if decimal == Decimal::Comma || !is_grouped(digits, ',') => Some(','),
        _ => None,
    };
    let (whole, fraction) = match mark.and_then(|mark| digits.rsplit_once(mark)) {
        Some((whole, fraction)) => (whole, fraction),
        None => (digits, ""),
    };
    let groups = if mark == Some('.') { ',' } else { '.' };
    let groups = if mark.is_none() && commas > 0 { ',' } else { groups };
    let is_plain = whole.chars().all(|c| c.is_ascii_digit());
    if fraction.contains(['.', ',']) || !(is_plain || is_grouped(whole, groups)) {
        return None;
    }
    let whole: String = whole.chars().filter(char::is_ascii_digit).collect();
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    format!("0{whole}.{fraction}0").parse().ok().map(|number: f64| sign * number)
}

/// Whether `mark` separates groups of three digits, and nothing else.
fn is_grouped(digits: &str, mark: char) -> bool {
    let mut groups = digits.split(mark);
    let first = groups.next().unwrap_or_default();
    let is_group = |group: &str| group.len() == 3 && group.chars().all(|c| c.is_ascii_digit());
    (1..=3).contains(&first.len())
        && first.chars().all(|c| c.is_ascii_digit())
        && groups.all(is_group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_with_either_decimal_mark() {
        for (text, decimal, number) in [
            ("1234", Decimal::Point, Some(1234.0)),
            ("1,234", Decimal::Point, Some(1234.0)),
            ("1,234", Decimal::Comma, Some(1.234)),
            ("1.234", Decimal::Comma, Some(1234.0)),
            ("1.234", Decimal::Point, Some(1.234)),
            ("1,234,567", Decimal::Comma, Some(1_234_567.0)),
            ("1.234.567", Decimal::Point, Some(1_234_567.0)),
            ("1,234.5", Decimal::Comma, Some(1234.5)),
            ("1.234,5", Decimal::Point, Some(1234.5)),
            ("12,5", Decimal::Point, Some(12.5)),
            ("1 234 567", Decimal::Point, Some(1_234_567.0)),
            ("1\u{a0}234", Decimal::Point, Some(1234.0)),
            ("1'234", Decimal::Point, Some(1234.0)),
            ("0.5", Decimal::Comma, Some(0.5)),
            (".5", Decimal::Point, Some(0.5)),
            ("-5", Decimal::Point, Some(-5.0)),
            ("12,34,5", Decimal::Point, None),
            ("1.2.3", Decimal::Point, None),
            ("1,2,3.4", Decimal::Point, None),
            ("many", Decimal::Point, None),
            ("1e5", Decimal::Point, None),
            (".", Decimal::Point, None),
            ("-", Decimal::Point, None),
            ("12 MiB", Decimal::Point, None),
        ] {
            assert_eq!(parse(text, decimal), number, "{text}");
        }
    }

    #[test]
    fn negative_and_malformed_numbers_are_refused() {
        let number = |cell: Cell| cell.number(Decimal::Point);
        assert_eq!(number(Cell::Number(-1.0)), Err("a number of at least 0"));
        assert_eq!(number(Cell::Text("-1".to_owned())), Err("a number of at least 0"));
        assert_eq!(number(Cell::Number(f64::NAN)), Err("a number"));
        assert_eq!(number(Cell::Failed("#N/A".to_owned())), Err("a number"));
        assert_eq!(number(Cell::Number(1e300)), Err("a smaller number"));
        assert_eq!(Cell::Number(1.5).count(Decimal::Point), Err("a whole number"));
        assert_eq!(Cell::Number(2.0).count(Decimal::Point), Ok(2));
    }

    #[test]
    fn booleans_are_read_in_any_case() {
        for (cell, value) in [
            (Cell::Text("True".to_owned()), Ok(true)),
            (Cell::Text("FALSE".to_owned()), Ok(false)),
            (Cell::Boolean(true), Ok(true)),
            (Cell::Number(0.0), Ok(false)),
            (Cell::Text("maybe".to_owned()), Err("`True` or `False`")),
        ] {
            assert_eq!(cell.boolean(), value);
        }
        assert_eq!(Cell::text(" \u{a0} "), None);
    }
}
