//! A network in virtual time: bytes arrive later, in pieces, and sometimes not at all.
//!
//! The streams keep their order within a connection like TCP's, with everything that a receiver
//! must handle: streams split anywhere, connections that overtake each other, a link that is slow
//! or down. Congestion and retransmission timeouts are not simulated: after an outage transmission
//! continues immediately.
//!
//! Random numbers are a function of the seed and the number of draws.

use std::collections::VecDeque;
use std::io::IoSlice;

use workload::random;

/// The properties of a network, the same in both directions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wire {
    /// One-way delay in nanoseconds, at least 1, so that virtual time advances.
    pub delay_ns: u64,
    /// Maximum additional delay, drawn for each send, so that bytes on one connection may overtake
    /// those on another.
    pub jitter_ns: u64,
    /// Bandwidth in each direction, shared by all connections.
    pub bytes_per_s: Option<u64>,
    /// How the stream is split.
    pub pieces: Pieces,
    /// Maximum bytes in flight on a connection in each direction; the sender notices immediately
    /// when there is room.
    pub window_bytes: usize,
    /// Outages, in order and without overlap.
    pub down: Vec<Outage>,
}

/// How a stream is split into pieces that arrive separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pieces {
    /// Each send is split into pieces of this size.
    Every {
        /// Size of each piece but the last.
        bytes: usize,
    },
    /// At random.
    Random {
        /// Maximum size of a piece.
        most_bytes: usize,
    },
}

/// A time without a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// Its start, in nanoseconds from the run's start.
    pub from_ns: u64,
    /// Its end, in nanoseconds from the run's start.
    pub until_ns: u64,
}

impl Wire {
    /// A network with only this delay: no bandwidth limit, no jitter, no splitting.
    pub fn of_delay(delay_ns: u64) -> Wire {
        Wire {
            delay_ns,
            jitter_ns: 0,
            bytes_per_s: None,
            pieces: Pieces::Every { bytes: usize::MAX },
            window_bytes: 4 << 20,
            down: Vec::new(),
        }
    }

    /// The first time from `at_ns` on at which the link is up.
    pub(crate) fn up_ns(&self, at_ns: u64) -> u64 {
        let within = |down: &&Outage| (down.from_ns..down.until_ns).contains(&at_ns);
        self.down.iter().find(within).map_or(at_ns, |down| down.until_ns)
    }
}

/// One direction of the network, shared by all connections.
#[derive(Debug)]
pub(crate) struct Medium {
    wire: Wire,
    seed: u64,
    draws: u64,
    /// When everything has been transmitted, in picoseconds, because a byte takes less than one
    /// nanosecond.
    free_ps: u128,
}

impl Medium {
    pub(crate) fn new(wire: &Wire, seed: u64) -> Medium {
        assert!(wire.delay_ns > 0, "virtual time must advance");
        assert!(wire.window_bytes > 0, "a connection has a window");
        Medium { wire: wire.clone(), seed, draws: 0, free_ps: 0 }
    }

    /// A number below `bound`.
    fn draw(&mut self, bound: u64) -> u64 {
        self.draws += 1;
        if bound == 0 { 0 } else { random::at(self.seed, self.draws) % bound }
    }

    /// Size of the next piece.
    fn piece(&mut self) -> usize {
        match self.wire.pieces {
            Pieces::Every { bytes } => bytes.max(1),
            Pieces::Random { most_bytes } => self.draw(most_bytes.max(1) as u64) as usize + 1,
        }
    }

    /// When a piece sent now arrives, without jitter.
    fn arrival_ns(&mut self, now_ns: u64, bytes: usize) -> u64 {
        let takes_ps = self
            .wire
            .bytes_per_s
            .map_or(0, |rate| bytes as u128 * 1_000_000_000_000 / u128::from(rate.max(1)));
        let mut from_ps = self.free_ps.max(u128::from(now_ns) * 1000);
        loop {
            let end_ps = from_ps + takes_ps;
            let (from_ns, end_ns) = ((from_ps / 1000) as u64, (end_ps / 1000) as u64);
            // Bytes in flight when the link goes down are sent again when it is up.
            let arrival_ns = end_ns + self.wire.delay_ns;
            let broken = |down: &&Outage| down.from_ns <= arrival_ns && from_ns < down.until_ns;
            match self.wire.down.iter().find(broken) {
                Some(down) => from_ps = u128::from(down.until_ns) * 1000,
                None => {
                    self.free_ps = end_ps;
                    return arrival_ns;
                }
            }
        }
    }
}

/// One direction of one connection: the bytes in flight, in order.
#[derive(Debug, Default)]
pub(crate) struct Pipe {
    bytes: Vec<u8>,
    /// Where in `bytes` the first byte is that was not taken.
    start: usize,
    /// Pieces with their times of arrival, which do not decrease.
    pieces: VecDeque<(u64, usize)>,
    last_ns: u64,
    /// Whether an event is planned for the arrival of the first piece.
    pub(crate) is_planned: bool,
}

