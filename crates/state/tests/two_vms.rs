//! Two VMs in one program: neither sees the other's state, and the memory of each is freed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicIsize, Ordering::Relaxed};
use std::sync::Barrier;
use std::thread;

use kvik_heap::{literal, memory_counters, Heap, OwnedTerm};
use kvik_proc::process::{self, Proc};
use kvik_proc::signal::{post, RefId};
use kvik_proc::spawn::{spawn, SpawnOptions};
use kvik_proc::{hooks, registry, set_hooks, timer, ErrorClass, Hooks};
use kvik_state::Vm;
use kvik_term::{am, node, Atom, Term};

/// Counts the bytes in use.
struct Counting;
static IN_USE: AtomicIsize = AtomicIsize::new(0);

// SAFETY: the system's allocator, with a count added.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, l: Layout) -> *mut u8 {
        IN_USE.fetch_add(l.size() as isize, Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(l) }
    }
    unsafe fn alloc_zeroed(&self, l: Layout) -> *mut u8 {
        IN_USE.fetch_add(l.size() as isize, Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(l) }
    }
    unsafe fn dealloc(&self, p: *mut u8, l: Layout) {
        IN_USE.fetch_sub(l.size() as isize, Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(p, l) }
    }
}
#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn in_use() -> isize {
    IN_USE.load(Relaxed)
}
fn atom(name: &str) -> Atom {
    Atom::intern(name).unwrap()
}
fn bif<'h>(p: &'h Proc, m: &str, name: &str, args: &[Term<'h>]) -> Term<'h> {
    let tables = kvik_bifs::all();
    let mut all = tables.iter().copied().flatten();
    let named = all.find(|b| (b.module, b.name, b.arity as usize) == (m, name, args.len()));
    let f = named.unwrap().f;
    loop {
        p.heap.set_reductions(4000);
        match f(p, args) {
            Ok(t) => return t,
            // The rest follows in another time slice.
            Err(_) if p.heap.exc_class() == ErrorClass::Again as u8 => {}
            Err(_) => panic!("{m}:{name} failed"),
        }
    }
}

const TABLE: &str = "two_vms";
const ROWS: i64 = 1000;

/// Creates `n` of everything that a program may leave behind, so much that a leak is noticed.
fn fill(n: usize) {
    node::set(atom(&format!("node{n}@here")), n as u32);
    kvik_port::table::set_limit(1024 * n.next_power_of_two());
    assert!(set_hooks(Hooks { uses_old_code: |_, _| true, ..hooks::DEFAULT }));
    assert!(hooks::on_exit(|_| {}));
    let h = Heap::detached();
    let mut last = 0;
    for _ in 0..n {
        let args = h.list(&[h.binary(&[0; 500])]);
        let p = spawn(None, am::erlang, am::apply, args, SpawnOptions::default()).unwrap();
        last = p.pid;
        p.go();
        let deadline = timer::At::deadline(kvik_proc::clock::now() + 1_000_000_000_000);
        let message = OwnedTerm::new(h.binary(&[1; 300]));
        let dest = timer::Dest::Process(last);
        timer::start(RefId::next(), timer::Timer { deadline, dest, message, wrap: false });
        post(last, |h| h.binary(&[2; 400]));
    }
    assert!(registry::register(atom("last"), Term::local_pid(last)));
    let p = Proc::new(last, 1000);
    let table = Term::atom(atom(TABLE));
    let options = p.heap.list(&[am::named_table.into(), am::public.into()]);
    bif(&p, "ets", "new", &[table, options]);
    for i in 0..ROWS {
        let object = p.heap.tuple(&[p.heap.integer(i), p.heap.binary(&[3; 1000])]);
        bif(&p, "ets", "insert", &[table, object]);
    }
    let value = p.heap.list(&vec![p.heap.binary(&[4; 20]); n]);
    bif(&p, "persistent_term", "put", &[table, value]);
}

/// The observable part of that state.
#[derive(PartialEq, Debug)]
struct Seen {
    node: String,
    port_limit: usize,
    has_hooks: bool,
    processes: usize,
    last: Option<u32>,
    timers: usize,
    rows: Option<i64>,
    persistent: usize,
    binary_bytes: usize,
}

fn seen() -> Seen {
    let p = Proc::new(1_000_000, 1000);
    let table = Term::atom(atom(TABLE));
    let size = bif(&p, "ets", "info", &[table, am::size.into()]).as_small();
    let value = bif(&p, "persistent_term", "get", &[table, Term::NIL]);
    Seen {
        node: node::name().name().to_string(),
        port_limit: kvik_port::table::limit(),
        has_hooks: (hooks::hooks().uses_old_code)(&p, am::erlang),
        processes: process::table().count(),
        last: registry::whereis_process(atom("last")),
        timers: timer::count(),
        rows: size,
        persistent: value.list().count(),
        binary_bytes: memory_counters::BINARIES.sum(),
    }
}

/// The observable state of an unused VM.
fn nothing() -> Seen {
    Seen {
        node: "nonode@nohost".into(),
        port_limit: 65_536,
        has_hooks: false,
        processes: 0,
        last: None,
        timers: 0,
        rows: None,
        persistent: 0,
        binary_bytes: 0,
    }
}
/// Whether it is the state after `fill(n)`.
fn check(seen: &Seen, n: usize) {
    let binary_bytes = seen.binary_bytes;
    assert!(binary_bytes > 1000 * n);
    let expected = Seen {
        node: format!("node{n}@here"),
        port_limit: 1024 * n.next_power_of_two(),
        has_hooks: true,
        processes: n,
        last: Some(n as u32 - 1),
        timers: n,
        rows: Some(ROWS),
        persistent: n,
        binary_bytes,
    };
    assert_eq!(*seen, expected);
}

/// Runs deferred frees, as far as no thread pins them.
fn flush() {
    for _ in 0..3 {
        kvik_sync::table::wait_for_all();
    }
}

/// Number of items of each kind in each VM.
const MANY: [usize; 2] = [3000, 2000];

/// Fills both at the same time, checks them, resets one, drops both. Returns the bytes that were in
/// use when both were full, and those that the one and then the other freed.
fn round() -> [isize; 3] {
    let begin = in_use();
    // SAFETY: references that `fill` and `seen` obtain do not leave them.
    let (mut a, b) = unsafe { (Vm::temporary(), Vm::temporary()) };
    let both = Barrier::new(2);
    thread::scope(|s| {
        let vms = [&a, &b].into_iter().zip(MANY);
        let filled: Vec<_> = vms
            .map(|(vm, n)| {
                let both = &both;
                s.spawn(move || {
                    vm.enter(|| {
                        assert_eq!(seen(), nothing());
                        both.wait();
                        fill(n);
                        both.wait();
                        check(&seen(), n);
                    })
                })
            })
            .collect();
        filled.into_iter().for_each(|t| t.join().unwrap());
    });
    let full = in_use() - begin;
    a.reset();
    flush();
    let after_reset = in_use() - begin;
    assert_eq!(a.enter(seen), nothing());
    check(&b.enter(seen), MANY[1]);
    a.enter(|| fill(5));
    check(&a.enter(seen), 5);
    drop(b);
    drop(a);
    flush();
    [full, full - after_reset, after_reset - (in_use() - begin)]
}

#[test]
fn two_vms_share_nothing_and_give_back_what_they_had() {
    // State shared by all VMs, such as atoms, is made in the first round.
    round();
    let (bytes, literals) = (in_use(), literal::bytes());
    let [full, by_reset, by_drop] = round();
    let left = in_use() - bytes;
    println!("in use {full}, freed by reset {by_reset}, by drop {by_drop}");
    assert!(full > 5_000_000, "there was something");
    assert!(by_reset > full / 2 && by_drop > full / 4);
    assert_eq!(literal::bytes(), literals);
    assert!(left < full / 100, "{left} bytes of {full} are left");
    assert_eq!(seen(), nothing(), "the default VM");
}
