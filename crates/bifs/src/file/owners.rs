//! Which files a process has opened: they are closed when it ends, whoever else holds their handles.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use kvik_proc::process::flag;
use kvik_proc::Proc;

use super::File;

kvik_state::vm_state! {
    /// For each process those that are not forgotten yet.
    static OPEN: Mutex<Option<HashMap<u32, Vec<Weak<File>>>>> = Mutex::new(None);
}

fn open() -> MutexGuard<'static, Option<HashMap<u32, Vec<Weak<File>>>>> {
    OPEN.lock().unwrap_or_else(|e| e.into_inner())
}

pub fn install() {
    kvik_proc::hooks::on_exit(ended);
}

/// From now on it is asked for at the process's end whether it has files.
pub fn may_own(p: &Proc) {
    p.set_flag(flag::HAS_FILES, true);
}

pub fn opened(f: &Arc<File>) {
    open().get_or_insert_default().entry(f.owner).or_default().push(Arc::downgrade(f));
}

impl Drop for File {
    fn drop(&mut self) {
        let mut open = open();
        let Some(all) = open.as_mut() else { return };
        if let Some(files) = all.get_mut(&self.owner) {
            let me: *const File = self;
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
        // Nobody is left to hear of an error.
        let _ = f.close();
    }
}
