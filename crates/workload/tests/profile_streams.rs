//! The operations that profiles generate, compared with the text of their files and with the figures of
//! their sources. The text is read here without the product's parser.

use statrs::distribution::{ChiSquared, ContinuousCDF};
use workload::names::{FileSizes, NameStream};
use workload::op::{OpKind, OpStream};
use workload::plan::{Run, Stream};
use workload::profiles::{Group, PROFILES, Profile, profile};

/// A deviation less probable than this fails a test. With fewer than 200 assertions, correct streams with
/// other seeds would fail one of them once in 5,000 times.
const FALSE_ALARM: f64 = 1e-6;
/// Operations of each stream: whole thousands of each worker, over which shares are exact.
const STEPS: u64 = 16_000;

/// The probability of counts that deviate at least as much from these shares.
fn chi_square(counts: &[u64], shares: &[f64]) -> f64 {
    let total = counts.iter().sum::<u64>() as f64;
    let cells = counts.iter().zip(shares).map(|(count, share)| (*count as f64, share * total));
    let found: f64 = cells.map(|(count, expected)| (count - expected).powi(2) / expected).sum();
    ChiSquared::new(counts.len() as f64 - 1.0).unwrap().sf(found)
}

fn applications() -> impl Iterator<Item = &'static Profile> {
    PROFILES.iter().filter(|profile| profile.group != Group::Synthetic)
}

/// The value of a key as the file has it: in the variant, or else in the stream.
fn written(file: &toml::Table, run: &Run, stream: &str, key: &str) -> Option<toml::Value> {
    let variants = file.get("variant").and_then(toml::Value::as_array);
    let is_of_run = |variant: &&toml::Table| {
        let name = variant.get("name").and_then(toml::Value::as_str);
        let of_stream = variant.get("stream").and_then(toml::Value::as_str);
        name.is_some_and(|name| name == run.variant) && of_stream.is_none_or(|one| one == stream)
    };
    let tables = variants.into_iter().flatten().filter_map(toml::Value::as_table);
    let of_variant = tables.filter(is_of_run).find_map(|variant| variant.get(key));
    of_variant.or_else(|| file["stream"][stream].get(key)).cloned()
}

/// Thousandths of `70%`.
fn permille(share: &str) -> u64 {
    let number: f64 = share.strip_suffix('%').unwrap().parse().unwrap();
    (number * 10.0).round() as u64
}

/// Bytes of `8KiB`, `1.5MiB`, `512B`.
fn bytes(size: &str) -> u64 {
    let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("B", 1u64)];
    let (unit, factor) = units.into_iter().find(|(unit, _)| size.ends_with(unit)).unwrap();
    let number: f64 = size.strip_suffix(unit).unwrap().parse().unwrap();
    (number * factor as f64) as u64
}

/// Sizes with their shares, as the file has them.
fn sizes(value: &toml::Value) -> Vec<(u64, f64)> {
    match value {
        toml::Value::Table(shares) => shares
            .iter()
            .map(|(size, share)| (bytes(size), permille(share.as_str().unwrap()) as f64 / 1000.0))
            .collect(),
        one => vec![(bytes(one.as_str().unwrap()), 1.0)],
    }
}

