//! A network in virtual time: what is sent arrives later, in pieces, and sometimes not at all.
//!
//! For: streams of bytes that keep their order within a connection, as TCP's do, with everything
//! that a receiver must bear: pieces cut anywhere, connections that overtake one another, a link
//! that is slow or down for a time. Not for: congestion, and when TCP sends a lost packet again:
//! after a time without a link everything goes on at its end.
//!
//! Randomness is a function of the seed and of how many draws there were.

use std::collections::VecDeque;
use std::io::IoSlice;

use workload::random;

/// What a network is like; the same in both directions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wire {
    /// From one end to the other, at least 1 ns: where nothing takes time, time stands still.
    pub delay_ns: u64,
    /// Whatever is sent takes up to this longer, drawn anew for each sending; so what goes over one
    /// connection may overtake what went over another before.
    pub jitter_ns: u64,
    /// Of all connections together, in each direction.
    pub bytes_per_s: Option<u64>,
    /// How the stream is cut.
    pub pieces: Pieces,
    /// Bytes that a connection holds in each direction, sent and not taken yet; the sender knows
    /// at once when there is room again.
    pub window_bytes: usize,
    /// When nothing goes over it, in order and apart from one another.
    pub down: Vec<Down>,
}

/// How a stream is cut into the pieces that arrive one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pieces {
    /// Each sending, from its beginning.
    Every {
        /// Of each piece but the last.
        bytes: usize,
    },
    /// Anywhere.
    Random {
        /// Of the largest piece.
        most_bytes: usize,
    },
}

/// A time without a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Down {
    /// From here, in nanoseconds from the run's start.
    pub from_ns: u64,
    /// Until here.
    pub until_ns: u64,
}

impl Wire {
    /// A wire that is only long: no limit, no jitter, pieces as large as they are sent.
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

    /// The first instant from `at_ns` on at which there is a link.
    pub(crate) fn up_ns(&self, at_ns: u64) -> u64 {
        let within = |down: &&Down| (down.from_ns..down.until_ns).contains(&at_ns);
        self.down.iter().find(within).map_or(at_ns, |down| down.until_ns)
    }
}

/// One direction of the network, which all connections share.
#[derive(Debug)]
pub(crate) struct Medium {
    wire: Wire,
    seed: u64,
    draws: u64,
    /// When everything that was sent has left; in picoseconds, for a byte takes less than one
    /// nanosecond.
    free_ps: u128,
}

impl Medium {
    pub(crate) fn new(wire: &Wire, seed: u64) -> Medium {
        assert!(wire.delay_ns > 0, "where nothing takes time, time stands still");
        assert!(wire.window_bytes > 0, "a connection holds some bytes");
        Medium { wire: wire.clone(), seed, draws: 0, free_ps: 0 }
    }

    /// A number below `most`.
    fn draw(&mut self, most: u64) -> u64 {
        self.draws += 1;
        if most == 0 { 0 } else { random::at(self.seed, self.draws) % most }
    }

    /// Bytes of the next piece of a sending.
    fn piece(&mut self) -> usize {
        match self.wire.pieces {
            Pieces::Every { bytes } => bytes.max(1),
            Pieces::Random { most_bytes } => self.draw(most_bytes.max(1) as u64) as usize + 1,
        }
    }

    /// When a piece that is handed over now has arrived, jitter not counted.
    fn arrival_ns(&mut self, now_ns: u64, bytes: usize) -> u64 {
        let takes_ps = self
            .wire
            .bytes_per_s
            .map_or(0, |rate| bytes as u128 * 1_000_000_000_000 / u128::from(rate.max(1)));
        let mut from_ps = self.free_ps.max(u128::from(now_ns) * 1000);
        loop {
            let end_ps = from_ps + takes_ps;
            let (from_ns, end_ns) = ((from_ps / 1000) as u64, (end_ps / 1000) as u64);
            // What is on its way when the link goes is sent again when it is back.
            let arrival_ns = end_ns + self.wire.delay_ns;
            let broken = |down: &&Down| down.from_ns <= arrival_ns && from_ns < down.until_ns;
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

/// One direction of one connection: bytes on their way, in order.
#[derive(Debug, Default)]
pub(crate) struct Pipe {
    bytes: Vec<u8>,
    /// Where in `bytes` the first stands that was not taken.
    start: usize,
    /// Pieces by the time of their arrival, which never falls.
    pieces: VecDeque<(u64, usize)>,
    last_ns: u64,
    /// Somebody will look when the first piece is there.
    pub(crate) is_planned: bool,
}

/// Bytes of what was taken, beyond which the rest is moved to the front.
const TAKEN_BYTES: usize = 64 << 10;

impl Pipe {
    /// Sends what fits of `slices`, and says how many bytes that is.
    pub(crate) fn send(
        &mut self,
        now_ns: u64,
        slices: &[IoSlice<'_>],
        medium: &mut Medium,
    ) -> usize {
        let held = self.bytes.len() - self.start;
        let mut room = medium.wire.window_bytes.saturating_sub(held);
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

    fn arrivals(wire: &Wire, sendings: &[(u64, &[u8])]) -> Vec<(u64, Vec<u8>)> {
        let mut medium = Medium::new(wire, 1);
        let mut pipe = Pipe::default();
        for (now_ns, bytes) in sendings {
            pipe.send(*now_ns, &[IoSlice::new(bytes)], &mut medium);
        }
        let mut all = Vec::new();
        while let Some(at_ns) = pipe.next_ns() {
            assert!(pipe.take(at_ns - 1).is_none(), "nothing comes before its time");
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
    fn what_is_under_way_when_the_link_goes_arrives_after_it_is_back() {
        let down = vec![Down { from_ns: 1000, until_ns: 2000 }];
        let wire = Wire { down, ..Wire::of_delay(100) };
        let found = arrivals(&wire, &[(899, b"a"), (901, b"b"), (1500, b"c"), (2000, b"d")]);
        let times: Vec<u64> = found.iter().map(|(at_ns, _)| *at_ns).collect();
        assert_eq!(times, [999, 2100, 2100, 2100]);
        assert_eq!((wire.up_ns(999), wire.up_ns(1000), wire.up_ns(2000)), (999, 2000, 2000));
    }

    #[test]
    fn no_more_is_held_than_the_window_and_order_is_kept_whatever_the_pieces() {
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
