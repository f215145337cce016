//! How waits for a server are reported and cancelled.

use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nfs3::types::{Handle, nfsstat3};
use target::nfs::sans_io::{SansIoClient, SocketAction};
use target::nfs::waiting::Awaited;
use target::nfs::{NfsError, NfsFailure, NfsFile, NfsUrl, Session, WaitObserver, WaitReport};
use target::{Target, Wait};

use crate::drive::read;
use crate::scripted::{Act, Scripted};

/// A test that takes this long is stuck.
const STUCK: Duration = Duration::from_secs(60);

/// Records reports, and cancels with the first.
#[derive(Debug, Default)]
struct CancellingObserver {
    is_cancelled: AtomicBool,
    reports: Mutex<Vec<WaitReport>>,
}

impl WaitObserver for CancellingObserver {
    fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::SeqCst)
    }

    fn report(&self, wait: &WaitReport) {
        self.reports.lock().unwrap().push(wait.clone());
        self.is_cancelled.store(true, Ordering::SeqCst);
    }
}

impl CancellingObserver {
    /// The only report; checks that it cancelled the call.
    fn only(&self, error: &NfsError) -> WaitReport {
        assert!(matches!(error.failure, NfsFailure::Cancelled), "{error}");
        let reports = self.reports.lock().unwrap();
        let [report] = &reports[..] else { panic!("{reports:?}") };
        assert_eq!(report.server, "127.0.0.1");
        assert!(report.waited >= Duration::from_secs(1), "{report}");
        report.clone()
    }
}

fn file() -> NfsFile {
    NfsFile { handle: Handle::new(b"f\0").unwrap(), path: "file".to_owned() }
}

fn observed(url: &NfsUrl) -> (Arc<CancellingObserver>, Result<Session, NfsError>) {
    let observer = Arc::new(CancellingObserver::default());
    let as_observer: Arc<dyn WaitObserver> = observer.clone();
    (observer, Session::open_observed(url, &as_observer))
}

#[test]
fn a_server_that_does_not_reply_to_mnt_is_reported_and_the_wait_can_be_cancelled() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let url = format!("nfs://127.0.0.1:{port}/x?mountport={port}").parse().unwrap();
    let (observer, opened) = observed(&url);
    let report = observer.only(&opened.unwrap_err());
    assert_eq!(report.awaited, Awaited::Reply("MNT"));
    let expected = "waiting for NFS server 127.0.0.1: no reply to MNT for 1 s";
    assert_eq!(report.to_string(), expected);
}

#[test]
fn a_server_that_does_not_reply_is_reported_and_no_further_call_waits_for_it() {
    let server = Scripted::start((1, 8192), |_, _| Act::Silence);
    let (observer, opened) = observed(&server.url(""));
    let mut session = opened.unwrap();
    let error = session.read(&file(), 0, &mut [0; 4096]).unwrap_err();
    assert_eq!(observer.only(&error).awaited, Awaited::Reply("READ"));
    let mut another = session.another();
    let error = another.read(&file(), 0, &mut [0; 4096]).unwrap_err();
    assert!(matches!(error.failure, NfsFailure::Cancelled), "{error}");
}

#[test]
fn a_busy_server_is_reported_with_the_number_of_its_replies() {
    let busy = Act::Fail(nfsstat3::NFS3ERR_JUKEBOX);
    let server = Scripted::start((1, 8192), move |_, _| busy);
    let (observer, opened) = observed(&server.url(""));
    let error = opened.unwrap().read(&file(), 0, &mut [0; 4096]).unwrap_err();
    let report = observer.only(&error);
    assert!(matches!(report.awaited, Awaited::NotJukebox("READ", 2..)), "{report}");
}

