//! Processes in a dump. While it is written, this thread holds the run tokens of waiting ones, so
//! they cannot run. Processes that another scheduler runs are asked by a signal to describe
//! themselves. The break menu reads processes in the same way, and then releases them.

use std::collections::BTreeMap;
use std::io::{Result, Write};
use std::mem::ManuallyDrop;
use std::sync::{mpsc, Arc, Mutex, PoisonError};
use std::time::Duration;

use kvik_env::clock::Instant;
use kvik_heap::{Heap, OwnedTerm};
use kvik_proc::links_monitors::{LinkState, Target};
use kvik_proc::process::{flag, table, RunToken};
use kvik_proc::saved_calls::Saved;
use kvik_proc::signal::{control, deliver, Control, Signal};
use kvik_proc::{registry, sched, Proc, RefId, ABROAD};
use kvik_term::{am, Atom, Term};

use super::{place, quoted, show, DumpWriter, Terms};
use crate::process::status;

/// How a process can be described.
enum Known<'p> {
    /// The process that runs here.
    Own(&'p Proc),
    /// The process waits for a message.
    Waits(RunToken),
    /// The process waits for its time slice.
    Queued(RunToken),
    /// Another scheduler runs the process: the description and the terms that it sent.
    Told(Vec<u8>, Vec<u8>),
}

pub struct Processes<'p> {
    all: Vec<u32>,
    /// Not dropped: the run tokens are not given back, and their processes do not end.
    known: ManuallyDrop<BTreeMap<u32, Known<'p>>>,
    /// What the processes that have answered wrote of literals and binaries.
    terms: Terms,
}

/// How long to wait for processes that other schedulers run.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);

impl<'p> Processes<'p> {
    /// Keeps processes from running, and asks those that do run. `own` runs here; `queued` wait for
    /// their time slice.
    pub fn stop(own: Option<&'p Proc>, queued: Vec<RunToken>) -> Processes<'p> {
        let mut p = Processes::hold(queued);
        if let Some(own) = own {
            own.handle_all_signals();
            p.known.insert(own.pid(), Known::Own(own));
        }
        p.ask();
        p
    }
    /// Keeps processes from running until [`Processes::release`]. No scheduler may be running any.
    pub fn look(queued: Vec<RunToken>) -> Processes<'p> {
        Processes::hold(queued)
    }
    fn hold(queued: Vec<RunToken>) -> Processes<'p> {
        let mut known = BTreeMap::new();
        let mut all = table().numbers();
        all.sort_unstable();
        for t in queued {
            if !t.private().flag(flag::ENDING) {
                t.private().handle_all_signals();
            }
            known.insert(t.task().pid, Known::Queued(t));
        }
        let waiting = |pid: &u32| table().get(*pid, &kvik_sync::pin())?.unpark();
        known.extend(all.iter().filter_map(waiting).map(|t| (t.task().pid, Known::Waits(t))));
        Processes { all, known: ManuallyDrop::new(known), terms: Terms::default() }
    }
    /// Lets the processes run again.
    pub fn release(self) {
        for (_, k) in ManuallyDrop::into_inner(self.known) {
            match k {
                Known::Waits(t) => t.park().map_or((), sched::enqueue),
                Known::Queued(t) => sched::enqueue(t),
                Known::Own(_) | Known::Told(..) => {}
            }
        }
    }
    fn ask(&mut self) {
        let (tell, told) = mpsc::channel();
        let shared: Arc<Mutex<Terms>> = Arc::default();
        for pid in self.all.iter().filter(|p| !self.known.contains_key(p)) {
            let (pid, tell, shared) = (*pid, tell.clone(), shared.clone());
            let look = move |p: Option<&Proc>| {
                let Some(p) = p else { return };
                let (mut text, mut terms) = (Vec::new(), Vec::new());
                let told = describe(&mut text, p, false);
                // Sent under the lock: what is in `shared` is in answers that have been sent.
                let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
                if told.and_then(|()| shared.of_process(&mut terms, p)).is_ok() {
                    let _ = tell.send((pid, text, terms));
                }
            };
            deliver(pid, Signal::Run(Box::new(look)));
        }
        drop(tell);
        let end = Instant::now() + ANSWER_TIMEOUT;
        let left = || end.saturating_duration_since(Instant::now());
        while let Ok((pid, text, terms)) = told.recv_timeout(left()) {
            self.known.insert(pid, Known::Told(text, terms));
        }
        let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
        for (pid, text, terms) in told.try_iter() {
            self.known.insert(pid, Known::Told(text, terms));
        }
        // Later answers are to nobody.
        self.terms = std::mem::take(&mut shared);
    }
    /// The `=proc` sections of all processes.
    pub fn describe(&self, out: &mut DumpWriter) -> Result<()> {
        for pid in &self.all {
            match self.known.get(pid) {
                Some(Known::Own(p)) => describe(out, p, true)?,
                Some(Known::Waits(t) | Known::Queued(t)) => describe(out, t.private(), false)?,
                Some(Known::Told(text, _)) => out.write_all(text)?,
                None => unknown(out, *pid)?,
            }
        }
        Ok(())
    }
    pub fn pids(&self) -> impl DoubleEndedIterator<Item = u32> + '_ {
        self.all.iter().copied()
    }
    /// All processes, as the break menu shows them.
    pub fn tell(&self, out: &mut Vec<u8>) -> Result<()> {
        self.pids().try_for_each(|pid| self.tell_one(out, pid))
    }
    pub fn tell_one(&self, out: &mut Vec<u8>, pid: u32) -> Result<()> {
        match self.known.get(&pid) {
            Some(Known::Waits(t) | Known::Queued(t)) => tell(out, t.private()),
            _ => unknown(out, pid),
        }
    }
    /// Kills a process, as by `exit(Pid, kill)` from the first process. It ends when it runs again.
    pub fn kill(&self, pid: u32) {
        let reason = OwnedTerm::new(am::kill.into());
        let from = OwnedTerm::new(Term::local_pid(0));
        control(pid, Control::Exit { from, linked: false, reason, token: None });
    }
    /// The messages, dictionaries, stacks and heaps of all processes, and what they share.
    pub fn terms(&mut self, out: &mut DumpWriter) -> Result<()> {
        for k in self.known.values() {
            match k {
                Known::Own(p) => self.terms.of_process(out, p)?,
                Known::Waits(t) | Known::Queued(t) => self.terms.of_process(out, t.private())?,
                Known::Told(_, text) => out.write_all(text)?,
            }
        }
        self.terms.shared(out)
    }
}

