//! The duplicate request cache: a retransmitted call that must not be performed twice is answered
//! with its first reply.
//!
//! Limited in entries and bytes; the oldest replies are removed first. It is independent of
//! connections, because a client retransmits its calls on a new connection.
//! Source: C. Juszczak, Improving the Performance and Correctness of an NFS Server, USENIX Winter
//! 1989. As in later servers, a key includes a fingerprint of the arguments, so that a reused xid
//! is not mistaken for a retransmission.

use std::collections::{BTreeMap, VecDeque};

use crate::procedure::Procedure;

/// Identifies a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallKey {
    client: u64,
    xid: u32,
    procedure: Procedure,
    arguments_bytes: usize,
    fingerprint: u64,
}

impl CallKey {
    /// The key of a call with these argument bytes. `client` identifies the client (its address
    /// without the port).
    #[must_use]
    pub fn new(client: u64, xid: u32, procedure: Procedure, arguments: &[u8]) -> CallKey {
        let fingerprint = fingerprint(arguments);
        CallKey { client, xid, procedure, arguments_bytes: arguments.len(), fingerprint }
    }
}

/// Distinguishes a reused xid from a retransmission among the calls of one client. Need not resist
/// attacks.
fn fingerprint(bytes: &[u8]) -> u64 {
    let mix =
        |hash: u64, word: u64| (hash.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let (words, rest) = bytes.as_chunks::<8>();
    let hash = words.iter().fold(0, |hash, word| mix(hash, u64::from_be_bytes(*word)));
    rest.iter().fold(hash, |hash, byte| mix(hash, u64::from(*byte)))
}

/// Whether a call was received before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen<'a> {
    /// No: perform it and pass its reply to [`ReplyCache::finish`].
    New,
    /// Yes, and it is in progress: send the reply where the last copy came from.
    InProgress,
    /// Yes, and it is finished: send this message, which includes the record mark.
    Replay(&'a [u8]),
}

/// The cache.
#[derive(Debug)]
pub struct ReplyCache {
    max_entries: usize,
    max_bytes: usize,
    /// `None`: in progress.
    replies: BTreeMap<CallKey, Option<Box<[u8]>>>,
    /// Finished calls, the oldest first.
    finished: VecDeque<CallKey>,
    bytes: usize,
}

impl ReplyCache {
    /// An empty cache of at most `max_entries` calls with at most `max_bytes` of replies in total.
    #[must_use]
    pub fn new(max_entries: usize, max_bytes: usize) -> ReplyCache {
        ReplyCache {
            max_entries,
            max_bytes,
            replies: BTreeMap::new(),
            finished: VecDeque::new(),
            bytes: 0,
        }
    }

    /// Looks up a call that [is not idempotent](Procedure::is_idempotent), and adds it if it is
    /// new. It is not added if the cache is full of calls in progress.
    pub fn begin(&mut self, key: CallKey) -> Seen<'_> {
        if !self.replies.contains_key(&key) {
            if self.replies.len() >= self.max_entries {
                self.evict_oldest();
            }
            if self.replies.len() < self.max_entries {
                self.replies.insert(key, None);
            }
            return Seen::New;
        }
        match &self.replies[&key] {
            None => Seen::InProgress,
            Some(reply) => Seen::Replay(reply),
        }
    }

    /// Stores the reply of a call: the whole message, including the record mark.
    pub fn finish(&mut self, key: CallKey, reply: &[u8]) {
        if !matches!(self.replies.get(&key), Some(None)) {
            return;
        }
        if reply.len() > self.max_bytes {
            self.replies.remove(&key);
            return;
        }
        while self.bytes + reply.len() > self.max_bytes && self.evict_oldest() {}
        self.bytes += reply.len();
        self.replies.insert(key, Some(reply.into()));
        self.finished.push_back(key);
    }

    /// Removes a call that ends without a reply, for example after a failure of the server.
    pub fn forget(&mut self, key: CallKey) {
        if matches!(self.replies.get(&key), Some(None)) {
            self.replies.remove(&key);
        }
    }

    fn evict_oldest(&mut self) -> bool {
        let Some(key) = self.finished.pop_front() else { return false };
        if let Some(Some(reply)) = self.replies.remove(&key) {
            self.bytes -= reply.len();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::procedure::NfsProcedure;

    fn key(xid: u32) -> CallKey {
        CallKey::new(1, xid, Procedure::Nfs(NfsProcedure::REMOVE), b"arguments")
    }

    #[test]
    fn a_retransmitted_call_gets_the_first_reply() {
        let mut cache = ReplyCache::new(4, 100);
        assert_eq!(cache.begin(key(1)), Seen::New);
        assert_eq!(cache.begin(key(1)), Seen::InProgress);
        cache.finish(key(1), b"first");
        assert_eq!(cache.begin(key(1)), Seen::Replay(b"first"));
        cache.finish(key(1), b"second");
        assert_eq!(cache.begin(key(1)), Seen::Replay(b"first"));
    }

    #[test]
    fn another_client_procedure_or_arguments_make_another_call() {
        let mut cache = ReplyCache::new(8, 100);
        let remove = Procedure::Nfs(NfsProcedure::REMOVE);
        cache.begin(key(1));
        assert_eq!(cache.begin(CallKey::new(2, 1, remove, b"arguments")), Seen::New);
        let rmdir = Procedure::Nfs(NfsProcedure::RMDIR);
        assert_eq!(cache.begin(CallKey::new(1, 1, rmdir, b"arguments")), Seen::New);
        assert_eq!(cache.begin(CallKey::new(1, 1, remove, b"argumentz")), Seen::New);
        assert_eq!(cache.begin(CallKey::new(1, 1, remove, b"brguments")), Seen::New);
        assert_eq!(cache.begin(CallKey::new(1, 1, remove, b"arguments")), Seen::InProgress);
    }

    #[test]
    fn the_oldest_replies_are_removed_when_entries_or_bytes_reach_their_limit() {
        let mut cache = ReplyCache::new(3, 10);
        for xid in 0..100 {
            assert_eq!(cache.begin(key(xid)), Seen::New);
            cache.finish(key(xid), b"four");
            assert!(cache.replies.len() <= 3 && cache.bytes <= 10);
        }
        assert_eq!(cache.begin(key(99)), Seen::Replay(b"four"));
        assert_eq!(cache.begin(key(98)), Seen::Replay(b"four"));
        assert_eq!(cache.begin(key(97)), Seen::New);
    }

    #[test]
    fn calls_in_progress_are_never_evicted_and_never_exceed_the_limit() {
        let mut cache = ReplyCache::new(2, 10);
        for xid in 0..5 {
            assert_eq!(cache.begin(key(xid)), Seen::New);
        }
        assert_eq!(cache.replies.len(), 2);
        assert_eq!(cache.begin(key(0)), Seen::InProgress);
        cache.forget(key(0));
        assert_eq!(cache.begin(key(4)), Seen::New);
        cache.finish(key(4), b"longer than ten bytes");
        assert_eq!((cache.replies.len(), cache.bytes), (1, 0));
    }
}
