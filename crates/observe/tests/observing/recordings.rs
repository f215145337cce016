//! Traces as lists to replay, and block traces.

use observe::observation::{Direction, Note};
use observe::{Format, Options, observe, record};

use crate::{damaged, observed, sizes};

/// The list of a trace, without its comment.
fn list(trace: &str) -> String {
    let (_, recording) = record(trace.as_bytes(), &Options::default(), false).unwrap();
    let mut text = Vec::new();
    recording.write("a trace", &mut text).unwrap();
    String::from_utf8(text).unwrap().replace("# a trace\n", "")
}

fn refused(trace: &str, skip_damaged: bool) -> String {
    record(trace.as_bytes(), &Options::default(), skip_damaged).unwrap_err().to_string()
}

#[test]
fn calls_of_strace_are_listed_in_the_order_of_their_begins() {
    // The write began before the read that ended first.
    let trace = "10 1700000000.000100 openat(AT_FDCWD, \"/d/f\", O_RDWR) = 3</d/f> <0.000010>\n\
                 10 1700000000.000200 write(3</d/f>, \"x\"..., 8192 <unfinished ...>\n\
                 11 1700000000.000300 pread64(4</d/g>, \"x\"..., 512, 1024) = 512 <0.000100>\n\
                 10 1700000000.000900 <... write resumed>) = 8192 <0.000700>\n\
                 10 1700000000.001000 fdatasync(3</d/f>) = 0 <0.002000>\n\
                 10 1700000000.004000 fsync(3</d/f>) = -1 EIO (Input/output error) <0.000010>\n\
                 10 1700000000.005000 read(3</d/f>, \"\", 4096) = 0 <0.000010>\n\
                 10 1700000000.006000 pread64(3</d/f>, 0x7f, 4096, 0) = -1 EIO (Input/output error) <0.00001>\n";
    let expected = "fourcorners replay 1\nfile 0 /d/f\nfile 1 /d/g\nleft-out 1 fsync\nleft-out 1 open\n\
                    left-out 1 failed read\nleft-out 1 read at the end of a file\n\
                    0 write 0 0 8192\n100000 read 1 1024 512\n800000 fsync 0\nend 3\n";
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let found = list(trace);
    assert_eq!(sorted(&found), sorted(expected), "{found}");
    let operations = |text: &str| -> Vec<String> {
        let is_one = |line: &&str| line.starts_with(|c: char| c.is_ascii_digit());
        text.lines().filter(is_one).map(str::to_owned).collect()
    };
    assert_eq!(operations(&found), operations(expected));
}

#[test]
fn logs_of_fio_are_listed_with_and_without_times() {
    let log = "fio version 3 iolog\n5 /f add\n5 /f open\n7 /f read 0 4096\n9 /f write 4096 512\n\
               9 /f datasync\n20 /f trim 0 512\n21 /f close\n";
    let files = "fourcorners replay 1\nfile 0 /f\n";
    let found = list(log);
    assert!(found.starts_with(files), "{found}");
    assert!(
        found.ends_with("\n0 read 0 0 4096\n2000 write 0 4096 512\n2000 fsync 0\nend 3\n"),
        "{found}"
    );
    for left_out in ["left-out 1 trim", "left-out 1 open", "left-out 1 close"] {
        assert!(found.contains(left_out), "{found}");
    }
    let old = "fio version 2 iolog\n/f add\n/f open\n/f read 0 4096\n/f sync\n/f close\n";
    assert!(list(old).ends_with("\n- read 0 0 4096\n- fsync 0\nend 2\n"));
}

#[test]
fn operations_above_the_largest_are_listed_as_several() {
    let log = "fio version 3 iolog\n0 /f write 4096 134217729\n";
    let expected =
        "\n0 write 0 4096 67108864\n0 write 0 67112960 67108864\n0 write 0 134221824 1\nend 3\n";
    assert!(list(log).ends_with(expected), "{}", list(log));
}

#[test]
fn damaged_traces_are_refused_unless_their_records_are_to_be_left_out() {
    let log = "fio version 3 iolog\n0 /f read 0 4096\nrubbish\n9 /f read 0 4096\n10 /f re";
    let error = refused(log, false);
    assert!(
        error.starts_with("line 3 (byte 37): the record is damaged, as are 2 in all"),
        "{error}"
    );
    assert!(error.contains("--skip-damaged"), "{error}");
    let (_, recording) = record(log.as_bytes(), &Options::default(), true).unwrap();
    assert_eq!(recording.operations(), 2);
    assert_eq!(recording.left_out, [("damaged record".to_owned(), 2)]);
}

#[test]
fn traces_far_out_of_order_are_refused_with_the_line() {
    let mut log = String::from("fio version 3 iolog\n");
    for at in 0..70_000 {
        log += &format!("{} /f read 0 4096\n", 100 + at);
    }
    log += "1 /f read 0 4096\n";
    let error = refused(&log, true);
    assert!(error.starts_with("line 70002 (byte"), "{error}");
    assert!(error.contains("sort the trace by time"), "{error}");
}

