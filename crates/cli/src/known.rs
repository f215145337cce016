//! `--known`: limits that the user knows beforehand, as entries of the record's environment, where
//! analysis finds them.

use cloud::catalog::Catalog;
use cloud::service_level::{ServiceLevel, VolumeKind};
use cloud::vm_size;
use cloud::volume_limit::{LimitSetBy, SettingsError, VolumeSettings};
use units::{Bytes, BytesPerSec, OpsPerSec};

use crate::volume_args;

/// A limit that is known, as an entry of the environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownLimit {
    /// `known.vm_egress`
    pub(crate) name: String,
    /// `2000000000 bytes/s, Standard_D32s_v3`
    pub(crate) value: String,
}

/// As entries of an environment.
pub(crate) fn entries(known: &[KnownLimit]) -> impl Iterator<Item = (String, String)> {
    known.iter().map(|known| (known.name.clone(), known.value.clone()))
}

const NAMES: &str = "volume, flow, endpoint, egress, link, slots or operations";
const LEVELS: &str = "standard, premium, ultra and flexible";
const KINDS: &str = "regular, large and breakthrough";

/// Reads `volume=1TiB:premium`, `volume=100TiB:ultra:large`, `volume=1TiB:flexible@200MiB/s`,
/// `volume=64MiB/s`, `egress=Standard_D32s_v3`, `link=10Gbit/s`, `slots=128`,
/// `operations=50000/s`.
///
/// # Errors
/// What is allowed, in words.
pub(crate) fn parse(text: &str) -> Result<KnownLimit, String> {
    let (name, amount) = text.split_once('=').ok_or("write LIMIT=VALUE")?;
    let (code, value) = match name {
        "volume" => ("volume_throughput", volume(amount)?),
        "flow" => ("network_flow", throughput(amount)?),
        "endpoint" => ("endpoint", throughput(amount)?),
        "egress" => ("vm_egress", egress(amount)?),
        "link" => ("link", throughput(amount)?),
        "slots" => {
            let slots: u32 = amount.parse().map_err(|_| "slots are a whole number, as 128")?;
            ("server_slots", format!("{slots} requests on a connection, as given"))
        }
        "operations" => {
            let rate: OpsPerSec = amount.parse().map_err(|error| format!("{error}"))?;
            ("operations_per_second", format!("{} ops/s, as given", rate.get()))
        }
        _ => return Err(format!("`{name}` is no limit; there are {NAMES}")),
    };
    Ok(KnownLimit { name: format!("known.{code}"), value })
}

