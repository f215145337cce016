//! Prints `docs/validation.md`: predictions of every published figure.

use std::io::Write;

fn main() -> std::io::Result<()> {
    let page = predict::validation::page(&cloud::figure::all());
    std::io::stdout().write_all(page.as_bytes())
}
