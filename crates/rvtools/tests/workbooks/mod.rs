//! Generates workbooks like those of RVTools and Live Optics.

// Each test program uses only a part.
#![allow(dead_code, clippy::unwrap_used)]

use rust_xlsxwriter::Workbook;

/// A sheet. Cells that parse as numbers are written as numbers.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) headings: Vec<&'static str>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(name: &'static str, headings: &[&'static str]) -> Table {
        Table { name, headings: headings.to_vec(), rows: Vec::new() }
    }

    pub(crate) fn row(mut self, cells: &[&str]) -> Table {
        self.rows.push(cells.iter().map(|&cell| cell.to_owned()).collect());
        self
    }

    /// The table with a heading renamed.
    pub(crate) fn renamed(mut self, from: &str, to: &'static str) -> Table {
        let at = self.headings.iter().position(|heading| *heading == from).unwrap();
        self.headings[at] = to;
        self
    }

    /// As a CSV text.
    pub(crate) fn csv(&self, delimiter: char) -> String {
        let quoted = |cell: &str| match cell.contains([delimiter, '"', '\n']) {
            true => format!("\"{}\"", cell.replace('"', "\"\"")),
            false => cell.to_owned(),
        };
        let join = |cells: Vec<String>| cells.join(&delimiter.to_string()) + "\r\n";
        let headings = self.headings.iter().map(|cell| quoted(cell)).collect();
        let rows = self.rows.iter().map(|row| join(row.iter().map(|cell| quoted(cell)).collect()));
        join(headings) + &rows.collect::<String>()
    }
}

/// A workbook with these sheets.
pub(crate) fn workbook(tables: &[Table]) -> Vec<u8> {
    let mut book = Workbook::new();
    for table in tables {
        let sheet = book.add_worksheet().set_name(table.name).unwrap();
        let headings = table.headings.iter().map(|&heading| heading.to_owned()).collect();
        for (row, cells) in std::iter::once(&headings).chain(&table.rows).enumerate() {
            for (column, cell) in cells.iter().enumerate() {
                let (row, column) = (u32::try_from(row).unwrap(), u16::try_from(column).unwrap());
                match cell.parse::<f64>() {
                    Ok(number) => sheet.write_number(row, column, number).unwrap(),
                    Err(_) if cell.is_empty() => continue,
                    Err(_) => sheet.write_string(row, column, cell).unwrap(),
                };
            }
        }
    }
    book.save_to_buffer().unwrap()
}

/// Headings of vInfo, also some that are not read.
pub(crate) const INFO: &[&str] = &[
    "VM",
    "Powerstate",
    "Template",
    "SRM Placeholder",
    "Config status",
    "DNS Name",
    "Connection state",
    "Guest state",
    "PowerOn",
    "CPUs",
    "Memory",
    "NICs",
    "Disks",
    "Primary IP Address",
    "Network #1",
    "Provisioned MiB",
    "In Use MiB",
    "Unshared MiB",
    "Path",
    "Annotation",
    "Folder",
    "Tier",
    "Datacenter",
    "Cluster",
    "Host",
    "OS according to the configuration file",
    "VM ID",
    "VM UUID",
];

/// One row of vInfo.
pub(crate) struct Vm<'a> {
    pub(crate) name: &'a str,
    pub(crate) power: &'a str,
    pub(crate) template: &'a str,
    pub(crate) placeholder: &'a str,
    pub(crate) cpus: u64,
    pub(crate) memory_mib: u64,
    pub(crate) provisioned_mib: u64,
    pub(crate) in_use_mib: u64,
    pub(crate) folder: &'a str,
    /// A custom attribute.
    pub(crate) tier: &'a str,
}

impl Default for Vm<'_> {
    fn default() -> Self {
        Vm {
            name: "vm",
            power: "poweredOn",
            template: "False",
            placeholder: "False",
            cpus: 2,
            memory_mib: 8192,
            provisioned_mib: 102_400,
            in_use_mib: 51_200,
            folder: "/dc1/vm",
            tier: "",
        }
    }
}

