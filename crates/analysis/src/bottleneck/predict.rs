//! What each explanation predicts: how much of the resource one operation needs, so that the
//! ceiling is the resource's amount over it.
//!
//! Amounts are unknown; ratios of ceilings under different circumstances are not. An explanation
//! whose details are not known has several forms, each with a weight.

use super::Limit;
use super::groups::Group;

/// Bytes that a segment of a TCP stream carries (Ethernet's 1,500 less the headers of IPv4 and of
/// TCP with timestamps; RFC 9293, RFC 7323).
const SEGMENT_BYTES: f64 = 1448.0;
/// What is sent around it: Ethernet with preamble, checksum and gap 38, IPv4 20, TCP 32.
const HEADERS_BYTES: f64 = 90.0;
/// An NFS call or reply without data, with RPC's headers (RFC 5531, RFC 1813).
const CALL_BYTES: f64 = 150.0;

/// One form of an explanation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Form {
    pub(crate) weight: f64,
    /// Logarithm of the resource that one operation needs, in the resource's own unit.
    pub(crate) need: f64,
}

/// How an explanation bounds rates.
#[derive(Clone, Debug)]
pub(crate) enum Prediction {
    /// By an amount that is the same everywhere.
    Amount(Vec<Form>),
    /// By the work that one operation makes, which is the same for more connections, may depend on
    /// direction and order in ways that nobody knows, and depends on the size somewhere between not
    /// at all and in proportion. The number divides it: processors.
    Work(f64, &'static [WorkForm]),
}

/// What the work of an operation depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WorkForm {
    pub(crate) weight: f64,
    direction: bool,
    order: bool,
}

/// The work of a storage: of seeks, of writes that cost more, of both.
const STORAGE: [WorkForm; 4] = [
    WorkForm { weight: 0.45, direction: false, order: true },
    WorkForm { weight: 0.45, direction: true, order: true },
    WorkForm { weight: 0.08, direction: true, order: false },
    WorkForm { weight: 0.02, direction: false, order: false },
];
/// The work of this host, which sees no order.
const HOST: [WorkForm; 2] = [
    WorkForm { weight: 0.6, direction: false, order: false },
    WorkForm { weight: 0.4, direction: true, order: false },
];

/// What `limit` says of the ceiling of a group.
pub(crate) fn prediction(limit: Limit, group: &Group, processors: f64) -> Option<Prediction> {
    let work = &group.work;
    let size = work.transfer_bytes.max(1.0);
    let (reads, writes) = (work.read_share, 1.0 - work.read_share);
    let connections = f64::from(work.connections.unwrap_or(1).max(1));
    let volumes = f64::from(work.volumes.max(1));
    let one = |need: f64| Some(Prediction::Amount(vec![Form { weight: 1.0, need: need.ln() }]));
    match limit {
        Limit::VolumeThroughput => one(size / volumes),
        Limit::Endpoint => one(size),
        Limit::NetworkFlow => {
            let form = |weight, need: f64| Form { weight, need: (need / connections).ln() };
            // Both directions together, each for itself, or the operations of a connection.
            let forms = [form(0.45, size), form(0.45, size * reads.max(writes)), form(0.10, 1.0)];
            Some(Prediction::Amount(forms.to_vec()))
        }
        Limit::VmEgress => one(sent(size, writes, reads)),
        Limit::Link => one(sent(size, writes, reads).max(sent(size, reads, writes))),
        Limit::ServerSlots => one(group.floor_s? * work.calls_per_op.unwrap_or(1.0) / connections),
        Limit::OperationsPerSecond => one(1.0),
        Limit::ClientCpu => {
            Some(Prediction::Work(f64::from(work.workers.max(1)).min(processors), &HOST))
        }
        Limit::Disk => Some(Prediction::Work(1.0, &STORAGE)),
        Limit::NotReached | Limit::Unknown => None,
    }
}

/// Bytes on the wire in one direction for each operation: data for `with` of them, a call or reply
/// without data for `without`.
fn sent(size: f64, with: f64, without: f64) -> f64 {
    with * wire_bytes(size) + without * wire_bytes(0.0)
}

/// A call or reply with so much data, with all headers.
pub(crate) fn wire_bytes(data_bytes: f64) -> f64 {
    let bytes = data_bytes + CALL_BYTES;
    bytes + (bytes / SEGMENT_BYTES).max(1.0) * HEADERS_BYTES
}

/// How one group's ceiling lies to another's, as logarithms: what is predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Ratio {
    /// This.
    Exactly(f64),
    /// Anything from the first to the second.
    Between(f64, f64),
    /// Anything.
    Any,
}

/// The forms of `limit` with the predicted ratio of the ceiling of `other` to that of `group`.
pub(crate) fn ratios(
    limit: Limit,
    group: &Group,
    other: &Group,
    processors: f64,
) -> Option<Vec<Ratio>> {
    let of = |group| prediction(limit, group, processors);
    match (of(group)?, of(other)?) {
        (Prediction::Amount(here), Prediction::Amount(there)) => {
            let ratio = |(here, there): (&Form, &Form)| Ratio::Exactly(here.need - there.need);
            Some(here.iter().zip(&there).map(ratio).collect())
        }
        (Prediction::Work(here, forms), Prediction::Work(there, _)) => {
            let (a, b) = (&group.work, &other.work);
            let more = (there / here).ln();
            let by_size = (a.transfer_bytes / b.transfer_bytes).ln();
            let ratio = |form: &WorkForm| {
                let other_way = form.direction && (a.read_share - b.read_share).abs() > 0.01;
                if other_way || form.order && a.order != b.order {
                    Ratio::Any
                } else if by_size.abs() < 0.01 {
                    Ratio::Exactly(more)
                } else {
                    Ratio::Between(more + by_size.min(0.0), more + by_size.max(0.0))
                }
            };
            Some(forms.iter().map(ratio).collect())
        }
        _ => None,
    }
}
