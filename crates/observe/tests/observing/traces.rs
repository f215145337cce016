//! Texts of fio and strace.

use observe::observation::{Concurrency, Direction, Note};
use observe::{Format, Options, Profile, TimeUnit, observe};

use crate::{damaged, observed, refused, sizes};

/// Two threads of process 10 share a descriptor; process 20 is a copy.
const THREADS: &str = r#"10  1700000000.000000 openat(AT_FDCWD</srv>, "data", O_RDWR|O_DIRECT|O_DSYNC) = 3</srv/data> <0.000050>
10  1700000000.000100 clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_THREAD, exit_signal=0}, 88) = 11 <0.000030>
10  1700000000.000200 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD) = 20 <0.000030>
10  1700000000.001000 read(3</srv/data>, "abc, \") = 7\"..., 4096) = 4096 <0.000100>
11  1700000000.002000 read(3</srv/data>,  <unfinished ...>
10  1700000000.002500 write(3</srv/data>, "x"..., 8192) = 8192 <0.000200>
11  1700000000.003000 <... read resumed>"def"..., 4096) = 4096 <0.001000>
20  1700000000.004000 read(3</srv/data>, "abc"..., 4096) = 4096 <0.000100>
20  1700000000.005000 lseek(3</srv/data>, 65536, SEEK_SET) = 65536 <0.000010>
20  1700000000.006000 write(3</srv/data>, "z"..., 512) = 512 <0.000100>
20  1700000000.007000 fsync(3</srv/data>)   = 0 <0.002000>
20  1700000000.010000 read(3</srv/data>, "", 4096) = 0 <0.000010>
20  1700000000.011000 pread64(3</srv/data>, 0x7f, 4096, 0) = -1 EIO (Input/output error) <0.000010>
20  1700000000.012000 write(1</dev/pts/0<char 136:0>>, "hi\n", 3) = 3 <0.000010>
20  1700000000.013000 read(5<TCP:[10.0.0.1:40000->10.0.0.2:80]>, "GET"..., 4096) = 100 <0.000010>
20  1700000000.014000 close(3</srv/data>)   = 0 <0.000005>
20  1700000000.015000 stat("/srv/other", {st_mode=S_IFREG|0644, st_size=5, ...}) = 0 <0.000005>
20  1700000000.016000 +++ exited with 0 +++
"#;

#[test]
fn threads_processes_and_interrupted_calls_of_strace_are_followed() {
    let found = observed(THREADS.as_bytes());
    assert_eq!(found.source.format, Format::Strace);
    assert_eq!(damaged(&found), 0, "{:?}", found.notes);
    assert_eq!(sizes(&found, Direction::Read), [(4096, 3)]);
    assert_eq!(sizes(&found, Direction::Write), [(512, 1), (8192, 1)]);
    // 10 reads 0..4096; 11 waits, and its position is known when it ends; 20 has a copy.
    let [file] = found.working_set.files.as_slice() else { panic!("{:?}", found.working_set) };
    assert_eq!((file.name.as_str(), file.size_bytes), ("/srv/data", 65536 + 512));
    assert_eq!(found.data.each_ref().map(|data| data.failed), [1, 0]);
    assert_eq!(found.data[1].durable, Some(2));
    assert_eq!(found.data.each_ref().map(|data| data.direct), [Some(3), Some(2)]);
    assert_eq!(found.syncs(), 1);
    assert_eq!((found.other("open"), found.other("lseek"), found.other("stat")), (1, 1, 1));
    assert!(found.notes.contains(&Note::EndOfFile { reads: 1 }), "{:?}", found.notes);
    // From 1.000 to 6.100 ms: 0.1 + 1.0 + 0.2 (within the one before) + 0.1 + 0.1.
    let Concurrency { mean, max, .. } = found.concurrency.unwrap();
    assert_eq!(max, 2);
    assert!((mean - 1.5 / 5.1).abs() < 0.002, "{mean}");
}

/// A build in /srv/app with a child that changes its directory, as `strace -y` prints it.
const RELATIVE: &str = r#"1 1700000000.000000 openat(AT_FDCWD</srv/app>, "main.c", O_RDONLY) = 3</srv/app/main.c> <0.000050>
1 1700000000.000100 read(3</srv/app/main.c>, ""..., 100) = 100 <0.000050>
1 1700000000.001000 access(".git/config", F_OK) = -1 ENOENT (No such file or directory) <0.000010>
1 1700000000.002000 unlink("../app/main.o") = 0 <0.000030>
1 1700000000.003000 vfork() = 2 <0.000100>
2 1700000000.004000 chdir("lib") = 0 <0.000010>
2 1700000000.005000 mkdir("obj", 0777) = 0 <0.000020>
2 1700000000.006000 symlink("/usr/lib/x", "x") = 0 <0.000020>
2 1700000000.007000 rename("/srv/app/lib/x", "../../other") = 0 <0.000020>
2 1700000000.008000 newfstatat(4</srv/app/lib>, "big.h", {st_mode=S_IFREG|0644, st_size=9999, ...}, 0) = 0 <0.000005>
2 1700000000.009000 stat("../../outside", {st_mode=S_IFREG|0644, st_size=5, ...}) = 0 <0.000005>
1 1700000000.010000 fsync(3</srv/app/main.c> <unfinished ...>
2 1700000000.011000 close(7</srv/app>) = 0 <0.000001>
1 1700000000.013000 <... fsync resumed>) = 0 <0.003000>
1 1700000000.014000 fsync(3</srv/app/main.c>) = 0 <0.001000>
"#;

#[test]
fn calls_on_relative_paths_are_counted_with_their_response_times() {
    let options = Options { under: Some("/srv/app".to_owned()), ..Options::default() };
    let found = observe(RELATIVE.as_bytes(), &options).unwrap();
    let once = ["access", "unlink", "mkdir", "symlink", "rename", "newfstatat", "open", "close"];
    for name in once {
        assert_eq!(found.other(name), 1, "{name}: {:?}", found.others);
    }
    assert_eq!(found.other("stat"), 0, "it is outside");
    let failed = found.others.iter().filter(|other| other.failed > 0);
    let failed: Vec<_> = failed.map(|other| (other.name.as_str(), other.failed)).collect();
    assert_eq!(failed, [("access", 1)]);
    // The size of big.h is not that of its directory.
    let sizes = found.working_set.files.iter().map(|file| (file.name.as_str(), file.size_bytes));
    assert_eq!(sizes.collect::<Vec<_>>(), [("/srv/app/main.c", 100)]);
    let fsync = found.others.iter().find(|other| other.name == "fsync").unwrap();
    let response = fsync.response.unwrap();
    assert_eq!((fsync.operations, response.samples), (2, 2));
    // One of 3 ms that another thread interrupts, and one of 1 ms.
    assert!((response.mean_ns / 2e6 - 1.0).abs() < 1e-9, "{response:?}");
    assert_eq!(response.p50_ns, None, "two are too few");
}

#[test]
fn a_trace_of_many_threads_that_begins_with_interrupted_calls_is_recognised() {
    let mut text = String::new();
    for thread in 1..=40 {
        text +=
            &format!("{thread} 1700000000.{thread:06} futex(0x7f00, FUTEX_WAIT <unfinished ...>\n");
    }
    text += "1 1700000001.000000 <... futex resumed>) = 0 <0.9>\n\
             1 1700000001.100000 pread64(3</d/f>, \"\", 512, 0) = 512 <0.1>\n\
             2 1700000002.000000 <... futex resumed> <detached ...>\n";
    let found = observed(text.as_bytes());
    assert_eq!((found.source.format, found.operations()), (Format::Strace, 1));
    assert_eq!(damaged(&found), 0, "{:?}", found.notes);
}

#[test]
fn sequential_streams_of_each_size_have_their_own_share_of_reads() {
    let mut text = String::new();
    for step in 0..100u64 {
        let (second, read, write) = (1_700_000_000 + step, step * 8192, step * 65536);
        text += &format!("1 {second}.1 pread64(3</d/a>, \"\", 8192, {read}) = 8192 <0.1>\n");
        text += &format!("1 {second}.5 pwrite64(4</d/b>, \"\", 65536, {write}) = 65536 <0.1>\n");
    }
    let profile = Profile::of(&observed(text.as_bytes()));
    let found: Vec<(&str, u16)> =
        profile.streams.iter().map(|one| (one.name.as_str(), one.read_permille)).collect();
    assert_eq!(found, [("sequential-8k", 1000), ("sequential-64k", 0)]);
}

#[test]
fn only_files_below_a_path_are_observed() {
    let text = "1 1700000000.1 pread64(3</srv/a/x>, \"\", 512, 0) = 512 <0.1>\n\
                1 1700000000.2 pread64(4</srv/ab>, \"\", 512, 0) = 512 <0.1>\n\
                1 1700000000.3 close(4</srv/ab>) = 0 <0.1>\n";
    let under = |path: &str| {
        let options = Options { under: Some(path.to_owned()), ..Options::default() };
        observe(text.as_bytes(), &options)
    };
    let found = under("/srv/a/").unwrap();
    assert_eq!((found.operations(), found.others.len()), (1, 0));
    assert!(found.notes.contains(&Note::Outside { operations: 1 }), "{:?}", found.notes);
    assert_eq!(under("/srv").unwrap().operations(), 2);
    let error = under("/other").unwrap_err().to_string();
    assert!(error.contains("below `/other`") && error.contains("`/srv/a/x`"), "{error}");
}

#[test]
fn positions_follow_appends_copies_and_seeks() {
    let text = r#"1 1700000000.1 openat(AT_FDCWD</>, "/d/log", O_WRONLY|O_APPEND) = 5</d/log> <0.1>
1 1700000000.2 fstat(5</d/log>, {st_mode=S_IFREG|0644, st_size=100000, ...}) = 0 <0.1>
1 1700000000.3 write(5</d/log>, "a", 1000) = 1000 <0.1>
1 1700000000.4 dup2(5</d/log>, 7) = 7</d/log> <0.1>
1 1700000000.5 write(7</d/log>, "a", 1000) = 1000 <0.1>
1 1700000000.6 writev(7</d/log>, [{iov_base="a, b", iov_len=600}, {iov_base="c", iov_len=400}], 2) = 1000 <0.1>
1 1700000000.7 pwritev2(7</d/log>, [{iov_base="a", iov_len=5}], 1, -1, 0) = 5 <0.1>
"#;
    let found = observed(text.as_bytes());
    assert_eq!(found.runs.runs, 1, "{:?}", found.runs);
    assert_eq!(found.working_set.file_bytes(), 103_005);
    // 100,000 to 103,005 are in blocks 24 and 25.
    assert_eq!(found.working_set.touched_bytes, 2 * 4096);
}

#[test]
fn traces_without_times_paths_or_visible_calls_are_reported() {
    let without_times = "read(3</d/f>, \"\", 512) = 512\nread(3</d/f>, \"\", 512) = 512\n";
    let found = observed(without_times.as_bytes());
    assert!(found.arrival.is_none() && found.concurrency.is_none() && found.duration_ns.is_none());
    assert!(found.notes.contains(&Note::NoTimes), "{:?}", found.notes);
    assert!(found.notes.contains(&Note::AssumedPositions { descriptors: 1 }), "{:?}", found.notes);

    let error = refused(b"1 1700000000.1 read(3, \"\", 512) = 512 <0.1>\n");
    assert!(error.contains("-y prints the paths"), "{error}");

    let hidden = "1 1700000000.1 pread64(3</d/f>, \"\", 512, 0) = 512 <0.1>\n\
                  1 1700000000.2 io_uring_enter(5, 8, 0, 0, NULL, 8) = 8 <0.1>\n\
                  1 1700000000.3 mmap(NULL, 9, PROT_READ, MAP_SHARED, 3</d/f>, 0) = 0x7f00 <0.1>\n";
    let found = observed(hidden.as_bytes());
    for call in ["io_uring_enter", "mmap"] {
        let note = Note::NotVisible { call, calls: 1 };
        assert!(found.notes.contains(&note), "{call}: {:?}", found.notes);
    }
    let error = refused(b"1 1700000000.1 close(3</d/f>) = 0 <0.1>\n");
    assert!(error.contains("no file is read or written in its 1 line"), "{error}");
}

#[test]
fn the_unit_of_a_log_changes_only_its_times() {
    let log =
        b"fio version 3 iolog\n0 /f add\n1 /f open\n1000 /f read 0 4096\n3000 /f read 4096 4096\n\
                5000 /f trim 0 4096\n5000 /f close\n";
    for (unit, duration_ns) in
        [(None, 2_000_000), (Some(TimeUnit::Milli), 2_000_000_000), (Some(TimeUnit::Nano), 2_000)]
    {
        let options = Options { iolog_unit: unit, ..Options::default() };
        let found = observe(&log[..], &options).unwrap();
        assert_eq!(found.duration_ns, Some(duration_ns));
        assert_eq!(found.source.assumed_unit, unit.is_none().then_some(TimeUnit::Micro));
        assert_eq!((found.operations(), found.runs.sequential, found.other("trim")), (2, 1, 1));
    }
}

#[test]
fn runs_that_fio_appends_to_a_log_follow_each_other() {
    let run = "fio version 3 iolog\n0 /f read 0 4096\n1000 /f read 4096 4096\n";
    let found = observed(run.repeat(3).as_bytes());
    assert_eq!((found.operations(), damaged(&found)), (6, 0));
    assert_eq!(found.duration_ns, Some(3_000_000));
}

#[test]
fn a_log_of_version_2_has_no_times_and_its_waits_are_no_operations() {
    let log =
        b"fio version 2 iolog\n/a file add\n/a file open\n/a file write 0 8192\n/a file wait 100\n\
                /a file write 8192 8192\n/a file sync\n/a file close\n";
    let found = observed(log);
    assert_eq!(found.source.format, Format::Iolog);
    assert_eq!(sizes(&found, Direction::Write), [(8192, 2)]);
    assert_eq!((found.syncs(), found.other("wait")), (1, 0));
    assert_eq!(found.working_set.files[0].name, "/a file");
    assert!(found.notes.contains(&Note::NoTimes) && found.arrival.is_none());
}

#[test]
fn damaged_lines_are_counted_and_the_first_is_reported_with_its_position() {
    let log =
        b"fio version 3 iolog\n5 /f read 0 4096\nrubbish\n6 /f read x 4096\n7 /f read 4096 4096\n\
                8 /f read 0 99999999999\n9 /f re";
    let found = observed(log);
    assert_eq!((found.operations(), damaged(&found)), (2, 4));
    let first = found.notes.iter().find_map(|note| match note {
        Note::Damaged { first, .. } => Some((first.number, first.byte, first.to_string())),
        _ => None,
    });
    assert_eq!(first, Some((3, 37, "line 3 (byte 37)".to_owned())));
    assert!(refused(b"fio version 9 iolog\n").contains("versions 2 and 3 are read"));
}
