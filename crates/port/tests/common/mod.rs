//! A host that records messages to processes as text.
#![allow(dead_code)]

use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use kvik_heap::OwnedTerm;
use kvik_port::{check_io, host, Host};
use kvik_term::{Atom, Term, View};

#[derive(Default)]
pub struct Mail(Mutex<Vec<(u32, String)>>);

fn show(t: Term<'_>) -> String {
    match t.view() {
        View::Small(n) => n.to_string(),
        View::Atom(a) => a.name().to_owned(),
        View::Nil => "[]".into(),
        View::Tuple(t) => {
            let v: Vec<_> = t.elements().iter().map(|e| show(*e)).collect();
            format!("{{{}}}", v.join(","))
        }
        View::Bits(b) => format!("{:?}", String::from_utf8_lossy(&b.to_bytes())),
        View::Cons(_) => {
            let v: Vec<_> = t.list().map(show).collect();
            format!("[{}]", v.join(","))
        }
        View::Port(_) => "P".into(),
        View::Pid(_) => "<>".into(),
        _ => "?".into(),
    }
}

impl Host for Mail {
    fn send(&self, pid: u32, _: Term<'static>, m: OwnedTerm) {
        self.0.lock().unwrap().push((pid, show(m.term())));
    }
    fn resume(&self, pid: u32) {
        self.0.lock().unwrap().push((pid, "goes on".into()));
    }
    fn exit(&self, pid: u32, _port: u32, reason: OwnedTerm) {
        let text = format!("EXIT {}", show(reason.term()));
        self.0.lock().unwrap().push((pid, text));
    }
    fn down(&self, pid: u32, _: [u32; 3], _: u32, _: Option<Atom>, reason: OwnedTerm) {
        let text = format!("DOWN {}", show(reason.term()));
        self.0.lock().unwrap().push((pid, text));
    }
    fn link(&self, _: u32, _: Term<'static>) -> bool {
        true
    }
    fn unlink(&self, _: u32, _: Term<'static>) {}
    fn is_alive(&self, _: u32) -> bool {
        true
    }
    fn name_of(&self, _: u32) -> Option<Atom> {
        None
    }
    fn unregister(&self, _: u32) {}
    fn whereis(&self, _: Atom) -> Option<Term<'static>> {
        None
    }
}

pub fn mail() -> &'static Mail {
    static MAIL: OnceLock<&'static Mail> = OnceLock::new();
    MAIL.get_or_init(|| {
        let m: &'static Mail = Box::leak(Box::default());
        host::install(m);
        m
    })
}

/// Serves ports until a process has got this many messages, and takes them.
pub fn get(pid: u32, n: usize) -> Vec<String> {
    let end = Instant::now() + Duration::from_secs(5);
    loop {
        {
            let mut m = mail().0.lock().unwrap();
            if m.iter().filter(|(p, _)| *p == pid).count() >= n || Instant::now() > end {
                let all = std::mem::take(&mut *m);
                let (ours, rest) = all.into_iter().partition(|(p, _)| *p == pid);
                *m = rest;
                let ours: Vec<(u32, String)> = ours;
                return ours.into_iter().map(|(_, s)| s).collect();
            }
        }
        check_io(0, Some(Duration::from_millis(5)), &mut || ());
    }
}
