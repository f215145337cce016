//! The emulated volume service: account model, limits, delays and counters, served over NFSv3.
//!
//! For: behaving like a cloud volume with exactly known limits, so that anyone can measure one on a
//! laptop and check the load generator's figures independently. It shares no code with the load
//! generator. Code that makes decisions takes `now_ns` and events and returns actions; sockets, the
//! thread and the clock are in `shell` only.
//!
//! A request is counted when it arrives (`counters`), waits for the limits of its flow, volume and
//! endpoint (`qos`; each limit is a `gcra`), is delayed as real storage would delay it (`delay`), and
//! is answered. Its reply waits in a record (`deferred`) with a timer in the `wheel`. `service` joins
//! these. The limits follow from account, pools and volumes (`model`, `rules`, `live`), which are
//! read from a file (`config`). Facts about the service are in `cloud`.
//!
//! `procedures` finds the volume (`exports`) and the caller (`export_rules`, `peer`) of a request and
//! performs it on the file tree of `files`, which gives a `reply`. `server` joins connections,
//! exports and `service`; `outgoing` is the send queue of a connection. `shell` runs the server on
//! sockets; `notice` limits log lines. `ids` has the identifiers.

mod agenda;
mod chunks;
pub mod config;
mod config_rules;
pub mod counters;
mod deferred;
pub mod delay;
pub mod export_rules;
pub mod exports;
mod exposition;
pub mod gcra;
pub mod ids;
pub mod live;
pub mod model;
mod mounts;
pub mod notice;
pub mod one_volume;
mod outgoing;
pub mod peer;
pub mod procedures;
pub mod qos;
mod random;
pub mod reply;
pub mod rules;
pub mod server;
pub mod service;
pub mod shell;
mod slots;
mod wheel;
