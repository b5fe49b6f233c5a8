//! The details that a process reports of itself. This runs on the process's scheduler, between two
//! of its time slices, so its cost is bounded whatever the process holds.

use kvik_bifs::process::{item, status};
use kvik_heap::Heap;
use kvik_proc::hooks::hooks;
use kvik_proc::links_monitors::{LinkState, MonitoredBy, Target};
use kvik_proc::process::flag;
use kvik_proc::signal::LIBRARY;
use kvik_proc::{clock, Proc, RefId, ABROAD};
use kvik_term::{am, print, Atom, Term};
use serde_json::{json, Value};

/// Messages whose sizes are measured; the size of more is extrapolated.
const MESSAGES: usize = 1000;
/// Maximum relations listed of each kind.
const RELATIONS: usize = 50;
/// Maximum text length of a term, in bytes.
const TEXT: usize = 300;

#[derive(Copy, Clone, Default)]
pub struct Numbers {
    /// Time of the report, in nanoseconds since the VM started; 0 for never.
    pub at: u64,
    pub reductions: u64,
    pub mailbox: usize,
    /// Bytes.
    pub memory: usize,
}

/// The parts of a row that are not numbers.
#[derive(Clone)]
pub struct ProcessDetails {
    pub name: Option<String>,
    /// Its initial function; for `proc_lib` processes, the one that `proc_lib` was given.
    pub initial: String,
    pub current: String,
    pub status: &'static str,
}

pub fn numbers(p: &Proc) -> Numbers {
    let s = p.heap.sizes();
    let queue = if p.flag(flag::OFF_HEAP_QUEUE) { 0 } else { p.message_words_about(MESSAGES) };
    let words = s.block + s.old_block + s.fragments + queue;
    Numbers {
        at: clock::now().max(1),
        reductions: p.reductions(),
        mailbox: p.message_count(),
        memory: words * size_of::<u64>() + size_of::<Proc>(),
    }
}

pub fn about(p: &Proc) -> ProcessDetails {
    let h = Heap::detached();
    ProcessDetails {
        name: p.name().map(|n| show(n.into())),
        initial: initial(p),
        current: item(p, false, &h, am::current_function).map_or_else(String::new, function),
        status: status(p).name(),
    }
}

/// A term as text, cut to a maximum length.
pub fn show(t: Term<'_>) -> String {
    let text = String::from_utf8_lossy(&print::display(t)).into_owned();
    match text.char_indices().nth(TEXT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
/// `{M, F, A}` as `M:F/A`.
fn function(t: Term<'_>) -> String {
    match t.as_tuple_n::<3>() {
        Some([m, f, a]) => format!("{}:{}/{}", show(m), show(f), show(a)),
        None => show(t),
    }
}
fn initial(p: &Proc) -> String {
    let key = Atom::existing("$initial_call").filter(|_| !p.flag(flag::SENSITIVE));
    let noted = key.map(|k| p.dict_get(k.into())).and_then(|t| t.as_tuple_n::<3>());
    match noted.filter(|[m, f, a]| {
        m.as_atom().is_some() && f.as_atom().is_some() && a.as_small().is_some()
    }) {
        Some([m, f, a]) => format!("{}:{}/{}", show(m), show(f), show(a)),
        None => {
            let (m, f, a) = p.initial_call();
            format!("{}:{}/{a}", show(m.into()), show(f.into()))
        }
    }
}

/// A line of the stack: the function and its source position.
fn line(t: Term<'_>) -> Value {
    let Some([m, f, a, at]) = t.as_tuple_n::<4>() else { return json!([show(t), ""]) };
    let arity = if a.is_list() { a.list().count().to_string() } else { show(a) };
    let (mut file, mut number) = (String::new(), String::new());
    for [k, v] in at.list().filter_map(|t| t.as_tuple_n::<2>()) {
        match k.as_atom() {
            Some(am::file) => file = text(v),
            Some(am::line) => number = show(v),
            _ => {}
        }
    }
    let place = if number.is_empty() { file } else { format!("{file}:{number}") };
    json!([format!("{}:{}/{arity}", show(m), show(f)), place])
}
/// A string, cut to a maximum length.
fn text(t: Term<'_>) -> String {
    let chars = t.list().take(TEXT).filter_map(|c| char::from_u32(c.as_small()? as u32));
    chars.collect()
}

/// The first items up to a maximum, and the total count.
fn some(all: impl Iterator<Item = String>) -> String {
    let mut n = 0;
    let mut texts = Vec::new();
    for t in all {
        n += 1;
        if n <= RELATIONS {
            texts.push(t);
        }
    }
    let more = if n > RELATIONS { format!(" … {n} in all") } else { String::new() };
    format!("{}{more}", texts.join(" "))
}
fn target(t: &Target) -> String {
    match t {
        Target::Process(n) => show(Term::local_pid(*n)),
        Target::Port(n) => show(Term::local_port(*n)),
        Target::Named { name, node, .. } => format!("{{{},{}}}", show((*name).into()), node.name()),
        Target::TimeOffset => "time_offset".into(),
        Target::Remote(t) => show(t.term()),
    }
}

fn watcher(h: &Heap, id: &RefId, m: &MonitoredBy) -> String {
    match m.pid {
        ABROAD => (hooks().node.watcher)(h, *id).map_or_else(String::new, show),
        LIBRARY => "library".into(),
        pid => show(Term::local_pid(pid)),
    }
}

/// Everything that the page shows of one process: pairs of name and text, and the stack.
pub fn details(p: &Proc) -> Value {
    let h = Heap::detached();
    let n = numbers(p);
    let get = |a: Atom| item(p, false, &h, a).map_or_else(String::new, show);
    let a = about(p);
    let relations = p.cold(|x| {
        let linked = x.links.values().filter(|l| l.state == LinkState::Linked);
        [
            some(linked.map(|l| show(l.peer))),
            some(x.monitoring.values().map(|m| target(&m.target))),
            some(x.monitored_by.iter().map(|(id, m)| watcher(&h, &id.0, m))),
        ]
    });
    let [links, monitors, watchers] = relations.unwrap_or_default();
    let s = p.heap.sizes();
    let collections = p.heap.minor_collections();
    let rows = [
        ("registered_name", a.name.clone().unwrap_or_default()),
        ("initial_call", a.initial),
        ("current_function", a.current),
        ("status", a.status.into()),
        ("message_queue_len", n.mailbox.to_string()),
        ("reductions", n.reductions.to_string()),
        ("memory", format!("{} bytes", n.memory)),
        ("heap_size", format!("{} words", s.block)),
        ("stack_size", format!("{} words", s.stack)),
        ("old heap", format!("{} words", s.old_block)),
        ("minor_gcs", format!("{collections}")),
        ("priority", p.priority().atom().name().into()),
        ("trap_exit", p.flag(flag::TRAP_EXIT).to_string()),
        ("parent", get(am::parent)),
        ("group_leader", get(am::group_leader)),
        ("links", links),
        ("monitors", monitors),
        ("monitored_by", watchers),
    ];
    let rows: Vec<Value> =
        rows.into_iter().filter(|r| !r.1.is_empty()).map(|r| json!([r.0, r.1])).collect();
    let stack = item(p, false, &h, am::current_stacktrace).unwrap_or(Term::NIL);
    let stack: Vec<Value> = stack.list().map(line).collect();
    json!({ "title": show(p.self_pid()), "name": a.name, "rows": rows, "stack": stack })
}
