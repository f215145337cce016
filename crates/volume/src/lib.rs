//! The emulated volume service: its model, its limits, its time, its books.
//!
//! For: behaving as a cloud's volume does, with limits that are known exactly, so that anyone can
//! measure one on a laptop and every claim of the load generator has an independent witness. It
//! shares no code with what it checks. Everything that decides takes `now_ns` and events and gives
//! back what to do; sockets, the thread and the clock are in `shell`, and nowhere else.
//!
//! The way of a request: it arrives (`witness`), waits for the limits of its flow, its volume and
//! its endpoint (`qos`, each limit a `gcra`), takes its time (`delay`, held by the `wheel`), and is
//! answered (`witness`); `service` puts these together. What the limits are follows from account,
//! pools and volumes (`model`, `rules`, `live`), which a file describes (`config`). Facts about the
//! service come from `cloud`.
//!
//! What a request does: `exports` finds its volume and its caller (`export_rules`, `peer`) and
//! performs it (`procedures`) on the tree of files of `files`; its answer is a `reply`. `server`
//! puts connections, `exports` and `service` together; what a connection has to send is `outgoing`.
//! `shell` runs it on sockets; `notice` tells whoever runs it what happens.

mod agenda;
mod chunks;
pub mod config;
mod config_rules;
pub mod delay;
pub mod export_rules;
pub mod exports;
mod exposition;
mod fields;
pub mod gcra;
pub mod live;
pub mod model;
pub mod notice;
pub mod one_volume;
mod outgoing;
pub mod peer;
mod procedures;
pub mod qos;
mod random;
pub mod reply;
pub mod rules;
pub mod server;
pub mod service;
pub mod shell;
mod slots;
pub mod wheel;
pub mod witness;
