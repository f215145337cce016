//! Records through the store's public interface: they are loaded as they were written, and damage
//! to the files is reported.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod samples;

use std::fs;
use std::path::Path;

use metrics::environment::Environment;
use metrics::fleet::{FleetHost, HostEvent, Reach, ReachedHost};
use metrics::run_record::{ChosenIoMethod, ExperimentRecord, Outcome, Prepared, RunRecord};
use metrics::warning::{Figure, Warning};
use rusqlite::Connection;
use store::{Annotation, Error, Listed, State, Store, Writer};
use tempfile::TempDir;
use workload::plan::IoMethodUsed;
use workload::search::SearchMethod;

const STARTED: u64 = 1_795_241_700_123;

fn open() -> (TempDir, Store) {
    let root = tempfile::tempdir().unwrap();
    let store = Store::open(Some(root.path())).unwrap();
    (root, store)
}

fn environment() -> Environment {
    Environment::from_iter([
        ("kernel.release".to_owned(), "6.1.0".to_owned()),
        ("mount.options".to_owned(), "rw,\"quoted\"\n".to_owned()),
    ])
}

/// Writes a record with one run for each of `outcomes`; returns its writer and the expected record.
fn write(
    store: &Store,
    name: &str,
    started: u64,
    outcomes: &[Outcome],
) -> (Writer, ExperimentRecord) {
    let plan = samples::plan(name, outcomes.len() as u32 + 1);
    let mut writer = store.create(&plan, &environment(), started).unwrap();
    let mut record = ExperimentRecord {
        scraped: Default::default(),
        hosts: Vec::new(),
        id: writer.id().to_owned(),
        plan_hash: store::plan_hash(&plan),
        plan,
        io_method: ChosenIoMethod {
            io_method: IoMethodUsed::IoUring,
            reason: "the probe found it faster".to_owned(),
        },
        environment: environment(),
        started_unix_ms: started,
        prepared: vec![Prepared {
            stream: "data".to_owned(),
            written_bytes: 1 << 30,
            took_ns: 2_345_678_901,
        }],
        warnings: vec![Warning::HostNoisy { steal: 0.1 }],
        runs: Vec::new(),
        outcome: Outcome::Aborted,
    };
    writer.io_method_chosen(&record.io_method).unwrap();
    writer.prepared(&record.prepared[0]).unwrap();
    writer.warning(None, &record.warnings[0]).unwrap();
    for (index, outcome) in (0u32..).zip(outcomes) {
        let run = RunRecord {
            run: samples::run(index),
            started_unix_ms: started + 1000 * u64::from(index),
            intervals: (0..4).map(|index| samples::interval(index, 2, 20)).collect(),
            warnings: vec![Warning::NotSteady {
                figure: Figure::AchievedRate,
                drift: 0.1,
                thirds: Some([95.0, 105.0]),
            }],
            hosts: Vec::new(),
            service_counters: None,
            trees: Vec::new(),
            outcome: outcome.clone(),
        };
        writer.run_started(&run.run, run.started_unix_ms).unwrap();
        for interval in &run.intervals {
            writer.interval(index, interval).unwrap();
        }
        writer.warning(Some(index), &run.warnings[0]).unwrap();
        writer.run_finished(index, outcome).unwrap();
        record.runs.push(run);
    }
    (writer, record)
}

fn finish(mut writer: Writer, record: &mut ExperimentRecord, outcome: Outcome) {
    writer.finish(&outcome).unwrap();
    record.outcome = outcome;
}

fn dump(index: &Path) -> Vec<String> {
    let connection = Connection::open(index).unwrap();
    let mut rows = Vec::new();
    for table in ["record", "run"] {
        let mut select =
            connection.prepare(&format!("SELECT * FROM {table} ORDER BY 1, 2")).unwrap();
        let columns = select.column_count();
        let found = select
            .query_map([], |row| {
                (0..columns)
                    .map(|c| row.get::<_, rusqlite::types::Value>(c))
                    .collect::<Result<Vec<_>, _>>()
            })
            .unwrap();
        rows.extend(found.map(|row| format!("{table} {:?}", row.unwrap())));
    }
    rows
}

