//! What a section of a report says, before it is known where it is read: in a terminal, on the
//! page, or as Markdown.
//!
//! For: findings that are words, lists and tables. A new finding gets a function in
//! [`crate::sections`] that makes a [`Section`]; all outputs then show it. Words may have `code` in
//! backticks and nothing else: what looks like markup is text.

pub(crate) mod figures;
pub(crate) mod markdown;
pub(crate) mod page;
pub(crate) mod terminal;

pub use page::RenderError;

use crate::chart::Chart;

/// A heading with what stands below it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// What links lead to; lower case, with hyphens.
    pub id: &'static str,
    /// The heading.
    pub title: String,
    /// What stands below it, in order.
    pub blocks: Vec<Block>,
    /// The definitions that its numbers rest on: names in [`crate::method::DEFINITIONS`], each a
    /// heading of `docs/method.md`.
    pub method: Vec<&'static str>,
}

/// A part of a section.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// A heading inside the section.
    Heading(String),
    /// Whole sentences.
    Paragraph(String),
    /// Points, none of which needs the others.
    List(Vec<String>),
    /// Numbers side by side.
    Table(Table),
    /// Lines to be typed as they are.
    Commands(Vec<String>),
    /// Pictures side by side: on the page alone, for their numbers stand in a table as well.
    Charts(Vec<Chart>),
}

/// Numbers side by side, as printed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What it shows; may be empty.
    pub caption: String,
    /// The columns, the first of which names the rows.
    pub columns: Vec<Column>,
    /// The cells of each row, as many as there are columns.
    pub rows: Vec<Vec<String>>,
}

/// A column of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Column {
    /// What its cells are.
    pub name: String,
    /// Their unit; may be empty.
    pub unit: String,
    /// Whether they are words, which stand at the left, and not numbers.
    pub words: bool,
}

impl Column {
    /// A column of words.
    pub fn words(name: &str) -> Column {
        Column { name: name.to_owned(), unit: String::new(), words: true }
    }

    /// A column of numbers in `unit`.
    pub fn numbers(name: &str, unit: &str) -> Column {
        Column { name: name.to_owned(), unit: unit.to_owned(), words: false }
    }
}
