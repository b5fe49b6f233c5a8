//! Sending and receiving: the process's own operations, from `ops`.

use kvik_heap::Regs;
use kvik_proc::Proc;
use kvik_term::word::NONE;
use kvik_term::Term;

use super::arg;
use crate::ops::{self, Wait};

pub const SLEEP: u64 = 0;
pub const TIMED_OUT: u64 = 1;

pub extern "sysv64" fn send(p: &Proc, _: &Regs, args: *const u64, _: u64) -> u64 {
    (ops::get().send)(p, arg(p, args, 0), arg(p, args, 1)).map_or(NONE, Term::word)
}
pub extern "sysv64" fn peek(p: &Proc, _: &Regs, _: *const u64, _: u64) -> u64 {
    (ops::get().peek)(p).map_or(NONE, Term::word)
}
pub extern "sysv64" fn next(p: &Proc, _: &Regs, _: *const u64, _: u64) -> u64 {
    (ops::get().next)(p);
    0
}
pub extern "sysv64" fn remove(p: &Proc, _: &Regs, _: *const u64, _: u64) -> u64 {
    (ops::get().remove)(p);
    0
}
pub extern "sysv64" fn timeout(p: &Proc, _: &Regs, _: *const u64, _: u64) -> u64 {
    (ops::get().timeout)(p);
    0
}
/// Asked again after each wake-up. Only the first time is the operand a term.
pub extern "sysv64" fn wait_timeout(p: &Proc, _: &Regs, args: *const u64, _: u64) -> u64 {
    match (ops::get().wait_timeout)(p, arg(p, args, 0)) {
        Ok(Wait::Sleep) => SLEEP,
        Ok(Wait::TimedOut) => TIMED_OUT,
        Err(_) => NONE,
    }
}
pub extern "sysv64" fn marker_reserve(p: &Proc, _: &Regs, _: *const u64, _: u64) -> u64 {
    (ops::get().marker_reserve)(p).word()
}
pub extern "sysv64" fn marker_bind(p: &Proc, _: &Regs, args: *const u64, _: u64) -> u64 {
    (ops::get().marker_bind)(p, arg(p, args, 0), arg(p, args, 1));
    0
}
pub extern "sysv64" fn marker_clear(p: &Proc, _: &Regs, args: *const u64, _: u64) -> u64 {
    (ops::get().marker_clear)(p, arg(p, args, 0));
    0
}
pub extern "sysv64" fn marker_use(p: &Proc, _: &Regs, args: *const u64, _: u64) -> u64 {
    (ops::get().marker_use)(p, arg(p, args, 0));
    0
}
