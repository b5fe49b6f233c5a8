//! One run: starts a server on a CPU of its own, measures it from another, and prints rows.
//!
//! It is a process of its own, so that all it has below it is the server, and all the CPU time it
//! uses itself is the load generator's.

use super::handshakes::Handshakes;
use super::load::{percentile, Load, LoadPhase, Probe};
use super::phases;
use super::processes;
use super::start::{self, Place, ServerKind};
use super::workloads::{find, Client, Workload};
use kvik_sys::cpu_affinity::CpuSet;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What the lab asks a driver for.
pub struct Request {
    workload: &'static Workload,
    quick: bool,
    beams: PathBuf,
    /// Requests a second of a row at a fixed rate; half of what saturates this server if it is not
    /// there.
    rates: BTreeMap<String, f64>,
    machine: Vec<OsString>,
}

impl Request {
    /// `WORKLOAD [--quick] --beams DIR [ROW=RATE]... -- MACHINE FLAGS...`
    pub fn parse(args: &[String]) -> Result<Request, String> {
        let split = args.iter().position(|arg| arg == "--").ok_or("no machine")?;
        let (own, machine) = (&args[..split], &args[split + 1..]);
        let name = own.first().ok_or("no workload")?;
        let workload = find(name).ok_or_else(|| format!("no workload named {name}"))?;
        let mut request = Request {
            workload,
            quick: false,
            beams: PathBuf::new(),
            rates: BTreeMap::new(),
            machine: machine.iter().map(OsString::from).collect(),
        };
        let mut rest = own[1..].iter();
        while let Some(arg) = rest.next() {
            match (arg.as_str(), arg.split_once('=')) {
                ("--quick", _) => request.quick = true,
                ("--beams", _) => request.beams = rest.next().ok_or("no folder")?.into(),
                (_, Some((row, rate))) => {
                    let rate = rate.parse().map_err(|_| format!("not a rate: {arg}"))?;
                    request.rates.insert(row.to_owned(), rate);
                }
                _ => return Err(format!("unknown: {arg}")),
            }
        }
        Ok(request)
    }
}

/// How long the parts of a run take.
struct Times {
    /// Before a phase counts, and the phase.
    saturated: [Duration; 2],
    open: [Duration; 2],
    /// Between two looks at memory, which is at rest when they agree.
    settle: Duration,
}

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

const QUICK: Times =
    Times { saturated: [ms(300), ms(1000)], open: [ms(200), ms(1000)], settle: ms(400) };
const WHOLE: Times =
    Times { saturated: [ms(1000), ms(4000)], open: [ms(500), ms(4000)], settle: ms(800) };
/// So often at most is looked whether memory is at rest.
const MOST_SETTLING: usize = 10;
/// A server that gives no answer until then has failed.
const START: Duration = Duration::from_secs(120);
/// A server may listen before it can answer: OTP's httpd does. From the first wrong answer to a
/// right one it has this time.
const REFUSALS: Duration = Duration::from_secs(5);
/// CPU use of the generator from which on it may have limited the server.
const SATURATED: f64 = 0.9;
/// The lag of one request in a hundred from which on latencies are partly the generator's.
const LATE_MICROS: f64 = 500.0;

/// Why a run has no rows.
enum Fault {
    /// A package that is not installed.
    Missing(String),
    Failed(String),
}

impl From<String> for Fault {
    fn from(why: String) -> Fault {
        Fault::Failed(why)
    }
}

/// `kvik-load ARGS…`: the exit status.
pub fn main(args: &[String]) -> i32 {
    let outcome = Request::parse(args).map_err(Fault::Failed).and_then(|request| drive(&request));
    processes::end_all();
    match outcome {
        Ok(()) => 0,
        Err(Fault::Missing(what)) => {
            kvik_sys::say!("missing {what}");
            0
        }
        Err(Fault::Failed(why)) => {
            kvik_sys::complain!("{why}");
            1
        }
    }
}

fn drive(request: &Request) -> Result<(), Fault> {
    kvik_sys::usage::adopt_orphans().map_err(|e| e.name().to_owned())?;
    let place = place(request)?;
    let outcome = measure(request, &place);
    processes::end_all();
    let said = std::fs::read(place.log()).unwrap_or_default();
    // A leftover in the lab's folder goes with that.
    let _ = std::fs::remove_dir_all(&place.dir);
    if let Err(Fault::Failed(why)) = &outcome {
        let said = String::from_utf8_lossy(&said);
        return Err(Fault::Failed(format!("{}: {why} {said}", request.workload.name)));
    }
    outcome
}

