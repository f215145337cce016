//! What an agent sends: frames in a queue, which a thread writes to the controller. (Under virtual time the
//! simulator takes them.)
//!
//! A run must not wait for a controller that does not read, so its intervals are queued without
//! waiting. Other messages wait for room.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::message::Message;

/// Bytes that wait to be written, at most, unless a single frame is longer.
const QUEUED_BYTES_MAX: usize = 16 << 20;

/// Where messages for the controller are queued. The default has no thread: the caller takes the frames.
#[derive(Clone, Default)]
pub struct Outbox(Arc<Shared>);

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    frames: VecDeque<Vec<u8>>,
    bytes: usize,
    /// Why nothing more is written.
    closed: Option<ErrorKind>,
}

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Outbox")
    }
}

impl Outbox {
    /// Starts a thread that writes to `output`, each frame as a whole.
    pub(crate) fn to(mut output: impl Write + Send + 'static) -> Outbox {
        let outbox = Outbox::default();
        let shared = Arc::clone(&outbox.0);
        std::thread::spawn(move || {
            while let Some(frame) = shared.next() {
                if let Err(error) = output.write_all(&frame).and_then(|()| output.flush()) {
                    return shared.close(error.kind());
                }
            }
        });
        outbox
    }

    /// Sends a message to the controller, after those before it. Waits for room.
    ///
    /// # Errors
    /// The controller is gone.
    pub fn send(&self, message: &Message) -> io::Result<()> {
        self.send_frame(message.to_frame())
    }

    /// Sends a message unless too much waits to be written already.
    ///
    /// # Errors
    /// The controller is gone, or has not read for long ([`ErrorKind::WouldBlock`]).
    pub fn send_without_waiting(&self, message: &Message) -> io::Result<()> {
        let mut queue = self.0.lock();
        let frame = message.to_frame();
        match queue.has_room(frame.len()) {
            true => self.0.push(&mut queue, frame),
            false => Err(ErrorKind::WouldBlock.into()),
        }
    }

    /// Sends a frame to the controller, after those before it. Waits for room.
    ///
    /// # Errors
    /// The controller is gone.
    pub fn send_frame(&self, frame: Vec<u8>) -> io::Result<()> {
        let mut queue = self.0.lock();
        while !queue.has_room(frame.len()) {
            queue = self.0.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        self.0.push(&mut queue, frame)
    }

    /// The next frame to write, if there is one.
    pub fn take_frame(&self) -> Option<Vec<u8>> {
        let frame = self.0.lock().take_frame()?;
        self.0.changed.notify_all();
        Some(frame)
    }

    /// Discards what waits to be written; nothing more is sent.
    pub fn close(&self) {
        self.0.close(ErrorKind::BrokenPipe);
    }
}

impl Queue {
    /// Whether a frame can be queued or is refused without waiting.
    fn has_room(&self, bytes: usize) -> bool {
        self.closed.is_some() || self.bytes == 0 || self.bytes + bytes <= QUEUED_BYTES_MAX
    }

    fn take_frame(&mut self) -> Option<Vec<u8>> {
        let frame = self.frames.pop_front()?;
        self.bytes -= frame.len();
        Some(frame)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, queue: &mut Queue, frame: Vec<u8>) -> io::Result<()> {
        if let Some(kind) = queue.closed {
            return Err(kind.into());
        }
        queue.bytes += frame.len();
        queue.frames.push_back(frame);
        self.changed.notify_all();
        Ok(())
    }

    /// The next frame to write; `None` once it is closed.
    fn next(&self) -> Option<Vec<u8>> {
        let mut queue = self.lock();
        loop {
            if queue.closed.is_some() {
                return None;
            }
            if let Some(frame) = queue.take_frame() {
                self.changed.notify_all();
                return Some(frame);
            }
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn close(&self, kind: ErrorKind) {
        let mut queue = self.lock();
        queue.closed.get_or_insert(kind);
        queue.frames.clear();
        queue.bytes = 0;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// Writes only when the test allows it.
    struct Gate {
        allowed: Receiver<()>,
        written: Sender<usize>,
    }

    impl Write for Gate {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.allowed.recv().map_err(|_| io::Error::from(ErrorKind::BrokenPipe))?;
            let _ = self.written.send(bytes.len());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn gate() -> (Outbox, Sender<()>, Receiver<usize>) {
        let (allow, allowed) = channel();
        let (written, sizes) = channel();
        (Outbox::to(Gate { allowed, written }), allow, sizes)
    }

    fn large() -> Message {
        Message::Report(vec![0; QUEUED_BYTES_MAX])
    }

    #[test]
    fn a_controller_that_does_not_read_never_delays_a_run_and_memory_is_bounded() {
        let (outbox, allow, sizes) = gate();
        // The first is taken from the queue by the thread that cannot write it.
        let mut queued = 0;
        let refused = loop {
            match outbox.send_without_waiting(&large()) {
                Ok(()) => queued += 1,
                Err(error) => break error,
            }
        };
        assert!((1..=2).contains(&queued), "{queued}");
        assert_eq!(refused.kind(), ErrorKind::WouldBlock);
        for _ in 0..queued {
            allow.send(()).expect("the thread waits");
            assert!(sizes.recv().expect("it was written") > QUEUED_BYTES_MAX);
        }
        outbox.send(&Message::Alive).expect("there is room again");
    }

    #[test]
    fn a_broken_pipe_is_an_error_for_those_who_send_and_for_those_who_wait() {
        let (outbox, allow, _sizes) = gate();
        while outbox.send_without_waiting(&large()).is_ok() {}
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| outbox.send(&large()));
            drop(allow);
            let ended = waiting.join().expect("it does not panic");
            assert_eq!(ended.map_err(|error| error.kind()), Err(ErrorKind::BrokenPipe));
        });
        assert!(outbox.send(&Message::Alive).is_err());
    }

    #[test]
    fn closing_ends_a_wait() {
        let (outbox, _allow, _sizes) = gate();
        while outbox.send_without_waiting(&large()).is_ok() {}
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| outbox.send(&large()));
            outbox.close();
            assert!(waiting.join().expect("it does not panic").is_err());
        });
    }
}
