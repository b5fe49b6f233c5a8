//! What the machine gives: processors, memory, open files.

use kvik_vm::code_cache;

use super::Report;

/// Servers open a file for each connection; with fewer than this they run out first.
const FEW_FILES: u64 = 4096;

pub fn tell(report: &mut Report) {
    let usable = kvik_env::thread::available_parallelism().map_or(1, |n| n.get());
    report.fact("processors", format_args!("{usable}, as many schedulers (+S N)"));
    let megabytes = kvik_heap::limit::memory() >> 20;
    report.fact("memory", format_args!("{megabytes} MB, with swap, or the control group's limit"));
    let files = kvik_env::fd::limit();
    let hint = if files < FEW_FILES { "; a server may need more: ulimit -n" } else { "" };
    report.fact("open files", format_args!("{files} at most{hint}"));
    match code_cache::directory() {
        Some(directory) => {
            report.fact("native code", format_args!("kept in {}", directory.display()));
        }
        None => report.fact("native code", "made anew at each start"),
    }
}
