//! The controller's end of the simulated network.

use std::cell::RefCell;
use std::fmt;
use std::panic::resume_unwind;
use std::rc::Rc;
use std::time::Duration;

use cluster::controller::{Action, Controller};
use cluster::links::Links;
use cluster::message::Build;

use super::world::{Arrival, World};

/// Longest wait for something to arrive, as for pipes.
const TURN_NS: u64 = 100_000_000;
/// What arrives within this time is read in one turn.
const ROUND_NS: u64 = 100_000;

/// The payload of the panic by which a controller ends that is killed. No panic hook is called.
#[derive(Debug)]
pub struct ControllerKilled;

/// Sessions with a new agent on each host of a world.
pub struct VirtualLinks {
    world: Rc<RefCell<World>>,
    controller: Controller,
    session: u64,
}

impl fmt::Debug for VirtualLinks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VirtualLinks").field("session", &self.session).finish_non_exhaustive()
    }
}

impl VirtualLinks {
    /// Starts an agent on each host.
    ///
    /// * `version` - of the controller; agents must have the same
    pub fn connect(world: &Rc<RefCell<World>>, version: &str) -> VirtualLinks {
        let (session, hosts, now_ns) = world.borrow_mut().connect();
        let build = Build { version: version.to_owned(), ..Build::default() };
        let controller =
            Controller::new(&vec![false; hosts], &build, now_ns, super::world::UNIX_ZERO_NS);
        VirtualLinks { world: Rc::clone(world), controller, session }
    }
}

impl Links for VirtualLinks {
    fn controller(&mut self) -> &mut Controller {
        &mut self.controller
    }

    fn names(&self) -> Vec<String> {
        self.world.borrow().hosts().map(|host| host.name.clone()).collect()
    }

    /// Every host of a world is another machine.
    fn earlier_name_of(&self, _host: usize) -> Option<&str> {
        None
    }

    fn now_ns(&self) -> u64 {
        self.world.borrow().now_ns()
    }

    /// # Panics
    /// The controller is killed; the payload is [`ControllerKilled`].
    fn turn(&mut self, longest: Duration) {
        self.perform();
        let mut until_ns = self.now_ns() + TURN_NS.min(longest.as_nanos() as u64);
        loop {
            let arrival = self.world.borrow_mut().next_arrival(until_ns);
            let now_ns = self.now_ns();
            match arrival {
                None => break,
                Some(Arrival::Bytes { host, bytes }) => {
                    self.controller.received(host, &bytes, now_ns);
                }
                Some(Arrival::End { host, why }) => self.controller.closed(host, why.to_owned()),
                Some(Arrival::Killed) => resume_unwind(Box::new(ControllerKilled)),
            }
            until_ns = until_ns.min(now_ns + ROUND_NS);
        }
        let now_ns = self.now_ns();
        self.controller.tick(now_ns);
        self.perform();
    }

    fn perform(&mut self) {
        let mut world = self.world.borrow_mut();
        while let Some(action) = self.controller.next_action() {
            match action {
                Action::Send { host, bytes } => world.send(host, bytes),
                Action::SendCopy { .. } => unreachable!("the program is on every host"),
                Action::Abandon { host } | Action::Close { host } => world.close(host),
            }
        }
    }
}

impl Drop for VirtualLinks {
    fn drop(&mut self) {
        self.world.borrow_mut().disconnect(self.session);
    }
}
