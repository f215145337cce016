//! The need that tests of sizings begin with; each says by itself where its own differs.

use cloud::service_level::ServiceLevel;
use sizing::need::{Charges, Demand, Need, POOLS_MAX, Part, Protocol};
use units::Share;

/// One part with one demand over NFSv3, with all levels and any size of host, and nothing besides.
pub(crate) fn of(demand: Demand, capacity_gib: u64) -> Need {
    Need {
        parts: vec![Part {
            name: "data".to_owned(),
            capacity_gib,
            demands: vec![demand],
            inodes: 0,
        }],
        growth: Share::ZERO,
        headroom: Share::ZERO,
        response_time: None,
        region: "eastus".to_owned(),
        protocol: Protocol::Nfs3,
        hosts: None,
        vm: None,
        levels: ServiceLevel::ALL.to_vec(),
        previews: false,
        hours_per_month: 730,
        charges: Charges::default(),
        pools_max: POOLS_MAX,
        business: None,
    }
}
