//! Which files fail verification before a measurement, and how `--refill` repairs them.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

use target::manifest::Manifest;
use target::refusal::{Override, Overrides, Refusal};
use target::survey;

use crate::plans::{FILE_BYTES, fill, required, set};
use crate::test_volume::TestVolume;

pub(crate) fn writable(path: &Path) -> File {
    OpenOptions::new().write(true).open(path).unwrap()
}

/// The refusal of the verification, which suggests `--refill`; then performs the refill.
pub(crate) fn refused_then_refilled(volume: &TestVolume) -> Refusal {
    let refusal = volume.open().unwrap().check(&set(2)).unwrap_err();
    assert_eq!(refusal.overridden_by(), Some(Override::Refill), "{refusal}");
    assert!(refusal.remedy().contains("fourcorners clean"), "{}", refusal.remedy());

    let overrides = Overrides { refill: true, ..Overrides::default() };
    let mut directory = volume.open_for(required(2), overrides).unwrap();
    assert!(directory.refill());
    assert_eq!(directory.discard_invalid(&set(2)).unwrap().len(), 1);
    assert_eq!(fill(&mut directory, &set(2)), FILE_BYTES, "only the invalid file is written");
    directory.check(&set(2)).unwrap();
    refusal
}

#[test]
fn files_as_we_wrote_them_are_valid() {
    let volume = TestVolume::filled();
    let mut directory = volume.open().unwrap();
    directory.check(&set(2)).unwrap();
    assert!(directory.discard_invalid(&set(2)).unwrap().is_empty());
}

#[test]
fn writes_of_earlier_runs_are_valid() {
    let volume = TestVolume::filled();
    let maker = set(2).tile_maker(crate::plans::DATA_SEED);
    let mut tile = vec![0; 4096];
    let file = writable(&volume.file(1));
    for offset in (0..FILE_BYTES).step_by(4096) {
        maker.fill(1, offset, 0xDEAD_BEEF, &mut tile);
        file.write_all_at(&tile, offset).unwrap();
    }
    volume.open().unwrap().check(&set(2)).unwrap();
}

#[test]
fn a_truncated_file_is_refused() {
    let volume = TestVolume::filled();
    writable(&volume.file(1)).set_len(FILE_BYTES - 4096).unwrap();
    let refusal = refused_then_refilled(&volume);
    assert!(
        matches!(refusal, Refusal::WrongSize { expected_bytes: FILE_BYTES, found_bytes, .. }
            if found_bytes == FILE_BYTES - 4096),
        "{refusal}"
    );
}

#[test]
fn a_file_that_grew_is_refused() {
    let volume = TestVolume::filled();
    writable(&volume.file(1)).set_len(FILE_BYTES + 1).unwrap();
    let refusal = refused_then_refilled(&volume);
    assert!(matches!(refusal, Refusal::WrongSize { .. }), "{refusal}");
}

#[test]
fn a_file_of_zeroes_is_refused() {
    let volume = TestVolume::filled();
    fs::write(volume.file(0), vec![0; FILE_BYTES as usize]).unwrap();
    let refusal = refused_then_refilled(&volume);
    assert!(matches!(refusal, Refusal::Zero { offset_bytes: 0, .. }), "{refusal}");
}

#[test]
fn foreign_content_is_refused() {
    let volume = TestVolume::filled();
    fs::write(volume.file(0), vec![b'x'; FILE_BYTES as usize]).unwrap();
    let refusal = refused_then_refilled(&volume);
    assert!(refusal.to_string().contains("data that we never wrote"), "{refusal}");
}

#[test]
fn one_changed_byte_in_a_sampled_tile_is_refused_with_its_offset() {
    let volume = TestVolume::filled();
    let file = OpenOptions::new().read(true).write(true).open(volume.file(0)).unwrap();
    let last = FILE_BYTES - 1;
    let mut byte = [0];
    file.read_exact_at(&mut byte, last).unwrap();
    file.write_all_at(&[byte[0] ^ 1], last).unwrap();
    let refusal = refused_then_refilled(&volume);
    assert!(refusal.to_string().contains(&format!("byte {last} is 0x")), "{refusal}");
}

#[test]
fn the_content_of_another_of_our_files_is_refused() {
    let volume = TestVolume::filled();
    fs::write(volume.file(1), fs::read(volume.file(0)).unwrap()).unwrap();
    let refusal = refused_then_refilled(&volume);
    assert!(refusal.to_string().contains("data of offset 0 of file 0"), "{refusal}");
}

fn refilling() -> Overrides {
    Overrides { refill: true, ..Overrides::default() }
}

