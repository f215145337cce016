//! When to wake up for the next due reply, so that it is sent in time.
//!
//! For: waking early by a lead, because the kernel wakes threads late, and polling until the reply is
//! due. The lead is learnt from past wake-ups, and the CPU time spent polling is limited. Not for:
//! waiting (`poll.rs`).
//!
//! On a virtual machine a wait ends some 50 us late, on an idle physical machine 5 us.

/// At most one part in so many of the time is spent polling.
const SHARE: u64 = 16;

/// Most polling time that can be saved up.
const CREDIT_MAX_NS: u64 = 1_000_000;

/// The longest lead. A later wake-up means that other threads used the processor, and a longer lead
/// would not help.
const LEAD_MAX_NS: u64 = 80_000;

/// The lead tracks the 80th percentile of lateness: it grows by four steps after a later wake-up,
/// and shrinks by one step after every other. A longer lead costs more polling than it saves.
const STEP_NS: u64 = 100;
const LATER_STEPS: u64 = 4;

/// The current lead, and the polling time left.
#[derive(Debug)]
pub(super) struct Wakeup {
    lead_ns: u64,
    credit_ns: u64,
    /// The instant up to which the credit is updated.
    updated_ns: u64,
    wait: Wait,
    /// The deadline of the last poll. While it stays the same, the turn between two polls counts as
    /// polling too.
    polled_for_ns: Option<u64>,
}

/// The kind of the current wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    /// Not for a deadline.
    Untimed,
    /// Sleeping until this instant.
    Until(u64),
    /// Polling without sleeping.
    Polling,
}

impl Wakeup {
    pub(super) const fn new() -> Wakeup {
        Wakeup {
            lead_ns: LEAD_MAX_NS / 4,
            credit_ns: CREDIT_MAX_NS,
            updated_ns: 0,
            wait: Wait::Untimed,
            polled_for_ns: None,
        }
    }

    /// How long to sleep before a deadline; 0 is to poll without sleeping.
    pub(super) fn wait_ns(&mut self, now_ns: u64, due_ns: u64) -> u64 {
        self.update_credit(now_ns, self.polled_for_ns == Some(due_ns));
        self.polled_for_ns = None;
        // Saved polling time is spent evenly: the less is left, the shorter the lead.
        let lead_ns = self.lead_ns * self.credit_ns / CREDIT_MAX_NS;
        let ahead_ns = due_ns.saturating_sub(now_ns);
        if ahead_ns <= lead_ns {
            // If a reply is due already, sending it is work and not polling.
            if ahead_ns > 0 {
                self.wait = Wait::Polling;
                self.polled_for_ns = Some(due_ns);
            } else {
                self.wait = Wait::Untimed;
            }
            return 0;
        }
        self.wait = Wait::Until(due_ns - lead_ns);
        ahead_ns - lead_ns
    }

    /// The wait ended, with events or without.
    pub(super) fn woke(&mut self, now_ns: u64, has_events: bool) {
        match std::mem::replace(&mut self.wait, Wait::Untimed) {
            Wait::Until(at_ns) if !has_events && now_ns >= at_ns => {
                self.lead_ns = if now_ns - at_ns > self.lead_ns {
                    (self.lead_ns + LATER_STEPS * STEP_NS).min(LEAD_MAX_NS)
                } else {
                    self.lead_ns.saturating_sub(STEP_NS)
                };
            }
            Wait::Polling => self.update_credit(now_ns, true),
            _ => {}
        }
    }

    /// Updates the credit: the time since the last update was spent polling, or earns a share.
    fn update_credit(&mut self, now_ns: u64, polled: bool) {
        let passed_ns = now_ns.saturating_sub(self.updated_ns);
        self.credit_ns = if polled {
            self.credit_ns.saturating_sub(passed_ns)
        } else {
            (self.credit_ns + passed_ns / SHARE).min(CREDIT_MAX_NS)
        };
        self.updated_ns = self.updated_ns.max(now_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reply is due every `gap_ns`, each wake-up is `late_ns` late, a poll takes 2 us. Returns the
    /// mean lateness of the last thousand replies and the share of time spent polling.
    fn steady_state(gap_ns: u64, late_ns: u64) -> (u64, f64) {
        let (mut wakeup, mut now_ns) = (Wakeup::new(), 1);
        let (mut late_sum_ns, mut polling_ns, mut begun_ns) = (0, 0, 0);
        for round in 0..4000 {
            let due_ns = (round + 1) * gap_ns;
            if round == 3000 {
                (late_sum_ns, polling_ns, begun_ns) = (0, 0, now_ns);
            }
            while now_ns < due_ns {
                let wait_ns = wakeup.wait_ns(now_ns, due_ns);
                let took_ns = if wait_ns == 0 { 1000 } else { wait_ns + late_ns };
                polling_ns += if wait_ns == 0 { took_ns } else { 0 };
                now_ns += took_ns;
                wakeup.woke(now_ns, false);
                if wait_ns == 0 && now_ns < due_ns {
                    // The rest of a turn in which nothing was due.
                    (now_ns, polling_ns) = (now_ns + 1000, polling_ns + 1000);
                }
            }
            late_sum_ns += now_ns - due_ns;
        }
        (late_sum_ns / 1000, polling_ns as f64 / (now_ns - begun_ns) as f64)
    }

    #[test]
    fn replies_are_in_time_if_wakeups_are_equally_late() {
        for late_ns in [1000, 5000, 50_000] {
            let (mean_ns, polling) = steady_state(500_000, late_ns);
            assert!(mean_ns < 3000, "{late_ns}: {mean_ns}");
            assert!(polling < 0.02, "{late_ns}: {polling}");
        }
    }

    #[test]
    fn polling_uses_no_more_than_its_share_at_any_rate() {
        for gap_ns in [5000, 20_000, 50_000, 122_000] {
            let (_, polling) = steady_state(gap_ns, 0);
            assert!(polling <= 1.0 / SHARE as f64 + 0.01, "{gap_ns}: {polling}");
        }
    }

    #[test]
    fn rare_long_stalls_do_not_keep_the_lead_long() {
        let mut wakeup = Wakeup::new();
        for round in 1..=100 {
            let now_ns = round * 10_000_000;
            let wait_ns = wakeup.wait_ns(now_ns, now_ns + 1_000_000);
            let late_ns = if round % 20 == 0 { 5_000_000 } else { 3000 };
            wakeup.woke(now_ns + wait_ns + late_ns, false);
        }
        assert!(wakeup.lead_ns < 20_000, "{}", wakeup.lead_ns);
    }
}
