//! The lock of a directory on an export: its holder, takeover, and loss.

use std::sync::Barrier;

use target::LockOwner;
use target::clean::clean;
use target::directory::TargetDirectory;
use target::nfs::{NfsFile, NfsUrl, Session};
use target::refusal::{Overrides, Refusal};
use target::shared_directory::join;
use target::survey;

use crate::plans::{fill, required, set};
use crate::served::Served;

const LEASE: &[u8] = b".fourcorners.lock";

fn open(url: &NfsUrl) -> Result<TargetDirectory, Refusal> {
    survey::open(url, required(2), Overrides::default())
}

/// A session and our directory.
fn our_directory(url: &NfsUrl) -> (Session, NfsFile) {
    let mut session = Session::open(url).unwrap();
    let root = session.root();
    let ours = session.lookup(&root, b"fourcorners").unwrap().0;
    (session, ours)
}

fn is_held(url: &NfsUrl) -> bool {
    let (mut session, ours) = our_directory(url);
    session.lookup(&ours, LEASE).is_ok()
}

/// The result of `attempt` after the holder was silent for longer than allowed.
fn once_silent<R>(server: &Served, attempt: impl FnOnce() -> Result<R, Refusal>) -> R {
    server.after_silence(31, attempt).unwrap()
}

#[test]
fn the_lock_exists_during_a_run_and_not_afterwards() {
    let server = Served::start();
    let ours = open(&server.url()).unwrap();
    let (mut session, directory) = our_directory(&server.url());
    let lease = session.lookup(&directory, LEASE).unwrap().0;
    let mut text = vec![0; 4096];
    let (bytes, _) = session.read(&lease, 0, &mut text).unwrap();
    let text = String::from_utf8_lossy(&text[..bytes]).into_owned();
    assert!(text.contains(&format!("\"process\": {}", std::process::id())), "{text}");
    drop(ours);
    assert!(!is_held(&server.url()));
}

#[test]
fn a_second_run_is_refused_with_the_holder_and_its_silence() {
    let server = Served::start();
    let _ours = open(&server.url()).unwrap();
    let refusal = open(&server.url()).unwrap_err();
    let Refusal::InUse { holder: Some(holder), .. } = &refusal else { panic!("{refusal}") };
    assert_eq!(holder.process, std::process::id());
    assert!(holder.silent_seconds.is_some_and(|seconds| seconds <= 30), "{holder}");
    let message = refusal.to_string();
    assert!(message.contains("/vol1/fourcorners` is in use by another run: process "), "{message}");
    assert!(message.contains("last renewed"), "{message}");
    assert!(refusal.remedy().contains("30 s"), "{}", refusal.remedy());
    let refusal = clean(&server.url()).unwrap_err();
    assert!(matches!(refusal, Refusal::InUse { holder: Some(_), .. }), "{refusal}");
}

#[test]
fn an_expired_lock_is_taken_over_and_its_holder_is_notified() {
    let server = Served::start();
    let mut first = open(&server.url()).unwrap();
    let second = once_silent(&server, || open(&server.url()));
    let refusal = first.refuse_changed().unwrap_err();
    assert!(matches!(refusal, Refusal::TakenOver { holder: Some(_), .. }), "{refusal}");
    assert!(refusal.remedy().contains("30 s"), "{}", refusal.remedy());
    let error = first.fill(&set(2), &|| false, &mut |_, _| {}).unwrap_err();
    assert!(error.to_string().contains("lock"), "{error}");
    // The first holder does not remove the lock of the second.
    drop(first);
    assert!(is_held(&server.url()));
    drop(second);
    assert!(!is_held(&server.url()));
}

#[test]
fn the_lock_of_a_killed_run_is_taken_over_only_when_it_has_expired() {
    let server = Served::start();
    drop(open(&server.url()).unwrap());
    let (mut session, ours) = our_directory(&server.url());
    // A lease whose holder was killed before it wrote its content.
    let exclusive = nfs3::arguments::createhow3::EXCLUSIVE(*b"verifier");
    session.create(&ours, LEASE, exclusive).unwrap();
    assert!(matches!(open(&server.url()), Err(Refusal::InUse { holder: Some(_), .. })));
    server.later(29);
    assert!(matches!(open(&server.url()), Err(Refusal::InUse { holder: Some(_), .. })));
    server.later(3);
    let mut ours = open(&server.url()).unwrap();
    fill(&mut ours, &set(2));
    ours.refuse_changed().unwrap();
}