/// When this many bytes were taken, the others are moved to the front.
const TAKEN_BYTES: usize = 64 << 10;

impl Pipe {
    /// Sends as many bytes of `slices` as fit, and returns their number.
    pub(crate) fn send(
        &mut self,
        now_ns: u64,
        slices: &[IoSlice<'_>],
        medium: &mut Medium,
    ) -> usize {
        let in_flight = self.bytes.len() - self.start;
        let mut room = medium.wire.window_bytes.saturating_sub(in_flight);
        let before = self.bytes.len();
        for slice in slices {
            let fits = room.min(slice.len());
            self.bytes.extend_from_slice(&slice[..fits]);
            room -= fits;
        }
        let sent = self.bytes.len() - before;
        if sent == 0 {
            return 0;
        }
        let jitter_ns = medium.draw(medium.wire.jitter_ns);
        let mut left = sent;
        while left > 0 {
            let piece = medium.piece().min(left);
            self.last_ns = self.last_ns.max(medium.arrival_ns(now_ns, piece) + jitter_ns);
            self.pieces.push_back((self.last_ns, piece));
            left -= piece;
        }
        sent
    }

    /// When the first piece arrives.
    pub(crate) fn next_ns(&self) -> Option<u64> {
        self.pieces.front().map(|(at_ns, _)| *at_ns)
    }

    /// The first piece, if it has arrived.
    pub(crate) fn take(&mut self, now_ns: u64) -> Option<&[u8]> {
        let (at_ns, length) = *self.pieces.front()?;
        if at_ns > now_ns {
            return None;
        }
        self.pieces.pop_front();
        if self.start >= TAKEN_BYTES && self.start * 2 >= self.bytes.len() {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        let from = self.start;
        self.start += length;
        Some(&self.bytes[from..self.start])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrivals(wire: &Wire, sends: &[(u64, &[u8])]) -> Vec<(u64, Vec<u8>)> {
        let mut medium = Medium::new(wire, 1);
        let mut pipe = Pipe::default();
        for (now_ns, bytes) in sends {
            pipe.send(*now_ns, &[IoSlice::new(bytes)], &mut medium);
        }
        let mut all = Vec::new();
        while let Some(at_ns) = pipe.next_ns() {
            assert!(pipe.take(at_ns - 1).is_none(), "nothing arrives early");
            all.push((at_ns, pipe.take(at_ns).unwrap().to_vec()));
        }
        all
    }

    #[test]
    fn bytes_arrive_in_pieces_after_the_delay_and_at_the_rate() {
        let rate = Wire {
            bytes_per_s: Some(1_000_000_000),
            pieces: Pieces::Every { bytes: 4 },
            ..Wire::of_delay(100)
        };
        let found = arrivals(&rate, &[(0, b"abcdef"), (3, b"gh"), (50, b"i")]);
        let expected: [(u64, &[u8]); 4] = [(104, b"abcd"), (106, b"ef"), (108, b"gh"), (151, b"i")];
        assert_eq!(found, expected.map(|(at_ns, bytes)| (at_ns, bytes.to_vec())));
    }

    #[test]
    fn bytes_in_flight_when_the_link_goes_down_arrive_after_it_is_up() {
        let down = vec![Outage { from_ns: 1000, until_ns: 2000 }];
        let wire = Wire { down, ..Wire::of_delay(100) };
        let found = arrivals(&wire, &[(899, b"a"), (901, b"b"), (1500, b"c"), (2000, b"d")]);
        let times: Vec<u64> = found.iter().map(|(at_ns, _)| *at_ns).collect();
        assert_eq!(times, [999, 2100, 2100, 2100]);
        assert_eq!((wire.up_ns(999), wire.up_ns(1000), wire.up_ns(2000)), (999, 2000, 2000));
    }

    #[test]
    fn the_window_limits_the_bytes_in_flight_and_their_order_is_kept() {
        let wire = Wire {
            jitter_ns: 1000,
            pieces: Pieces::Random { most_bytes: 3 },
            window_bytes: 10,
            ..Wire::of_delay(1)
        };
        let mut medium = Medium::new(&wire, 7);
        let mut pipe = Pipe::default();
        let (text, mut sent, mut got) = (*b"the quick brown fox jumps", 0, Vec::new());
        let mut now_ns = 0;
        while got.len() < text.len() {
            sent += pipe.send(now_ns, &[IoSlice::new(&text[sent..])], &mut medium);
            assert!(sent - got.len() <= 10);
            now_ns = now_ns.max(pipe.next_ns().unwrap());
            got.extend_from_slice(pipe.take(now_ns).unwrap());
        }
        assert_eq!(got, text);
    }
}
