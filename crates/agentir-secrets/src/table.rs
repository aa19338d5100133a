//! The formats of secrets documented by their issuers, and the names commonly given to others.

/// The characters of a secret after its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alphabet {
    /// Letters and digits.
    Alnum,
    /// Capitals and digits.
    Upper,
    /// Digits.
    Digits,
    /// Hexadecimal digits in lower case.
    Hex,
    /// Letters, digits, `_`, `-`.
    Url,
    /// [`Self::Url`] and `.`.
    Dotted,
    /// [`Self::Dotted`] and `~`.
    Entra,
    /// [`Self::Url`], `/`, `+`, `=`.
    Base64,
}

impl Alphabet {
    pub(super) const fn has(self, c: u8) -> bool {
        match self {
            Self::Alnum => c.is_ascii_alphanumeric(),
            Self::Upper => c.is_ascii_uppercase() || c.is_ascii_digit(),
            Self::Digits => c.is_ascii_digit(),
            Self::Hex => c.is_ascii_digit() || matches!(c, b'a'..=b'f'),
            Self::Url => c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-'),
            Self::Dotted => Self::Url.has(c) || c == b'.',
            Self::Entra => Self::Dotted.has(c) || c == b'~',
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

use Alphabet::{Alnum, Base64, Digits, Dotted, Entra, Hex, Upper, Url};

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
    format("glpat-", Dotted, (20, 128), "a GitLab token"),
    format("glrt-", Dotted, (20, 128), "a GitLab runner token"),
    format("gldt-", Dotted, (20, 128), "a GitLab deploy token"),
    format("glptt-", Dotted, (20, 128), "a GitLab trigger token"),
    format("glcbt-", Dotted, (20, 128), "a GitLab job token"),
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
    format("sk-lf-", Url, (36, 36), "a Langfuse secret key"),
    format("sk-or-v1-", Alnum, (24, 128), "an OpenRouter API key"),
    format("sk-ant-", Url, (20, 255), "an Anthropic API key"),
    format("sk-proj-", Url, (20, 255), "an OpenAI API key"),
    format("sk-svcacct-", Url, (20, 255), "an OpenAI API key"),
    format("sk-", Alnum, (20, 64), "an OpenAI API key"),
    format("gsk_", Alnum, (48, 64), "a Groq API key"),
    format("hf_", Alnum, (34, 40), "a Hugging Face token"),
    format("xai-", Alnum, (24, 128), "an xAI API key"),
    format("pplx-", Alnum, (24, 128), "a Perplexity API key"),
    format("r8_", Alnum, (24, 64), "a Replicate API token"),
    format("nvapi-", Url, (40, 128), "an NVIDIA API key"),
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
    format("eyJ0eXAiOi", Dotted, (40, UNLIMITED), "a signed web token (JWT)"),
    format("eyJraWQiOi", Dotted, (40, UNLIMITED), "a signed web token (JWT)"),
    format("lin_api_", Alnum, (40, 40), "a Linear API key"),
    format("ATATT3x", Base64, (24, 512), "an Atlassian API token"),
    format("ATCTT3x", Base64, (24, 512), "an Atlassian API token"),
    format("hvs.", Url, (24, 255), "a Vault token"),
    format("hvb.", Url, (24, 512), "a Vault token"),
    format("dckr_pat_", Url, (20, 64), "a Docker token"),
    format("dckr_oat_", Url, (20, 64), "a Docker token"),
    format("NRAK-", Upper, (27, 27), "a New Relic API key"),
    format("AGE-SECRET-KEY-1", Upper, (58, 58), "a private key of age"),
    format("tskey-", Url, (20, 255), "a Tailscale key"),
    format("whsec_", Base64, (24, 128), "the secret of a webhook"),
    format("sbp_", Alnum, (32, 64), "a Supabase token"),
    format("glsa_", Url, (41, 41), "a Grafana token"),
    format("glc_", Base64, (60, 512), "a Grafana token"),
    format("secret_", Alnum, (43, 43), "a Notion token"),
    format("ntn_", Alnum, (40, 64), "a Notion token"),
    format("PMAK-", Url, (59, 59), "a Postman API key"),
    format("dt0c01.", Dotted, (88, 96), "a Dynatrace token"),
    format("figd_", Url, (40, 64), "a Figma token"),
    format("5Aep861", Dotted, (60, 160), "a Salesforce refresh token"),
    format("dp.pt.", Alnum, (40, 44), "a Doppler token"),
    format("dp.st.", Dotted, (40, 96), "a Doppler token"),
    format("pscale_tkn_", Dotted, (32, 64), "a PlanetScale token"),
    format("pscale_pw_", Dotted, (32, 64), "a PlanetScale password"),
    format("pscale_oauth_", Dotted, (32, 64), "a PlanetScale token"),
    format("pat-na1-", Url, (36, 36), "a HubSpot token"),
    format("pat-eu1-", Url, (36, 36), "a HubSpot token"),
    format("sntrys_", Base64, (60, 512), "a Sentry token"),
    format("sntryu_", Hex, (64, 64), "a Sentry token"),
    format("xkeysib-", Url, (64, 96), "a Brevo API key"),
    format("rubygems_", Hex, (48, 48), "a RubyGems API key"),
    format("CFPAT-", Url, (43, 43), "a Contentful token"),
    format("pul-", Hex, (40, 40), "a Pulumi token"),
    format("lsv2_pt_", Url, (40, 64), "a LangSmith API key"),
    format("lsv2_sk_", Url, (40, 64), "a LangSmith API key"),
    format("fo1_", Url, (43, 43), "a Fly token"),
    format("fm2_", Base64, (60, UNLIMITED), "a Fly token"),
    format("ATBB", Alnum, (28, 64), "a Bitbucket app password"),
    format("AKCp", Alnum, (60, 80), "an Artifactory API key"),
    format("cmVmdGtu", Alnum, (56, 64), "an Artifactory token"),
    format("HRKU-", Url, (36, 64), "a Heroku API key"),
    format("sb_secret_", Url, (24, 64), "a Supabase secret key"),
    format("CCIPAT_", Url, (40, 80), "a CircleCI token"),
    format("CCIPRJ_", Url, (40, 80), "a CircleCI token"),
    format("bkua_", Hex, (40, 40), "a Buildkite token"),
    format("sgp_", Url, (40, 64), "a Sourcegraph token"),
    format("snyk_uat.", Dotted, (40, 128), "a Snyk token"),
    format("tvly-", Url, (24, 64), "a Tavily API key"),
    format("pcsk_", Url, (50, 100), "a Pinecone API key"),
    format("sk_", Hex, (48, 48), "an ElevenLabs API key"),
    format("LTAI", Alnum, (16, 24), "an Alibaba Cloud access key"),
    format("AKID", Alnum, (32, 36), "a Tencent Cloud secret"),
    format("shippo_live_", Hex, (40, 40), "a Shippo token"),
    format("shippo_test_", Hex, (40, 40), "a Shippo token"),
    format("rzp_live_", Alnum, (14, 14), "a Razorpay key"),
    format("rzp_test_", Alnum, (14, 14), "a Razorpay key"),
    format("EZAK", Alnum, (54, 54), "an EasyPost API key"),
    format("EZTK", Alnum, (54, 54), "an EasyPost API key"),
    format("EAAAE", Url, (55, 64), "a Square access token"),
    format("EAA", Alnum, (90, UNLIMITED), "a Facebook access token"),
    format("tfp_", Url, (40, 64), "a Typeform token"),
    format("pnu_", Alnum, (36, 36), "a Prefect API key"),
    format("pnb_", Alnum, (36, 36), "a Prefect API key"),
    format("vcp_", Alnum, (24, 64), "a Vercel token"),
    format("1//0", Url, (40, 256), "a Google refresh token"),
    format("sl.B", Url, (60, UNLIMITED), "a Dropbox token"),
    format("sl.u.", Url, (60, UNLIMITED), "a Dropbox token"),
    format("rdme_", Alnum, (60, 80), "a ReadMe API key"),
    format("p8e-", Alnum, (32, 32), "an Adobe client secret"),
    format("FLWSECK-", Url, (32, 40), "a Flutterwave secret key"),
    format("FLWSECK_TEST-", Url, (32, 40), "a Flutterwave secret key"),
    format("ico-", Alnum, (32, 32), "an Infracost API key"),
    format("dG9rO", Base64, (51, 64), "an Intercom token"),
    format("ops_eyJ", Base64, (100, UNLIMITED), "a 1Password token"),
];

/// A part of a form.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
    /// This text.
    Text(&'static str),
    /// Between as few and as many characters.
    Run(Alphabet, usize, usize),
}

/// A form that no prefix tells from other words: what it is made of, and its description with article.
pub(super) type Form = (&'static [Part], &'static str);

use Part::{Run, Text};

/// Such forms, from the issuers' documentation.
pub(super) const FORMS: &[Form] = &[
    (&[Run(Entra, 4, 4), Text("Q~"), Run(Entra, 31, 40)], "a client secret of Microsoft Entra ID"),
    (&[Run(Alnum, 14, 14), Text(".atlasv1."), Run(Url, 60, 72)], "a Terraform token"),
    (&[Text("pat"), Run(Alnum, 14, 14), Text("."), Run(Hex, 64, 64)], "an Airtable token"),
    (&[Text("re_"), Run(Alnum, 8, 8), Text("_"), Run(Alnum, 20, 32)], "a Resend API key"),
    (&[Text("oauth:"), Run(Alnum, 30, 30)], "a Twitch token"),
    (&[Run(Hex, 32, 32), Text("-us"), Run(Digits, 1, 2)], "a Mailchimp API key"),
];

/// A service whose addresses are secrets: whoever knows one may post to it.
#[derive(Debug)]
pub(super) struct Webhook {
    /// The host, or the end of it after a dot.
    pub(super) host: &'static str,
    /// The start of the path. The secret follows.
    pub(super) path: &'static str,
    /// A description with article.
    pub(super) what: &'static str,
}

const fn webhook(host: &'static str, path: &'static str, what: &'static str) -> Webhook {
    Webhook { host, path, what }
}

/// The addresses from the services' documentation.
pub(super) const WEBHOOKS: &[Webhook] = &[
    webhook("discord.com", "/api/webhooks/", "the address of a Discord webhook"),
    webhook("discordapp.com", "/api/webhooks/", "the address of a Discord webhook"),
    webhook("webhook.office.com", "/webhookb2/", "the address of a Teams webhook"),
    webhook("webhook.office.com", "/webhook/", "the address of a Teams webhook"),
    webhook("outlook.office.com", "/webhook/", "the address of a Teams webhook"),
    webhook("hooks.slack.com", "/workflows/", "the address of a Slack webhook"),
    webhook("hooks.slack.com", "/triggers/", "the address of a Slack webhook"),
    webhook("hooks.zapier.com", "/hooks/catch/", "the address of a Zapier webhook"),
];

/// How the first part of a Discord bot token begins: it is the Base64 form of a decimal number.
pub(super) const DISCORD_STARTS: [&[u8]; 2] = [b"MNO", b"DTjz"];

/// The lengths of the parts of a Discord bot token, which dots separate: the number of the bot, a time, and a signature.
pub(super) const DISCORD_PARTS: [(usize, usize); 3] = [(23, 28), (6, 7), (27, 45)];

/// Telegram bot tokens: the number of digits before the colon, what follows it, and the length of all that follows it.
pub(super) const TELEGRAM: ((usize, usize), &[u8], usize) = ((8, 10), b"AA", 35);

/// Sessions of Salesforce: how the organisation begins, its lengths, and the minimum length of what follows `!`.
pub(super) const SALESFORCE: (&str, [usize; 2], usize) = ("00D", [15, 18], 40);

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
pub(super) const PASSWORDS: &[&str] = &["password", "passwd", "passphrase", "pwd", "pw"];

/// What tells names of secrets from each other, behind their suffix, beside numbers: what they are for.
pub(super) const STAGES: &[&str] =
    &["prod", "production", "live", "stage", "staging", "test", "testing", "dev", "development"];

/// Words that end like names of secrets.
pub(super) const WORDS_LIKE_NAMES: &[&str] =
    &["bypass", "compass", "surpass", "trespass", "overpass", "underpass"];

/// The name whose values are not shown if they are texts or generated: as a keyword of ABL, `PASS`, it is followed by names.
pub(super) const PASS: &str = "pass";

/// Headers of private keys (RFC 9580, section 6.2.2; RFC 1421, section 4.6).
pub(super) const KEY_HEADERS: &[&str] =
    &["Version", "Comment", "MessageID", "Hash", "Charset", "Proc-Type", "DEK-Info"];

/// Suffixes of further names whose values are not shown: in connection strings and addresses.
pub(super) const LIKELY_NAMES: &[&str] = &[
    "accountkey",
    "sharedaccesskey",
    "subscriptionkey",
    "functionskey",
    "authkey",
    "masterkey",
    "encryptionkey",
    "sig",
    "signature",
    PASS,
    "passcode",
    "appkey",
    // Rails
    "secretkeybase",
];

/// The last word of names of personal access tokens: `AZDO_PAT`. Behind other letters it is a part of a word.
pub(super) const ACCESS_TOKEN: &str = "pat";

/// Words for passwords in other languages, behind which a value is not shown either. Case counts beyond ASCII.
pub(super) const FOREIGN_PASSWORDS: &[&str] = &[
    // German
    "passwort",
    "kennwort",
    "losungswort",
    // French
    "mot de passe",
    "mot_de_passe",
    "mot-de-passe",
    "motdepasse",
    // Spanish
    "contraseña",
    "CONTRASEÑA",
    "contrasena",
    // Portuguese
    "senha",
    "palavra-passe",
    // Italian
    "parola d'ordine",
    // Dutch
    "wachtwoord",
    // Swedish, Danish, Norwegian, Finnish, Icelandic
    "lösenord",
    "LÖSENORD",
    "losenord",
    "adgangskode",
    "passord",
    "salasana",
    "lykilorð",
    // Polish, Czech, Slovak, Hungarian, Romanian, Croatian
    "hasło",
    "HASŁO",
    "heslo",
    "jelszó",
    "jelszo",
    "parolă",
    "parola",
    "lozinka",
    // Turkish
    "şifre",
    "Şifre",
    "sifre",
    // Indonesian, Vietnamese
    "kata sandi",
    "mật khẩu",
    "Mật khẩu",
    // Russian, Ukrainian, Greek
    "пароль",
    "Пароль",
    "ПАРОЛЬ",
    "κωδικός",
    "Κωδικός",
    // Chinese, Japanese, Korean
    "密码",
    "密碼",
    "パスワード",
    "비밀번호",
    // Arabic, Hebrew, Hindi
    "كلمة المرور",
    "סיסמה",
    "पासवर्ड",
];

/// The header whose value is a scheme and a secret, or a secret.
pub(super) const AUTHORIZATION: &str = "authorization";

/// The schemes that the header is used with, in lower case (the registry of IANA, and those of well-known services).
/// Schemes do not distinguish case (RFC 9110, section 11.1).
pub(super) const AUTH_SCHEMES: &[&str] = &[
    "bearer",
    "basic",
    "token",
    "apikey",
    "api-key",
    "key",
    "secret",
    "digest",
    "negotiate",
    "ntlm",
    "oauth",
    "jwt",
    "bot",
    "geniekey",
    "sso-key",
    "splunk",
    "dpop",
    "hawk",
    "gnap",
    "hoba",
    "mutual",
    "privatetoken",
    "scram-sha-1",
    "scram-sha-256",
    "vapid",
    "aws4-hmac-sha256",
    "sharedkey",
    "sharedaccesssignature",
    "klaviyo-api-key",
];

/// The suffix of the headers whose value is pairs of names and secrets.
pub(super) const COOKIE: &str = "cookie";

/// Attributes of cookies, which are no secrets (RFC 6265, section 4.1.1).
pub(super) const COOKIE_ATTRIBUTES: &[&str] = &[
    "path", "domain", "expires", "max-age", "samesite", "priority", "version", "secure", "httponly",
];

/// Suffixes of other headers with secrets, normalised: their names are words with hyphens between them.
pub(super) const KEY_HEADER_ENDS: &[&str] = &["key", "token", "secret", "auth", "signature"];

/// What headers with secrets are said to be, where it is not what they contain: kinds, types and the like.
pub(super) const NO_CREDENTIALS: &[&str] = &[
    "none",
    "null",
    "true",
    "false",
    "undefined",
    "required",
    "optional",
    "string",
    "header",
    "cookie",
    "query",
    "body",
    "default",
    "inherit",
    "enabled",
    "disabled",
    "public",
    "private",
    "session",
    "oauth2",
    "authorization",
    "authentication",
    "forwarded",
    "credentials",
];

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
