//! When to wake for what is due, so that it leaves in time.
//!
//! For: asking to be woken a little before, because a kernel wakes late, and looking again without
//! sleeping until it is time. How late it wakes is learnt, and how much processor time looking may
//! take is bounded. Not for: waiting itself (`poll.rs`).
//!
//! On a virtual machine a wait ends some 50 us after its time, on a quiet one of metal 5 us.

/// One part in so many of the time may be spent on looking without sleeping.
const SHARE: u64 = 16;

/// What can be saved up of it.
const CREDIT_MAX_NS: u64 = 1_000_000;

/// Nothing is begun earlier than this before its time: whoever is woken later than that was kept
/// from the processor by others, and no haste helps.
const LEAD_MAX_NS: u64 = 80_000;

/// The lead follows the wake-up that one of five is later than: it grows by four steps when one is
/// later, and shrinks by one when none is. To look for longer takes more processor time than it
/// saves lateness.
const STEP_NS: u64 = 100;
const LATER_STEPS: u64 = 4;

/// What is known of how late one is woken.
#[derive(Debug)]
pub(super) struct Haste {
    lead_ns: u64,
    credit_ns: u64,
    /// Until when the credit is reckoned up.
    reckoned_ns: u64,
    waits: Waits,
    /// What was due when one last looked and did not sleep: while it still is, the turn between
    /// two looks was spent on looking too.
    looked_for_ns: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waits {
    /// For whatever comes.
    ForNothing,
    /// To be woken at an instant.
    Until(u64),
    /// It does not sleep.
    Looking,
}

impl Haste {
    pub(super) const fn new() -> Haste {
        Haste {
            lead_ns: LEAD_MAX_NS / 4,
            credit_ns: CREDIT_MAX_NS,
            reckoned_ns: 0,
            waits: Waits::ForNothing,
            looked_for_ns: None,
        }
    }

    /// How long to sleep for what is due; 0 is to look and not to sleep.
    pub(super) fn wait_ns(&mut self, now_ns: u64, due_ns: u64) -> u64 {
        self.reckon(now_ns, self.looked_for_ns == Some(due_ns));
        self.looked_for_ns = None;
        // What has been saved up is spent evenly: with little left one wakes little earlier.
        let lead_ns = self.lead_ns * self.credit_ns / CREDIT_MAX_NS;
        let ahead_ns = due_ns.saturating_sub(now_ns);
        if ahead_ns <= lead_ns {
            // What is due already is work, and not haste.
            if ahead_ns > 0 {
                self.waits = Waits::Looking;
                self.looked_for_ns = Some(due_ns);
            } else {
                self.waits = Waits::ForNothing;
            }
            return 0;
        }
        self.waits = Waits::Until(due_ns - lead_ns);
        ahead_ns - lead_ns
    }

    /// The wait is over, with something that happened or without.
    pub(super) fn woke(&mut self, now_ns: u64, happened: bool) {
        match std::mem::replace(&mut self.waits, Waits::ForNothing) {
            Waits::Until(at_ns) if !happened && now_ns >= at_ns => {
                self.lead_ns = if now_ns - at_ns > self.lead_ns {
                    (self.lead_ns + LATER_STEPS * STEP_NS).min(LEAD_MAX_NS)
                } else {
                    self.lead_ns.saturating_sub(STEP_NS)
                };
            }
            Waits::Looking => self.reckon(now_ns, true),
            _ => {}
        }
    }

    /// Reckons up the credit: what passed was spent on looking, or is time of which a share may be.
    fn reckon(&mut self, now_ns: u64, looked: bool) {
        let passed_ns = now_ns.saturating_sub(self.reckoned_ns);
        self.credit_ns = if looked {
            self.credit_ns.saturating_sub(passed_ns)
        } else {
            (self.credit_ns + passed_ns / SHARE).min(CREDIT_MAX_NS)
        };
        self.reckoned_ns = self.reckoned_ns.max(now_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Something is due every `gap_ns`, each wake-up is `late_ns` late, a look takes 2 us. Gives
    /// the mean lateness of the last thousand and the share of the time spent on looking.
    fn settled(gap_ns: u64, late_ns: u64) -> (u64, f64) {
        let (mut haste, mut now_ns) = (Haste::new(), 1);
        let (mut late_sum_ns, mut looking_ns, mut begun_ns) = (0, 0, 0);
        for round in 0..4000 {
            let due_ns = (round + 1) * gap_ns;
            if round == 3000 {
                (late_sum_ns, looking_ns, begun_ns) = (0, 0, now_ns);
            }
            while now_ns < due_ns {
                let wait_ns = haste.wait_ns(now_ns, due_ns);
                let took_ns = if wait_ns == 0 { 1000 } else { wait_ns + late_ns };
                looking_ns += if wait_ns == 0 { took_ns } else { 0 };
                now_ns += took_ns;
                haste.woke(now_ns, false);
                if wait_ns == 0 && now_ns < due_ns {
                    // The rest of a turn that looked in vain.
                    (now_ns, looking_ns) = (now_ns + 1000, looking_ns + 1000);
                }
            }
            late_sum_ns += now_ns - due_ns;
        }
        (late_sum_ns / 1000, looking_ns as f64 / (now_ns - begun_ns) as f64)
    }

    #[test]
    fn where_wakes_are_evenly_late_nothing_is() {
        for late_ns in [1000, 5000, 50_000] {
            let (mean_ns, looking) = settled(500_000, late_ns);
            assert!(mean_ns < 3000, "{late_ns}: {mean_ns}");
            assert!(looking < 0.02, "{late_ns}: {looking}");
        }
    }

    #[test]
    fn looking_takes_no_more_than_its_share_however_much_is_due() {
        for gap_ns in [5000, 20_000, 50_000, 122_000] {
            let (_, looking) = settled(gap_ns, 0);
            assert!(looking <= 1.0 / SHARE as f64 + 0.01, "{gap_ns}: {looking}");
        }
    }

    #[test]
    fn one_that_was_kept_from_the_processor_for_long_does_not_hasten_for_long() {
        let mut haste = Haste::new();
        for round in 1..=100 {
            let now_ns = round * 10_000_000;
            let wait_ns = haste.wait_ns(now_ns, now_ns + 1_000_000);
            let late_ns = if round % 20 == 0 { 5_000_000 } else { 3000 };
            haste.woke(now_ns + wait_ns + late_ns, false);
        }
        assert!(haste.lead_ns < 20_000, "{}", haste.lead_ns);
    }
}
