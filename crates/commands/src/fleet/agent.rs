//! `agent`: the far end of a fleet, on the pipe that a controller opened.

use std::fs;
use std::io;
use std::time::Instant;

use anyhow::Context;
use cluster::agent_loop::{self, Outbox, Work};
use cluster::message::{Hello, PROTOCOL};
use serde::Serialize;

use super::request::{HostFacts, Request};
use crate::check;
use crate::outcome::{Failure, Reason};

/// Serves the controller on standard input and output until it closes them.
///
/// # Errors
/// The pipe failed, or what arrives is not from a controller.
pub fn serve(version: &str) -> Result<(), Failure> {
    let hello = Hello {
        protocol: PROTOCOL,
        version: version.to_owned(),
        host_name: kernel_value("hostname"),
        boot_id: kernel_value("random/boot_id"),
        process: std::process::id(),
    };
    agent_loop::serve(hello, Instant::now(), io::stdin(), io::stdout(), Agent, |_| ())
        .context("serve the controller on standard input")
        .map_err(Failure::input)
}

fn kernel_value(name: &str) -> String {
    let path = format!("/proc/sys/kernel/{name}");
    fs::read_to_string(path).map_or_else(|_| String::new(), |text| text.trim().to_owned())
}

/// Does what requests say. An error is its reason, and what to do on the next line.
struct Agent;

impl Work for Agent {
    fn work(&mut self, request: &[u8], _outbox: &Outbox) -> Result<Vec<u8>, String> {
        let request: Request = serde_json::from_slice(request)
            .map_err(|error| format!("read the controller's request: {error}"))?;
        let checked =
            check::check(&request.check_options()).map_err(|failure| in_words(&failure))?;
        Ok(to_bytes(&HostFacts::of(checked)))
    }
}

fn to_bytes(answer: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(answer).expect("an answer is numbers, texts and lists")
}

fn in_words(failure: &Failure) -> String {
    let reason = match &failure.reason {
        Reason::Error(error) => format!("{error:#}"),
        Reason::Problems { problems, .. } => {
            problems.first().map_or_else(String::new, |problem| problem.message.clone())
        }
    };
    match &failure.remedy {
        Some(remedy) => format!("{reason}\n{remedy}"),
        None => reason,
    }
}
