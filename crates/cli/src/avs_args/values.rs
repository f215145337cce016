//! Parses the values of the arguments of `avs`.

use cloud::avs::{Avs, AvsLimit, Host, Policy};
use cloud::price::{Prices, Usd};
use cloud::region::{Feature, Regions};
use cloud::row::Status;
use sizing::avs::HOURS_PER_MONTH;
use sizing::avs::ratio::{Ratio, RatioSource};
use sizing::region_need::demand;
use units::{Bytes, BytesPerSec, OpsPerSec, ParseError, Share, unknown};

pub(super) fn host(name: &str) -> Result<Host, String> {
    let avs = Avs::embedded();
    let rows = avs.hosts.iter().filter(|host| host.origin.status == Status::Current);
    let names: Vec<&str> = rows.map(|host| host.name.as_str()).collect();
    avs.host(name).cloned().ok_or_else(|| unknown_of("host", name, &names))
}

pub(super) fn policy(name: &str) -> Result<Policy, String> {
    let avs = Avs::embedded();
    let rows = avs.policies.iter().filter(|policy| policy.origin.status == Status::Current);
    let names: Vec<&str> = rows.map(|policy| policy.name.as_str()).collect();
    avs.policy(name).cloned().ok_or_else(|| unknown_of("policy", name, &names))
}

pub(super) fn region(name: &str) -> Result<String, String> {
    if name == "none" {
        return Ok(name.to_owned());
    }
    let regions = Regions::embedded();
    let Some(region) = regions.find(name) else {
        let near = regions.similar(name).map(|region| format!("did you mean `{}`?", region.name));
        let there_are = || format!("there are {}, none", Prices::embedded().regions().join(", "));
        return Err(format!("there is no such region; {}", near.unwrap_or_else(there_are)));
    };
    let demanded = demand(Feature::AvsDatastores, region, &regions);
    // The region may also be that of the configuration, so the message does not assume that the user
    // named it here.
    demanded.map(|()| region.name.clone()).map_err(|error| {
        format!("{error}; set --region to one of them, or to `none` to size without prices")
    })
}

/// `there is no such host; there are AV36, AV36P; did you mean `AV36`?`
fn unknown_of(what: &str, name: &str, names: &[&str]) -> String {
    format!("there is no such {what}; {}", unknown(name, names))
}

pub(super) fn operations(text: &str) -> Result<u64, String> {
    let rate: OpsPerSec = text.parse().map_err(|error: ParseError| error.to_string())?;
    whole(rate.get(), "operations per second")
}

pub(super) fn throughput(text: &str) -> Result<u64, String> {
    let rate: BytesPerSec = text.parse().map_err(|error: ParseError| error.to_string())?;
    whole(rate.get(), "bytes per second")
}

/// More than any VM does, and small enough that sums do not overflow.
const RATE_MAX: f64 = 1e12;

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within limits")]
fn whole(rate: f64, what: &str) -> Result<u64, String> {
    match rate.ceil() {
        rate if (1.0..=RATE_MAX).contains(&rate) => Ok(rate as u64),
        _ => Err(format!("expected 1 to {RATE_MAX:.0} {what}")),
    }
}

pub(super) fn size(text: &str) -> Result<Bytes, String> {
    let size: Bytes = text.parse().map_err(|error: ParseError| error.to_string())?;
    match size.get() {
        512.. => Ok(size),
        _ => Err("expected at least 512 bytes".to_owned()),
    }
}

/// `4` or `4.5`: exact, in thousandths.
fn thousandths(text: &str, least: u64, most: u64) -> Option<u64> {
    let amount = Usd::parse(text.trim())?.micros();
    (amount.is_multiple_of(1000) && (least..=most).contains(&(amount / 1000)))
        .then_some(amount / 1000)
}

pub(super) fn ratio(text: &str) -> Result<Ratio, String> {
    let expected = "expected virtual CPUs per core, such as `4` or `4.5`";
    let vcpus = thousandths(text, 1, 64_000).ok_or(expected)?;
    let divisor = greatest_divisor(vcpus, 1000);
    let source = RatioSource::Given;
    Ok(Ratio { vcpus: vcpus / divisor, cores: 1000 / divisor, source })
}

