//! The reference page of the experiment file, made from the table of keys.
//!
//! `docs/reference/experiment.md` is this text; a test compares them, so the page cannot fall
//! behind the parser.

use std::fmt::Write;

use crate::keys::{self, Kind, Presence, Section};

const HEAD: &str = "\
# The experiment file

This page is made from the table in `crates/workload/src/keys.rs`, which the parser walks.
`fourcorners schema` prints the same as a JSON Schema for editors; `examples/` has files to begin with.

An experiment is a TOML file with named **streams** that run together, each with its own results. **Variants** are named
sets of settings that are laid over the streams and done one after another.

```toml
name = \"oltp\"

[run]
measure = \"30s\"

[stream.database]
read = \"70%\"
transfer_size = \"8k\"
pattern = \"random\"
file_size = \"1GiB\"
queue_depth = [1, 4, 16]
```

## Quantities

Sizes: `8k`, `8KiB`, `1.5GiB` count in 1,024s; `10GB` is decimal. Times: `30s`, `2m`, `1m30s`, `500ms`, `10us`; a unit
is needed. Shares: `70%`. Rates: `10000/s`, `10k/s` (decimal). A quantity with a unit is written in quotes.

## Sweeps

Several values for a key are a sweep; each is a load point, and sweeps of several keys multiply, the first written
changing slowest. There are three ways to write one:

| written | stands for |
| --- | --- |
| `[1, 4, 16]` | these values |
| `\"1..32 x2\"` | 1, 2, 4, 8, 16, 32: doublings, or any whole factor |
| `\"10%..50% step 20%\"` | 10 %, 30 %, 50 %; also downwards, `\"100%..0% step 10%\"` |

They may be mixed (`[1, \"4..16 x2\"]`) and may stand inside `arrival` and `pattern`: `{ poisson = [\"1k/s\", \"2k/s\"] }`.
A plan has at most 10,000 runs.

## From the command line

`--set KEY=VALUE[,VALUE…]` sets a key of every stream, `--set STREAM.KEY=…` of one, `--set run.KEY=…` of `[run]`,
`--set search.KEY=…` of `[search]`. It goes before variants, which go before streams. Inside a value: `--set arrival.poisson=1k/s,2k/s`.
";

/// The page, in Markdown.
pub fn reference_markdown() -> String {
    let mut page = HEAD.to_owned();
    for (section, title, about) in [
        (Section::Experiment, "The top of the file", ""),
        (Section::Run, "`[run]`", "How runs are done.\n\n"),
        (
            Section::Search,
            "`[search]`",
            "Runs that are decided from what was measured, instead of a list that is known \
             beforehand. [How it decides](../method.md#search).\n\n",
        ),
        (
            Section::Stream,
            "`[stream.NAME]`",
            "One stream of operations. The name (letters, digits, `-`, `_`) is also the beginning \
             of its files' names.\n\n",
        ),
        (
            Section::Variant,
            "`[[variant]]`",
            "A variant takes every key of a stream, and these.\n\n",
        ),
    ] {
        write!(page, "\n## {title}\n\n{about}").expect(INFALLIBLE);
        page.push_str("| key | default | sweep | for |\n| --- | --- | --- | --- |\n");
        for key in keys::keys_of(section) {
            let default = match key.presence {
                Presence::Required => "must be written".to_owned(),
                Presence::Default(text) => format!("`{text}`"),
                Presence::Absent(words) => words.to_owned(),
            };
            let sweep = if key.sweep { "yes" } else { "no" };
            writeln!(page, "| `{}` | {default} | {sweep} | {} |", key.name, key.doc)
                .expect(INFALLIBLE);
        }
        page.push_str("\nAllowed values:\n\n");
        for key in keys::keys_of(section).filter(|key| key.kind != Kind::Text) {
            writeln!(page, "- `{}`: {}. Example: `{}`", key.name, key.kind.allowed(), key.example)
                .expect(INFALLIBLE);
        }
        if keys::keys_of(section).all(|key| key.kind == Kind::Text) {
            page.push_str("- text in quotes, up to 100 characters\n");
        }
    }
    page
}

const INFALLIBLE: &str = "writing to a string cannot fail";
