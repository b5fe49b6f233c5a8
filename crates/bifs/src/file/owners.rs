//! The files that a process has opened. They are closed when it ends, even if other processes hold
//! their handles.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use kvik_proc::process::flag;
use kvik_proc::Proc;

use super::FileHandle;

kvik_state::vm_state! {
    /// For each process, the files whose handles still exist.
    static OPEN: Mutex<Option<HashMap<u32, Vec<Weak<FileHandle>>>>> = Mutex::new(None);
}

fn open() -> MutexGuard<'static, Option<HashMap<u32, Vec<Weak<FileHandle>>>>> {
    OPEN.lock().unwrap_or_else(|e| e.into_inner())
}

pub fn install() {
    kvik_proc::hooks::on_exit(ended);
}

/// Marks a process that may own files, so that its exit looks for them.
pub fn may_own(p: &Proc) {
    p.set_flag(flag::HAS_FILES, true);
}

pub fn opened(f: &Arc<FileHandle>) {
    open().get_or_insert_default().entry(f.owner).or_default().push(Arc::downgrade(f));
}

impl Drop for FileHandle {
    fn drop(&mut self) {
        let mut open = open();
        let Some(all) = open.as_mut() else { return };
        if let Some(files) = all.get_mut(&self.owner) {
            let me: *const FileHandle = self;
            files.retain(|f| !std::ptr::eq(f.as_ptr(), me));
            if files.is_empty() {
                all.remove(&self.owner);
            }
        }
    }
}

fn ended(p: &Proc) {
    if !p.flag(flag::HAS_FILES) {
        return;
    }
    let files = open().as_mut().and_then(|all| all.remove(&p.pid()));
    for f in files.into_iter().flatten().filter_map(|f| f.upgrade()) {
        // The owner has ended: there is nowhere to report an error.
        let _ = f.close();
    }
}
