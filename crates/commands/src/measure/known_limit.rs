//! `--known`: limits that the user states.

use cloud::catalog::Catalog;
use cloud::service_level::{ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use cloud::vm_size;
use cloud::volume_limit::{LimitSetBy, SettingsError, VolumeSettings};
use units::{Bytes, BytesPerSec, OpsPerSec};
use workload::limit::{Limit, StatedLimit};

/// The origin of an amount that the user gives as a number.
const AS_GIVEN: &str = "as given";
const NOT_POSITIVE: &str = "a limit is above 0";
const NAMES: &str = "volume, flow, endpoint, egress, link, slots or operations";
const LEVELS: &str = "standard, premium, ultra and flexible";
const KINDS: &str = "regular, large and breakthrough";

/// Reads `volume=1TiB:premium`, `volume=100TiB:ultra:large`, `volume=1TiB:flexible@200MiB/s`,
/// `volume=64MiB/s`, `egress=Standard_D32s_v3`, `link=10Gbit/s`, `slots=128`,
/// `operations=50000/s`.
///
/// # Errors
/// What is allowed.
pub fn parse(text: &str) -> Result<StatedLimit, String> {
    let (name, amount) = text.split_once('=').ok_or("write LIMIT=VALUE")?;
    let given = |value: f64| (value, AS_GIVEN.to_owned());
    let (limit, (value, origin)) = match name {
        "volume" => (Limit::VolumeThroughput, volume(amount)?),
        "flow" => (Limit::NetworkFlow, given(throughput(amount)?)),
        "endpoint" => (Limit::Endpoint, given(throughput(amount)?)),
        "egress" => (Limit::VmEgress, egress(amount)?),
        "link" => (Limit::Link, given(throughput(amount)?)),
        "slots" => {
            let slots: u32 = amount.parse().map_err(|_| "slots are a whole number, as 128")?;
            (Limit::ServerSlots, given(f64::from(slots)))
        }
        "operations" => {
            let rate: OpsPerSec = amount.parse().map_err(|error| format!("{error}"))?;
            (Limit::OperationsPerSecond, given(rate.get()))
        }
        _ => return Err(format!("`{name}` is not a limit; known limits are {NAMES}")),
    };
    match value > 0.0 {
        true => Ok(StatedLimit { limit, value, origin }),
        false => Err(NOT_POSITIVE.to_owned()),
    }
}

/// A throughput, or the settings of a volume: `QUOTA:LEVEL[:KIND][@THROUGHPUT]`.
fn volume(amount: &str) -> Result<(f64, String), String> {
    let Some((quota, rest)) = amount.split_once(':') else {
        return Ok((throughput(amount)?, AS_GIVEN.to_owned()));
    };
    let catalog = Catalog::embedded();
    let quota: Bytes = quota.parse().map_err(|error| format!("{error}"))?;
    let (rest, assigned) = match rest.split_once('@') {
        Some((rest, assigned)) => (rest, Some(assigned_throughput(assigned)?)),
        None => (rest, None),
    };
    let (level, kind) = match rest.split_once(':') {
        Some((level, kind)) => (level, Some(kind)),
        None => (rest, None),
    };
    let level = ServiceLevel::named(&level.to_lowercase())
        .ok_or_else(|| format!("`{level}` is not a service level; there are {LEVELS}"))?;
    let kind = match kind {
        Some(kind) => VolumeKind::named(&kind.to_lowercase())
            .ok_or_else(|| format!("`{kind}` is not a kind of volume; there are {KINDS}"))?,
        None => catalog.usual_kind(quota),
    };
    let settings = match assigned {
        Some(assigned) => VolumeSettings::manual(level, kind, quota, assigned),
        None => VolumeSettings::auto(level, kind, quota),
    };
    let limit = catalog.volume_limit(&settings).map_err(|errors| refused(&errors, &catalog))?;
    let Some(throughput) = limit.throughput else {
        return Err(format!(
            "the service documents no throughput limit for {} volumes; give the throughput, as \
             {quota}:{level}:{}@THROUGHPUT or volume=THROUGHPUT",
            kind.name(),
            kind.name()
        ));
    };
    let origin = match (limit.set_by, kind) {
        (LimitSetBy::Assignment, _) => format!("manual QoS, {quota} of {level}"),
        (LimitSetBy::Ceiling, _) => {
            format!("{quota} x {level} (ceiling of a {} volume)", kind.name())
        }
        (_, VolumeKind::Regular) => format!("{quota} x {level}"),
        (_, kind) => format!("{quota} x {level} ({} volume)", kind.name()),
    };
    Ok((throughput.bytes_per_s() as f64, origin))
}

/// Settings that the service does not allow, each with what it allows.
fn refused(errors: &[SettingsError], catalog: &Catalog) -> String {
    let of = |error: &SettingsError| match error {
        SettingsError::QosType { level, .. } => {
            format!("{error}; give the assigned throughput, as 1TiB:{level}@200MiB/s")
        }
        error => format!("{error}; {}", catalog.allowed(error)),
    };
    errors.iter().map(of).collect::<Vec<_>>().join("; ")
}

/// A throughput, or the size of a virtual machine.
fn egress(amount: &str) -> Result<(f64, String), String> {
    match vm_size::find(amount) {
        Ok(size) => Ok((size.egress().get(), size.name)),
        Err(near) => match throughput(amount) {
            Ok(value) => Ok((value, AS_GIVEN.to_owned())),
            Err(wrong) => Err(match near {
                Some(near) => format!("did you mean the VM size `{near}`? Otherwise {wrong}"),
                None => format!("{wrong}; or a VM size such as Standard_D32s_v3"),
            }),
        },
    }
}

/// A limit in bytes per second.
fn throughput(amount: &str) -> Result<f64, String> {
    let bytes = amount.parse::<BytesPerSec>().map_err(|error| format!("{error}"))?.get();
    match bytes >= 1.0 {
        true => Ok(bytes.round_ties_even()),
        false => Err(NOT_POSITIVE.to_owned()),
    }
}

/// A throughput that is assigned to a volume: whole KiB/s, as the service takes it.
///
/// # Errors
/// What is allowed.
pub fn assigned_throughput(text: &str) -> Result<KibPerSec, String> {
    let rate: BytesPerSec = text.parse().map_err(|error: units::ParseError| error.to_string())?;
    KibPerSec::whole(rate).ok_or_else(|| "write whole KiB/s above 0, such as 64MiB/s".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> String {
        parse(text).map_or_else(|wrong| wrong, |one| format!("{} {one}", one.limit.code()))
    }

    #[test]
    fn limits_are_kept_in_bytes_per_second_with_their_origin() {
        let volume = "volume_throughput 134217728 bytes/s, ";
        assert_eq!(of("volume=2TiB:Premium"), format!("{volume}2 TiB x premium"));
        assert_eq!(of("volume=128MiB/s"), format!("{volume}as given"));
        assert_eq!(of("egress=standard_d32s_v3"), "vm_egress 2000000000 bytes/s, Standard_D32s_v3");
        assert_eq!(of("egress=D32s_v3"), of("egress=Standard_D32s_v3"));
        assert_eq!(of("egress=1GiB/s"), "vm_egress 1073741824 bytes/s, as given");
        assert_eq!(of("link=10Gbit/s"), "link 1250000000 bytes/s, as given");
        assert_eq!(of("flow=1500MiB/s"), "network_flow 1572864000 bytes/s, as given");
        assert_eq!(of("slots=128"), "server_slots 128 requests on a connection, as given");
        assert_eq!(of("operations=50k/s"), "operations_per_second 50000 ops/s, as given");
    }

    #[test]
    fn a_volume_has_the_limit_of_its_quota_level_kind_and_qos_type() {
        for (text, mib, origin) in [
            ("50GiB:ultra", 6.25, "50 GiB x ultra"),
            ("100TiB:ultra", 4500.0, "100 TiB x ultra (ceiling of a regular volume)"),
            ("100TiB:ultra:regular", 4500.0, "100 TiB x ultra (ceiling of a regular volume)"),
            ("100TiB:Ultra:Large", 12_800.0, "100 TiB x ultra (large volume)"),
            ("101TiB:ultra", 12_800.0, "101 TiB x ultra (ceiling of a large volume)"),
            ("150TiB:premium", 9600.0, "150 TiB x premium (large volume)"),
            ("1TiB:flexible@200MiB/s", 200.0, "manual QoS, 1 TiB of flexible"),
            ("1TiB:premium:regular@4500MiB/s", 4500.0, "manual QoS, 1 TiB of premium"),
            ("4TiB:ultra:breakthrough@20GiB/s", 20_480.0, "manual QoS, 4 TiB of ultra"),
        ] {
            let value = format!("volume_throughput {} bytes/s, {origin}", mib * 1_048_576.0);
            assert_eq!(of(&format!("volume={text}")), value, "{text}");
        }
    }

    #[test]
    fn impossible_volumes_are_refused_with_what_is_allowed() {
        for (text, expected) in [
            (
                "1GiB:ultra",
                "a quota of 1 GiB, a regular volume has at least 50 GiB; allowed: 50 GiB to 100 \
                 TiB",
            ),
            (
                "3PiB:ultra",
                "a quota of 3 PiB, a large volume has at most 1 PiB; allowed: 50 TiB to 1 PiB",
            ),
            ("200TiB:ultra:regular", "allowed: 50 GiB to 100 TiB; a large volume may have it"),
            (
                "1TiB:flexible",
                "the level flexible has no auto QoS; give the assigned throughput, as \
                 1TiB:flexible@200MiB/s",
            ),
            (
                "1TiB:premium@5000MiB/s",
                "a throughput of 5,000 MiB/s, a regular volume is assigned at most 4,500 MiB/s; \
                 allowed: 1 MiB/s to 4,500 MiB/s",
            ),
            ("1TiB:premium@1GB/s", "write whole KiB/s above 0"),
            ("1500.5GiB:premium", "allowed: multiples of 1 GiB"),
            (
                "4TiB:ultra:breakthrough",
                "the service documents no throughput limit for breakthrough volumes",
            ),
            (
                "1TiB:gold",
                "`gold` is not a service level; there are standard, premium, ultra and flexible",
            ),
            (
                "1TiB:ultra:huge",
                "`huge` is not a kind of volume; there are regular, large and breakthrough",
            ),
        ] {
            let found = of(&format!("volume={text}"));
            assert!(found.contains(expected), "{text}: {found}");
        }
    }

    #[test]
    fn an_unknown_limit_is_refused_with_the_known_ones() {
        assert!(of("quota=1TiB").contains(NAMES));
        assert!(of("volume").contains("LIMIT=VALUE"));
        assert!(of("egress=Standard_Nowhere").contains("VM size such as"));
        assert!(of("egress=D32s_v33").contains("did you mean the VM size `Standard_D32s_v3`?"));
        for text in ["link=0", "slots=0", "operations=0"] {
            assert!(of(text).contains("above 0"), "{text}");
        }
    }
}
