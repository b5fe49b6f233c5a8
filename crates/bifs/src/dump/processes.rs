//! Processes. While the dump is written those that wait stay where they are: this thread holds
//! their tickets. Those that another scheduler has are asked for what there is to say.

use std::collections::BTreeMap;
use std::io::{Result, Write};
use std::mem::ManuallyDrop;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use kvik_heap::Heap;
use kvik_proc::process::{flag, table, Ticket};
use kvik_proc::relation::{LinkState, Target};
use kvik_proc::signal::{deliver, Signal, LIBRARY};
use kvik_proc::{registry, sched, Proc, RefId};
use kvik_term::{am, Atom, Term};

use super::{place, quoted, show, Out};
use crate::process::status;

/// What is known of a process.
enum Known<'p> {
    /// The one that runs here.
    Own(&'p Proc),
    /// One that nobody runs now.
    Held(Ticket),
    /// What one told that another scheduler has: its description and its stack.
    Told(Vec<u8>, Vec<u8>),
}

pub struct Processes<'p> {
    all: Vec<u32>,
    /// The tickets are never given back, nor what they stand for ended.
    known: ManuallyDrop<BTreeMap<u32, Known<'p>>>,
}

/// How long to wait for those that other schedulers have.
const PATIENCE: Duration = Duration::from_secs(1);

