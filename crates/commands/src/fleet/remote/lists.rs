//! Sends the lists that a plan replays to all hosts, each of which replays its part.

use std::collections::BTreeMap;

use super::ask::NotDone;
use super::{Opening, RemoteFleet};
use crate::fleet::request::Request;

/// Bytes of a piece of a list. The whole list may be larger than a message.
const PIECE_BYTES: usize = 4 << 20;

impl RemoteFleet {
    pub(super) fn send_lists(&mut self, opening: &Opening<'_>) -> Result<(), NotDone> {
        let replays = opening.plan.model_streams().filter_map(|stream| stream.replay.as_ref());
        let lists = replays.filter_map(|replay| Some((&replay.checksum, replay.source()?)));
        let is_stopped = || opening.observer.is_cancelled();
        for (checksum, list) in lists.collect::<BTreeMap<_, _>>() {
            let mut pieces = list.pieces(PIECE_BYTES).peekable();
            while let Some(piece) = pieces.next() {
                let request = Request::TakeList {
                    checksum: checksum.clone(),
                    piece,
                    is_last: pieces.peek().is_none(),
                };
                let requests = (0..self.hosts.len()).map(|host| (host, request.clone()));
                let requests = requests.collect();
                self.ask::<()>(requests, &is_stopped)?;
            }
        }
        Ok(())
    }
}
