//! `re:compile/2` and `re:run/3`, as far as they are not Erlang code.
//!
//! The bytes: options in two bits each, then one byte with the pattern's length, pattern, subject.

use std::sync::OnceLock;

use kvik_proc::{Bif, Proc};
use kvik_term::{am, Atom, Term};

use crate::{bif, call};

/// Bytes of options.
const HEAD: usize = 5;
const COMPILE: [Atom; 14] = [
    am::unicode,
    am::caseless,
    am::dollar_endonly,
    am::dotall,
    am::extended,
    am::firstline,
    am::multiline,
    am::no_auto_capture,
    am::dupnames,
    am::ungreedy,
    am::ucp,
    am::never_utf,
    am::no_start_optimize,
    am::anchored,
];
const RUN: [Atom; 8] = [
    am::notempty,
    am::notempty_atstart,
    am::notbol,
    am::noteol,
    am::anchored,
    am::bsr_anycrlf,
    am::bsr_unicode,
    am::report_errors,
];
const NEWLINES: [Atom; 5] = [am::cr, am::lf, am::crlf, am::any, am::anycrlf];
const CAPTURES: [Atom; 5] = [am::all, am::all_but_first, am::first, am::none, am::all_names];
const KINDS: [Atom; 3] = [am::index, am::list, am::binary];
/// Matching stops where it would take longer: what PCRE does in between is its own.
const MATCH_LIMIT: i32 = 20_000;

fn chosen<'h>(from: &[Atom], bits: usize, out: &mut Vec<Term<'h>>) {
    let all = from.iter().enumerate().filter(|(i, _)| bits >> i & 1 != 0);
    out.extend(all.map(|(_, a)| Term::from(*a)));
}

fn bifs() -> &'static (Bif, Bif, Bif) {
    static ALL: OnceLock<(Bif, Bif, Bif)> = OnceLock::new();
    ALL.get_or_init(|| (bif("re", "compile", 2), bif("re", "run", 3), bif("re", "inspect", 2)))
}

pub fn run(data: &[u8]) {
    crate::install();
    let Some((head, rest)) = data.split_first_chunk::<HEAD>() else { return };
    let head = head.map(usize::from);
    let Some((length, rest)) = rest.split_first() else { return };
    let (source, subject) = rest.split_at((*length as usize).min(rest.len()));
    let p = Proc::new(1, 64);
    let h = &p.heap;
    let mut options = Vec::new();
    chosen(&COMPILE, head[0] | head[1] << 8, &mut options);
    if let Some(a) = NEWLINES.get(head[2] & 7) {
        options.push(h.tuple(&[am::newline.into(), (*a).into()]));
    }
    let (compile, run, inspect) = bifs();
    let subject = h.binary(subject);
    let how = run_options(&p, &head);
    let at_once = {
        let all: Vec<_> = options.iter().chain(&how).copied().collect();
        call(&p, *run, &[subject, h.binary(source), h.list(&all)])
    };
    let Some(made) = call(&p, *compile, &[h.binary(source), h.list(&options)]) else {
        return;
    };
    let Some([ok, pattern]) = made.as_tuple_n::<2>().filter(|[ok, _]| *ok == am::ok) else {
        return;
    };
    assert!(ok == am::ok);
    assert!(matches!(call(&p, *inspect, &[pattern, am::namelist.into()]), Some(_)));
    let compiled = call(&p, *run, &[subject, pattern, h.list(&how)]);
    if let (Some(a), Some(b)) = (at_once, compiled) {
        assert!(kvik_term::cmp::eq_exact(a, b), "the compiled pattern answers something else");
    }
}

fn run_options<'h>(p: &'h Proc, head: &[usize; HEAD]) -> Vec<Term<'h>> {
    let h = &p.heap;
    let mut options = Vec::new();
    chosen(&RUN, head[3], &mut options);
    let capture = (head[2] >> 3 & 7, head[2] >> 6);
    if let (Some(what), Some(kind)) = (CAPTURES.get(capture.0), KINDS.get(capture.1)) {
        options.push(h.tuple(&[am::capture.into(), (*what).into(), (*kind).into()]));
    }
    if head[4] & 15 != 0 {
        options.push(h.tuple(&[am::offset.into(), Term::int((head[4] & 15) as i32)]));
    }
    if head[4] >> 4 == 1 {
        options.push(h.tuple(&[am::match_limit_recursion.into(), Term::int(100)]));
    }
    options.push(h.tuple(&[am::match_limit.into(), Term::int(MATCH_LIMIT)]));
    options
}