fn assert_operations(file: &toml::Table, run: &Run, stream: &Stream, what: &str) {
    let value = |key: &str| written(file, run, &stream.name, key);
    let read_permille = permille(value("read").unwrap().as_str().unwrap());
    let sizes = sizes(&value("transfer_size").unwrap());
    let pattern = value("pattern").unwrap();
    let operations = OpStream::new(stream, run.seed);
    let fsync_every = value("fsync_every").map(|count| count.as_integer().unwrap() as u64);
    let file_bytes = bytes(value("file_size").unwrap().as_str().unwrap());
    let files = value("files").map_or(1, |files| files.as_integer().unwrap()) as usize;
    let mut of_size = vec![0u64; sizes.len()];
    let mut of_part = vec![0u64; files * PARTS as usize];
    const PARTS: u64 = 8;
    for lane in 0..stream.workers {
        let (mut reads, mut writes, mut fsyncs) = (0u64, 0u64, 0u64);
        let mut last: Option<(u32, u64)> = None;
        let mut jumps = 0;
        for step in 0..STEPS {
            let op = operations.op(lane, step);
            match op.kind {
                OpKind::Read => reads += 1,
                OpKind::Write => writes += 1,
                OpKind::Fsync => {
                    fsyncs += 1;
                    continue;
                }
                other => panic!("{what}: {other:?}"),
            }
            let size = u64::from(op.size_bytes);
            let at = sizes.iter().position(|(bytes, _)| *bytes == size);
            of_size[at.unwrap_or_else(|| panic!("{what}: a transfer of {size} bytes"))] += 1;
            assert!(op.offset_bytes + size <= file_bytes, "{what}: inside of the file");
            let part = op.offset_bytes * PARTS / file_bytes;
            of_part[op.file as usize * PARTS as usize + part as usize] += 1;
            if last.is_some_and(|end| end != (op.file, op.offset_bytes)) && op.offset_bytes > 0 {
                jumps += 1;
            }
            last = Some((op.file, op.offset_bytes + size));
        }
        // Fsyncs make the data operations no whole thousands, by at most one thousand's share.
        let data = reads + writes;
        let slack = if fsync_every.is_some() { 1000 } else { 0 };
        let expected = data * read_permille / 1000;
        assert!(reads.abs_diff(expected) <= slack, "{what}: {reads} reads of {data}");
        if read_permille.is_multiple_of(1000) {
            assert_eq!(reads, if read_permille == 0 { 0 } else { data }, "{what}");
        }
        let of_writes = fsync_every.map_or(0, |every| writes / every);
        assert!(fsyncs.abs_diff(of_writes) <= 1, "{what}: {fsyncs} fsyncs for {writes} writes");
        if pattern.as_str() == Some("sequential") {
            assert_eq!(jumps, 0, "{what}: sequential");
        }
    }
    let shares: Vec<f64> = sizes.iter().map(|(_, share)| *share).collect();
    if shares.len() > 1 {
        let probability = chi_square(&of_size, &shares);
        assert!(probability > FALSE_ALARM, "{what}: {of_size:?} of {sizes:?}");
        // The test can fail: a quarter less of one size is noticed.
        let mut wrong = shares.clone();
        wrong[0] *= 0.75;
        wrong[1] += shares[0] * 0.25;
        assert!(chi_square(&of_size, &wrong) < FALSE_ALARM, "{what}: a wrong share is noticed");
    }
    if pattern.as_str() == Some("random") {
        let equal = vec![1.0 / of_part.len() as f64; of_part.len()];
        // Positions at the end of a part may belong to the next one: by less than a transfer.
        let largest = sizes.iter().map(|(bytes, _)| *bytes).max().unwrap();
        if largest * 1000 < file_bytes / PARTS {
            assert!(chi_square(&of_part, &equal) > FALSE_ALARM, "{what}: {of_part:?}");
        }
        let mut skewed = of_part.clone();
        skewed[0] *= 3;
        assert!(chi_square(&skewed, &equal) < FALSE_ALARM, "{what}: a hot part is noticed");
    }
}

fn assert_names(file: &toml::Table, run: &Run, stream: &Stream, what: &str) {
    let mix = written(file, run, &stream.name, "mix").unwrap();
    let operations = NameStream::new(stream, run.seed, 1).unwrap();
    let mut counts = [0u64; OpKind::COUNT];
    for lane in 0..stream.workers {
        (0..STEPS).for_each(|step| counts[operations.op(lane, step).kind as usize] += 1);
    }
    let total = STEPS * u64::from(stream.workers);
    let mix = mix.as_table().unwrap();
    let mut sum = 0;
    for (kind, share) in mix {
        let expected = total * permille(share.as_str().unwrap()) / 1000;
        assert_eq!(counts[OpKind::named(kind).unwrap() as usize], expected, "{what}: {kind}");
        sum += expected;
    }
    assert_eq!(sum, total, "{what}: no other kinds");
}

