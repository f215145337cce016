//! `/metrics` of a service with many connections over time.

use std::collections::BTreeMap;

use exposition::writer::Format;
use volume::counters::Procedure;
use volume::service::Service;

use crate::{endpoint_id, id_of, start};

const CONFIG: &str = "[[pool]]\nname = \"p\"\nservice_level = \"premium\"\nsize = \"4TiB\"\n\
    [[volume]]\nname = \"vol1\"\npool = \"p\"\nquota = \"1TiB\"\n[limits]\nenforced = false\n";

/// A client connects, makes a call for no volume, reads 4 KiB, and disconnects. `meanwhile` runs
/// before the READ is answered.
fn visit(service: &mut Service, now_ns: u64, flow: &str, meanwhile: impl FnOnce(&mut Service)) {
    let endpoint = endpoint_id(service, "endpoint");
    let volume = id_of(service, "vol1");
    let (client, _) = flow.split_once(':').expect("an address and a port");
    let connection = service.connect(endpoint, flow, client);
    service.without_volume(connection);
    let due = service.arrive(now_ns, connection, volume, Procedure::Read, 4096, 1);
    let due = due.expect("it is accepted").due().expect("nothing defers it");
    meanwhile(service);
    service.answered(&due, 4096, false);
    service.disconnect(now_ns, connection);
}

/// Counters by series.
fn counters(text: &str) -> BTreeMap<String, f64> {
    let of_type = |line: &str| line.strip_prefix("# TYPE ").map(str::to_owned);
    let types = text.lines().filter_map(of_type).filter_map(|line| {
        let (name, kind) = line.split_once(' ')?;
        (kind != "gauge").then(|| name.to_owned())
    });
    let types: Vec<String> = types.collect();
    let is_counter = |series: &str| {
        let name = series.split('{').next().unwrap_or_default();
        let ends = ["", "_bucket", "_sum", "_count"];
        ends.iter()
            .any(|end| name.strip_suffix(end).is_some_and(|name| types.iter().any(|t| t == name)))
    };
    let values = text.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let (series, value) = line.rsplit_once(' ').expect("a series and its value");
        (series.to_owned(), value.parse::<f64>().expect("a number"))
    });
    values.filter(|(series, _)| is_counter(series)).collect()
}

fn sum(counters: &BTreeMap<String, f64>, name: &str) -> f64 {
    let of_name = |series: &&String| series.split('{').next() == Some(name);
    counters.keys().filter(of_name).map(|series| counters[series]).sum()
}

#[test]
fn after_ten_thousand_connections_the_text_is_bounded_and_no_counter_has_fallen() {
    let mut service = start(CONFIG);
    let mut before = BTreeMap::new();
    let mut lines_after_three = 0;
    for number in 0..10_000u64 {
        // Ports below 1024 are reused, the others are new.
        let port = if number % 2 == 0 { 700 + number % 300 } else { 10_000 + number };
        let flow = format!("10.0.0.{}:{port}-10.0.1.1:2049", number % 3);
        let mut during = None;
        visit(&mut service, number, &flow, |service| {
            if number % 251 == 0 {
                during = Some(counters(&service.counters().exposition(Format::Prometheus)));
            }
        });
        if number == 2 {
            lines_after_three = service.counters().exposition(Format::Prometheus).lines().count();
        }
        let Some(during) = during else { continue };
        for now in [during, counters(&service.counters().exposition(Format::Prometheus))] {
            for (series, value) in &now {
                let earlier: f64 = before.get(series).copied().unwrap_or_default();
                assert!(*value >= earlier, "{series} falls from {earlier} to {value}");
            }
            // Each request counts for its flow and for its client.
            for name in ["requests_total", "read_bytes_total", "calls_without_volume_total"] {
                let [flows, clients] =
                    ["flow", "client"].map(|by| sum(&now, &format!("fourcorners_{by}_{name}")));
                assert_eq!(flows, clients, "{name}");
            }
            before = now;
        }
    }
    let text = service.counters().exposition(Format::Prometheus);
    assert_eq!(text.lines().count(), lines_after_three);
    let last = counters(&text);
    assert_eq!(sum(&last, "fourcorners_flow_requests_total"), 1e4);
    assert_eq!(sum(&last, "fourcorners_flow_read_bytes_total"), 4096e4);
    assert_eq!(sum(&last, "fourcorners_flows_closed_total"), 1e4);
    assert_eq!(last["fourcorners_client_requests_total{client=\"10.0.0.0\"}"], 3334.0);
    assert_eq!(last["fourcorners_flow_requests_total{flow=\"(closed)\"}"], 1e4);
}
