//! Another hand's server of NFS 3 (crate `nfs3_server`) with its file system in memory, in this
//! process, until it is dropped.
//!
//! It keeps at most 256 calls of a connection in progress, writes nothing behind a file's end,
//! knows neither links nor modes, lists no `.` and `..`, and says NFS3ERR_NOENT of what is
//! gone. NFS, MOUNT and a portmapper answer at one port.

use std::sync::mpsc;
use std::thread::JoinHandle;

use nfs3_server::memfs::MemFs;
use nfs3_server::tcp::{NFSTcp, NFSTcpListener};
use tokio::sync::oneshot;

/// A running server, on a runtime and a thread of its own.
pub(crate) struct Memfs {
    port: u16,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Memfs {
    /// Starts it; it listens when this returns.
    pub(crate) fn start() -> Memfs {
        let (stop, stopped) = oneshot::channel();
        let (tell, port) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("start a runtime").block_on(async {
                let listener = NFSTcpListener::bind("127.0.0.1:0", MemFs::default()).await;
                let mut listener = listener.expect("listen on loopback");
                listener.with_export_name("memory");
                tell.send(listener.get_listen_port()).expect("the test waits for the port");
                let serving = listener.handle_forever();
                let mut serving = std::pin::pin!(serving);
                let mut stopped = std::pin::pin!(stopped);
                std::future::poll_fn(|context| {
                    // It accepts for ever; only an error ends it.
                    if let std::task::Poll::Ready(ended) = serving.as_mut().poll(context) {
                        panic!("the server ended by itself: {ended:?}");
                    }
                    stopped.as_mut().poll(context).map(drop)
                })
                .await;
            });
        });
        let port = port.recv().expect("the server starts");
        Memfs { port, stop: Some(stop), thread: Some(thread) }
    }

    /// Its export, and `path` on it.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("nfs://127.0.0.1:{0}/memory{path}?mountport={0}", self.port)
    }
}

impl Drop for Memfs {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            assert!(std::thread::panicking(), "the server in the other thread panicked");
        }
    }
}
