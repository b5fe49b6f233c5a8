//! `kvik sched`: prints the scheduling costs of a running VM once a second, in the form of the
//! published probe, from counters that the VM always maintains.

mod draw;
mod find;
mod options;

use std::ffi::OsString;
use std::io::{self, Write};
use std::time::Duration;

use kvik_env::clock::Instant;
use kvik_env::process::{self, Command, StdChild};
use kvik_env::thread;

use draw::Shot;
use find::FoundVm;
use options::Whom;
pub use options::{SchedOptions, HELP};

/// How often to check whether a started program has become a VM or has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

pub fn main(args: &[OsString]) -> i32 {
    let fault = match SchedOptions::parse(args) {
        Ok(o) if o.help => {
            kvik_sys::say!("{HELP}");
            return 0;
        }
        Ok(o) => match watch(&o) {
            Ok(status) => return status,
            Err(e) => e,
        },
        Err(e) => format!("{e}\n\n{HELP}"),
    };
    kvik_sys::complain!("kvik sched: {fault}");
    1
}

fn watch(o: &SchedOptions) -> Result<i32, String> {
    match &o.whom {
        Whom::Pid(pid) => follow(o, &find::vm(*pid)?, None, &mut io::stdout()),
        Whom::Any => follow(o, &find::only_vm()?, None, &mut io::stdout()),
        Whom::Program(words) => {
            let (name, args) = words.split_first().ok_or("no program")?;
            let mut child = process::start(Command::new(name).args(args));
            let child = child.as_mut().map_err(|e| format!("{}: {e}", name.to_string_lossy()))?;
            match vm_of(child)? {
                Some(vm) => follow(o, &vm, Some(child), &mut io::stderr()),
                None => Err("the program ended, and there was no kvik in it".into()),
            }
        }
    }
}
/// The VM that the program is or starts; `None` if it ends without one.
fn vm_of(child: &mut StdChild) -> Result<Option<FoundVm>, String> {
    loop {
        if let Some(vm) = find::among(child.id()) {
            return Ok(Some(vm));
        }
        if child.try_wait().map_err(|e| e.to_string())?.is_some() {
            return Ok(None);
        }
        thread::sleep(POLL_INTERVAL / 10);
    }
}

/// Prints a report at each interval, until the VM ends or the count is reached. Returns the exit
/// status of the program, if one was started.
fn follow(
    o: &SchedOptions,
    vm: &FoundVm,
    mut child: Option<&mut StdChild>,
    to: &mut dyn Write,
) -> Result<i32, String> {
    let mut before = vm.read()?;
    let mut shown = 0;
    while o.count.is_none_or(|n| shown < n) {
        let next = Instant::now() + o.every;
        let lasts = wait_until(next, vm, child.as_deref_mut());
        let now = vm.read()?;
        let shot = Shot { pid: vm.pid, seconds: now.0.saturating_sub(before.0) as f64 / 1e9 };
        let text = shot.show(o, &before.1, &now.1);
        // The reader of a pipe may have closed it.
        if to.write_all(text.as_bytes()).and_then(|()| to.flush()).is_err() || !lasts {
            break;
        }
        before = now;
        shown += 1;
    }
    let Some(child) = child else { return Ok(0) };
    let status = child.wait().map_err(|e| e.to_string())?;
    Ok(status.code().unwrap_or(1))
}
/// Waits until `then`. False if the program or the VM ended before.
fn wait_until(then: Instant, vm: &FoundVm, mut child: Option<&mut StdChild>) -> bool {
    loop {
        let left = then.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        let ended = child.as_mut().is_some_and(|c| !matches!(c.try_wait(), Ok(None)));
        if ended || !vm.lives() {
            return false;
        }
        thread::sleep(left.min(POLL_INTERVAL));
    }
}
