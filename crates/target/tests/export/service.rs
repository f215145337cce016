//! The product's own service, as it is served: the whole way of a directory on it.

use cloud::catalog::Catalog;
use target::clean::clean;
use target::directory;
use target::nfs::NfsUrl;
use target::refusal::{Overrides, Refusal};
use units::Bytes;
use volume::config;
use volume::shell::{Options, Running};

use crate::plans::{FILE_BYTES, fill, set, wanted};

fn service() -> (Running, NfsUrl) {
    let text = "[account]\ncapacity_quota = \"100TiB\"\n\
        [[endpoint]]\nname = \"ep1\"\naddress = \"127.0.0.1:0\"\n\
        [[pool]]\nname = \"pool1\"\nservice_level = \"ultra\"\nsize = \"50TiB\"\nqos = \"manual\"\n\
        [[volume]]\nname = \"vol1\"\npool = \"pool1\"\nquota = \"1TiB\"\n\
        throughput = \"64MiB/s\"\n";
    let catalog = Catalog::embedded();
    let mut open = |name: &str| Err(format!("there is no {name}"));
    let config = config::parse(text, "volumes.toml", &catalog, &mut open).unwrap();
    let running = Running::start(Options {
        config,
        catalog,
        memory: Bytes::gib(1),
        data: None,
        portmapper: None,
        metrics: None,
        connections_max: 100,
        held_room: 0,
        log: Box::new(|_| ()),
    });
    let running = running.unwrap();
    let port = running.addresses()[0].port();
    let url = format!("nfs://127.0.0.1:{port}/vol1?mountport={port}").parse().unwrap();
    (running, url)
}

#[test]
fn a_directory_on_an_emulated_volume_is_made_filled_believed_and_cleaned() {
    let (running, url) = service();
    let survey = directory::survey(&url, wanted(2), Overrides::default()).unwrap();
    assert!(survey.is_new);
    assert_eq!(survey.needed_bytes, 2 * FILE_BYTES);
    let mut ours = survey.claim().unwrap();
    assert_eq!(fill(&mut ours, &set(2)), 2 * FILE_BYTES);
    ours.check(&set(2)).unwrap();
    ours.refuse_changed().unwrap();
    assert_eq!(ours.handles(&set(2)).unwrap().len(), 2);
    let again = directory::open(&url, wanted(2), Overrides::default());
    assert!(matches!(again, Err(Refusal::InUse { holder: Some(_), .. })));
    drop(ours);

    let survey = directory::survey(&url, wanted(2), Overrides::default()).unwrap();
    let survey = survey.inspect().unwrap();
    assert!(survey.to_write.is_empty() && survey.needed_bytes == 0, "{survey:?}");
    let cleaned = clean(&url).unwrap();
    assert!(cleaned.removed_directory && cleaned.removed_files == 2, "{cleaned:?}");
    assert!(matches!(clean(&url), Err(Refusal::NothingOfOurs { .. })));
    running.stop().unwrap();
}
