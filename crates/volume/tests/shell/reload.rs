//! Another description while clients are connected and wait.

use volume::shell::Error;

use crate::harness::{Connected, described, read, service, settled, write};

#[test]
fn a_higher_limit_lets_go_at_once_what_waits_and_no_connection_is_dropped() {
    // At 1 MiB/s the 16 reads of 1 MiB would take 16 s.
    let running = service("1MiB/s", "");
    let mut client = Connected::to(running.addresses()[0]);
    let root = client.mount("/vol1");
    let file = client.create(&root, "file");
    let data = vec![7; 1 << 20];
    client.call(write(&file, 0, &data));
    for _ in 0..16 {
        client.send(read(&file, 0, 1 << 20));
    }
    settled(&running, |now| now.held == 16);
    running.change(described("3000MiB/s", "")).unwrap();
    for _ in 0..16 {
        assert_eq!(client.receive().data(), data);
    }
    let last = running.stop().unwrap();
    let (_, volume) = last.witness.volumes().next().unwrap();
    let span = last.now_ns - volume.first_arrival_ns.unwrap();
    assert!(span < 15_000_000_000, "16 MiB at 1 MiB/s would have taken 16 s, not {span} ns");
}

#[test]
fn what_breaks_rules_is_refused_with_all_of_them_and_changes_nothing() {
    let running = service("64MiB/s", "");
    let mut client = Connected::to(running.addresses()[0]);
    client.mount("/vol1");
    let mut wanted = described("64MiB/s", "");
    wanted.account.volumes[0].quota = units::Bytes::gib(1);
    wanted.account.pools[0].size = units::Bytes::gib(1);
    let refused = running.change(wanted);
    let Err(Error::Account(broken)) = refused else { panic!("{refused:?}") };
    assert!(broken.len() >= 2, "{broken:?}");
    let snapshot = running.snapshot().unwrap();
    let volume = snapshot.account.account().volume("vol1").unwrap();
    assert_eq!(volume.quota, units::Bytes::gib(1024));
    client.mount("/vol1");
}

#[test]
fn volumes_come_and_go_while_others_are_served() {
    let running = service("64MiB/s", "");
    let mut client = Connected::to(running.addresses()[0]);
    let root = client.mount("/vol1");
    let mut wanted = described("64MiB/s", "");
    let mut another = wanted.account.volumes[0].clone();
    another.name = "vol2".to_owned();
    wanted.account.volumes.push(another);
    wanted.ops.push(None);
    wanted.rules.push(wanted.rules[0].clone());
    running.change(wanted).unwrap();
    let second = client.mount("/vol2");
    client.filled(&second, "file", 100);
    running.change(described("64MiB/s", "")).unwrap();
    let reply = client.call(read(&second, 0, 1));
    assert!(matches!(reply.nfs(), nfs3::request::NfsResults::READ(nfs3::results::Res3::Fail(..))));
    client.filled(&root, "file", 100);
}
