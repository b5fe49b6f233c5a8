//! The file as a whole: IFF form `BEAM`, a sequence of chunks, perhaps inside gzip.

use crate::error::Error;
use crate::reader::Reader;
use flate2::read::GzDecoder;
use std::borrow::Cow;
use std::io::Read;
use std::ops::Range;

/// No module is larger than this once gunzipped.
const MAX_FILE: u64 = 1 << 30;

/// A file whose chunks have been found. It keeps them all, known or not.
pub struct Container<'a> {
    data: Cow<'a, [u8]>,
    chunks: Vec<([u8; 4], Range<usize>)>,
}

impl<'a> Container<'a> {
    /// Finds the chunks of a file.
    pub fn parse(file: &'a [u8]) -> Result<Container<'a>, Error> {
        let data = if file.starts_with(&[0x1f, 0x8b]) {
            Cow::Owned(gunzip(file)?)
        } else {
            Cow::Borrowed(file)
        };
        let chunks = find_chunks(&data).ok_or(Error::Header)?;
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

    /// The file, no longer compressed.
    pub fn bytes(&self) -> &[u8] {
        &self.data
    }
}

fn gunzip(file: &[u8]) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    let mut limited = GzDecoder::new(file).take(MAX_FILE + 1);
    limited.read_to_end(&mut out).map_err(|_| Error::Gzip)?;
    if out.len() as u64 > MAX_FILE {
        return Err(Error::Gzip);
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