#[test]
fn a_record_is_loaded_as_it_was_written() {
    let (_root, store) = open();
    let failed = Outcome::Failed { reason: "the file system is full".to_owned() };
    let (writer, mut record) =
        write(&store, "four corners", STARTED, &[Outcome::Done, failed, Outcome::Interrupted]);
    assert_eq!(writer.directory(), store.run_directory(writer.id()).unwrap());
    finish(writer, &mut record, Outcome::Interrupted);
    assert_eq!(store.load(&record.id).unwrap(), record);
    let listed = store.list().unwrap();
    assert_eq!(
        listed,
        [Listed {
            id: record.id.clone(),
            name: "four corners".to_owned(),
            target: "/mnt/vol1".to_owned(),
            overrides: record.plan.overrides.clone(),
            started_unix_ms: STARTED,
            runs_done: 1,
            runs_planned: 4,
            state: State::Ended(Outcome::Interrupted),
            annotation: Annotation::default(),
            disk_bytes: listed[0].disk_bytes,
            digest: None,
        }]
    );
}

#[test]
fn forty_intervals_of_four_streams_are_loaded_bucket_by_bucket() {
    let (_root, store) = open();
    let mut writer =
        store.create(&samples::plan("hour", 1), &Environment::default(), STARTED).unwrap();
    writer.run_started(&samples::run(0), STARTED).unwrap();
    for index in 0..40 {
        writer.interval(0, &samples::interval(index, 4, 300)).unwrap();
    }
    writer.finish(&Outcome::Done).unwrap();
    let record = store.load("last").unwrap();
    for (index, interval) in (0..).zip(&record.runs[0].intervals) {
        assert_eq!(*interval, samples::interval(index, 4, 300));
    }
    assert_eq!(record.runs[0].intervals.len(), 40);
}

#[test]
fn a_record_is_running_while_its_writer_exists_and_then_aborted_unless_it_finished() {
    let (_root, store) = open();
    let (writer, record) = write(&store, "x", STARTED, &[Outcome::Done]);
    assert_eq!(store.list().unwrap()[0].state, State::Running);
    assert_eq!(store.list().unwrap()[0].state, State::Running, "from the index too");
    assert_eq!(store.load("last").unwrap(), record, "complete frames can be read meanwhile");
    drop(writer);
    assert_eq!(store.list().unwrap()[0].state, State::Ended(Outcome::Aborted));
    assert_eq!(store.list().unwrap()[0].runs_done, 1);
    assert_eq!(store.load("last").unwrap(), record);
}

#[test]
fn records_are_found_by_id_unambiguous_prefix_path_and_as_last() {
    let (_root, store) = open();
    let ids: Vec<String> = [("a", 0), ("b", 0), ("b", 86_400_000), ("a", 86_400_500)]
        .iter()
        .map(|(name, later)| {
            store
                .create(&samples::plan(name, 1), &Environment::default(), STARTED + later)
                .unwrap()
                .id()
                .to_owned()
        })
        .collect();
    for id in &ids {
        assert_eq!(store.resolve(id).unwrap(), *id);
    }
    assert_eq!(store.resolve("20261121-061500-a").unwrap(), ids[0]);
    assert_eq!(store.resolve("last").unwrap(), ids[3], "the later within one second");
    for (back, id) in [("last~0", 3), ("last~1", 2), ("last~3", 0)] {
        let by_name = ids[id].clone();
        let second = |id: &str| id[..15].to_owned();
        assert_eq!(second(&store.resolve(back).unwrap()), second(&by_name), "{back}");
    }
    assert_eq!(store.resolve("last~1").unwrap(), ids[2], "the earlier within one second");
    let path = store.run_directory(&ids[1]).unwrap();
    assert_eq!(store.resolve(&path.display().to_string()).unwrap(), ids[1]);
    match store.resolve("20261122") {
        Err(error @ Error::Ambiguous { .. }) => {
            let text = error.to_string();
            assert!(text.contains(&ids[2]) && text.contains(&ids[3]), "{text}");
            assert!(!text.contains(&ids[0]), "{text}");
        }
        other => panic!("{other:?}"),
    }
    for requested in ["2025", "nothing", "../runs", "LAST", "last~4", "last~x", "last1", "/tmp"] {
        assert!(matches!(store.load(requested), Err(Error::NotFound { .. })), "{requested}");
    }
    let order: Vec<String> = store.list().unwrap().into_iter().map(|listed| listed.id).collect();
    assert_eq!(order, [&ids[0], &ids[1], &ids[2], &ids[3]].map(String::clone));
}

#[test]
fn an_empty_store_has_no_last_record() {
    let (_root, store) = open();
    assert_eq!(store.list().unwrap(), []);
    assert!(matches!(store.resolve("last"), Err(Error::NotFound { .. })));
}

