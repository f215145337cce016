//! Installs and uses each part of a package, as a user would.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::architecture::Architecture;
use super::output_of;
use super::package::version;

/// A run of less than a second against no storage.
const RUN: [&str; 10] = [
    "run",
    "null:",
    "--store",
    "/tmp/store",
    "--warm-up",
    "100ms",
    "--measure",
    "200ms",
    "--interval",
    "50ms",
];

/// Completes the last of these words in bash.
const COMPLETE: &str = r#"
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_fourcorners fourcorners "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
"#;

/// Starts the program in another root, with `/proc`, in a separate mount namespace.
const START: &str = r#"mount --bind /proc "$0/proc" && exec chroot "$0" /usr/bin/fourcorners "$@""#;

/// Prints a Kubernetes job's name, a label of its pods, where its container mounts the first volume, and
/// the arguments of the container, a line each.
const READ_JOB: &str = "
import sys, yaml
[job] = yaml.safe_load_all(open(sys.argv[1]))
assert job['kind'] == 'Job', job['kind']
pod = job['spec']['template']
[container] = pod['spec']['containers']
[label] = pod.get('metadata', {}).get('labels', {'': ''}).items()
mount = container['volumeMounts'][0]
assert mount['name'] == pod['spec']['volumes'][0]['name'], mount
print(job['metadata']['name'], '='.join(label), mount['mountPath'], *container.get('args', []), sep='\\n')
";

/// Gives the program the arguments of a command line that a user types; `--help` keeps it from measuring.
const TYPE: &str = r#"fourcorners() { "$0" "$@" --help; }; eval "$1""#;

/// Checks the package at `debian` and the container context.
pub(super) fn run(
    root: &Path,
    folder: &Path,
    architecture: Architecture,
    debian: &Path,
    container: &Path,
) -> Result<()> {
    let installed = install(folder, debian).context("install the package")?;
    // Programs for other processors start only where an emulator is registered.
    if architecture == Architecture::X86_64 {
        use_program(root, &installed).context("use the installed program")?;
    } else {
        report("the program was not started: it is for another processor")?;
    }
    read_manual(&installed).context("read the manual")?;
    let completions = installed.join("usr/share/bash-completion/completions/fourcorners");
    complete(&completions, &["sche"], "schema")?;
    complete(&completions, &["volume", "ser"], "serve")?;
    complete(&completions, &["show", "--js"], "--json")?;
    build_image(container).context("build the container image")?;
    let program = super::target_directory()?.join("debug/fourcorners");
    let examples = root.join("examples/kubernetes");
    read_job(&examples.join("job.yaml"), &program).context("read job.yaml")?;
    read_agents(&examples.join("agents.yaml"), &program).context("read agents.yaml")?;
    report("package: installed, started, manual and completions used")
}

/// Installs the package into an empty root and returns that.
fn install(folder: &Path, debian: &Path) -> Result<PathBuf> {
    let root = folder.join("root");
    if root.exists() {
        fs::remove_dir_all(&root)?;
    }
    for path in ["var/lib/dpkg/info", "var/lib/dpkg/updates", "var/log", "tmp", "proc"] {
        fs::create_dir_all(root.join(path))?;
    }
    fs::write(root.join("var/lib/dpkg/status"), "")?;
    // The configuration of minimal images excludes manuals.
    let mut dpkg = Command::new("dpkg");
    dpkg.arg("--root").arg(&root).args(["--path-include=/usr/*", "--force-architecture"]);
    output_of(dpkg.arg("--install").arg(debian))?;
    let mut query = Command::new("dpkg-query");
    query.arg("--admindir").arg(root.join("var/lib/dpkg"));
    let state =
        output_of(query.args(["--show", "--showformat=${db:Status-Abbrev}", "fourcorners"]))?;
    ensure!(state.trim() == "ii", "dpkg reports the state `{state}`");
    Ok(root)
}

/// Starts the program in its root, where it finds no library but its own.
fn use_program(repository: &Path, root: &Path) -> Result<()> {
    copy_libraries(root)?;
    let start = |arguments: &[&str]| {
        let mut unshare = Command::new("unshare");
        unshare.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        unshare.args(["--mount", "sh", "-c", START]).arg(root).args(arguments);
        output_of(&mut unshare)
    };
    let version = format!("fourcorners {} (", version(repository)?);
    let printed = start(&["--version"])?;
    ensure!(printed.starts_with(&version), "--version prints `{printed}`");
    start(&RUN)?;
    let listed = start(&["list", "--store", "/tmp/store", "--json"])?;
    ensure!(listed.contains("\"state\": \"done\""), "the run is not listed: {listed}");
    Ok(())
}

/// Copies the libraries of a program that is not static, as the program of the tests is.
fn copy_libraries(root: &Path) -> Result<()> {
    let program = root.join("usr/bin/fourcorners");
    // ldd fails for a static program.
    let listed = Command::new("ldd").arg(&program).output().context("start ldd")?;
    let listed = String::from_utf8_lossy(&listed.stdout);
    for path in listed.split_whitespace().filter(|word| word.starts_with('/')) {
        let copy = root.join(&path[1..]);
        fs::create_dir_all(copy.parent().context("a library is in a folder")?)?;
        fs::copy(path, &copy).with_context(|| format!("copy {path}"))?;
    }
    Ok(())
}

