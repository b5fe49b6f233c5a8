//! The checksum that `Module:module_info(md5)` returns.

use crate::container::Container;
use md5::{Digest, Md5};

/// The hashed chunks, in this order; the fun table goes between the two lists.
const BEFORE_FUNS: [&[u8; 4]; 5] = [b"AtU8", b"Code", b"StrT", b"ImpT", b"ExpT"];
const AFTER_FUNS: [&[u8; 4]; 2] = [b"LitT", b"Meta"];
/// Hashed last, by releases that know them.
const RECORDS: &[u8; 4] = b"Recs";
const DEBUG_INFO: &[u8; 4] = b"DbgB";
/// Bytes of a fun table entry: five words that are hashed and one, the old "uniq", that isn't.
const FUN_ENTRY: usize = 24;
const FUN_COUNTED: usize = 20;

pub(crate) fn checksum(file: &Container) -> [u8; 16] {
    let mut md5 = Md5::new();
    for id in BEFORE_FUNS {
        md5.update(file.chunk(id).unwrap_or_default());
    }
    if let Some((count, entries)) = file.chunk(b"FunT").and_then(|c| c.split_at_checked(4)) {
        md5.update(count);
        for entry in entries.chunks_exact(FUN_ENTRY) {
            md5.update(entry.get(..FUN_COUNTED).unwrap_or_default());
            md5.update([0; FUN_ENTRY - FUN_COUNTED]);
        }
    }
    for id in AFTER_FUNS {
        md5.update(file.chunk(id).unwrap_or_default());
    }
    if kvik_release::current().has_native_records() {
        md5.update(file.chunk(RECORDS).unwrap_or_default());
    }
    if kvik_release::current().has_debugger() {
        md5.update(file.chunk(DEBUG_INFO).unwrap_or_default());
    }
    md5.finalize().into()
}
