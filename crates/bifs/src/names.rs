//! Conversion of pids, ports, references and funs to and from text, `fun_info`, and
//! `erlang:display/1`.

use std::io::Write;

use crate::system::schedulers;
use kvik_heap::build::is_made_here;
use kvik_proc::hooks::hooks;
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, print, Atom, ExtKind, PidTerm, Term, View};

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "pid_to_list", 1, pid_to_list),
    bif!("erlang", "port_to_list", 1, port_to_list),
    bif!("erlang", "ref_to_list", 1, ref_to_list),
    bif!("erlang", "fun_to_list", 1, fun_to_list),
    bif!("erlang", "list_to_pid", 1, list_to_pid),
    bif!("erlang", "list_to_port", 1, list_to_port),
    bif!("erlang", "list_to_ref", 1, list_to_ref),
    bif!("erlang", "fun_info", 2, fun_info),
    bif!("erlang", "fun_info_mfa", 1, fun_info_mfa),
    bif!("erlang", "make_fun", 3, make_fun),
    bif!("erlang", "display", 1, display),
    bif!("erlang", "display_string", 1, display_string, until 27),
    bif!("erlang", "display_string", 2, display_string_to, since 27),
    bif!("erlang", "display_nl", 0, display_nl, until 27),
    bif!("erts_debug", "display", 1, debug_display, until 27),
    bif!("erts_internal", "term_to_string", 2, term_to_string, since 27),
];

fn text<'h>(p: &'h Proc, t: Term<'h>, wanted: bool) -> BifResult<'h> {
    if wanted {
        Ok(p.heap.byte_list(&print::display(t)))
    } else {
        Err(p.badarg())
    }
}
fn pid_to_list<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    text(p, a[0], matches!(a[0].view(), View::Pid(_)))
}
fn port_to_list<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    text(p, a[0], matches!(a[0].view(), View::Port(_)))
}
fn ref_to_list<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    if let Some(r) = a[0].as_local_ref() {
        kvik_heap::written_refs::remember(r);
    }
    text(p, a[0], matches!(a[0].view(), View::Ref(_)))
}
fn fun_to_list<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    text(p, a[0], matches!(a[0].view(), View::Fun(_)))
}

/// Parses the numbers of `Prefix<A.B.C>` given as a list.
fn numbers<const N: usize>(t: Term<'_>, prefix: &str) -> Option<[u64; N]> {
    all_numbers(t, prefix)?.try_into().ok()
}
fn all_numbers(t: Term<'_>, prefix: &str) -> Option<Vec<u64>> {
    let bytes: Option<Vec<u8>> =
        t.list_to_vec()?.iter().map(|c| c.as_small().and_then(|c| u8::try_from(c).ok())).collect();
    let text = String::from_utf8(bytes?).ok()?;
    let inner = text.strip_prefix(prefix)?.strip_prefix('<')?.strip_suffix('>')?;
    let number = |s: &str| s.bytes().all(|b| b.is_ascii_digit()).then(|| s.parse().ok())?;
    inner.split('.').map(number).collect()
}
/// The node that a first number other than 0 stands for, if known.
fn node(channel: u64) -> Option<(Atom, u32)> {
    let name = Atom::from_index(u32::try_from(channel).ok()?)?;
    Some((name, (hooks().node.creation)(name)?))
}
/// The first number of a local pid is 0.
fn list_to_pid<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    match numbers(a[0], "") {
        Some([0, n, serial]) => PidTerm::local(n, serial).ok_or_else(|| p.badarg()),
        Some([channel, n, serial]) if channel != 0 && n >> 32 == 0 && serial >> 32 == 0 => {
            let (name, creation) = node(channel).ok_or_else(|| p.badarg())?;
            Ok(p.heap.external(ExtKind::Pid, name, creation, &[n | serial << 32], 1))
        }
        _ => Err(p.badarg()),
    }
}
fn list_to_port<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    match numbers(a[0], "#Port") {
        Some([0, n]) if n <= kvik_release::current().max_port_number() => {
            Ok(Term::port_of_number(n))
        }
        Some([channel, n]) if channel != 0 => {
            let (name, creation) = node(channel).ok_or_else(|| p.badarg())?;
            Ok(p.heap.external(ExtKind::Port, name, creation, &[n], 1))
        }
        _ => Err(p.badarg()),
    }
}
/// Whether these may be the numbers of a reference of this node. OTP has a scheduler's number in
/// the second.
fn may_be_named(numbers: &[u32]) -> bool {
    let [hashed, low, high, rest @ ..] = numbers else { return false };
    let scheduler = *low as usize & 0xFFFF;
    matches!(rest.len(), 0 | 2)
        && (is_made_here([*hashed, *low, *high]) || scheduler <= schedulers())
}
/// Maximum number of words of another node's reference.
const MAX_REF: usize = 5;
fn list_to_ref<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let all = all_numbers(a[0], "#Ref").filter(|all| all.iter().all(|n| n >> 32 == 0));
    match all.as_deref() {
        Some([0, rest @ ..]) if rest.last().is_some_and(|a| *a < 1 << 18) => {
            let numbers: Vec<u32> = rest.iter().rev().map(|n| *n as u32).collect();
            let named = may_be_named(&numbers).then(|| p.heap.ref_read(&numbers)).flatten();
            named.ok_or_else(|| p.badarg())
        }
        // The text holds the words of the reference in reverse order.
        Some([channel, rest @ ..]) if *channel != 0 && (1..=MAX_REF).contains(&rest.len()) => {
            let (name, creation) = node(*channel).ok_or_else(|| p.badarg())?;
            let ids: Vec<u64> = rest.iter().rev().copied().collect();
            let data: Vec<u64> =
                ids.chunks(2).map(|c| c[0] | c.get(1).map_or(0, |n| n << 32)).collect();
            Ok(p.heap.external(ExtKind::Ref, name, creation, &data, ids.len()))
        }
        _ => Err(p.badarg()),
    }
}