#[test]
fn only_one_of_many_competing_runs_gets_the_lock() {
    let server = Served::start();
    drop(open(&server.url()).unwrap());
    for has_expired in [false, true] {
        if has_expired {
            let (mut session, ours) = our_directory(&server.url());
            let exclusive = nfs3::arguments::createhow3::EXCLUSIVE(*b"verifier");
            session.create(&ours, LEASE, exclusive).unwrap();
            server.later(40);
        }
        let begin = Barrier::new(8);
        let (got, refused): (Vec<_>, Vec<_>) = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        begin.wait();
                        open(&server.url())
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).partition(Result::is_ok)
        });
        assert_eq!(got.len(), 1, "{refused:?}");
        for refusal in refused {
            assert!(matches!(refusal, Err(Refusal::InUse { .. })), "{refusal:?}");
        }
    }
}

#[test]
fn a_removed_lock_is_lost() {
    let server = Served::start();
    let ours = open(&server.url()).unwrap();
    let (mut session, directory) = our_directory(&server.url());
    session.remove(&directory, LEASE).unwrap();
    let refusal = ours.refuse_changed().unwrap_err();
    assert!(matches!(refusal, Refusal::TakenOver { holder: None, .. }), "{refusal}");
    assert!(refusal.to_string().contains("it was removed"), "{refusal}");
}

#[test]
fn a_link_in_place_of_the_lock_is_refused() {
    let server = Served::start();
    drop(open(&server.url()).unwrap());
    let (mut session, ours) = our_directory(&server.url());
    session.symlink(&ours, LEASE, nfs3::types::sattr3::UNCHANGED, b"/etc/passwd").unwrap();
    server.later(60);
    let refusal = open(&server.url()).unwrap_err();
    assert!(matches!(refusal, Refusal::NotARegularFile { .. }), "{refusal}");
}

#[test]
fn the_directory_of_a_killed_run_is_cleaned_once_its_lock_has_expired() {
    let server = Served::start();
    let mut ours = open(&server.url()).unwrap();
    fill(&mut ours, &set(2));
    // A killed run does not return its lock.
    std::mem::forget(ours);
    assert!(matches!(clean(&server.url()), Err(Refusal::InUse { .. })));
    let cleaned = once_silent(&server, || clean(&server.url()));
    assert!(cleaned.removed_directory && cleaned.removed_files == 2, "{cleaned:?}");
}

/// The directory on the host that took the lock for a controller, and on another.
fn two_hosts(url: &NfsUrl) -> (TargetDirectory, TargetDirectory) {
    let controller = LockOwner { host: "desk".to_owned(), process: 42 };
    let survey = survey::survey(url, required(2), Overrides::default()).unwrap();
    let first = survey.claim_for(&controller).unwrap();
    let shared = first.share(url).unwrap();
    let second = join(url, &shared, required(2), first.storage().clone()).unwrap();
    (first, second)
}

#[test]
fn a_shared_lock_is_held_until_the_last_host_ends() {
    let server = Served::start();
    let refused = || open(&server.url()).unwrap_err().to_string();
    let is_named = |message: String| {
        assert!(message.contains("in use by another run: process 42 on desk"), "{message}");
    };
    let (first, second) = two_hosts(&server.url());
    is_named(refused());
    // A host that the controller has given up leaves the lock to the others.
    drop(second);
    first.refuse_lost_lock().unwrap();
    is_named(refused());
    drop(first);
    assert!(!is_held(&server.url()));

    let (first, second) = two_hosts(&server.url());
    drop(first);
    second.refuse_lost_lock().unwrap();
    is_named(refused());
    drop(second);
    assert!(!is_held(&server.url()));
}

