//! Terms in a dump: each object on a heap is a line of its own, `ADDRESS:CONTENT`, and words in
//! other objects point to it. An address here is the tagged word that points to the object.
//!
//! Terms are walked with a worklist, so that their depth does not matter, and each object is
//! written once. Literals go into one section for all processes. What is stored for large binaries is
//! a section too, which they refer to; so there is a walk for binaries before the one for lines.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::io::{Result, Write};

use kvik_heap::{BinRef, Heap};
use kvik_jit::StackSlot;
use kvik_proc::process::flag;
use kvik_proc::Proc;
use kvik_term::{map, Bits, Fun, Term, View};

use super::system::base64;
use super::{place, show};

/// Binaries up to this size (bytes) are written inline.
const SMALL_BINARY: usize = 64;

/// What has been written so far, for all processes.
#[derive(Default)]
pub struct Terms {
    literals: Vec<u8>,
    /// Literals that were written, and literals that were searched for binaries.
    written: HashSet<u64>,
    searched: HashSet<u64>,
    /// The sections `=binary`: what lines call them, and the storage, so that no other takes its
    /// place.
    binaries: HashMap<SectionKey, (u64, Option<BinRef>)>,
    /// Made-up addresses of tuples that a dump needs and no heap has; odd, so that they are unique.
    made: u64,
}

/// The objects already met in the terms of a section.
struct Walk {
    met: HashSet<u64>,
}

impl Terms {
    /// A process's sections `=proc_messages`, `=proc_dictionary`, `=proc_stack` and `=proc_heap`.
    pub fn of_process(&mut self, out: &mut impl Write, p: &Proc) -> Result<()> {
        if p.flag(flag::SENSITIVE) {
            return Ok(());
        }
        self.binaries_of(out, p)?;
        let pid = show(p.self_pid());
        let mut messages = Vec::new();
        p.each_message(|m| {
            element(&mut messages, m);
            messages.extend_from_slice(b":N\n");
        });
        section(out, "proc_messages", &pid, &messages)?;
        let pairs = p.dict_pairs();
        let first = self.made;
        self.made += pairs.len() as u64;
        let made = |i: usize| (first + i as u64) * 2 + 1;
        let mut dictionary = Vec::new();
        for i in 0..pairs.len() {
            writeln!(dictionary, "H{:X}", made(i))?;
        }
        section(out, "proc_dictionary", &pid, &dictionary)?;
        stack(out, p)?;

        writeln!(out, "=proc_heap:{pid}")?;
        let mut walk = Walk { met: HashSet::new() };
        for (i, [key, value]) in pairs.into_iter().enumerate() {
            let mut line = Vec::new();
            write!(line, "{:X}:t2:", made(i))?;
            elements(&mut line, &[key, value]);
            out.write_all(&line)?;
            out.write_all(b"\n")?;
            self.lines(out, &mut walk, key)?;
            self.lines(out, &mut walk, value)?;
        }
        let mut result = Ok(());
        p.each_message(|m| {
            if result.is_ok() {
                result = self.lines(out, &mut walk, m);
            }
        });
        result?;
        for t in on_stack(p) {
            self.lines(out, &mut walk, t)?;
        }
        Ok(())
    }

    /// `=persistent_terms`, then `=literals`: the literals of those and of all processes so far.
    pub fn shared(&mut self, out: &mut impl Write) -> Result<()> {
        let mut text = Vec::new();
        let mut result = Ok(());
        let (mut walk, mut none) = (Walk { met: HashSet::new() }, Vec::new());
        crate::persistent_term::each(|key, value| {
            element(&mut text, key);
            text.push(b'|');
            element(&mut text, value);
            text.push(b'\n');
            for t in [key, value] {
                if result.is_ok() {
                    result = self.find_binaries(out, &mut walk, t);
                    // Persistent terms are literals, so their lines go to `literals`.
                    result = std::mem::replace(&mut result, Ok(()))
                        .and_then(|()| self.lines(&mut none, &mut Walk { met: HashSet::new() }, t));
                }
            }
        });
        result?;
        writeln!(out, "=persistent_terms")?;
        out.write_all(&text)?;
        writeln!(out, "=literals")?;
        out.write_all(&self.literals)
    }

