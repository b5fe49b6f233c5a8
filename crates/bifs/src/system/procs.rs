//! `system_info(procs)`: all processes and ports, as a crash dump describes them. Each process
//! describes itself when it handles the signal that asks for it.

use std::sync::{Arc, Mutex};

use kvik_proc::signal::{deliver, post, Signal};
use kvik_proc::{Proc, Raised};
use kvik_term::am;

use crate::dump;

/// Shared by the processes that have not answered yet; dropping the last reference sends the text.
struct Descriptions {
    by: u32,
    reference: [u32; 3],
    text: Mutex<Vec<u8>>,
}
impl Drop for Descriptions {
    fn drop(&mut self) {
        let text = self.text.get_mut().unwrap_or_else(|e| e.into_inner());
        text.extend(dump::part("ports").unwrap_or_default());
        post(self.by, |h| h.tuple(&[h.ref_of_numbers(self.reference), h.binary(text)]));
    }
}

pub fn ask_all(p: &Proc) -> Raised {
    let reference = kvik_heap::build::next_ref();
    let text = Mutex::new(dump::process(p, true));
    let all = Arc::new(Descriptions { by: p.pid(), reference, text });
    for pid in kvik_proc::process::table().numbers().into_iter().filter(|n| *n != p.pid()) {
        let all = all.clone();
        let describe = move |p: Option<&Proc>| {
            let Some(p) = p else { return };
            let text = dump::process(p, false);
            all.text.lock().unwrap_or_else(|e| e.into_inner()).extend(text);
        };
        deliver(pid, Signal::Run(Box::new(describe)));
    }
    let wait = kvik_code::export(am::erts_internal, am::await_result, 1);
    p.trap(wait, &[p.heap.ref_of_numbers(reference)])
}