#[test]
fn every_host_learns_that_the_shared_lock_was_taken_over_or_removed_by_another_run() {
    let server = Served::start();
    let (first, second) = two_hosts(&server.url());
    let third = once_silent(&server, || open(&server.url()));
    for host in [&first, &second] {
        let refusal = host.refuse_lost_lock().unwrap_err();
        assert!(matches!(refusal, Refusal::TakenOver { holder: Some(_), .. }), "{refusal}");
    }
    drop((first, second));
    third.refuse_lost_lock().unwrap();
    drop(third);

    // Another run begins before the others notice that the first has removed the lock.
    let (first, second) = two_hosts(&server.url());
    drop(first);
    let third = open(&server.url()).unwrap();
    let refusal = second.refuse_lost_lock().unwrap_err();
    assert!(matches!(refusal, Refusal::TakenOver { holder: Some(_), .. }), "{refusal}");
    drop(second);
    third.refuse_lost_lock().unwrap();
}

#[test]
fn a_directory_with_the_lock_of_another_run_is_not_joined() {
    let server = Served::start();
    let (first, second) = two_hosts(&server.url());
    let (shared, storage) = (first.share(&server.url()).unwrap(), first.storage().clone());
    drop((second, first));
    let joined = || join(&server.url(), &shared, required(2), storage.clone());
    assert!(matches!(joined(), Err(Refusal::OtherDirectory { .. })), "no lock");
    let _other = open(&server.url()).unwrap();
    assert!(matches!(joined(), Err(Refusal::OtherDirectory { .. })), "that of another run");
}

#[test]
fn an_inspection_reports_another_run_and_takes_no_lock() {
    let server = Served::start();
    fill(&mut open(&server.url()).unwrap(), &set(2));
    let inspect = || {
        survey::survey(&server.url(), required(2), Overrides::default())
            .and_then(survey::Survey::inspect)
    };
    inspect().unwrap();
    assert!(!is_held(&server.url()));
    let _ours = open(&server.url()).unwrap();
    assert!(matches!(inspect(), Err(Refusal::InUse { holder: Some(_), .. })));
}

#[test]
fn a_lock_is_renewed_without_reading_or_writing_data() {
    use nfs3::request::NfsArguments;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    let server = Served::start();
    let ours = open(&server.url()).unwrap();
    let (touches, others) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let (touched, other) = (Arc::clone(&touches), Arc::clone(&others));
    server.before_each(move |arguments, _, _| {
        match arguments {
            NfsArguments::SETATTR(arguments) if arguments.guard.is_some() => &touched,
            _ => &other,
        }
        .fetch_add(1, Ordering::SeqCst);
    });
    // Each check renews the lock, and fails because there are no files yet.
    for _ in 0..3 {
        ours.refuse_changed().unwrap_err();
    }
    assert!(touches.load(Ordering::SeqCst) >= 3);
    server.before_each(|_, _, _| ());
    // The other calls are lookups of the first file, which is missing.
    assert!(others.load(Ordering::SeqCst) <= 2 * 3, "{others:?}");
}

#[test]
fn a_directory_replaced_before_it_was_locked_is_locked_again() {
    use files::{Caller, SetAttributes};
    use nfs3::request::NfsArguments;
    let server = Served::start();
    drop(open(&server.url()).unwrap());
    let mut replaced = false;
    server.before_each(move |arguments, files, now| {
        let NfsArguments::CREATE(arguments) = arguments else { return };
        if arguments.r#where.name.0 != LEASE || std::mem::replace(&mut replaced, true) {
            return;
        }
        let (root, us) = (files.root(), Caller { uid: 0, gid: 0, gids: &[], read_only: false });
        let (ours, away) = (&b"fourcorners"[..], &b"away"[..]);
        files.rename((root, ours), (root, away), &us, now).result.unwrap();
        let plain = SetAttributes { mode: Some(0o755), ..SetAttributes::default() };
        files.mkdir(root, ours, &plain, &us, now).result.unwrap();
    });
    let refusal = open(&server.url()).unwrap_err();
    assert!(matches!(refusal, Refusal::Unmarked { .. }), "{refusal}");
    assert!(!is_held(&server.url()), "neither directory keeps a lease");
    let mut session = Session::open(&server.url()).unwrap();
    let root = session.root();
    let away = session.lookup(&root, b"away").unwrap().0;
    session.lookup(&away, LEASE).unwrap_err();
}
