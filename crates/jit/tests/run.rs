//! Small modules, compiled by OTP's `erlc` if installed, run without a scheduler.

use std::path::Path;
use std::process::Command;

use kvik_heap::roots::Root;
use kvik_heap::Regs;
use kvik_jit::RunOutcome;
use kvik_proc::{BifResult, Proc};
use kvik_term::{Atom, Term};

fn compile(name: &str) -> Option<Vec<u8>> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/erl");
    let out = std::env::temp_dir().join(format!("kvik-jit-{}", std::process::id()));
    std::fs::create_dir_all(&out).ok()?;
    let erlc = Command::new("erlc")
        .arg("-o")
        .arg(&out)
        .arg(dir.join(format!("{name}.erl")))
        .status()
        .ok()?;
    assert!(erlc.success());
    std::fs::read(out.join(format!("{name}.beam"))).ok()
}

/// The part of `+ - *` that templates leave to BIFs and the test needs.
fn arithmetic<'h>(
    p: &'h Proc,
    a: &[Term<'h>],
    small: fn(i64, i64) -> i64,
    float: fn(f64, f64) -> f64,
) -> BifResult<'h> {
    let number = |t: Term<'h>| t.as_float().or(t.as_small().map(|i| i as f64));
    match (a[0].as_small(), a[1].as_small(), number(a[0]), number(a[1])) {
        (Some(x), Some(y), ..) => Ok(p.heap.integer(small(x, y))),
        (_, _, Some(x), Some(y)) => Ok(p.heap.float(float(x, y))),
        _ => Err(p.badarith()),
    }
}
fn plus<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    arithmetic(p, a, |x, y| x + y, |x, y| x + y)
}
fn minus<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    arithmetic(p, a, |x, y| x - y, |x, y| x - y)
}
fn times<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    arithmetic(p, a, |x, y| x * y, |x, y| x * y)
}

fn call(module: &str, function: &str) -> Result<String, String> {
    let p = Proc::new(1, 64);
    let regs = Regs::new();
    let atom = |s: &str| Atom::intern(s).unwrap().into();
    kvik_jit::start(&p, atom(module), atom(function), Term::NIL);
    loop {
        p.heap.set_reductions(1000);
        match kvik_jit::run(&p, &regs) {
            RunOutcome::Yield => {}
            RunOutcome::Returned => {
                // SAFETY: x0 is the function's value.
                let t: Term = unsafe { Term::from_word(*regs.x_ptr()) };
                return Ok(t.as_atom().map_or(format!("{t:?}"), |a| a.name().into()));
            }
            o => {
                let trace = kvik_jit::stacktrace(&p, p.heap.root(Root::ExcTrace));
                let lines: Vec<_> = trace.list().map(show).collect();
                return Err(format!("{o:?} {} {lines:?}", show(p.heap.root(Root::ExcValue))));
            }
        }
    }
}

fn show(t: Term<'_>) -> String {
    use kvik_term::View::*;
    match t.view() {
        Small(i) => i.to_string(),
        Atom(a) => a.name().into(),
        Tuple(t) => {
            format!("{{{}}}", t.elements().iter().map(|t| show(*t)).collect::<Vec<_>>().join(","))
        }
        Cons(_) => format!("[{}]", t.list().take(5).map(show).collect::<Vec<_>>().join(",")),
        Nil => "[]".into(),
        Float(f) => f.to_string(),
        Bits(b) => format!("<<{} bits>>", b.bit_len()),
        _ => "?".into(),
    }
}

#[test]
fn the_language() {
    let Some(file) = compile("basic") else { return };
    assert!(kvik_jit::init());
    let table: [(&str, kvik_proc::Bif); 3] = [("+", plus), ("-", minus), ("*", times)];
    for (name, f) in table {
        let e = kvik_code::export(Atom::intern("erlang").unwrap(), Atom::intern(name).unwrap(), 2);
        kvik_jit::bind_bif(e, f);
    }
    let instance = kvik_jit::prepare(&file).map_err(|e| e.to_string()).unwrap();
    kvik_code::commit(vec![instance]).unwrap();
    assert_eq!(call("basic", "main"), Ok("ok".into()));
}

/// Every file of the installed OTP gets native code.
#[test]
fn all_of_otp_compiles() {
    let Ok(lib) = std::fs::read_dir("/usr/lib/erlang/lib") else { return };
    kvik_etf::set_hooks(kvik_etf::EtfHooks {
        node: || (kvik_term::am::nonode_nohost, 0),
        export: |m, f, a| Some(kvik_code::export(m, f, a as u32)),
        is_known: |_, _, _| false,
        fun: |_| None,
        record: |_, _, _| None,
        local_ref: |h, n| Some(h.ref_of_numbers(n.try_into().ok()?)),
    });
    assert!(kvik_jit::init());
    let (mut files, mut faults) = (0, Vec::new());
    for app in lib.flatten() {
        let Ok(ebin) = std::fs::read_dir(app.path().join("ebin")) else { continue };
        for f in ebin.flatten().filter(|f| f.path().extension().is_some_and(|e| e == "beam")) {
            let bytes = std::fs::read(f.path()).unwrap();
            if let Err(e) = kvik_jit::prepare(&bytes) {
                faults.push(format!("{}: {e}", f.path().display()));
            }
            files += 1;
        }
    }
    assert!(faults.is_empty(), "{} of {files}:\n{}", faults.len(), faults.join("\n"));
}
