//! Several hosts as one fleet: an agent on each host, and a controller that talks to all of them over
//! pipes.
//!
//! A pipe is the standard input and output of a program that the system already has: `ssh`, `srun`,
//! `kubectl exec`, or any command. No port is opened, and no daemon is installed. What travels are frames
//! of crate `record`, plus a few of control. Not for: what the agents do (`commands`).
//!
//! [`controller`], [`ask`] and [`agent`] are cores without I/O: they take bytes and the time and return
//! bytes. [`links`] is what carries the sessions; of its two implementations, [`pipes`] has processes and
//! `poll`, and the simulator (crate `sim`) has virtual time. [`agent_loop`] is the shell around the agent.
//!
//! Reading order: [`host_list`] (which hosts), [`launch`] (how an agent is started), [`message`] (what is
//! sent), [`controller`], [`ask`], [`agent`], [`clock`], [`links`], [`pipes`],
//! [`agent_loop`], [`outbox`].

pub mod agent;
pub mod agent_loop;
pub mod ask;
pub mod clock;
pub mod controller;
pub mod host_list;
pub mod launch;
pub mod links;
pub mod message;
pub mod outbox;
pub mod pipes;