/// Renders two manual pages; a warning of the renderer is an error.
fn read_manual(root: &Path) -> Result<()> {
    for (page, words) in [
        ("fourcorners.1.gz", ["NAME", "fourcorners-run(1)", "EXIT CODES"]),
        ("fourcorners-run.1.gz", ["SYNOPSIS", "--quick", "EXAMPLES"]),
    ] {
        let path = root.join("usr/share/man/man1").join(page);
        let mut man = Command::new("man");
        man.env("MANWIDTH", "80").env("LC_ALL", "C.UTF-8").args(["--warnings", "-P", "cat", "-l"]);
        let output = man.arg(&path).output().context("start man")?;
        let text = String::from_utf8_lossy(&output.stdout);
        let warnings = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success() && warnings.is_empty(), "{page}: {warnings}");
        for word in words {
            ensure!(text.contains(word), "{page} does not contain `{word}`:\n{text}");
        }
    }
    Ok(())
}

/// Completes the last of `words` and requires the result.
fn complete(completions: &Path, words: &[&str], expected: &str) -> Result<()> {
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", COMPLETE, "bash"]).arg(completions).arg("fourcorners").args(words);
    let found = output_of(&mut bash)?;
    let completed = found.lines().any(|line| line.trim() == expected);
    ensure!(completed, "`{}` completes to `{found}`, not `{expected}`", words.join(" "));
    Ok(())
}

/// Builds the image and inspects its content, if podman is installed. It is not started: in a sandbox no
/// container may, and a program that is not static could not.
fn build_image(context: &Path) -> Result<()> {
    let podman = || Command::new("podman");
    if podman().arg("--version").output().is_err() {
        return report("the container image was not built: podman is not installed");
    }
    let tag = "localhost/fourcorners-check";
    output_of(podman().args(["build", "--quiet", "--tag", tag]).arg(context))?;
    let entry = output_of(
        podman()
            .args(["image", "inspect", "--format"])
            .args(["{{index .Config.Entrypoint 0}}", tag]),
    )?;
    let mounted = output_of(podman().args(["image", "mount", tag]))?;
    let inside = fs::read(Path::new(mounted.trim()).join(entry.trim().trim_start_matches('/')));
    output_of(podman().args(["image", "unmount", tag]))?;
    output_of(podman().args(["image", "rm", tag]))?;
    let same =
        inside.context("read the program in the image")? == fs::read(context.join("fourcorners"))?;
    ensure!(same, "the image's entry point {} is not the program", entry.trim());
    report("container image: built with podman, and its entry point is the program")
}

/// What [`READ_JOB`] prints of a job.
struct Job {
    name: String,
    label: String,
    mount_path: String,
    arguments: Vec<String>,
}

impl Job {
    fn of(path: &Path) -> Result<Job> {
        // Debian's Python has Debian's packages, whatever else is in PATH.
        let text = output_of(Command::new("/usr/bin/python3").args(["-c", READ_JOB]).arg(path))?;
        let mut lines = text.lines().map(str::to_owned);
        let mut next = || lines.next().context("a line is missing");
        let (name, label, mount_path) = (next()?, next()?, next()?);
        Ok(Job { name, label, mount_path, arguments: lines.collect() })
    }
}

/// Parses the job that measures and checks that the program accepts its arguments.
fn read_job(path: &Path, program: &Path) -> Result<()> {
    let job = Job::of(path)?;
    let target = job.arguments.get(1);
    ensure!(target == Some(&job.mount_path), "it measures {target:?}, not {}", job.mount_path);
    // Unknown arguments are refused before the help is printed.
    output_of(Command::new(program).args(&job.arguments).arg("--help"))?;
    Ok(())
}

/// Parses the job whose pods wait for agents, and checks that the commands in its comment are about it.
fn read_agents(path: &Path, program: &Path) -> Result<()> {
    let job = Job::of(path)?;
    let text = fs::read_to_string(path)?;
    let lines = || text.lines().filter_map(|line| line.strip_prefix("#   "));
    let measure = lines().find(|line| line.starts_with("fourcorners "));
    let measure = measure.context("the comment has no command that measures")?;
    let begin = format!("fourcorners run {} --hosts 'kubectl:-l {}'", job.mount_path, job.label);
    ensure!(measure.starts_with(&begin), "`{measure}` does not begin with `{begin}`");
    output_of(Command::new("sh").args(["-c", TYPE]).arg(program).arg(measure))?;
    let commands: Vec<&str> = lines().collect();
    for command in [format!("pod -l {}", job.label), format!("kubectl delete job {}", job.name)] {
        let is_there = commands.iter().any(|line| line.ends_with(&command));
        ensure!(is_there, "no line ends with `{command}`");
    }
    Ok(())
}

fn report(text: &str) -> Result<()> {
    writeln!(std::io::stdout(), "{text}").map_err(Into::into)
}
