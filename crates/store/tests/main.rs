//! Records on disk: written, read, cut off, full.

mod full_disk;
mod keeping;
mod kill;
mod records;
mod samples;
