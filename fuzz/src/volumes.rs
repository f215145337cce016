//! What must hold for every text that is given as `volumes.toml`: it is refused with places that
//! lie inside of it, or a service starts with it.
//!
//! Included by the fuzz target and by the test that replays the corpus, so that both do the same.

use std::sync::OnceLock;

use cloud::catalog::Catalog;
use units::Bytes;
use volume::config;
use volume::server::{Server, ServerOptions};

/// Stands between the description and the histogram that it may name.
const SEPARATOR: &str = "\n%%%\n";

const FILE: &str = "volumes.toml";

/// Reading it takes longer than all the rest.
fn catalog() -> Catalog {
    static CATALOG: OnceLock<Catalog> = OnceLock::new();
    CATALOG.get_or_init(Catalog::embedded).clone()
}

/// Reads one input; panics where the parser or what follows it breaks its word.
pub(crate) fn try_volumes(data: &[u8]) {
    let Ok(input) = std::str::from_utf8(data) else { return };
    let (text, histogram) = input.split_once(SEPARATOR).unwrap_or((input, ""));
    let mut open = |_: &str| Ok(histogram.to_owned());
    let config = match config::parse(text, FILE, &catalog(), &mut open) {
        Ok(config) => config,
        Err(mistakes) => {
            assert!(!mistakes.is_empty(), "a refusal says why");
            for mistake in mistakes {
                assert!(mistake.line > 0 && mistake.column > 0, "places count from 1: {mistake}");
                if mistake.file == FILE {
                    let part = text.get(mistake.span.clone());
                    assert!(part.is_some(), "{mistake} lies outside of its text");
                }
            }
            return;
        }
    };
    let options =
        ServerOptions { memory: Bytes::gib(1), connections_max: 1, epoch_ns: 1_000_000_000 };
    let volumes = config.account.volumes.len();
    let server = Server::start(0, catalog(), config, options, Box::new(|_| {}))
        .unwrap_or_else(|breaches| panic!("what parses keeps every rule: {breaches:?}"));
    assert_eq!(server.exports().iter().count(), volumes, "every volume is exported");
}
