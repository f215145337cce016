//! The sentences of a sizing's assumptions, with the option that replaces each.

use cloud::service_level::ServiceLevel;
use sizing::assumption::Assumption;

/// All assumptions in words.
pub(super) fn sentences(all: &[Assumption]) -> Vec<String> {
    all.iter().map(sentence).collect()
}

fn sentence(of: &Assumption) -> String {
    let fixed = match of {
        Assumption::DefaultRegion(region) => {
            return format!("prices of {region}, because --region is not given");
        }
        Assumption::FeaturesNotKnown(region) => {
            return format!(
                "the vendor's list of features lacks {region}: only regular volumes of the levels \
                 with a price are considered"
            );
        }
        Assumption::NoLargeVolumes(region) => return format!("{region} has no large volumes"),
        Assumption::ListPrices { is_pay_as_you_go, hours_per_month } => {
            let pay = if *is_pay_as_you_go { ", pay as you go" } else { "" };
            return format!(
                "list prices{pay}, for {hours_per_month} hours a month; hosts in the cost run all of \
                 these hours"
            );
        }
        Assumption::FlexiblePools(most) => {
            return format!(
                "at most {most} Flexible pools share the load of a part (--pools), and the volumes \
                 of a part have one level"
            );
        }
        Assumption::OneLevel(most) => {
            return format!("all parts have one level: levels are mixed for at most {most} parts");
        }
        Assumption::LevelsLacking { levels, region } => {
            let levels: Vec<&str> = levels.iter().copied().map(ServiceLevel::name).collect();
            return format!("without {}, which {region} lacks", levels.join(", "));
        }
        Assumption::DailyChange { day, week_percent } => {
            return format!(
                "{day} of the data changes in a day and is replicated: the vendor's rule of \
                 {week_percent} % for a week of snapshots (--daily-change)"
            );
        }
        Assumption::ThroughputTransfers(size) => {
            return format!("the throughput consists of {size} transfers");
        }
        Assumption::OperationTransfers(size) => {
            return format!("operations transfer {size} each");
        }
        Assumption::Measured { id, variant, throughput, transfer, read } => {
            return format!(
                "from `{id}`, {variant}: {throughput:.1} in transfers of {transfer}, {} % of the \
                 bytes are reads",
                read.permille() / 10
            );
        }
        Assumption::OfProfile { profile } => {
            return format!(
                "the load is that of {profile} (--profile) times the number of units (--metric); its \
                 reads and writes are one load with their mean transfer size, random if at least a \
                 tenth of the bytes are"
            );
        }
        Assumption::FilesOfRecord(size) => {
            return format!("the volumes hold the files of the record, {size} (--capacity)");
        }
        Assumption::NamesAsPublished => {
            "operations on names: a volume carries the largest published rate, that of an EDA mix with \
             its reads and writes at the same time, and may carry more; on hosts, connections and \
             endpoints each counts as a read of 4 KiB, and lasts as long as a read or write"
        }
        Assumption::ReadsOnly => {
            "reads only: what hosts receive is not metered, so their egress limit does not apply \
             (--read)"
        }
        Assumption::ProportionalLoad => {
            "the load is spread over the volumes of a part in proportion to their limits, and over \
             hosts and connections evenly"
        }
        Assumption::PublishedCapabilities => {
            "one volume and one host deliver the newest published figure; connections, endpoints \
             and other loads follow from the model of `predict`"
        }
        Assumption::HostsByProcessors => {
            "a host's throughput grows with its processors: extrapolated if it has fewer or more \
             than the hosts of the published figures"
        }
        Assumption::SmbAsNfs => {
            "volumes deliver the same over SMB as over NFS, as in the vendor's scale-out tests; one \
             host delivers at most the published figure of one SMB host"
        }
        Assumption::HostsAsAv36 => {
            "every host of Azure VMware Solution delivers the published figures of AV36; its egress \
             limit and its price are not known"
        }
        Assumption::TrafficAtAllHours => {
            "the required throughput flows at all hours, so traffic through a peering has the \
             highest possible cost (--mean)"
        }
        Assumption::CoolTier => {
            "limits are those of the hot tier; data in the cool tier stays there (--cool), and the \
             share --cool-moved of it is charged as traffic"
        }
        Assumption::ReplicaAsSource => {
            "the replica's pools have the size and level of the source pools (--replica-level); a \
             Flexible pool has the baseline throughput"
        }
        Assumption::DataFitsPhases => "the data fits into every phase (--capacity)",
        Assumption::OnlyVolume => "the volume is the only one in its pool, with auto QoS",
        Assumption::ImmediateChanges => {
            "all times are in one time zone, and a change takes effect immediately"
        }
    };
    fixed.to_owned()
}
