//! Ports: opening them, the functions behind `erlang:port_*`, and port information.
//!
//! Most functions here return an atom for an error (`badarg`, `badopt`, `enoent` …), which
//! `erlang.erl` turns into an exception, or a reference whose reply comes as a message.

use std::sync::Arc;

use kvik_heap::SuspendedState;
use kvik_port::options::BusyLimits;
use kvik_port::port::PortInfo;
use kvik_port::table::find;
use kvik_port::{host, iodata, table, Command, OpenError, Port, PortOptions, PortTarget};
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, Atom, Term};

use crate::filename::{from_native, native};
use crate::process::{in_next_turn, signalling, Found};
use crate::table_list;

pub const BIFS: &[BifEntry] = &[
    bif!("erts_internal", "open_port", 2, open_port_2),
    BifEntry::of("erts_internal", "port_command", 3, signalling!(port_command_3)),
    BifEntry::of("erts_internal", "port_control", 3, signalling!(port_control_3)),
    BifEntry::of("erts_internal", "port_call", 3, signalling!(port_call_3)),
    BifEntry::of("erts_internal", "port_close", 1, signalling!(port_close_1)),
    BifEntry::of("erts_internal", "port_connect", 2, signalling!(port_connect_2)),
    BifEntry::of("erts_internal", "port_info", 1, signalling!(port_info_1)),
    BifEntry::of("erts_internal", "port_info", 2, signalling!(port_info_2)),
    bif!("erlang", "ports", 0, ports_0),
    bif!("erlang", "port_set_data", 2, port_set_data_2),
    bif!("erlang", "port_get_data", 1, port_get_data_1),
];

/// The port of an identifier or registered name; it may be closed.
fn named(t: Term<'_>) -> Option<Arc<Port>> {
    match t.as_atom() {
        Some(name) => find(host::host()?.whereis(name)?),
        None => find(t),
    }
}
fn lookup(t: Term<'_>) -> Option<Arc<Port>> {
    named(t).filter(|p| p.is_open())
}

fn command(t: Term<'_>) -> Option<Vec<u8>> {
    native(t).filter(|c| !c.is_empty())
}

/// Parses the first argument of `open_port/2`. `None`: `badarg`.
fn what(t: Term<'_>) -> Option<PortTarget> {
    let Some(t) = t.as_tuple() else {
        // Undocumented legacy form: a bare name or string is a file.
        let is_flat = t.list().all(|c| c.as_small().is_some());
        let is_file = t.as_atom().is_some() || t.is_list() && is_flat;
        let is_file = is_file && kvik_release::current().opens_files_by_name();
        return is_file.then(|| command(t).map(PortTarget::File))?;
    };
    match (t.elements(), t.get(0)?.as_atom()?) {
        ([_, c], am::spawn) => Some(PortTarget::Spawn(command(*c)?)),
        ([_, c], am::spawn_driver) => Some(PortTarget::Driver(command(*c)?)),
        ([_, c], am::spawn_executable) => Some(PortTarget::Executable(command(*c)?)),
        ([_, i, o], am::fd) => {
            let fd = |t: &Term<'_>| i32::try_from(t.as_small()?).ok();
            Some(PortTarget::Fd(fd(i)?, fd(o)?))
        }
        _ => None,
    }
}

/// Parses busy limits; `Some(None)`: `disabled`.
fn limits(t: Term<'_>) -> Option<Option<BusyLimits>> {
    if t == am::disabled {
        return Some(None);
    }
    let [low, high] = t.as_tuple_n()?;
    let number = |t: Term<'_>| usize::try_from(t.as_u64()?).ok();
    let (low, high) = (number(low)?, number(high)?);
    if low == 0 || high == 0 {
        return None;
    }
    Some(Some(BusyLimits { low: low.min(high), high }))
}

/// Environment variables with their new values; `None` removes a variable.
type Changes = Vec<(Vec<u8>, Option<Vec<u8>>)>;