#[test]
fn an_unreachable_server_is_reported_with_the_reason() {
    let server = Scripted::start((1, 8192), |_, _| Act::Answer);
    let (observer, opened) = observed(&server.url(""));
    let mounted = Arc::clone(opened.unwrap().mounted());
    // The port of a closed listener refuses connections.
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut mounted = Arc::into_inner(mounted).unwrap();
    mounted.servers = vec![gone];
    let mut session = Session::of(&Arc::new(mounted));
    let error = session.read(&file(), 0, &mut [0; 4096]).unwrap_err();
    let refused = Awaited::Reconnection(std::io::ErrorKind::ConnectionRefused);
    assert_eq!(observer.only(&error).awaited, refused);
}

#[test]
fn a_call_to_a_responsive_server_completes_although_the_user_has_cancelled() {
    let server = Scripted::start((1, 8192), |_, _| Act::Answer);
    let (observer, opened) = observed(&server.url(""));
    observer.is_cancelled.store(true, Ordering::SeqCst);
    assert_eq!(opened.unwrap().read(&file(), 0, &mut [0; 4096]).unwrap().0, 4096);
    assert!(observer.reports.lock().unwrap().is_empty());
}

#[test]
fn an_endless_listing_ends_when_the_user_cancels() {
    let server = Scripted::start((1, 8192), |seen, _| {
        let cookie = seen.offset + 1;
        Act::List { entries: 2, name: cookie, cookie }
    });
    let (observer, opened) = observed(&server.url(""));
    let mut session = opened.unwrap();
    let root = session.root();
    observer.is_cancelled.store(true, Ordering::SeqCst);
    let error = session.readdir(&root).unwrap_err();
    assert!(matches!(error.failure, NfsFailure::Cancelled), "{error}");
}

#[test]
fn a_call_to_a_busy_server_fails_at_its_time_limit() {
    let busy = Act::Fail(nfsstat3::NFS3ERR_JUKEBOX);
    let server = Scripted::start((1, 8192), move |_, _| busy);
    // The time limit of a call is twice `timeo`.
    let mut session = server.session("timeo=100ms");
    let error = session.read(&file(), 0, &mut [0; 4096]).unwrap_err();
    let NfsFailure::Jukebox { times, within } = error.failure else { panic!("{error}") };
    assert_eq!(within, Duration::from_millis(200));
    // After 20, 40 and 80 ms; fewer on a slow machine.
    assert!((1..=4).contains(&times), "{times}");
}

#[test]
fn a_server_that_is_busy_at_the_mount_is_called_again() {
    let server = Scripted::start((1, 8192), |_, _| Act::Answer);
    server.world.lock().unwrap().busy = 2;
    assert_eq!(server.session("").jukebox_retries(), 2);
}

/// An address that accepts no connections: its accept queue is full.
fn dead_address() -> (TcpListener, Vec<TcpStream>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let address = listener.local_addr().unwrap();
    // A queue of length 0 holds one connection; the second certainly fills it.
    let waiting = Duration::from_millis(200);
    let taken = (0..4).filter_map(|_| TcpStream::connect_timeout(&address, waiting).ok());
    let taken: Vec<TcpStream> = taken.collect();
    assert!(taken.len() < 4, "the queue is unlimited");
    (listener, taken)
}

#[test]
fn an_address_that_does_not_reply_fails_after_the_connect_timeout() {
    let (listener, _taken) = dead_address();
    let port = listener.local_addr().unwrap().port();
    let options = format!("mountport={port}&connect_timeout=300ms");
    let url: NfsUrl = format!("nfs://127.0.0.1:{port}/x?{options}").parse().unwrap();
    let error = Session::open(&url).unwrap_err();
    assert_eq!(error.errno(), 110, "{error}");
    assert!(error.to_string().contains("no connection within 0.3 s"), "{error}");
}

#[test]
fn a_server_that_closes_every_connection_is_given_up_after_the_connect_timeout() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || listener.incoming().for_each(drop));
    let options = format!("mountport={}&connect_timeout=300ms", address.port());
    let url: NfsUrl = format!("nfs://{address}/x?{options}").parse().unwrap();
    let began = Instant::now();
    let error = Session::open(&url).unwrap_err();
    assert!(matches!(error.failure, NfsFailure::Connection { .. }), "{error}");
    assert!(began.elapsed() < STUCK, "a call may take {:?}", 2 * url.timeo);
}