#[test]
fn the_operations_of_every_application_are_those_of_its_file() {
    for profile in applications() {
        let file: toml::Table = toml::from_str(profile.text).unwrap();
        let plan = profile.plan();
        for run in plan.known_runs() {
            for stream in &run.streams {
                let what = format!("{}, {}, {}", profile.name, run.load_point(), stream.name);
                // Variants without a name cannot be found in the text by their description.
                let named = file.get("variant").and_then(toml::Value::as_array);
                let is_named = named.is_none_or(|all| {
                    all.iter()
                        .any(|one| one.get("name").and_then(|v| v.as_str()) == Some(&run.variant))
                });
                match (&stream.names, is_named) {
                    (Some(_), _) => assert_names(&file, run, stream, &what),
                    (None, true) => assert_operations(&file, run, stream, &what),
                    (None, false) => {}
                }
            }
        }
    }
}

/// The first run, or that of a variant.
fn run_of(name: &str, variant: &str) -> Run {
    let plan = profile(name).unwrap().plan();
    let mut runs = plan.known_runs();
    runs.find(|run| variant.is_empty() || run.variant == variant).unwrap().clone()
}

fn offered(run: &Run, stream: &str) -> f64 {
    let stream = run.streams.iter().find(|one| one.name == stream).unwrap();
    stream.offered_rate(&run.phases).unwrap().get()
}

fn assert_near(found: f64, expected: f64, within: f64, what: &str) {
    assert!((found - expected).abs() <= within * expected, "{what}: {found}, not {expected}");
}

/// Mean and standard deviation of the files of a tree, from as many draws as give a standard error
/// below the tolerance of the caller by a factor of five.
fn file_sizes(stream: &Stream) -> (f64, f64) {
    const DRAWS: u64 = 400_000;
    let sizes = FileSizes::new(&stream.names.as_ref().unwrap().tree.sizes);
    let draw = |index| f64::from(sizes.size_bytes(workload::random::at(7, index)));
    let mean = (0..DRAWS).map(draw).sum::<f64>() / DRAWS as f64;
    let variance = (0..DRAWS).map(|i| (draw(i) - mean).powi(2)).sum::<f64>() / DRAWS as f64;
    (mean, variance.sqrt())
}

#[test]
fn a_job_set_has_450_operations_and_7_26_mb_per_second_and_40_percent_on_names() {
    let run = run_of("eda-like", "");
    let rate = |stream| offered(&run, stream);
    let total = rate("frontend") + rate("random") + rate("backend");
    assert_near(total, 450.0, 1e-9, "operations per second");
    let mix =
        &run.streams.iter().find(|one| one.names.is_some()).unwrap().names.as_ref().unwrap().mix;
    let moving = [OpKind::ReadFile, OpKind::WriteFile, OpKind::Create];
    let files: f64 = moving.iter().map(|kind| mix.permille(*kind) as f64 / 1000.0).sum();
    // A create of the original writes nothing and counts as an operation on names.
    let data = files - mix.permille(OpKind::Create) as f64 / 1000.0;
    let on_names = rate("frontend") * (1.0 - data) / total;
    assert_near(on_names, 0.40, 0.01, "share of operations on names");
    let kib = rate("frontend") * files * 16.0 + rate("random") * 16.0 + rate("backend") * 34.0;
    assert_near(kib * 1024.0 / 1e6, 7.26, 0.01, "MB/s");
}

#[test]
fn home_directories_move_20_kib_per_second_and_user_and_74_percent_are_on_names() {
    let run = run_of("home-directories", "");
    let users = &run.streams[0];
    assert_near(offered(&run, "users") / 100.0, 23_000.0 / 14_000.0, 0.005, "operations per user");
    let mix = &users.names.as_ref().unwrap().mix;
    let moving = [OpKind::ReadFile, OpKind::WriteFile, OpKind::Create];
    let data: f64 = moving.iter().map(|kind| mix.permille(*kind) as f64 / 1000.0).sum();
    assert_near(1.0 - data, 17_000.0 / 23_000.0, 0.005, "share of operations on names");
    let (mean, _) = file_sizes(users);
    assert_near(mean, 275.0 * 1048576.0 / 6000.0, 0.03, "bytes of a read or write");
}

