//! Conducts a plan: prepare, then each run's phases, with events for whoever listens.

pub mod event;
