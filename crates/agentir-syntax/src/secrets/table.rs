//! The formats of secrets documented by their issuers, and the names commonly given to others.

/// The characters of a secret after its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alphabet {
    /// Letters and digits.
    Alnum,
    /// Capitals and digits.
    Upper,
    /// Hexadecimal digits in lower case.
    Hex,
    /// Letters, digits, `_`, `-`.
    Url,
    /// [`Self::Url`] and `.`.
    Dotted,
    /// [`Self::Url`], `/`, `+`, `=`.
    Base64,
}

impl Alphabet {
    pub(super) const fn has(self, c: u8) -> bool {
        match self {
            Self::Alnum => c.is_ascii_alphanumeric(),
            Self::Upper => c.is_ascii_uppercase() || c.is_ascii_digit(),
            Self::Hex => c.is_ascii_digit() || matches!(c, b'a'..=b'f'),
            Self::Url => c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-'),
            Self::Dotted => Self::Url.has(c) || c == b'.',
            Self::Base64 => Self::Url.has(c) || matches!(c, b'/' | b'+' | b'='),
        }
    }
}

/// The format of a secret with a known prefix.
#[derive(Debug)]
pub(super) struct Form {
    /// The prefix.
    pub(super) prefix: &'static str,
    /// The characters that follow.
    pub(super) alphabet: Alphabet,
    /// The minimum number of them.
    pub(super) least: usize,
    /// The maximum number of them.
    pub(super) most: usize,
    /// A description with article.
    pub(super) what: &'static str,
}

const fn form(
    prefix: &'static str,
    alphabet: Alphabet,
    (least, most): (usize, usize),
    what: &'static str,
) -> Form {
    Form { prefix, alphabet, least, most, what }
}

const ANY: usize = 4096;

use Alphabet::{Alnum, Base64, Dotted, Hex, Upper, Url};

/// The formats from the issuers' documentation. Longer prefixes come before their own prefixes.
pub(super) const FORMS: &[Form] = &[
    form("AKIA", Upper, (16, 16), "an AWS access key"),
    form("ASIA", Upper, (16, 16), "an AWS access key"),
    form("AIza", Url, (35, 35), "a Google API key"),
    form("GOCSPX-", Url, (28, 28), "a Google client secret"),
    form("ya29.", Url, (40, ANY), "a Google access token"),
    form("github_pat_", Url, (60, 100), "a GitHub token"),
    form("ghp_", Alnum, (36, 255), "a GitHub token"),
    form("gho_", Alnum, (36, 255), "a GitHub token"),
    form("ghu_", Alnum, (36, 255), "a GitHub token"),
    form("ghs_", Alnum, (36, 255), "a GitHub token"),
    form("ghr_", Alnum, (36, 255), "a GitHub token"),
    form("glpat-", Url, (20, 64), "a GitLab token"),
    form("xoxb-", Url, (24, 255), "a Slack token"),
    form("xoxp-", Url, (24, 255), "a Slack token"),
    form("xoxa-", Url, (24, 255), "a Slack token"),
    form("xoxr-", Url, (24, 255), "a Slack token"),
    form("xapp-", Url, (24, 255), "a Slack token"),
    form("https://hooks.slack.com/services/T", Base64, (30, 80), "the address of a Slack webhook"),
    form("sk_live_", Alnum, (24, 255), "a Stripe secret key"),
    form("sk_test_", Alnum, (24, 255), "a Stripe secret key"),
    form("rk_live_", Alnum, (24, 255), "a Stripe restricted key"),
    form("sk-ant-", Url, (40, 255), "an Anthropic API key"),
    form("sk-proj-", Url, (40, 255), "an OpenAI API key"),
    form("sk-svcacct-", Url, (40, 255), "an OpenAI API key"),
    form("sk-", Alnum, (40, 64), "an OpenAI API key"),
    form("gsk_", Alnum, (48, 64), "a Groq API key"),
    form("hf_", Alnum, (34, 40), "a Hugging Face token"),
    form("SG.", Dotted, (60, 80), "a SendGrid API key"),
    form("SK", Hex, (32, 32), "a Twilio API key"),
    form("key-", Hex, (32, 32), "a Mailgun API key"),
    form("npm_", Alnum, (36, 36), "an npm token"),
    form("pypi-AgEI", Url, (50, ANY), "a PyPI token"),
    form("shpat_", Hex, (32, 32), "a Shopify access token"),
    form("shpss_", Hex, (32, 32), "a Shopify shared secret"),
    form("dop_v1_", Hex, (64, 64), "a DigitalOcean token"),
    form("dapi", Hex, (32, 32), "a Databricks token"),
    form("sq0atp-", Url, (22, 22), "a Square access token"),
    form("sq0csp-", Url, (43, 43), "a Square client secret"),
    form("pk.eyJ", Dotted, (60, 255), "a Mapbox token"),
    form("sk.eyJ", Dotted, (60, 255), "a Mapbox secret token"),
    form("eyJhbGciOi", Dotted, (40, ANY), "a signed web token (JWT)"),
    form("lin_api_", Alnum, (40, 40), "a Linear API key"),
    form("ATATT3x", Base64, (100, 255), "an Atlassian API token"),
];

/// Suffixes of names whose values are secrets, normalised to lower case without `_` and `-`.
pub(super) const KEYS: &[&str] = &[
    "apikey",
    "secret",
    "secretkey",
    "token",
    "privatekey",
    "accesskey",
    "credential",
    "signingkey",
];

/// Suffixes of names whose values are chosen by people.
pub(super) const PASSWORDS: &[&str] = &["password", "passwd", "passphrase", "pwd"];

/// Words that mark a value as a placeholder.
pub(super) const PLACEHOLDERS: &[&str] = &[
    "example",
    "sample",
    "placeholder",
    "changeme",
    "change-me",
    "change_me",
    "change_this",
    "replace",
    "redacted",
    "dummy",
    "your",
    "insert",
    "xxx",
    "***",
    "...",
    "secrets.",
    "config.",
    "env.",
    "environ",
];