/// A process that did not answer because it kept running: only what its shared part says.
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

/// The parts that dump and break menu show differently.
#[derive(Copy, Clone)]
enum Part {
    Call,
    Queue,
    Dictionary,
    Stack,
}

/// The description of a process in dumps.
pub fn text_of(p: &Proc, own: bool) -> Vec<u8> {
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    let _ = describe(&mut text, p, own);
    text
}
fn describe(out: &mut impl Write, p: &Proc, own: bool) -> Result<()> {
    describe_with(out, p, own, |out, part| match part {
        Part::Call if own => writeln!(out, "Last scheduled in for: erlang:halt/2"),
        Part::Call => current_call(out, p),
        Part::Queue | Part::Dictionary => Ok(()),
        Part::Stack => counter(out, p, own),
    })
}
/// The description of the process that runs here, for the match specification function
/// `process_dump`: with messages, the dictionary, and the stack with its terms.
pub fn told_to_tracer(p: &Proc) -> Vec<u8> {
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    let _ = describe_with(&mut text, p, true, |out, part| match part {
        // The function that is traced has not been entered.
        Part::Call => Ok(()),
        Part::Queue => queue(out, p),
        Part::Dictionary => dictionary(out, p),
        Part::Stack => {
            writeln!(out, "Stack dump:")?;
            out.write_all(&crate::process::backtrace(p))
        }
    });
    text
}
/// The same in readable form: with messages, the dictionary, and the calls on the stack.
fn tell(out: &mut Vec<u8>, p: &Proc) -> Result<()> {
    let open = !p.flag(flag::SENSITIVE);
    describe_with(out, p, false, |out, part| match part {
        Part::Call => current_call(out, p),
        Part::Queue if open => queue(out, p),
        Part::Dictionary if open => dictionary(out, p),
        Part::Stack => {
            writeln!(out, "Stack dump:")?;
            counter(out, p, false)?;
            kvik_jit::returns(p).into_iter().try_for_each(|(at, to)| {
                let function = place(to).unwrap_or_else(|| "unknown function".into());
                writeln!(out, "\n{at:#018x} Return addr {to:#018x} ({function})")
            })
        }
        Part::Queue | Part::Dictionary => Ok(()),
    })
}
fn current_call(out: &mut impl Write, p: &Proc) -> Result<()> {
    match kvik_jit::goes_on(p).1 {
        Some(e) => {
            writeln!(out, "Current call: {}:{}/{}", quoted(e.module), quoted(e.function), e.arity)
        }
        None => Ok(()),
    }
}
fn queue(out: &mut impl Write, p: &Proc) -> Result<()> {
    let mut all = Vec::new();
    p.each_message(|m| all.push(show(m)));
    list(out, "Message queue", &all)
}
fn dictionary(out: &mut impl Write, p: &Proc) -> Result<()> {
    let pair = |[k, v]: [_; 2]| format!("{{{},{}}}", show(k), show(v));
    let all: Vec<String> = p.dict_pairs().into_iter().map(pair).collect();
    list(out, "Dictionary", &all)
}
fn list(out: &mut impl Write, name: &str, all: &[String]) -> Result<()> {
    match all {
        [] => Ok(()),
        all => writeln!(out, "{name}: [{}]", all.join(",")),
    }
}
/// The program counter at which a process continues.
fn counter(out: &mut impl Write, p: &Proc, own: bool) -> Result<()> {
    let ip = p.heap.ip();
    match place(ip).filter(|_| !own) {
        Some(at) => {
            writeln!(out, "Program counter: {ip:#018x} ({at})\narity = {}", p.heap.saved_x())
        }
        None => Ok(()),
    }
}

