//! Many entries in one file: a head, a row for each entry, the entries.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use kvik_env::fs::{self, File, MetadataExt, OpenOptions, OpenOptionsExt};
use kvik_jit::CodeKey;

const MAGIC: &[u8; 8] = b"kvikcode";
/// Key, offset, length, checksum.
const ROW: usize = 32 + 8 + 8 + 32;
/// Magic, identity, number of entries, checksum of all rows.
const HEAD: usize = 8 + 32 + 8 + 32;

/// What a pack's entries depend on besides their modules' files.
pub type Identity = [u8; 32];

enum Source {
    File(File),
    /// Part of this executable, whose checksum has been compared.
    Own(&'static [u8]),
}

pub struct Pack {
    source: Source,
    rows: HashMap<CodeKey, Row>,
}

struct Row {
    offset: u64,
    length: u64,
    checksum: [u8; 32],
}

/// Whether nobody but this user, or the system's administrator, can have written to it.
pub fn is_trusted(of: &fs::Metadata) -> bool {
    let (user, _) = kvik_env::file::effective_ids();
    (of.uid() == user || of.uid() == 0) && of.mode() & 0o022 == 0
}

impl Pack {
    /// `None` if there is no such file that can be used.
    pub fn open(path: &Path, identity: &Identity) -> Option<Pack> {
        if !is_trusted(&fs::metadata(path.parent()?).ok()?) {
            return None;
        }
        let mut options = OpenOptions::new();
        // A FIFO there holds nobody up.
        options.read(true).custom_flags(fs::NO_FOLLOW | fs::NONBLOCK);
        let file = File::with(&options, path).ok()?;
        let metadata = file.metadata().ok().filter(|m| m.is_file() && is_trusted(m))?;
        Pack::read(Source::File(file), metadata.len(), identity)
    }
    /// The pack that this executable carries.
    pub fn carried(bytes: &'static [u8], identity: &Identity) -> Option<Pack> {
        Pack::read(Source::Own(bytes), bytes.len() as u64, identity)
    }

    fn read(source: Source, size: u64, identity: &Identity) -> Option<Pack> {
        let mut room = Vec::new();
        let head = source.bytes(0, HEAD, &mut room)?;
        let (magic, rest) = head.split_first_chunk()?;
        let (found, rest) = rest.split_first_chunk::<32>()?;
        let (count, checksum) = rest.split_first_chunk()?;
        let length = usize::try_from(u64::from_le_bytes(*count)).ok()?.checked_mul(ROW)?;
        if magic != MAGIC || found != identity || length as u64 > size {
            return None;
        }
        let checksum = *checksum.first_chunk::<32>()?;
        let rows = source.bytes(HEAD as u64, length, &mut room)?;
        if blake3::hash(rows).as_bytes() != &checksum {
            return None;
        }
        let rows = rows.chunks_exact(ROW).map(|row| {
            let (key, row) = row.split_first_chunk::<32>()?;
            let (offset, row) = row.split_first_chunk()?;
            let (length, checksum) = row.split_first_chunk()?;
            let (offset, length) = (u64::from_le_bytes(*offset), u64::from_le_bytes(*length));
            let fits = offset.checked_add(length)? <= size;
            let checksum = *checksum.first_chunk()?;
            fits.then_some((*key, Row { offset, length, checksum }))
        });
        let rows = rows.collect::<Option<_>>()?;
        Some(Pack { rows, source })
    }

    /// The entry, if it is as it was written. What has to be read goes to `room`.
    pub fn entry<'a>(&'a self, key: &CodeKey, room: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        let row = self.rows.get(key)?;
        let entry = self.source.bytes(row.offset, usize::try_from(row.length).ok()?, room)?;
        let is_whole = match self.source {
            Source::Own(_) => true,
            Source::File(_) => blake3::hash(entry).as_bytes() == &row.checksum,
        };
        is_whole.then_some(entry)
    }
    pub fn has(&self, key: &CodeKey) -> bool {
        self.entry(key, &mut Vec::new()).is_some()
    }
    pub fn keys(&self) -> impl Iterator<Item = &CodeKey> {
        self.rows.keys()
    }
}

impl Source {
    fn bytes<'a>(&'a self, offset: u64, length: usize, room: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        match self {
            Source::File(file) => {
                if room.len() < length {
                    room.resize(length, 0);
                }
                let bytes = &mut room[..length];
                file.read_exact_at(bytes, offset).ok()?;
                Some(bytes)
            }
            Source::Own(all) => all.get(usize::try_from(offset).ok()?..)?.get(..length),
        }
    }
}

/// An entry of a pack that is written.
pub enum PackEntry<'a> {
    New(&'a [u8]),
    /// As another pack has it.
    Of(&'a Pack),
}

impl PackEntry<'_> {
    fn length(&self, key: &CodeKey) -> Option<u64> {
        match self {
            PackEntry::New(bytes) => Some(bytes.len() as u64),
            PackEntry::Of(pack) => Some(pack.rows.get(key)?.length),
        }
    }
    fn checksum(&self, key: &CodeKey) -> Option<[u8; 32]> {
        match self {
            PackEntry::New(bytes) => Some(*blake3::hash(bytes).as_bytes()),
            PackEntry::Of(pack) => Some(pack.rows.get(key)?.checksum),
        }
    }
    fn bytes<'b>(&'b self, key: &CodeKey, room: &'b mut Vec<u8>) -> Option<&'b [u8]> {
        match self {
            PackEntry::New(bytes) => Some(bytes),
            PackEntry::Of(pack) => pack.entry(key, room),
        }
    }
}

/// Bytes of a file with these entries.
pub fn file_size(entries: &[(CodeKey, PackEntry)]) -> u64 {
    let lengths = entries.iter().filter_map(|(key, entry)| entry.length(key));
    HEAD as u64 + lengths.map(|length| length + ROW as u64).sum::<u64>()
}

/// Writes a pack, one entry after the other.
pub fn write(
    to: &mut impl Write,
    identity: &Identity,
    entries: &[(CodeKey, PackEntry)],
) -> io::Result<()> {
    let mut rows = Vec::with_capacity(entries.len() * ROW);
    let mut offset = (HEAD + entries.len() * ROW) as u64;
    let gone = || io::Error::from(io::ErrorKind::InvalidData);
    for (key, entry) in entries {
        let length = entry.length(key).ok_or_else(gone)?;
        rows.extend(key);
        rows.extend(offset.to_le_bytes());
        rows.extend(length.to_le_bytes());
        rows.extend(entry.checksum(key).ok_or_else(gone)?);
        offset += length;
    }
    to.write_all(MAGIC)?;
    to.write_all(identity)?;
    to.write_all(&(entries.len() as u64).to_le_bytes())?;
    to.write_all(blake3::hash(&rows).as_bytes())?;
    to.write_all(&rows)?;
    let mut room = Vec::new();
    let mut one = |(key, entry): &(CodeKey, PackEntry)| {
        to.write_all(entry.bytes(key, &mut room).ok_or_else(gone)?)
    };
    entries.iter().try_for_each(&mut one)
}

/// Makes a file that only this user can read, and that must not exist yet.
pub fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).custom_flags(fs::NO_FOLLOW);
    File::with(&options, path)
}
