//! Terms in the format of `erlang:display/1`, which crash messages, `pid_to_list/1` and others use,
//! too. Strings are written byte by byte, so the text is bytes.

use std::io::Write;

use crate::map::{self, MapChild, MapNode};
use crate::{Atom, Big, Bits, Ext, Fun, NativeRecord, PidTerm, PortTerm, Ref, Term, View};

enum Task<'h> {
    Term(Term<'h>),
    /// The head of a cell and what follows it.
    Cell(Term<'h>),
    /// A node of a large map.
    Node(MapNode<'h>),
    Text(&'static str),
}

/// The display form of a term.
pub fn display(t: Term<'_>) -> Vec<u8> {
    display_up_to(t, usize::MAX)
}

/// The same up to a number of parts, where the characters of atoms and strings count too; `... `
/// shows that there were more. A string is always written to its end.
pub fn display_up_to(t: Term<'_>, limit: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let mut left = limit;
    let mut todo = vec![Task::Term(t)];
    while let Some(task) = todo.pop() {
        match task {
            Task::Text(s) => out.extend_from_slice(s.as_bytes()),
            Task::Term(_) if left == 0 => {
                out.extend_from_slice(b"... ");
                break;
            }
            Task::Term(t) => {
                let before = out.len();
                one(t, &mut out, &mut todo);
                let characters = match t.view() {
                    View::Atom(_) => out.len() - before,
                    View::Cons(_) => (out.len() - before).saturating_sub(2),
                    _ => 0,
                };
                left = left.saturating_sub(1 + characters);
            }
            Task::Cell(t) => cell(t, &mut todo),
            Task::Node(n) => node(n, &mut out, &mut todo),
        }
    }
    out
}

fn cell<'h>(t: Term<'h>, todo: &mut Vec<Task<'h>>) {
    let Some(c) = t.as_cons() else { return };
    if c.tail().as_cons().is_some() {
        todo.extend([Task::Cell(c.tail()), Task::Text(",")]);
    } else if !c.tail().is_nil() {
        todo.extend([Task::Term(c.tail()), Task::Text("|")]);
    }
    todo.push(Task::Term(c.head()));
}

fn one<'h>(t: Term<'h>, out: &mut Vec<u8>, todo: &mut Vec<Task<'h>>) {
    match t.view() {
        View::Small(i) => put(out, format_args!("{i}")),
        View::Big(b) => big(b, out),
        View::Float(f) => out.extend_from_slice(scientific(f, 6).as_bytes()),
        View::Atom(a) => atom(a, out),
        View::Nil => out.extend_from_slice(b"[]"),
        View::Cons(_) if is_string(t) => string(t, out),
        View::Cons(_) => {
            out.push(b'[');
            todo.extend([Task::Text("]"), Task::Cell(t)]);
        }
        View::Tuple(e) => {
            out.push(b'{');
            separated(e.elements(), todo);
        }
        View::Record(r) => record(r, out, todo),
        View::Bits(b) => bits(b, out),
        View::Map(m) => match m.root() {
            None => flat_map(m, out, todo),
            Some(_) if !m.is_node() && !kvik_release::current().shows_map_nodes() => {
                flat_map(m, out, todo)
            }
            Some(n) => {
                out.push(b'#');
                node(n, out, todo);
            }
        },
        View::Fun(f) => fun(f, out),
        View::Pid(p) => pid(p, out),
        View::Port(p) => port(p, out),
        View::Ref(r) => reference(r, out),
    }
}

fn put(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}

/// `A,B,C}`
fn separated<'h>(terms: &[Term<'h>], todo: &mut Vec<Task<'h>>) {
    todo.push(Task::Text("}"));
    for (i, t) in terms.iter().enumerate().rev() {
        todo.push(Task::Term(*t));
        if i > 0 {
            todo.push(Task::Text(","));
        }
    }
}

fn flat_map<'h>(m: crate::Map<'h>, out: &mut Vec<u8>, todo: &mut Vec<Task<'h>>) {
    out.extend_from_slice(b"#{");
    todo.push(Task::Text("}"));
    let pairs: Vec<_> = map::iter(m).collect();
    for (i, (k, v)) in pairs.iter().enumerate().rev() {
        todo.extend([Task::Term(*v), Task::Text("=>"), Task::Term(*k)]);
        if i > 0 {
            todo.push(Task::Text(","));
        }
    }
}

/// In the order of the keys, not as declared.
fn record<'h>(r: NativeRecord<'h>, out: &mut Vec<u8>, todo: &mut Vec<Task<'h>>) {
    out.push(b'#');
    atom(r.definition().module(), out);
    out.push(b':');
    atom(r.definition().name(), out);
    out.push(b'{');
    todo.push(Task::Text("}"));
    for (i, (k, v)) in r.definition().keys().iter().zip(r.values()).enumerate().rev() {
        todo.extend([Task::Term(*v), Task::Text("="), Task::Term(*k)]);
        if i > 0 {
            todo.push(Task::Text(","));
        }
    }
}

/// Before OTP 27 a large map is printed as its tree: cells as leaves, nodes with their children.
fn node<'h>(n: MapNode<'h>, out: &mut Vec<u8>, todo: &mut Vec<Task<'h>>) {
    put(out, format_args!("<{:x}>{{", n.bitmap & 0xFFFF));
    todo.push(Task::Text("}"));
    for (i, c) in n.children.iter().enumerate().rev() {
        todo.push(match map::child(*c) {
            MapChild::Leaf(..) => Task::Term(*c),
            MapChild::Node(inner) => Task::Node(inner),
        });
        if i > 0 {
            todo.push(Task::Text(","));
        }
    }
}