fn changes(t: Term<'_>) -> Option<Changes> {
    t.list_to_vec()?
        .into_iter()
        .map(|kv| {
            let [k, v] = kv.as_tuple_n()?;
            let text = |t: Term<'_>| if t.is_list() { native(t) } else { None };
            let k = text(k).filter(|k| !k.contains(&b'='))?;
            let v = if v.is_nil() || v == am::false_ { None } else { Some(text(v)?) };
            Some((k, v))
        })
        .collect()
}

fn pair_option(
    o: &mut PortOptions,
    name: Atom,
    v: Term<'_>,
    dir: &mut Option<Vec<u8>>,
) -> Option<()> {
    match name {
        am::packet => {
            o.packet = match v.as_small()? {
                n @ (1 | 2 | 4) => n as u8,
                _ => return None,
            }
        }
        am::line => o.line = Some(v.as_usize().filter(|n| *n > 0)?),
        am::env => o.env = changes(v)?,
        am::args => {
            let args = v.list_to_vec()?.into_iter().map(native);
            o.args = Some(args.collect::<Option<_>>()?);
        }
        am::arg0 => o.arg0 = Some(native(v)?),
        am::cd => *dir = Some(native(v).unwrap_or_else(|| vec![0])),
        am::parallelism => o.parallelism = v.as_bool()?,
        am::busy_limits_port => o.busy = limits(v)?,
        am::busy_limits_msgq => {
            limits(v)?;
        }
        _ => return None,
    }
    Some(())
}

fn flag_option(o: &mut PortOptions, name: Atom) -> Option<()> {
    match name {
        am::stream => o.packet = 0,
        am::use_stdio => o.use_stdio = true,
        am::nouse_stdio => o.use_stdio = false,
        am::stderr_to_stdout => o.stderr_to_stdout = true,
        am::line => o.line = Some(512),
        am::binary => o.binary = true,
        am::in_ => o.read = true,
        am::out => o.write = true,
        am::eof => o.eof = true,
        am::exit_status => o.exit_status = true,
        am::hide | am::overlapped_io => {}
        _ => return None,
    }
    Some(())
}

/// Parses the options of `open_port/2`. `None`: `badopt`.
fn options(list: Term<'_>) -> Option<PortOptions> {
    let mut o = PortOptions::default();
    let mut dir = None;
    for t in list.list_to_vec()? {
        match t.as_atom() {
            Some(a) => flag_option(&mut o, a)?,
            None => {
                let [name, v] = t.as_tuple_n()?;
                pair_option(&mut o, name.as_atom()?, v, &mut dir)?;
            }
        }
    }
    if !o.read && !o.write {
        (o.read, o.write) = (true, true);
    }
    if o.line.is_some() && o.packet != 0 || o.stderr_to_stdout && !o.use_stdio {
        return None;
    }
    o.dir = dir;
    Some(o)
}

/// Whether the options fit the target: exit status only for programs, arguments only for
/// `spawn_executable`.
fn fits(what: &PortTarget, o: &PortOptions) -> bool {
    let program = !matches!(what, PortTarget::Fd(..) | PortTarget::File(_));
    let executable = matches!(what, PortTarget::Executable(_));
    let args = o.args.is_some() || o.arg0.is_some();
    let dir = o.dir.as_ref().is_none_or(|d| !d.contains(&0));
    (executable || !args) && (program || !o.exit_status) && dir
}

