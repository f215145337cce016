//! The reply of an agent to a request: its answer, or the failure with what the user can do about it.

use runner::fleet::FleetError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use target::refusal::{Override, Refusal};

use crate::outcome::{Exit, Failure};
use crate::refusal;

/// The reply with this answer.
pub(super) fn done(answer: &impl Serialize) -> Vec<u8> {
    to_bytes(&Ok::<_, RequestFailed>(answer))
}

/// The reply of a request that failed.
pub(super) fn failed(failure: &Failure) -> Vec<u8> {
    to_bytes(&Err::<(), _>(RequestFailed::of(failure)))
}

fn to_bytes(reply: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(reply).expect("a reply is numbers, texts and lists")
}

/// Reads a reply.
///
/// * `reply` - the bytes, or why there are none
pub(super) fn read<A: DeserializeOwned>(
    reply: Result<Vec<u8>, String>,
) -> Result<A, RequestFailed> {
    let bytes = reply.map_err(RequestFailed::of_target)?;
    let reply: Result<Result<A, RequestFailed>, _> = serde_json::from_slice(&bytes);
    reply.map_err(|error| RequestFailed::of_target(format!("read its answer: {error}")))?
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RequestFailed {
    reason: String,
    remedy: Option<String>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Kind {
    /// The target is refused.
    Refused { overridden_by: Option<Override> },
    /// The user must change something.
    Input,
    /// The target failed.
    Target,
    /// An internal error.
    Internal,
}

impl RequestFailed {
    /// The target failed.
    pub(super) fn of_target(reason: impl Into<String>) -> RequestFailed {
        RequestFailed { reason: reason.into(), remedy: None, kind: Kind::Target }
    }

    fn of(failure: &Failure) -> RequestFailed {
        let kind = match (&failure.refused, failure.exit) {
            (Some(refused), _) => {
                let flag = refused.overridden_by;
                let of_flag = |by: &Override| Some(by.flag()) == flag;
                Kind::Refused { overridden_by: Override::ALL.into_iter().find(of_flag) }
            }
            (None, Exit::InternalError) => Kind::Internal,
            (None, Exit::TargetFailed) => Kind::Target,
            (None, Exit::Done | Exit::Negative | Exit::BadInput) => Kind::Input,
        };
        let reason = failure.reason_in_words();
        RequestFailed { reason, remedy: failure.remedy.clone(), kind }
    }

    /// The reason, and what to do, on one line.
    pub(super) fn in_words(&self) -> String {
        match &self.remedy {
            Some(remedy) => format!("{}; {remedy}", self.reason),
            None => self.reason.clone(),
        }
    }

    /// The refusal of a target by this host; `None` for other failures.
    fn refusal(&self, host: &str) -> Option<Refusal> {
        let Kind::Refused { overridden_by } = self.kind else { return None };
        Some(Refusal::OnHost {
            host: host.to_owned(),
            reason: self.reason.clone(),
            remedy: self.remedy.clone().unwrap_or_default(),
            overridden_by,
        })
    }

    /// The same for the runner.
    pub(super) fn fleet_error(&self, host: &str) -> FleetError {
        match self.refusal(host) {
            Some(refusal) => FleetError::Refused(refusal),
            None => FleetError::Host {
                reason: format!("{host}: {}", self.reason),
                remedy: self.remedy.clone(),
            },
        }
    }

    /// The failure of a command that needs this host.
    pub(super) fn failure(&self, host: &str) -> Failure {
        if let Some(refusal) = self.refusal(host) {
            return refusal::failure(refusal);
        }
        let reason = anyhow::anyhow!("{host}: {}", self.reason);
        let failure = match self.kind {
            Kind::Refused { .. } | Kind::Input => Failure::input(reason),
            Kind::Target => Failure::target(reason),
            Kind::Internal => Failure::internal(reason),
        };
        Failure { remedy: self.remedy.clone(), ..failure }
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    fn reread(failure: &Failure) -> Failure {
        read::<()>(Ok(failed(failure))).expect_err("it failed").failure("h2")
    }

    #[test]
    fn a_failure_has_the_same_exit_code_and_remedy_on_the_other_side() {
        for failure in
            [Failure::input, Failure::target, Failure::internal].map(|of| of(anyhow!("no")))
        {
            let failure = failure.with_remedy("try again");
            let read = reread(&failure);
            assert_eq!((read.exit, read.remedy), (failure.exit, failure.remedy));
            assert_eq!(format!("{:?}", read.refused), "None");
        }
    }

    #[test]
    fn a_refusal_remains_one_and_names_the_host() {
        for by in Override::ALL {
            let refusal = Refusal::OnHost {
                host: "storage".to_owned(),
                reason: "full".to_owned(),
                remedy: format!("try `{}`", by.flag()),
                overridden_by: Some(by),
            };
            let read = reread(&refusal::failure(refusal));
            let refused = read.refused.expect("it is a refusal");
            assert_eq!(refused.reason, "h2: storage: full");
            assert_eq!(refused.remedy, format!("try `{}`", by.flag()));
            assert_eq!(refused.overridden_by, Some(by.flag()));
            assert_eq!(read.exit, Exit::BadInput);
        }
    }

    #[test]
    fn an_answer_is_read_and_anything_else_is_a_failure_in_words() {
        assert_eq!(read(Ok(done(&7))), Ok(7));
        let words = read::<u32>(Ok(b"hello".to_vec())).expect_err("no reply").in_words();
        assert!(words.starts_with("read its answer: "), "{words}");
        assert_eq!(read::<u32>(Err("gone".to_owned())).expect_err("none").in_words(), "gone");
    }
}
