//! Complete, older, partial and wrong exports.

mod workbooks;

use rvtools::inventory::Power;
use rvtools::{Error, Inventory, NamedBytes};
use units::{Bytes, BytesPerSec, OpsPerSec};
use workbooks::{INFO, Table, Vm, estate, hosts, info, uuid, workbook};

fn named(name: &str, bytes: impl Into<Vec<u8>>) -> NamedBytes {
    NamedBytes { name: name.to_owned(), bytes: bytes.into() }
}

fn read(files: &[NamedBytes]) -> Result<Inventory, Error> {
    rvtools::read(files, &[])
}

fn of_tables(tables: &[Table]) -> Result<Inventory, Error> {
    read(&[named("export.xlsx", workbook(tables))])
}

fn two() -> Table {
    info(&[
        Vm { name: "a", ..Vm::default() },
        Vm { name: "b", power: "poweredOff", template: "True", ..Vm::default() },
    ])
}

#[test]
fn a_workbook_is_read_with_all_its_sheets() {
    let inventory = read(&[named("estate.xlsx", estate(100))]).unwrap();
    assert_eq!(inventory.machines.len(), 100);
    let machine = &inventory.machines[5];
    assert_eq!((machine.name.as_str(), machine.row, machine.power), ("vm00005", 7, Power::On));
    assert_eq!(machine.disks.len(), 2);
    assert_eq!(machine.disks[1].label, "Hard disk 2");
    assert_eq!(machine.memory_consumed.unwrap().get() * 2, machine.memory.get());
    assert_eq!(inventory.hosts.len(), 10);
    assert_eq!((inventory.hosts[0].cores, inventory.hosts[0].vcpus), (Some(32), Some(128)));
    assert_eq!(inventory.datastores[0].kind.as_deref(), Some("VMFS"));
    assert_eq!(inventory.datastores[0].provisioned, Some(Bytes::mib(157_286_400)));
    let cluster = &inventory.clusters[0];
    assert_eq!((cluster.hosts, cluster.cores, cluster.failover), (Some(10), Some(320), Some(1)));
    assert_eq!(machine.folder.as_deref(), Some("/dc1/vm"));
    assert!(machine.guest_capacity.unwrap() > machine.guest_used.unwrap());
    assert_eq!(inventory.absent, [""; 0]);
    assert_eq!(inventory.notes, [""; 0]);
    let sheets: Vec<&str> = inventory.sheets.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        sheets,
        ["vInfo", "vDisk", "vMemory", "vHost", "vCluster", "vPartition", "vDatastore"]
    );
}

#[test]
fn only_the_sheet_of_machines_is_required_and_missing_sheets_are_listed() {
    let inventory = of_tables(&[two()]).unwrap();
    assert_eq!(inventory.machines[0].in_use, Some(Bytes::mib(51_200)));
    assert!(inventory.machines[1].is_template && !inventory.machines[0].is_template);
    assert_eq!(
        inventory.absent,
        ["vDisk", "vMemory", "vHost", "vCluster", "vPartition", "vDatastore"]
    );
}

#[test]
fn headings_of_other_versions_and_of_scripts_are_read() {
    let old = two().renamed("In Use MiB", "In Use MB").renamed("Provisioned MiB", "Provisioned MB");
    let script = two()
        .renamed("VM", "vInfoVMName")
        .renamed("Powerstate", "vInfoPowerstate")
        .renamed("CPUs", "vinfocpus")
        .renamed("Memory", "vInfo Memory")
        .renamed("Template", "vInfoTemplate")
        .renamed("SRM Placeholder", "vInfoSRMPlaceHolder")
        .renamed("In Use MiB", "vInfoInUse")
        .renamed("Provisioned MiB", "vInfoProvisioned")
        .renamed("VM UUID", "vInfoUUID")
        .renamed("Cluster", "vInfoCluster")
        .renamed("OS according to the configuration file", "vInfoOS");
    let new = of_tables(&[two()]).unwrap();
    assert_eq!(of_tables(&[old]).unwrap().machines, new.machines);
    assert_eq!(of_tables(&[script]).unwrap().machines, new.machines);
}

#[test]
fn requested_columns_are_read_and_missing_ones_are_noted() {
    let machines = [
        Vm { name: "a", tier: "gold", ..Vm::default() },
        Vm { name: "b", folder: "/dc1/vm/Test", ..Vm::default() },
    ];
    let requested = ["tier", "DNS  name", "Tir"].map(str::to_owned);
    let files = [
        vec![named("export.xlsx", workbook(&[info(&machines)]))],
        vec![named("RVTools_tabvInfo.csv", info(&machines).csv(';'))],
    ];
    for files in files {
        let inventory = rvtools::read(&files, &requested).unwrap();
        let columns: Vec<_> = inventory.machines.iter().map(|m| m.columns.clone()).collect();
        assert_eq!(columns, [vec![Some("gold".to_owned()), None, None], vec![None, None, None]]);
        assert_eq!(inventory.machines[1].folder.as_deref(), Some("/dc1/vm/Test"));
        assert_eq!(
            inventory.notes,
            ["vInfo: the requested column `Tir` is missing; did you mean `Tier` (column V)?"]
        );
    }
}

