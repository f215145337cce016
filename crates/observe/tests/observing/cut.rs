//! Traces that end anywhere, or have wrong bytes, give an observation of what is readable or an error.

use observe::{Options, observe};

use crate::capture_file::{Capture, Container, call, read_call, read_reply, write_call};

fn operations(trace: &[u8]) -> Option<u64> {
    observe(trace, &Options::default()).ok().map(|found| found.operations())
}

/// A capture, a log and a trace, each with six operations.
fn traces() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for container in [Container::pcap(), Container::pcapng()] {
        let mut capture = Capture::new(container);
        for at in 0..6u32 {
            capture.client(&read_call(at, b"f", u64::from(at) * 256, 256));
            capture.server(&read_reply(at, 256, 1 << 20));
        }
        all.push(capture.bytes());
    }
    let mut log = String::from("fio version 3 iolog\n");
    let mut text = String::new();
    for at in 0..6 {
        log.push_str(&format!("{at} /f read {} 4096\n", at * 4096));
        text.push_str(&format!(
            "12 1700000000.{at:06} pread64(3</f>, \"ab\"..., 4096, {}) = 4096 <0.000010>\n",
            at * 4096
        ));
    }
    all.push(log.into_bytes());
    all.push(text.into_bytes());
    all
}

#[test]
fn a_trace_that_is_cut_anywhere_is_read_up_to_there() {
    for trace in traces() {
        assert_eq!(operations(&trace), Some(6));
        let mut before = 0;
        for end in 0..trace.len() {
            let found = operations(&trace[..end]).unwrap_or(0);
            // A number of a cut line may be shorter, but no operation appears from nothing.
            assert!(found >= before && found <= 6, "{end}: {found} after {before}");
            before = found;
        }
        assert!(before >= 5);
    }
}

#[test]
fn wrong_bytes_neither_stop_the_program_nor_take_memory() {
    // Multiplicative congruential generator of Lehmer: the same bytes in every run.
    let mut state = 1u64;
    let mut next = || {
        state = state * 48271 % 0x7fff_ffff;
        state as usize
    };
    for trace in traces() {
        for _ in 0..400 {
            let mut wrong = trace.clone();
            for _ in 0..1 + next() % 4 {
                let at = next() % wrong.len();
                wrong[at] = next() as u8;
            }
            // Any answer is right but a panic.
            let _ = operations(&wrong);
        }
    }
}

#[test]
fn calls_with_wrong_arguments_are_counted_as_damaged() {
    let mut capture = Capture::new(Container::pcap());
    capture.client(&write_call(1, b"f", 0, 512, 0));
    capture.server(&crate::capture_file::write_reply(1, 512, 512));
    // A handle of 65 bytes is longer than RFC 1813 allows.
    capture.client(&call(2, 6, &[65, 0, 0, 0]));
    let found = crate::observed(&capture.bytes());
    assert_eq!((found.operations(), crate::damaged(&found)), (1, 1));
}
