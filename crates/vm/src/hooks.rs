//! The functions through which lower crates call higher ones.

use kvik_heap::roots::Root;
use kvik_heap::Regs;
use kvik_proc::{CurrentTask, ErrorClass, Proc, SliceEnd};
use kvik_term::am;

/// Fills in all hook tables.
pub fn install() {
    kvik_sys::alloc::on_no_memory(kvik_bifs::dump::end_without_memory);
    kvik_proc::set_hooks(kvik_proc::Hooks {
        run,
        start_ip: kvik_jit::start_ip,
        stacktrace: kvik_jit::of_process,
        uses_old_code: kvik_jit::uses_old_code,
        poll: kvik_port::check_io,
        wake: kvik_port::poll::wake,
        on_another_thread: kvik_bifs::blocking_pool::run,
        port: kvik_port::processes::HOOKS,
        node: kvik_dist::HOOKS,
    });
    kvik_heap::written_refs::set_sweep(kvik_proc::written_aliases::sweep);
    kvik_etf::set_hooks(kvik_etf::EtfHooks {
        node: || (kvik_proc::node::name(), kvik_proc::node::creation()),
        export: |m, f, a| Some(kvik_code::staged_export(m, f, a as u32)),
        is_known: |m, f, a| kvik_code::is_active(m, f, a as u32),
        fun: |id| {
            let key = kvik_code::FunKey {
                module: id.module,
                uniq: id.uniq,
                index: id.index,
                old_uniq: id.old_uniq,
                arity: id.arity as u32,
                num_free: id.num_free,
            };
            Some(kvik_code::fun_entry(key, am::undefined, id.old_index, kvik_jit::no_fun()))
        },
        record: kvik_code::record_definition,
        local_ref: |h, n| h.ref_read(n),
    });
}

/// Runs a time slice; when the process ends, its exit reason is in `Root::ExcValue`.
fn run(current_task: &CurrentTask, regs: &Regs) -> SliceEnd {
    match kvik_jit::run_on(current_task, regs) {
        kvik_jit::RunOutcome::Yield => SliceEnd::Yield,
        kvik_jit::RunOutcome::Wait => SliceEnd::Wait,
        how => current_task.with(|p| end(p, how)).unwrap_or(SliceEnd::Exit),
    }
}
fn end(p: &Proc, how: kvik_jit::RunOutcome) -> SliceEnd {
    match how {
        kvik_jit::RunOutcome::Returned => {
            p.heap.set_exc_class(ErrorClass::Exit as u8);
            p.heap.set_root(Root::ExcValue, am::normal.into());
            SliceEnd::Exit
        }
        _ if p.is_exiting() || p.is_hibernating() => SliceEnd::Wait,
        _ => {
            let value = p.heap.root(Root::ExcValue);
            let trace = || kvik_jit::stacktrace(p, p.heap.root(Root::ExcTrace));
            let reason = match p.heap.exc_class() {
                0 => p.heap.tuple(&[value, trace()]),
                1 => value,
                _ => {
                    let nocatch = p.heap.tuple(&[am::nocatch.into(), value]);
                    p.heap.tuple(&[nocatch, trace()])
                }
            };
            p.heap.set_root(Root::ExcValue, reason);
            SliceEnd::Exit
        }
    }
}
