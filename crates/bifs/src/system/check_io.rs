//! `erlang:system_info(check_io)`: the poll sets, one for each scheduler.

use kvik_proc::{BifResult, Proc};
use kvik_term::{am, Atom, Term};

/// A list for each poll set: its kind, sizes and limits.
pub(super) fn check_io<'h>(p: &'h Proc) -> BifResult<'h> {
    let h = &p.heap;
    let atom = |name: &str| match Atom::intern(name) {
        Ok(a) => Ok(Term::from(a)),
        Err(_) => Err(p.system_limit()),
    };
    let most = h.unsigned(kvik_env::fd::limit());
    let mut sets = Vec::new();
    for s in kvik_port::poll::sizes() {
        let int = |n: usize| h.integer(n as i64);
        let row = [
            ("name", atom("epoll")?),
            ("primary", atom("epoll")?),
            ("kernel_poll", atom("epoll")?),
            ("memory_size", int(s.memory)),
            ("total_poll_set_size", int(s.descriptors)),
            ("lazy_updates", am::false_.into()),
            ("pending_updates", int(0)),
            ("batch_updates", am::false_.into()),
            ("concurrent_updates", am::true_.into()),
            ("fallback", am::false_.into()),
            ("max_fds", most),
            ("active_fds", int(s.ready)),
            ("poll_threads", int(1)),
        ];
        let mut items = Vec::new();
        for (k, v) in row {
            items.push(h.tuple(&[atom(k)?, v]));
        }
        sets.push(h.list(&items));
    }
    Ok(h.list(&sets))
}
