//! `--known`: limits that the user knows beforehand, as entries of the record's environment, where
//! analysis finds them.

use cloud::catalog::Catalog;
use cloud::service_level::ServiceLevel;
use cloud::vm_size;
use units::{Bytes, BytesPerSec, OpsPerSec};

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

/// Reads `volume=1TiB:premium`, `volume=64MiB/s`, `egress=Standard_D32s_v3`, `link=10Gbit/s`,
/// `slots=128`, `operations=50000/s`.
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

/// A throughput, or quota and service level.
fn volume(amount: &str) -> Result<String, String> {
    let Some((quota, level)) = amount.split_once(':') else { return throughput(amount) };
    let quota: Bytes = quota.parse().map_err(|error| format!("{error}"))?;
    let named = ServiceLevel::named(&level.to_lowercase());
    let known = named.and_then(|level| Catalog::embedded().level(level).throughput);
    let per_quota =
        known.ok_or("levels with a throughput by quota are standard, premium and ultra")?;
    let limit = per_quota.limit(quota.get() >> 30);
    Ok(format!("{} bytes/s, {quota} x {level}", limit.bytes_per_s()))
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
        assert_eq!(of("volume=2TiB:Premium"), format!("{volume}2 TiB x Premium"));
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
    fn what_is_no_limit_is_refused_with_what_there_is() {
        assert!(of("quota=1TiB").contains(NAMES));
        assert!(of("volume").contains("LIMIT=VALUE"));
        assert!(of("volume=1TiB:gold").contains("standard, premium and ultra"));
        assert!(of("egress=Standard_Nowhere").contains("VM size such as"));
        assert!(of("egress=D32s_v33").contains("did you mean the VM size `Standard_D32s_v3`?"));
        assert!(of("link=0").contains("above 0"));
    }
}