fn place(request: &Request) -> Result<Place, String> {
    let here = std::env::current_dir().map_err(|e| e.to_string())?;
    let dir = here.join(format!("server.{}", std::process::id()));
    std::fs::create_dir_all(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    Ok(Place {
        dir,
        beams: request.beams.clone(),
        machine: request.machine.clone(),
        port: start::free_port(std::process::id())?,
        phase_ms: times(request).saturated[1].as_millis(),
    })
}

fn measure(request: &Request, place: &Place) -> Result<(), Fault> {
    let workload = request.workload;
    let times = times(request);
    if workload.client == Client::Itself {
        return by_itself(workload, place);
    }
    let mut server = Running::start(workload, place)?;
    memory(request, place, times)?;
    for &count in workload.connections {
        server.alive()?;
        let mut generator = Generator::of(workload, place.port, count)?;
        under_load(request, &mut generator, times, &format!("{}/{count}", workload.name))?;
    }
    row(&format!("servermemory/{}/peak", workload.name), processes::peak_kb() as f64);
    Ok(())
}

fn times(request: &Request) -> &'static Times {
    if request.quick {
        &QUICK
    } else {
        &WHOLE
    }
}

/// A program that makes its load itself: on one CPU, and the node that it talks to on another.
fn by_itself(workload: &Workload, place: &Place) -> Result<(), Fault> {
    let name = workload.name;
    let mut command = start::command(workload.server, place).map_err(Fault::Missing)?;
    let [ours, its] = cpus()?;
    if workload.server == ServerKind::Nodes {
        let mut second = start::second_node(place)?;
        spawn(second.stdin(Stdio::null()).stdout(log(place)?).stderr(log(place)?), place, &its)?;
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log(place)?);
    let mut child = spawn(&mut command, place, &ours)?;
    pin(&its)?;
    phases::lead(&mut child, |phase, used| {
        let name = format!("{name}/{}", phase.name);
        row(&format!("servers/{name}"), phase.count / phase.seconds);
        row(&format!("servercpu/{name}/full"), used * 1e6 / phase.count);
        for (label, micros) in ["p50", "p99", "p99.9"].iter().zip(phase.latencies) {
            row(&format!("serverlatency/{name}/{label}"), micros);
        }
    })?;
    row(&format!("servermemory/{name}/peak"), processes::peak_kb() as f64);
    Ok(())
}

/// Where what a server prints is appended.
fn log(place: &Place) -> Result<std::fs::File, String> {
    let file = std::fs::OpenOptions::new().append(true).create(true).open(place.log());
    file.map_err(|e| format!("{}: {e}", place.log().display()))
}

fn pin(cpu: &CpuSet) -> Result<(), String> {
    cpu.keep(0).map_err(|e| format!("affinity: {}", e.name()))
}

/// Starts a program on a CPU, where this process stays.
fn spawn(command: &mut Command, place: &Place, cpu: &CpuSet) -> Result<Child, String> {
    pin(cpu)?;
    command.current_dir(&place.dir).spawn().map_err(|e| format!("{command:?}: {e}"))
}

/// What makes the load.
enum Generator {
    Connections { load: Box<Load>, depth: [usize; 2] },
    Handshakes(Handshakes),
}

impl Generator {
    fn of(workload: &Workload, port: u16, count: usize) -> Result<Generator, String> {
        if workload.client == Client::Handshake {
            return Ok(Generator::Handshakes(Handshakes { port, at_once: count }));
        }
        let mut load = Box::new(Load::new()?);
        workload.client.crowd(&mut load, port, count)?;
        Ok(Generator::Connections { load, depth: workload.depth })
    }
    fn saturate(&mut self, times: [Duration; 2], probe: Probe) -> Result<LoadPhase, String> {
        match self {
            Generator::Connections { load, depth } => load.saturate(depth[0], times, probe),
            Generator::Handshakes(handshakes) => handshakes.saturate(times, probe),
        }
    }
    fn at_rate(
        &mut self,
        rate: f64,
        times: [Duration; 2],
        probe: Probe,
    ) -> Result<LoadPhase, String> {
        match self {
            Generator::Connections { load, depth } => load.at_rate(depth[1], rate, times, probe),
            Generator::Handshakes(handshakes) => handshakes.at_rate(rate, times, probe),
        }
    }
}

/// A server that was started.
struct Running(Child);

