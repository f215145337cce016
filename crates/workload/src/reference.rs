//! The reference page of the experiment file, generated from the table of keys.
//!
//! A test compares it with `docs/reference/experiment.md`.

use std::fmt::Write;

use crate::keys::{self, Kind, Presence, Section};

const HEAD: &str = "\
# The experiment file

This page is generated from the parser's table of keys (`crates/workload/src/keys.rs`). `fourcorners schema` prints a JSON
Schema for editors; `examples/` has complete files.

An experiment is a TOML file with named **streams**, which run concurrently, each with its own results. **Variants** are named
sets of settings that override those of the streams and are measured one after another.

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

Sizes: `8k`, `8KiB` and `1.5GiB` are powers of 1,024; `10GB` is decimal. Durations: `30s`, `2m`, `1m30s`, `500ms`, `10us`,
always with a unit. Shares: `70%`. Rates: `10000/s`, `10k/s` (decimal). Counts: `4000`,
`250k`, `1M` (decimal). Quantities with a unit or suffix need quotes.

## Sweeps

Several values for a key form a sweep, with a load point for each value. Sweeps of several keys are combined; the first key in
the file changes slowest. A sweep is written in one of three ways:

| written | values |
| --- | --- |
| `[1, 4, 16]` | 1, 4, 16 |
| `\"1..32 x2\"` | 1, 2, 4, 8, 16, 32; any whole factor |
| `\"10%..50% step 20%\"` | 10 %, 30 %, 50 %; also downwards: `\"100%..0% step 10%\"` |

They can be mixed (`[1, \"4..16 x2\"]`) and used inside `arrival` and `pattern`: `{ poisson = [\"1k/s\", \"2k/s\"] }`.
A plan has at most 10,000 runs.

## From the command line

`--set KEY=VALUE[,VALUE…]` sets a key of every stream, `--set STREAM.KEY=…` of one, `--set run.KEY=…` of `[run]`,
`--set search.KEY=…` of `[search]`, `--set metric.KEY=…` of `[metric]`. It overrides variants, which override streams. Inside a value: `--set arrival.poisson=1k/s,2k/s`.
";

/// The page, in Markdown.
pub fn reference_markdown() -> String {
    let mut page = HEAD.to_owned();
    for (section, title, about) in [
        (Section::Experiment, "Top level", ""),
        (
            Section::Target,
            "`[target.NAME]`",
            "One of several targets that are measured together. A table without keys is an emulated \
             volume; all of them are served by one endpoint.\n\n",
        ),
        (Section::Run, "`[run]`", "How runs are executed.\n\n"),
        (
            Section::Search,
            "`[search]`",
            "Load points that are chosen from measurements instead of listed in the file; see \
             [Search](../method.md#search).\n\n",
        ),
        (
            Section::Metric,
            "`[metric]`",
            "A business metric as the load, such as active users or builds: each of its values is a load point, \
             at which every stream offers that many times its `arrival`; see \
             [A business metric as the load](../guide/metric.md).\n\n",
        ),
        (
            Section::Stream,
            "`[stream.NAME]`",
            "One stream of operations. The names of its files begin with its name (letters, \
             digits, `-`, `_`).\n\n",
        ),
        (
            Section::Variant,
            "`[[variant]]`",
            "A variant accepts every key of a stream, and these.\n\n",
        ),
    ] {
        write!(page, "\n## {title}\n\n{about}").expect(INFALLIBLE);
        page.push_str("| key | default | sweep | description |\n| --- | --- | --- | --- |\n");
        for key in keys::keys_of(section) {
            let default = match key.presence {
                Presence::Required => "required".to_owned(),
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
