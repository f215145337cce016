//! Every output of a record: text, HTML, Markdown, JSON, CSV, charts.

mod chart_rules;
mod charts;
mod comparison;
mod connections;
mod consistent;
mod curves;
mod fixture;
mod glance;
mod intervals;
mod json_schema;
mod lost_hosts;
mod metric;
mod names;
mod outputs;
mod page;
mod published;
mod reports;
mod schedules;
mod sheets;
mod tune;
mod users;