#[test]
fn a_log_of_our_own_is_listed_operation_by_operation() {
    // Times in microseconds, so that nothing is rounded.
    let mut log = String::from("fio version 3 iolog\n");
    let mut expected = String::new();
    for at in 0..5000u64 {
        let bits = workload::random::at(7, at);
        let (us, file) = (at * 137, bits % 3);
        let (offset, size) = (bits % 10_000 * 512, 512 << (bits % 5));
        let kind = ["read", "write"][(bits >> 40) as usize % 2];
        log += &format!("{us} /f{file} {kind} {offset} {size}\n");
        expected += &format!("{} {kind} /f{file} {offset} {size}\n", us * 1000);
    }
    let found = list(&log);
    let files: Vec<&str> = found
        .lines()
        .filter_map(|line| line.strip_prefix("file "))
        .map(|line| &line[2..])
        .collect();
    let operations: String = found
        .lines()
        .filter(|line| line.starts_with(|c: char| c.is_ascii_digit()))
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let file: usize = words[2].parse().unwrap();
            format!("{} {} {} {} {}\n", words[0], words[1], files[file], words[3], words[4])
        })
        .collect();
    assert_eq!(operations, expected);
}

/// Two reads that are merged, a write with FUA, a flush, a discard and a read that does not end.
const BLOCKS: &str = "\
  8,0    3        1     0.000000000   697  Q   R 2048 + 8 [app]
  8,0    3        2     0.000001829   697  G   R 2048 + 8 [app]
  8,0    3        3     0.000100000   697  Q   R 2056 + 8 [app]
  8,0    3        4     0.000101000   697  M   R 2056 + 8 [app]
  8,0    3        5     0.000110000   697  U   N [app] 1
  8,0    3        6     0.000120000   697  D   R 2048 + 16 [app]
  8,0    3        7     0.000500000     0  C   R 2048 + 16 [0]
  8,0    1        1     0.001000000    12  Q WFS 0 + 1 [jbd2/sda1-8]
  8,0    1        2     0.002000000     0  C WFS 0 + 1 [0]
  8,0    1        3     0.003000000    12  Q FWS [jbd2/sda1-8]
  8,0    1        4     0.003500000     0  C FWS [0]
  8,0    1        5     0.004000000    12  Q   D 4096 + 1024 [fstrim]
  8,0    1        6     0.004500000     0  C   D 4096 + 1024 [0]
  8,0    1        7     0.005000000   697  Q  RA 8192 + 64 [app]
CPU1 (8,0):
 Reads Queued:           3,       40KiB\t Writes Queued:           1,        0KiB
Total (8,0):
 Reads Queued:           3,       40KiB\t Writes Queued:           1,        0KiB
";

#[test]
fn block_traces_have_begins_ends_and_flushes() {
    let found = observed(BLOCKS.as_bytes());
    assert_eq!(found.source.format, Format::Blktrace);
    assert_eq!(damaged(&found), 0, "{:?}", found.notes);
    assert_eq!(sizes(&found, Direction::Read), [(4096, 2), (32_768, 1)]);
    assert_eq!(sizes(&found, Direction::Write), [(512, 1)]);
    assert_eq!(found.data[1].durable, Some(1));
    let response = found.data[0].response.unwrap();
    // 500 µs and, merged later, 400 µs.
    assert_eq!((response.samples, response.mean_ns), (2, 450_000.0));
    assert!(found.notes.contains(&Note::NoEnds { operations: 1 }), "{:?}", found.notes);
    assert_eq!((found.other("flush"), found.other("discard")), (1, 1));
    assert_eq!(found.working_set.files[0].name, "device 8,0");
    let expected = "fourcorners replay 1\nfile 0 device 8,0\nleft-out 1 discard\n\
                    0 read 0 1048576 4096\n100000 read 0 1052672 4096\n1000000 write 0 0 512\n\
                    3000000 fsync 0\n5000000 read 0 4194304 32768\nend 5\n";
    assert_eq!(list(BLOCKS), expected);
}

#[test]
fn block_traces_of_issues_only_and_of_several_devices_are_read() {
    let trace = "  8,0 0 1 0.000000000 1 D R 8 + 8 [a]\n  8,16 0 1 0.000000000 1 D W 8 + 16 [b]\n  \
                 8,0 0 2 0.001000000 0 C R 8 + 8 [0]\n  8,16 0 2 0.002000000 0 C W 8 + 16 [0]\n  \
                 8,0 0 3 0.003000000 0 C R 64 + 8 [0]\n";
    let found = observed(trace.as_bytes());
    assert_eq!((found.operations(), found.working_set.files.len()), (2, 2));
    assert_eq!(found.data[1].response.unwrap().mean_ns, 2_000_000.0);
    // One completion without its begin.
    assert!(found.notes.contains(&Note::Unmatched { replies: 1 }), "{:?}", found.notes);
    let options = Options { under: Some("device 8,16".to_owned()), ..Options::default() };
    assert_eq!(observe(trace.as_bytes(), &options).unwrap().operations(), 1);
}

#[test]
fn a_block_trace_that_is_cut_anywhere_is_read_up_to_there() {
    let whole = observed(BLOCKS.as_bytes()).operations();
    let end = BLOCKS.find("CPU1").unwrap();
    for cut in 0..end {
        let options = Options { format: Some(Format::Blktrace), ..Options::default() };
        if let Ok(found) = observe(&BLOCKS.as_bytes()[..cut], &options) {
            assert!(found.operations() <= whole && damaged(&found) <= 1, "{cut}");
        }
    }
}
