//! The service on real sockets of loopback, spoken to in bytes that a client of NFS 3 would send.

mod harness;

mod another_client;
mod connections;
mod late;
mod pressure;
mod questions;
mod reload;
