//! Client hosts that the user did not ask for: not in the cost, and named as the fewest that can
//! carry the load. The storage cost of each level by throughput.

use crate::needs;
use std::sync::LazyLock;

use cloud::figure::Access;
use cloud::price::Usd;
use cloud::service_level::ServiceLevel;
use cloud::throughput::KibPerSec;
use sizing::cost::{self, Item};
use sizing::cost_by_level::cost_by_level;
use sizing::design::Design;
use sizing::facts::Facts;
use sizing::need::{Charges, Demand, Need, Protocol};
use sizing::resource_use::Resource;
use sizing::solve::{Verdict, solve};
use units::Share;

static FACTS: LazyLock<Facts> = LazyLock::new(Facts::embedded);

/// Sequential reads of 950 MiB/s on 4 TiB, with hosts in the cost or not.
fn need(hosts: bool) -> Need {
    let demand = Demand {
        throughput: KibPerSec::new(950 << 10),
        transfer_bytes: 64 << 10,
        read: Share::WHOLE,
        access: Access::Sequential,
        names_per_s: 0,
    };
    let charges = Charges { hosts, ..Charges::default() };
    Need { charges, ..needs::of(demand, 4096) }
}

fn designs(need: &Need) -> Vec<Design> {
    match solve(need, &FACTS).expect("a valid need") {
        Verdict::Feasible { designs, .. } => designs,
        Verdict::Infeasible(why) => panic!("{why:?}"),
    }
}

#[test]
fn without_clients_the_cost_is_that_of_the_storage() {
    for protocol in [Protocol::Nfs3, Protocol::Datastores] {
        let need = Need { protocol, ..need(false) };
        for design in designs(&need) {
            let storage = cost::month(&need, &design.pools, None, &FACTS);
            assert_eq!(design.cost.month(), storage.month());
            assert_eq!(design.cost.of(Item::Hosts), Usd::ZERO);
            assert_eq!((design.cost.missing.len(), design.host_count()), (0, 0));
        }
    }
    let charged = &designs(&need(true))[0];
    let hosts = charged.cost.of(Item::Hosts);
    assert!(hosts > Usd::ZERO && charged.host_count() > 0);
    let storage = cost::month(&need(true), &charged.pools, None, &FACTS).month();
    assert_eq!(charged.cost.month(), storage + hosts);
}

#[test]
fn clients_that_are_not_charged_are_one_that_suffices() {
    let best = &designs(&need(false))[0];
    let hosts = best.hosts.as_ref().expect("a throughput is required");
    assert_eq!((hosts.count, hosts.is_charged), (1, false));
    assert_eq!(hosts.each_of(KibPerSec::new(950 << 10)).get(), 950 << 10);
    // The next smaller size does not carry it alone.
    let smaller = FACTS.vms.iter().filter(|vm| vm.vcpu < hosts.vcpu).max_by_key(|vm| vm.vcpu);
    let vm = Some(smaller.expect("a smaller size").name.clone());
    let one = Need { vm, hosts: Some(1), levels: vec![ServiceLevel::Premium], ..need(true) };
    assert!(matches!(solve(&one, &FACTS), Ok(Verdict::Infeasible(_))));
    // Their use does not decide which resource is exhausted first.
    assert!(best.uses.iter().any(|one| one.resource == Resource::HostCapability));
    assert!(best.purchased_uses().all(|one| !one.resource.is_of_hosts()));
}

#[test]
fn designs_do_not_differ_in_clients_alone() {
    let all = designs(&need(false));
    for (index, design) in all.iter().enumerate() {
        assert!(!all[..index].iter().any(|other| other.pools == design.pools), "{design:#?}");
    }
}

#[test]
fn each_level_costs_at_the_required_throughput_what_its_cheapest_design_costs() {
    let need = need(false);
    let costs = cost_by_level(&need, &FACTS);
    assert_eq!(costs.len(), 4);
    for one in &costs {
        let at = one.points.iter().find(|(throughput, _)| *throughput == need.throughput());
        let only = Need { levels: vec![one.level], ..need.clone() };
        assert_eq!(at.expect("this throughput").1, designs(&only)[0].cost.month(), "{}", one.level);
        assert!(one.points.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1));
    }
    // 950 MiB/s are 15,200 GiB of premium; twice as much are 30,400, in pools of whole TiB.
    let premium = costs.iter().find(|one| one.level == ServiceLevel::Premium).expect("premium");
    let dollars = |at: usize| premium.points[at].1.to_string();
    assert_eq!((dollars(5), dollars(10)), ("$4,519".to_owned(), "$9,038".to_owned()));
    let nothing = Demand { throughput: KibPerSec::new(0), ..need.parts[0].demands[0] };
    assert!(cost_by_level(&needs::of(nothing, 4096), &FACTS).is_empty());
}