#[test]
fn ids_are_unique_within_one_millisecond() {
    let (_root, store) = open();
    let plan = samples::plan("same", 1);
    let writers: Vec<Writer> =
        (0..100).map(|_| store.create(&plan, &Environment::default(), STARTED).unwrap()).collect();
    let mut ids: Vec<&str> = writers.iter().map(Writer::id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 100);
}

#[test]
fn an_index_that_was_deleted_or_destroyed_is_rebuilt_and_loses_nothing() {
    let (root, store) = open();
    for (later, outcomes) in [(0, &[Outcome::Done][..]), (1000, &[Outcome::Done, Outcome::Done])] {
        let (writer, mut record) = write(&store, "x", STARTED + later, outcomes);
        finish(writer, &mut record, Outcome::Done);
    }
    let (writer, _) = write(&store, "aborted", STARTED + 2000, &[]);
    drop(writer);
    let listed = store.list().unwrap();
    let index = root.path().join("index.sqlite");
    let rows = dump(&index);
    assert_eq!(rows.len(), 3 + 3);
    let intact = fs::read(&index).unwrap();
    let destroy: [(&str, &dyn Fn()); 7] = [
        ("deleted", &|| fs::remove_file(&index).unwrap()),
        ("text", &|| fs::write(&index, "not a database at all, but quite long").unwrap()),
        ("empty", &|| fs::write(&index, "").unwrap()),
        ("cut", &|| fs::write(&index, &intact[..intact.len() / 2]).unwrap()),
        ("overwritten", &|| {
            let mut bytes = intact.clone();
            bytes[100..intact.len() - 100].fill(0xa5);
            fs::write(&index, bytes).unwrap();
        }),
        ("without a table", &|| {
            Connection::open(&index).unwrap().execute_batch("DROP TABLE run").unwrap();
        }),
        ("of another version", &|| {
            let connection = Connection::open(&index).unwrap();
            connection.execute_batch("DROP TABLE run; PRAGMA user_version = 99").unwrap();
        }),
    ];
    for (how, destroy) in destroy {
        destroy();
        assert_eq!(store.list().unwrap(), listed, "{how}");
        assert_eq!(dump(&index), rows, "{how}");
    }
}

#[test]
fn listing_works_where_no_index_can_be_written() {
    let (root, store) = open();
    let (writer, mut record) = write(&store, "x", STARTED, &[Outcome::Done]);
    finish(writer, &mut record, Outcome::Done);
    let listed = store.list().unwrap();
    fs::remove_file(root.path().join("index.sqlite")).unwrap();
    fs::create_dir(root.path().join("index.sqlite")).unwrap();
    assert_eq!(store.list().unwrap(), listed);
}

#[test]
fn the_index_follows_removed_new_and_changed_records() {
    let (root, store) = open();
    let (writer, mut record) = write(&store, "kept", STARTED, &[]);
    finish(writer, &mut record, Outcome::Done);
    let (other_root, other) = open();
    let (writer, mut copied) = write(&other, "copied", STARTED + 1, &[Outcome::Done]);
    finish(writer, &mut copied, Outcome::Done);
    let (from, to) = (
        other_root.path().join("runs").join(&copied.id),
        root.path().join("runs").join(&copied.id),
    );
    fs::rename(&from, &to).unwrap();
    assert_eq!(store.list().unwrap().len(), 2);
    assert_eq!(store.load(&copied.id).unwrap(), copied, "a record can be moved to another store");

    let journal = to.join("journal");
    let intact = fs::read(&journal).unwrap();
    fs::write(&journal, &intact[..intact.len() - 1]).unwrap();
    assert_eq!(store.list().unwrap()[1].state, State::Ended(Outcome::Aborted));

    fs::remove_dir_all(&to).unwrap();
    assert_eq!(store.list().unwrap().len(), 1);
    assert_eq!(dump(&root.path().join("index.sqlite")).len(), 1);
}

