//! Statics that have a value in each VM.

use std::cell::Cell;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Barrier, Mutex, OnceLock};
use std::thread;

use crate::{bind, inherit, vm_state, Membership, Vm};

vm_state! {
    /// Documented as any static.
    static NUMBER: AtomicUsize = AtomicUsize::new(7);
    pub(crate) static TEXTS: [Mutex<String>; 3] = [const { Mutex::new(String::new()) }; 3];
}

fn in_function() -> &'static Mutex<Vec<u8>> {
    vm_state! {
        static BYTES: OnceLock<Mutex<Vec<u8>>> = OnceLock::new();
    }
    BYTES.get_or_init(Mutex::default)
}

fn text(i: usize) -> String {
    TEXTS[i].lock().unwrap().clone()
}

#[test]
fn vms_have_their_own_values() {
    let (a, b) = (Vm::new(), Vm::new());
    a.enter(|| {
        NUMBER.store(1, Relaxed);
        TEXTS[2].lock().unwrap().push('a');
        in_function().lock().unwrap().push(1);
    });
    b.enter(|| {
        assert_eq!(NUMBER.fetch_add(1, Relaxed), 7);
        assert!(text(2).is_empty());
        assert!(in_function().lock().unwrap().is_empty());
    });
    let seen = a.enter(|| (NUMBER.load(Relaxed), text(2), in_function().lock().unwrap().clone()));
    assert_eq!(seen, (1, "a".into(), vec![1]));
    assert_eq!(b.enter(|| NUMBER.load(Relaxed)), 8);
}

#[test]
fn nested_vms_are_left_again() {
    let (a, b) = (Vm::new(), Vm::new());
    a.enter(|| {
        NUMBER.store(1, Relaxed);
        b.enter(|| {
            assert_eq!(NUMBER.swap(2, Relaxed), 7);
            a.enter(|| assert_eq!(NUMBER.load(Relaxed), 1));
        });
        assert_eq!(NUMBER.load(Relaxed), 1);
    });
}

#[test]
fn threads_belong_to_the_vm_that_started_them() {
    let vm = Vm::new();
    vm.enter(|| {
        NUMBER.store(3, Relaxed);
        assert_eq!(thread::spawn(inherit(|| NUMBER.load(Relaxed))).join().unwrap(), 3);
        let outside = thread::spawn(|| std::ptr::from_ref::<AtomicUsize>(&NUMBER) as usize);
        assert_ne!(outside.join().unwrap(), std::ptr::from_ref::<AtomicUsize>(&NUMBER) as usize);
        let later = bind(|| NUMBER.load(Relaxed));
        assert_eq!(Vm::new().enter(move || (later(), NUMBER.load(Relaxed))), (3, 7));
    });
}

#[test]
fn thread_locals_do_not_cross_vms() {
    thread_local!(static SEEN: Cell<bool> = const { Cell::new(false) });
    let (a, b) = (Vm::new(), Vm::new());
    a.enter(|| {
        SEEN.set(true);
        assert!(!b.enter(|| SEEN.get()));
        assert!(SEEN.get());
    });
    assert!(!a.enter(|| SEEN.get()));
}

#[test]
fn a_vm_that_is_reset_begins_anew() {
    let mut vm = Vm::new();
    vm.enter(|| NUMBER.store(1, Relaxed));
    let (into, back) = (Barrier::new(2), Barrier::new(2));
    thread::scope(|s| {
        let old = vm.enter(|| {
            let vm = Membership::of_this_thread();
            s.spawn(|| {
                vm.join();
                into.wait();
                back.wait();
                NUMBER.load(Relaxed)
            })
        });
        into.wait();
        vm.reset();
        assert_eq!(vm.enter(|| NUMBER.load(Relaxed)), 7);
        back.wait();
        assert_eq!(old.join().unwrap(), 1, "a thread keeps the state it began with");
    });
}

#[test]
fn a_value_is_made_once_for_all_threads() {
    vm_state! {
        static ALL: Mutex<Vec<usize>> = Mutex::new(Vec::new());
    }
    const THREADS: usize = 8;
    let vm = Vm::new();
    vm.enter(|| {
        let begin = Barrier::new(THREADS);
        thread::scope(|s| {
            for i in 0..THREADS {
                let vm = Membership::of_this_thread();
                let begin = &begin;
                s.spawn(move || {
                    vm.join();
                    begin.wait();
                    ALL.lock().unwrap().push(i);
                });
            }
        });
        let mut all = std::mem::take(&mut *ALL.lock().unwrap());
        all.sort_unstable();
        assert_eq!(all, Vec::from_iter(0..THREADS));
    });
}

#[test]
fn panics_come_out_of_a_vm() {
    let vm = Vm::new();
    let ended = catch_unwind(AssertUnwindSafe(|| vm.enter(|| panic!("as it should"))));
    assert_eq!(ended.unwrap_err().downcast_ref(), Some(&"as it should"));
    assert_eq!(vm.enter(|| NUMBER.load(Relaxed)), 7);
}

/// Counts its instances, and uses other state when it is dropped.
struct Counted(Arc<AtomicUsize>);
impl Counted {
    fn new(all: &Arc<AtomicUsize>) -> Counted {
        all.fetch_add(1, Relaxed);
        Counted(all.clone())
    }
}
impl Drop for Counted {
    fn drop(&mut self) {
        NUMBER.fetch_add(1, Relaxed);
        // A deferred call may run on any thread.
        let later = bind(|| NUMBER.load(Relaxed));
        assert_eq!(thread::spawn(later).join().unwrap(), 7);
        self.0.fetch_sub(1, Relaxed);
    }
}
vm_state! {
    static COUNTED: Mutex<Vec<Counted>> = Mutex::new(Vec::new());
}

#[test]
fn a_temporary_vm_frees_its_state_with_its_last_member() {
    let all = Arc::new(AtomicUsize::new(0));
    // SAFETY: no reference to its state leaves the closures.
    let mut vm = unsafe { Vm::temporary() };
    let fill = || {
        NUMBER.store(0, Relaxed);
        COUNTED.lock().unwrap().extend([Counted::new(&all), Counted::new(&all)]);
    };
    vm.enter(fill);
    assert_eq!(all.load(Relaxed), 2);
    vm.reset();
    assert_eq!(all.load(Relaxed), 0);
    vm.enter(fill);
    let later = vm.enter(|| bind(|| COUNTED.lock().unwrap().len()));
    drop(vm);
    assert_eq!(all.load(Relaxed), 2, "a call is to come");
    assert_eq!(later(), 2);
    assert_eq!(all.load(Relaxed), 0);
}

#[test]
fn a_vm_keeps_what_safe_code_may_refer_to() {
    let vm = Vm::new();
    let number: &'static AtomicUsize = vm.enter(|| {
        NUMBER.store(5, Relaxed);
        &*NUMBER
    });
    drop(vm);
    assert_eq!(number.load(Relaxed), 5);
}
