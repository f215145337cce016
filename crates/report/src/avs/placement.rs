//! Which machine lies where, as CSV for scripts: one line for each machine, or each part of one.

use std::io::{self, Write};

use sizing::avs::design::Design;
use sizing::avs::selection::Selection;

/// Writes the lines of a design, in the order of the inventory.
///
/// # Errors
/// Those of `out`.
pub fn write(selection: &Selection, design: &Design, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "machine,row,part,parts,datastore,stored_bytes,ops_per_s,bytes_per_s,load_from,class"
    )?;
    let mut lines: Vec<(usize, u64, u64, &str)> =
        design.on_vsan.iter().map(|&at| (at, 1, 1, "vsan")).collect();
    for store in &design.datastores {
        let here = store.machines.iter();
        lines.extend(here.map(|&(at, part, parts)| (at, part, parts, store.name.as_str())));
    }
    lines.sort_unstable();
    for (at, part, parts, store) in lines {
        let machine = &selection.machines[at];
        let share = |number: u64| number.div_ceil(parts);
        let known = |number: Option<u64>| number.map_or(String::new(), |n| share(n).to_string());
        writeln!(
            out,
            "{},{},{part},{parts},{store},{},{},{},{},{}",
            quoted(&machine.name),
            machine.row,
            share(machine.storage.get()),
            known(machine.ops_per_s),
            known(machine.bytes_per_s),
            machine.load_from.name(),
            quoted(selection.class_name(machine).unwrap_or_default())
        )?;
    }
    Ok(())
}

/// As RFC 4180 wants it, where it must be.
fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}
