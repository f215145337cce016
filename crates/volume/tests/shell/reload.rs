//! Changes of the configuration while clients are connected.

use volume::shell::Error;

use crate::harness::{Connection, configured, read, service, wait_until, write};

#[test]
fn a_raised_limit_releases_waiting_requests_immediately_and_drops_no_connection() {
    // At 1 MiB/s 16 READs of 1 MiB would take 16 s.
    let running = service("1MiB/s", "");
    let mut client = Connection::to(running.addresses()[0]);
    let root = client.mount("/vol1");
    let file = client.create(&root, "file");
    let data = vec![7; 1 << 20];
    client.call(write(&file, 0, &data));
    for _ in 0..16 {
        client.send(read(&file, 0, 1 << 20));
    }
    wait_until(&running, |now| now.deferred == 16);
    running.change(configured("3000MiB/s", "")).unwrap();
    for _ in 0..16 {
        assert_eq!(client.receive().data(), data);
    }
    let last = running.stop().unwrap();
    let (_, volume) = last.counters.volumes().next().unwrap();
    let span = last.now_ns - volume.first_arrival_ns.unwrap();
    assert!(span < 15_000_000_000, "16 MiB at 1 MiB/s would have taken 16 s, not {span} ns");
}

#[test]
fn a_configuration_that_breaks_rules_is_refused_with_all_of_them_and_has_no_effect() {
    let running = service("64MiB/s", "");
    let mut client = Connection::to(running.addresses()[0]);
    client.mount("/vol1");
    let mut new = configured("64MiB/s", "");
    new.account.volumes[0].quota = units::Bytes::gib(1);
    new.account.pools[0].size = units::Bytes::gib(1);
    let refused = running.change(new);
    let Err(Error::Account(broken)) = refused else { panic!("{refused:?}") };
    assert!(broken.len() >= 2, "{broken:?}");
    let snapshot = running.snapshot().unwrap();
    let volume = snapshot.account.account().volume("vol1").unwrap();
    assert_eq!(volume.quota, units::Bytes::gib(1024));
    client.mount("/vol1");
}

#[test]
fn volumes_can_be_added_and_removed_while_others_are_served() {
    let running = service("64MiB/s", "");
    let mut client = Connection::to(running.addresses()[0]);
    let root = client.mount("/vol1");
    let mut new = configured("64MiB/s", "");
    let mut added = new.account.volumes[0].clone();
    added.name = "vol2".to_owned();
    new.account.volumes.push(added);
    new.ops.push(None);
    new.rules.push(new.rules[0].clone());
    running.change(new).unwrap();
    let second = client.mount("/vol2");
    client.filled(&second, "file", 100);
    running.change(configured("64MiB/s", "")).unwrap();
    let reply = client.call(read(&second, 0, 1));
    assert!(matches!(reply.nfs(), nfs3::request::NfsResults::READ(nfs3::results::Res3::Fail(..))));
    client.filled(&root, "file", 100);
}