    /// A `=binary` section for the storage of each large binary of a process, unless it was written
    /// before.
    fn binaries_of(&mut self, out: &mut impl Write, p: &Proc) -> Result<()> {
        let mut walk = Walk { met: HashSet::new() };
        let mut result = Ok(());
        p.each_message(|m| {
            if result.is_ok() {
                result = self.find_binaries(out, &mut walk, m);
            }
        });
        result?;
        for t in p.dict_pairs().into_iter().flatten().chain(on_stack(p)) {
            self.find_binaries(out, &mut walk, t)?;
        }
        Ok(())
    }
    fn find_binaries(&mut self, out: &mut impl Write, walk: &mut Walk, t: Term<'_>) -> Result<()> {
        let mut rest = vec![t];
        while let Some(t) = rest.pop() {
            let met = if Heap::is_literal_term(t) { &mut self.searched } else { &mut walk.met };
            if t.is_immediate() || !met.insert(t.word()) {
                continue;
            }
            match t.view() {
                View::Bits(b) => {
                    let Some(large) = LargeBinary::of(t, b) else { continue };
                    let id = (self.binaries.len() as u64 + 1) * SECTION_IDS;
                    if let Entry::Vacant(new) = self.binaries.entry(large.key) {
                        let bytes = large.section();
                        writeln!(out, "=binary:{id:X}")?;
                        writeln!(out, "{:X}:{}", bytes.len(), base64(&bytes))?;
                        new.insert((id, large.storage.clone()));
                    }
                }
                _ => children(t, &mut rest),
            }
        }
        Ok(())
    }

    /// The lines of a term's objects that were not met before.
    fn lines(&mut self, out: &mut impl Write, walk: &mut Walk, t: Term<'_>) -> Result<()> {
        let (mut rest, mut line) = (vec![t], Vec::new());
        while let Some(t) = rest.pop() {
            if t.is_immediate() {
                continue;
            }
            let literal = Heap::is_literal_term(t);
            let met = if literal { &mut self.written } else { &mut walk.met };
            if !met.insert(t.word()) {
                continue;
            }
            line.clear();
            let keys = self.made * 2 + 1;
            let large = t.as_bits().and_then(|b| LargeBinary::of(t, b));
            let within = large.and_then(|l| Some((self.binaries.get(&l.key)?.0, l.offset)));
            self.made += u64::from(object(&mut line, t, within, keys));
            match literal {
                true => self.literals.extend_from_slice(&line),
                false => out.write_all(&line)?,
            }
            children(t, &mut rest);
        }
        Ok(())
    }
}

fn section(out: &mut impl Write, name: &str, pid: &str, text: &[u8]) -> Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    writeln!(out, "={name}:{pid}")?;
    out.write_all(text)
}

fn on_stack(p: &Proc) -> impl Iterator<Item = Term<'_>> {
    kvik_jit::slots(p).filter_map(|(_, slot)| match slot {
        StackSlot::Term(t) => Some(t),
        _ => None,
    })
}

/// The calls on a stack, and the terms between them.
fn stack(out: &mut impl Write, p: &Proc) -> Result<()> {
    let function = |to| place(to).unwrap_or_else(|| "<terminate process normally>".into());
    let (mut text, mut register) = (Vec::new(), 0);
    for (at, slot) in kvik_jit::slots(p) {
        match slot {
            StackSlot::Return(to) => {
                writeln!(text, "{at:#018x}:SReturn addr 0x{to:X} ({})", function(to))?;
                register = 0;
                continue;
            }
            StackSlot::Catch(to) => {
                writeln!(text, "y{register}:SCatch 0x{to:X} ({})", function(to))?;
            }
            StackSlot::Term(t) => {
                write!(text, "y{register}:")?;
                element(&mut text, t);
                text.push(b'\n');
            }
        }
        register += 1;
    }
    section(out, "proc_stack", &show(p.self_pid()), &text)
}

/// Identity of a section `=binary`: address, length and bit offset of its bytes.
type SectionKey = (usize, usize, u32);

/// Sections are numbered in steps of this, so that no number is a made-up address.
const SECTION_IDS: u64 = 16;

/// A binary whose bytes are in a section `=binary`.
struct LargeBinary<'h> {
    key: SectionKey,
    /// Where it begins in the section.
    offset: usize,
    bits: Bits<'h>,
    storage: Option<BinRef>,
    /// Whether the section is all of the storage. A binary that is not aligned gets a section of
    /// its own bytes instead.
    whole: bool,
}

