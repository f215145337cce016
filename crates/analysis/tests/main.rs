//! Verdicts, comparisons and other findings on records with known answers.

mod common_window;
mod compare_environment;
mod compare_errors;
mod compare_flaws;
mod compare_hosts;
mod compare_oracles;
mod compare_schedules;
mod conditions;
mod connections;
mod curves;
mod fits;
mod heat;
mod host_check;
mod host_state;
mod known_answers;
mod lost_hosts;
mod records;
mod scraped;
mod server_cache;
mod snapshot;
mod targets;
mod tune;
mod unchanged;
mod users;
mod verdicts;
mod wire;
