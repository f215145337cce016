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
pub mod buy;
mod charts;
pub mod compare;
pub mod conditions;
pub mod connections;
pub mod csv;
pub mod curves;
pub mod document;
pub mod drawing;
pub mod emulated;
pub mod expect;
pub mod glance;
pub mod hgrm;
pub mod host_check;
pub mod html;
pub mod intervals;
pub mod json;
pub mod junit;
mod labels;
pub mod look;
pub mod markdown;
pub mod method;
mod model;
pub mod number;
pub mod observe;
pub mod pictures;
pub mod pipeline;
pub mod plan;
pub mod predict;
mod prose;
pub mod record;
pub mod results;
pub mod scraped;
mod sections;
pub mod service_totals;
pub mod settings;
pub mod sheet;
pub mod sizing;
pub mod sparkline;
pub mod table;
pub mod text;
mod trees;
pub mod verdict;
pub mod warnings;