impl<'h> LargeBinary<'h> {
    fn of(t: Term<'h>, bits: Bits<'h>) -> Option<LargeBinary<'h>> {
        let len = bits.byte_size();
        if !bits.is_binary() || len <= SMALL_BINARY {
            return None;
        }
        let (storage, at) = Heap::detached().off_heap_of(t).map(|(s, at, _)| (s, at / 8)).unzip();
        let stored = storage.as_ref().map_or(&[][..], BinRef::bytes);
        let offset = at.filter(|at| bits.as_bytes().is_some() && at + len <= stored.len());
        let key = match offset {
            Some(_) => (stored.as_ptr() as usize, stored.len(), 0),
            None => (bits.storage().as_ptr() as usize, len, bits.bit_offset()),
        };
        let (whole, offset) = (offset.is_some(), offset.unwrap_or(0));
        Some(LargeBinary { key, offset, bits, storage, whole })
    }
    /// The section's bytes.
    fn section(&self) -> Cow<'_, [u8]> {
        match self.storage.as_ref().filter(|_| self.whole) {
            Some(storage) => Cow::Borrowed(storage.bytes()),
            None => self.bits.to_bytes(),
        }
    }
}

/// The terms that an object's line points to.
fn children<'h>(t: Term<'h>, to: &mut Vec<Term<'h>>) {
    match t.view() {
        View::Cons(c) => to.extend([c.tail(), c.head()]),
        View::Tuple(t) => to.extend(t.elements()),
        View::Map(m) => to.extend(map::iter(m).flat_map(|(k, v)| [k, v])),
        _ => {}
    }
}

/// Writes the line of an object. A large binary is `within` a section, from an offset on. The keys
/// of a map become a tuple at address `keys`; returns whether that was needed.
fn object(line: &mut Vec<u8>, t: Term<'_>, within: Option<(u64, usize)>, keys: u64) -> bool {
    // Writing to a vector cannot fail.
    let mut text = |s: String| line.extend_from_slice(s.as_bytes());
    let address = t.word();
    match t.view() {
        View::Cons(c) => {
            text(format!("{address:X}:l"));
            element(line, c.head());
            line.push(b'|');
            element(line, c.tail());
        }
        View::Tuple(t) => {
            text(format!("{address:X}:t{:X}:", t.elements().len()));
            elements(line, t.elements());
        }
        View::Map(m) => {
            let (all_keys, values): (Vec<_>, Vec<_>) = map::iter(m).unzip();
            text(format!("{keys:X}:t{:X}:", all_keys.len()));
            elements(line, &all_keys);
            line.extend_from_slice(
                format!("\n{address:X}:Mf{:X}:H{keys:X}:", values.len()).as_bytes(),
            );
            elements(line, &values);
        }
        View::Float(f) => {
            let digits = format!("{f:.20e}");
            text(format!("{address:X}:F{:X}:{digits}", digits.len()));
        }
        View::Big(_) => text(format!("{address:X}:B{}", show(t))),
        View::Bits(b) if b.is_binary() => match within {
            Some((at, from)) => text(format!("{address:X}:Yc{at:X}:{from:X}:{:X}", b.byte_size())),
            None => {
                text(format!("{address:X}:Yh{:X}:{}", b.byte_size(), base64(&b.to_bytes())));
            }
        },
        View::Pid(_) => text(format!("{address:X}:P{}", show(t))),
        View::Port(_) => text(format!("{address:X}:{}", port(t))),
        View::Fun(f) => text(external(address, without_environment(&Heap::detached(), t, f))),
        _ => text(external(address, t)),
    }
    line.push(b'\n');
    matches!(t.view(), View::Map(_))
}

fn external(address: u64, t: Term<'_>) -> String {
    let bytes = kvik_etf::encode(t, crate::etf::default_options(), 0);
    format!("{address:X}:E{:X}:{}", bytes.len(), base64(&bytes))
}
/// A fun with an empty environment: terms shared with it would be written many times.
fn without_environment<'h>(h: &'h Heap, t: Term<'h>, f: Fun<'h>) -> Term<'h> {
    let Some((entry, creator)) = f.entry().zip(f.creator()) else { return t };
    h.fun(entry, f.arity(), h.copy(creator), &vec![Term::NIL; f.env().len()])
}

fn port(t: Term<'_>) -> String {
    show(t).replacen("#Port", "p", 1)
}

fn elements(line: &mut Vec<u8>, all: &[Term<'_>]) {
    for (i, t) in all.iter().enumerate() {
        if i > 0 {
            line.push(b',');
        }
        element(line, *t);
    }
}

/// A word within an object.
fn element(line: &mut Vec<u8>, t: Term<'_>) {
    if !t.is_immediate() {
        return line.extend_from_slice(format!("H{:X}", t.word()).as_bytes());
    }
    let text = match t.view() {
        View::Small(n) => format!("I{n}"),
        View::Atom(a) => format!("A{:X}:{}", a.name().len(), a.name()),
        View::Pid(_) => format!("P{}", show(t)),
        View::Port(_) => port(t),
        _ => "N".to_owned(),
    };
    line.extend_from_slice(text.as_bytes())
}
