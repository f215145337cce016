//! The processors that programs are built for, and the tools that build them.

use anyhow::{Result, bail};

/// A processor architecture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Architecture {
    #[default]
    X86_64,
    Aarch64,
}

impl Architecture {
    /// The architecture with this name in Rust's targets.
    pub(super) fn named(name: &str) -> Result<Architecture> {
        match name {
            "x86_64" => Ok(Architecture::X86_64),
            "aarch64" => Ok(Architecture::Aarch64),
            other => bail!("unknown target `{other}`: use x86_64 or aarch64"),
        }
    }

    /// The target with musl, whose programs need no libraries.
    pub(super) fn rust_target(self) -> &'static str {
        match self {
            Architecture::X86_64 => "x86_64-unknown-linux-musl",
            Architecture::Aarch64 => "aarch64-unknown-linux-musl",
        }
    }

    /// Debian's name.
    pub(super) fn debian(self) -> &'static str {
        match self {
            Architecture::X86_64 => "amd64",
            Architecture::Aarch64 => "arm64",
        }
    }

    /// The Debian package with the C compiler for SQLite.
    pub(super) fn compiler_package(self) -> &'static str {
        match self {
            Architecture::X86_64 => "musl-tools",
            Architecture::Aarch64 => "gcc-aarch64-linux-gnu",
        }
    }

    /// Variables that select the compiler and the linker.
    pub(super) fn tools(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Architecture::X86_64 => &[("CC_x86_64_unknown_linux_musl", "musl-gcc")],
            // Debian has no musl for other processors, so SQLite is compiled with the headers of
            // glibc. The flags avoid the functions that only glibc has (`open64`, `__memcpy_chk`).
            Architecture::Aarch64 => &[
                ("CC_aarch64_unknown_linux_musl", "aarch64-linux-gnu-gcc"),
                ("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER", "aarch64-linux-gnu-gcc"),
                (
                    "CFLAGS_aarch64_unknown_linux_musl",
                    "-DSQLITE_DISABLE_LFS -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=0",
                ),
            ],
        }
    }

    /// The program that removes symbols.
    pub(super) fn strip(self) -> &'static str {
        match self {
            Architecture::X86_64 => "strip",
            Architecture::Aarch64 => "aarch64-linux-gnu-strip",
        }
    }
}
