//! References to cells of a workbook.

use std::fmt;

/// A cell, as a spreadsheet names it: `vInfo!C17`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CellRef {
    /// The sheet's name in the file.
    pub(crate) sheet: String,
    /// From 0.
    pub(crate) column: u32,
    /// From 1, as in a spreadsheet.
    pub(crate) row: u32,
}

impl fmt::Display for CellRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}!{}{}", self.sheet, letters(self.column), self.row)
    }
}

/// A column's name: `A`, `Z`, `AA`: bijective base 26.
pub(crate) fn letters(column: u32) -> String {
    let mut rest = u64::from(column) + 1;
    let mut letters = Vec::new();
    while rest > 0 {
        let digit = (rest - 1) % 26;
        letters.push(char::from(b'A' + u8::try_from(digit).expect("a digit is below 26")));
        rest = (rest - 1) / 26;
    }
    letters.into_iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_named_as_in_a_spreadsheet() {
        for (column, name) in [(0, "A"), (25, "Z"), (26, "AA"), (701, "ZZ"), (16_383, "XFD")] {
            assert_eq!(letters(column), name);
        }
        let cell = CellRef { sheet: "vInfo".to_owned(), column: 2, row: 17 };
        assert_eq!(cell.to_string(), "vInfo!C17");
    }
}
