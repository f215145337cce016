//! Which build of the program this is: two builds can have one version.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::OnceLock;

use anyhow::Context;
use object::Endianness;
use object::elf::{ELF_NOTE_GNU, FileHeader64, NT_GNU_BUILD_ID};
use object::read::elf::{FileHeader, ProgramHeader};
use object::read::{ReadCache, ReadRef};
use sha2::{Digest, Sha256};

use crate::outcome::Failure;

/// The build ID of the running program, in hexadecimal: the linker's hash of its content
/// (`NT_GNU_BUILD_ID`, ld(1), `--build-id`), or SHA-256 of the file if the linker wrote none. Hashing a
/// file of 150 MB takes a second on a processor without instructions for it.
pub(crate) fn build_id() -> Result<String, Failure> {
    static ID: OnceLock<String> = OnceLock::new();
    if let Some(id) = ID.get() {
        return Ok(id.clone());
    }
    let id = id_of(Path::new("/proc/self/exe")).context("read this program");
    let id = id.map_err(Failure::internal)?;
    Ok(ID.get_or_init(|| id).clone())
}

fn id_of(path: &Path) -> io::Result<String> {
    match written_by_linker(path)? {
        Some(id) => Ok(hexadecimal(&id)),
        None => Ok(hexadecimal(&Sha256::digest(std::fs::read(path)?))),
    }
}

/// The build ID in the notes of a 64-bit ELF file; `None` if there is none.
fn written_by_linker(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let parts = ReadCache::new(File::open(path)?);
    Ok(build_id_note(&parts).ok().flatten())
}

/// Reads only the headers and the notes: the symbols of this program have megabytes.
fn build_id_note<'d>(file: impl ReadRef<'d>) -> object::read::Result<Option<Vec<u8>>> {
    let header = FileHeader64::<Endianness>::parse(file)?;
    let endian = header.endian()?;
    for segment in header.program_headers(endian, file)? {
        let Some(mut notes) = segment.notes(endian, file)? else { continue };
        while let Some(note) = notes.next()? {
            if note.name() == ELF_NOTE_GNU && note.n_type(endian) == NT_GNU_BUILD_ID {
                return Ok(Some(note.desc().to_vec()));
            }
        }
    }
    Ok(None)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_build_id_is_that_of_readelf() {
        let program = std::env::current_exe().expect("this program has a path");
        let output = Command::new("readelf").arg("-n").arg(&program).output().expect("readelf");
        let text = String::from_utf8_lossy(&output.stdout);
        let id = text.lines().find_map(|line| line.trim().strip_prefix("Build ID: "));
        assert_eq!(id, Some(&*id_of(&program).expect("it is readable")), "{text}");
    }

    #[test]
    fn without_a_build_id_it_is_the_hash_of_the_file() {
        let file = tempfile::NamedTempFile::new().expect("make a file");
        std::fs::write(file.path(), "abc").expect("write it");
        // FIPS 180-2, appendix B.1.
        assert_eq!(
            id_of(file.path()).expect("hash it"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
