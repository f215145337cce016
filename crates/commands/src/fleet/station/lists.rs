//! Lists to replay, which the controller sends in pieces.

use std::sync::Arc;

use anyhow::anyhow;
use workload::plan::Run;
use workload::replay::ReplayList;

use super::Station;
use crate::outcome::Failure;

/// The lists of a plan.
#[derive(Default)]
pub(super) struct Lists {
    /// The pieces of the next one so far.
    text: String,
    complete: Vec<Arc<ReplayList>>,
}

impl Lists {
    /// Adds its list to each stream that replays one.
    pub(super) fn attach_to(&self, run: &mut Run) {
        let replays = run.streams.iter_mut().filter_map(|stream| stream.replay.as_mut());
        for replay in replays {
            self.complete.iter().for_each(|list| replay.attach(list));
        }
    }
}

impl Station {
    /// Takes a piece of a list.
    pub(in super::super) fn take_list(
        &mut self,
        checksum: &str,
        piece: &str,
        is_last: bool,
    ) -> Result<(), Failure> {
        self.lists.text += piece;
        if is_last {
            let text = std::mem::take(&mut self.lists.text);
            let list = ReplayList::received(&text, checksum);
            let list =
                list.map_err(|wrong| Failure::internal(anyhow!("a list was sent: {wrong}")))?;
            self.lists.complete.push(Arc::new(list));
        }
        Ok(())
    }
}
