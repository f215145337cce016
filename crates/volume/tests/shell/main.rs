//! The service on real sockets of loopback, spoken to in bytes that a client of NFS 3 would send.

mod harness;

mod another_client;
mod connections;
mod fairness;
mod late;
mod portmapper;
mod pressure;
mod questions;
mod reload;
