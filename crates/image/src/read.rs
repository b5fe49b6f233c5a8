//! Reading an image.

use std::fmt;

use crate::{EntryKind, HEADER, KINDS, MAGIC};

/// An image in memory.
pub struct Image<'a> {
    notes: Vec<(&'a str, &'a str)>,
    /// Sorted by path.
    entries: Vec<ImageFile<'a>>,
}

/// A file of an image.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ImageFile<'a> {
    pub path: &'a str,
    pub kind: EntryKind,
    pub bytes: &'a [u8],
}

/// What a path names.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Node<'a> {
    /// With the number of its entry.
    File(usize, ImageFile<'a>),
    Directory,
    /// Something below a file.
    BelowFile,
    Nothing,
}

/// Why something is not an image.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ImageFault {
    Cut,
    Damaged,
}
impl fmt::Display for ImageFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ImageFault::Cut => "this file is truncated",
            ImageFault::Damaged => "this file is damaged",
        })
    }
}

/// Takes bytes off the front.
struct Reader<'a>(&'a [u8]);
impl<'a> Reader<'a> {
    fn bytes(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(head)
    }
    fn number(&mut self, n: usize) -> Option<usize> {
        let mut word = [0; 8];
        word[..n].copy_from_slice(self.bytes(n)?);
        usize::try_from(u64::from_le_bytes(word)).ok()
    }
    fn text(&mut self, n: usize) -> Option<&'a str> {
        std::str::from_utf8(self.bytes(n)?).ok()
    }
}

impl<'a> Image<'a> {
    /// Checks and reads an image. `program`: the constant segments of the executable around it.
    pub fn read(data: &'a [u8], program: &[&[u8]]) -> Result<Image<'a>, ImageFault> {
        let mut head = Reader(data);
        let words = (|| {
            let magic = head.bytes(16)?;
            let (length, index) = (head.number(8)?, head.number(8)?);
            Some((magic, length, index, head.number(4)?, head.number(4)?))
        })();
        let (magic, length, index, crc, program_crc) = words.ok_or(ImageFault::Cut)?;
        if magic != MAGIC {
            return Err(ImageFault::Damaged);
        }
        let data = data.get(..length).ok_or(ImageFault::Cut)?;
        let rest = data.get(HEADER..).ok_or(ImageFault::Damaged)?;
        if crc32fast::hash(rest) as usize != crc || crc_of(program) as usize != program_crc {
            return Err(ImageFault::Damaged);
        }
        Image::index(data, index).ok_or(ImageFault::Damaged)
    }

    fn index(data: &'a [u8], at: usize) -> Option<Image<'a>> {
        let mut r = Reader(data.get(at..)?);
        let (notes, files) = (r.number(4)?, r.number(4)?);
        let mut image = Image { notes: Vec::new(), entries: Vec::new() };
        for _ in 0..notes {
            let (key, value) = (r.number(2)?, r.number(4)?);
            image.notes.push((r.text(key)?, r.text(value)?));
        }
        for _ in 0..files {
            let (path, kind) = (r.number(2)?, *KINDS.get(r.number(2)?)?);
            let (offset, length) = (r.number(8)?, r.number(8)?);
            let (path, bytes) = (r.text(path)?, data.get(offset..offset.checked_add(length)?)?);
            image.entries.push(ImageFile { path, kind, bytes });
        }
        image.entries.is_sorted_by(|a, b| a.path < b.path).then_some(image)
    }

    /// Puts a file there, in the place of one with that path.
    pub fn put(&mut self, entry: ImageFile<'a>) {
        match self.entries.binary_search_by(|e| e.path.cmp(entry.path)) {
            Ok(i) => self.entries[i] = entry,
            Err(i) => self.entries.insert(i, entry),
        }
    }

    pub fn note(&self, key: &str) -> Option<&'a str> {
        self.notes.iter().find(|n| n.0 == key).map(|n| n.1)
    }
    pub fn notes(&self) -> impl Iterator<Item = (&'a str, &'a str)> + '_ {
        self.notes.iter().copied()
    }