#[test]
fn a_csv_set_gives_the_same_inventory_as_its_workbook() {
    let workbook = of_tables(&[two(), hosts(2, 32, 128)]).unwrap();
    for delimiter in [',', ';', '\t'] {
        let set = [
            named("x/RVTools_tabvInfo.csv", two().csv(delimiter)),
            named("x/RVTools_tabvHost.csv", hosts(2, 32, 128).csv(delimiter)),
        ];
        let read = read(&set).unwrap();
        assert_eq!(read.machines, workbook.machines, "{delimiter}");
        assert_eq!(read.hosts, workbook.hosts, "{delimiter}");
    }
    let single = read(&[named("machines.csv", two().csv(','))]).unwrap();
    assert_eq!(single.machines, workbook.machines);
}

#[test]
fn every_wrong_cell_is_reported_with_its_reference() {
    let table = info(&[Vm::default(), Vm { power: "running", template: "maybe", ..Vm::default() }]);
    let disk = Table::new("vDisk", &["VM", "Capacity MiB"]).row(&["vm", "-5"]).row(&["vm", "big"]);
    let error = of_tables(&[table, disk]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "vInfo!B3: found `running`, expected poweredOn, poweredOff or suspended\n  \
         vInfo!C3: found `maybe`, expected `True` or `False`\n  \
         vDisk!B2: found `-5`, expected a number of at least 0\n  \
         vDisk!B3: found `big`, expected a number"
    );
}

#[test]
fn many_wrong_cells_are_counted() {
    let machines: Vec<Vm<'_>> = (0..50).map(|_| Vm { power: "?", ..Vm::default() }).collect();
    let Err(Error::Cells { wrong_cells }) = of_tables(&[info(&machines)]) else {
        panic!("50 wrong cells were accepted");
    };
    assert_eq!(wrong_cells.len(), 50);
    let error = Error::Cells { wrong_cells }.to_string();
    assert_eq!(error.lines().count(), 11);
    assert!(error.ends_with("and 40 more cells"), "{error}");
}

#[test]
fn a_missing_sheet_or_heading_is_reported_with_the_most_similar() {
    let error = |tables: &[Table]| of_tables(tables).unwrap_err().to_string();
    let mut other = two();
    other.name = "vInfos";
    assert_eq!(
        error(&[other]),
        "read export.xlsx: no sheet `vInfo` (RVTools) or `VMs` (Live Optics); if `vInfos` is \
         meant, rename it to `vInfo`"
    );
    assert!(error(&[hosts(1, 1, 1)]).contains("found vHost"));
    let typo = two().renamed("Powerstate", "Power state of VM").renamed("CPUs", "CPU");
    assert_eq!(
        error(&[typo]),
        "vInfo: no heading `Powerstate` (the most similar is `Power state of VM` in column B); \
         no heading `CPUs` (the most similar is `CPU` in column J)"
    );
    let typo = two().renamed("In Use MiB", "In Use GiB");
    let inventory = of_tables(&[typo]).unwrap();
    assert_eq!(inventory.machines[0].in_use, None);
    assert_eq!(
        inventory.notes,
        ["vInfo: no heading `In Use MiB`; ignored the similar `In Use GiB` in column Q."]
    );
}

#[test]
fn incomplete_rows_are_skipped_and_counted() {
    let mut table = two();
    for cell in ["c", "d", "e", "f", ""] {
        let mut row = vec![""; INFO.len()];
        row[0] = cell;
        row[1] = "poweredOff";
        table = table.row(&row);
    }
    let inventory = of_tables(&[table]).unwrap();
    assert_eq!(inventory.machines.len(), 2);
    assert_eq!(
        inventory.notes,
        [
            "vInfo: 4 rows without processors were skipped (vInfo!J4, vInfo!J5, vInfo!J6, …).",
            "vInfo: 1 row without a name was skipped (vInfo!A8)."
        ]
    );
}

