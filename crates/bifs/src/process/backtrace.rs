//! A process's stack as text, for `process_info(Pid, backtrace)`, `process_display/2` and
//! `process_dump` in match specifications. Tools look for the functions in parentheses.

use std::fmt::Display;
use std::io::Write;

use kvik_jit::StackSlot;
use kvik_proc::Proc;
use kvik_term::{print, Atom};

/// The program counter, then the frames: the return address of each, and its y registers. `called`:
/// the BIF of `erlang` or `erts_internal` that the process has called to see its own stack.
pub fn text(p: &Proc, called: Option<(Atom, &str)>) -> Vec<u8> {
    let mut out = Vec::new();
    // Writing to a vector cannot fail.
    let _ = write_all(p, called, &mut out);
    out
}

fn write_all(p: &Proc, called: Option<(Atom, &str)>, out: &mut Vec<u8>) -> std::io::Result<()> {
    let (address, function) = counter(p, called);
    writeln!(out, "Program counter: 0x{address:016x} ({function})")?;
    let mut register = 0;
    for (at, slot) in kvik_jit::slots(p) {
        match slot {
            StackSlot::Return(to) => {
                writeln!(out, "\n0x{at:016x} Return addr 0x{to:016x} ({})", function_before(to))?;
                register = 0;
                continue;
            }
            StackSlot::Catch(to) => {
                let name = format!("y({register})");
                writeln!(out, "{name:<8} Catch 0x{to:016x} ({})", function_before(to))?;
            }
            StackSlot::Term(t) => {
                let name = format!("y({register})");
                write!(out, "{name:<8} ")?;
                out.extend(print::display(t));
                out.push(b'\n');
            }
        }
        register += 1;
    }
    Ok(())
}

/// The program counter of a process: the address and its function. While native code waits for a
/// BIF or a tracer, that is where it returns to.
fn counter(p: &Proc, called: Option<(Atom, &str)>) -> (usize, String) {
    let (ip, next) = kvik_jit::goes_on(p);
    let ip = match ip {
        0 => kvik_jit::returns(p).first().map_or(0, |(_, to)| *to),
        ip => ip,
    };
    let bif = called.and_then(|(m, f)| kvik_code::find_export(m, Atom::existing(f)?, 2));
    match bif.or(next.filter(|_| called.is_none())) {
        Some(e) => (e.address(), function(e.module, e.function, e.arity, 0)),
        None => (ip, function_before(ip)),
    }
}
/// The function that an address lies in, or that ends there, and the offset within it.
fn function_before(address: usize) -> String {
    let found = || {
        let i = kvik_code::at(address)?;
        let f = i.function_at(address.checked_sub(1)?)?;
        Some(function(i.name, f.function, f.arity, address - i.start - f.start as usize))
    };
    found().unwrap_or_else(|| "<terminate process normally>".to_owned())
}
fn function(module: Atom, function: Atom, arity: impl Display, offset: usize) -> String {
    let mut text = Vec::new();
    print::atom(module, &mut text);
    text.push(b':');
    print::atom(function, &mut text);
    format!("{}/{arity} + {offset}", String::from_utf8_lossy(&text))
}
