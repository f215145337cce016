//! The service without sockets, in virtual time: configuration, rules, limits, delays and counters.

mod change;
mod config;
mod delays;
mod exposition;
mod fairness;
mod large_writes;
mod limits;
mod limits_oracle;
mod open_load;
mod rules;
mod server;
mod service;
mod throughput;

use cloud::catalog::Catalog;
use volume::config::parse;
use volume::ids::{EndpointId, VolumeId};
use volume::service::Service;

/// Starts a service with this configuration.
fn start(config: &str) -> Service {
    let catalog = Catalog::embedded();
    let config = parse(config, "v.toml", &catalog, &mut |path| Err(path.to_owned()));
    Service::start(0, catalog, config.expect("a valid configuration")).expect("no broken rules")
}

fn endpoint_id(service: &Service, name: &str) -> EndpointId {
    let mut endpoints = service.config().endpoints.iter();
    EndpointId::new(endpoints.position(|endpoint| endpoint.name == name).expect("an endpoint"))
}

fn id_of(service: &Service, volume: &str) -> VolumeId {
    service.volume_id(volume).expect("a volume")
}
