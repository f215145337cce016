//! What the sheets of `size`, `predict`, `expect` and `avs` share: used shares of resources, the
//! diagram of a system, and the chart of its cost.

pub(crate) mod cost_chart;
pub mod diagram;
pub mod utilization;
