//! Files by name: links, directories, owners, times.

use std::ffi::CStr;

use kvik_sys::path as sys;

pub use kvik_sys::path::{current_dir, find_program};

use crate::{embedded, Errno, Result};

pub fn list_dir(path: &CStr, mut each: impl FnMut(&[u8])) -> Result<()> {
    embedded::list(path, &mut each).unwrap_or_else(|| sys::list_dir(path, each))
}
pub fn make_dir(path: &CStr) -> Result<()> {
    embedded::create(path).unwrap_or_else(|| sys::make_dir(path))
}
pub fn remove_file(path: &CStr) -> Result<()> {
    embedded::change(path).unwrap_or_else(|| sys::remove_file(path))
}
pub fn remove_dir(path: &CStr) -> Result<()> {
    embedded::change(path).unwrap_or_else(|| sys::remove_dir(path))
}
pub fn rename(from: &CStr, to: &CStr) -> Result<()> {
    let refused = embedded::change(from).or_else(|| embedded::change(to));
    refused.unwrap_or_else(|| sys::rename(from, to))
}
pub fn hard_link(from: &CStr, to: &CStr) -> Result<()> {
    let refused = embedded::change(from).or_else(|| embedded::create(to));
    refused.unwrap_or_else(|| sys::hard_link(from, to))
}
pub fn symlink(target: &CStr, at: &CStr) -> Result<()> {
    embedded::create(at).unwrap_or_else(|| sys::symlink(target, at))
}
pub fn read_link(path: &CStr) -> Result<Vec<u8>> {
    match embedded::stat(path) {
        Some(found) => Err(found.err().unwrap_or(Errno::INVAL)),
        None => sys::read_link(path),
    }
}
pub fn set_permissions(path: &CStr, mode: u32) -> Result<()> {
    embedded::change(path).unwrap_or_else(|| sys::set_permissions(path, mode))
}
/// `u32::MAX` leaves the user or group as it is.
pub fn set_owner(path: &CStr, uid: u32, gid: u32) -> Result<()> {
    embedded::change(path).unwrap_or_else(|| sys::set_owner(path, uid, gid))
}
pub fn set_times(path: &CStr, accessed: i64, modified: i64) -> Result<()> {
    embedded::change(path).unwrap_or_else(|| sys::set_times(path, accessed, modified))
}
pub fn set_current_dir(path: &CStr) -> Result<()> {
    sys::set_current_dir(path)
}
