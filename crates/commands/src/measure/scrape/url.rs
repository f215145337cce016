//! The address of an exporter, as `--scrape` takes it.

use std::fmt;
use std::str::FromStr;

/// The port of HTTP.
const DEFAULT_PORT: u16 = 80;
/// The path of most exporters.
const DEFAULT_PATH: &str = "/metrics";
const SCHEME: &str = "http://";

/// Where an exporter serves its metrics: `http://host[:port][/path]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScrapeUrl {
    /// A name or an address; an IPv6 address without brackets.
    pub(super) host: String,
    pub(super) port: u16,
    /// The path, and the query if there is one.
    pub(super) path: String,
}

/// Why a text is no such address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadUrl {
    /// The first wrong character, from 1.
    column: usize,
    reason: &'static str,
}

impl fmt::Display for BadUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column, self.reason)
    }
}

impl std::error::Error for BadUrl {}

impl FromStr for ScrapeUrl {
    type Err = BadUrl;

    fn from_str(text: &str) -> Result<ScrapeUrl, BadUrl> {
        // `rest` is the end of `text` that begins with the wrong character.
        let wrong = |rest: &str, reason| BadUrl {
            column: text[..text.len() - rest.len()].chars().count() + 1,
            reason,
        };
        if let Some(wrong_at) = text.find(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(wrong(&text[wrong_at..], "a URL has no spaces"));
        }
        let Some(rest) = text.strip_prefix(SCHEME) else {
            let reason = match text.starts_with("https://") {
                true => {
                    "https is not supported; scrape the exporter over http, or through a proxy on \
                     this host"
                }
                false => "a URL begins with http://, as in http://filer:9100/metrics",
            };
            return Err(wrong(text, reason));
        };
        let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
        let path = &rest[authority.len()..];
        if authority.contains('@') {
            return Err(wrong(rest, "user names and passwords are not supported"));
        }
        let (host, port) = match authority.strip_prefix('[') {
            Some(inside) => {
                let (host, after) =
                    inside.split_once(']').ok_or_else(|| wrong(rest, "`[` has no `]`"))?;
                (host, after)
            }
            None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
        };
        if host.is_empty() {
            return Err(wrong(rest, "the host is missing"));
        }
        let from_port = &rest[authority.len() - port.len()..];
        let port = match port.strip_prefix(':') {
            None if port.is_empty() => DEFAULT_PORT,
            None => return Err(wrong(from_port, "expected `:` and a port")),
            Some(digits) => match digits.parse() {
                Ok(0) | Err(_) => {
                    return Err(wrong(&from_port[1..], "a port is a number from 1 to 65535"));
                }
                Ok(port) => port,
            },
        };
        let path = match path.split_once('#').map_or(path, |(path, _)| path) {
            "" | "/" => DEFAULT_PATH.to_owned(),
            path if path.starts_with('?') => format!("{DEFAULT_PATH}{path}"),
            path => path.to_owned(),
        };
        Ok(ScrapeUrl { host: host.to_owned(), port, path })
    }
}

impl ScrapeUrl {
    /// Host and port, as in the head of a request.
    pub(super) fn authority(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]:{}", self.host, self.port),
            false => format!("{}:{}", self.host, self.port),
        }
    }
}

impl fmt::Display for ScrapeUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}{}", self.authority(), self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_and_path_have_defaults() {
        for (text, url) in [
            ("http://filer", "http://filer:80/metrics"),
            ("http://filer:9100/", "http://filer:9100/metrics"),
            ("http://10.0.0.4:9100/probe?module=a&b", "http://10.0.0.4:9100/probe?module=a&b"),
            ("http://[::1]:9100?collect[]=cpu", "http://[::1]:9100/metrics?collect[]=cpu"),
        ] {
            assert_eq!(text.parse::<ScrapeUrl>().map(|url| url.to_string()), Ok(url.to_owned()));
        }
    }

    #[test]
    fn a_wrong_url_is_reported_with_the_column() {
        for (text, column, reason) in [
            ("filer:9100", 1, "begins with http://"),
            ("https://filer", 1, "https is not supported"),
            ("http://", 8, "host is missing"),
            ("http://:9100", 8, "host is missing"),
            ("http://filer:65536/metrics", 14, "from 1 to 65535"),
            ("http://filer:0", 14, "from 1 to 65535"),
            ("http://filer:x", 14, "from 1 to 65535"),
            ("http://[::1", 8, "has no `]`"),
            ("http://[::1]9100", 13, "expected `:`"),
            ("http://me:secret@filer", 8, "passwords"),
            ("http://fi ler", 10, "no spaces"),
        ] {
            let error = text.parse::<ScrapeUrl>().expect_err(text).to_string();
            assert!(error.starts_with(&format!("column {column}: ")), "{text}: {error}");
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