fn fun_info<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (View::Fun(f), Some(item)) = (a[0].view(), a[1].as_atom()) else {
        return Err(p.badarg());
    };
    let undefined: Term<'h> = am::undefined.into();
    let number = |n: Option<u32>| n.map_or(undefined, |n| p.heap.unsigned(n as u64));
    let (local, export) = (f.entry(), f.export());
    let value = match item {
        am::type_ if local.is_some() => am::local.into(),
        am::type_ => am::external.into(),
        am::pid => f.creator().unwrap_or(undefined),
        am::module => {
            local.map(|e| e.module).or(export.map(|e| e.module)).map_or(undefined, Term::from)
        }
        am::name => {
            let name = local.map(|e| e.function).or(export.map(|e| e.function));
            name.map_or(Term::NIL, Term::from)
        }
        am::arity => p.heap.unsigned(f.arity() as u64),
        am::env => p.heap.list(f.env()),
        am::index => number(local.map(|e| e.old_index)),
        am::uniq => number(local.map(|e| e.old_uniq)),
        am::new_index => number(local.map(|e| e.index)),
        am::new_uniq => local.map_or(undefined, |e| p.heap.binary(&e.uniq)),
        // Entries are never freed, so there is no reference count to report.
        am::refc => number(local.map(|_| 1)),
        _ => return Err(p.badarg()),
    };
    Ok(p.heap.tuple(&[a[1], value]))
}
fn fun_info_mfa<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let View::Fun(f) = a[0].view() else { return Err(p.badarg()) };
    let of_local = f.entry().map(|e| (e.module, e.function));
    let of_export = f.export().map(|e| (e.module, e.function));
    let (m, name) = of_local.or(of_export).ok_or_else(|| p.badarg())?;
    Ok(p.heap.tuple(&[m.into(), name.into(), p.heap.unsigned(f.arity() as u64)]))
}

/// `fun M:F/A`
fn make_fun<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let arity = a[2].as_usize().filter(|n| *n <= 255);
    match (a[0].as_atom(), a[1].as_atom(), arity) {
        (Some(m), Some(f), Some(n)) => {
            Ok(p.heap.export_fun(kvik_code::export::export(m, f, n as u32)))
        }
        _ => Err(p.badarg()),
    }
}
/// Writes directly to standard output, without any process.
pub(crate) fn show(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(bytes).and_then(|()| out.flush());
}
fn display<'h>(_: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let mut text = print::display(a[0]);
    text.extend(b"\r\n");
    show(&text);
    Ok(am::true_.into())
}
fn debug_display<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let mut text = print::display(a[0]);
    let said = text.len();
    text.extend(b"\r\n");
    show(&text);
    text.truncate(said);
    text.push(b'\n');
    Ok(p.heap.byte_list(&text))
}
/// Writes to standard error as the emulator does: up to a zero, lines ended by `\r\n`.
fn display_string<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let chars = a[0].list_to_vec().ok_or_else(|| p.badarg())?;
    let code = |c: &Term<'_>| c.as_small().and_then(|c| u32::try_from(c).ok());
    let text: Option<String> = chars.iter().map(|c| char::from_u32(code(c)?)).collect();
    let text = text.ok_or_else(|| p.badarg())?;
    let text = text.split('\0').next().unwrap_or_default();
    crate::dump::say(text.as_bytes());
    Ok(am::true_.into())
}
/// Writes to standard output or standard error. (Programs can no longer insert terminal input.)
fn display_string_to<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let bytes = match a[1].as_bits() {
        Some(bits) if bits.is_binary() => bits.to_bytes().to_vec(),
        Some(_) => return Err(p.badarg()),
        None => {
            let chars = a[1].list_to_vec().ok_or_else(|| p.badarg())?;
            let code = |c: &Term<'_>| c.as_small().and_then(|c| u32::try_from(c).ok());
            let text: Option<String> = chars.iter().map(|c| char::from_u32(code(c)?)).collect();
            text.ok_or_else(|| p.badarg())?.into_bytes()
        }
    };
    match a[0].as_atom().map(|device| device.name()) {
        Some("stdout") => show(&bytes),
        Some("stderr") => std::io::stderr().write_all(&bytes).unwrap_or_default(),
        Some("stdin") => return Err(p.notsup()),
        _ => return Err(p.badarg()),
    }
    Ok(am::true_.into())
}
/// The text that `display/1` prints, cut off after a number of subterms if a limit is given.
fn term_to_string<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    match a[1].as_small() {
        None if a[1].is_atom(am::undefined) => Ok(p.heap.byte_list(&print::display(a[0]))),
        Some(n @ 2..0x7FFF_FFFF) => Ok(p.heap.byte_list(&print::display_up_to(a[0], n as usize))),
        _ => Err(p.badarg()),
    }
}
fn display_nl<'h>(_: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let _ = std::io::stderr().write_all(b"\n");
    Ok(am::true_.into())
}
