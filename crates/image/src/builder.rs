//! Making an image.

use std::collections::BTreeMap;

use crate::{EntryKind, ALIGNMENT, HEADER, KINDS, MAGIC};

/// Collects what goes into an image. The same contents give the same bytes, in whatever order they
/// are added.
#[derive(Default)]
pub struct Builder {
    notes: BTreeMap<String, String>,
    files: BTreeMap<String, (EntryKind, Vec<u8>)>,
}

impl Builder {
    pub fn note(&mut self, key: &str, value: &str) {
        self.notes.insert(key.into(), value.into());
    }
    /// Adds a file; `path` is relative, without `.` and `..`. One that is already there is replaced.
    pub fn file(&mut self, path: &str, kind: EntryKind, bytes: Vec<u8>) {
        self.files.insert(path.into(), (kind, bytes));
    }
    pub fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }
    /// The paths and the contents of the files, in order.
    pub fn contents(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().map(|(path, (_, bytes))| (path.as_str(), bytes.as_slice()))
    }
    /// The paths and the sizes of the files, in order.
    pub fn files(&self) -> impl Iterator<Item = (&str, usize)> {
        self.files.iter().map(|(path, (_, bytes))| (path.as_str(), bytes.len()))
    }

    /// The image, for an executable whose constant segments have this checksum.
    pub fn finish(&self, program_crc: u32) -> Vec<u8> {
        let mut out = vec![0; HEADER];
        let mut index = Vec::new();
        index.extend((self.notes.len() as u32).to_le_bytes());
        index.extend((self.files.len() as u32).to_le_bytes());
        for (key, value) in &self.notes {
            index.extend((key.len() as u16).to_le_bytes());
            index.extend((value.len() as u32).to_le_bytes());
            index.extend(key.as_bytes());
            index.extend(value.as_bytes());
        }
        for (path, (kind, bytes)) in &self.files {
            out.resize(out.len().next_multiple_of(ALIGNMENT), 0);
            let kind = KINDS.iter().position(|k| k == kind).unwrap_or(0) as u16;
            index.extend((path.len() as u16).to_le_bytes());
            index.extend(kind.to_le_bytes());
            index.extend((out.len() as u64).to_le_bytes());
            index.extend((bytes.len() as u64).to_le_bytes());
            index.extend(path.as_bytes());
            out.extend(bytes);
        }
        let at = out.len() as u64;
        out.extend(index);
        let (length, crc) = (out.len() as u64, crc32fast::hash(&out[HEADER..]));
        out[..16].copy_from_slice(MAGIC);
        out[16..24].copy_from_slice(&length.to_le_bytes());
        out[24..32].copy_from_slice(&at.to_le_bytes());
        out[32..36].copy_from_slice(&crc.to_le_bytes());
        out[36..40].copy_from_slice(&program_crc.to_le_bytes());
        out
    }
}
