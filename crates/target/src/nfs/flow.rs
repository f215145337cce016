//! One connection without its socket: its calls, which of them are still to be sent, and whether it
//! is connected.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::time::Duration;

use nfs3::client::{Client, ClientOptions};
use nfs3::xdr::padding;
use rustix::io::Errno;
use uring::buffers::Buffers;
use workload::connection::ConnectionCounters;

use super::calls::{Calls, List};

/// Waits before a lost connection is opened again; the first attempt is immediate. They grow, so
/// that a server that is down is not flooded, up to what a user can wait for.
const BACKOFF: std::ops::RangeInclusive<Duration> =
    Duration::from_millis(50)..=Duration::from_secs(5);

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// It carries calls.
    Up,
    /// It has been connecting since this time.
    Connecting { since_ns: u64 },
    /// It is opened again at this time.
    Down { until_ns: u64 },
}

/// A time without a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outage {
    pub(super) since_ns: u64,
    /// Up to when the outage is in the counters.
    counted_ns: u64,
    /// Why the connection was lost, or why the last attempt to open it failed.
    pub(super) errno: Errno,
}

/// A connection.
#[derive(Debug)]
pub(super) struct Flow {
    pub(super) client: Client,
    /// By slot: the call in it.
    pub(super) call_of: Vec<u32>,
    /// By slot: whether the whole call was passed to the kernel.
    pub(super) is_sent: Vec<bool>,
    /// Slots to be sent, in order.
    unsent: VecDeque<u32>,
    /// How many bytes of the first of them were sent.
    sent_of_first: usize,
    /// Calls that wait for a free slot of this connection.
    pub(super) waiting: List,
    pub(super) link: Link,
    /// The current outage, if it is not connected.
    pub(super) outage: Option<Outage>,
    backoff: Duration,
    /// When the peer last made progress, or the connection became busy.
    pub(super) heard_ns: u64,
    /// Up to when the time integral is in the counters.
    counted_ns: u64,
    /// Whether it is in the list of connections with calls to send.
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

    /// Queues the call in `slot` to be sent.
    #[inline]
    pub(super) fn begin(&mut self, slot: u32, call: u32) {
        self.call_of[slot as usize] = call;
        self.is_sent[slot as usize] = false;
        self.unsent.push_back(slot);
    }

    /// Whether calls are queued to be sent.
    #[inline]
    pub(super) fn has_unsent(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// How many calls are queued to be sent.
    #[inline]
    pub(super) fn unsent_calls(&self) -> usize {
        self.unsent.len()
    }

    /// Updates the time integral of outstanding calls to `now_ns`. Called before their number
    /// changes.
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

    /// Fills `pieces` with what is to be sent next and returns how many it filled. Data is sent
    /// from the operation's buffer.
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
            if call.kind.carries_data() {
                let memory = buffers.bytes(call.operation as usize);
                let data = &memory[call.buffer_offset as usize..][..call.count as usize];
                add(data);
                add(padding(data.len()));
            }
        }
        filled
    }

    /// Notes that the kernel accepted `bytes` of what was gathered. If they continue a call that
    /// was sent partly, the peer has made room: this proves it alive as a reply does, and is the
    /// only proof while a large call is sent over a slow path.
    pub(super) fn sent(&mut self, calls: &Calls, bytes: usize, now_ns: u64) {
        if self.sent_of_first > 0 && bytes > 0 {
            self.heard_ns = now_ns;
        }
        let mut left = bytes + self.sent_of_first;
        while let Some(slot) = self.unsent.front() {
            let call = &calls[self.call_of[*slot as usize]];
            let mut length = self.client.message(*slot).len();
            if call.kind.carries_data() {
                length += call.count as usize + padding(call.count as usize).len();
            }
            if left < length {
                break;
            }
            left -= length;
            self.is_sent[*slot as usize] = true;
            self.unsent.pop_front();
        }
        debug_assert!(left == 0 || !self.unsent.is_empty(), "no more was sent than gathered");
        self.sent_of_first = left;
    }

    /// Notes that the connection is lost, or could not be opened. Its outstanding calls are queued
    /// for the next connection, in their order. Returns how many of them had been sent.
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

    /// Notes that the connection is established.
    pub(super) fn connected(&mut self, now_ns: u64, counters: &mut ConnectionCounters) {
        self.count_down_time(now_ns, counters);
        self.outage = None;
        self.link = Link::Up;
        self.heard_ns = now_ns;
    }

    /// Updates the time without a connection to `now_ns`.
    fn count_down_time(&mut self, now_ns: u64, counters: &mut ConnectionCounters) {
        if let Some(outage) = &mut self.outage {
            counters.down_time_ns += now_ns.saturating_sub(outage.counted_ns);
            outage.counted_ns = now_ns;
        }
    }

    /// Whether the peer has been silent for `time_ns`, connected or not.
    pub(super) fn is_silent(&self, now_ns: u64, time_ns: u64) -> bool {
        let since_ns = self.outage.map_or(self.heard_ns, |outage| outage.since_ns);
        now_ns.saturating_sub(since_ns) >= time_ns
    }

    /// A reply came: the backoff starts again with the next failure.
    #[inline]
    pub(super) fn answered(&mut self) {
        self.backoff = Duration::ZERO;
    }

    /// Updates all counters of the connection to `now_ns`.
    pub(super) fn update_counters(&mut self, now_ns: u64, counters: &mut ConnectionCounters) {
        self.count_time(now_ns, counters);
        self.count_down_time(now_ns, counters);
        counters.down_errno = self.outage.map_or(0, |outage| outage.errno.raw_os_error());
        counters.outstanding = self.client.outstanding() as u64;
        counters.age_ns = now_ns;
    }
}
