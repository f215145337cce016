//! One connection without its socket: the calls it carries, what of them is still to be sent, and
//! whether it is there.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::time::Duration;

use nfs3::client::{Client, ClientOptions};
use nfs3::xdr::padding;
use rustix::io::Errno;
use uring::buffers::Buffers;
use workload::connection::ConnectionCounters;

use super::calls::{CallKind, Calls, List};

/// Waits before a lost connection is made anew; the first attempt comes at once. They grow, so that
/// a server that is down is not flooded, and end at what a user can wait for.
const BACKOFF: std::ops::RangeInclusive<Duration> =
    Duration::from_millis(50)..=Duration::from_secs(5);

/// Whether a connection is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// Calls go over it.
    Up,
    /// It is being made, since this moment.
    Connecting { since_ns: u64 },
    /// It is to be made at this moment.
    Down { until_ns: u64 },
}

/// A time without a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outage {
    pub(super) since_ns: u64,
    /// Up to when it is in the counters.
    counted_ns: u64,
    /// Why the connection was lost, or the last attempt to make it failed.
    pub(super) errno: Errno,
}

/// A connection.
#[derive(Debug)]
pub(super) struct Flow {
    pub(super) client: Client,
    /// By slot: the call in it.
    pub(super) call_of: Vec<u32>,
    /// By slot: whether all of it was handed to the kernel.
    pub(super) is_sent: Vec<bool>,
    /// Slots to be sent, in order.
    unsent: VecDeque<u32>,
    /// What of the first of them went out already.
    sent_of_first: usize,
    /// Calls that wait for a slot of this connection.
    pub(super) waiting: List,
    pub(super) link: Link,
    /// Since when and why there is no connection.
    pub(super) outage: Option<Outage>,
    backoff: Duration,
    /// When it last gave a sign of life, or was given something to say.
    pub(super) heard_ns: u64,
    /// Up to when its time integral runs.
    counted_ns: u64,
    /// Whether it is in the list of those with something to send.
    pub(super) is_listed: bool,
}

impl Flow {
    pub(super) fn new(
        slots: u32,
        max_reply_bytes: usize,
        message_bytes: usize,
        first_generation: u32,
    ) -> Flow {
        let mut client = Client::new(ClientOptions { slots, max_reply_bytes, first_generation });
        client.reserve(message_bytes);
        Flow {
            client,
            call_of: vec![0; slots as usize],
            is_sent: vec![false; slots as usize],
            unsent: VecDeque::with_capacity(slots as usize),
            sent_of_first: 0,
            waiting: List::EMPTY,
            link: Link::Up,
            outage: None,
            backoff: Duration::ZERO,
            heard_ns: 0,
            counted_ns: 0,
            is_listed: false,
        }
    }

    /// Takes note that the call in `slot` is to be sent.
    #[inline]
    pub(super) fn begin(&mut self, slot: u32, call: u32) {
        self.call_of[slot as usize] = call;
        self.is_sent[slot as usize] = false;
        self.unsent.push_back(slot);
    }

    /// Whether something is to be sent.
    #[inline]
    pub(super) fn has_unsent(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// Brings the time integral of the outstanding calls up to `now_ns`; to be called before their
    /// number changes.
    #[inline]
    pub(super) fn count_time(&mut self, now_ns: u64, counters: &mut ConnectionCounters) {
        let outstanding = self.client.outstanding() as u64;
        let time_ns = now_ns.saturating_sub(self.counted_ns);
        counters.outstanding_time_ns += u128::from(outstanding) * u128::from(time_ns);
        self.counted_ns = now_ns;
        if outstanding == 0 {
            self.heard_ns = now_ns;
        }
    }

    /// Fills `pieces` with what is to be sent next; gives how many it filled. Data is sent from
    /// where the operation has it.
    pub(super) fn gather<'a>(
        &'a self,
        calls: &Calls,
        buffers: &'a Buffers,
        pieces: &mut [IoSlice<'a>],
    ) -> usize {
        let mut filled = 0;
        let mut skip = self.sent_of_first;
        for slot in &self.unsent {
            if filled + 3 > pieces.len() {
                break;
            }
            let mut add = |bytes: &'a [u8]| {
                let rest = &bytes[skip.min(bytes.len())..];
                skip -= bytes.len() - rest.len();
                if !rest.is_empty() {
                    pieces[filled] = IoSlice::new(rest);
                    filled += 1;
                }
            };
            add(self.client.message(*slot));
            let call = &calls[self.call_of[*slot as usize]];
            if let CallKind::Write(_) = call.kind {
                let memory = buffers.bytes(call.operation as usize);
                let data = &memory[call.at as usize..][..call.count as usize];
                add(data);
                add(padding(data.len()));
            }
        }
        filled
    }