    /// What a path names; it has no `.`, `..`, empty parts or slash at either end. An empty path is
    /// the top directory.
    pub fn find(&self, path: &str) -> Node<'a> {
        match self.entries.binary_search_by(|e| e.path.cmp(path)) {
            Ok(i) if self.entries[i].kind == EntryKind::EmptyDirectory => Node::Directory,
            Ok(i) => Node::File(i, self.entries[i]),
            Err(_) if self.below(path).next().is_some() => Node::Directory,
            Err(_) if self.is_below_file(path) => Node::BelowFile,
            Err(_) => Node::Nothing,
        }
    }

    fn is_below_file(&self, path: &str) -> bool {
        path.match_indices('/').any(|(end, _)| {
            let found = self.entries.binary_search_by(|e| e.path.cmp(&path[..end]));
            found.is_ok_and(|i| self.entries[i].kind != EntryKind::EmptyDirectory)
        })
    }

    /// The names in a directory, in order.
    pub fn list(&self, directory: &str) -> Vec<&'a str> {
        let skip = if directory.is_empty() { 0 } else { directory.len() + 1 };
        let name = |path: &'a str| path[skip..].split('/').next().unwrap_or_default();
        let mut names: Vec<&str> = self.below(directory).map(|e| name(e.path)).collect();
        names.dedup();
        names
    }

    /// The entries below a directory.
    fn below<'s>(&'s self, directory: &'s str) -> impl Iterator<Item = &'s ImageFile<'a>> {
        let inside = move |path: &str| match directory {
            "" => true,
            _ => path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/')),
        };
        // Names that sort between a directory and what is in it, as `a.b` between `a` and `a/b`.
        let first = self.entries.partition_point(|e| e.path < directory);
        let rest = self.entries[first..].iter();
        rest.take_while(move |e| e.path.starts_with(directory)).filter(move |e| inside(e.path))
    }
}

/// The checksum of an executable's constant segments.
pub fn crc_of(program: &[&[u8]]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    program.iter().for_each(|segment| crc.update(segment));
    crc.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Builder;

    fn sample() -> Vec<u8> {
        let mut b = Builder::default();
        b.note("kind", "script");
        b.file("root/lib/a/ebin/a.beam", EntryKind::File, b"code".to_vec());
        b.file("root/lib/a.b/x", EntryKind::Program, Vec::new());
        b.file("root/lib/a/priv", EntryKind::EmptyDirectory, Vec::new());
        b.file("root/bin/erl", EntryKind::Executable, Vec::new());
        b.finish(crc_of(&[b"program"]))
    }

    #[test]
    fn finds_what_was_put_in() {
        let bytes = sample();
        let image = Image::read(&bytes, &[b"pro", b"gram"]).unwrap();
        assert_eq!(image.note("kind"), Some("script"));
        assert_eq!(image.note("other"), None);
        let Node::File(_, e) = image.find("root/lib/a/ebin/a.beam") else { panic!() };
        assert_eq!((e.kind, e.bytes), (EntryKind::File, b"code".as_slice()));
        for dir in ["", "root", "root/lib/a", "root/lib/a/priv", "root/lib/a/ebin"] {
            assert_eq!(image.find(dir), Node::Directory, "{dir}");
        }
        for (path, node) in [
            ("root/lib/a.", Node::Nothing),
            ("roo", Node::Nothing),
            ("root/bin/erl/x/y", Node::BelowFile),
        ] {
            assert_eq!(image.find(path), node, "{path}");
        }
        assert_eq!(image.list(""), ["root"]);
        assert_eq!(image.list("root/lib"), ["a.b", "a"]);
        assert_eq!(image.list("root/lib/a"), ["ebin", "priv"]);
        assert!(image.list("root/lib/a/priv").is_empty());
    }

    #[test]
    fn order_of_adding_does_not_matter() {
        let mut b = Builder::default();
        b.file("b", EntryKind::File, vec![1]);
        b.file("a", EntryKind::File, vec![2]);
        let mut c = Builder::default();
        c.file("a", EntryKind::File, vec![2]);
        c.file("b", EntryKind::File, vec![1]);
        assert_eq!(b.finish(0), c.finish(0));
    }

    #[test]
    fn refuses_what_was_cut_or_changed() {
        let bytes = sample();
        for n in 0..bytes.len() {
            assert_eq!(Image::read(&bytes[..n], &[b"program"]).err(), Some(ImageFault::Cut), "{n}");
            let mut changed = bytes.clone();
            changed[n] ^= 0x10;
            assert!(Image::read(&changed, &[b"program"]).is_err(), "{n}");
        }
        assert_eq!(Image::read(&bytes, &[b"prOgram"]).err(), Some(ImageFault::Damaged));
    }

    #[test]
    fn a_hostile_index_is_refused() {
        // What the checksum says is right, the index is not.
        let mut bytes = sample();
        let at = u64::from_le_bytes(bytes[24..32].try_into().unwrap()) as usize;
        for i in at..bytes.len() {
            let mut changed = bytes.clone();
            changed[i] = 0xff;
            let crc = crc32fast::hash(&changed[HEADER..]);
            changed[32..36].copy_from_slice(&crc.to_le_bytes());
            let _ = Image::read(&changed, &[b"program"]);
        }
        bytes[24..32].copy_from_slice(&u64::MAX.to_le_bytes());
        assert_eq!(Image::read(&bytes, &[b"program"]).err(), Some(ImageFault::Damaged));
    }
}