fn is_string(t: Term<'_>) -> bool {
    let mut cells = t.list();
    let plain = |t: Term<'_>| match t.as_small() {
        Some(c @ 0..=255) => !matches!(c, 0..=8 | 14..=31 | 127),
        _ => false,
    };
    cells.by_ref().all(plain) && cells.rest.is_nil()
}

fn string(t: Term<'_>, out: &mut Vec<u8>) {
    out.push(b'"');
    for c in t.list() {
        match c.as_small().unwrap_or(0) as u8 {
            b'\n' => out.extend_from_slice(b"\\n"),
            b'"' => out.extend_from_slice(b"\\\""),
            c => out.push(c),
        }
    }
    out.push(b'"');
}

fn bits(b: Bits<'_>, out: &mut Vec<u8>) {
    let bytes = b.to_bytes();
    let (whole, rest) = (b.bit_len() / 8, b.bit_len() % 8);
    out.extend_from_slice(b"<<");
    if rest == 0 && whole > 0 && bytes.iter().all(|c| (b' '..127).contains(c)) {
        out.push(b'"');
        for c in bytes.iter() {
            if *c == b'"' {
                out.push(b'\\');
            }
            out.push(*c);
        }
        out.push(b'"');
    } else {
        for (i, c) in bytes.iter().enumerate() {
            if i > 0 {
                out.push(b',');
            }
            if i < whole {
                put(out, format_args!("{c}"));
            } else {
                put(out, format_args!("{}:{rest}", c >> (8 - rest)));
            }
        }
    }
    out.extend_from_slice(b">>");
}

fn big(b: Big<'_>, out: &mut Vec<u8>) {
    const CHUNK: u64 = 10_000_000_000_000_000_000;
    let (mut digits, mut chunks) = (b.digits().to_vec(), Vec::new());
    while digits.iter().any(|d| *d != 0) {
        let rest = digits.iter_mut().rev().fold(0u64, |rest, d| {
            let wide = (rest as u128) << 64 | *d as u128;
            *d = (wide / CHUNK as u128) as u64;
            (wide % CHUNK as u128) as u64
        });
        chunks.push(rest);
    }
    if b.is_negative() {
        out.push(b'-');
    }
    put(out, format_args!("{}", chunks.pop().unwrap_or(0)));
    for c in chunks.iter().rev() {
        put(out, format_args!("{c:019}"));
    }
}

/// The C library's `%.*e`.
pub fn scientific(f: f64, decimals: usize) -> String {
    let text = format!("{f:.decimals$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let n: i32 = exponent.parse().unwrap_or(0);
    format!("{mantissa}e{}{:02}", if n < 0 { '-' } else { '+' }, n.abs())
}

/// Writes an atom, quoted if necessary.
pub fn atom(a: Atom, out: &mut Vec<u8>) {
    let name = a.name();
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if plain {
        out.extend_from_slice(name.as_bytes());
        return;
    }
    out.push(b'\'');
    for c in name.chars() {
        match c {
            '\'' => out.extend_from_slice(b"\\'"),
            '\\' => out.extend_from_slice(b"\\\\"),
            '\n' => out.extend_from_slice(b"\\n"),
            '\t' => out.extend_from_slice(b"\\t"),
            '\r' => out.extend_from_slice(b"\\r"),
            '\u{8}' => out.extend_from_slice(b"\\b"),
            '\u{b}' => out.extend_from_slice(b"\\v"),
            '\u{c}' => out.extend_from_slice(b"\\f"),
            '\0'..' ' | '\u{80}'..'\u{a0}' => put(out, format_args!("\\{:03o}", c as u32)),
            _ => put(out, format_args!("{c}")),
        }
    }
    out.push(b'\'');
}

fn fun(f: Fun<'_>, out: &mut Vec<u8>) {
    if let Some(e) = f.entry() {
        let (index, uniq) = (e.old_index, e.old_uniq);
        put(out, format_args!("#Fun<{}.{index}.{uniq}>", e.module.name()));
    } else if let Some(e) = f.export() {
        out.extend_from_slice(b"fun ");
        atom(e.module, out);
        out.push(b':');
        atom(e.function, out);
        put(out, format_args!("/{}", e.arity));
    }
}

/// The first number of a pid, port or reference: its node's name, 0 for this node.
fn channel(e: Ext<'_>) -> u32 {
    e.node().index()
}

fn pid(p: PidTerm<'_>, out: &mut Vec<u8>) {
    let channel = match p {
        PidTerm::Local(_) => 0,
        PidTerm::External(e) => channel(e),
    };
    let (number, serial) = p.numbers();
    put(out, format_args!("<{channel}.{number}.{serial}>"));
}
fn port(p: PortTerm<'_>, out: &mut Vec<u8>) {
    match p {
        PortTerm::Local(n) => put(out, format_args!("#Port<0.{n}>")),
        PortTerm::External(e) => put(out, format_args!("#Port<{}.{}>", channel(e), e.data())),
    }
}
fn reference(r: Ref<'_>, out: &mut Vec<u8>) {
    let (channel, numbers) = match r {
        Ref::Local(l) => (0, l.written_numbers()),
        Ref::External(e) => (channel(e), e.ref_numbers()),
    };
    put(out, format_args!("#Ref<{channel}"));
    for n in numbers.iter().rev() {
        put(out, format_args!(".{n}"));
    }
    out.push(b'>');
}
