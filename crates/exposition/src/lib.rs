//! Metrics as text, and the HTTP messages that carry it: bytes in and bytes out.
//!
//! For: the one writer of the formats that Prometheus reads ([`writer`]), a reader of what other
//! exporters serve ([`reader`]), and requests and responses ([`http`]). Not for: sockets, or
//! counting (`volume`, `commands`).
//!
//! Sources: Prometheus text format 0.0.4; OpenMetrics 1.0.0; RFC 9112.

pub mod http;
pub mod reader;
pub mod writer;