impl<'p> Processes<'p> {
    /// Keeps processes from going on, and asks those that do.
    pub fn stop(own: &'p Proc) -> Processes<'p> {
        own.handle_all_signals();
        let mut known = BTreeMap::from([(own.pid(), Known::Own(own))]);
        let mut all = table().numbers();
        all.sort_unstable();
        let mut hold = |t: Ticket| known.insert(t.task().pid, Known::Held(t));
        sched::take_own().into_iter().for_each(|t| drop(hold(t)));
        let waiting = |pid: &u32| table().get(*pid, &kvik_sync::pin())?.unpark();
        all.iter().filter_map(waiting).for_each(|t| drop(hold(t)));
        for k in known.values() {
            if let Known::Held(t) = k {
                let p = t.private();
                if !p.flag(flag::ENDING) {
                    p.handle_all_signals();
                }
            }
        }
        let mut p = Processes { all, known: ManuallyDrop::new(known) };
        p.ask();
        p
    }
    fn ask(&mut self) {
        let (tell, told) = mpsc::channel();
        for pid in self.all.iter().filter(|p| !self.known.contains_key(p)) {
            let (pid, tell) = (*pid, tell.clone());
            let look = move |p: Option<&Proc>| {
                let Some(p) = p else { return };
                let (mut text, mut stack) = (Vec::new(), Vec::new());
                if describe(&mut text, p, false).and_then(|()| self::stack(&mut stack, p)).is_ok() {
                    let _ = tell.send((pid, text, stack));
                }
            };
            deliver(pid, Signal::Run(Box::new(look)));
        }
        drop(tell);
        let end = Instant::now() + PATIENCE;
        let left = || end.saturating_duration_since(Instant::now());
        while let Ok((pid, text, stack)) = told.recv_timeout(left()) {
            self.known.insert(pid, Known::Told(text, stack));
        }
    }
    /// `=proc` of all.
    pub fn describe(&self, out: &mut Out) -> Result<()> {
        for pid in &self.all {
            match self.known.get(pid) {
                Some(Known::Own(p)) => describe(out, p, true)?,
                Some(Known::Held(t)) => describe(out, t.private(), false)?,
                Some(Known::Told(text, _)) => out.write_all(text)?,
                None => unknown(out, *pid)?,
            }
        }
        Ok(())
    }
    /// `=proc_stack` of those that have one.
    pub fn stacks(&self, out: &mut Out) -> Result<()> {
        for k in self.known.values() {
            match k {
                Known::Own(p) => stack(out, p)?,
                Known::Held(t) => stack(out, t.private())?,
                Known::Told(_, text) => out.write_all(text)?,
            }
        }
        Ok(())
    }
}

/// A process that another scheduler runs all the time: what its shared part tells.
fn unknown(out: &mut impl Write, pid: u32) -> Result<()> {
    let guard = kvik_sync::pin();
    let Some(task) = table().get(pid, &guard) else { return Ok(()) };
    let me = Term::local_pid(pid);
    writeln!(out, "=proc:{}\nState: Running", show(me))?;
    if let Some(name) = registry::name_of(me) {
        writeln!(out, "Name: {}", quoted(name))?;
    }
    writeln!(out, "Internal State: {}", internal(task.priority().atom(), am::running))
}

/// A status as `process_info` has it, as dumps have it, and the state bits that go with it.
const STATES: &[(Atom, &str, &str)] = &[
    (am::running, "Running", " | ACTIVE | RUNNING"),
    (am::runnable, "Scheduled", " | ACTIVE | IN_RUNQ"),
    (am::waiting, "Waiting", ""),
    (am::suspended, "Suspended", " | SUSPENDED"),
    (am::exiting, "Exiting", " | ACTIVE | EXITING"),
];
fn state(a: Atom) -> (&'static str, &'static str) {
    STATES.iter().find(|s| s.0 == a).map_or(("Waiting", ""), |s| (s.1, s.2))
}
fn internal(priority: Atom, status: Atom) -> String {
    let p = priority.name().to_uppercase();
    format!("ACT_PRIO_{p} | USR_PRIO_{p} | PRQ_PRIO_{p}{}", state(status).1)
}

fn describe(out: &mut impl Write, p: &Proc, own: bool) -> Result<()> {
    let status = if own { am::running } else { status(p) };
    writeln!(out, "=proc:{}\nState: {}", show(p.self_pid()), state(status).0)?;
    if let Some(name) = p.name() {
        writeln!(out, "Name: {}", quoted(name))?;
    }
    let (m, f, a) = p.initial_call();
    writeln!(out, "Spawned as: {}:{}/{a}", quoted(m), quoted(f))?;
    if own {
        writeln!(out, "Last scheduled in for: erlang:halt/2")?;
    } else if let Some(e) = p.trap_to.get() {
        writeln!(out, "Current call: {}:{}/{}", quoted(e.module), quoted(e.function), e.arity)?;
    }
    writeln!(out, "Spawned by: {}", show(p.parent_pid().unwrap_or(Term::NIL)))?;
    writeln!(out, "Message queue length: {}", p.message_count())?;
    let s = p.heap.sizes();
    if s.fragments == 0 {
        writeln!(out, "Number of heap fragments: 0")?;
    }
    writeln!(out, "Heap fragment data: {}", s.fragments)?;
    let relations = relations(p);
    if !relations.is_empty() && status != am::exiting {
        writeln!(out, "Link list: [{}]", relations.join(", "))?;
    }
    let words = s.block + s.old_block + s.fragments;
    let memory = words * size_of::<u64>() + size_of::<Proc>();
    let numbers = [
        ("Reductions", p.reductions_now(own) as usize),
        ("Stack+heap", s.block),
        ("OldHeap", s.old_block),
        ("Heap unused", s.block.saturating_sub(s.used)),
        ("OldHeap unused", s.old_block.saturating_sub(s.old_used)),
        ("BinVHeap", s.off_heap_bytes / size_of::<u64>()),
        ("Memory", memory),
    ];
    for (name, n) in numbers {
        writeln!(out, "{name}: {n}")?;
    }
    let ip = p.heap.ip();
    if let Some(at) = place(ip).filter(|_| !own) {
        writeln!(out, "Program counter: {ip:#018x} ({at})\narity = {}", p.heap.saved_x())?;
    }
    writeln!(out, "Internal State: {}", internal(p.priority().atom(), status))
}

/// Links, whom it monitors and who monitors it.
fn relations(p: &Proc) -> Vec<String> {
    let h = Heap::detached();
    let reference = |id: &RefId| show(h.ref_of_numbers(id.0));
    p.extra(|x| {
        let linked = x.links.values().filter(|l| l.state == LinkState::Linked);
        let links = linked.map(|l| show(l.peer));
        let to = x.monitoring.iter().filter_map(|(id, m)| {
            Some(format!("{{to,{},{}}}", target(&h, &m.target)?, reference(id)))
        });
        let by = x.monitored_by.iter().filter(|(_, m)| m.pid != LIBRARY);
        let by = by
            .map(|(id, m)| format!("{{from,{},{}}}", show(Term::local_pid(m.pid)), reference(id)));
        links.chain(to).chain(by).collect()
    })
    .unwrap_or_default()
}
fn target(h: &Heap, t: &Target) -> Option<String> {
    Some(match t {
        Target::Process(n) => show(Term::local_pid(*n)),
        Target::Port(n) => show(Term::local_port(*n)),
        Target::Named { name, node, .. } => show(h.tuple(&[(*name).into(), (*node).into()])),
        Target::Remote(t) => show(t.term()),
        Target::TimeOffset => return None,
    })
}

/// The calls on a stack, without the terms between them.
fn stack(out: &mut impl Write, p: &Proc) -> Result<()> {
    let calls = kvik_jit::returns(p);
    if calls.is_empty() {
        return Ok(());
    }
    writeln!(out, "=proc_stack:{}", show(p.self_pid()))?;
    for (at, to) in calls {
        if let Some(function) = place(to) {
            writeln!(out, "{at:#018x}:SReturn addr 0x{to:X} ({function})")?;
        }
    }
    Ok(())
}
