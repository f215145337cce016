//! The machine on which figures were measured.

use anyhow::Result;

/// What a reader must know of it.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    model: String,
    processors: usize,
    memory_gib: u64,
    kernel: String,
}

impl Machine {
    pub(crate) fn read() -> Result<Machine> {
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo")?;
        let value = |line: &str| line.split_once(':').map(|(_, v)| v.trim().to_owned());
        let models: Vec<String> =
            cpuinfo.lines().filter(|l| l.starts_with("model name")).filter_map(value).collect();
        let memory = std::fs::read_to_string("/proc/meminfo")?;
        let kib: u64 = memory
            .split_ascii_whitespace()
            .nth(1)
            .and_then(|number| number.parse().ok())
            .unwrap_or(0);
        Ok(Machine {
            processors: models.len(),
            model: models.into_iter().next().unwrap_or_else(|| "unknown".to_owned()),
            memory_gib: kib.div_ceil(1 << 20),
            kernel: std::fs::read_to_string("/proc/sys/kernel/osrelease")?.trim().to_owned(),
        })
    }

    /// For a folder's name: `amd-epyc-2`.
    pub(crate) fn slug(&self) -> String {
        let words: String = self
            .model
            .to_ascii_lowercase()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        format!("{}-{}", words.trim_matches('-'), self.processors)
    }

    /// One line.
    pub(crate) fn describe(&self) -> String {
        format!(
            "Machine: {}, {} processors, {} GiB, Linux {}.",
            self.model, self.processors, self.memory_gib, self.kernel
        )
    }
}