/// A throughput, or the settings of a volume: `QUOTA:LEVEL[:KIND][@THROUGHPUT]`.
fn volume(amount: &str) -> Result<String, String> {
    let Some((quota, rest)) = amount.split_once(':') else { return throughput(amount) };
    let catalog = Catalog::embedded();
    let quota: Bytes = quota.parse().map_err(|error| format!("{error}"))?;
    let (rest, assigned) = match rest.split_once('@') {
        Some((rest, assigned)) => (rest, Some(volume_args::throughput(assigned)?)),
        None => (rest, None),
    };
    let (level, kind) = match rest.split_once(':') {
        Some((level, kind)) => (level, Some(kind)),
        None => (rest, None),
    };
    let level = ServiceLevel::named(&level.to_lowercase())
        .ok_or_else(|| format!("`{level}` is no service level; there are {LEVELS}"))?;
    let kind = match kind {
        Some(kind) => VolumeKind::named(&kind.to_lowercase())
            .ok_or_else(|| format!("`{kind}` is no kind of volume; there are {KINDS}"))?,
        None => catalog.usual_kind(quota),
    };
    let settings = match assigned {
        Some(assigned) => VolumeSettings::manual(level, kind, quota, assigned),
        None => VolumeSettings::auto(level, kind, quota),
    };
    let limit = catalog.volume_limit(&settings).map_err(|errors| refused(&errors, &catalog))?;
    let Some(throughput) = limit.throughput else {
        return Err(format!(
            "the service states no throughput limit for {} volumes; give the throughput, as \
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
    Ok(format!("{} bytes/s, {origin}", throughput.bytes_per_s()))
}

/// What the service does not allow, each with what it does.
fn refused(errors: &[SettingsError], catalog: &Catalog) -> String {
    let of = |error: &SettingsError| match error {
        SettingsError::QosType { level, .. } => {
            format!("{error}; give the throughput that is assigned, as 1TiB:{level}@200MiB/s")
        }
        error => format!("{error}; {}", catalog.allowed(error)),
    };
    errors.iter().map(of).collect::<Vec<_>>().join("; ")
}

/// A throughput, or the size of a virtual machine.
fn egress(amount: &str) -> Result<String, String> {
    match vm_size::meant(amount) {
        Ok(size) => Ok(format!("{} bytes/s, {}", size.egress_bytes_per_s(), size.name)),
        Err(near) => throughput(amount).map_err(|wrong| match near {
            Some(near) => format!("did you mean the VM size `{near}`? Else {wrong}"),
            None => format!("{wrong}; or a VM size such as Standard_D32s_v3"),
        }),
    }
}

/// `128MiB/s`, or as links are named `10Gbit/s`: 10^9 bit/s.
fn throughput(amount: &str) -> Result<String, String> {
    let bits = [("Gbit/s", 1e9), ("Mbit/s", 1e6)];
    let of_bits = bits.iter().find_map(|(unit, factor)| {
        let number: f64 = amount.strip_suffix(unit)?.trim().parse().ok()?;
        Some(number * factor / 8.0)
    });
    let bytes = match of_bits {
        Some(bytes) => bytes,
        None => amount.parse::<BytesPerSec>().map_err(|error| format!("{error}"))?.get(),
    };
    match bytes.is_finite() && bytes >= 1.0 {
        true => Ok(format!("{bytes:.0} bytes/s, as given")),
        false => Err("a limit is above 0".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> String {
        parse(text).map_or_else(|wrong| wrong, |known| format!("{} {}", known.name, known.value))
    }

    #[test]
    fn limits_are_kept_in_bytes_per_second_with_their_origin() {
        let volume = "known.volume_throughput 134217728 bytes/s, ";
        assert_eq!(of("volume=2TiB:Premium"), format!("{volume}2 TiB x premium"));
        assert_eq!(of("volume=128MiB/s"), format!("{volume}as given"));
        assert_eq!(
            of("egress=standard_d32s_v3"),
            "known.vm_egress 2000000000 bytes/s, Standard_D32s_v3"
        );
        assert_eq!(of("egress=D32s_v3"), of("egress=Standard_D32s_v3"));
        assert_eq!(of("egress=1GiB/s"), "known.vm_egress 1073741824 bytes/s, as given");
        assert_eq!(of("link=10Gbit/s"), "known.link 1250000000 bytes/s, as given");
        assert_eq!(of("flow=1500MiB/s"), "known.network_flow 1572864000 bytes/s, as given");
        assert_eq!(of("slots=128"), "known.server_slots 128 requests on a connection, as given");
        assert_eq!(of("operations=50k/s"), "known.operations_per_second 50000 ops/s, as given");
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
            let value = format!("known.volume_throughput {} bytes/s, {origin}", mib * 1_048_576.0);
            assert_eq!(of(&format!("volume={text}")), value, "{text}");
        }
    }

    #[test]
    fn volumes_that_do_not_exist_are_refused_with_what_is_allowed() {
        for (text, said) in [
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
                "the level flexible has no auto QoS; give the throughput that is assigned, as \
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
                "the service states no throughput limit for breakthrough volumes",
            ),
            (
                "1TiB:gold",
                "`gold` is no service level; there are standard, premium, ultra and flexible",
            ),
            (
                "1TiB:ultra:huge",
                "`huge` is no kind of volume; there are regular, large and breakthrough",
            ),
        ] {
            let found = of(&format!("volume={text}"));
            assert!(found.contains(said), "{text}: {found}");
        }
    }

    #[test]
    fn what_is_no_limit_is_refused_with_what_there_is() {
        assert!(of("quota=1TiB").contains(NAMES));
        assert!(of("volume").contains("LIMIT=VALUE"));
        assert!(of("egress=Standard_Nowhere").contains("VM size such as"));
        assert!(of("egress=D32s_v33").contains("did you mean the VM size `Standard_D32s_v3`?"));
        assert!(of("link=0").contains("above 0"));
    }
}