/// The sheet vInfo with these machines.
pub(crate) fn info(machines: &[Vm<'_>]) -> Table {
    let mut table = Table::new("vInfo", INFO);
    for (at, vm) in machines.iter().enumerate() {
        let id = uuid(at);
        let (cpus, memory) = (vm.cpus.to_string(), vm.memory_mib.to_string());
        let (provisioned, in_use) = (vm.provisioned_mib.to_string(), vm.in_use_mib.to_string());
        table = table.row(&[
            vm.name,
            vm.power,
            vm.template,
            vm.placeholder,
            "green",
            "",
            "connected",
            "running",
            "",
            &cpus,
            &memory,
            "1",
            "2",
            "10.0.0.1",
            "VM Network",
            &provisioned,
            &in_use,
            &in_use,
            "[ds] vm/vm.vmx",
            "",
            vm.folder,
            vm.tier,
            "dc1",
            "cluster1",
            "esx1",
            "Microsoft Windows Server 2019 (64-bit)",
            &format!("vm-{at}"),
            &id,
        ]);
    }
    table
}

/// The UUID of machine `at`.
pub(crate) fn uuid(at: usize) -> String {
    format!("4206e5a0-0000-4000-8000-{at:012x}")
}

/// One step of a linear congruential generator (Knuth's constants).
pub(crate) fn step(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// A workbook with `count` machines, all sheets that are read, and one that is not.
pub(crate) fn estate(count: usize) -> Vec<u8> {
    let mut state = 7;
    let names: Vec<String> = (0..count).map(|at| format!("vm{at:05}")).collect();
    let mut machines = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let cpus = [1, 2, 2, 4, 4, 8][usize::try_from(step(&mut state) % 6).unwrap()];
        let in_use_mib = 10_240 + step(&mut state) % 400_000;
        machines.push(Vm {
            name,
            power: ["poweredOn", "poweredOff", "suspended"]
                [if at % 10 == 0 { at / 10 % 3 } else { 0 }],
            template: if at % 97 == 0 { "True" } else { "False" },
            placeholder: "False",
            cpus,
            memory_mib: cpus * 4096,
            provisioned_mib: in_use_mib * 3 / 2,
            in_use_mib,
            folder: ["/dc1/vm/Production", "/dc1/vm/Test", "/dc1/vm"][at % 3],
            tier: ["gold", "", "bronze", ""][at % 4],
        });
    }
    let mut disk =
        Table::new("vDisk", &["VM", "Powerstate", "Disk", "Capacity MiB", "Raw", "VM UUID"]);
    let mut memory = Table::new("vMemory", &["VM", "Size MiB", "Consumed", "VM UUID"]);
    let mut partition =
        Table::new("vPartition", &["VM", "Disk", "Capacity MiB", "Consumed MiB", "VM UUID"]);
    for (at, vm) in machines.iter().enumerate() {
        let (id, half) = (uuid(at), (vm.provisioned_mib / 2).to_string());
        disk = disk.row(&[vm.name, vm.power, "Hard disk 1", &half, "False", &id]).row(&[
            vm.name,
            vm.power,
            "Hard disk 2",
            &half,
            "False",
            &id,
        ]);
        let (size, consumed) = (vm.memory_mib.to_string(), (vm.memory_mib / 2).to_string());
        memory = memory.row(&[vm.name, &size, &consumed, &id]);
        let used = (vm.in_use_mib / 2).to_string();
        partition = partition.row(&[vm.name, "C:\\", &half, &used, &id]);
    }
    let hosts = hosts(10, 32, 128);
    let headings = ["Name", "Type", "Capacity MiB", "Provisioned MiB", "In Use MiB"];
    let stores = Table::new("vDatastore", &headings)
        .row(&["ds1", "VMFS", "104857600", "157286400", "52428800"])
        .row(&["ds2", "NFS", "10485760", "5242880", "5242880"]);
    let headings = ["Name", "NumHosts", "NumCpuCores", "Failover Level"];
    let clusters = Table::new("vCluster", &headings).row(&["cluster1", "10", "320", "1"]);
    let network = Table::new("vNetwork", &["VM", "Adapter"]).row(&["vm00000", "Vmxnet3"]);
    workbook(&[info(&machines), memory, disk, partition, network, hosts, clusters, stores])
}

/// The sheet vHost with `count` hosts.
pub(crate) fn hosts(count: usize, cores: u64, vcpus: u64) -> Table {
    let mut table =
        Table::new("vHost", &["Host", "Cluster", "# Cores", "# vCPUs", "vCPUs per Core"]);
    let ratio = (vcpus as f64 / cores as f64).to_string();
    for at in 0..count {
        table = table.row(&[
            &format!("esx{at}"),
            "cluster1",
            &cores.to_string(),
            &vcpus.to_string(),
            &ratio,
        ]);
    }
    table
}
