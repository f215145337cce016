//! The order of adjacent fields of the same type. A round trip cannot detect that two of them are
//! swapped, so each is compared by name with a third-party codec.

use nfs3::{arguments, directory, results, types, xdr};
use nfs3_types::nfs3 as theirs;
use nfs3_types::xdr_codec::Unpack;

fn words(words: impl IntoIterator<Item = u32>) -> Vec<u8> {
    words.into_iter().flat_map(u32::to_be_bytes).collect()
}

/// Decodes the bytes with this crate and with the third-party codec.
fn both<'a, O: xdr::Xdr<'a>, T: Unpack>(bytes: &'a [u8]) -> (O, T) {
    let ours = xdr::decode_whole(bytes).expect("this crate decodes the bytes");
    (ours, T::unpack(&mut &bytes[..]).expect("the third-party codec decodes the bytes").0)
}

macro_rules! assert_same {
    ($ours:expr, $theirs:expr, $($field:ident),*) => {
        $(assert_eq!(
            u64::from($ours.$field), u64::from($theirs.$field), stringify!($field)
        );)*
    };
}

#[test]
fn attributes_are_in_the_same_order_as_in_a_third_party_codec() {
    let bytes = words([1].into_iter().chain(2..=21));
    let (ours, theirs) = both::<types::fattr3, theirs::fattr3>(&bytes);
    assert_same!(ours, theirs, mode, nlink, uid, gid, size, used, fsid, fileid);
    assert_same!(ours.rdev, theirs.rdev, specdata1, specdata2);
    for (ours, theirs) in
        [(ours.atime, theirs.atime), (ours.mtime, theirs.mtime), (ours.ctime, theirs.ctime)]
    {
        assert_same!(ours, theirs, seconds, nseconds);
    }
}

#[test]
fn attributes_to_set_are_in_the_same_order_as_in_a_third_party_codec() {
    for (which, value) in [(0, 7), (1, 8), (2, 9)] {
        let mut set = vec![0; which];
        set.extend([1, value]);
        set.resize(7, 0);
        let bytes = words(set);
        let (ours, theirs) = both::<types::sattr3, theirs::sattr3>(&bytes);
        let theirs = [theirs.mode, theirs.uid, theirs.gid].map(|field| match field {
            theirs::Nfs3Option::Some(value) => Some(value),
            theirs::Nfs3Option::None => None,
        });
        assert_eq!([ours.mode, ours.uid, ours.gid], theirs);
        assert_eq!(theirs[which], Some(value));
    }
    // Sets the atime to the server's clock and does not change the mtime.
    let bytes = words([0, 0, 0, 0, 1, 0]);
    let (ours, theirs) = both::<types::sattr3, theirs::sattr3>(&bytes);
    assert_eq!(ours.atime, types::set_time::SET_TO_SERVER_TIME);
    assert!(matches!(theirs.atime, theirs::set_atime::SET_TO_SERVER_TIME));
    assert_eq!(ours.mtime, types::set_time::DONT_CHANGE);
    assert!(matches!(theirs.mtime, theirs::set_mtime::DONT_CHANGE));
}

#[test]
fn file_system_attributes_are_in_the_same_order_as_in_a_third_party_codec() {
    let bytes = words(0..=13);
    let (ours, theirs) = both::<results::FSSTAT3resok, theirs::FSSTAT3resok>(&bytes);
    assert_same!(ours, theirs, tbytes, fbytes, abytes, tfiles, ffiles, afiles, invarsec);
    let bytes = words(0..=12);
    let (ours, theirs) = both::<results::FSINFO3resok, theirs::FSINFO3resok>(&bytes);
    assert_same!(ours, theirs, rtmax, rtpref, rtmult, wtmax, wtpref, wtmult, dtpref);
    assert_same!(ours, theirs, maxfilesize, properties);
    for which in 0..4 {
        let mut pathconf = [0, 1000, 2000, 0, 0, 0, 0];
        pathconf[3 + which] = 1;
        let bytes = words(pathconf);
        let (ours, theirs) = both::<results::PATHCONF3resok, theirs::PATHCONF3resok>(&bytes);
        assert_same!(ours, theirs, linkmax, name_max, no_trunc, chown_restricted);
        assert_same!(ours, theirs, case_insensitive, case_preserving);
    }
}

#[test]
fn names_and_directories_are_in_the_same_order_as_in_a_third_party_codec() {
    let from_to = b"\0\0\0\x01A\0\0\0\0\0\0\x01b\0\0\0\0\0\0\x01C\0\0\0\0\0\0\x01d\0\0\0";
    let (ours, theirs) = both::<arguments::RENAME3args<'_>, theirs::RENAME3args<'_, '_>>(from_to);
    for (ours, theirs) in [(ours.from, theirs.from), (ours.to, theirs.to)] {
        assert_eq!((ours.dir.0, ours.name.0), (&theirs.dir.data.0[..], &theirs.name.0.0[..]));
    }
    let bytes = words([1, 2, 3, 4, 5, 6, 7, 0, 0, 0]);
    let (ours, theirs) = both::<results::RENAME3resok, theirs::RENAME3resok>(&bytes);
    assert!(ours.fromdir_wcc.before.is_some() && ours.todir_wcc.before.is_none());
    assert!(matches!(theirs.fromdir_wcc.before, theirs::Nfs3Option::Some(_)));
    let bytes = words([4, 9].into_iter().chain(10..=15));
    let (ours, theirs) = both::<arguments::READDIRPLUS3args<'_>, theirs::READDIRPLUS3args>(&bytes);
    assert_same!(ours, theirs, cookie, dircount, maxcount);
    let bytes = words([0, 1, 0, 0, 2, 0, 0]);
    let (ours, theirs) = both::<directory::entryplus3<'_>, theirs::entryplus3<'_>>(&bytes);
    assert_same!(ours, theirs, fileid, cookie);
    let bytes = words([0, 1, 1].into_iter().chain(2..=21).chain([0]));
    let (ours, theirs) = both::<results::LOOKUP3resok<'_>, theirs::LOOKUP3resok>(&bytes);
    assert!(ours.obj_attributes.is_some() && ours.dir_attributes.is_none());
    assert!(matches!(theirs.obj_attributes, theirs::Nfs3Option::Some(_)));
}
