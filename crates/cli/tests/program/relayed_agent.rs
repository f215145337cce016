//! A host for `--hosts exec:` whose network is the test: its agent is started by the test, and every message
//! between the controller and the agent passes through it, which can discard, change and delay messages, cut
//! the connection, and send signals to the agent.
//!
//! The launcher connects its pipe to two named pipes and knows nothing of this. Later commands with a file
//! `direct` in the directory reach the host without the test.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cluster::message::{Incoming, Message};

use crate::fleet_runs::signal;
use crate::harness::TestDir;

const LAUNCHER: &str = r#"
host=$1; shift
[ -e direct ] && exec "$@"
exec 3<&0
cat <&3 > "$host.up" &
exec cat < "$host.down"
"#;
/// Longer than an agent takes to finish any run of these tests, on a busy machine.
const ENDS_WITHIN: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    ToAgent,
    ToController,
}

/// What becomes of a message.
pub(crate) enum Passage {
    Pass,
    Discard,
    /// Passes this one instead.
    Change(Message),
}

/// Sees each message before it is passed on.
pub(crate) type Watch = Box<dyn FnMut(&Link, Direction, &Message) -> Passage + Send>;

/// What happens to messages on their way.
pub(crate) struct Way {
    pub(crate) watch: Watch,
    /// Of each message to the agent.
    pub(crate) there: Duration,
    /// Of each message to the controller.
    pub(crate) back: Duration,
}

/// The host: its agent and its network.
pub(crate) struct RelayedAgent {
    link: Arc<Link>,
    session: Option<JoinHandle<()>>,
}

/// The connection between the controller and the agent.
#[derive(Default)]
pub(crate) struct Link {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The agent's process.
    agent: Option<u32>,
    to_agent: Option<ChildStdin>,
    to_controller: Option<File>,
    is_silent: bool,
    /// The agent's machine has noticed that a silent connection is dead.
    is_noticed: bool,
    has_ended: bool,
}

impl RelayedAgent {
    /// Writes the launcher `relay`, and waits for its controller in the background. To be reached by
    /// `--hosts "exec:sh relay {host}" --hosts NAME`.
    ///
    /// * `agent` - starts the agent
    pub(crate) fn new(dir: &TestDir, name: &str, agent: Command, way: Way) -> RelayedAgent {
        dir.file("relay", LAUNCHER);
        let [up, down] = ["up", "down"].map(|end| dir.path().join(format!("{name}.{end}")));
        let made = Command::new("mkfifo").args([&up, &down]).status();
        assert!(made.expect("start mkfifo").success());
        let link = Arc::new(Link::default());
        let of_session = Arc::clone(&link);
        let session = std::thread::spawn(move || {
            serve(&of_session, [&up, &down], agent, way);
            of_session.lock().has_ended = true;
            of_session.changed.notify_all();
        });
        RelayedAgent { link, session: Some(session) }
    }

    pub(crate) fn link(&self) -> &Link {
        &self.link
    }

    /// Waits until the agent has ended.
    pub(crate) fn end(mut self) {
        let mut state = self.link.lock();
        let until = Instant::now() + ENDS_WITHIN;
        while !state.has_ended {
            let left = until.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "the agent does not end");
            (state, _) = self.link.changed.wait_timeout(state, left).expect("it is not poisoned");
        }
        drop(state);
        let session = self.session.take().expect("it ends once");
        session.join().expect("the relay does not fail");
    }
}

impl Drop for RelayedAgent {
    /// After a failed assertion: the session may wait for a launcher for ever, so it is not awaited.
    fn drop(&mut self) {
        let Ok(state) = self.link.state.lock() else { return };
        if let Some(agent) = state.agent {
            let _ = Command::new("kill").args(["-KILL", &agent.to_string()]).status();
        }
    }
}

