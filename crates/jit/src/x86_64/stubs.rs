//! The stubs: code that all modules share.
//!
//! In compiled code `rsp` is 16-aligned. A runtime function gets the process, the registers, a
//! pointer to its operands (which compiled code has put on the thread's stack) and one more word.
//! It finds x0–x3 in `Regs.x`; they are reloaded from there when it returns.
//!
//! | stub | expects |
//! |---|---|
//! | `runtime` | the function in `rax`, its word in `rcx` |
//! | `lean_alloc` | the function in `rax`, its arguments in `rsi rdx rcx` |
//! | `yield_`, `hibernate` | the address to go on at in `rax`, the number of live x registers in `ecx` |
//! | `wait` | the address to go on at in `rax` |
//! | `bif`, `nursery_reset_bif`, `undef`, `break_export` | the export in `rax` |
//! | `nif` | the entry in `rax` |
//! | `no_fun` | the fun in `rdi` |
//! | `raise`, `trap`, `break_call`, `line_break` | to be called: the return address is the place |

pub mod bits;
mod build;
mod dictionary;
mod maps;
pub mod terms;

use kvik_heap::{Heap, Regs};
use kvik_term::word::NONE;
use kvik_term::CodeAddress;

use super::asm::*;
use super::{HTOP, P, REDS, REGS, STACK, XREGS};
use crate::mem::NativeCode;
use crate::rt;
use crate::stubs::{Labels, Stubs, FAILED, RETURNED, WAIT, YIELD};

/// Aligns a return address so that the word is neither a small integer nor a pointer.
pub fn align_continuation(a: &mut Asm) {
    while a.pos() % 16 != 8 {
        a.buf.push(0xCC)
    }
}

/// Saves the process state that native code keeps in registers.
pub fn save_own(a: &mut Asm) {
    a.mov_mr(P, Heap::HTOP as i32, HTOP);
    a.mov_mr(P, Heap::STOP as i32, STACK);
    a.mov_mr(P, Heap::FCALLS as i32, REDS);
}
fn save_state(a: &mut Asm) {
    save_own(a);
    save_x(a);
}
/// Saves the x registers that a Rust function may change.
pub fn save_x(a: &mut Asm) {
    for (i, r) in XREGS.iter().enumerate() {
        a.mov_mr(REGS, (Regs::X + 8 * i) as i32, *r);
    }
}

pub fn load_own(a: &mut Asm) {
    a.mov_rm(HTOP, P, Heap::HTOP as i32);
    a.mov_rm(STACK, P, Heap::STOP as i32);
    a.mov_rm(REDS, P, Heap::FCALLS as i32);
}
fn load_state(a: &mut Asm) {
    load_own(a);
    load_x(a);
}
pub fn load_x(a: &mut Asm) {
    for (i, r) in XREGS.iter().enumerate() {
        a.mov_rm(*r, REGS, (Regs::X + 8 * i) as i32);
    }
}

const SAVED: [R; 6] = [RBX, RBP, R12, R13, R14, R15];

struct Maker {
    a: Asm,
    runtime: Label,
    raise: Label,
    leave: Label,
    yield_: Label,
}

impl Maker {
    fn entry(&mut self) -> Label {
        self.a.align(16);
        self.a.here()
    }
    fn call_rt(&mut self, f: rt::Fun) {
        self.a.mov_ri(RAX, f as usize as u64);
        self.a.call(self.runtime);
    }
    /// Ends the time slice, to continue at the caller's continuation.
    fn return_late(&mut self) {
        self.a.mov_rm(RAX, STACK, 0);
        self.a.alu_ri(Alu::Add, STACK, 8);
        self.a.mov_ri(RCX, 1);
        self.a.jmp(self.yield_);
    }
    /// Pops the caller's continuation and raises at that address.
    fn raise_at_caller(&mut self) {
        self.a.mov_rm(RAX, STACK, 0);
        self.a.alu_ri(Alu::Add, STACK, 8);
        self.a.push(RAX);
        self.a.jmp(self.raise);
    }
    /// Jumps to the fun's code at `rax`, with entry and fun loaded from the scratch words.
    fn jump_prepared(&mut self) {
        self.a.mov_rr(RCX, RAX);
        self.a.mov_rm(RAX, REGS, Regs::SCRATCH as i32);
        self.a.mov_rm(RDI, REGS, Regs::SCRATCH as i32 + 8);
        self.a.jmp_r(RCX);
    }
}