#[test]
fn damaged_records_are_listed_with_the_file_and_the_remedy() {
    let (root, store) = open();
    let (writer, mut sound) = write(&store, "sound", STARTED, &[Outcome::Done]);
    finish(writer, &mut sound, Outcome::Done);
    type Damage<'a> = (&'a str, &'a str, &'a dyn Fn(&Path));
    let damage: [Damage<'_>; 7] = [
        ("manifest.json", "restore it", &|path| fs::write(path, "{").unwrap()),
        ("manifest.json", "No such file", &|path| fs::remove_file(path).unwrap()),
        ("manifest.json", "hash", &|path| {
            let text = fs::read_to_string(path).unwrap();
            fs::write(path, text.replace("\"queue_depth\":4", "\"queue_depth\":5")).unwrap();
        }),
        ("manifest.json", "newer fourcorners", &|path| {
            let text = fs::read_to_string(path).unwrap();
            let newer = text.replace("\"schema_version\": 1", "\"schema_version\": 3");
            assert_ne!(newer, text);
            fs::write(path, newer).unwrap();
        }),
        ("journal", "truncate -s", &|path| {
            let mut bytes = fs::read(path).unwrap();
            bytes[200] ^= 1;
            fs::write(path, bytes).unwrap();
        }),
        ("journal", "No such file", &|path| fs::remove_file(path).unwrap()),
        ("journal", "does not begin with a journal's header", &|path| {
            fs::write(path, "#!/bin/sh\nexit 1\n# padding").unwrap();
        }),
    ];
    for (file, words, damage) in damage {
        let (writer, mut record) = write(&store, "damaged", STARTED + 1, &[Outcome::Done]);
        finish(writer, &mut record, Outcome::Done);
        let directory = store.run_directory(&record.id).unwrap();
        damage(&directory.join(file));
        let text = store.load(&record.id).unwrap_err().to_string();
        assert!(text.contains(words), "{words}: {text}");
        assert!(text.contains(directory.join(file).to_str().unwrap()), "{text}");
        let listed = store.list().unwrap();
        assert_eq!(listed.len(), 2, "{words}");
        let state = |id: &str| listed.iter().find(|l| l.id == id).unwrap().state.clone();
        assert_eq!(state(&record.id), State::Damaged { reason: text });
        assert_eq!(state(&sound.id), State::Ended(Outcome::Done));
        assert_eq!(store.list().unwrap(), listed, "the same from the index");
        fs::remove_dir_all(directory).unwrap();
    }
    assert_eq!(root.path().join("runs").read_dir().unwrap().count(), 1);
}

#[test]
fn a_record_that_cannot_have_been_measured_is_refused_with_the_position() {
    type Forgery = fn(&mut metrics::interval::Interval);
    let forgeries: [(&str, Forgery); 5] = [
        ("ends before it begins", |interval| interval.end_ns = interval.start_ns - 1),
        ("bucket that does not exist", |interval| {
            interval.streams[0].kinds[0].service.buckets.push((u32::MAX, 1));
        }),
        ("do not ascend", |interval| {
            let buckets = &mut interval.streams[0].kinds[0].service.buckets;
            buckets.push(*buckets.last().unwrap());
        }),
        // Each fits into 64 bits; the sum with the previous interval does not.
        ("too large to add up", |interval| interval.process_user_ns = u64::MAX - 1),
        ("too large to add up", |interval| {
            interval.host.as_mut().unwrap().pressure_ns = Some(u64::MAX - 1);
        }),
    ];
    for (words, forge) in forgeries {
        let (_root, store) = open();
        let mut writer =
            store.create(&samples::plan("forged", 1), &Environment::default(), STARTED).unwrap();
        writer.run_started(&samples::run(0), STARTED).unwrap();
        writer.interval(0, &samples::interval(0, 1, 20)).unwrap();
        let mut interval = samples::interval(1, 1, 20);
        forge(&mut interval);
        writer.interval(0, &interval).unwrap();
        writer.finish(&Outcome::Done).unwrap();
        let text = store.load("last").unwrap_err().to_string();
        assert!(text.contains(words) && text.contains("is damaged at byte"), "{words}: {text}");
    }
}

#[test]
fn a_repaired_record_is_no_longer_listed_as_damaged() {
    let (root, store) = open();
    let (writer, mut record) = write(&store, "x", STARTED, &[Outcome::Done]);
    finish(writer, &mut record, Outcome::Done);
    let journal = store.run_directory("last").unwrap().join("journal");
    let intact = fs::read(&journal).unwrap();
    let changed = fs::metadata(&journal).unwrap().modified().unwrap();
    // Length and modification time stay the same.
    let write_with_same_stamp = |bytes: &[u8]| {
        fs::write(&journal, bytes).unwrap();
        fs::File::options().append(true).open(&journal).unwrap().set_modified(changed).unwrap();
    };
    write_with_same_stamp(&vec![b'x'; intact.len()]);
    assert_eq!(store.list().unwrap()[0].state.name(), "done", "from the index");
    fs::remove_file(root.path().join("index.sqlite")).unwrap();
    assert_eq!(store.list().unwrap()[0].state.name(), "damaged");
    write_with_same_stamp(&intact);
    assert_eq!(store.list().unwrap()[0].state.name(), "done");
}

