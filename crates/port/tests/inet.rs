//! Sockets, as `prim_inet` uses them.

mod common;

use std::sync::{Arc, OnceLock};

use common::{get, mail};
use kvik_port::driver::ControlReply;
use kvik_port::{inet, Command, Port, PortOptions, PortTarget};

fn open(owner: u32, driver: &str) -> Arc<Port> {
    static INSTALL: OnceLock<()> = OnceLock::new();
    INSTALL.get_or_init(inet::install);
    mail();
    let o = PortOptions { binary: true, ..PortOptions::default() };
    let what = PortTarget::Driver(driver.as_bytes().to_vec());
    Port::open(owner, &what, &o, |_, _| ()).unwrap()
}

fn control(p: &Port, from: u32, op: u32, data: &[u8]) -> Vec<u8> {
    match p.control(from, 0x03f1_a300 + op, data) {
        Some(ControlReply::List(b) | ControlReply::Binary(b)) => b,
        None => panic!("badarg"),
    }
}
fn ok(p: &Port, from: u32, op: u32, data: &[u8]) -> Vec<u8> {
    let r = control(p, from, op, data);
    assert_eq!(r[0], 1, "{}", String::from_utf8_lossy(&r));
    r[1..].to_vec()
}
const FOREVER: [u8; 4] = [255; 4];
const ACTIVE: u8 = 22;
const PACKET: u8 = 23;
const MODE: u8 = 24;

#[test]
fn requests_of_the_boot() {
    let u = open(20, "udp_inet");
    ok(&u, 20, 7, &[MODE, 0, 0, 0, 0]);
    ok(&u, 20, 1, &[1, 2]);
    let port = ok(&u, 20, 6, &[3, 0, 0]);
    assert!(port.len() == 2 && port != [0, 0]);
    assert!(!ok(&u, 20, 12, &[]).is_empty());
    assert_eq!(ok(&u, 20, 24, &[1]), [1, 0, 0, 0, 0]);
    assert!(u.close(1));
}

#[test]
fn datagrams() {
    let a = open(21, "udp_inet");
    ok(&a, 21, 1, &[1, 2]);
    let port = ok(&a, 21, 6, &[4, 0, 0]);
    ok(&a, 21, 7, &[ACTIVE, 0, 0, 0, 2, MODE, 0, 0, 0, 1]);
    let b = open(22, "udp_inet");
    ok(&b, 22, 1, &[1, 2]);
    ok(&b, 22, 6, &[4, 0, 0]);
    let to = [&[1], &port[..], &[127, 0, 0, 1], &[0; 4]].concat();
    for text in ["one", "two"] {
        assert_eq!(b.command(22, &[&to, text.as_bytes()].concat(), false), Command::Done);
    }
    assert_eq!(get(22, 2), ["{inet_reply,P,ok}", "{inet_reply,P,ok}"]);
    let got = get(21, 1);
    assert!(got[0].starts_with("{udp,P,{127,0,0,1},") && got[0].ends_with("\"one\"}"), "{got:?}");
    // Passive now: the second packet waits for a request.
    let id = ok(&a, 21, 60, &[&FOREVER[..], &[0; 4]].concat());
    let got = get(21, 1);
    let want = format!("{{inet_async,P,{},{{ok,[1,", (id[0] as u16) << 8 | id[1] as u16);
    assert!(got[0].starts_with(&want), "{got:?}");
}

#[test]
fn a_connection() {
    let l = open(30, "tcp_inet");
    ok(&l, 30, 1, &[1, 1]);
    let port = ok(&l, 30, 6, &[4, 0, 0]);
    ok(&l, 30, 7, &[PACKET, 0, 0, 0, 2, MODE, 0, 0, 0, 1]);
    ok(&l, 30, 27, &[0, 5]);
    ok(&l, 31, 26, &FOREVER);
    let c = open(32, "tcp_inet");
    assert_eq!(control(&c, 32, 42, &[0; 8])[1..], *b"enotconn");
    ok(&c, 32, 1, &[1, 1]);
    ok(&c, 32, 7, &[PACKET, 0, 0, 0, 2, ACTIVE, 0, 0, 0, 1]);
    ok(&c, 32, 3, &[&FOREVER[..], &[1], &port, &[127, 0, 0, 1]].concat());
    let done = get(32, 1);
    assert!(done[0].ends_with(",ok}"), "{done:?}");
    let accepted = get(31, 1);
    assert!(accepted[0].ends_with(",{ok,P}}"), "{accepted:?}");
    let s = kvik_port::table::all()
        .into_iter()
        .find(|p| p.info().is_some_and(|i| i.owner == 31))
        .unwrap();
    // Packets of both sides: passive there, active here.
    c.command(32, b"hello", false);
    c.command(32, b"again", false);
    ok(&s, 31, 42, &[&FOREVER[..], &[0; 4]].concat());
    let got = get(31, 1);
    assert!(got[0].ends_with("{ok,\"hello\"}}"), "{got:?}");
    assert_eq!(get(32, 2).len(), 2);
    s.command(31, b"back", false);
    assert_eq!(get(31, 1), ["{inet_reply,P,ok}"]);
    assert_eq!(get(32, 1), ["{tcp,P,[98,97,99,107]}"]);
    // More than the system buffers: the sender waits until it is read.
    let block = vec![b'x'; 60_000];
    let (mut taken, mut replies) = (0, Vec::new());
    while taken < 100 {
        match s.command(31, &block, false) {
            Command::Wait => replies.extend(get(31, 1)),
            _ => taken += 1,
        }
    }
    assert_eq!(get(32, 100).len(), 100);
    assert!(replies.iter().any(|r| r == "goes on"));
    replies.extend(get(31, 1));
    assert!(replies.iter().filter(|r| *r == "{inet_reply,P,ok}").count() == 100);
    s.close(1);
    // As in OTP its owner is unlinked, and gets no exit signal.
    assert_eq!(get(32, 1), ["{tcp_closed,P}"]);
    l.close(1);
}

#[test]
fn receive_times_out() {
    let l = open(40, "tcp_inet");
    ok(&l, 40, 1, &[1, 1]);
    ok(&l, 40, 6, &[4, 0, 0]);
    ok(&l, 40, 27, &[0, 5]);
    ok(&l, 40, 26, &[0, 0, 0, 20]);
    let got = get(40, 1);
    assert!(got[0].ends_with(",{error,timeout}}"), "{got:?}");
}
