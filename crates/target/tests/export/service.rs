//! The life of a target directory on the emulated service.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cloud::catalog::Catalog;
use cloud::service_level::{ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use nfs3::arguments::{createhow3, stable_how};
use nfs3::types::sattr3;
use target::clean::clean;
use target::nfs::{NfsUrl, Session, null_round_trip};
use target::refusal::{Overrides, Refusal};
use target::survey;
use units::Bytes;
use volume::config::{self, Config};
use volume::delay::Distribution;
use volume::one_volume::OneVolume;
use volume::shell::{Options, Running};

use crate::plans::{FILE_BYTES, fill, required, set};

fn service() -> (Running, NfsUrl) {
    let text = "[account]\ncapacity_quota = \"100TiB\"\n\
        [[endpoint]]\nname = \"ep1\"\naddress = \"127.0.0.1:0\"\n\
        [[pool]]\nname = \"pool1\"\nservice_level = \"ultra\"\nsize = \"50TiB\"\nqos = \"manual\"\n\
        [[volume]]\nname = \"vol1\"\npool = \"pool1\"\nquota = \"1TiB\"\n\
        throughput = \"64MiB/s\"\n";
    let catalog = Catalog::embedded();
    let mut open = |name: &str| Err(format!("there is no {name}"));
    let config = config::parse(text, "volumes.toml", &catalog, &mut open).unwrap();
    let running = start(config, catalog);
    let port = running.addresses()[0].port();
    let url = format!("nfs://127.0.0.1:{port}/vol1?mountport={port}").parse().unwrap();
    (running, url)
}

fn start(config: Config, catalog: Catalog) -> Running {
    let running = Running::start(Options {
        config,
        catalog,
        memory: Bytes::gib(1),
        data: None,
        portmapper: None,
        metrics: None,
        connections_max: 100,
        deferred_reserve: 0,
        log: Box::new(|_| ()),
    });
    running.unwrap()
}

#[test]
fn a_directory_on_an_emulated_volume_is_created_filled_verified_and_cleaned() {
    let (running, url) = service();
    let survey = survey::survey(&url, required(2), Overrides::default()).unwrap();
    assert!(survey.is_new);
    assert_eq!(survey.needed_bytes, 2 * FILE_BYTES);
    let mut ours = survey.claim().unwrap();
    assert_eq!(fill(&mut ours, &set(2)), 2 * FILE_BYTES);
    ours.check(&set(2)).unwrap();
    ours.refuse_changed().unwrap();
    assert_eq!(ours.handles(&set(2)).unwrap().len(), 2);
    let again = survey::open(&url, required(2), Overrides::default());
    assert!(matches!(again, Err(Refusal::InUse { holder: Some(_), .. })));
    drop(ours);

    let survey = survey::survey(&url, required(2), Overrides::default()).unwrap();
    let survey = survey.inspect().unwrap();
    assert!(survey.to_write.is_empty() && survey.needed_bytes == 0, "{survey:?}");
    let cleaned = clean(&url).unwrap();
    assert!(cleaned.removed_directory && cleaned.removed_files == 2, "{cleaned:?}");
    assert!(matches!(clean(&url), Err(Refusal::NothingToClean { .. })));
    running.stop().unwrap();
}

/// An export whose reads and writes take half a second and are limited to 1 MiB/s.
fn slow_service() -> (Running, NfsUrl) {
    let catalog = Catalog::embedded();
    let delay = Distribution::Constant { ns: 500_000_000 };
    let one = OneVolume {
        name: "slow".to_owned(),
        quota: Bytes::gib(1024),
        kind: VolumeKind::Regular,
        level: ServiceLevel::Standard,
        throughput: Some(KibPerSec::new(1024)),
        address: "127.0.0.1:0".parse().unwrap(),
        flow_throughput: None,
        enforced: true,
        read: delay.clone(),
        write: delay,
    };
    let running = start(one.config(&catalog).unwrap(), catalog);
    let port = running.addresses()[0].port();
    let url = format!("nfs://127.0.0.1:{port}/slow?mountport={port}").parse().unwrap();
    (running, url)
}

#[test]
fn a_null_call_is_not_delayed_like_data() {
    let (running, url) = slow_service();
    let mut session = Session::open(&url).unwrap();
    let root = session.root();
    let file = session.create(&root, b"busy", createhow3::GUARDED(sattr3::UNCHANGED)).unwrap().0;
    let mut writing = session.another();
    let (taken, null) = std::thread::scope(|scope| {
        // A write that waits for the limit and the delay.
        let written = scope.spawn(move || {
            let begun = Instant::now();
            writing.write(&file, 0, &[7; 1 << 16], stable_how::FILE_SYNC).unwrap();
            begun.elapsed()
        });
        let null = null_round_trip(session.mounted()).expect("the service answers");
        (written.join().unwrap(), null)
    });
    assert!(taken >= Duration::from_millis(500), "the delay is effective: {taken:?}");
    assert!(null < taken / 10, "{null:?} compared with {taken:?}");
    running.stop().unwrap();
}

#[test]
fn a_server_that_does_not_reply_to_null_has_no_round_trip_time() {
    let (running, url) = slow_service();
    let session = Session::open(&url).unwrap();
    let mounted = Arc::clone(session.mounted());
    drop(session);
    let mut mounted = Arc::into_inner(mounted).unwrap();
    // The kernel accepts connections for it, and nothing replies.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    mounted.servers = vec![silent.local_addr().unwrap()];
    assert_eq!(null_round_trip(&mounted), None);
    running.stop().unwrap();
}
