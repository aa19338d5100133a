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
pub(super) struct SecretFormat {
    /// The prefix.
    pub(super) prefix: &'static str,
    /// The characters that follow.
    pub(super) alphabet: Alphabet,
    /// The minimum number of them.
    pub(super) min_len: usize,
    /// The maximum number of them.
    pub(super) max_len: usize,
    /// A description with article.
    pub(super) what: &'static str,
}

const fn format(
    prefix: &'static str,
    alphabet: Alphabet,
    (min_len, max_len): (usize, usize),
    what: &'static str,
) -> SecretFormat {
    SecretFormat { prefix, alphabet, min_len, max_len, what }
}

const UNLIMITED: usize = 4096;

use Alphabet::{Alnum, Base64, Dotted, Hex, Upper, Url};

/// The formats from the issuers' documentation. Longer prefixes come before their own prefixes.
pub(super) const FORMATS: &[SecretFormat] = &[
    format("AKIA", Upper, (16, 16), "an AWS access key"),
    format("ASIA", Upper, (16, 16), "an AWS access key"),
    format("AIza", Url, (35, 35), "a Google API key"),
    format("GOCSPX-", Url, (28, 28), "a Google client secret"),
    format("ya29.", Url, (40, UNLIMITED), "a Google access token"),
    format("github_pat_", Url, (60, 100), "a GitHub token"),
    format("ghp_", Alnum, (36, 255), "a GitHub token"),
    format("gho_", Alnum, (36, 255), "a GitHub token"),
    format("ghu_", Alnum, (36, 255), "a GitHub token"),
    format("ghs_", Alnum, (36, 255), "a GitHub token"),
    format("ghr_", Alnum, (36, 255), "a GitHub token"),
    format("glpat-", Url, (20, 64), "a GitLab token"),
    format("xoxb-", Url, (24, 255), "a Slack token"),
    format("xoxp-", Url, (24, 255), "a Slack token"),
    format("xoxa-", Url, (24, 255), "a Slack token"),
    format("xoxr-", Url, (24, 255), "a Slack token"),
    format("xapp-", Url, (24, 255), "a Slack token"),
    format(
        "https://hooks.slack.com/services/T",
        Base64,
        (30, 80),
        "the address of a Slack webhook",
    ),
    format("sk_live_", Alnum, (24, 255), "a Stripe secret key"),
    format("sk_test_", Alnum, (24, 255), "a Stripe secret key"),
    format("rk_live_", Alnum, (24, 255), "a Stripe restricted key"),
    format("sk-ant-", Url, (20, 255), "an Anthropic API key"),
    format("sk-proj-", Url, (20, 255), "an OpenAI API key"),
    format("sk-svcacct-", Url, (20, 255), "an OpenAI API key"),
    format("sk-", Alnum, (20, 64), "an OpenAI API key"),
    format("gsk_", Alnum, (48, 64), "a Groq API key"),
    format("hf_", Alnum, (34, 40), "a Hugging Face token"),
    format("SG.", Dotted, (60, 80), "a SendGrid API key"),
    format("SK", Hex, (32, 32), "a Twilio API key"),
    format("key-", Hex, (32, 32), "a Mailgun API key"),
    format("npm_", Alnum, (36, 36), "an npm token"),
    format("pypi-AgEI", Url, (50, UNLIMITED), "a PyPI token"),
    format("shpat_", Hex, (32, 32), "a Shopify access token"),
    format("shpss_", Hex, (32, 32), "a Shopify shared secret"),
    format("dop_v1_", Hex, (64, 64), "a DigitalOcean token"),
    format("dapi", Hex, (32, 32), "a Databricks token"),
    format("sq0atp-", Url, (22, 22), "a Square access token"),
    format("sq0csp-", Url, (43, 43), "a Square client secret"),
    format("pk.eyJ", Dotted, (60, 255), "a Mapbox token"),
    format("sk.eyJ", Dotted, (60, 255), "a Mapbox secret token"),
    format("eyJhbGciOi", Dotted, (40, UNLIMITED), "a signed web token (JWT)"),
    format("lin_api_", Alnum, (40, 40), "a Linear API key"),
    format("ATATT3x", Base64, (100, 255), "an Atlassian API token"),
];

/// Suffixes of names whose values are secrets, normalised to lower case without `_` and `-`.
pub(super) const SECRET_NAMES: &[&str] = &[
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

/// Suffixes of further names whose values are not shown: in connection strings and addresses.
pub(super) const LIKELY_NAMES: &[&str] =
    &["accountkey", "sharedaccesskey", "sig", "signature", "pass", "passcode", "appid", "appkey"];

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

/// Names of parameters in addresses whose values are credentials, beside those that say so everywhere.
pub(super) const ADDRESS_KEYS: &[&str] = &[
    "appid",
    "app_id",
    "app_key",
    "appkey",
    "key",
    "apikey",
    "api_key",
    "api-key",
    "x-api-key",
    "subscription-key",
    "token",
    "auth",
    "auth_token",
    "sig",
    "signature",
    "code",
    "sas",
];
