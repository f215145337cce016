//! How a client of the file store should be set, from `data/client_settings.toml`.
//!
//! Not for: what a client is set to, nor for judging it.

use crate::catalog::{CatalogError, rows};
use crate::reason::RowRef;
use crate::row::{Origin, Status};

/// The file's name.
const FILE: &str = "client_settings.toml";
/// The rows that the product goes by.
const CLIENT_SETTINGS: &str = include_str!("../../../data/client_settings.toml");

/// A number that a client should be set to, or be held under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingName {
    /// rsize and wsize, in bytes.
    TransferSizeWanted,
    /// The rsize and wsize from which on more was not faster, in bytes.
    TransferSizeEnough,
    /// Connections of a mount.
    NconnectWanted,
    /// Slots of all clients of an endpoint together.
    OutstandingPerEndpointMax,
    /// Read-ahead of a mount for large sequential reads through the page cache, in bytes.
    ReadAheadWanted,
    /// The largest TCP buffer, for either direction, in bytes.
    TcpBufferMaxWanted,
    /// Connections that SMB Multichannel makes by itself for each interface.
    SmbConnectionsDefault,
    /// Connections of SMB Multichannel beyond which more brought nothing.
    SmbConnectionsMax,
}

impl SettingName {
    /// All of them.
    pub const ALL: [SettingName; 8] = [
        SettingName::TransferSizeWanted,
        SettingName::TransferSizeEnough,
        SettingName::NconnectWanted,
        SettingName::OutstandingPerEndpointMax,
        SettingName::ReadAheadWanted,
        SettingName::TcpBufferMaxWanted,
        SettingName::SmbConnectionsDefault,
        SettingName::SmbConnectionsMax,
    ];

    /// As the data write it.
    pub const fn name(self) -> &'static str {
        match self {
            SettingName::TransferSizeWanted => "transfer_size_wanted",
            SettingName::TransferSizeEnough => "transfer_size_enough",
            SettingName::NconnectWanted => "nconnect_wanted",
            SettingName::OutstandingPerEndpointMax => "outstanding_per_endpoint_max",
            SettingName::ReadAheadWanted => "read_ahead_wanted",
            SettingName::TcpBufferMaxWanted => "tcp_buffer_max_wanted",
            SettingName::SmbConnectionsDefault => "smb_connections_default",
            SettingName::SmbConnectionsMax => "smb_connections_max",
        }
    }
}

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientRow {
    /// A number.
    Setting {
        /// Which.
        name: SettingName,
        /// In bytes, or counted.
        value: u64,
        /// Where from.
        origin: Origin,
    },
    /// A distribution's first version with the mount option nconnect; `linux` is the kernel's own.
    NconnectSupport {
        /// As os-release writes its `ID`.
        distribution: String,
        /// Its version, as `(major, minor)`.
        version: (u32, u32),
        /// Where from.
        origin: Origin,
    },
    /// What a flavour of Kerberos costs, in hundredths of what sec=sys gives.
    Kerberos {
        /// `krb5`, `krb5i`, `krb5p`.
        flavour: String,
        /// Of sequential throughput.
        sequential_loss_percent: u64,
        /// Of random reads.
        random_read_loss_percent: u64,
        /// Where from.
        origin: Origin,
    },
}

/// Every row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientFacts(pub Vec<ClientRow>);

impl ClientFacts {
    /// The rows that are part of the binary.
    pub fn embedded() -> ClientFacts {
        ClientFacts::parse(CLIENT_SETTINGS).expect("a test reads the embedded settings")
    }

    /// Reads the text of such a table.
    ///
    /// # Errors
    /// The first thing that is wrong with it; a setting without, or with two, current rows.
    pub fn parse(text: &str) -> Result<ClientFacts, CatalogError> {
        let facts = ClientFacts(rows(text, |table, row| match table {
            "setting" => {
                let named = |name: &str| SettingName::ALL.into_iter().find(|s| s.name() == name);
                let name = row.named("name", named)?;
                let factor = match row.text("unit")?.as_str() {
                    "KiB" => 1024,
                    "count" => 1,
                    other => return Err(format!("wrong unit `{other}`")),
                };
                let value = row.number("value")?;
                let value = value.checked_mul(factor).ok_or("`value` is too large")?;
                Ok(ClientRow::Setting { name, value, origin: row.origin()? })
            }
            "nconnect_support" => Ok(ClientRow::NconnectSupport {
                distribution: row.text("distribution")?,
                version: row.named("version", version)?,
                origin: row.origin()?,
            }),
            "kerberos" => Ok(ClientRow::Kerberos {
                flavour: row.text("flavour")?,
                sequential_loss_percent: row.number("sequential_loss")?,
                random_read_loss_percent: row.number("random_read_loss")?,
                origin: row.origin()?,
            }),
            _ => Err("an unknown table".to_owned()),
        })?);
        for name in SettingName::ALL {
            let rows = facts.current(name).count();
            if rows != 1 {
                return Err(CatalogError::NotOneCurrent { of: name.name().to_owned(), rows });
            }
        }
        Ok(facts)
    }

