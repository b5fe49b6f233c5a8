//! Sending and receiving.

use kvik_heap::Regs;
use kvik_proc::receive::LOOK;
use kvik_proc::saved_calls::Saved;
use kvik_proc::{Peek, Proc, Wait};
use kvik_term::am;
use kvik_term::word::{NONE, TAG_HEADER};

use super::Operands;

pub const SLEEP: u64 = 0;
pub const TIMED_OUT: u64 = 1;
/// Result of `peek` that makes the process look again in its next time slice; not a term.
pub const LATER: u64 = TAG_HEADER;

pub extern "C" fn send(p: &Proc, _: &Regs, args: Operands, _: u64) -> u64 {
    let (to, m) = (args.term(p, 0), args.term(p, 1));
    if kvik_proc::trace::on() {
        p.save_call(Saved::Call(am::erlang, am::send, 2));
    }
    match p.send(to, m) {
        Ok(m) => {
            p.shorten_for_send();
            m.word()
        }
        Err(_) => super::call::badarg_in(p, am::send, &[to, m]),
    }
}
/// Called directly, without the stub for runtime functions: there are no operands, and no x
/// register is live.
pub extern "C" fn peek(p: &Proc, regs: &Regs) -> u64 {
    match p.has_no_mail() {
        true => {
            p.heap.bump_reductions(LOOK);
            NONE
        }
        false => look(p, regs),
    }
}
#[inline(never)]
fn look(p: &Proc, regs: &Regs) -> u64 {
    loop {
        match p.peek() {
            Peek::Message(t) => return t.word(),
            Peek::Nothing => return NONE,
            Peek::Later => return LATER,
            Peek::Collect(words) => {
                // SAFETY: a safepoint, with nothing live in x registers.
                if !unsafe { super::stop::collect_now(p, regs.x_ptr(), 0, words) } {
                    return NONE;
                }
            }
        }
    }
}
pub extern "C" fn next(p: &Proc, _: &Regs, _: Operands, _: u64) -> u64 {
    p.skip();
    0
}
/// The same, and the next message if that is at hand. Called directly, as `peek` is.
pub extern "C" fn advance(p: &Proc, _: &Regs) -> u64 {
    p.skip_to_next().map_or(NONE, |t| t.word())
}
/// Called where the current message may return to the mailbox while the process keeps a part of it.
pub extern "C" fn keep_message(p: &Proc, _: &Regs, _: Operands, _: u64) -> u64 {
    p.keep_message();
    0
}
pub extern "C" fn remove(p: &Proc, _: &Regs, _: Operands, _: u64) -> u64 {
    p.remove_message();
    0
}
pub extern "C" fn timeout(p: &Proc, _: &Regs, _: Operands, _: u64) -> u64 {
    if p.is_traced(kvik_proc::trace::bit::RECEIVE) {
        p.trace_receive(am::clock_service.into(), am::timeout.into());
    }
    p.save_call(Saved::Timeout);
    p.timeout();
    0
}
/// Called again after each wake-up. The operand is a term only the first time.
pub extern "C" fn wait_timeout(p: &Proc, _: &Regs, args: Operands, _: u64) -> u64 {
    match p.wait_timeout(args.term(p, 0)) {
        Wait::Wait => SLEEP,
        Wait::TimedOut => TIMED_OUT,
        Wait::BadTime => {
            p.error(am::timeout_value);
            NONE
        }
    }
}
pub extern "C" fn marker_reserve(p: &Proc, _: &Regs, _: Operands, _: u64) -> u64 {
    // This handles signals; heap words may be reserved for the instructions that follow.
    p.heap.in_fragments(|| p.marker_reserve()).word()
}
pub extern "C" fn marker_bind(p: &Proc, _: &Regs, args: Operands, _: u64) -> u64 {
    p.marker_bind(args.term(p, 0), args.term(p, 1));
    0
}
pub extern "C" fn marker_clear(p: &Proc, _: &Regs, args: Operands, _: u64) -> u64 {
    p.marker_clear(args.term(p, 0));
    0
}
pub extern "C" fn marker_use(p: &Proc, _: &Regs, args: Operands, _: u64) -> u64 {
    p.marker_use(args.term(p, 0));
    0
}