#[test]
fn a_path_that_is_not_exported_is_reported_with_the_exports() {
    let server = Scripted::start((1, 8192), |_, _| Act::Answer);
    server.world.lock().unwrap().exports = vec!["/data", "/xx", "/vol/logs"];
    let error = Session::open(&server.url("")).unwrap_err();
    let expected = "the server does not export it (MNT3ERR_NOENT); it exports /xx, /data, \
                    /vol/logs; did you mean /xx?";
    assert!(error.to_string().ends_with(expected), "{error}");
    assert_eq!(error.errno(), 2);
}

#[test]
fn an_outage_is_counted_until_the_connection_is_replaced() {
    let server = Scripted::start((1, 1 << 20), |_, _| Act::Answer);
    let access = server.access("", |_| {});
    let mut client = SansIoClient::new(&access, 1, || 1).unwrap();
    let second = 1_000_000_000;
    client.set_time(second);
    client.submit(0, &read(0, 4096));
    assert_eq!((client.connections()[0].down_errno, client.connections()[0].down_time_ns), (0, 0));
    client.lost(0);
    client.set_time(3 * second);
    let counters = client.connections()[0];
    assert_eq!((counters.down_errno, counters.down_time_ns), (104, 2 * second));
    assert_eq!(client.advance(), Some(SocketAction::Connect(0)));
    // The attempt fails: the outage continues.
    client.lost(0);
    client.set_time(4 * second);
    assert_eq!(client.connections()[0].down_time_ns, 3 * second);
    assert_eq!(client.advance(), Some(SocketAction::Connect(0)));
    client.connected(0);
    client.set_time(9 * second);
    let counters = client.connections()[0];
    assert_eq!((counters.down_errno, counters.down_time_ns), (0, 3 * second));
}

#[test]
fn an_attempt_to_reconnect_ends_after_the_connect_timeout() {
    let server = Scripted::start((1, 1 << 20), |_, _| Act::Answer);
    let access = server.access("timeo=60s&connect_timeout=5s", |_| {});
    let mut client = SansIoClient::new(&access, 1, || 1).unwrap();
    let second = 1_000_000_000;
    client.set_time(second);
    client.submit(0, &read(0, 4096));
    client.lost(0);
    client.set_time(2 * second);
    assert_eq!(client.advance(), Some(SocketAction::Connect(0)));
    client.set_time(7 * second - 1);
    assert_eq!(client.advance(), None);
    client.set_time(8 * second);
    assert_eq!(client.advance(), Some(SocketAction::Close(0)));
}

#[test]
fn an_unreachable_server_is_unresponsive_and_the_counters_have_the_reason() {
    let server = Scripted::start((1, 1 << 20), |_, _| Act::Answer);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut access = server.access("", |_| {});
    let mounted = Arc::get_mut(&mut access.mounted).unwrap();
    mounted.servers = vec![address];
    let mut target = target::nfs::NfsFiles::open(&access, 1).unwrap();
    let (accepted, _) = listener.accept().unwrap();
    target.submit(0, &read(0, 4096)).unwrap();
    assert!(!target.is_unresponsive());
    drop((listener, accepted));
    let begun = Instant::now();
    let mut done = Vec::new();
    while !target.is_unresponsive() {
        target.reap(Wait::Coarse(Duration::from_millis(50)), &mut done).unwrap();
        assert!(begun.elapsed() < STUCK, "it is never unresponsive");
    }
    let refused = target.connections()[0];
    assert_eq!(refused.down_errno, 111, "{refused:?}");
    assert!(refused.down_time_ns >= 500_000_000, "{refused:?}");
    assert!(done.is_empty());
}
