//! URIs and paths.

use agentir::vfs::normalized;
use gen_lsp_types::Uri;
use std::path::{Path, PathBuf};
use url::Url;

/// The path of a file, if a URI is that of one.
pub(crate) fn path_of(uri: &Uri) -> Option<PathBuf> {
    let url = Url::parse(&uri.0).ok().filter(|url| url.scheme() == "file" && url.path() != "/")?;
    url.to_file_path().ok().map(|path| normalized(&path))
}

/// The URI of a file.
pub(crate) fn uri_of(path: &Path) -> Option<Uri> {
    Url::from_file_path(path).ok().map(|url| Uri(url.into()))
}

/// A path for a document that is not a file, with a name by which its language is known. No two documents share a
/// folder, so that none is a part of another's program.
pub(crate) fn virtual_path(number: usize, uri: &Uri, language: &str) -> PathBuf {
    let name = uri.0.rsplit(['/', '\\', ':']).next().unwrap_or_default();
    let name: String = name
        .chars()
        .map(|c| if c.is_alphanumeric() || "._-".contains(c) { c } else { '_' })
        .collect();
    let ending = ending_of(language).filter(|ending| !name.ends_with(ending));
    let name = match ending.filter(|_| !agentir::is_agent_file(&name, "")) {
        Some(ending) => name + ending,
        None => name,
    };
    let folder = if cfg!(windows) { r"C:\" } else { "/" };
    Path::new(folder).join("agentir-documents").join(number.to_string()).join(name)
}

/// What names of files in a language of an editor end in.
fn ending_of(language: &str) -> Option<&'static str> {
    let mut all = agentir::languages().iter().flat_map(|one| one.editor_names());
    match language {
        "yaml" => Some(".yaml"),
        "json" => Some(".json"),
        "python" => Some(".py"),
        _ => all.find(|(name, _)| *name == language).map(|(_, ending)| *ending),
    }
}

#[cfg(test)]
#[cfg(unix)]
#[allow(clippy::unwrap_used, reason = "tests end by panicking")]
mod tests {
    use super::{path_of, uri_of, virtual_path};
    use gen_lsp_types::Uri;
    use std::path::Path;

    #[test]
    fn paths_have_uris() {
        let path = Path::new("/a b/ä/#x?.agent.abl");
        let uri = uri_of(path).unwrap();
        assert_eq!(uri.0, "file:///a%20b/%C3%A4/%23x%3F.agent.abl");
        assert_eq!(path_of(&uri).unwrap(), path);
        assert_eq!(path_of(&Uri("file:///a/./b/../c".into())).unwrap(), Path::new("/a/c"));
        for none in ["untitled:Untitled-1", "", "x", "file:", "git:/a/b", "file://host/share/x"] {
            assert_eq!(path_of(&Uri(none.into())), None, "{none}");
        }
    }

    #[test]
    fn documents_without_a_file_have_a_name() {
        let of = |uri: &str, language| {
            let path = virtual_path(3, &Uri(uri.into()), language);
            path.to_str().unwrap().to_owned()
        };
        assert_eq!(of("untitled:Untitled-1", "abl"), "/agentir-documents/3/Untitled-1.agent.abl");
        assert_eq!(of("git:/x/../a%20b.agent", "agentscript"), "/agentir-documents/3/a_20b.agent");
        assert_eq!(of("", "yaml"), "/agentir-documents/3/.yaml");
    }
}
