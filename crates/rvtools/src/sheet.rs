//! A table with its headings and the columns that are read.

use crate::cell::{Cell, Decimal};
use crate::cell_ref::{CellRef, letters};
use crate::error::{CellError, Error};
use crate::headings::{Field, Tab, plain};
use units::nearest;

/// A sheet or a CSV file.
#[derive(Debug)]
pub(crate) struct Sheet {
    /// Its name in the file.
    pub(crate) name: String,
    /// The first row that is not empty: column and text of each.
    pub(crate) headings: Vec<(u32, String)>,
    /// The rows below it that are not empty, in order.
    pub(crate) rows: Vec<Row>,
    /// The decimal mark of numbers that are texts.
    pub(crate) decimal: Decimal,
}

/// A row, without empty cells.
#[derive(Debug)]
pub(crate) struct Row {
    /// From 1.
    pub(crate) number: u32,
    /// By column.
    pub(crate) cells: Vec<(u32, Cell)>,
}

/// The positions of the columns in a sheet.
#[derive(Debug)]
pub(crate) struct Columns<'a> {
    sheet: &'a Sheet,
    found: Vec<(Field, u32)>,
}

impl Sheet {
    /// Finds the columns of `tab`. A missing optional column with a similar heading is noted.
    ///
    /// # Errors
    /// A required column is missing.
    pub(crate) fn columns(&self, tab: Tab, notes: &mut Vec<String>) -> Result<Columns<'_>, Error> {
        let mut found = Vec::new();
        let mut missing = Vec::new();
        for column in tab.columns() {
            match self.headings.iter().find(|(_, heading)| column.is(heading)) {
                Some((number, _)) => found.push((column.field, *number)),
                None => missing.push(column),
            }
        }
        let free = |column: u32| found.iter().all(|(_, taken)| *taken != column);
        let unknown: Vec<(u32, &str)> = self
            .headings
            .iter()
            .filter(|(column, _)| free(*column))
            .map(|(column, heading)| (*column, heading.as_str()))
            .collect();
        let mut absent = Vec::new();
        for column in missing {
            let name = column.names[0];
            let close = nearest(name, unknown.iter().map(|(_, heading)| *heading));
            let similar = unknown.iter().find(|(_, heading)| Some(*heading) == close);
            let close = similar
                .map(|(number, heading)| format!("`{heading}` in column {}", letters(*number)));
            match (column.is_required, close) {
                (true, close) => absent.push((name, close)),
                (false, Some(close)) => notes.push(format!(
                    "{}: no heading `{name}`; ignored the similar {close}.",
                    self.name
                )),
                (false, None) => {}
            }
        }
        match absent.is_empty() {
            true => Ok(Columns { sheet: self, found }),
            false => Err(Error::Headings { sheet: self.name.clone(), absent }),
        }
    }

    /// The column with a heading that the caller requests; a missing one is noted.
    pub(crate) fn requested_column(&self, name: &str, notes: &mut Vec<String>) -> Option<u32> {
        let is_it = |(_, heading): &&(u32, String)| plain(heading) == plain(name);
        if let Some((column, _)) = self.headings.iter().find(is_it) {
            return Some(*column);
        }
        let close = nearest(name, self.headings.iter().map(|(_, heading)| heading.as_str()));
        let similar = self.headings.iter().find(|(_, heading)| Some(heading.as_str()) == close);
        let hint = similar.map_or(".".to_owned(), |(column, heading)| {
            format!("; did you mean `{heading}` (column {})?", letters(*column))
        });
        notes.push(format!("{}: the requested column `{name}` is missing{hint}", self.name));
        None
    }
}

impl Row {
    /// The text of a column.
    pub(crate) fn shown(&self, column: u32) -> Option<String> {
        self.cells.iter().find(|(number, _)| *number == column).map(|(_, cell)| cell.shown())
    }
}

impl Columns<'_> {
    /// Whether the sheet has this column.
    pub(crate) fn has(&self, field: Field) -> bool {
        self.column(field).is_some()
    }

    fn column(&self, field: Field) -> Option<u32> {
        self.found.iter().find(|(found, _)| *found == field).map(|(_, column)| *column)
    }

    /// The cell of a field, if it is not empty.
    pub(crate) fn cell<'r>(&self, row: &'r Row, field: Field) -> Option<&'r Cell> {
        let column = self.column(field)?;
        row.cells.iter().find(|(number, _)| *number == column).map(|(_, cell)| cell)
    }

    pub(crate) fn text(&self, row: &Row, field: Field) -> Option<String> {
        self.cell(row, field).map(Cell::shown)
    }

    /// The value of a field, converted by `read`; a wrong cell is added to `wrong_cells`.
    pub(crate) fn read<T>(
        &self,
        row: &Row,
        field: Field,
        wrong_cells: &mut Vec<CellError>,
        read: impl Fn(&Cell, Decimal) -> Result<T, &'static str>,
    ) -> Option<T> {
        let cell = self.cell(row, field)?;
        match read(cell, self.sheet.decimal) {
            Ok(value) => Some(value),
            Err(allowed) => {
                let reference = self.cell_ref(row, field);
                wrong_cells.push(CellError { cell: reference, found: cell.shown(), allowed });
                None
            }
        }
    }

    /// The reference of a cell, for messages.
    pub(crate) fn cell_ref(&self, row: &Row, field: Field) -> String {
        let column = self.column(field).unwrap_or_default();
        CellRef { sheet: self.sheet.name.clone(), column, row: row.number }.to_string()
    }
}