impl Link {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("it is not poisoned")
    }

    /// The agent's process, which has started and not ended.
    pub(crate) fn agent(&self) -> String {
        self.lock().agent.expect("the agent runs").to_string()
    }

    pub(crate) fn signal_agent(&self, name: &str) {
        signal(&self.agent(), name);
    }

    /// Ends the connection; both ends notice.
    pub(crate) fn cut(&self) {
        let mut state = self.lock();
        (state.to_agent, state.to_controller) = (None, None);
    }

    /// Discards everything from now on; neither end notices.
    pub(crate) fn silence(&self) {
        self.lock().is_silent = true;
    }

    /// The agent's machine notices that a silent connection is dead, as sshd does in the end.
    pub(crate) fn notice(&self) {
        self.lock().is_noticed = true;
        self.changed.notify_all();
    }

    /// Passes a message, or discards it if the connection is silent or has ended.
    pub(crate) fn pass(&self, direction: Direction, message: &Message) {
        self.write(direction, &message.to_frame());
    }

    fn write(&self, direction: Direction, frame: &[u8]) {
        let mut state = self.lock();
        if state.is_silent {
            return;
        }
        // The far end may be gone, which the reader of the other direction notices.
        let _ = match (direction, &mut *state) {
            (Direction::ToAgent, State { to_agent: Some(pipe), .. }) => {
                pipe.write_all(frame).and_then(|()| pipe.flush())
            }
            (Direction::ToController, State { to_controller: Some(pipe), .. }) => {
                pipe.write_all(frame)
            }
            _ => Ok(()),
        };
    }

    /// The controller has ended the connection: the agent's input ends, unless its machine cannot know yet.
    fn controller_ended(&self) {
        let mut state = self.lock();
        while state.is_silent && !state.is_noticed {
            state = self.changed.wait(state).expect("it is not poisoned");
        }
        state.to_agent = None;
    }
}

/// One session: starts the agent when the launcher connects, and passes messages until both ends are done.
fn serve(link: &Link, [up, down]: [&Path; 2], mut agent: Command, way: Way) {
    // Waits for the launcher.
    let from_controller = File::open(up).expect("open the launcher's pipe");
    agent.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child: Child = agent.spawn().expect("start the agent");
    let from_agent: ChildStdout = child.stdout.take().expect("it is a pipe");
    {
        let to_controller = OpenOptions::new().write(true).open(down);
        let mut state = link.lock();
        state.agent = Some(child.id());
        state.to_agent = child.stdin.take();
        state.to_controller = Some(to_controller.expect("open the launcher's pipe"));
    }
    let Way { watch, there, back } = way;
    let watch = Mutex::new(watch);
    std::thread::scope(|scope| {
        let watch = &watch;
        scope.spawn(move || {
            relay(link, from_controller, Direction::ToAgent, there, watch);
            link.controller_ended();
        });
        scope.spawn(move || {
            relay(link, from_agent, Direction::ToController, back, watch);
            link.lock().to_controller = None;
        });
    });
    let mut state = link.lock();
    child.wait().expect("wait for the agent");
    state.agent = None;
}

/// Passes messages in one direction until it ends.
fn relay(
    link: &Link,
    mut from: impl Read,
    direction: Direction,
    delay: Duration,
    watch: &Mutex<Watch>,
) {
    let (send, due) = channel::<(Instant, Vec<u8>)>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for (at, frame) in due {
                std::thread::sleep(at.saturating_duration_since(Instant::now()));
                link.write(direction, &frame);
            }
        });
        let pass = |message: &Message| match delay.is_zero() {
            true => link.pass(direction, message),
            false => drop(send.send((Instant::now() + delay, message.to_frame()))),
        };
        let mut incoming = Incoming::default();
        let mut bytes = vec![0; 64 << 10];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            incoming.add(&bytes[..count]);
            while let Some(message) = incoming.next_message().expect("both ends send messages") {
                let passage = watch.lock().expect("it is not poisoned")(link, direction, &message);
                match passage {
                    Passage::Pass => pass(&message),
                    Passage::Change(other) => pass(&other),
                    Passage::Discard => {}
                }
            }
        }
        drop(send);
    });
}