pub fn make() -> Option<Stubs> {
    let mut a = Asm::new();
    let (runtime, raise) = (a.label(), a.label());
    let (leave, yield_) = (a.label(), a.label());
    let mut m = Maker { a, runtime, raise, leave, yield_ };
    let enter = way_in(&mut m);
    runtime_call(&mut m);
    let trap = raising(&mut m);
    stopping(&mut m, yield_, rt::stop::yield_, YIELD);
    let late_return = m.entry();
    m.return_late();
    let hibernate = m.a.label();
    stopping(&mut m, hibernate, rt::stop::hibernate_keeping_stack, WAIT);
    let wait = waiting(&mut m);
    let bif = bif_call(&mut m, Counts::Yes, rt::call::bif, rt::call::resume);
    let uncounted_bif = bif_call(&mut m, Counts::No, rt::call::bif, rt::call::resume);
    let shedding_bif = bif_call(&mut m, Counts::Yes, rt::call::nursery_reset_bif, rt::call::resume);
    let nif = bif_call(&mut m, Counts::Yes, rt::call::nif, rt::call::resume_nif);
    let undef = m.entry();
    m.a.mov_rr(RCX, RAX);
    m.call_rt(rt::call::undefined);
    let bad = m.a.label();
    none_to(&mut m.a, bad);
    m.a.jmp_m(RAX, 0);
    m.a.place(bad);
    m.raise_at_caller();
    let apply = m.entry();
    m.call_rt(rt::call::apply_list);
    let bad = m.a.label();
    none_to(&mut m.a, bad);
    m.a.jmp_m(RAX, 0);
    m.a.place(bad);
    m.raise_at_caller();
    let apply_fun = m.entry();
    m.call_rt(rt::call::called_apply_fun);
    let bad = m.a.label();
    none_to(&mut m.a, bad);
    m.jump_prepared();
    m.a.place(bad);
    m.raise_at_caller();
    let no_fun = m.entry();
    m.a.mov_rr(RCX, RDI);
    m.call_rt(rt::call::fun_without_code);
    let bad = m.a.label();
    none_to(&mut m.a, bad);
    m.a.jmp_m(RAX, 0);
    m.a.place(bad);
    m.raise_at_caller();
    align_continuation(&mut m.a);
    let normal_exit = m.a.here();
    save_state(&mut m.a);
    m.a.mov_ri(RAX, RETURNED);
    m.a.jmp(leave);
    let begin = m.entry();
    m.a.lea_label(RCX, normal_exit);
    m.a.lea(STACK, STACK, -8);
    m.a.mov_mr(STACK, 0, RCX);
    m.a.jmp(apply);
    let (break_call, break_export, returned) = watched(&mut m);
    let (line_break, line_resume) = lines(&mut m);
    let maps = maps::make(&mut m.a);
    let (lean, lean_alloc) = (m.lean(), m.lean_alloc());
    let start_match = m.start_match();
    let get_bits = m.get_bits(lean_alloc);
    let get_tail = m.get_tail(get_bits);
    let get_utf8 = m.get_utf8(lean);
    let binary_part = m.binary_part(get_bits);
    let append = m.append(lean_alloc, false);
    let private_append = m.append(lean_alloc, true);
    let (put_binary, put_utf8) = (m.put_binary(lean), m.put_utf8());
    let dictionary = dictionary::make(&mut m.a);
    let terms = terms::make(&mut m.a);
    let labels = Labels {
        enter,
        runtime,
        raise,
        trap,
        yield_,
        wait,
        late_return,
        hibernate,
        bif,
        shedding_bif,
        uncounted_bif,
        nif,
        undef,
        apply,
        apply_fun,
        no_fun,
        begin,
        normal_exit,
        line_break,
        line_resume,
        break_call,
        break_export,
        returned,
        map_find: maps.find,
        map_find_hashed: maps.find_hashed,
        map_find_deep: maps.find_deep,
        map_copy: maps.copy,
        map_set: maps.set,
        map_done: maps.done,
        lean_alloc,
        start_match,
        get_bits,
        get_tail,
        get_utf8,
        binary_part,
        append,
        private_append,
        put_binary,
        put_utf8,
        dictionary_get: dictionary.get,
        dictionary_put: dictionary.put,
        compare: terms.compare,
        length: terms.length,
        equal: terms.equal,
        set_element: terms.set_element,
    };
    finish(m, labels)
}

