//! `prim_file`: functions that take names, and file information.

use kvik_env::file::{self as sys, FileInfo, FileKind};
use kvik_env::{path, Errno};
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, Term};

use crate::file::{ok_or_error, ok_value, path_of, posix_error, with_fd};

pub const BIFS: &[BifEntry] = &[
    bif!("prim_file", "read_info_nif", 2, read_info_2),
    bif!("prim_file", "read_handle_info_nif", 1, read_handle_info_1),
    bif!("prim_file", "set_permissions_nif", 2, set_permissions_2),
    bif!("prim_file", "set_owner_nif", 3, set_owner_3),
    bif!("prim_file", "set_time_nif", 4, set_time_4),
    bif!("prim_file", "read_link_nif", 1, read_link_1),
    bif!("prim_file", "list_dir_nif", 1, list_dir_1),
    bif!("prim_file", "make_dir_nif", 1, make_dir_1),
    bif!("prim_file", "del_file_nif", 1, del_file_1),
    bif!("prim_file", "del_dir_nif", 1, del_dir_1),
    bif!("prim_file", "rename_nif", 2, rename_2),
    bif!("prim_file", "make_hard_link_nif", 2, make_hard_link_2),
    bif!("prim_file", "make_soft_link_nif", 2, make_soft_link_2),
    bif!("prim_file", "get_cwd_nif", 0, get_cwd_0),
    bif!("prim_file", "set_cwd_nif", 1, set_cwd_1),
    bif!("prim_file", "get_device_cwd_nif", 1, not_here_1),
    bif!("prim_file", "altname_nif", 1, not_here_1),
];

/// The record `#file_info{}`. `access` is a bit set: 1 read, 2 write.
pub fn file_info<'h>(p: &'h Proc, i: &FileInfo, access: u32) -> Term<'h> {
    // Times before the year 0 have no date in Erlang.
    const FIRST_TIME: i64 = -62_167_219_200;
    let h = &p.heap;
    let kind = match i.kind {
        FileKind::Device => am::device,
        FileKind::Directory => am::directory,
        FileKind::Regular => am::regular,
        FileKind::Symlink => am::symlink,
        FileKind::Fifo | FileKind::Socket | FileKind::Other => am::other,
    };
    let access = match access {
        1 => am::read,
        2 => am::write,
        3 => am::read_write,
        _ => am::none,
    };
    // OTP truncates these to 32 bits.
    let n = |v: u64| h.unsigned(v & 0xFFFF_FFFF);
    let time = |t: i64| h.integer(t.max(FIRST_TIME));
    h.tuple(&[
        am::file_info.into(),
        h.unsigned(i.size),
        kind.into(),
        access.into(),
        time(i.accessed),
        time(i.modified),
        time(i.changed),
        n(i.mode as u64),
        n(i.links),
        n(i.device),
        n(i.raw_device),
        n(i.inode),
        n(i.uid as u64),
        n(i.gid as u64),
    ])
}

/// The access that the permission bits give this process.
fn access_by_mode(i: &FileInfo) -> u32 {
    let (uid, gid) = sys::effective_ids();
    let shift = if i.uid == uid {
        6
    } else if i.gid == gid {
        3
    } else {
        0
    };
    let bits = i.mode >> shift;
    (bits >> 2 & 1) | (bits & 2)
}

pub(crate) fn read_handle_info_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(match with_fd(p, a[0], sys::fstat)? {
        Ok(i) => file_info(p, &i, access_by_mode(&i)),
        Err(e) => posix_error(p, e),
    })
}

fn read_info_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let follow = a[1].as_small().ok_or_else(|| p.badarg())? != 0;
    let r = path_of(a[0]).and_then(|path| {
        let i = sys::stat(&path, follow)?;
        let access = sys::access(&path, false) as u32 | (sys::access(&path, true) as u32) << 1;
        Ok((i, access))
    });
    Ok(match r {
        Ok((i, access)) => file_info(p, &i, access),
        Err(e) => posix_error(p, e),
    })
}

fn set_permissions_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let mode = a[1].as_i64().and_then(|n| u32::try_from(n).ok());
    let mode = mode.ok_or_else(|| p.badarg())?;
    ok_or_error(p, path_of(a[0]).and_then(|n| path::set_permissions(&n, mode)))
}

fn set_owner_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    // -1 leaves an owner unchanged.
    let id = |t: Term<'_>| Some(i32::try_from(t.as_i64()?).ok()? as u32);
    let (Some(uid), Some(gid)) = (id(a[1]), id(a[2])) else {
        return Err(p.badarg());
    };
    ok_or_error(p, path_of(a[0]).and_then(|n| path::set_owner(&n, uid, gid)))
}

fn set_time_4<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (Some(accessed), Some(modified), Some(_)) = (a[1].as_i64(), a[2].as_i64(), a[3].as_i64())
    else {
        return Err(p.badarg());
    };
    let r = path_of(a[0]).and_then(|n| path::set_times(&n, accessed, modified));
    ok_or_error(p, r)
}

fn read_link_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let r = path_of(a[0]).and_then(|n| path::read_link(&n));
    ok_value(p, r.map(|b| p.heap.binary(&b)))
}

fn list_dir_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let mut names = Term::NIL;
    let r = path_of(a[0]).and_then(|n| {
        path::list_dir(&n, |name| {
            names = p.heap.cons(p.heap.binary(name), names);
            p.heap.bump_reductions(2);
        })
    });
    ok_value(p, r.map(|()| names))
}

fn make_dir_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    ok_or_error(p, path_of(a[0]).and_then(|n| path::make_dir(&n)))
}
fn del_file_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    ok_or_error(p, path_of(a[0]).and_then(|n| path::remove_file(&n)))
}
fn del_dir_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    ok_or_error(p, path_of(a[0]).and_then(|n| path::remove_dir(&n)))
}
fn rename_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let r = path_of(a[0]).and_then(|from| path::rename(&from, &path_of(a[1])?));
    ok_or_error(p, r)
}
fn make_hard_link_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let r = path_of(a[0]).and_then(|from| path::hard_link(&from, &path_of(a[1])?));
    ok_or_error(p, r)
}
fn make_soft_link_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let r = path_of(a[0]).and_then(|from| path::symlink(&from, &path_of(a[1])?));
    ok_or_error(p, r)
}
fn get_cwd_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    ok_value(p, path::current_dir().map(|b| p.heap.binary(&b)))
}
fn set_cwd_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    // Programs requested earlier start in the old directory, so wait until they have started.
    kvik_port::spawn_thread::settle();
    ok_or_error(p, path_of(a[0]).and_then(|n| path::set_current_dir(&n)))
}
/// Drives and short names only exist on Windows.
fn not_here_1<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(posix_error(p, Errno::NOTSUP))
}
