//! Every command of README and the guides works as printed, on small files and with short windows.
//!
//! Paths and exports of the documents are replaced by a directory and an emulated volume of the
//! test. A command is executed by a shell, because some have pipes and quotes.

use std::os::unix::fs::symlink;
use std::process::Command;

use crate::harness::{Ended, TestDir};
use crate::volumes::Served;
use crate::workbooks::{Table, Vm, hosts, info, workbook};

/// The experiment `oltp.toml` of the documents, with small files and short windows.
const OLTP: &str = r#"
name = "oltp"

[run]
warm_up = "20ms"
measure = "60ms"
interval = "20ms"

[stream.database]
read = "70%"
transfer_size = "8KiB"
pattern = "random"
files = 1
file_size = "1MiB"
queue_depth = 1
"#;

/// The experiment `builds.toml` of the documents, on few files.
const BUILDS: &str = r#"
name = "builds"

[run]
warm_up = "20ms"
measure = "60ms"
interval = "20ms"

[stream.objects]
names = { files = 400, depth = 1, width = 2, size = "4KiB" }
mix = { create = "10%", unlink = "10%", stat = "70%", readdir = "10%" }
queue_depth = 2
"#;

/// The experiment `job-sets.toml` of the documents, at low rates.
const JOB_SETS: &str = r#"
name = "job-sets"

[metric]
name = "job sets"
values = [1, 2]
response_time_max = "20ms"

[run]
warm_up = "20ms"
measure = "120ms"
interval = "20ms"

[stream.frontend]
names = { files = 200, depth = 1, width = 2, size = "4KiB" }
mix = { stat = "90%", read_file = "10%" }
queue_depth = 4
arrival = { constant = "200/s" }
"#;

/// What shortens an experiment without a file; `--set` only if the command has none.
const SHORT: &str = "--warm-up 20ms --measure 60ms --interval 20ms";
const SMALL: &str = "--set queue_depth=1 --set file_size=1MiB";

/// Commands that answer with exit code 1 if the answer is negative, which a busy host may cause.
const JUDGING: [&str; 5] = ["run", "tune", "compare", "check", "show"];

