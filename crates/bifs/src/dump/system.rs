//! The sections of a dump about everything except processes.

use std::io::{Result, Write};
use std::sync::Arc;

use kvik_code::module::{current, loaded, old};
use kvik_code::LoadedModule;
use kvik_env::clock::wall_nanos;
use kvik_ets::{registry, Store};
use kvik_heap::Heap;
use kvik_port::table as ports;
use kvik_proc::hooks::hooks;
use kvik_proc::timer::Dest;
use kvik_proc::{node, sched, Proc};
use kvik_sys::local_time::{local_of_posix, Civil};
use kvik_term::{am, Atom, Term};

use super::{quoted, show, DumpWriter};

const DAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// A date as C's `ctime` writes it.
fn date([year, month, day, h, m, s]: Civil) -> String {
    // The year is taken to begin on the first of March.
    let before = if month < 3 { year - 1 } else { year };
    let leaps = before + before.div_euclid(4) - before.div_euclid(100) + before.div_euclid(400);
    let shift = (13 * ((month + 9).rem_euclid(12) + 1) - 1).div_euclid(5);
    let name = |names: &[&'static str], i: i64| names.get(i as usize).copied().unwrap_or("");
    let weekday = name(&DAYS, (day + shift + leaps).rem_euclid(7));
    let month = name(&MONTHS, month - 1);
    format!("{weekday} {month} {day:2} {h:02}:{m:02}:{s:02} {year}")
}

pub fn header(out: &mut DumpWriter, slogan: &str) -> Result<()> {
    let seconds = wall_nanos().div_euclid(1_000_000_000);
    let now = local_of_posix(seconds).map(date).unwrap_or_default();
    writeln!(out, "=erl_crash_dump:0.5\n{now}\nSlogan: {slogan}")?;
    write!(out, "System version: {}", crate::system::system_version())?;
    let all = kvik_code::module::all_versions();
    let mut native: Vec<String> =
        all.iter().filter(|i| i.has_library()).map(|i| quoted(i.name)).collect();
    native.dedup();
    writeln!(out, "Taints: {}\nAtoms: {}", native.join(","), Atom::count())?;
    match sched::current() {
        Some(n) => writeln!(out, "Calling Thread: scheduler:{}", n + 1),
        None => writeln!(out, "Calling Thread: other"),
    }
}

pub fn schedulers(out: &mut DumpWriter, own: Option<&Proc>) -> Result<()> {
    for i in 0..sched::all().len() {
        let asleep = if sched::is_idle(i) { "SLEEPING | WAITING" } else { "" };
        writeln!(out, "=scheduler:{}\nScheduler Sleep Info Flags: {asleep}", i + 1)?;
        if let Some(own) = own.filter(|_| sched::current() == Some(i)) {
            let me = show(own.self_pid());
            writeln!(out, "Current Process: {me}\nCurrent Process State: Running")?;
        } else if sched::is_idle(i) {
            writeln!(out, "Current Process: ")?;
        }
    }
    Ok(())
}

pub fn memory(out: &mut impl Write) -> Result<()> {
    let items = crate::system::memory();
    writeln!(out, "=memory")?;
    for (name, n) in items {
        writeln!(out, "{name}: {n}")?;
    }
    writeln!(out, "=allocated_areas\nloaded_code: {}", kvik_jit::mem::bytes())
}

pub fn ports(out: &mut impl Write) -> Result<()> {
    let pid = |n: &u32| show(Term::local_pid(*n));
    for p in ports::all() {
        let Some(i) = p.info() else { continue };
        writeln!(out, "=port:{}", show(Term::local_port(p.id)))?;
        writeln!(out, "State: CONNECTED\nSlot: {}", ports::slot_of(p.id))?;
        writeln!(out, "Connected: {}", pid(&i.owner))?;
        if !i.links.is_empty() {
            writeln!(out, "Links: {}", i.links.iter().map(pid).collect::<String>())?;
        }
        if let Some(name) = i.registered {
            writeln!(out, "Registered as: {}", quoted(name))?;
        }
        let name = String::from_utf8_lossy(&i.name).replace('\n', " ");
        let is_fd = name.contains('/') && name.chars().all(|c| c == '/' || c.is_ascii_digit());
        let what = match i.os_pid {
            Some(_) => "Port controls external process",
            None if name == "forker" => "Port controls forker process",
            None if is_fd => "Port is UNIX fd not opened by emulator",
            None => "Port controls linked-in driver",
        };
        writeln!(out, "{what}: {name}")?;
        writeln!(out, "Input: {}\nOutput: {}\nQueue: {}", i.input, i.output, i.queue_size)?;
    }
    Ok(())
}

pub fn tables(out: &mut DumpWriter) -> Result<()> {
    each_table(out, |_, _| Ok(()))
}
/// The same with the objects of the tables.
pub fn objects(out: &mut Vec<u8>) -> Result<()> {
    each_table(out, |out, store| match store {
        Store::Hash(h) => (0..h.slots()).try_for_each(|i| {
            let rows = h.bucket(i).map(|rows| rows.map(|r| show(r.object())).collect());
            let mut rows: Vec<String> = rows.unwrap_or_default();
            rows.reverse();
            if rows.is_empty() {
                return Ok(());
            }
            writeln!(out, "{i}: [{}]", rows.join(","))
        }),
        Store::Tree(t) => {
            writeln!(out, "Ordered set (AVL tree), Elements: {}", t.len())?;
            let mut key = t.first();
            while let Some(k) = key {
                t.get(k).map_or(Ok(()), |o| writeln!(out, "{}", show(o)))?;
                key = t.next(k);
            }
            Ok(())
        }
    })
}
/// `also` writes what belongs between the name and the number of objects.
fn each_table<W: Write>(out: &mut W, also: impl Fn(&mut W, &Store) -> Result<()>) -> Result<()> {
    let h = Heap::detached();
    for t in registry::all() {
        let Some(s) = t.try_peek() else { continue };
        let (o, name) = (&t.options, quoted(s.name));
        let first = [
            ("Table", show(registry::handle(&h, &t, s.name))),
            ("Name", name),
            ("Fixed", t.is_fixed().to_string()),
        ];
        let last = [
            ("Objects", s.store.len().to_string()),
            ("Words", t.memory(&s).to_string()),
            ("Type", quoted(o.kind.atom())),
            ("Protection", quoted(s.protection.atom())),
            ("Compressed", o.compressed.to_string()),
            ("Write Concurrency", quoted(o.write_concurrency)),
            ("Read Concurrency", o.read_concurrency.to_string()),
        ];
        writeln!(out, "=ets:{}", show(Term::local_pid(s.owner)))?;
        first.iter().try_for_each(|(name, value)| writeln!(out, "{name}: {value}"))?;
        also(out, &s.store)?;
        last.iter().try_for_each(|(name, value)| writeln!(out, "{name}: {value}"))?;
    }
    Ok(())
}

pub fn node(out: &mut impl Write) -> Result<()> {
    writeln!(out, "=node:{}", quoted(node::name()))?;
    if !node::is_alive() {
        return writeln!(out, "=no_distribution");
    }
    out.write_all((hooks().node.report)().as_bytes())
}

/// Writes the total sizes of code. Returns the loaded modules.
fn code_sizes(out: &mut impl Write) -> Result<Vec<Atom>> {
    let mut names = loaded();
    names.sort_by_key(|a| a.name());
    let size = |of: fn(Atom) -> Option<Arc<LoadedModule>>| -> usize {
        names.iter().filter_map(|a| of(*a)).map(|i| i.size).sum()
    };
    let (now, before) = (size(current), size(old));
    writeln!(out, "Current code: {now}\nOld code: {before}")?;
    Ok(names)
}

/// Each module with the size of its code, and of its old code if there is any.
pub fn sizes_of_modules(out: &mut impl Write) -> Result<()> {
    for name in code_sizes(out)? {
        let Some(i) = current(name) else { continue };
        write!(out, "{} {}", quoted(name), i.size)?;
        match old(name) {
            Some(before) => writeln!(out, " ({} old)", before.size)?,
            None => writeln!(out)?,
        }
    }
    Ok(())
}

/// The `=timer` sections of timers that have a reference.
pub fn timers(out: &mut DumpWriter) -> Result<()> {
    let now = kvik_proc::clock::now();
    let mut result = Ok(());
    kvik_proc::timer::each(|id, t| {
        if result.is_err() {
            return;
        }
        let to = match t.dest {
            Dest::Process(pid) => Term::local_pid(pid),
            Dest::Name(name) => name.into(),
        };
        let h = Heap::detached();
        let message = match t.wrap {
            true => h.tuple(&[am::timeout.into(), h.ref_of_numbers(id.0), t.message.term()]),
            false => t.message.term(),
        };
        let left = t.deadline.ns().saturating_sub(now) / 1_000_000;
        result =
            writeln!(out, "=timer:{}\nMessage: {}\nTime left: {left}", show(to), show(message));
    });
    result
}

pub fn modules(out: &mut DumpWriter) -> Result<()> {
    writeln!(out, "=loaded_modules")?;
    let names = code_sizes(out)?;
    for name in names {
        writeln!(out, "=mod:{}", quoted(name))?;
        for (which, i) in [("Current", current(name)), ("Old", old(name))] {
            let Some(i) = i else { continue };
            writeln!(out, "{which} size: {}", i.size)?;
            for (what, bytes) in [("attributes", &i.attributes), ("compilation info", &i.compile)] {
                if !bytes.is_empty() {
                    writeln!(out, "{which} {what}: {}", base64(bytes))?;
                }
            }
        }
    }
    Ok(())
}

/// All atoms, the newest first.
pub fn atoms(out: &mut DumpWriter) -> Result<()> {
    writeln!(out, "=atoms")?;
    for a in (0..Atom::count() as u32).rev().filter_map(Atom::from_index) {
        writeln!(out, "{}", quoted(a))?;
    }
    Ok(())
}

pub(super) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for c in bytes.chunks(3) {
        let byte = |i: usize| c.get(i).copied().unwrap_or(0) as u32;
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * i)) as usize & 63] as char;
            text.push(if i > c.len() { '=' } else { digit });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(date([2026, 11, 21, 18, 59, 11]), "Sat Nov 21 18:59:11 2026");
        assert_eq!(date([2024, 2, 29, 1, 2, 3]), "Thu Feb 29 01:02:03 2024");
        assert_eq!(date([2000, 3, 1, 0, 0, 0]), "Wed Mar  1 00:00:00 2000");
        assert_eq!(date([1970, 1, 1, 0, 0, 0]), "Thu Jan  1 00:00:00 1970");
    }
    #[test]
    fn digits() {
        let cases =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")];
        for (bytes, text) in cases {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }
}
