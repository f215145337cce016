//! Results as bytes: the frames of a journal, which also travel from host to host.
//!
//! Decoding never panics and never allocates more than the input justifies, because a journal may come
//! from a third party. Not for: files and their durability (`store`).
//!
//! Reading order: [`framing`] (markers and checksums), [`frame`] (events), [`interval`] (the compact form
//! of histograms), [`codec`] (integers).

pub mod codec;
mod connection;
pub mod frame;
pub mod framing;
mod host_state;
pub mod interval;
mod wire;
