//! What the queueing model of `predict` returns, in words and as JSON. For predictions, expectations
//! and designs.

pub(crate) mod json;
pub(crate) mod quantity;
pub(crate) mod words;
