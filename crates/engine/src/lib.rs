//! The load engine: sends the operations of an assignment to its targets, on schedule, and measures
//! them.
//!
//! [`worker`] is the core (with [`schedule`], [`slots`] and the recorder of `metrics`): plain
//! structs that take `now` and return what happened, on a ring as in the simulator. [`drive`] is
//! the loop around one worker, [`run`] the threads, [`probe`] the choice between io_uring and
//! blocking calls.
//!
//! What to run is decided by `runner`; results are judged by `analysis` and stored by `store`.

pub mod clock;
pub mod drive;
pub mod host_state;
pub mod lane_window;
pub mod name_data;
pub mod operations;
pub mod probe;
pub mod processor;
pub mod pulse;
pub mod replay;
pub mod request;
pub mod run;
pub mod schedule;
pub mod slots;
pub mod steps;
pub mod tiles;
pub mod users;
pub mod worker;

mod collect;
mod cpu;
mod file_identities;
mod jobs;
mod thread;
