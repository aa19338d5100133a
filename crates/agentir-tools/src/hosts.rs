//! Which hosts may be called: those that whoever runs the agents has named.
//!
//! A name alone does not open the network of this machine. What it resolves to must be a public address,
//! or one that was named itself, and the connection goes to the address that was checked, so nobody can
//! answer with another one in between.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// A host that may be called, at all ports or at one: `api.example.com`, `10.1.2.3:8080`, `[::1]:80`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostGrant {
    host: HostName,
    port: Option<u16>,
}

/// A host as addresses name it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum HostName {
    Address(IpAddr),
    /// In lower case, without a final dot.
    Name(String),
}

impl HostName {
    fn new(written: &str) -> Self {
        let inner = written.strip_prefix('[').and_then(|w| w.strip_suffix(']')).unwrap_or(written);
        match inner.parse::<IpAddr>() {
            Ok(address) => Self::Address(address.to_canonical()),
            Err(_) => {
                let name = written.strip_suffix('.').unwrap_or(written);
                Self::Name(name.to_ascii_lowercase())
            }
        }
    }

    /// Whether it is this machine by its name (RFC 6761, 6.3), so that naming it is naming its addresses.
    fn is_localhost(&self) -> bool {
        matches!(self, Self::Name(name) if name == "localhost" || name.ends_with(".localhost"))
    }
}