fn finish(mut m: Maker, labels: Labels) -> Option<Stubs> {
    let code = NativeCode::alloc(m.a.buf.len())?;
    if !m.a.resolve() || !m.a.relocate(code.address()) {
        return None;
    }
    code.write(&m.a.buf);
    let base = code.address();
    // SAFETY: stubs begin at their labels, and are never freed.
    let at = |offset: u32| unsafe { CodeAddress::new(base + offset as usize) };
    let stubs = labels.placed(code, |l| m.a.offset(l).map(at))?;
    kvik_code::set_undef_stub(stubs.undef);
    Some(stubs)
}

pub fn none_to(a: &mut Asm, l: Label) {
    a.alu_ri(Alu::Cmp, RAX, NONE as i32);
    a.jcc(Cc::E, l);
}

/// `enter(process, registers, address)`; returns the reason for which the process stopped.
fn way_in(m: &mut Maker) -> Label {
    let enter = m.entry();
    for r in SAVED {
        m.a.push(r);
    }
    m.a.alu_ri(Alu::Sub, RSP, 8);
    m.a.mov_rr(P, RDI);
    m.a.mov_rr(REGS, RSI);
    load_state(&mut m.a);
    m.a.jmp_r(RDX);
    m.a.align(16);
    m.a.place(m.leave);
    m.a.alu_ri(Alu::Add, RSP, 8);
    for r in SAVED.into_iter().rev() {
        m.a.pop(r);
    }
    m.a.ret();
    enter
}

fn runtime_call(m: &mut Maker) {
    m.a.align(16);
    m.a.place(m.runtime);
    save_state(&mut m.a);
    m.a.mov_rr(RDI, P);
    m.a.mov_rr(RSI, REGS);
    m.a.lea(RDX, RSP, 8);
    m.a.alu_ri(Alu::Sub, RSP, 8);
    m.a.call_r(RAX);
    m.a.alu_ri(Alu::Add, RSP, 8);
    load_state(&mut m.a);
    m.a.ret();
}

/// Emits `raise`, and the stub for unreachable code, which is called like `raise`; returns the
/// latter's label.
fn raising(m: &mut Maker) -> Label {
    m.a.align(16);
    m.a.place(m.raise);
    m.a.pop(RCX);
    m.call_rt(rt::raise::raise);
    let uncaught = m.a.label();
    m.a.test_rr(RAX, RAX);
    m.a.jcc(Cc::E, uncaught);
    m.a.jmp_r(RAX);
    m.a.place(uncaught);
    m.a.mov_ri(RAX, FAILED);
    m.a.jmp(m.leave);
    let trap = m.entry();
    m.a.alu_ri(Alu::Sub, RSP, 8);
    m.call_rt(rt::raise::impossible);
    m.a.alu_ri(Alu::Add, RSP, 8);
    m.a.jmp(m.raise);
    trap
}

/// Emits a stub that leaves native code, with some x registers live.
fn stopping(m: &mut Maker, stub: Label, save: rt::Fun, outcome: u64) {
    m.a.align(16);
    m.a.place(stub);
    // The live count goes above the address, which has 47 bits.
    m.a.shl(RCX, 48);
    m.a.alu_rr(Alu::Or, RCX, RAX);
    m.call_rt(save);
    m.a.mov_ri(RAX, outcome);
    m.a.jmp(m.leave);
}

/// Emits `wait`. Another process may continue in place of the one that waits.
fn waiting(m: &mut Maker) -> Label {
    let wait = m.entry();
    // No x register is live.
    save_own(&mut m.a);
    m.a.mov_rr(RDI, P);
    m.a.mov_rr(RSI, REGS);
    m.a.mov_rr(RDX, RAX);
    m.a.mov_ri(RAX, rt::stop::wait as rt::stop::WaitFn as usize as u64);
    m.a.call_r(RAX);
    let nobody = m.a.label();
    m.a.test_rr(RAX, RAX);
    m.a.jcc(Cc::E, nobody);
    m.a.mov_rr(P, RAX);
    load_state(&mut m.a);
    m.a.jmp_r(RDX);
    m.a.place(nobody);
    m.a.mov_ri(RAX, WAIT);
    m.a.jmp(m.leave);
    wait
}

/// Whether a call costs a reduction.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Counts {
    Yes,
    No,
}

