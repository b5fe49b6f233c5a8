//! Natives against OTP: `oracle.erl` and `terms.erl` write calls with OTP's answers, and these have
//! to be ours, whether a BIF has a whole time slice before it or stops after each reduction.
//! Skipped where there is no `erl`.

use std::collections::HashMap;
use std::process::Command;

use kvik_etf::{decode, encode, DecodeOpts, EncodeOpts};
use kvik_heap::roots::Root;
use kvik_proc::{BifEntry, ErrorClass, Proc};
use kvik_term::{am, Term};

/// Reductions that a time slice has.
const TURNS: [i64; 2] = [4000, 1];
/// How much of a map it gives at a time depends on what is left of the time slice.
const AS_FAR_AS_THE_TURN_GOES: &str = "map_next";
/// Has the number of OTP's release and, behind a space, the day of its own: patterns that one of the
/// two has compiled the other cannot use.
const OF_ANOTHER_DAY: &str = "version";
/// Wrong answers of a BIF that are shown.
const SHOWN: u32 = 3;

/// What `module:main/1` writes: of each call its length and its external form.
fn cases(module: &str) -> Option<Vec<u8>> {
    let dir = std::env::temp_dir().join(format!("kvik-{module}-{}", std::process::id()));
    std::fs::create_dir_all(&dir).ok()?;
    let source = format!("{}/tests/{module}.erl", env!("CARGO_MANIFEST_DIR"));
    let run = |c: &mut Command| c.current_dir(&dir).status().ok().filter(|s| s.success());
    run(Command::new("erlc").arg(source))?;
    run(Command::new("erl").args(["-noshell", "-run", module, "main", "cases"]))?;
    let bytes = std::fs::read(dir.join("cases")).ok();
    let _ = std::fs::remove_dir_all(dir);
    bytes
}

fn text(t: Term<'_>) -> Vec<u8> {
    encode(t, EncodeOpts::default(), 0)
}

fn shown(t: Term<'_>) -> String {
    text(t).escape_ascii().to_string().chars().take(300).collect()
}

fn decoded<'h>(p: &'h Proc, bytes: &[u8]) -> Term<'h> {
    let (t, used) = decode(bytes, &p.heap, DecodeOpts::default()).expect("a case");
    assert_eq!(used, bytes.len());
    let back = text(t);
    if let Some(at) = back.iter().zip(bytes).position(|(a, b)| a != b) {
        let near = |b: &[u8]| b[at.saturating_sub(12)..].escape_ascii().to_string();
        assert_eq!(near(&back), near(bytes), "round trip");
    }
    t
}

/// The BIF's value or exception, from as many time slices as it takes.
fn answer<'h>(p: &'h Proc, bif: &BifEntry, args: &[Term<'h>], turn: i64) -> Term<'h> {
    loop {
        p.heap.set_reductions(turn);
        match (bif.f)(p, args) {
            Ok(t) => return p.heap.tuple(&[am::ok.into(), t]),
            Err(_) if p.heap.exc_class() == ErrorClass::Again as u8 => {}
            Err(_) => return p.heap.tuple(&[am::error.into(), p.heap.root(Root::ExcValue)]),
        }
    }
}

fn compare(module: &str, at_least: usize) {
    let Some(all) = cases(module) else {
        eprintln!("no erl here: skipped");
        return;
    };
    let tables = kvik_bifs::all();
    let (mut rest, mut count) = (&all[..], 0);
    let mut wrong = HashMap::<String, u32>::new();
    while let Some((length, more)) = rest.split_first_chunk::<4>() {
        let (bytes, more) = more.split_at(u32::from_be_bytes(*length) as usize);
        rest = more;
        count += 1;
        for turn in TURNS {
            let p = Proc::new(1, 64);
            let [m, f, args, want] = decoded(&p, bytes).as_tuple_n().unwrap();
            let (m, f) = (m.as_atom().unwrap().name(), f.as_atom().unwrap().name());
            let args = args.list_to_vec().unwrap();
            let bif = tables
                .iter()
                .flat_map(|t| t.iter())
                .find(|b| b.module == m && b.name == f && b.arity as usize == args.len())
                .unwrap_or_else(|| panic!("{m}:{f}"));
            let got = answer(&p, bif, &args, turn);
            let (ours, theirs) = (text(got), text(want));
            let number = |t: &[u8]| t.split(|b| *b == b' ').next().map(<[u8]>::to_vec);
            if f == OF_ANOTHER_DAY && ours != theirs && number(&ours) == number(&theirs) {
                continue;
            }
            if ours == theirs || turn < TURNS[0] && f == AS_FAR_AS_THE_TURN_GOES {
                continue;
            }
            let n = wrong.entry(format!("{m}:{f}")).or_insert(0);
            *n += 1;
            if *n <= SHOWN {
                let args = shown(p.heap.list(&args));
                eprintln!("{m}:{f} {args}, turns of {turn}");
                eprintln!("  want {}\n  got  {}", shown(want), shown(got));
            }
        }
    }
    assert!(count > at_least);
    assert!(wrong.is_empty(), "of {count} calls: {wrong:?}");
}

#[test]
fn binaries_and_texts() {
    compare("oracle", 4000);
}

#[test]
fn terms_and_numbers() {
    compare("terms", 20000);
}