impl Running {
    /// Starts a server on one CPU and moves this process to another; waits for the first answer.
    fn start(workload: &Workload, place: &Place) -> Result<Running, Fault> {
        let mut command = start::command(workload.server, place).map_err(Fault::Missing)?;
        command.stdin(Stdio::null()).stdout(log(place)?).stderr(log(place)?);
        let [ours, its] = cpus()?;
        let begin = Instant::now();
        let child = spawn(&mut command, place, &its)?;
        pin(&ours)?;
        let mut running = Running(child);
        let mut refused: Option<Instant> = None;
        loop {
            match workload.client.ask_once(place.port) {
                Ok(true) => break,
                Ok(false) => {}
                Err(why) if refused.is_some_and(|first| first.elapsed() > REFUSALS) => {
                    return Err(Fault::Failed(why));
                }
                Err(_) => drop(refused.get_or_insert_with(Instant::now)),
            }
            running.alive()?;
            if begin.elapsed() > START {
                return Err(Fault::Failed(format!("no answer within {START:?}")));
            }
            std::thread::sleep(ms(2));
        }
        row(&format!("serverstart/{}/time", workload.name), begin.elapsed().as_secs_f64() * 1e3);
        row(&format!("serverstart/{}/cpu", workload.name), processes::cpu_nanos() as f64 / 1e6);
        Ok(running)
    }

    fn alive(&mut self) -> Result<(), Fault> {
        match self.0.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => Err(Fault::Failed(format!("the server ended: {status}"))),
            Err(e) => Err(Fault::Failed(format!("the server: {e}"))),
        }
    }
}

/// A CPU for the generator and one for the server; the same if there is but one.
fn cpus() -> Result<[CpuSet; 2], String> {
    let all: Vec<CpuSet> = CpuSet::of(0).map_err(|e| e.name().to_owned())?.each().collect();
    let (first, last) = (all.first().ok_or("no CPU")?, all.last().ok_or("no CPU")?);
    if all.len() < 2 {
        note("the load generator and the server share one CPU");
    }
    Ok([*first, *last])
}

/// Memory at rest, and what an idle connection takes.
fn memory(request: &Request, place: &Place, times: &Times) -> Result<(), Fault> {
    let Workload { name, client, idle, .. } = request.workload;
    let rest = settled(times);
    row(&format!("servermemory/{name}/rest"), rest);
    let count = idle[usize::from(!request.quick)];
    if count == 0 {
        return Ok(());
    }
    let mut load = Load::new()?;
    client.populate(&mut load, place.port, count)?;
    load.greet()?;
    let each = (settled(times) - rest) / count as f64;
    if each > 0.0 {
        row(&format!("servermemory/{name}/idle"), each);
    }
    Ok(())
}

/// Resident KB as soon as they change no more: a server frees what its start took a while later.
fn settled(times: &Times) -> f64 {
    let mut last = f64::MAX;
    for _ in 0..MOST_SETTLING {
        std::thread::sleep(times.settle);
        let now = processes::resident_kb() as f64;
        if (now - last).abs() < last * 0.005 {
            return now;
        }
        last = now;
    }
    last
}

/// Saturates the server, then asks at half the rate that saturates OTP.
fn under_load(
    request: &Request,
    generator: &mut Generator,
    times: &Times,
    name: &str,
) -> Result<(), String> {
    let (full, used) = with_cpu(|probe| generator.saturate(times.saturated, probe))?;
    row(&format!("servers/{name}"), full.rate());
    row(&format!("servercpu/{name}/full"), used * 1e6 / full.answers as f64);
    row(&format!("serverload/{name}/client"), full.client_share() * 100.0);
    row(&format!("serverload/{name}/server"), used / full.seconds * 100.0);
    if full.client_share() > SATURATED {
        note(&format!("{name}: the load generator was saturated: the server may do more"));
    }
    let rate = request.rates.get(name).copied().unwrap_or(full.rate()) / 2.0;
    let (half, used) = with_cpu(|probe| generator.at_rate(rate, times.open, probe))?;
    row(&format!("servercpu/{name}/half"), used * 1e6 / half.answers as f64);
    for (label, share) in [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)] {
        row(&format!("serverlatency/{name}/{label}"), percentile(&half.latencies, share));
    }
    if percentile(&half.lags, 0.99) > LATE_MICROS {
        let lag = percentile(&half.lags, 0.99) / 1000.0;
        note(&format!("{name}: 1% of the requests at a fixed rate were sent {lag:.1} ms late"));
    }
    Ok(())
}

/// A phase, and the CPU seconds that the server's processes used meanwhile.
fn with_cpu(
    phase: impl FnOnce(&mut dyn FnMut()) -> Result<LoadPhase, String>,
) -> Result<(LoadPhase, f64), String> {
    let mut readings = Vec::new();
    let phase = phase(&mut || readings.push(processes::cpu_nanos()))?;
    let used = match readings.as_slice() {
        [before, after] if after > before => (after - before) as f64 / 1e9,
        _ => return Err("the server used no CPU time".to_owned()),
    };
    if phase.answers == 0 {
        return Err("no request was answered".to_owned());
    }
    Ok((phase, used))
}

fn row(id: &str, value: f64) {
    kvik_sys::say!("row {id} {value}");
}

/// What the report says of a row beside its figures.
fn note(text: &str) {
    kvik_sys::say!("note {text}");
}
