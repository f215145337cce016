//! `cargo xtask book`: the guide as a site in `target/book`, by mdBook.
//!
//! Not part of `check`, because mdBook takes minutes to compile: `tidy` checks the contents and the
//! links of the guide.

use std::path::Path;

use anyhow::{Context, Result};

use crate::check::run_program;
use crate::tools;

const VERSION: &str = "0.4.52";

/// Builds the site.
///
/// # Errors
/// mdBook cannot be compiled, or fails.
pub(crate) fn run(root: &Path) -> Result<()> {
    let features = ["--no-default-features", "--features", "search"];
    let program = tools::installed(root, "mdbook", VERSION, &features)?;
    run_program(root, program.to_str().context("a path is not UTF-8")?, &["build"])
}