#[test]
fn files_that_are_not_exports_are_refused_with_the_reason() {
    let error = |bytes: &[u8]| read(&[named("x", bytes)]).unwrap_err();
    assert!(matches!(error(b""), Error::Empty { .. }));
    assert!(matches!(error(b" \r\n "), Error::Empty { .. }));
    assert!(matches!(error(b"\x7fELF\0\0\0"), Error::Unknown { .. }));
    assert!(matches!(error(b"PK\x03\x04 truncated"), Error::Broken { .. }));
    let compound = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];
    assert!(matches!(error(&compound), Error::OldFormat { .. }));
    let name = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes);
    let protected: Vec<u8> = compound.into_iter().chain([0; 99]).chain(name).collect();
    assert!(matches!(error(&protected), Error::Protected { .. }));
    assert!(matches!(error(b"some text\n"), Error::NoMachines { .. }));
    let none = of_tables(&[info(&[])]).unwrap_err();
    assert!(matches!(none, Error::NoRows { rows: 0, .. }), "{none}");
}

#[test]
fn a_truncated_workbook_is_an_error_and_a_damaged_one_never_panics() {
    let whole = workbook(&[two(), hosts(1, 32, 64)]);
    for cut in (0..whole.len()).step_by(37) {
        assert!(read(&[named("x.xlsx", &whole[..cut])]).is_err(), "cut at {cut}");
    }
    for at in (0..whole.len()).step_by(23) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        // Damage in parts that are not read goes unnoticed.
        let _ = read(&[named("x.xlsx", damaged)]);
    }
}

#[test]
fn machines_with_equal_names_are_distinguished_by_their_uuid() {
    let table = info(&[Vm::default(), Vm::default()]);
    let disks = Table::new("vDisk", &["VM", "Capacity MiB", "VM UUID"])
        .row(&["vm", "10", &uuid(1)])
        .row(&["vm", "20", &uuid(1)])
        .row(&["vm", "30", &uuid(0)])
        .row(&["other", "30", ""]);
    let inventory = of_tables(&[table, disks]).unwrap();
    let disks: Vec<usize> = inventory.machines.iter().map(|machine| machine.disks.len()).collect();
    assert_eq!(disks, [1, 2]);
    assert_eq!(inventory.notes, ["vDisk: 1 row of unknown machines was skipped (vDisk!A5)."]);
    let nameless = Table::new("vDisk", &["VM", "Capacity MiB"]).row(&["vm", "10"]);
    let inventory = of_tables(&[info(&[Vm::default(), Vm::default()]), nameless]).unwrap();
    assert_eq!(inventory.machines[0].disks.len(), 1);
    assert!(inventory.notes[0].contains("1 machines share their name with an earlier one"));
}

#[test]
fn repeated_machines_are_noted() {
    let mut table = two();
    table.rows.extend(two().rows);
    let inventory = of_tables(&[table]).unwrap();
    assert_eq!(inventory.machines.len(), 4);
    assert!(inventory.notes[0].starts_with("vInfo: 2 rows repeat the name and ID of another row"));
}

#[test]
fn live_optics_adds_loads_or_is_read_on_its_own() {
    let headings =
        ["VM Name", "MOB ID", "Peak IOPS", "Average IOPS", "Max KB/sec", "Average KB/sec"];
    let load =
        || Table::new("VM Performance", &headings).row(&["a", "vm-1", "500", "50.5", "2048", ""]);
    let measured = named("live.xlsx", workbook(&[load()]));
    let inventory = read(&[named("export.xlsx", workbook(&[two()])), measured]).unwrap();
    let found = inventory.machines[0].load.unwrap();
    let rates = [found.peak_rate, found.mean_rate].map(|rate| rate.map(OpsPerSec::get));
    assert_eq!(rates, [Some(500.0), Some(50.5)]);
    let throughputs = [found.peak_throughput, found.mean_throughput];
    assert_eq!(throughputs, [Some(BytesPerSec::new(2_097_152.0)), None]);
    assert_eq!(inventory.machines[1].load, None);

    let headings = [
        "VM Name",
        "MOB ID",
        "Power State",
        "Template",
        "Virtual CPU",
        "Provisioned Memory (MiB)",
        "Virtual Disk Size (MiB)",
        "Virtual Disk Used (MiB)",
    ];
    let machines = Table::new("VMs", &headings).row(&[
        "a",
        "vm-1",
        "poweredOn",
        "FALSE",
        "4",
        "8192",
        "1000",
        "400",
    ]);
    let disks = Table::new("VM Disks", &["MOB ID", "VM Name", "Capacity (MiB)", "Used (MiB)"])
        .row(&["vm-1", "a", "1000", "1"])
        .row(&["vm-1", "a", "2000", "1"]);
    let inventory = of_tables(&[machines, disks, load()]).unwrap();
    let machine = &inventory.machines[0];
    assert_eq!((machine.vcpus, machine.provisioned), (4, Some(Bytes::mib(3000))));
    assert_eq!(machine.load.unwrap().peak_rate, Some(OpsPerSec::new(500.0)));
}
