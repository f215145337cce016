//! Lays out findings as terminal text, Markdown, a self-contained HTML page, pictures, CSV, JSON and
//! HdrHistogram percentile files.
//!
//! For: layout, wording and the scaling of units. Not for: arithmetic; every number is one of
//! [`analysis::Findings`], so all outputs have the same numbers.
//!
//! Reading order: [`results`] (the tables of results), [`number`] (how numbers are printed),
//! [`sections`] (findings in words), [`document`] and [`table`] (how sections and tables are
//! written), [`drawing`] (how charts are drawn), then the outputs: [`text`], [`markdown`], [`html`],
//! [`pictures`], [`json`] and [`csv`].

pub mod assumed;
pub mod avs;
mod charts;
pub mod compare;
pub mod connections;
pub mod csv;
pub mod curves;
pub mod document;
pub mod drawing;
pub mod emulated;
pub mod expect;
pub mod hgrm;
pub mod host_check;
pub mod html;
pub mod json;
mod labels;
pub mod markdown;
pub mod method;
mod model;
pub mod number;
pub mod pictures;
pub mod plan;
pub mod predict;
mod prose;
pub mod record;
pub mod results;
mod sections;
pub mod service_totals;
pub mod settings;
pub mod sheet;
pub mod sizing;
pub mod table;
pub mod text;
pub mod verdict;
pub mod warnings;
