//! The service on loopback sockets, with NFS 3 clients.

mod harness;

mod connections;
mod fairness;
mod large_writes;
mod lateness;
mod portmapper;
mod pressure;
mod reload;
mod status;
mod third_party_client;