    /// The current number of a setting, in bytes or counted.
    pub fn setting(&self, name: SettingName) -> u64 {
        self.current(name).next().expect("`parse` demands one current row of each")
    }

    /// The current row of a setting.
    pub fn setting_row(&self, wanted: SettingName) -> Option<RowRef> {
        self.0.iter().find_map(|row| match row {
            ClientRow::Setting { name, origin, .. }
                if *name == wanted && origin.status == Status::Current =>
            {
                Some(RowRef::new(FILE, format!("setting {}", wanted.name()), origin))
            }
            _ => None,
        })
    }

    /// The first version of a distribution (or of `linux`) that takes nconnect.
    pub fn nconnect_since(&self, wanted: &str) -> Option<(u32, u32)> {
        self.0.iter().find_map(|row| match row {
            ClientRow::NconnectSupport { distribution, version, origin }
                if distribution == wanted && origin.status == Status::Current =>
            {
                Some(*version)
            }
            _ => None,
        })
    }

    /// What a flavour of Kerberos costs: sequential throughput and random reads, in hundredths.
    pub fn kerberos_loss_percent(&self, wanted: &str) -> Option<(u64, u64)> {
        self.0.iter().find_map(|row| match row {
            ClientRow::Kerberos {
                flavour,
                sequential_loss_percent,
                random_read_loss_percent,
                origin,
            } if flavour == wanted && origin.status == Status::Current => {
                Some((*sequential_loss_percent, *random_read_loss_percent))
            }
            _ => None,
        })
    }

    fn current(&self, wanted: SettingName) -> impl Iterator<Item = u64> {
        self.0.iter().filter_map(move |row| match row {
            ClientRow::Setting { name, value, origin }
                if *name == wanted && origin.status == Status::Current =>
            {
                Some(*value)
            }
            _ => None,
        })
    }
}

/// `8.3` or `15` as `(major, minor)`.
fn version(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once('.').unwrap_or((text, "0"));
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_settings_are_those_of_the_documents() {
        let facts = ClientFacts::embedded();
        for (name, value) in [
            (SettingName::TransferSizeWanted, 262_144),
            (SettingName::TransferSizeEnough, 65_536),
            (SettingName::NconnectWanted, 8),
            (SettingName::OutstandingPerEndpointMax, 10_000),
            (SettingName::ReadAheadWanted, 15_360 << 10),
            (SettingName::TcpBufferMaxWanted, 16_777_216),
        ] {
            assert_eq!(facts.setting(name), value, "{}", name.name());
        }
        assert_eq!(facts.nconnect_since("linux"), Some((5, 3)));
        assert_eq!(facts.nconnect_since("ubuntu"), Some((18, 4)));
        assert_eq!(facts.nconnect_since("plan9"), None);
        assert_eq!(facts.kerberos_loss_percent("krb5p"), Some((85, 65)));
        assert_eq!(facts.kerberos_loss_percent("sys"), None);
    }

    #[test]
    fn a_setting_without_or_with_two_current_rows_is_refused() {
        let none = CLIENT_SETTINGS.replacen("status = \"current\"", "status = \"superseded\"", 1);
        let error = ClientFacts::parse(&none).unwrap_err().to_string();
        assert!(error.contains("transfer_size_wanted has 0 current rows"), "{error}");
        let twice = CLIENT_SETTINGS.replace("\"superseded\"", "\"current\"");
        let error = ClientFacts::parse(&twice).unwrap_err().to_string();
        assert!(error.contains("outstanding_per_endpoint_max has 2 current rows"), "{error}");
        let unit = CLIENT_SETTINGS.replacen("\"KiB\"", "\"KB\"", 1);
        assert!(ClientFacts::parse(&unit).unwrap_err().to_string().contains("wrong unit `KB`"));
    }
}