/// An experiment of the documents with small files and short windows.
fn shortened(experiment: &str) -> String {
    let smaller = [
        ("128MiB", "1MiB"),
        ("64MiB", "1MiB"),
        (
            "warm_up = \"2s\"\nmeasure = \"5s\"\ninterval = \"500ms\"",
            "warm_up = \"20ms\"\nmeasure = \"60ms\"\ninterval = \"20ms\"",
        ),
    ];
    smaller.iter().fold(experiment.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// The documents' directory, and what their commands need.
struct Guide {
    dir: TestDir,
    service: Served,
    text: String,
}

impl Guide {
    fn of(document: &str) -> Guide {
        let path = format!("{}/../../{document}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).expect("read the document");
        let mut dir = TestDir::new();
        for folder in ["bin", "mnt/vol1", "mnt/volume", "mnt/old", "mnt/new", "csv-set", "ci"] {
            std::fs::create_dir_all(dir.path().join(folder)).expect("make a directory");
        }
        let program = dir.path().join("bin/fourcorners");
        symlink(env!("CARGO_BIN_EXE_fourcorners"), program).expect("link the program");
        dir.file("oltp.toml", OLTP);
        dir.file("builds.toml", BUILDS);
        dir.file("job-sets.toml", JOB_SETS);
        inventories(&dir);
        dir.file("app.strace", &trace(&dir));
        for (name, heading) in [
            ("topology.toml", "[[host]]"),
            ("shop.toml", "name = \"shop\""),
            ("scale-out.toml", "name = \"scale-out\""),
            ("matrix.toml", "name = \"matrix\""),
        ] {
            if let Some(block) = block(&text, "toml", heading) {
                dir.file(name, &shortened(&block));
            }
        }
        if document == "README.md" {
            let predict = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/predict.md");
            let predict = std::fs::read_to_string(predict).expect("read the guide");
            let topology = block(&predict, "toml", "[[host]]").expect("a topology");
            dir.file("topology.toml", &topology);
            let fleet = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/fleet.md");
            let fleet = std::fs::read_to_string(fleet).expect("read the guide");
            let targets = block(&fleet, "toml", "name = \"scale-out\"").expect("an experiment");
            dir.file("scale-out.toml", &shortened(&targets));
        }
        let service = Served::start(&dir, &["--address", "127.0.0.1:0", "--no-limits"]);
        let environment = Command::new("env");
        dir.enter(environment);
        Guide { dir, service, text }
    }

    /// Two records of one experiment, for `last` and `last~1`; the earlier is a baseline.
    fn measure(&self) {
        for _ in 0..2 {
            self.shell("fourcorners run mnt/vol1 -w oltp.toml --repeats 5 --no-progress");
            let saved = self.shell("fourcorners baseline save main last --output main.json");
            assert_eq!(saved.code, Some(0), "{}", saved.stderr);
        }
    }

    /// The command with the test's paths and addresses, and short windows.
    fn adapted(&self, command: &str) -> String {
        let root = self.dir.path().to_str().expect("the test's path is text");
        let port = &self.service.port;
        let export = format!("nfs://127.0.0.1:{port}/vol1?mountport={port}");
        let mut command = command
            .replace("/mnt/", &format!("{root}/mnt/"))
            .replace("\"nfs://filer/vol1?", &format!("\"{export}&"))
            .replace("\"nfs://127.0.0.1:2049/vol1?mountport=2049", &format!("\"{export}"))
            .replace("nfs://filer/vol1", &format!("'{export}'"))
            .replace("http://filer:9100", &format!("http://{}", self.service.metrics))
            .replace("http://client2:9100", &format!("http://{}", self.service.metrics))
            .replace("ssh:vm[01-24]", "local:2")
            .replace("ssh:vm[01-03]", "local:2")
            .replace("--hosts slurm --agent /shared/bin/fourcorners", "--hosts local:2")
            .replace("\"kubectl:-n load -l app=load\"", "local:2")
            .replace(":9400", "127.0.0.1:0")
            .replace("/var/lib/prometheus/node-exporter", root)
            .replace("volume stat", &format!("volume stat {}", self.service.metrics));
        // IDs of the documents.
        for (id, name) in [("20261121-0915", "last~1"), ("20261121-1030", "last")] {
            command = command.replace(id, name);
        }
        command = command.replace("20261121-061500", "last");
        let words: Vec<&str> = command.split_whitespace().collect();
        let has = |word: &str| words.contains(&word);
        let mut short = String::new();
        match words[1] {
            "run" if has("-w") => {}
            "run" if has("--workload") => short.push_str(SHORT),
            "run" if has("--explain") => short.push_str(&format!("{SHORT} --set file_size=1MiB")),
            "run" => short.push_str(&format!("{SHORT} {SMALL}")),
            "tune" if has("-w") => {
                short.push_str(&format!("{SHORT} --queue-depth-max 4"));
            }
            "tune" if has("--mix") => {
                short.push_str(&format!("{SHORT} --files 2000 --queue-depth-max 4"));
            }
            "tune" => {
                short.push_str(&format!("{SHORT} --file-size 1MiB --queue-depth-max 4"));
            }
            _ => {}
        }
        if has("--interleave") {
            short.push_str(" --repeats 2");
        }
        // Before a redirection or a pipe; a condition in quotes has such characters too.
        let unquoted = command.rfind('\'').map_or(0, |at| at + 1);
        let rest = &command[unquoted..];
        let end = rest.find(" > ").or_else(|| rest.find(" | ")).unwrap_or(rest.len());
        command.insert_str(unquoted + end, &format!(" {short}"));
        command
    }

    fn shell(&self, script: &str) -> Ended {
        let path = std::env::var("PATH").expect("a path of programs");
        let path = format!("PATH={}:{path}", self.dir.path().join("bin").display());
        self.dir.run(&[path.as_str(), "sh", "-c", script])
    }

    /// Executes the commands of the document in their order.
    fn execute(self) {
        self.measure();
        let commands = commands(&self.text);
        assert!(!commands.is_empty());
        for command in commands {
            if command.starts_with("fourcorners volume serve") {
                self.serve(&command);
                continue;
            }
            let adapted = self.adapted(&command);
            let ended = self.shell(&adapted);
            let name = command.split_whitespace().nth(1).unwrap_or_default();
            let is_answer = ended.code == Some(0)
                || ended.code == Some(1) && JUDGING.contains(&name)
                || is_not_built(&command, &ended);
            assert!(is_answer, "{command}\n{adapted}\n{}\n{}", ended.stdout, ended.stderr);
        }
        self.service.end();
    }

    /// A service starts, and ends at a signal.
    fn serve(&self, command: &str) {
        let arguments = command.strip_prefix("fourcorners volume serve").expect("it begins so");
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        let dir = TestDir::new();
        let address = ["--address", "127.0.0.1:0"];
        let ended = Served::start(&dir, &[&address[..], &arguments].concat()).end();
        assert_eq!(ended.code, Some(0), "{command}\n{}", ended.stderr);
    }
}

/// Whether the command names a part that is not in the default build, and says so.
fn is_not_built(command: &str, ended: &Ended) -> bool {
    command.contains("--format parquet")
        && ended.code == Some(2)
        && ended.stderr.contains("--features parquet")
}

/// The first block of this language that contains `text`.
fn block(document: &str, language: &str, text: &str) -> Option<String> {
    let opening = format!("```{language}\n");
    let blocks = document.split(&opening).skip(1);
    let mut blocks = blocks.filter_map(|rest| rest.split("```").next());
    blocks.find(|block| block.contains(text)).map(str::to_owned)
}

/// The commands of a document: lines of shell blocks, without their comments, each once.
fn commands(document: &str) -> Vec<String> {
    let blocks = document.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let joined: Vec<String> = blocks.map(|block| block.replace("\\\n", "")).collect();
    let lines = joined.iter().flat_map(|block| block.lines());
    let mut all: Vec<String> = Vec::new();
    for line in lines.filter(|line| line.starts_with("fourcorners ")) {
        let command = line.split(" #").next().unwrap_or(line).trim().to_owned();
        if !all.contains(&command) {
            all.push(command);
        }
    }
    all
}

/// A trace of reads on the mounted volume.
fn trace(dir: &TestDir) -> String {
    let file = dir.path().join("mnt/vol1/data");
    let file = file.to_str().expect("the test's path is text");
    let line = |at: u64| {
        let offset = at * 7 % 50 * 8192;
        format!(
            "9 1700000000.{at:03}000 pread64(3<{file}>, \"\", 8192, {offset}) = 8192 <0.000500>\n"
        )
    };
    (0..200).map(line).collect()
}

/// The inventories and loads that `avs` reads in the documents.
fn inventories(dir: &TestDir) {
    let machine = |name| Vm { name, in_use_mib: 12 << 20, ..Vm::default() };
    let machines = [machine("files"), machine("mail"), machine("sql1")];
    let load = Table::new("VM Performance", &["VM Name", "Peak IOPS", "Max KB/sec"])
        .row(&["mail", "1000", "20480"]);
    let write = |name: &str, bytes: &[u8]| {
        std::fs::write(dir.path().join(name), bytes).expect("write an inventory");
    };
    write("export.xlsx", &workbook(&[info(&machines), hosts(2, 32, 64)]));
    write("csv-set/RVTools_tabvInfo.csv", info(&machines).csv(';').as_bytes());
    write("csv-set/RVTools_tabvHost.csv", hosts(2, 32, 64).csv(';').as_bytes());
    write("measured.xlsx", &workbook(&[load]));
}

#[test]
fn every_command_of_the_readme_works() {
    Guide::of("README.md").execute();
}

#[test]
fn every_command_of_the_guides_about_measuring_works() {
    for name in ["getting-started", "tune", "fleet", "compare", "volume", "metrics"] {
        Guide::of(&format!("docs/guide/{name}.md")).execute();
    }
}

#[test]
fn every_command_of_the_guides_about_records_and_planning_works() {
    for name in ["records", "pipelines", "analyse", "observe", "replay", "size", "predict", "avs"] {
        Guide::of(&format!("docs/guide/{name}.md")).execute();
    }
}
