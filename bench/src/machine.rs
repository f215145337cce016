//! The machine on which a bench ran.

use anyhow::Result;

/// Its processors, memory and kernel.
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

    /// For the name of a folder: `amd-epyc-2`.
    pub(crate) fn slug(&self) -> String {
        // Trademark signs and words such as `CPU` do not distinguish machines.
        let model = self.model.to_ascii_lowercase().replace("(r)", " ").replace("(tm)", " ");
        let words = model
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| !["", "cpu", "processor"].contains(word));
        let words: Vec<&str> = words.collect();
        format!("{}-{}", words.join("-"), self.processors)
    }

    /// Describes the machine in one line.
    pub(crate) fn describe(&self) -> String {
        format!(
            "Machine: {}, {} processors, {} GiB, Linux {}.",
            self.model, self.processors, self.memory_gib, self.kernel
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_has_the_model_and_the_number_of_processors() {
        let machine = |model: &str, processors| Machine {
            model: model.to_owned(),
            processors,
            memory_gib: 24,
            kernel: "6.18".to_owned(),
        };
        let slug = machine("Intel(R) Xeon(R) Platinum 8370C CPU @ 2.80GHz", 4).slug();
        assert_eq!(slug, "intel-xeon-platinum-8370c-2-80ghz-4");
        assert_eq!(machine("AMD EPYC", 2).slug(), "amd-epyc-2");
        assert_eq!(machine("Intel(R) Xeon(R) Processor", 2).slug(), "intel-xeon-2");
    }
}