fn open_port_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    if let Some(port) = p.resumed::<Found>() {
        return Ok(port);
    }
    let Some(o) = options(a[1]) else {
        return Ok(am::badopt.into());
    };
    let Some(what) = what(a[0]).filter(|w| fits(w, &o)) else {
        return Ok(am::badarg.into());
    };
    let Some(owner) = p.self_pid().as_local_pid() else {
        return Ok(am::badarg.into());
    };
    // In OTP the caller waits until a program has been started.
    let starts = what.is_program();
    if !starts {
        p.heap.bump_reductions(200);
    }
    let link = |port, make| {
        if make {
            p.link(port);
        } else {
            p.unlink(port);
        }
    };
    Ok(match Port::open(owner, &what, &o, link) {
        Ok(port) => match port.open_reference() {
            Some(n) => p.heap.ref_of_numbers(n),
            None if starts => return in_next_turn(p, Term::local_port(port.id)),
            None => Term::local_port(port.id),
        },
        Err(OpenError::Badarg) => am::badarg.into(),
        Err(OpenError::SystemLimit) => am::system_limit.into(),
        Err(OpenError::Posix(e)) => Atom::intern(e.name()).unwrap_or(am::einval).into(),
    })
}

/// State of a call that waits for a busy port.
enum Busy {}
impl SuspendedState for Busy {
    type In<'h> = ();
}

fn port_command_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    p.resumed::<Busy>();
    let (mut force, mut nosuspend) = (false, false);
    let mut flags = a[2].list();
    for f in flags.by_ref() {
        match f.as_atom() {
            Some(am::force) => force = true,
            Some(am::nosuspend) => nosuspend = true,
            _ => return Ok(am::badopt.into()),
        }
    }
    if !flags.rest.is_nil() {
        return Ok(am::badopt.into());
    }
    // Whether the port is open is checked later, by the write.
    let (Some(port), me) = (named(a[0]), p.pid()) else {
        return Ok(am::badarg.into());
    };
    // Most drivers refuse forced writes while they are busy, whatever the data.
    let refused = || force && port.is_open() && !port.takes_force();
    let Some(data) = port.pieces(a[1]) else {
        if refused() {
            return Ok(am::notsup.into());
        }
        port.log_bad_output(me);
        return Ok(am::badarg.into());
    };
    if force && port.is_open() {
        let bytes = data.slices().concat();
        let forced = p.calls_port(am::port_command, 3, || port.force(me, &bytes));
        return Ok(forced.map_or(am::notsup.into(), |_| Term::bool(true)));
    }
    p.heap.bump_reductions(20 + data.len() as i64 / 1024);
    let slices = data.slices();
    Ok(match p.calls_port(am::port_command, 3, || port.command_slices(me, &slices, nosuspend)) {
        Command::Done => Term::bool(true),
        Command::Wait => {
            kvik_proc::sysmon::busy_port(p.pid(), port.id);
            p.suspend_for(p.pid());
            return Err(p.again::<Busy>((), None));
        }
        Command::Busy => Term::bool(false),
        Command::Closed => am::badarg.into(),
    })
}

fn port_control_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let reply = || {
        let op = u32::try_from(a[1].as_u64()?).ok()?;
        lookup(a[0])?.control(p.self_pid().as_local_pid()?, op, &iodata::control_bytes(a[2])?)
    };
    p.heap.bump_reductions(20);
    Ok(match p.calls_port(am::port_control, 3, reply) {
        Some(kvik_port::driver::ControlReply::List(b)) => p.heap.byte_list(&b),
        Some(kvik_port::driver::ControlReply::Binary(b)) => p.heap.binary(&b),
        None => am::badarg.into(),
    })
}

fn port_call_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let reply = || {
        let op = u32::try_from(a[1].as_u64()?).ok()?;
        let (port, me) = (lookup(a[0])?, p.self_pid().as_local_pid()?);
        let data = kvik_etf::encode(a[2], crate::etf::default_options(), 0);
        let reply = p.calls_port(am::port_call, 3, || port.call(me, op, &data))?;
        Some(kvik_etf::decode(&reply, &p.heap, kvik_etf::DecodeOpts::default()).ok()?.0)
    };
    Ok(reply().map_or(am::badarg.into(), |t| p.heap.tuple(&[am::ok.into(), t])))
}

fn port_close_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(match lookup(a[0]) {
        Some(port) if p.calls_port(am::port_close, 1, || port.close(p.pid())) => Term::bool(true),
        _ => am::badarg.into(),
    })
}

