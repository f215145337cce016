//! Records of requests with deferred replies.
//!
//! For: 100,000 records without a wait for memory. Not for: when each is due (`service.rs`,
//! `wheel.rs`).
//!
//! Freed records are linked in a list and keep the memory of their reply, because the next large
//! allocation after freeing 100,000 replies one by one took up to 20 ms.

use crate::chunks::Chunks;
use crate::ids::RequestId;
use crate::slots::SlotId;

/// No record.
const NONE: u32 = u32::MAX;

/// A request with a deferred reply.
#[derive(Debug)]
pub(crate) struct DeferredRecord<T, R> {
    generation: u32,
    /// The next free record, while this one is free.
    next_free: u32,
    /// `None` while the record is free.
    pub(crate) timing: Option<T>,
    /// Empty while the record is free.
    pub(crate) reply: R,
}

/// All records.
#[derive(Debug)]
pub(crate) struct DeferredReplies<T, R> {
    records: Chunks<DeferredRecord<T, R>>,
    free: u32,
    used: usize,
}

impl<T, R> Default for DeferredReplies<T, R> {
    fn default() -> DeferredReplies<T, R> {
        DeferredReplies { records: Chunks::default(), free: NONE, used: 0 }
    }
}

impl<T, R: Default> DeferredReplies<T, R> {
    /// Used records.
    pub(crate) const fn len(&self) -> usize {
        self.used
    }

    /// Used and free records.
    pub(crate) fn capacity(&self) -> usize {
        self.records.len()
    }

    /// Allocates until there are `count` records, used or free.
    pub(crate) fn reserve(&mut self, count: usize) {
        while self.records.len() < count {
            let index = self.records.len() as u32;
            let next_free = std::mem::replace(&mut self.free, index);
            let reply = R::default();
            self.records.push(DeferredRecord { generation: 0, next_free, timing: None, reply });
        }
    }

    /// Takes a free record for a request. Its reply is empty.
    pub(crate) fn insert(&mut self, timing: T) -> RequestId {
        self.used += 1;
        if let Some(record) = self.records.get_mut(self.free as usize) {
            let id = SlotId::new(self.free, record.generation);
            self.free = record.next_free;
            record.timing = Some(timing);
            return RequestId(id);
        }
        let index = u32::try_from(self.records.len()).expect("fewer than 2^32 requests");
        assert!(index != NONE, "fewer than 2^32 - 1 requests");
        let (timing, reply) = (Some(timing), R::default());
        self.records.push(DeferredRecord { generation: 0, next_free: NONE, timing, reply });
        RequestId(SlotId::new(index, 0))
    }

    pub(crate) fn get(&self, id: RequestId) -> Option<&DeferredRecord<T, R>> {
        let record = self.records.get(id.0.index())?;
        (record.generation == id.0.generation()).then_some(record)
    }

    pub(crate) fn get_mut(&mut self, id: RequestId) -> Option<&mut DeferredRecord<T, R>> {
        let record = self.records.get_mut(id.0.index())?;
        (record.generation == id.0.generation()).then_some(record)
    }

    /// Frees a record, whose reply must be empty, and returns its timing.
    pub(crate) fn remove(&mut self, id: RequestId) -> Option<T> {
        let record = self.records.get_mut(id.0.index())?;
        if record.generation != id.0.generation() {
            return None;
        }
        let timing = record.timing.take()?;
        record.generation = record.generation.wrapping_add(1);
        record.next_free = std::mem::replace(&mut self.free, id.0.index() as u32);
        self.used -= 1;
        Some(timing)
    }

    /// Frees the memory of all records if none is used.
    pub(crate) fn release_memory(&mut self) {
        if self.used == 0 {
            *self = DeferredReplies::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_keeps_its_reply_and_ids_of_freed_records_are_invalid() {
        let mut deferred: DeferredReplies<usize, Vec<u8>> = DeferredReplies::default();
        let ids: Vec<RequestId> = (0..200).map(|number| deferred.insert(number)).collect();
        for (number, id) in ids.iter().enumerate() {
            deferred.get_mut(*id).unwrap().reply.extend([number as u8; 10]);
        }
        for number in (0..200).step_by(2) {
            let record = deferred.get_mut(ids[number]).unwrap();
            assert_eq!(record.reply, [number as u8; 10]);
            record.reply.clear();
            assert_eq!(deferred.remove(ids[number]), Some(number));
        }
        assert_eq!((deferred.remove(ids[0]), deferred.len()), (None, 100));
        assert!(deferred.get(ids[0]).is_none() && deferred.get_mut(ids[0]).is_none());
        let again = deferred.insert(500);
        let record = deferred.get(again).unwrap();
        assert_eq!((record.timing, record.reply.capacity() >= 10), (Some(500), true));
        assert_ne!(again, ids[198]);
        assert_eq!((deferred.len(), deferred.capacity()), (101, 200));
    }

    #[test]
    fn requests_use_reserved_records_before_new_ones() {
        let mut deferred: DeferredReplies<u32, Vec<u8>> = DeferredReplies::default();
        let first = deferred.insert(0);
        deferred.reserve(2000);
        deferred.reserve(10);
        let ids: Vec<RequestId> = (1..2001).map(|number| deferred.insert(number)).collect();
        assert_eq!((deferred.len(), deferred.capacity()), (2001, 2001));
        assert_eq!(deferred.get(first).unwrap().timing, Some(0));
        assert!(ids.iter().zip(1..).all(|(id, number)| deferred.remove(*id) == Some(number)));
    }

    #[test]
    fn memory_is_released_only_while_no_request_is_deferred() {
        let mut deferred: DeferredReplies<u32, Vec<u8>> = DeferredReplies::default();
        let id = deferred.insert(1);
        deferred.release_memory();
        assert_eq!((deferred.len(), deferred.capacity()), (1, 1));
        deferred.remove(id);
        deferred.release_memory();
        assert_eq!((deferred.len(), deferred.capacity()), (0, 0));
    }
}
