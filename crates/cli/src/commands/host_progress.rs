//! Progress of a command that asks every host once: how many are done, and later which are not.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use commands::fleet::Fleet;
use engine::drive::Stop;
use runner::overdue::NAMED_AFTER_NS;
use units::listed;

use crate::terminal::Terminal;

/// Time between two lines of progress.
const PROGRESS_EVERY: Duration = Duration::from_secs(1);

/// Prints lines of progress, and ends the command when the user does.
pub(super) fn observer<'t>(
    fleet: &Fleet,
    terminal: &'t Terminal,
    stop: &'t Stop,
) -> impl FnMut(&[&str]) -> ControlFlow<()> + use<'t> {
    let total = fleet.names().count();
    let begun = Instant::now();
    let mut next = begun + PROGRESS_EVERY;
    move |waiting| {
        if Instant::now() >= next {
            next += PROGRESS_EVERY;
            terminal.note(&line(total, waiting, begun.elapsed()));
        }
        match stop.is_requested() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

/// * `waiting` - the hosts that are not done
fn line(total: usize, waiting: &[&str], elapsed: Duration) -> String {
    let done = format!("{} of {total} hosts done", total - waiting.len());
    if elapsed < Duration::from_nanos(NAMED_AFTER_NS) || waiting.is_empty() {
        return done;
    }
    format!("{done}, waiting for {}", listed(waiting))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_that_take_long_are_named() {
        let seconds = Duration::from_secs;
        assert_eq!(line(4, &["h2", "h3"], seconds(7)), "2 of 4 hosts done");
        assert_eq!(line(4, &["h2", "h3"], seconds(8)), "2 of 4 hosts done, waiting for h2 and h3");
        assert_eq!(line(4, &[], seconds(9)), "4 of 4 hosts done");
        let many = ["h"; 11];
        assert!(line(20, &many, seconds(9)).ends_with("h, h and 3 more"));
    }
}
