//! A third-party NFSv3 server (crate `nfs3_server`) with its file system in memory, in this
//! process, stopped when dropped.
//!
//! It processes at most 256 calls of a connection concurrently, does not write beyond the end of a
//! file, supports neither links nor modes, does not list `.` and `..`, and replies NFS3ERR_NOENT
//! for removed files. NFS, MOUNT and a portmapper share one port.

use std::sync::mpsc;
use std::thread::JoinHandle;

use nfs3_server::memfs::MemFs;
use nfs3_server::tcp::{NFSTcp, NFSTcpListener};
use tokio::sync::oneshot;

/// A running server, on its own runtime and thread.
pub(crate) struct Memfs {
    port: u16,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Memfs {
    /// Starts it; it is listening when this returns.
    pub(crate) fn start() -> Memfs {
        let (stop, stopped) = oneshot::channel();
        let (send_port, port) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("start a runtime").block_on(async {
                let listener = NFSTcpListener::bind("127.0.0.1:0", MemFs::default()).await;
                let mut listener = listener.expect("listen on loopback");
                listener.with_export_name("memory");
                send_port.send(listener.get_listen_port()).expect("the test waits for the port");
                let serving = listener.handle_forever();
                let mut serving = std::pin::pin!(serving);
                let mut stopped = std::pin::pin!(stopped);
                std::future::poll_fn(|context| {
                    // It accepts connections until an error.
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

    /// The URL of `path` on its export.
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
