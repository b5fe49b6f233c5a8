//! The environment that programs get: a copy of the VM's own at its start, changed by `os:putenv/2`
//! and the like.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::os::unix::ffi::OsStringExt;
use std::sync::{OnceLock, RwLock, RwLockReadGuard, RwLockWriteGuard};

pub type Environment = BTreeMap<Vec<u8>, Vec<u8>>;

fn table() -> &'static RwLock<Environment> {
    kvik_state::vm_state! {
        static ENV: OnceLock<RwLock<Environment>> = OnceLock::new();
    }
    ENV.get_or_init(|| {
        let vars = std::env::vars_os().map(|(k, v)| (k.into_vec(), v.into_vec()));
        RwLock::new(vars.collect())
    })
}
pub fn read() -> RwLockReadGuard<'static, Environment> {
    table().read().unwrap_or_else(|e| e.into_inner())
}
pub fn write() -> RwLockWriteGuard<'static, Environment> {
    table().write().unwrap_or_else(|e| e.into_inner())
}

/// `NAME=value` for each variable, after the changes (`None` removes a variable).
pub fn block(changes: &[(Vec<u8>, Option<Vec<u8>>)]) -> Vec<CString> {
    let changed = |k: &[u8]| changes.iter().any(|(c, _)| c == k);
    let global = read();
    let kept = global.iter().filter(|(k, _)| !changed(k));
    // Of several changes to one name the last counts.
    let new = changes.iter().enumerate().filter_map(|(i, (k, v))| {
        let last = !changes[i + 1..].iter().any(|(later, _)| later == k);
        v.as_ref().filter(|_| last).map(|v| (k, v))
    });
    kept.chain(new)
        .filter_map(|(k, v)| CString::new([k.as_slice(), b"=", v].concat()).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_apply_in_order() {
        write().insert(b"KVIK_TEST_A".to_vec(), b"1".to_vec());
        let v = |s: &str| Some(s.as_bytes().to_vec());
        let b = block(&[
            (b"KVIK_TEST_A".to_vec(), None),
            (b"KVIK_TEST_B".to_vec(), v("x")),
            (b"KVIK_TEST_B".to_vec(), v("y")),
        ]);
        let ours: Vec<_> = b.iter().filter(|c| c.to_bytes().starts_with(b"KVIK_TEST_")).collect();
        assert_eq!(ours, [c"KVIK_TEST_B=y"]);
    }
}
