//! The file format: IFF form `BEAM`, a sequence of chunks, optionally gzipped.

use crate::error::BeamError;
use crate::reader::Reader;
use flate2::read::GzDecoder;
use std::borrow::Cow;
use std::io::Read;
use std::ops::Range;

/// Chunks for tools only, which do not affect loading.
const FOR_TOOLS: [&[u8; 4]; 3] = [b"Abst", b"Dbgi", b"Docs"];
/// No module is larger than this once gunzipped.
const MAX_FILE: u64 = 1 << 30;

/// A file split into its chunks. All are kept, known or not.
pub struct Container<'a> {
    data: Cow<'a, [u8]>,
    chunks: Vec<([u8; 4], Range<usize>)>,
}

impl<'a> Container<'a> {
    /// Finds the chunks of a file.
    pub fn parse(file: &'a [u8]) -> Result<Container<'a>, BeamError> {
        let data = if file.starts_with(&[0x1f, 0x8b]) {
            Cow::Owned(gunzip(file)?)
        } else {
            Cow::Borrowed(file)
        };
        let chunks = find_chunks(&data).ok_or(BeamError::Header)?;
        Ok(Container { data, chunks })
    }

    /// The contents of a chunk. Of two with the same name the last one counts, as in OTP.
    pub fn chunk(&self, id: &[u8; 4]) -> Option<&[u8]> {
        let (_, range) = self.chunks.iter().rev().find(|(name, _)| name == id)?;
        self.data.get(range.clone())
    }

    /// Name and contents of every chunk, in order.
    pub fn chunks(&self) -> impl Iterator<Item = ([u8; 4], &[u8])> {
        self.chunks.iter().filter_map(|(id, range)| Some((*id, self.data.get(range.clone())?)))
    }

    /// Passes all contents that affect loading, in parts: see [`Container::essence`].
    pub fn each_essential_part(&self, mut f: impl FnMut(&[u8])) {
        self.parts_of_essence().flatten().for_each(|p| f(&p));
    }

    /// All contents that affect loading: two files with the same essence are the same to the
    /// loader.
    pub fn essence(&self) -> Vec<u8> {
        let parts = || self.parts_of_essence().flatten();
        let mut all = Vec::with_capacity(parts().map(|p| p.len()).sum());
        parts().for_each(|p| all.extend_from_slice(&p));
        all
    }

    /// Whether this is the file's essence.
    pub fn has_essence(&self, essence: &[u8]) -> bool {
        let mut parts = self.parts_of_essence().flatten();
        let left = parts.try_fold(essence, |left, p| left.strip_prefix(&p[..]));
        left.is_some_and(|left| left.is_empty())
    }

    /// Name, length and contents of the chunks that affect loading.
    fn parts_of_essence(&self) -> impl Iterator<Item = [Cow<'_, [u8]>; 3]> {
        self.chunks().filter(|(id, _)| !FOR_TOOLS.contains(&id)).map(|(id, bytes)| {
            let length = bytes.len().to_le_bytes().to_vec();
            [Cow::Owned(id.to_vec()), Cow::Owned(length), Cow::Borrowed(bytes)]
        })
    }

    /// The uncompressed file.
    pub fn bytes(&self) -> &[u8] {
        &self.data
    }
}

fn gunzip(file: &[u8]) -> Result<Vec<u8>, BeamError> {
    let mut out = Vec::new();
    let mut limited = GzDecoder::new(file).take(MAX_FILE + 1);
    limited.read_to_end(&mut out).map_err(|_| BeamError::Gzip)?;
    if out.len() as u64 > MAX_FILE {
        return Err(BeamError::Gzip);
    }
    Ok(out)
}

fn find_chunks(data: &[u8]) -> Option<Vec<([u8; 4], Range<usize>)>> {
    let mut outer = Reader::new(data);
    let form = outer.bytes(4)?;
    let size = usize::try_from(outer.u32()?).ok()?;
    let mut reader = Reader::new(outer.bytes(size)?);
    let end = 8usize.checked_add(size)?;
    if form != b"FOR1" || reader.bytes(4)? != b"BEAM" {
        return None;
    }
    let mut chunks = Vec::new();
    while !reader.is_empty() {
        let id: [u8; 4] = reader.bytes(4)?.try_into().ok()?;
        let size = usize::try_from(reader.u32()?).ok()?;
        let start = end.checked_sub(reader.len())?;
        reader.bytes(size.checked_next_multiple_of(4)?)?;
        chunks.push((id, start..start.checked_add(size)?));
    }
    Some(chunks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
        let mut body = b"BEAM".to_vec();
        for (id, bytes) in chunks {
            body.extend_from_slice(*id);
            body.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
            body.extend_from_slice(bytes);
            body.resize(body.len().next_multiple_of(4), 0);
        }
        let mut all = b"FOR1".to_vec();
        all.extend_from_slice(&(body.len() as u32).to_be_bytes());
        all.extend(body);
        all
    }
    fn essence(chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
        Container::parse(&file(chunks)).unwrap().essence()
    }

    #[test]
    fn an_essence_tells_files_apart_by_all_but_notes_for_tools() {
        let plain = essence(&[(b"Code", b"abc"), (b"LitT", b"d")]);
        let has = |chunks: &[(&[u8; 4], &[u8])], essence: &[u8]| {
            Container::parse(&file(chunks)).unwrap().has_essence(essence)
        };
        assert!(has(&[(b"Docs", b"x"), (b"Code", b"abc"), (b"LitT", b"d")], &plain));
        assert!(!has(&[(b"Code", b"abc")], &plain));
        assert!(!has(&[(b"Code", b"abc"), (b"LitT", b"d"), (b"New ", b"")], &plain));
        assert!(!has(&[(b"Code", b"abd"), (b"LitT", b"d")], &plain));
        assert!(has(&[], b"") && !has(&[], &plain));
        assert_eq!(plain, essence(&[(b"Code", b"abc"), (b"Dbgi", b"xy"), (b"LitT", b"d")]));
        for other in [
            essence(&[(b"Code", b"abd"), (b"LitT", b"d")]),
            essence(&[(b"Code", b"abc"), (b"LitU", b"d")]),
            essence(&[(b"LitT", b"d"), (b"Code", b"abc")]),
            essence(&[(b"Code", b"abc"), (b"LitT", b"d"), (b"New ", b"")]),
            essence(&[(b"Code", b"abcLitT"), (b"LitT", b"d")]),
            essence(&[]),
        ] {
            assert_ne!(plain, other);
        }
    }
}
