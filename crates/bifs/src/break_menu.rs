//! The menu that Ctrl-C opens on a terminal, as in OTP. All other schedulers are stopped while it
//! is open.

use std::io::Write;
use std::sync::mpsc;

use kvik_port::console::{key, say};
use kvik_port::stop_the_world::StoppedWorld;
use kvik_port::{ctrl_c, spawn_thread, tty};
use kvik_proc::process::RunToken;
use kvik_proc::sched;

use crate::dump::{self, Processes};

const HELP: &str = "BREAK: (a)bort (A)bort with dump (c)ontinue (p)roc info (i)nfo\n       \
                    (l)oaded (v)ersion (k)ill (D)b-tables (d)istribution\n";
const SLOGAN: &str = "Crash dump requested by user";

pub fn install() {
    ctrl_c::set_menu(|alone| tty::as_before(|| menu(alone)));
}

fn menu(alone: &StoppedWorld) {
    say(format!("\n{HELP}").as_bytes());
    loop {
        let Some(key) = key() else { leave() };
        match key {
            b'a' | b'q' | b'*' => leave(),
            b'A' => abort(alone),
            b'\n' => {}
            b'c' | b'm' => return,
            b'k' => return killer(alone),
            _ => match told(alone, key) {
                Some(text) => return say(&text),
                None => say(&[
                    b"Invalid option '",
                    &[key][..],
                    b"'. Please enter one of the following:\n",
                    HELP.as_bytes(),
                ]
                .concat()),
            },
        }
    }
}

/// The text for a key that only prints information; `None`: no such key.
fn told(alone: &StoppedWorld, key: u8) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let written = match key {
        b'p' => {
            let all = Processes::look(queued(alone));
            let written = all.tell(&mut out).and_then(|()| dump::ports(&mut out));
            all.release();
            written
        }
        b'o' => dump::ports(&mut out),
        b'D' => dump::objects(&mut out),
        b'i' => dump::part("info").ok_or(std::io::ErrorKind::Other.into()).map(|t| out = t),
        b'l' => dump::part("loaded").ok_or(std::io::ErrorKind::Other.into()).map(|t| out = t),
        b'd' => dump::part("dist").ok_or(std::io::ErrorKind::Other.into()).map(|t| out = t),
        b'v' => writeln!(out, "Erlang (BEAM) emulator version {}", kvik_release::erts_version()),
        _ => return None,
    };
    written.ok().map(|()| out)
}

/// Ends the program at once.
fn leave() -> ! {
    spawn_thread::settle();
    tty::restore();
    std::process::exit(0)
}

fn abort(alone: &StoppedWorld) -> ! {
    dump::only_one(true);
    spawn_thread::settle();
    dump::say(SLOGAN.as_bytes());
    if kvik_release::current().ends_dump_request() {
        dump::say(b"\n");
    }
    dump::write(None, queued(alone), SLOGAN);
    tty::restore();
    std::process::abort()
}

/// The processes in the run queues of all schedulers.
fn queued(alone: &StoppedWorld) -> Vec<RunToken> {
    let (give, given) = mpsc::channel();
    let mut all = sched::take_own();
    alone.on_others(move || {
        for t in sched::take_own() {
            let _ = give.send(t);
        }
    });
    all.extend(given);
    all
}

/// Shows one process after another, the newest first, and kills those that the user selects.
fn killer(alone: &StoppedWorld) {
    say(b"\n\nProcess Information\n\n--------------------------------------------------\n");
    let all = Processes::look(queued(alone));
    for pid in all.pids().rev() {
        let mut text = Vec::new();
        if all.tell_one(&mut text, pid).is_err() {
            continue;
        }
        say(&text);
        say(b"(k)ill (n)ext (r)eturn:\n");
        match key() {
            Some(b'k') => all.kill(pid),
            Some(b'n') => {}
            Some(_) => break,
            None => leave(),
        }
    }
    all.release();
}
