//! Reads the export rules of a volume: `rules` of a `[[volume]]`.
//!
//! For: `config.rs`. What the rules mean is in `export_rules.rs`.

use cloud::catalog::Catalog;
use cloud::row::LimitName;
use toml::de::DeValue;

use crate::export_rules::{
    ExportAccess, ExportRule, ExportRules, NOBODY, Network, NetworkError, Squash,
};
use crate::fields::{Fields, Node};
use units::diagnostic::Mistakes;

const ALLOWED_CLIENTS: &str = "an address or a network such as `10.0.0.0/24`, or a list of them";

/// The rules of a volume; none where it has none.
pub(crate) fn export_rules(
    fields: &mut Fields<'_, '_>,
    catalog: &Catalog,
    mistakes: &mut Mistakes<'_>,
) -> ExportRules {
    let Some(node) = fields.node("rules") else { return ExportRules::default() };
    let DeValue::Array(items) = node.get_ref() else {
        let hint = "write `rules = [{ clients = \"10.0.0.0/24\" }]`";
        mistakes.add(node.span(), "`rules` is a list of tables", hint);
        return ExportRules::default();
    };
    if items.is_empty() {
        let hint = "leave `rules` out, and clients on loopback and in private networks may \
                    do everything";
        mistakes.add(node.span(), "there is no rule in `rules`: nobody could mount it", hint);
    }
    let most = catalog.limit(LimitName::ExportRulesPerVolumeMax);
    let mut rules = Vec::new();
    for (item, number) in items.iter().zip(1..) {
        if number == most + 1 {
            let message = format!("{} rules, a volume has at most {most}", items.len());
            let hint = "put networks with equal rights into one list of `clients`";
            mistakes.add(item.span(), message, hint);
        }
        rules.extend(rule(item, mistakes));
    }
    ExportRules::new(rules)
}

fn rule(item: &Node<'_>, mistakes: &mut Mistakes<'_>) -> Option<ExportRule> {
    let DeValue::Table(table) = item.get_ref() else {
        mistakes.add(item.span(), "this is not a table", "");
        return None;
    };
    let mut fields = Fields::new(table, item.span(), "a rule");
    if fields.node("clients").is_none() {
        fields.missing("clients", mistakes);
    }
    let clients = fields.names("clients", mistakes).unwrap_or_default();
    let span = fields.places().of("clients");
    let clients = clients.iter().filter_map(|client| match client.parse::<Network>() {
        Ok(network) => Some(network),
        Err(NetworkError::Malformed) => {
            mistakes.add(span.clone(), format!("`{client}` is no network"), ALLOWED_CLIENTS);
            None
        }
        Err(NetworkError::HostBits(network)) => {
            let message = format!("`{client}` has bits behind its prefix");
            mistakes.add(span.clone(), message, format!("the network is `{network}`"));
            None
        }
    });
    let clients = clients.collect();
    let words = [("read-write", ExportAccess::ReadWrite), ("read-only", ExportAccess::ReadOnly)];
    let access = fields.word("access", mistakes, &words).unwrap_or(ExportAccess::ReadWrite);
    let words = [("none", Squash::None), ("root", Squash::Root), ("all", Squash::All)];
    let squash = fields.word("squash", mistakes, &words).unwrap_or(Squash::None);
    let mut number = |key| {
        let number = fields.read(key, mistakes, "a whole number", |text| text.parse().ok());
        number.unwrap_or(NOBODY)
    };
    let anonymous = (number("anonymous_uid"), number("anonymous_gid"));
    fields.finish(mistakes);
    Some(ExportRule { clients, access, squash, anonymous })
}