#[test]
fn the_remedy_for_a_damaged_journal_keeps_everything_before_the_damage() {
    let (_root, store) = open();
    let (writer, mut record) = write(&store, "x", STARTED, &[Outcome::Done, Outcome::Done]);
    finish(writer, &mut record, Outcome::Done);
    let journal = store.run_directory(&record.id).unwrap().join("journal");
    let mut bytes = fs::read(&journal).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    fs::write(&journal, &bytes).unwrap();
    let Err(Error::DamagedJournal { offset_bytes, .. }) = store.load(&record.id) else {
        panic!("the flipped bit was not detected");
    };
    assert!(offset_bytes as usize <= middle);
    fs::write(&journal, &bytes[..offset_bytes as usize]).unwrap();
    let remaining = store.load(&record.id).unwrap();
    assert_eq!(
        remaining.runs[0].intervals[..],
        record.runs[0].intervals[..remaining.runs[0].intervals.len()]
    );
    assert_eq!(remaining.outcome, Outcome::Aborted);
}

#[test]
fn an_incomplete_run_directory_is_no_record() {
    let (root, store) = open();
    fs::create_dir(root.path().join("runs/.new-20261121-061500-x-0000")).unwrap();
    fs::write(root.path().join("runs/notes.txt"), "mine").unwrap();
    assert_eq!(store.list().unwrap(), []);
    assert!(matches!(store.resolve(".new"), Err(Error::NotFound { .. })));
}

#[test]
fn several_experiments_can_write_to_a_store_at_the_same_time() {
    let (root, store) = open();
    let each = &|number: u64| {
        let (writer, mut record) = write(&store, "x", STARTED + number, &[Outcome::Done]);
        assert!(store.list().unwrap().iter().any(|listed| listed.id == record.id));
        finish(writer, &mut record, Outcome::Done);
        record
    };
    let records: Vec<ExperimentRecord> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..8).map(|number| scope.spawn(move || each(number))).collect();
        started.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let listed = store.list().unwrap();
    for (record, listed) in records.iter().zip(&listed) {
        assert_eq!((&listed.id, &listed.state), (&record.id, &State::Ended(Outcome::Done)));
        assert_eq!(store.load(&record.id).unwrap(), *record);
    }
    let index = root.path().join("index.sqlite");
    let rows = dump(&index);
    fs::remove_file(&index).unwrap();
    store.list().unwrap();
    assert_eq!(dump(&index), rows);
}

#[test]
fn the_plan_hash_is_the_hash_of_the_plan_in_the_manifest() {
    let (_root, store) = open();
    let plan = samples::plan("x", 2);
    let writer = store.create(&plan, &Environment::default(), STARTED).unwrap();
    let manifest: serde_json::Value =
        serde_json::from_slice(&fs::read(writer.directory().join("manifest.json")).unwrap())
            .unwrap();
    assert_eq!(manifest["plan_hash"], store::plan_hash(&plan));
    assert_eq!(manifest["schema_version"], 1);
    assert_eq!(
        serde_json::from_value::<workload::plan::Plan>(manifest["plan"].clone()).unwrap(),
        plan
    );
    assert_ne!(store::plan_hash(&plan), store::plan_hash(&samples::plan("y", 2)));
}

#[test]
fn the_records_of_a_pair_name_each_other_and_are_listed_in_order() {
    let (_root, store) = open();
    let plans = [samples::plan("pair", 1), samples::plan("pair", 1)];
    let facts = |index: usize, partner: &str| {
        let pair = |name: &str, value: String| (name.to_owned(), value);
        Environment::from_iter([
            pair("partner", partner.to_owned()),
            pair("side", index.to_string()),
        ])
    };
    let [a, b] = store.create_pair(plans.each_ref(), facts, STARTED).unwrap();
    let ids = [a.id().to_owned(), b.id().to_owned()];
    drop((a, b));
    let records = [store.load(&ids[0]).unwrap(), store.load(&ids[1]).unwrap()];
    assert_eq!(records[0].environment, facts(0, &ids[1]));
    assert_eq!(records[1].environment, facts(1, &ids[0]));
    let listed: Vec<String> = store.list().unwrap().into_iter().map(|one| one.id).collect();
    assert_eq!(listed, ids);
    assert_eq!(store.resolve("last").unwrap(), ids[1]);
}