fn describe_with<W: Write>(
    out: &mut W,
    p: &Proc,
    own: bool,
    part: impl Fn(&mut W, Part) -> Result<()>,
) -> Result<()> {
    let status = if own { am::running } else { status(p) };
    writeln!(out, "=proc:{}\nState: {}", show(p.self_pid()), state(status).0)?;
    if let Some(name) = p.name() {
        writeln!(out, "Name: {}", quoted(name))?;
    }
    let (m, f, a) = p.initial_call();
    writeln!(out, "Spawned as: {}:{}/{a}", quoted(m), quoted(f))?;
    part(out, Part::Call)?;
    writeln!(out, "Spawned by: {}", show(p.parent_pid().unwrap_or(Term::NIL)))?;
    writeln!(out, "Message queue length: {}", p.message_count())?;
    part(out, Part::Queue)?;
    let s = p.heap.sizes();
    if s.fragments == 0 {
        writeln!(out, "Number of heap fragments: 0")?;
    }
    writeln!(out, "Heap fragment data: {}", s.fragments)?;
    last_calls(out, p)?;
    let relations = relations(p);
    if !relations.is_empty() && status != am::exiting {
        writeln!(out, "Link list: [{}]", relations.join(", "))?;
    }
    part(out, Part::Dictionary)?;
    let words = s.block + s.old_block + s.fragments;
    let memory = words * size_of::<u64>() + size_of::<Proc>();
    let old = p.heap.old_off_heap();
    let numbers = [
        ("Reductions", p.reductions_now(own) as usize),
        ("Stack+heap", s.block),
        ("OldHeap", s.old_block),
        ("Heap unused", s.block.saturating_sub(s.used)),
        ("OldHeap unused", s.old_block.saturating_sub(s.old_used)),
        ("BinVHeap", s.off_heap),
        ("OldBinVHeap", old.words),
        ("BinVHeap unused", s.off_heap_limit.saturating_sub(s.off_heap)),
        ("OldBinVHeap unused", old.limit - old.words),
        ("Memory", memory),
    ];
    for (name, n) in numbers {
        writeln!(out, "{name}: {n}")?;
    }
    part(out, Part::Stack)?;
    writeln!(out, "Internal State: {}", internal(p.priority().atom(), status))
}

/// What `process_flag(save_calls, N)` has saved, the newest first. An empty line ends it.
fn last_calls(out: &mut impl Write, p: &Proc) -> Result<()> {
    let Some(calls) = p.saved_calls() else { return Ok(()) };
    write!(out, "Last calls:")?;
    for call in calls.into_iter().rev() {
        match call {
            Saved::Call(m, f, a) => writeln!(out, " {}:{}/{a}", quoted(m), quoted(f))?,
            Saved::Send => writeln!(out, " send")?,
            Saved::Receive => writeln!(out, " 'receive'")?,
            Saved::Timeout => writeln!(out, " timeout")?,
        }
    }
    writeln!(out)
}

/// Links, and monitors in both directions.
fn relations(p: &Proc) -> Vec<String> {
    let h = Heap::detached();
    let reference = |id: &RefId| show(h.ref_of_numbers(id.0));
    p.cold(|x| {
        let linked = x.links.values().filter(|l| l.state == LinkState::Linked);
        let links = linked.map(|l| show(l.peer));
        let to = x.monitoring.iter().filter_map(|(id, m)| {
            Some(format!("{{to,{},{}}}", target(&h, &m.target)?, reference(id)))
        });
        let by = x.monitored_by.iter().filter(|(_, m)| m.pid < ABROAD);
        let by = by.map(|(id, m)| {
            format!("{{from,{},{}}}", show(Term::local_pid(m.pid)), reference(&id.0))
        });
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
