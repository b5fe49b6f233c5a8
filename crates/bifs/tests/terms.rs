//! BIFs on terms and numbers against OTP: `terms.erl` writes calls with OTP's answers, and these have to be ours.
//! Skipped where there is no `erl`.

use std::process::Command;

use kvik_etf::{decode, encode, DecodeOpts, EncodeOpts};
use kvik_heap::roots::Root;
use kvik_proc::{Proc, Raised};
use kvik_term::{am, Term};

fn cases() -> Option<Vec<u8>> {
    let dir = std::env::temp_dir().join(format!("kvik-terms-{}", std::process::id()));
    std::fs::create_dir_all(&dir).ok()?;
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/terms.erl");
    let run = |c: &mut Command| c.current_dir(&dir).status().ok().filter(|s| s.success());
    let out = dir.join("cases");
    run(Command::new("erlc").arg(source))?;
    run(Command::new("erl").args(["-noshell", "-run", "terms", "main", "cases"]))?;
    let bytes = std::fs::read(out).ok();
    let _ = std::fs::remove_dir_all(dir);
    bytes
}

fn text(t: Term<'_>) -> Vec<u8> {
    encode(t, EncodeOpts::default(), 0)
}

#[test]
fn answers_are_those_of_otp() {
    let Some(all) = cases() else {
        eprintln!("no erl here: skipped");
        return;
    };
    let tables = kvik_bifs::all();
    let (mut rest, mut wrong, mut count) = (&all[..], 0, 0);
    let mut shown = std::collections::HashMap::new();
    while rest.len() > 4 {
        let n = u32::from_be_bytes(rest[..4].try_into().unwrap()) as usize;
        let p = Proc::new(1, 64);
        p.heap.set_reductions(4000);
        let bytes = &rest[4..4 + n];
        rest = &rest[4 + n..];
        count += 1;
        let (t, used) = decode(bytes, &p.heap, DecodeOpts::default()).expect("a case");
        assert_eq!(used, n);
        let back = text(t);
        let at = back.iter().zip(bytes).position(|(a, b)| a != b);
        let near = |b: &[u8]| {
            at.map(|i| b[i.saturating_sub(12)..].iter().copied().take(40).collect::<Vec<_>>())
        };
        assert_eq!(near(&back), near(bytes), "round trip of case {count}");
        let [m, f, args, want] = t.as_tuple_n().unwrap();
        let (m, f) = (m.as_atom().unwrap().name(), f.as_atom().unwrap().name());
        let args = args.list_to_vec().unwrap();
        let bif = tables
            .iter()
            .flat_map(|t| t.iter())
            .find(|b| b.module == m && b.name == f && b.arity as usize == args.len())
            .unwrap_or_else(|| panic!("{m}:{f}"));
        let got = match (bif.f)(&p, &args) {
            Ok(t) => p.heap.tuple(&[am::ok.into(), t]),
            Err(Raised { .. }) => p.heap.tuple(&[am::error.into(), p.heap.root(Root::ExcValue)]),
        };
        if text(got) != text(want) {
            wrong += 1;
            *shown.entry(format!("{m}:{f}")).or_insert(0) += 1;
            if shown[&format!("{m}:{f}")] <= 3 {
                let show =
                    |t| text(t).escape_ascii().to_string().chars().take(300).collect::<String>();
                let args = p.heap.list(&args);
                eprintln!(
                    "{m}:{f}/{} {}\n  want {}\n  got  {}",
                    count,
                    show(args),
                    show(want),
                    show(got)
                );
            }
        }
    }
    assert!(count > 20000);
    assert_eq!(wrong, 0, "of {count} calls");
}
