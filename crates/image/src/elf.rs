//! Putting an image into an executable: as one more segment that the system maps at the start.
//!
//! The executable's section table, symbols and debug information go: nothing at run time reads them,
//! and they are three quarters of the file. The new segment takes the place of the table entry
//! `PT_NOTE`, which names the build for debuggers and comes last, as a new segment must.

use crate::{read, Builder};

const PT_LOAD: u32 = 1;
const PT_NOTE: u32 = 4;
const PF_W: u32 = 2;
const PF_R: u32 = 4;
const PAGE: u64 = 4096;
/// Sizes of the ELF header and of an entry of the segment table, 64-bit.
const EHDR: usize = 64;
const PHDR: usize = 56;

fn field<const N: usize>(elf: &[u8], at: usize) -> Option<u64> {
    let mut word = [0; 8];
    word[..N].copy_from_slice(elf.get(at..at.checked_add(N)?)?);
    Some(u64::from_le_bytes(word))
}

/// An entry of the segment table.
struct Segment {
    kind: u32,
    flags: u32,
    offset: u64,
    address: u64,
    in_file: u64,
    in_memory: u64,
}

/// The segments of an ELF file, and where their table is.
fn segments(elf: &[u8]) -> Option<(usize, Vec<Segment>)> {
    if !elf.starts_with(b"\x7fELF\x02\x01") || field::<2>(elf, 54)? != PHDR as u64 {
        return None;
    }
    let (table, n) = (field::<8>(elf, 32)? as usize, field::<2>(elf, 56)? as usize);
    let one = |i: usize| {
        let at = table.checked_add(i * PHDR)?;
        Some(Segment {
            kind: field::<4>(elf, at)? as u32,
            flags: field::<4>(elf, at + 4)? as u32,
            offset: field::<8>(elf, at + 8)?,
            address: field::<8>(elf, at + 16)?,
            in_file: field::<8>(elf, at + 32)?,
            in_memory: field::<8>(elf, at + 40)?,
        })
    };
    Some((table, (0..n).map(one).collect::<Option<_>>()?))
}

/// The executable `elf` with this image. `Err` says what is wrong with the executable.
pub fn with_image(elf: &[u8], image: &Builder) -> Result<Vec<u8>, &'static str> {
    let (table, all) = segments(elf).ok_or("it is no 64-bit ELF file")?;
    let loaded = || all.iter().filter(|s| s.kind == PT_LOAD);
    if loaded().next_back().is_some_and(|s| s.flags & PF_W == 0) {
        return Err("it carries a program already");
    }
    let note = all.iter().rposition(|s| s.kind == PT_NOTE);
    let note = note.filter(|n| all[*n..].iter().all(|s| s.kind != PT_LOAD));
    let note = note.ok_or("its segment table has no room")?;
    let end = |s: &Segment| s.offset.checked_add(s.in_file).filter(|e| *e <= elf.len() as u64);
    let ends: Option<Vec<u64>> = loaded().map(end).collect();
    let ends = ends.ok_or("it is truncated")?;
    let length = ends.into_iter().max().unwrap_or(0).next_multiple_of(PAGE);
    let behind = loaded().map(|s| s.address.saturating_add(s.in_memory)).max().unwrap_or(0);
    let address = behind.saturating_add(PAGE).next_multiple_of(PAGE);

    let mut out = elf[..elf.len().min(length as usize)].to_vec();
    out.resize(length as usize, 0);
    // No section table: its offset, number, and the index of its names.
    out[40..48].fill(0);
    out[60..EHDR].fill(0);
    // The checksum covers the segment table, so the size of the image, which it does not change,
    // goes in first.
    let size = image.finish(0).len() as u64;
    let entry = table + note * PHDR;
    out[entry..entry + 4].copy_from_slice(&PT_LOAD.to_le_bytes());
    out[entry + 4..entry + 8].copy_from_slice(&PF_R.to_le_bytes());
    for (at, value) in
        [(8, length), (16, address), (24, address), (32, size), (40, size), (48, PAGE)]
    {
        out[entry + at..entry + at + 8].copy_from_slice(&value.to_le_bytes());
    }
    let constant = loaded().filter(|s| s.flags & PF_W == 0);
    let parts: Vec<&[u8]> =
        constant.map(|s| &out[s.offset as usize..(s.offset + s.in_file) as usize]).collect();
    let crc = read::crc_of(&parts);
    out.extend(image.finish(crc));
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EntryKind;

    #[test]
    fn refuses_what_is_no_executable() {
        let b = Builder::default();
        assert!(with_image(b"", &b).is_err());
        assert!(with_image(b"#!/bin/sh", &b).is_err());
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        for n in [10, 64, 100, 500, 5000, 100_000] {
            assert!(with_image(&own[..n], &b).is_err(), "{n}");
        }
    }

    #[test]
    fn the_new_segment_is_last_and_only_one() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let mut b = Builder::default();
        b.file("x", EntryKind::File, vec![7; 10_000]);
        let made = with_image(&own, &b).unwrap();
        let (_, all) = segments(&made).unwrap();
        let last = all.iter().rfind(|s| s.kind == PT_LOAD).unwrap();
        assert_eq!((last.flags, last.offset + last.in_file), (PF_R, made.len() as u64));
        assert_eq!(last.address % PAGE, last.offset % PAGE);
        assert!(made[last.offset as usize..].starts_with(crate::MAGIC));
        assert_eq!(with_image(&made, &b).err(), Some("it carries a program already"));
    }
}
