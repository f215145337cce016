//! Recommended client settings, from `data/client_settings.toml`.
//!
//! Not for: actual settings, or judging them.

use crate::reason::RowRef;
use crate::row::{Origin, Status};
use crate::row_reader::{RowsError, rows};

/// The file's name.
const FILE: &str = "client_settings.toml";
/// The embedded rows.
const CLIENT_SETTINGS: &str = include_str!("../../../data/client_settings.toml");

/// A recommended value or a limit of a client setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingName {
    /// Recommended rsize and wsize, in bytes.
    TransferSizeRecommended,
    /// The rsize and wsize above which throughput no longer rose, in bytes.
    TransferSizeEnough,
    /// Recommended connections of a mount.
    NconnectRecommended,
    /// Maximum of the slots of all clients of an endpoint together.
    OutstandingPerEndpointMax,
    /// Recommended read-ahead of a mount for large sequential reads through the page cache, in bytes.
    ReadAheadRecommended,
    /// Recommended maximum TCP buffer in each direction, in bytes.
    TcpBufferMaxRecommended,
    /// Connections per interface that SMB Multichannel opens by default.
    SmbConnectionsDefault,
    /// Connections of SMB Multichannel above which throughput no longer rose.
    SmbConnectionsMax,
}

impl SettingName {
    /// All values.
    pub const ALL: [SettingName; 8] = [
        SettingName::TransferSizeRecommended,
        SettingName::TransferSizeEnough,
        SettingName::NconnectRecommended,
        SettingName::OutstandingPerEndpointMax,
        SettingName::ReadAheadRecommended,
        SettingName::TcpBufferMaxRecommended,
        SettingName::SmbConnectionsDefault,
        SettingName::SmbConnectionsMax,
    ];

    /// The name in the data.
    pub const fn name(self) -> &'static str {
        match self {
            SettingName::TransferSizeRecommended => "transfer_size_recommended",
            SettingName::TransferSizeEnough => "transfer_size_enough",
            SettingName::NconnectRecommended => "nconnect_recommended",
            SettingName::OutstandingPerEndpointMax => "outstanding_per_endpoint_max",
            SettingName::ReadAheadRecommended => "read_ahead_recommended",
            SettingName::TcpBufferMaxRecommended => "tcp_buffer_max_recommended",
            SettingName::SmbConnectionsDefault => "smb_connections_default",
            SettingName::SmbConnectionsMax => "smb_connections_max",
        }
    }
}

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientRow {
    /// A setting.
    Setting {
        /// Its name.
        name: SettingName,
        /// In bytes, or a count.
        value: u64,
        /// Its source.
        origin: Origin,
    },
    /// A distribution's first version with the mount option nconnect; `linux` is the upstream kernel.
    NconnectSupport {
        /// Its `ID` in os-release.
        distribution: String,
        /// Its version, as `(major, minor)`.
        version: (u32, u32),
        /// Its source.
        origin: Origin,
    },
    /// The loss with a flavour of Kerberos, in percent of the throughput with sec=sys.
    Kerberos {
        /// `krb5`, `krb5i`, `krb5p`.
        flavour: String,
        /// Loss of sequential throughput.
        sequential_loss_percent: u64,
        /// Loss of random reads.
        random_read_loss_percent: u64,
        /// Its source.
        origin: Origin,
    },
}

/// All rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientFacts(pub Vec<ClientRow>);

impl ClientFacts {
    /// The embedded rows.
    pub fn embedded() -> ClientFacts {
        ClientFacts::parse(CLIENT_SETTINGS).expect("a test reads the embedded settings")
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// All problems of the text; a setting without, or with two, current rows.
    pub fn parse(text: &str) -> Result<ClientFacts, RowsError> {
        let facts = ClientFacts(rows(text, FILE, |table, row| match table {
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
            _ => Err("unknown table".to_owned()),
        })?);
        for name in SettingName::ALL {
            let rows = facts.current(name).count();
            if rows != 1 {
                return Err(RowsError::NotOneCurrent { of: name.name().to_owned(), rows });
            }
        }
        Ok(facts)
    }

    /// The current value of a setting, in bytes or a count.
    pub fn setting(&self, name: SettingName) -> u64 {
        self.current(name).next().expect("`parse` requires one current row of each")
    }

    /// The current row of a setting.
    pub fn setting_row(&self, requested: SettingName) -> Option<RowRef> {
        self.0.iter().find_map(|row| match row {
            ClientRow::Setting { name, origin, .. }
                if *name == requested && origin.status == Status::Current =>
            {
                Some(RowRef::new(FILE, format!("setting {}", requested.name()), origin))
            }
            _ => None,
        })
    }

    /// The first version of a distribution (or of `linux`) with nconnect.
    pub fn nconnect_since(&self, name: &str) -> Option<(u32, u32)> {
        self.0.iter().find_map(|row| match row {
            ClientRow::NconnectSupport { distribution, version, origin }
                if distribution == name && origin.status == Status::Current =>
            {
                Some(*version)
            }
            _ => None,
        })
    }

    /// The loss with a flavour of Kerberos, of sequential throughput and of random reads, in percent.
    pub fn kerberos_loss_percent(&self, name: &str) -> Option<(u64, u64)> {
        self.0.iter().find_map(|row| match row {
            ClientRow::Kerberos {
                flavour,
                sequential_loss_percent,
                random_read_loss_percent,
                origin,
            } if flavour == name && origin.status == Status::Current => {
                Some((*sequential_loss_percent, *random_read_loss_percent))
            }
            _ => None,
        })
    }

    fn current(&self, requested: SettingName) -> impl Iterator<Item = u64> {
        self.0.iter().filter_map(move |row| match row {
            ClientRow::Setting { name, value, origin }
                if *name == requested && origin.status == Status::Current =>
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
    fn the_embedded_settings_equal_the_documents() {
        let facts = ClientFacts::embedded();
        for (name, value) in [
            (SettingName::TransferSizeRecommended, 262_144),
            (SettingName::TransferSizeEnough, 65_536),
            (SettingName::NconnectRecommended, 8),
            (SettingName::OutstandingPerEndpointMax, 10_000),
            (SettingName::ReadAheadRecommended, 15_360 << 10),
            (SettingName::TcpBufferMaxRecommended, 16_777_216),
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
        assert!(error.contains("transfer_size_recommended has 0 current rows"), "{error}");
        let twice = CLIENT_SETTINGS.replace("\"superseded\"", "\"current\"");
        let error = ClientFacts::parse(&twice).unwrap_err().to_string();
        assert!(error.contains("outstanding_per_endpoint_max has 2 current rows"), "{error}");
        let unit = CLIENT_SETTINGS.replacen("\"KiB\"", "\"KB\"", 1);
        assert!(ClientFacts::parse(&unit).unwrap_err().to_string().contains("wrong unit `KB`"));
    }
}
