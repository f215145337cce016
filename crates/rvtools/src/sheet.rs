//! A table with its headings, of which only the wanted columns are kept.

use crate::cell::{Cell, Decimal};
use crate::error::{CellMistake, Error};
use crate::headings::{Field, Tab, plain};
use crate::place::{Place, letters};
use units::nearest;

/// A sheet or a CSV file.
#[derive(Debug)]
pub(crate) struct Sheet {
    /// As its file names it.
    pub(crate) name: String,
    /// The first row that is not empty: column and text of each.
    pub(crate) headings: Vec<(u32, String)>,
    /// The rows below it that are not empty, in order.
    pub(crate) rows: Vec<Row>,
    /// What its numbers look like where they are texts.
    pub(crate) decimal: Decimal,
}

/// A row's cells in order of their columns; empty ones do not stand there.
#[derive(Debug)]
pub(crate) struct Row {
    /// From 1.
    pub(crate) number: u32,
    pub(crate) cells: Vec<(u32, Cell)>,
}

/// Where the wanted columns of a sheet are.
#[derive(Debug)]
pub(crate) struct Columns<'a> {
    sheet: &'a Sheet,
    found: Vec<(Field, u32)>,
}

impl Sheet {
    /// Finds the columns of `tab`, and notes wanted ones that another heading was perhaps meant
    /// for.
    ///
    /// # Errors
    /// A needed column is not there; the closest heading is named.
    pub(crate) fn columns(&self, tab: Tab, notes: &mut Vec<String>) -> Result<Columns<'_>, Error> {
        let mut found = Vec::new();
        let mut missing = Vec::new();
        for wanted in tab.wanted() {
            match self.headings.iter().find(|(_, heading)| wanted.is(heading)) {
                Some((column, _)) => found.push((wanted.field, *column)),
                None => missing.push(wanted),
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
        for wanted in missing {
            let name = wanted.names[0];
            let close = nearest(name, unknown.iter().map(|(_, heading)| *heading));
            let place = unknown.iter().find(|(_, heading)| Some(*heading) == close);
            let close = place
                .map(|(column, heading)| format!("`{heading}` in column {}", letters(*column)));
            match (wanted.is_needed, close) {
                (true, close) => absent.push((name, close)),
                (false, Some(close)) => notes.push(format!(
                    "{}: no heading `{name}`; was {close} meant? It was not read.",
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

    /// The column below a heading that the caller asks for; where there is none, it is noted.
    pub(crate) fn asked(&self, name: &str, notes: &mut Vec<String>) -> Option<u32> {
        let is_it = |(_, heading): &&(u32, String)| plain(heading) == plain(name);
        if let Some((column, _)) = self.headings.iter().find(is_it) {
            return Some(*column);
        }
        let close = nearest(name, self.headings.iter().map(|(_, heading)| heading.as_str()));
        let place = self.headings.iter().find(|(_, heading)| Some(heading.as_str()) == close);
        let close = place.map_or(".".to_owned(), |(column, heading)| {
            format!("; was `{heading}` in column {} meant?", letters(*column))
        });
        notes.push(format!("{}: no column `{name}`, which was asked for{close}", self.name));
        None
    }
}

impl Row {
    /// What stands in a column.
    pub(crate) fn shown(&self, column: u32) -> Option<String> {
        self.cells.iter().find(|(place, _)| *place == column).map(|(_, cell)| cell.shown())
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

    /// What stands in a row, where anything does.
    pub(crate) fn cell<'r>(&self, row: &'r Row, field: Field) -> Option<&'r Cell> {
        let column = self.column(field)?;
        row.cells.iter().find(|(place, _)| *place == column).map(|(_, cell)| cell)
    }

    /// As words.
    pub(crate) fn text(&self, row: &Row, field: Field) -> Option<String> {
        self.cell(row, field).map(Cell::shown)
    }

    /// As what `read` makes of it; what is wrong goes to `mistakes`.
    pub(crate) fn read<T>(
        &self,
        row: &Row,
        field: Field,
        mistakes: &mut Vec<CellMistake>,
        read: impl Fn(&Cell, Decimal) -> Result<T, &'static str>,
    ) -> Option<T> {
        let cell = self.cell(row, field)?;
        match read(cell, self.sheet.decimal) {
            Ok(value) => Some(value),
            Err(wanted) => {
                let place = self.place(row, field);
                mistakes.push(CellMistake { place, found: cell.shown(), wanted });
                None
            }
        }
    }

    /// Where a field stands in a row, for messages.
    pub(crate) fn place(&self, row: &Row, field: Field) -> String {
        let column = self.column(field).unwrap_or_default();
        Place { sheet: self.sheet.name.clone(), column, row: row.number }.to_string()
    }
}