/// Euclid's algorithm.
fn greatest_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { greatest_divisor(other, one % other) }
}

/// Spare hosts of a cluster: fewer than its hosts.
pub(super) fn spare(text: &str) -> Result<u64, String> {
    let most = Avs::embedded().limit(AvsLimit::HostsPerClusterMax) - 1;
    let spare = text.trim().parse().ok().filter(|count| (0..=most).contains(count));
    spare.ok_or_else(|| format!("expected a whole number from 0 to {most}"))
}

pub(super) fn saving(text: &str) -> Result<Share, String> {
    let expected = "expected a factor from `1` to `10`, such as `1.5`";
    let factor = thousandths(text, 1000, 10_000).ok_or_else(|| expected.to_owned())?;
    Ok(Share::from_permille(factor))
}

pub(super) fn host_price(text: &str) -> Result<Usd, String> {
    let expected =
        "expected a price with its period, such as `5000/month`, `6.85/hour` or `60000/year`";
    let (amount, time) = text.trim().trim_start_matches('$').split_once('/').ok_or(expected)?;
    let amount = Usd::parse(&amount.replace([',', '_'], "")).ok_or(expected)?;
    let month = match time.trim() {
        "month" => amount,
        "hour" => amount.times(HOURS_PER_MONTH),
        "year" => Usd::from_micros(amount.micros() / 12),
        _ => return Err(expected.to_owned()),
    };
    match month {
        Usd::ZERO => Err(expected.to_owned()),
        month => Ok(month),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_has_a_period() {
        assert_eq!(host_price("5000/month"), Ok(Usd::from_micros(5_000_000_000)));
        assert_eq!(host_price("$5,000/month"), Ok(Usd::from_micros(5_000_000_000)));
        assert_eq!(host_price("6.85/hour"), Ok(Usd::from_micros(5_000_500_000)));
        assert_eq!(host_price("60000/year"), Ok(Usd::from_micros(5_000_000_000)));
        for text in ["5000", "0/month", "-5/month", "5000/week", "much/month", ""] {
            assert!(host_price(text).unwrap_err().contains("`5000/month`"), "{text}");
        }
    }

    #[test]
    fn a_ratio_is_exact() {
        let parts = |text| ratio(text).map(|ratio| (ratio.vcpus, ratio.cores));
        assert_eq!(parts("4"), Ok((4, 1)));
        assert_eq!(parts("4.5"), Ok((9, 2)));
        assert_eq!(parts("0.001"), Ok((1, 1000)));
        for text in ["0", "-1", "65", "4.0001", "four"] {
            assert!(parts(text).is_err(), "{text}");
        }
        assert_eq!(saving("1.5"), Ok(Share::from_percent(150)));
        assert!(saving("0.5").is_err());
        assert_eq!((spare("0"), spare("15")), (Ok(0), Ok(15)));
        assert!(spare("16").is_err() && spare("-1").is_err() && spare("one").is_err());
    }

    #[test]
    fn the_nearest_name_is_suggested() {
        assert!(host("AV36Q").unwrap_err().contains("did you mean `AV36`?"));
        assert!(host("av36p").is_ok());
        assert!(policy("raid-6").unwrap_err().contains("did you mean `raid6`?"));
        assert!(region("estus").unwrap_err().contains("did you mean `eastus`?"));
        let lacking = region("israelcentral").unwrap_err();
        let words =
            "Israel Central has no datastores for Azure VMware Solution; the nearest regions";
        assert!(lacking.starts_with(words), "{lacking}");
        assert_eq!(region("West Europe").as_deref(), Ok("westeurope"));
        assert_eq!(region("WestEurope").as_deref(), Ok("westeurope"));
    }

    #[test]
    fn rates_below_1_and_above_the_maximum_are_refused() {
        assert_eq!(operations("50/s"), Ok(50));
        assert_eq!(throughput("2MiB/s"), Ok(2 << 20));
        assert!(operations("0").is_err());
        assert!(operations("-5/s").is_err());
        assert!(throughput("1000000TiB/s").is_err());
    }
}