impl FromStr for HostGrant {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{written}` is not a host: write a name or an address, with or without a port, such as \
                 `api.example.com` or `[::1]:8080`"
            )
        };
        let (host, port) = match written.rsplit_once(':') {
            // An address of version 6 without brackets has no port.
            _ if written.parse::<Ipv6Addr>().is_ok() => (written, None),
            Some((host, port)) if !written.ends_with(']') => {
                (host, Some(port.parse().map_err(|_| wrong())?))
            }
            _ => (written, None),
        };
        let host = HostName::new(host);
        let fits = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        match &host {
            HostName::Name(name) if name.is_empty() || !name.chars().all(fits) => Err(wrong()),
            _ => Ok(Self { host, port }),
        }
    }
}

impl fmt::Display for HostGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.host, self.port) {
            (HostName::Address(IpAddr::V6(address)), Some(port)) => write!(f, "[{address}]:{port}"),
            (HostName::Address(address), Some(port)) => write!(f, "{address}:{port}"),
            (HostName::Name(name), Some(port)) => write!(f, "{name}:{port}"),
            (HostName::Address(address), None) => write!(f, "{address}"),
            (HostName::Name(name), None) => f.write_str(name),
        }
    }
}

/// The hosts that may be called; none at first.
#[derive(Clone, Debug, Default)]
pub struct Hosts(Vec<HostGrant>);

impl FromIterator<HostGrant> for Hosts {
    fn from_iter<I: IntoIterator<Item = HostGrant>>(all: I) -> Self {
        Self(all.into_iter().collect())
    }
}

impl Hosts {
    fn has(&self, host: &HostName, port: u16) -> bool {
        self.0.iter().any(|by| by.host == *host && by.port.is_none_or(|only| only == port))
    }

    /// Asks to call an address.
    ///
    /// # Errors
    /// In words: the host was not named, and how it is.
    pub(crate) fn check(&self, uri: &Uri) -> Result<(), String> {
        let host = HostName::new(uri.host().unwrap_or_default());
        let port = port(uri);
        if self.has(&host, port) {
            return Ok(());
        }
        let usual = matches!((uri.scheme_str(), port), (Some("http"), 80) | (Some("https"), 443));
        let kind = match &host {
            HostName::Address(address) if !is_public(*address) => ", which is not a public address",
            _ => "",
        };
        let grant = HostGrant { host: host.clone(), port: (!usual).then_some(port) };
        let host = HostGrant { host, port: None };
        Err(format!("it calls `{host}`{kind}; to allow that, run with --allow-host {grant}"))
    }

    /// Whether a connection may be made to what a host that may be called has resolved to.
    fn permits(&self, host: &HostName, to: SocketAddr) -> bool {
        let address = to.ip().to_canonical();
        is_public(address)
            || self.has(&HostName::Address(address), to.port())
            || (host.is_localhost() && address.is_loopback())
    }

    /// Of what a host has resolved to, what may be connected to.
    ///
    /// # Errors
    /// In words, if nothing is left.
    fn permitted(&self, uri: &Uri, found: &[SocketAddr]) -> Result<Vec<SocketAddr>, NotPermitted> {
        let host = HostName::new(uri.host().unwrap_or_default());
        let left: Vec<_> = found.iter().copied().filter(|to| self.permits(&host, *to)).collect();
        match found.first() {
            Some(refused) if left.is_empty() => {
                let at = refused.ip().to_canonical();
                let host = HostGrant { host, port: None };
                Err(NotPermitted(format!(
                    "`{host}` is at {at}, which is not a public address; to allow that, run with \
                     --allow-host {at}"
                )))
            }
            _ => Ok(left),
        }
    }
}

fn port(uri: &Uri) -> u16 {
    let usual = if uri.scheme_str() == Some("http") { 80 } else { 443 };
    uri.port_u16().unwrap_or(usual)
}

/// Why no connection is made.
#[derive(Debug)]
pub(crate) struct NotPermitted(String);

impl fmt::Display for NotPermitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotPermitted {}

/// Resolves names to addresses that may be connected to.
#[derive(Debug)]
pub(crate) struct CheckedResolver<R = DefaultResolver> {
    pub(crate) hosts: Hosts,
    pub(crate) names: R,
}

impl<R: Resolver> Resolver for CheckedResolver<R> {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let found = self.names.resolve(uri, config, timeout)?;
        // The proxy is the user's own choice. It resolves the names of hosts itself.
        if config.proxy().is_some_and(|proxy| proxy.uri().authority() == uri.authority()) {
            return Ok(found);
        }
        let left = self.hosts.permitted(uri, &found);
        let left = left.map_err(|why| {
            ureq::Error::Io(std::io::Error::new(std::io::ErrorKind::PermissionDenied, why))
        })?;
        let mut all = self.empty();
        left.into_iter().for_each(|to| all.push(to));
        Ok(all)
    }
}

/// Whether an address is one of the public Internet, by the registries of special addresses of IANA:
/// not of this machine, its networks, documentation, or a service that gives out the credentials of
/// machines.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// Blocks of addresses, with the lengths of their prefixes, that are not public.
const SPECIAL_V4: &[([u8; 4], u32)] = &[
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    // Metadata services of most clouds are at 169.254.169.254.
    ([169, 254, 0, 0], 16),
    ([172, 16, 0, 0], 12),
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([192, 88, 99, 0], 24),
    ([192, 168, 0, 0], 16),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    ([224, 0, 0, 0], 4),
    ([240, 0, 0, 0], 4),
    // Public by its number, but a service of the machine's host in Azure.
    ([168, 63, 129, 16], 32),
];

fn is_public_v4(address: Ipv4Addr) -> bool {
    !SPECIAL_V4.iter().any(|(block, length)| {
        let mask = u32::MAX << (32 - length);
        address.to_bits() & mask == Ipv4Addr::from(*block).to_bits()
    })
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let v4 = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match address.segments() {
        // Those that stand for an address of version 4: mapped, translated (RFC 6052), 6to4.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            is_public_v4(v4(high, low))
        }
        [0x2002, high, low, ..] => is_public_v4(v4(high, low)),
        // Protocols (Teredo among them, whose addresses of version 4 are hidden), and documentation.
        [0x2001, 0..0x200, ..] | [0x2001, 0xdb8, ..] | [0x3fff, 0..0x1000, ..] => false,
        // All others that are public begin like this.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests end by panicking")]

    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use ureq::Agent;
    use ureq::unversioned::transport::DefaultConnector;

    fn hosts(all: &[&str]) -> Hosts {
        all.iter().map(|host| host.parse::<HostGrant>().unwrap()).collect()
    }

    #[test]
    fn addresses_are_public_or_not() {
        for public in [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "172.32.0.1",
            "192.167.1.1",
            "223.255.255.255",
            "2606:4700::1111",
            "::ffff:1.1.1.1",
            "64:ff9b::1.1.1.1",
        ] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
        for not in [
            "0.0.0.0",
            "10.255.0.1",
            "100.100.100.200",
            "127.0.0.1",
            "127.255.255.255",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.168.0.1",
            "168.63.129.16",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2001::1",
            "2001:db8::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public(not.parse().unwrap()), "{not}");
        }
    }

    #[test]
    fn hosts_are_named() {
        let named = hosts(&["API.example.com", "shop.example:8443", "::1", "10.1.2.3:80"]);
        let check = |uri: &str| named.check(&uri.parse().unwrap());
        for allowed in [
            "https://api.example.com/a",
            "http://Api.Example.com.:99/",
            "https://shop.example:8443",
            "http://[::1]:5/",
            "http://[0:0::0:1]/",
            "http://10.1.2.3/",
            "http://[::ffff:10.1.2.3]/",
        ] {
            assert_eq!(check(allowed), Ok(()), "{allowed}");
        }
        for (refused, flag) in [
            ("https://example.com/", "--allow-host example.com"),
            ("https://x.api.example.com/", "--allow-host x.api.example.com"),
            ("https://api.example.com@evil.example/", "--allow-host evil.example"),
            ("https://shop.example/", "--allow-host shop.example"),
            ("http://shop.example:8080/", "--allow-host shop.example:8080"),
            ("http://10.1.2.3:81/", "--allow-host 10.1.2.3:81"),
            ("http://[fe80::1]:81/", "--allow-host [fe80::1]:81"),
            ("http://2130706433/", "--allow-host 2130706433"),
        ] {
            let why = check(refused).unwrap_err();
            assert!(why.ends_with(flag), "{refused}: {why}");
            // What a message proposes works.
            let proposed = flag.split(' ').next_back().unwrap();
            assert_eq!(hosts(&[proposed]).check(&refused.parse().unwrap()), Ok(()));
        }
        for wrong in
            ["", "*", "https://a.example", "a.example/x", "a:b", "a:99999", "a b", ":80", "[::1"]
        {
            assert!(wrong.parse::<HostGrant>().is_err(), "{wrong}");
        }
    }

    /// Names that are elsewhere each time they are asked for.
    #[derive(Debug)]
    struct Rebinding(Vec<SocketAddr>, AtomicUsize);

    impl Resolver for Rebinding {
        fn resolve(
            &self,
            _: &Uri,
            _: &Config,
            _: NextTimeout,
        ) -> Result<ResolvedSocketAddrs, ureq::Error> {
            let mut all = self.empty();
            let asked = self.1.fetch_add(1, Ordering::Relaxed);
            self.0.iter().cycle().nth(asked).into_iter().for_each(|to| all.push(*to));
            Ok(all)
        }
    }

    #[test]
    fn names_that_resolve_to_this_machine_are_not_connected_to() {
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let at = server.local_addr().unwrap();
        let ask = |named: &[&str]| {
            let names = Rebinding(vec![at], AtomicUsize::default());
            let resolver = CheckedResolver { hosts: hosts(named), names };
            let config = Agent::config_builder()
                .proxy(None)
                .timeout_global(Some(std::time::Duration::from_millis(300)))
                .build();
            let agent = Agent::with_parts(config, DefaultConnector::default(), resolver);
            agent.get("http://rebound.example/").call().unwrap_err()
        };
        let refused = ask(&["rebound.example"]);
        assert!(
            refused.to_string().ends_with(
                "`rebound.example` is at 127.0.0.1, which is not a public address; to allow that, run \
                 with --allow-host 127.0.0.1"
            ),
            "{refused}"
        );
        server.set_nonblocking(true).unwrap();
        assert!(server.accept().is_err(), "it was connected to");
        // Nobody answers, but the connection is made.
        let late = ask(&["rebound.example", "127.0.0.1"]);
        assert!(matches!(late, ureq::Error::Timeout(_)), "{late}");
        assert!(server.accept().is_ok());
    }

    #[test]
    fn what_is_checked_is_connected_to() {
        // Public at first, this machine when it is asked for again.
        let names = Rebinding(
            vec!["192.0.2.1:9".parse().unwrap(), "127.0.0.1:9".parse().unwrap()],
            AtomicUsize::default(),
        );
        let uri: Uri = "http://rebound.example:9/".parse().unwrap();
        let named = hosts(&["rebound.example", "192.0.2.1"]);
        let found = named
            .permitted(&uri, &["127.0.0.1:9".parse().unwrap(), "192.0.2.1:9".parse().unwrap()]);
        assert_eq!(found.unwrap(), ["192.0.2.1:9".parse().unwrap()]);
        let resolver = CheckedResolver { hosts: named, names };
        let config = Agent::config_builder()
            .proxy(None)
            .timeout_global(Some(std::time::Duration::from_millis(200)))
            .build();
        let agent = Agent::with_parts(config, DefaultConnector::default(), resolver);
        // One question for each call.
        let first = agent.get(&uri).call().unwrap_err().to_string();
        assert!(!first.contains("not a public address"), "{first}");
        let second = agent.get(&uri).call().unwrap_err().to_string();
        assert!(second.contains("is at 127.0.0.1, which is not a public address"), "{second}");
    }
}
