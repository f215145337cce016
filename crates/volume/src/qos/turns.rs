//! The turns of clients that wait for the same limit: deficit round robin.
//!
//! For: giving each client the same share of a limit, whatever the size and number of its requests
//! and connections. Not for: the order of one client's requests, which is that of arrival, or the
//! instant a request conforms (`gcra.rs`).
//!
//! Source: M. Shreedhar and G. Varghese, "Efficient Fair Queueing Using Deficit Round-Robin",
//! SIGCOMM 1995. In each turn a client's deficit grows by [`QUANTUM`] bytes, and it sends requests
//! within the deficit. The rest is saved for its next turn, and lost when the client has no request
//! waiting. The quantum is smaller than the largest request, so that small requests wait less; a
//! request of 1 MiB takes 16 turns, which cost a few nanoseconds each.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// Bytes added to a client's deficit in each turn.
pub const QUANTUM: u64 = 64 << 10;

/// The sequence number of the first request of a queue, and the queue; the earliest request first.
type Ready = BinaryHeap<Reverse<(u64, u32)>>;

/// Queues whose first request is ready, by the client (or group of clients) to which they belong.
///
/// An entry is not removed when its queue's first request changes; it is skipped at its turn.
#[derive(Debug, Default)]
pub(super) struct Turns {
    clients: Vec<Client>,
    /// Unused indices in `clients`.
    free: Vec<u32>,
    /// Indices in `clients` by the client's number.
    by_number: BTreeMap<u64, u32>,
    /// Indices in `clients` in the order of their turns.
    order: VecDeque<u32>,
    /// The first client of `order` has received the quantum of its turn.
    has_quantum: bool,
}

#[derive(Debug)]
struct Client {
    /// As passed to [`Turns::push`].
    number: u64,
    /// Bytes that it may send.
    deficit: u64,
    ready: Ready,
}

impl Turns {
    /// Adds the first request of queue `id`, request number `sequence`, for client `number`. A
    /// client without a ready request gets its turn after all others.
    pub(super) fn push(&mut self, number: u64, sequence: u64, id: u32) {
        let front =
            self.order.front().filter(|front| self.clients[**front as usize].number == number);
        let index = match front.or_else(|| self.by_number.get(&number)) {
            Some(index) => *index,
            None => self.add(number),
        };
        self.clients[index as usize].ready.push(Reverse((sequence, id)));
    }

    fn add(&mut self, number: u64) -> u32 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.clients.push(Client { number, deficit: 0, ready: Ready::new() });
            (self.clients.len() - 1) as u32
        });
        let client = &mut self.clients[index as usize];
        (client.number, client.deficit) = (number, 0);
        self.by_number.insert(number, index);
        self.order.push_back(index);
        index
    }

    /// Whether several clients may be waiting. A client without a ready request counts until its next
    /// turn.
    pub(super) fn is_shared(&self) -> bool {
        self.order.len() > 1
    }

    /// The request to release next, with its queue. Repeated calls return the same request unless the
    /// queues changed.
    ///
    /// * `is_current` — whether a request is still the first of its queue
    /// * `cost` — bytes of the turn that the first request of a queue uses
    pub(super) fn first(
        &mut self,
        is_current: impl Fn(u64, u32) -> bool,
        cost: impl Fn(u32) -> u64,
    ) -> Option<(u64, u32)> {
        loop {
            let index = *self.order.front()?;
            let client = &mut self.clients[index as usize];
            while client.ready.peek().is_some_and(|Reverse((n, id))| !is_current(*n, *id)) {
                client.ready.pop();
            }
            let Some(&Reverse((sequence, id))) = client.ready.peek() else {
                self.has_quantum = false;
                // Usually there is one client, which will have requests again.
                if self.order.len() == 1 {
                    client.deficit = 0;
                    return None;
                }
                self.by_number.remove(&client.number);
                self.free.push(index);
                self.order.pop_front();
                continue;
            };
            if !self.has_quantum {
                client.deficit += QUANTUM;
                self.has_quantum = true;
            }
            if cost(id) <= client.deficit {
                return Some((sequence, id));
            }
            self.order.rotate_left(1);
            self.has_quantum = false;
        }
    }

    /// The request that [`Turns::first`] returned last is released.
    pub(super) fn served(&mut self, cost: u64) {
        let Some(index) = self.order.front() else { return };
        let client = &mut self.clients[*index as usize];
        client.ready.pop();
        client.deficit = client.deficit.saturating_sub(cost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1 << 10;

    /// Clients 0, 1, ... with requests of these sizes, each with one queue.
    struct Clients {
        turns: Turns,
        bytes: Vec<u64>,
        sequence: u64,
    }

    impl Clients {
        fn new(bytes: &[u64]) -> Clients {
            let mut all = Clients { turns: Turns::default(), bytes: bytes.to_vec(), sequence: 0 };
            (0..bytes.len()).for_each(|client| all.push(client));
            all
        }

        fn push(&mut self, client: usize) {
            self.sequence += 1;
            self.turns.push(client as u64, self.sequence, client as u32);
        }

        fn next(&mut self) -> Option<usize> {
            let first = || |_: u64, _: u32| true;
            let bytes = self.bytes.clone();
            let cost = |client: u32| bytes[client as usize];
            let (sequence, client) = self.turns.first(first(), cost)?;
            assert_eq!(self.turns.first(first(), cost), Some((sequence, client)), "repeated");
            self.turns.served(cost(client));
            Some(client as usize)
        }

        /// The clients of the next requests as letters A, B, ...; each request is followed by another
        /// one of its client.
        fn order(&mut self, count: usize) -> String {
            let mut one = || {
                let client = self.next().expect("requests are ready");
                self.push(client);
                char::from(b'A' + client as u8)
            };
            (0..count).map(|_| one()).collect()
        }
    }

    #[test]
    fn a_client_sends_a_quantum_in_each_turn_and_saves_its_unused_deficit() {
        let mut clients = Clients::new(&[64 * KIB, 16 * KIB, 160 * KIB]);
        // The deficit of C is 64, 128, 192, and 32 KiB after its request; then 96, 160, and 0.
        assert_eq!(clients.order(27), "ABBBBABBBBABBBBCABBBBABBBBC");
        assert_eq!(clients.order(16), "ABBBBABBBBABBBBC", "from the beginning");
    }

    #[test]
    fn a_client_without_requests_loses_its_deficit_and_returns_behind_the_others() {
        let mut clients = Clients::new(&[160 * KIB, 64 * KIB]);
        assert_eq!(clients.order(2), "BB");
        // Client 0 sends its only request, which leaves a deficit of 32 KiB.
        assert_eq!(clients.next(), Some(0));
        assert_eq!(clients.order(2), "BB");
        clients.push(0);
        // 64, 128 and 192 KiB; with the old deficit it would be 96 and 160.
        assert_eq!(clients.order(4), "BBAB");
    }

    #[test]
    fn a_single_client_without_requests_loses_its_deficit_too() {
        let mut clients = Clients::new(&[96 * KIB]);
        clients.bytes.push(64 * KIB);
        assert_eq!((clients.next(), clients.next()), (Some(0), None));
        assert!(!clients.turns.is_shared());
        clients.push(0);
        clients.push(1);
        // With the old deficit of 32 KiB it would be first.
        assert_eq!(clients.order(3), "BAB");
    }
}