fn port_connect_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (Some(port), Some(pid)) = (lookup(a[0]), a[1].as_local_pid()) else {
        return Ok(am::badarg.into());
    };
    let Some(h) = host::host() else {
        return Ok(am::badarg.into());
    };
    let connect = || port.connect(p.pid(), pid);
    let linked = port.info().is_some_and(|i| i.links.contains(&pid));
    if !linked && !h.link(pid, Term::local_port(port.id))
        || !p.calls_port(am::port_connect, 2, connect)
    {
        return Ok(am::badarg.into());
    }
    Ok(Term::bool(true))
}

/// A list of local pids.
fn pids<'h>(p: &'h Proc, all: &[u32]) -> Term<'h> {
    all.iter().rev().fold(Term::NIL, |l, n| p.heap.cons(Term::local_pid(*n), l))
}

/// The value of one item of port information; `None`: no such item.
fn item<'h>(p: &'h Proc, id: u32, i: &PortInfo, name: Atom) -> Option<Term<'h>> {
    let h = &p.heap;
    Some(match name {
        am::name => from_native(p, &i.name).unwrap_or_else(|| h.byte_list(&i.name)),
        am::links => pids(p, &i.links),
        am::id => h.unsigned((id as u64) << 3),
        am::connected => Term::local_pid(i.owner),
        am::input => h.unsigned(i.input),
        am::output => h.unsigned(i.output),
        am::os_pid => match i.os_pid {
            Some(n) => h.integer(n as i64),
            None => am::undefined.into(),
        },
        am::registered_name => i.registered?.into(),
        am::monitors => {
            let one = |pid: &u32| h.tuple(&[am::process.into(), Term::local_pid(*pid)]);
            h.list(&i.monitors.iter().map(one).collect::<Vec<_>>())
        }
        am::monitored_by => pids(p, &i.monitored_by),
        am::parallelism => Term::bool(i.parallelism),
        am::queue_size => h.unsigned(i.queue_size as u64),
        am::memory => h.unsigned((size_of::<Port>() + i.queue_size) as u64),
        am::locking => am::port_level.into(),
        _ => return None,
    })
}

const INFO_1: [Atom; 8] = [
    am::registered_name,
    am::name,
    am::links,
    am::id,
    am::connected,
    am::input,
    am::output,
    am::os_pid,
];

fn port_info_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    if a[0].as_atom().is_none() && a[0].as_local_port().is_none() {
        return Ok(am::badarg.into());
    }
    let Some((port, i)) = lookup(a[0]).and_then(|p| p.info().map(|i| (p, i))) else {
        return Ok(am::undefined.into());
    };
    let all: Vec<_> = INFO_1
        .iter()
        .filter_map(|name| {
            let v = item(p, port.id, &i, *name)?;
            Some(p.heap.tuple(&[(*name).into(), v]))
        })
        .collect();
    Ok(p.heap.list(&all))
}

fn port_info_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    if a[0].as_atom().is_none() && a[0].as_local_port().is_none() {
        return Ok(am::badtype.into());
    }
    let Some((port, i)) = lookup(a[0]).and_then(|p| p.info().map(|i| (p, i))) else {
        return Ok(am::undefined.into());
    };
    let Some(name) = a[1].as_atom() else {
        return Ok(am::badarg.into());
    };
    Ok(match item(p, port.id, &i, name) {
        Some(v) => p.heap.tuple(&[name.into(), v]),
        None if name == am::registered_name => Term::NIL,
        None => am::badarg.into(),
    })
}

fn ports_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    table_list::list(p, table::limit(), table::open_ids, Term::local_port)
}

fn port_set_data_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    match lookup(a[0]) {
        Some(port) if port.set_data(a[1]) => Ok(Term::bool(true)),
        _ => Err(p.badarg()),
    }
}

fn port_get_data_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    lookup(a[0]).and_then(|port| port.data(&p.heap)).ok_or_else(|| p.badarg())
}
