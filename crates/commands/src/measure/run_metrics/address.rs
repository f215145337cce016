//! The address of `--metrics`.

use std::net::{Ipv4Addr, SocketAddr};

/// Reads `ADDRESS:PORT`, or `:PORT` for loopback.
///
/// # Errors
/// What is expected.
pub fn parse_address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let port = text.strip_prefix(':').unwrap_or(text);
    match port.parse() {
        Ok(port) => Ok((Ipv4Addr::LOCALHOST, port).into()),
        Err(_) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => {
            Err("a port is at most 65535".to_owned())
        }
        Err(_) => Err("write a port (:9400), or an IP address with its port (127.0.0.1:9400, \
                       [::1]:9400)"
            .to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_on_loopback() {
        for (text, address) in [
            (":9400", "127.0.0.1:9400"),
            ("9400", "127.0.0.1:9400"),
            ("[::1]:0", "[::1]:0"),
            ("0.0.0.0:9400", "0.0.0.0:9400"),
        ] {
            assert_eq!(
                parse_address(text).map(|address| address.to_string()),
                Ok(address.to_owned())
            );
        }
        assert_eq!(parse_address(":65536"), Err("a port is at most 65535".to_owned()));
        for text in ["", ":", "localhost:9400", "127.0.0.1", "::1"] {
            assert!(parse_address(text).is_err_and(|error| error.starts_with("write a port")));
        }
    }
}
