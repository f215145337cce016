//! Percent-encoding of names in URLs (RFC 3986, section 2.1).

/// Decodes `%` and two digits to a byte.
pub(super) fn decode(text: &str) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = rest.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        match byte.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(0) | None => {
                return Err(
                    "`%` must be followed by two hexadecimal digits other than 00".to_owned()
                );
            }
            Some(byte) => bytes.push(byte),
        }
        rest = &rest[2..];
    }
    String::from_utf8(bytes).map_err(|_| "the bytes are not valid UTF-8".to_owned())
}

/// Encodes every byte that a URL's path cannot contain as `%` and two digits.
pub(super) fn encode(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~!$'()*,;:@".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::url::{NfsUrl, Policy};
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_url_with_every_option_parses_and_prints_unchanged() {
        let text = "nfs://[fe80::1]:2050/vol/a%20b?mountport=635&nconnect=8&uid=0&gid=5&gids=7,8\
                    &rsize=65536&wsize=1048576&slots=64&policy=per-file&privileged=true\
                    &addr=10.0.0.4,10.0.0.5&timeo=5s&connect_timeout=2s";
        let url: NfsUrl = text.parse().unwrap();
        assert_eq!(
            (url.host.as_str(), url.port, url.path.as_str()),
            ("fe80::1", Some(2050), "/vol/a b")
        );
        assert_eq!((url.mount_port, url.nconnect, url.slots), (Some(635), Some(8), 64));
        assert_eq!((url.uid, url.gid, url.gids.as_slice()), (Some(0), Some(5), &[7, 8][..]));
        assert_eq!((url.rsize_bytes, url.wsize_bytes), (Some(65536), Some(1 << 20)));
        assert_eq!((url.policy, url.privileged), (Policy::PerFile, true));
        assert_eq!((url.addresses.len(), url.timeo), (2, Duration::from_secs(5)));
        assert_eq!(url.connect_timeout, Duration::from_secs(2));
        assert_eq!(url.to_string(), text);
    }

    #[test]
    fn a_plain_url_has_default_options() {
        let url: NfsUrl = "nfs://server/vol".parse().unwrap();
        assert_eq!(url, NfsUrl::new("server", "/vol"));
        assert_eq!(url.to_string(), "nfs://server/vol");
        let sized: NfsUrl = "nfs://server:111/vol?rsize=64KiB&port=111".parse().unwrap();
        assert_eq!((sized.rsize_bytes, sized.port), (Some(65536), Some(111)));
    }

    #[test]
    fn all_mistakes_are_reported_together() {
        let text = "nfs://me@:99999/../x?nconnect=0&policy=any&rsize=100&nconnect=2&addr=here&x=1";
        let error = text.parse::<NfsUrl>().unwrap_err();
        let reported = |part: &str| error.mistakes.iter().any(|mistake| mistake.contains(part));
        for part in [
            "a user before the host",
            "host is missing",
            "port is `99999`; allowed is 1 to 65535",
            "`..`",
            "nconnect is `0`; allowed is 1 to 1024",
            "nconnect is given twice",
            "policy is `any`; allowed are round-robin",
            "rsize is `100`",
            "addr has `here`",
            "`x` is not an option; use port,",
        ] {
            assert!(reported(part), "{part} in {error}");
        }
        assert_eq!(error.mistakes.len(), 10, "{error}");
        for text in ["file:///x", "nfs://host", "nfs://host/", "nfs://host/%zz", "nfs://[::1/x"] {
            assert!(text.parse::<NfsUrl>().is_err(), "{text}");
        }
    }

    #[test]
    fn encoded_paths_decode_to_the_original() {
        for path in ["/a b", "/%", "/ä?#&=+", "/plain/path.txt"] {
            assert_eq!(decode(&encode(path)).as_deref(), Ok(path));
        }
    }
}
