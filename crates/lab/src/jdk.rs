//! Java development kits: finds the newest installed one.

use crate::peers::on_path;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq)]
pub struct Jdk {
    pub home: PathBuf,
    pub version: Vec<u32>,
}

impl Jdk {
    pub fn compiler(&self) -> PathBuf {
        self.home.join("bin/javac")
    }
    pub fn has_virtual(&self) -> bool {
        self.version.first().is_some_and(|major| *major >= 21)
    }
}

/// Checks `$JAVA_HOME`, the `javac` on the path, and the locations that distributions use.
pub fn newest() -> Option<Jdk> {
    let named = std::env::var_os("JAVA_HOME").map(PathBuf::from);
    let on_path = on_path("javac").and_then(|p| home_of(&p));
    let installed = std::fs::read_dir("/usr/lib/jvm").into_iter().flatten();
    let installed = installed.filter_map(|e| Some(e.ok()?.path()));
    let homes = named.into_iter().chain(on_path).chain(installed);
    homes.filter_map(|home| look(&home)).max_by(|a, b| a.version.cmp(&b.version))
}

fn home_of(compiler: &Path) -> Option<PathBuf> {
    Some(compiler.canonicalize().ok()?.parent()?.parent()?.to_path_buf())
}

fn look(home: &Path) -> Option<Jdk> {
    let jdk = Jdk {
        home: home.to_path_buf(),
        version: version(&std::fs::read_to_string(home.join("release")).ok()?)?,
    };
    (jdk.compiler().is_file() && home.join("bin/java").is_file()).then_some(jdk)
}

/// The version in `JAVA_VERSION="17.0.15"` of the file `release`; before 9 it was 1.8 and so on.
fn version(release: &str) -> Option<Vec<u32>> {
    let text = release.lines().find_map(|l| l.strip_prefix("JAVA_VERSION="))?.trim_matches('"');
    let number = |part: &str| part.split(['-', '+', '_']).next().and_then(|p| p.parse().ok());
    let mut parts: Vec<u32> = text.split('.').map_while(number).collect();
    if parts.first() == Some(&1) {
        parts.remove(0);
    }
    (!parts.is_empty()).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_versions() {
        let of = |v: &str| version(&format!("IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"{v}\"\n"));
        assert_eq!(of("17.0.15"), Some(vec![17, 0, 15]));
        assert_eq!(of("1.8.0_402"), Some(vec![8, 0]));
        assert_eq!(of("26-ea"), Some(vec![26]));
        assert!(of("25.0.3") > of("21.0.1"));
        assert_eq!(version("nothing"), None);
    }

    #[test]
    fn virtual_threads_came_with_21() {
        let jdk = |major| Jdk { home: PathBuf::new(), version: vec![major, 0] };
        assert!(jdk(21).has_virtual() && !jdk(17).has_virtual());
    }
}
