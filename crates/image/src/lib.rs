//! Programs in one file: the image of a directory tree that an executable of kvik carries
//! (docs/internals/build.md). [`Builder`] makes one, [`Image`] reads it, [`elf::with_image`] puts it
//! into an executable.
//!
//! An image is, with all numbers little-endian:
//!
//! | bytes | what |
//! |---|---|
//! | 16 | [`MAGIC`] |
//! | 8 | length of the whole |
//! | 8 | offset of the index, which reaches to the end |
//! | 4 | CRC-32 of all that follows these 40 bytes |
//! | 4 | CRC-32 of the executable's own constant segments |
//! | … | the files, each at a multiple of 16 |
//! | 8 | index: number of notes, number of files, 4 bytes each |
//! | … | notes: length of key (2), of value (4), both |
//! | … | files, in the order of their paths: length of path (2), [`EntryKind`] (2), offset (8), length (8), path |
#![forbid(unsafe_code)]

mod builder;
pub mod elf;
pub mod read;

pub use builder::Builder;
pub use read::{Image, ImageFault, ImageFile, Node};

pub const MAGIC: &[u8; 16] = b"\x89kvik image 1\r\n\x1a";
const HEADER: usize = 40;
const ALIGNMENT: usize = 16;

/// What a path in an image names.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum EntryKind {
    File,
    /// A file that may be executed.
    Program,
    /// The executable itself, under another name.
    Executable,
    /// A directory without files. Others follow from the paths of their files.
    EmptyDirectory,
}

const KINDS: [EntryKind; 4] =
    [EntryKind::File, EntryKind::Program, EntryKind::Executable, EntryKind::EmptyDirectory];
