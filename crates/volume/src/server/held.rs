//! Replies that limits or a delay hold, and their memory.
//!
//! For: keeping 100,000 of them so that none has to wait for memory. Not for: when each goes
//! (`service.rs`).

use crate::chunks::Chunks;
use crate::reply::Reply;
use crate::slots::{Place, Slots};

/// Whose reply is held, and what its answer counts.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) connection: Place,
    /// Where it stands in the connection's list.
    pub(super) position: usize,
    pub(super) bytes: u64,
    pub(super) failed: bool,
}

/// All that are held.
///
/// The memory of a reply is kept for the one that comes after it: to give it back piece by piece,
/// and then to ask for a larger piece, has an allocator put in order what came back, which takes
/// it up to 20 ms, in which nothing else is let go.
#[derive(Debug, Default)]
pub(super) struct Holding {
    held: Slots<Held>,
    /// replies[place.index()]; empty where nothing is held.
    replies: Chunks<Reply>,
}

impl Holding {
    pub(super) const fn len(&self) -> usize {
        self.held.len()
    }

    /// So many have memory.
    pub(super) fn room(&self) -> usize {
        self.replies.len()
    }

    /// Makes room for `count` together, so that none has to wait until memory is found.
    pub(super) fn make_room(&mut self, count: usize) {
        self.held.make_room(count);
        while self.replies.len() < count {
            self.replies.push(Reply::new());
        }
    }

    /// The place that the next one will have.
    pub(super) fn next_place(&self) -> Place {
        self.held.next_place()
    }

    /// Takes the reply, and leaves an empty one.
    pub(super) fn hold(&mut self, held: Held, reply: &mut Reply) -> Place {
        let place = self.held.insert(held);
        match self.replies.get_mut(place.index()) {
            Some(empty) => std::mem::swap(empty, reply),
            None => self.replies.push(std::mem::replace(reply, Reply::new())),
        }
        place
    }

    /// What is held there, with its reply, which must be made empty.
    pub(super) fn take(&mut self, place: Place) -> Option<(Held, &mut Reply)> {
        let held = self.held.remove(place)?;
        Some((held, self.replies.get_mut(place.index())?))
    }

    /// It stands elsewhere in its connection's list now.
    pub(super) fn moved(&mut self, place: Place, position: usize) {
        if let Some(held) = self.held.get_mut(place) {
            held.position = position;
        }
    }

    /// Touches a part of what is held there, and says whether there may be more; see
    /// [`Reply::look`].
    pub(super) fn look(&self, place: Place, part: usize) -> bool {
        let held = self.held.get(place).and_then(|_| self.replies.get(place.index()));
        held.is_some_and(|reply| reply.look(part))
    }

    /// Gives all memory back.
    pub(super) fn give_back(&mut self) {
        debug_assert_eq!(self.len(), 0, "what is held keeps its memory");
        *self = Holding::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(byte: u8) -> Reply {
        let mut reply = Reply::new();
        reply.head().extend_from_slice(&[byte; 100]);
        reply
    }

    fn held(position: usize) -> Held {
        let connection = Place::from_bits(0);
        Held { connection, position, bytes: 0, failed: false }
    }

    #[test]
    fn each_comes_back_with_its_own_reply_whatever_went_before() {
        let mut holding = Holding::default();
        let mut places = Vec::new();
        for byte in 0..200 {
            let mut reply = filled(byte);
            places.push(holding.hold(held(byte.into()), &mut reply));
            assert!(reply.is_empty());
        }
        for number in (0..200).step_by(2) {
            let (held, reply) = holding.take(places[number]).unwrap();
            assert_eq!((held.position, reply.to_vec()), (number, vec![number as u8; 100]));
            reply.give_back();
        }
        assert!(holding.take(places[0]).is_none());
        assert!(holding.look(places[1], 0) && !holding.look(places[0], 0));
        let place = holding.next_place();
        assert_eq!(holding.hold(held(7), &mut filled(250)), place);
        holding.moved(place, 8);
        let (held, reply) = holding.take(place).unwrap();
        assert_eq!((held.position, reply.to_vec()), (8, vec![250; 100]));
        assert_eq!((holding.len(), holding.replies.len()), (100, 200));
    }

    #[test]
    fn what_room_was_made_for_is_held_there() {
        let mut holding = Holding::default();
        holding.make_room(100);
        for byte in 0..150 {
            let place = holding.hold(held(0), &mut filled(byte));
            assert_eq!(holding.replies.get(place.index()).unwrap().to_vec(), [byte; 100]);
        }
        assert_eq!((holding.len(), holding.replies.len()), (150, 150));
    }

    #[test]
    fn after_memory_was_given_back_replies_are_held_as_before() {
        let mut holding = Holding::default();
        for byte in [1, 2] {
            let places: Vec<Place> =
                (0..10).map(|position| holding.hold(held(position), &mut filled(byte))).collect();
            for place in places {
                let (_, reply) = holding.take(place).unwrap();
                assert_eq!(reply.to_vec(), [byte; 100]);
                reply.give_back();
            }
            holding.give_back();
            assert_eq!((holding.len(), holding.replies.len()), (0, 0));
        }
    }
}