fn bif_call(m: &mut Maker, counts: Counts, call: rt::Fun, resume: rt::Fun) -> Label {
    let bif = m.entry();
    let (late, in_time) = (m.a.label(), m.a.label());
    m.a.mov_rr(RCX, RAX);
    if counts == Counts::Yes {
        m.a.dec(REDS);
        save_state(&mut m.a);
        m.a.jcc(Cc::Le, late);
    } else {
        save_state(&mut m.a);
    }
    m.a.place(in_time);
    m.a.mov_rr(RDI, P);
    m.a.mov_rr(RSI, REGS);
    m.a.mov_ri(RAX, call as usize as u64);
    m.a.call_r(RAX);
    // No x register is live but the result.
    load_own(&mut m.a);
    let failed = m.a.label();
    none_to(&mut m.a, failed);
    m.a.mov_rr(XREGS[0], RAX);
    m.a.mov_rm(RCX, STACK, 0);
    m.a.alu_ri(Alu::Add, STACK, 8);
    m.a.jmp_r(RCX);
    m.a.place(late);
    m.a.mov_rr(RDI, P);
    m.a.mov_rr(RSI, REGS);
    m.a.mov_ri(RAX, rt::call::put_off as rt::Fun as usize as u64);
    m.a.call_r(RAX);
    m.a.mov_rr(RCX, RAX);
    m.a.alu_ri(Alu::Cmp, RAX, NONE as i32);
    m.a.jcc(Cc::Ne, in_time);
    load_own(&mut m.a);
    m.a.place(failed);
    m.call_rt(rt::call::after_bif);
    let (exception, stopped, late) = (m.a.label(), m.a.label(), m.a.label());
    m.a.alu_ri(Alu::Cmp, RAX, rt::call::STOPPED as i32);
    m.a.jcc(Cc::B, exception);
    m.a.jcc(Cc::E, stopped);
    m.a.alu_ri(Alu::Cmp, RAX, rt::call::LATE as i32);
    m.a.jcc(Cc::E, late);
    m.a.jmp_m(RAX, 0);
    m.a.place(late);
    m.return_late();
    m.a.place(exception);
    m.raise_at_caller();
    // The process holds the whole state of a BIF that yields.
    m.a.place(stopped);
    let resumed = m.a.label();
    m.a.lea_label(RAX, resumed);
    m.a.mov_ri(RCX, 0);
    m.a.jmp(m.yield_);
    m.a.align(16);
    m.a.place(resumed);
    m.call_rt(resume);
    m.a.mov_rr(RCX, RAX);
    save_state(&mut m.a);
    m.a.jmp(in_time);
    bif
}

/// Emits the stubs for entries with a breakpoint, for traced exports, and for returns of traced
/// calls.
fn watched(m: &mut Maker) -> (Label, Label, Label) {
    let entry = m.entry();
    m.a.pop(RCX);
    m.call_rt(rt::breakpoints::entry);
    let over = m.a.label();
    m.a.test_rr(RAX, RAX);
    m.a.jcc(Cc::E, over);
    m.a.dec(REDS);
    m.jump_prepared();
    m.a.place(over);
    m.a.mov_rm(RAX, REGS, Regs::SCRATCH as i32);
    m.a.mov_rm(RCX, REGS, Regs::SCRATCH as i32 + 8);
    m.a.jmp(m.yield_);
    let export = m.entry();
    m.a.mov_rr(RCX, RAX);
    m.call_rt(rt::breakpoints::export);
    m.jump_prepared();
    align_continuation(&mut m.a);
    let returned = m.a.here();
    m.a.mov_rm(RCX, STACK, 0);
    m.a.alu_ri(Alu::Add, STACK, 8);
    m.call_rt(rt::breakpoints::returned);
    m.a.mov_rm(RCX, STACK, 0);
    m.a.alu_ri(Alu::Add, STACK, 8);
    m.a.jmp_r(RCX);
    (entry, export, returned)
}

/// Emits the stubs for breakpoints at lines.
fn lines(m: &mut Maker) -> (Label, Label) {
    let hit = m.entry();
    m.a.pop(RCX);
    m.call_rt(rt::debugger::hit);
    m.jump_prepared();
    align_continuation(&mut m.a);
    let resume = m.a.here();
    m.call_rt(rt::debugger::resumed);
    m.a.mov_rm(RCX, STACK, 0);
    m.a.alu_ri(Alu::Add, STACK, 8);
    m.a.jmp_r(RCX);
    (hit, resume)
}