#[test]
fn epic_has_three_reads_for_each_write_of_a_burst_of_45_s_in_80_s() {
    let run = run_of("epic-like", "");
    let reads = offered(&run, "reads");
    // Counted as the source does: the writes of a cycle divided by 45 s.
    let writes = offered(&run, "flush") * 80.0 / 45.0;
    assert_near(reads / (reads + writes), 142_505.0 / (142_505.0 + 46_442.0), 0.002, "reads");
    assert_near(reads + writes, 1_889.0, 0.002, "1 % of the published rate");
}

#[test]
fn sql_server_reads_its_data_in_nine_of_ten_operations() {
    let run = run_of("sql-server-like", "");
    let reads = offered(&run, "data");
    assert_near(reads / (reads + offered(&run, "checkpoint")), 0.90, 0.01, "share of reads");
}

#[test]
fn each_meditech_platform_has_the_load_of_its_source() {
    for (variant, read, kib, rate) in
        [("Expanse", 200, 4, 750.0), ("Client/Server", 400, 4, 600.0), ("MAGIC", 900, 8, 400.0)]
    {
        let run = run_of("meditech-like", variant);
        let host = &run.streams[0];
        assert_eq!(u64::from(host.read_permille), read, "{variant}");
        assert_eq!(host.transfer_sizes[0].size_bytes, kib << 10, "{variant}");
        assert_near(offered(&run, "host"), rate, 1e-9, variant);
    }
}

#[test]
fn an_accelerator_reads_what_its_batches_need() {
    let run = run_of("ai-training", "");
    let bytes = offered(&run, "samples") * 262_144.0;
    assert_near(bytes, 400.0 * 114_660.0 / 0.224, 0.001, "ResNet-50, bytes per second");
    let run = run_of("ai-training-unet3d", "");
    assert_near(offered(&run, "images"), 7.0 / 0.323, 0.001, "U-Net, files per second");
    let (mean, deviation) = file_sizes(&run.streams[0]);
    assert_near(mean, 146_600_628.0, 0.01, "U-Net, mean size");
    assert_near(deviation, 68_341_808.0, 0.03, "U-Net, deviation of sizes");
}

#[test]
fn the_doublewrite_buffer_gets_the_bytes_of_the_pages() {
    let run = run_of("mysql-like", "");
    let pages = offered(&run, "pages") * 0.3 * 16.0 * 1024.0;
    assert_near(offered(&run, "doublewrite") * 1048576.0, pages, 0.07, "bytes per second");
    assert_near(offered(&run, "redo") / 1000.0, 0.115, 1e-9, "share of the log");
}

#[test]
fn ten_cameras_record_45_mb_per_second() {
    let run = run_of("media-streaming", "");
    assert_near(offered(&run, "recording") * 488.0 * 1024.0, 45e6, 0.01, "bytes per second");
}

/// Every number of an application has a source, or the file says that it has none.
#[test]
fn every_number_of_an_application_has_a_source_or_is_marked() {
    for profile in applications() {
        let body = profile.text.lines().skip_while(|line| !line.starts_with("name = "));
        for line in body.filter(|line| !line.starts_with('#')) {
            let (value, comment) = line.split_once('#').unwrap_or((line, ""));
            let is_name = value.starts_with("name = ") || value.starts_with("stream = ");
            // All reads, all writes, and one fsync per write are shapes, not measurements.
            let is_shape = ["read = \"0%\"", "read = \"100%\""].contains(&value.trim());
            let has_number =
                value.split_once('=').is_some_and(|(_, v)| v.contains(char::is_numeric));
            if !has_number || is_name || is_shape {
                continue;
            }
            let words =
                ["unconfirmed", "scale", "period", "[1]", "[2]", "[3]", "[4]", "chosen", "after"];
            let marked =
                words.iter().any(|word| comment.contains(word)) || comment.contains("the 264");
            assert!(marked, "{}: `{line}` has neither source nor mark", profile.name);
        }
        for source in ["[1]", "[2]", "[3]", "[4]"] {
            let cited = profile.text.matches(source).count();
            let listed = profile.text.contains(&format!("\n# {source} "));
            assert!(cited == 0 || listed, "{}: {source} is not a source", profile.name);
        }
    }
}