/// A manifest as versions wrote it that kept the environment as a list of texts.
const STORED_MANIFEST: &str = include_str!("stored/manifest_2.json");

#[test]
fn the_environment_of_an_old_manifest_is_read_into_typed_fields_and_kept_whole() {
    let (_root, store) = open();
    let writer = store.create(&samples::plan("x", 1), &Environment::default(), STARTED).unwrap();
    let (id, manifest) = (writer.id().to_owned(), writer.directory().join("manifest.json"));
    drop(writer);
    fs::write(&manifest, STORED_MANIFEST).unwrap();
    let record = store.load(&id).unwrap();

    let environment = &record.environment;
    assert_eq!(environment.prior.processors.map(u32::from), Some(8));
    assert_eq!(environment.prior.null_round_trip_ns, Some(250_000));
    assert_eq!(environment.prior.stated_limits[0].value, 2e9);
    assert_eq!(environment.servers, ["10.0.0.4:2049".parse().unwrap()]);
    assert!(environment.is_azure && environment.interleaved.is_some());
    let Some(SearchMethod::Scale(scale)) = record.plan.searches().next().map(|s| &s.method) else {
        panic!("the plan has scaling experiments");
    };
    assert_eq!(scale.known, environment.prior);

    // What is written now is what was stored.
    let stored: serde_json::Value = serde_json::from_str(STORED_MANIFEST).unwrap();
    assert_eq!(serde_json::to_value(environment.pairs()).unwrap(), stored["environment"]);
    assert_eq!(store::plan_hash(&record.plan), record.plan_hash);
}

#[test]
fn a_record_of_a_fleet_remembers_how_its_hosts_were_reached_and_can_be_continued() {
    let (_root, store) = open();
    let plan = samples::plan("fleet", 1);
    let mut run = samples::run(0);
    run.hosts = 2;
    let host = |name: &str| FleetHost { name: name.to_owned(), ..FleetHost::default() };
    let reached = |name: &str| ReachedHost { name: name.to_owned(), launcher: "ssh".to_owned() };
    let hosts = vec![reached("vm1"), reached("vm2")];
    let reach = Reach { agent: "fourcorners".to_owned(), push: true, hosts };
    let mut writer = store.create_for(&plan, &environment(), Some(&reach), STARTED).unwrap();
    let id = writer.id().to_owned();
    writer.fleet(&[host("vm1"), host("vm2")]).unwrap();
    writer.run_started(&run, STARTED).unwrap();
    let intervals = [0, 1].map(|index| samples::interval(index, 1, 5));
    writer.host_interval(0, 0, &intervals[0]).unwrap();
    writer.host_interval(0, 0, &intervals[1]).unwrap();
    assert!(matches!(store.continue_record(&id), Err(Error::BeingWritten { .. })));
    drop(writer);
    // The process was killed while it wrote a frame.
    let path = store.run_directory(&id).unwrap().join("journal");
    let mut bytes = fs::read(&path).unwrap();
    bytes.truncate(bytes.len() - 7);
    fs::write(&path, bytes).unwrap();

    assert_eq!(store.reach(&id).unwrap(), Some(reach));
    let mut writer = store.continue_record(&id).unwrap();
    writer.host_interval(0, 0, &intervals[1]).unwrap();
    for (host, interval) in [(1, &intervals[0]), (1, &intervals[1])] {
        writer.host_interval(host, 0, interval).unwrap();
    }
    for host in [0, 1] {
        let event = HostEvent::Collected { outcome: Outcome::Done };
        writer.host_event(host, 0, &event).unwrap();
    }
    writer.run_finished(0, &Outcome::Done).unwrap();
    writer.finish(&Outcome::Done).unwrap();
    drop(writer);
    let record = store.load(&id).unwrap();
    assert_eq!(record.outcome, Outcome::Done);
    assert_eq!(record.runs[0].hosts[1].intervals, intervals);
    let mut total = intervals[1].clone();
    total.merge(&intervals[1]);
    assert_eq!(record.runs[0].intervals[1].streams, total.streams);
    let listed = store.list().unwrap();
    assert_eq!(listed[0].state, State::Ended(Outcome::Done));
    // Records of one host have no such list.
    let writer = store.create(&plan, &environment(), STARTED).unwrap();
    assert_eq!(store.reach(writer.id()).unwrap(), None);
}