    /// The kernel took `bytes` of what was gathered. Where that goes on with a call of which it had
    /// taken a part, the peer has made room: as good a sign of life as an answer, and the only one
    /// that a large call over a slow path gives until all of it is there.
    pub(super) fn sent(&mut self, calls: &Calls, bytes: usize, now_ns: u64) {
        if self.sent_of_first > 0 && bytes > 0 {
            self.heard_ns = now_ns;
        }
        let mut left = bytes + self.sent_of_first;
        while let Some(slot) = self.unsent.front() {
            let call = &calls[self.call_of[*slot as usize]];
            let mut length = self.client.message(*slot).len();
            if let CallKind::Write(_) = call.kind {
                length += call.count as usize + padding(call.count as usize).len();
            }
            if left < length {
                break;
            }
            left -= length;
            self.is_sent[*slot as usize] = true;
            self.unsent.pop_front();
        }
        debug_assert!(left == 0 || !self.unsent.is_empty(), "no more is sent than was gathered");
        self.sent_of_first = left;
    }

    /// The connection is gone, or was not made: everything outstanding is to be sent again over
    /// the next one, in the order in which it was begun. Gives how many calls had been sent.
    pub(super) fn lost(&mut self, now_ns: u64, errno: Errno) -> u64 {
        self.outage = Some(match self.outage {
            Some(outage) => Outage { errno, ..outage },
            None => Outage { since_ns: now_ns, counted_ns: now_ns, errno },
        });
        self.link = Link::Down { until_ns: now_ns + self.backoff.as_nanos() as u64 };
        self.backoff = (self.backoff * 2).clamp(*BACKOFF.start(), *BACKOFF.end());
        let is_first_part_sent = self.sent_of_first > 0;
        let mut replays = u64::from(is_first_part_sent);
        self.sent_of_first = 0;
        self.unsent.clear();
        for slot in self.client.reconnected() {
            replays += u64::from(std::mem::replace(&mut self.is_sent[slot as usize], false));
            self.unsent.push_back(slot);
        }
        replays
    }

    /// The connection is there.
    pub(super) fn connected(&mut self, now_ns: u64, counters: &mut ConnectionCounters) {
        self.count_down_time(now_ns, counters);
        self.outage = None;
        self.link = Link::Up;
        self.heard_ns = now_ns;
    }

    /// Brings the time without a connection up to `now_ns`.
    fn count_down_time(&mut self, now_ns: u64, counters: &mut ConnectionCounters) {
        if let Some(outage) = &mut self.outage {
            counters.down_time_ns += now_ns.saturating_sub(outage.counted_ns);
            outage.counted_ns = now_ns;
        }
    }

    /// Whether nothing has been heard for `time_ns`, with a connection or without.
    pub(super) fn is_silent(&self, now_ns: u64, time_ns: u64) -> bool {
        let since_ns = self.outage.map_or(self.heard_ns, |outage| outage.since_ns);
        now_ns.saturating_sub(since_ns) >= time_ns
    }

    /// A reply came: what goes wrong next is no sequel of what went wrong before.
    #[inline]
    pub(super) fn answered(&mut self) {
        self.backoff = Duration::ZERO;
    }
}

impl super::core::Core {
    /// Makes the counters of all connections those of `now_ns`.
    pub(super) fn bring_counters_to(&mut self, now_ns: u64) {
        for (flow, counters) in self.flows.iter_mut().zip(&mut self.counters) {
            flow.count_time(now_ns, counters);
            flow.count_down_time(now_ns, counters);
            counters.down_errno = flow.outage.map_or(0, |outage| outage.errno.raw_os_error());
            counters.outstanding = flow.client.outstanding() as u64;
            counters.age_ns = now_ns;
        }
    }
}
