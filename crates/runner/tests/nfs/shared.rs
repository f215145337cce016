//! Two volumes behind one endpoint that has a limit of its own.

use volume::shell::Snapshot;

use crate::served::*;

/// Both volumes at once under the same load; looks at the service at the window's edges.
fn both(one_mib: u64, other_mib: u64) -> (Vec<Snapshot>, [f64; 2]) {
    let volume = |name, mib| {
        format!(
            "[[volume]]\nname = \"{name}\"\npool = \"manual\"\nquota = \"1TiB\"\n\
             throughput = \"{mib}MiB/s\"\n"
        )
    };
    let running = service(described(&format!(
        "[[endpoint]]\nname = \"ep1\"\naddress = \"127.0.0.1:0\"\nthroughput = \"32MiB/s\"\n{}{}",
        volume("one", one_mib),
        volume("other", other_mib)
    )));
    let load = |volume| Load { volume, nconnect: 4, transfer_bytes: 32_768, ..LOAD };
    let (first, end) = LOAD.window();
    let mut looks = Vec::new();
    let (one, other) = std::thread::scope(|scope| {
        let other = scope.spawn(|| load("other").on(&running, |_| ()));
        let one = load("one").on(&running, |interval| {
            // An interval inside the window, so that the other has begun and not ended.
            if interval == first || interval + 2 == end {
                looks.push(running.snapshot().expect("a snapshot"));
            }
        });
        (one, other.join().expect("the other load"))
    });
    one.assert_flawless();
    other.assert_flawless();
    (looks, [one.throughput(), other.throughput()])
}

fn rates(looks: &[Snapshot]) -> [f64; 2] {
    ["one", "other"].map(|volume| witnessed(&looks[0], &looks[1], volume))
}

#[test]
fn two_volumes_get_the_endpoints_limit_together_and_equal_shares_of_it() {
    let _alone = alone();
    hold(|| {
        let (looks, measured) = both(64, 64);
        let [one, other] = rates(&looks);
        vec![
            seen("both, counted", one + other, 32, 0.01),
            // Who comes first goes first, so a share is that of the requests which wait: equal but
            // for what is on its way.
            seen("one, counted", one, 16, 0.05),
            seen("other, counted", other, 16, 0.05),
            seen("both, measured", measured[0] + measured[1], 32, 0.015),
        ]
    });
}

#[test]
fn what_a_slow_volume_leaves_of_the_endpoints_limit_the_other_gets() {
    let _alone = alone();
    hold(|| {
        let (looks, _) = both(8, 64);
        let [slow, other] = rates(&looks);
        vec![seen("the slow one", slow, 8, 0.01), seen("the other", other, 24, 0.01)]
    });
}
