//! The outermost ring: turns failures and panics into a message and an exit code.
//!
//! A panic anywhere, in a worker's thread too, is a mistake of ours, and the user is told so with
//! what to report.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit::{Exit, Outcome};
use crate::terminal::Terminal;

static PANICKED: AtomicBool = AtomicBool::new(false);

/// From here on a panic prints what the user should report instead of Rust's own message.
pub(crate) fn report_panics_as_our_bug() {
    std::panic::set_hook(Box::new(|panic| {
        PANICKED.store(true, Ordering::SeqCst);
        let thread = std::thread::current();
        let backtrace = std::backtrace::Backtrace::capture();
        let message = format!(
            "error: this is a mistake in fourcorners, not in what you did\n  \
             version: {} on {} {}\n  thread {}: {panic}\n  \
             Please report these lines together with the command. \
             What was measured until now is kept.\n",
            env!("CARGO_PKG_VERSION"),
            std::env::consts::OS,
            std::env::consts::ARCH,
            thread.name().unwrap_or("unnamed"),
        );
        crate::terminal::last_words(&message);
        if backtrace.status() == std::backtrace::BacktraceStatus::Captured {
            crate::terminal::last_words(&format!("{backtrace}\n"));
        }
    }));
}

/// Does `command`, says what went wrong, and gives the exit code.
pub(crate) fn run(command: impl FnOnce() -> Outcome, terminal: &Terminal) -> Exit {
    let outcome = std::panic::catch_unwind(AssertUnwindSafe(command));
    if PANICKED.load(Ordering::SeqCst) {
        return Exit::OwnBug;
    }
    match outcome {
        Ok(Ok(exit)) => exit,
        Ok(Err(failure)) if failure.is_broken_pipe() => Exit::Done,
        Ok(Err(failure)) => {
            if let Some(error) = &failure.error {
                terminal.error(error);
            }
            failure.exit
        }
        // The hook has spoken.
        Err(_) => Exit::OwnBug,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::ColorWhen;

    #[test]
    fn a_panic_is_our_bug_even_in_another_thread() {
        report_panics_as_our_bug();
        let terminal = Terminal::new(ColorWhen::Never);
        assert_eq!(run(|| Ok(Exit::Negative), &terminal), Exit::Negative);
        let in_a_thread = || {
            let worker = std::thread::spawn(|| panic!("worker's invariant"));
            assert!(worker.join().is_err());
            Ok(Exit::Done)
        };
        assert_eq!(run(in_a_thread, &terminal), Exit::OwnBug);
        assert_eq!(run(|| panic!("main's invariant"), &terminal), Exit::OwnBug);
        // Flag and hook belong to the process, which has other tests.
        PANICKED.store(false, Ordering::SeqCst);
        drop(std::panic::take_hook());
    }
}
