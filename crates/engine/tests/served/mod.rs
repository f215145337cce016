//! An emulated volume for runs on an NFS export.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use cloud::catalog::Catalog;
use cloud::service_level::{ServiceLevel, VolumeKind};
use units::Bytes;
use volume::delay::Distribution;
use volume::one_volume::OneVolume;
use volume::shell::{Options, Running};

/// A volume without throughput limits, served by this process; each call is delayed by `delay`.
pub(crate) fn service(delay: Duration) -> Running {
    let constant = || Distribution::Constant { ns: delay.as_nanos() as u64 };
    let one = OneVolume {
        name: "vol1".to_owned(),
        kind: VolumeKind::Regular,
        quota: Bytes::gib(1024),
        level: ServiceLevel::Ultra,
        throughput: None,
        address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        flow_throughput: None,
        enforced: false,
        read: constant(),
        write: constant(),
    };
    let catalog = Catalog::embedded();
    Running::start(Options {
        config: one.config(&catalog).expect("the configuration is valid"),
        catalog,
        memory: Bytes::gib(1),
        data: None,
        portmapper: None,
        metrics: None,
        connections_max: 100,
        deferred_reserve: 0,
        log: Box::new(|_| {}),
    })
    .expect("the service starts")
}
