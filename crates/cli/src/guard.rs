//! Turns failures and panics into a message and an exit code.
//!
//! A panic in any thread is an internal error; the message asks the user to report it.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};

use commands::outcome::{Exit, Outcome};

use crate::terminal::Terminal;

static PANICKED: AtomicBool = AtomicBool::new(false);

/// Installs a panic hook that prints what the user should report.
pub(crate) fn report_panics() {
    std::panic::set_hook(Box::new(|panic| {
        PANICKED.store(true, Ordering::SeqCst);
        let thread = std::thread::current();
        let backtrace = std::backtrace::Backtrace::capture();
        let message = format!(
            "error: this is an internal error of fourcorners (please report it)\n  \
             version: {} on {} {}\n  thread {}: {panic}\n  \
             Include these lines and the command in the report. \
             Results measured so far are stored.\n",
            env!("FOURCORNERS_LONG_VERSION"),
            std::env::consts::OS,
            std::env::consts::ARCH,
            thread.name().unwrap_or("unnamed"),
        );
        crate::terminal::write_stderr(&message);
        if backtrace.status() == std::backtrace::BacktraceStatus::Captured {
            crate::terminal::write_stderr(&format!("{backtrace}\n"));
        }
    }));
}

/// Runs `command`, prints its failure, and returns the exit code.
pub(crate) fn run(command: impl FnOnce() -> Outcome, terminal: &Terminal) -> Exit {
    let outcome = std::panic::catch_unwind(AssertUnwindSafe(command));
    if PANICKED.load(Ordering::SeqCst) {
        return Exit::InternalError;
    }
    match outcome {
        Ok(Ok(exit)) => exit,
        Ok(Err(failure)) if failure.is_broken_pipe() => Exit::Done,
        Ok(Err(failure)) => {
            terminal.failure(&failure);
            failure.exit
        }
        // The panic hook printed the message.
        Err(_) => Exit::InternalError,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::ColorWhen;

    #[test]
    fn a_panic_in_any_thread_is_an_internal_error() {
        report_panics();
        let terminal = Terminal::new(ColorWhen::Never, None);
        assert_eq!(run(|| Ok(Exit::Negative), &terminal), Exit::Negative);
        let in_a_thread = || {
            let worker = std::thread::spawn(|| panic!("worker's invariant"));
            assert!(worker.join().is_err());
            Ok(Exit::Done)
        };
        assert_eq!(run(in_a_thread, &terminal), Exit::InternalError);
        assert_eq!(run(|| panic!("main's invariant"), &terminal), Exit::InternalError);
        // The flag and the hook are shared with the other tests of this process.
        PANICKED.store(false, Ordering::SeqCst);
        drop(std::panic::take_hook());
    }
}