#[test]
fn a_file_that_replaced_ours_is_refused_even_with_refill() {
    let volume = TestVolume::filled();
    volume.replace_file(0);
    for overrides in [Overrides::default(), refilling()] {
        let refusal = volume.open_for(required(2), overrides).unwrap_err();
        assert!(matches!(refusal, Refusal::Replaced { .. }), "{refusal}");
        assert_eq!(refusal.overridden_by(), None);
        assert!(refusal.remedy().contains("move it away"), "{}", refusal.remedy());
    }
    assert_eq!(fs::read_to_string(volume.file(0)).unwrap(), "years of work");

    fs::rename(volume.file(0), volume.path().join("thesis.txt")).unwrap();
    let mut directory = volume.open().unwrap();
    assert_eq!(fill(&mut directory, &set(2)), FILE_BYTES, "our file is written again");
}

#[test]
fn a_file_that_replaces_ours_after_the_survey_is_not_refilled() {
    let volume = TestVolume::filled();
    let mut directory = volume.open_for(required(2), refilling()).unwrap();
    volume.replace_file(1);
    let refusal = directory.discard_invalid(&set(2)).unwrap_err();
    assert!(matches!(refusal, Refusal::Replaced { .. }), "{refusal}");
    assert_eq!(fs::read_to_string(volume.file(1)).unwrap(), "years of work");
}

#[test]
fn a_file_without_a_recorded_identity_is_identified_by_its_name() {
    let volume = TestVolume::filled();
    let mut manifest = Manifest::load(&volume.our_directory()).unwrap().unwrap();
    for record in manifest.files.values_mut() {
        assert!(record.identity.take().is_some(), "the fill records it");
    }
    save(&volume, &manifest);
    let copy = volume.path().join("copy");
    fs::copy(volume.file(0), &copy).unwrap();
    fs::rename(copy, volume.file(0)).unwrap();
    volume.open().unwrap().check(&set(2)).unwrap();
}

#[test]
fn a_copy_that_the_user_accepts_has_valid_files() {
    let volume = TestVolume::filled();
    let mut manifest = Manifest::load(&volume.our_directory()).unwrap().unwrap();
    manifest.filesystem_id = "00000000deadbeef".to_owned();
    for record in manifest.files.values_mut() {
        record.identity.as_mut().unwrap().created_unix_ns = Some(1);
    }
    save(&volume, &manifest);
    let overrides = Overrides { other_filesystem: true, ..Overrides::default() };
    volume.open_for(required(2), overrides).unwrap().check(&set(2)).unwrap();
    volume.open().unwrap().check(&set(2)).unwrap();
}

/// Replaces the manifest.
fn save(volume: &TestVolume, manifest: &Manifest) {
    let text = serde_json::to_vec(manifest).unwrap();
    fs::write(volume.our_directory().join(".fourcorners"), text).unwrap();
}

#[test]
fn an_inspection_finds_what_a_run_would_refuse_and_writes_nothing() {
    let volume = TestVolume::filled();
    let inspect = |overrides| {
        survey::survey(volume.location(volume.path()), required(2), overrides)
            .and_then(survey::Survey::inspect)
    };
    assert!(inspect(Overrides::default()).unwrap().to_write.is_empty());
    let changed = || fs::metadata(volume.our_directory()).unwrap().modified().unwrap();
    let before = changed();

    writable(&volume.file(1)).set_len(FILE_BYTES - 4096).unwrap();
    assert!(matches!(inspect(Overrides::default()), Err(Refusal::WrongSize { .. })));
    writable(&volume.file(1)).set_len(FILE_BYTES).unwrap();
    assert!(matches!(
        inspect(Overrides::default()),
        Err(Refusal::Unwritten { .. } | Refusal::Zero { .. })
    ));
    fs::write(volume.file(1), vec![b'x'; FILE_BYTES as usize]).unwrap();
    assert!(matches!(inspect(Overrides::default()), Err(Refusal::NotOurData { .. })));

    let to_write = inspect(refilling()).unwrap().to_write;
    assert_eq!((to_write.len(), to_write[0].files, to_write[0].bytes), (1, 1, FILE_BYTES));
    assert_eq!(changed(), before, "nothing is written");
}

#[test]
fn an_inspection_reports_that_another_run_uses_the_directory() {
    let volume = TestVolume::filled();
    let _in_use = volume.open().unwrap();
    let survey =
        survey::survey(volume.location(volume.path()), required(2), Overrides::default()).unwrap();
    assert!(matches!(survey.inspect(), Err(Refusal::InUse { .. })));
}
