//! A section of a report: what it contains, independent of where it is read.
//!
//! [`terminal`], [`markdown`] and [`page`] write it. A new finding gets a function in
//! [`crate::sections`] that returns a [`Section`]; every output then shows it. Text may have `code`
//! in backticks and no other markup.

pub(crate) mod markdown;
pub(crate) mod page;
pub(crate) mod terminal;

pub use crate::table::{Column, Table};
pub use page::RenderError;

use crate::buy::diagram::Diagram;
use crate::buy::utilization::Bar;
use crate::drawing::Chart;

/// A heading and the blocks below it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// The anchor that links lead to; lower case, with hyphens.
    pub id: &'static str,
    /// The heading.
    pub title: String,
    /// The content, in order.
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
    /// Independent points.
    List(Vec<String>),
    /// A table.
    Table(Table),
    /// Lines to be typed or saved as they are.
    Commands(Vec<String>),
    /// Charts side by side, on the page only; their numbers are also in a table.
    Charts(Vec<Chart>),
    /// Used shares of resources, as bars with their values.
    Bars(Vec<Bar>),
    /// A picture of a system, on the page only; its text is also in a paragraph.
    Diagram(Diagram),
}
