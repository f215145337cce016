//! Reads the export rules of a `[[volume]]`. Their meaning is in `export_rules.rs`.

use cloud::catalog::Catalog;
use cloud::row::LimitName;
use settings::{Node, Problems, TableReader};
use toml::de::DeValue;

use crate::export_rules::{
    ANONYMOUS, ExportAccess, ExportRule, ExportRules, Network, NetworkError, Squash,
};

const ALLOWED_CLIENTS: &str = "an address or a network such as `10.0.0.0/24`, or a list of them";

/// The rules of a volume; the default if it has none.
pub(crate) fn export_rules(
    fields: &mut TableReader<'_, '_>,
    catalog: &Catalog,
    problems: &mut Problems<'_>,
) -> ExportRules {
    let Some(node) = fields.node("rules") else { return ExportRules::default() };
    let DeValue::Array(items) = node.get_ref() else {
        let hint = "write `rules = [{ clients = \"10.0.0.0/24\" }]`";
        problems.add(node.span(), "`rules` is a list of tables", hint);
        return ExportRules::default();
    };
    if items.is_empty() {
        let hint = "remove `rules` to allow read and write by loopback and private networks";
        problems.add(node.span(), "`rules` is empty: no client could mount the volume", hint);
    }
    let max = catalog.limit(LimitName::ExportRulesPerVolumeMax);
    let mut rules = Vec::new();
    for (item, number) in items.iter().zip(1..) {
        if number == max + 1 {
            let message = format!("the volume has {} rules; the maximum is {max}", items.len());
            let hint = "list networks with the same rights in `clients` of one rule";
            problems.add(item.span(), message, hint);
        }
        rules.extend(rule(item, problems));
    }
    ExportRules::new(rules)
}

fn rule(item: &Node<'_>, problems: &mut Problems<'_>) -> Option<ExportRule> {
    let DeValue::Table(table) = item.get_ref() else {
        problems.add(item.span(), "this is not a table", "");
        return None;
    };
    let mut fields = TableReader::new(table, item.span(), "a rule");
    fields.require(&["clients"], problems);
    let clients = fields.texts("clients", problems, ALLOWED_CLIENTS).unwrap_or_default();
    let clients =
        clients.into_iter().filter_map(|(client, span)| match client.parse::<Network>() {
            Ok(network) => Some(network),
            Err(NetworkError::Malformed) => {
                let hint = format!("allowed: {ALLOWED_CLIENTS}");
                problems.add(span, format!("`{client}` is not a network"), hint);
                None
            }
            Err(NetworkError::HostBits(network)) => {
                let message = format!("`{client}` has bits after its prefix");
                problems.add(span, message, format!("the network is `{network}`"));
                None
            }
        });
    let clients = clients.collect();
    let words = [("read-write", ExportAccess::ReadWrite), ("read-only", ExportAccess::ReadOnly)];
    let access = fields.word("access", problems, &words).unwrap_or(ExportAccess::ReadWrite);
    let words = [("none", Squash::None), ("root", Squash::Root), ("all", Squash::All)];
    let squash = fields.word("squash", problems, &words).unwrap_or(Squash::None);
    let mut number = |key| {
        let number = fields.read(key, problems, "a whole number", |text| text.parse().ok());
        number.unwrap_or(ANONYMOUS)
    };
    let anonymous = (number("anonymous_uid"), number("anonymous_gid"));
    fields.finish(problems);
    Some(ExportRule { clients, access, squash, anonymous })
}
