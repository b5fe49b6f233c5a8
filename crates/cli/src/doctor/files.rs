//! The files below a folder, and reading them: whatever they are, without waiting for one.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use kvik_env::fs::{self, DirEntry, File, MetadataExt};

use super::Report;

/// A folder and the files below it, sorted.
pub struct Files {
    pub dir: PathBuf,
    found: Vec<PathBuf>,
    unreadable: Vec<(PathBuf, io::Error)>,
    /// Links to folders. They are followed after all else, so that a file is shown where it lies.
    links: Vec<PathBuf>,
}

impl Files {
    /// Links are followed, as build tools make them for `priv`: each folder once, and none that
    /// holds `dir` itself.
    pub fn below(dir: &Path) -> Files {
        let (found, unreadable, links) = Default::default();
        let mut files = Files { dir: dir.to_path_buf(), found, unreadable, links };
        let real = fs::canonicalize(dir).unwrap_or_default();
        let leads_out = |link: &Path| fs::canonicalize(link).is_ok_and(|to| real.starts_with(to));
        let (mut seen, mut folders) = (HashSet::new(), vec![dir.to_path_buf()]);
        while let Some(folder) = folders.pop().or_else(|| files.links.pop()) {
            if folder != dir && leads_out(&folder) {
                continue;
            }
            match fs::metadata(&folder).and_then(|m| Ok((m, fs::read_dir(&folder)?))) {
                Ok((m, entries)) if seen.insert((m.dev(), m.ino())) => {
                    entries.flatten().for_each(|entry| files.add(&entry, &mut folders));
                }
                Ok(_) => {}
                Err(e) => files.unreadable.push((folder, e)),
            }
        }
        files.found.sort();
        files
    }

    fn add(&mut self, entry: &DirEntry, folders: &mut Vec<PathBuf>) {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => folders.push(path),
            Ok(kind) if kind.is_symlink() && fs::is_dir(&path) => self.links.push(path),
            _ => self.found.push(path),
        }
    }

    pub fn with_extension<'a>(&'a self, extension: &'a str) -> impl Iterator<Item = &'a Path> {
        let has = move |p: &&Path| p.extension() == Some(OsStr::new(extension));
        self.found.iter().map(PathBuf::as_path).filter(has)
    }

    /// A path as it is shown: below the folder that was named.
    pub fn shown(&self, file: &Path) -> String {
        file.strip_prefix(&self.dir).unwrap_or(file).display().to_string()
    }

    /// Folders that cannot be read: nothing is known about what they hold.
    pub fn tell_unreadable(&self, report: &mut Report) {
        for (folder, why) in &self.unreadable {
            report.fault("", format_args!("{} cannot be read: {why}", folder.display()));
        }
    }
}

/// Opens a file unless it is something else (to open a FIFO would wait for its writer) or larger
/// than that many megabytes.
pub fn open(path: &Path, max_megabytes: u64) -> Result<File, String> {
    let metadata = fs::metadata(path).map_err(|e| e.to_string())?;
    if !metadata.is_file() {
        return Err("it is not a regular file".to_string());
    }
    if metadata.len() >> 20 >= max_megabytes {
        return Err(format!("it has more than {max_megabytes} MB"));
    }
    File::open(path).map_err(|e| e.to_string())
}
