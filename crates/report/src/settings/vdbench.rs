//! A load as a Vdbench parameter file.
//!
//! Outstanding operations are the threads of all storage definitions, so each file is a definition
//! with its own threads. (`threads=` of a run definition would apply to each definition.)

use analysis::tune::findings::HostShare;
use analysis::tune::share::shares;
use workload::data::DataPattern;
use workload::pattern::AccessPattern;

use super::{Load, percent, seconds, size};

/// The lines of a parameter file for all hosts; `Err` is a property that Vdbench has no parameter
/// for.
pub fn lines(load: &Load<'_>, hosts: &[HostShare]) -> Result<Vec<String>, &'static str> {
    let stream = load.stream;
    let seek = match stream.access_pattern {
        AccessPattern::Sequential => 0,
        AccessPattern::Uniform => 1000,
        AccessPattern::PartlySequential { seek_permille } => seek_permille,
        AccessPattern::Stride { .. } => return Err("Vdbench draws the length of each stride"),
        AccessPattern::Zipf { .. } => return Err("Vdbench has no Zipf distribution"),
        AccessPattern::HotSet { .. } => return Err("Vdbench has no hot set of this form"),
    };
    if stream.fsync_every_writes.is_some() {
        return Err("Vdbench has no fsync after a number of writes");
    }
    if stream.data != DataPattern::default() {
        return Err("Vdbench defines compressible and duplicate data differently");
    }
    let mut lines = Vec::new();
    let fleet: u64 = hosts.iter().map(|share| share.hosts).sum();
    if fleet > 1 {
        lines.push("hd=default,user=root,shell=ssh,vdbench=/opt/vdbench".to_owned());
        lines.extend((1..=fleet).map(|host| format!("hd=host{host},system=host{host}")));
    }
    let flags = match (stream.direct, stream.dsync) {
        (true, true) => ",openflags=(o_direct,o_dsync)",
        (true, false) => ",openflags=o_direct",
        (false, true) => ",openflags=o_dsync",
        (false, false) => "",
    };
    lines.push(format!("sd=default,size={}{flags}", size(stream.working_set.area_bytes)));
    let each_host = hosts.iter().flat_map(|s| std::iter::repeat_n(s.outstanding, s.hosts as usize));
    let mut number = 0;
    for (host, outstanding) in each_host.enumerate() {
        let files = shares(outstanding, u64::from(stream.working_set.files));
        let threads = files.iter().flat_map(|s| std::iter::repeat_n(s.each, s.holders as usize));
        for threads in threads {
            number += 1;
            let of_host = if fleet > 1 { format!("host=host{},", host + 1) } else { String::new() };
            let file = format!("{}/vdbench{number}.data", load.directory.trim_end_matches('/'));
            lines.push(format!("sd=sd{number},{of_host}threads={threads},lun={file}"));
        }
    }
    lines.push(format!(
        "wd=wd1,sd=sd*,rdpct={},seekpct={},xfersize={}",
        percent(stream.read_permille),
        percent(seek),
        sizes(load)
    ));
    let rate: Option<f64> = hosts.iter().map(|s| Some(s.rate?.get() * s.hosts as f64)).sum();
    let rate = rate.map_or("max".to_owned(), |rate| rate.ceil().to_string());
    lines.push(format!(
        "rd=rd1,wd=wd1,iorate={rate},warmup={},elapsed={},interval=1",
        seconds(load.phases.warm_up_ns),
        seconds(load.phases.measure_ns).max(2)
    ));
    Ok(lines)
}

fn sizes(load: &Load<'_>) -> String {
    let sizes = &load.stream.transfer_sizes;
    if let [only] = sizes[..] {
        return size(only.size_bytes);
    }
    let weights: u32 = sizes.iter().map(|size| size.weight).sum();
    let pairs = sizes.iter().map(|one| {
        let percent = (f64::from(one.weight) * 100.0 / f64::from(weights)).round();
        format!("{},{percent}", size(one.size_bytes))
    });
    format!("({})", pairs.collect::<Vec<_>>().join(","))
}
