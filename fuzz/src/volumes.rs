//! Any text as `volumes.toml`: it is refused with positions inside the text, or the service starts
//! with it.
//!
//! Included by the fuzz target and by the test that replays the corpus.

use std::sync::OnceLock;

use cloud::catalog::Catalog;
use units::Bytes;
use volume::config;
use volume::server::{Server, ServerOptions};

/// Separates the configuration and the histogram that it may name.
const SEPARATOR: &str = "\n%%%\n";

const FILE: &str = "volumes.toml";

/// Parsed once, because that takes longer than the rest of a test.
fn catalog() -> Catalog {
    static CATALOG: OnceLock<Catalog> = OnceLock::new();
    CATALOG.get_or_init(Catalog::embedded).clone()
}

/// Tests one input; panics if a property is violated.
pub(crate) fn try_volumes(data: &[u8]) {
    let Ok(input) = std::str::from_utf8(data) else { return };
    let (text, histogram) = input.split_once(SEPARATOR).unwrap_or((input, ""));
    let mut open = |_: &str| Ok(histogram.to_owned());
    let config = match config::parse(text, FILE, &catalog(), &mut open) {
        Ok(config) => config,
        Err(mistakes) => {
            assert!(!mistakes.is_empty(), "a refusal has a diagnostic");
            for mistake in mistakes {
                assert!(
                    mistake.line > 0 && mistake.column > 0,
                    "lines and columns count from 1: {mistake}"
                );
                if mistake.file == FILE {
                    let part = text.get(mistake.span.clone());
                    assert!(part.is_some(), "{mistake}: the span is outside the text");
                }
            }
            return;
        }
    };
    let options =
        ServerOptions { memory: Bytes::gib(1), connections_max: 1, epoch_ns: 1_000_000_000 };
    let volumes = config.account.volumes.len();
    let server = Server::start(0, catalog(), config, options, Box::new(|_| {})).unwrap_or_else(
        |violations| panic!("a parsed configuration keeps every rule: {violations:?}"),
    );
    assert_eq!(server.exports().iter().count(), volumes, "every volume is exported");
}
