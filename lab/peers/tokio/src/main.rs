//! The experiments about processes and messages on tokio: tasks and mpsc channels.
//!
//!     talk current|multi oneway MESSAGES
//!     talk current|multi pingpong ROUNDS
//!     talk current|multi ring TASKS MESSAGES
//!     talk current|multi waiting TASKS
//!
//! What is printed has the form that the Erlang programs print.

use std::error::Error;
use std::time::{Duration, Instant};
use tokio::runtime::Builder;
use tokio::sync::mpsc::{channel, Receiver, Sender};
use tokio::time::sleep;

/// How many messages wait in a channel before its sender does.
const INBOX: usize = 1024;

type Outcome = Result<(), Box<dyn Error + Send + Sync>>;

fn main() -> Outcome {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let (scheduler, experiment) = words.split_first().ok_or("which scheduler?")?;
    let runtime = match *scheduler {
        "current" => Builder::new_current_thread().enable_time().build()?,
        "multi" => Builder::new_multi_thread().enable_time().build()?,
        other => return Err(format!("no scheduler named {other}").into()),
    };
    // A task of its own: what `block_on` runs is on no worker thread.
    let task = match *experiment {
        ["oneway", count] => runtime.spawn(oneway(count.parse()?)),
        ["pingpong", count] => runtime.spawn(pingpong(count.parse()?)),
        ["ring", size, count] => runtime.spawn(ring(size.parse()?, count.parse()?)),
        ["waiting", count] => runtime.spawn(waiting(count.parse()?)),
        _ => return Err("usage: talk SCHEDULER oneway|pingpong|ring|waiting COUNT...".into()),
    };
    runtime.block_on(task)?
}

/// Sends as fast as the receiver takes.
async fn oneway(count: u64) -> Outcome {
    let (sender, mut messages) = channel(INBOX);
    let receiver = tokio::spawn(async move {
        let mut taken = 0u64;
        while messages.recv().await.is_some() {
            taken += 1;
        }
        taken
    });
    let start = Instant::now();
    for i in 0..count {
        sender.send(i).await?;
    }
    drop(sender);
    let taken = receiver.await?;
    println!("oneway {taken} in {:.6} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// Waits for an answer to each message before it sends the next.
async fn pingpong(count: u64) -> Outcome {
    let (ping, mut pings) = channel::<()>(1);
    let (pong, mut pongs) = channel::<()>(1);
    tokio::spawn(async move {
        while pings.recv().await.is_some() {
            pong.send(()).await?;
        }
        Outcome::Ok(())
    });
    let start = Instant::now();
    let mut rounds = 0u64;
    while rounds < count {
        ping.send(()).await?;
        pongs.recv().await.ok_or("the other side is gone")?;
        rounds += 1;
    }
    println!("pingpong {rounds} in {:.6} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// Hands a number round, smaller by one at each step.
async fn ring(size: usize, count: u64) -> Outcome {
    let (done, mut last) = channel(1);
    let start = Instant::now();
    let (first, inbox) = channel(1);
    let mut next = first.clone();
    for _ in 1..size {
        let (sender, inbox) = channel(1);
        tokio::spawn(relay(inbox, next, done.clone()));
        next = sender;
    }
    tokio::spawn(relay(inbox, next, done));
    let ready = Instant::now();
    first.send(count).await?;
    let left = last.recv().await.ok_or("the ring is gone")?;
    let end = Instant::now();
    report("Setup", ready - start, size as u64, "spawn");
    report("Run", end - ready, count - left, "msg");
    Ok(())
}

/// Passes each number on less one; the last message says that it is 0 now.
async fn relay(mut inbox: Receiver<u64>, next: Sender<u64>, done: Sender<u64>) -> Outcome {
    while let Some(number) = inbox.recv().await {
        let to = if number == 1 { &done } else { &next };
        to.send(number - 1).await?;
    }
    Ok(())
}

fn report(what: &str, time: Duration, count: u64, unit: &str) {
    let seconds = time.as_secs_f64();
    let micros = seconds * 1e6 / count as f64;
    println!("{what} : {seconds:.6} s ({micros:.6} us per {unit}) ({count} {unit}s)");
}

/// Tells how much memory each task holds that only waits for a message.
async fn waiting(count: usize) -> Outcome {
    let mut senders = wait(1000);
    sleep(Duration::from_millis(50)).await;
    senders.reserve(count);
    let before = resident()?;
    senders.extend(wait(count));
    sleep(Duration::from_millis(200)).await;
    let bytes = (resident()? - before) / count as f64;
    println!("waiting {bytes:.1} bytes {} processes", senders.len() - 1000);
    Ok(())
}

fn wait(count: usize) -> Vec<Sender<()>> {
    let begin = |_| {
        let (sender, mut messages) = channel(1);
        tokio::spawn(async move { messages.recv().await });
        sender
    };
    (0..count).map(begin).collect()
}

/// What the operating system says this program holds, in bytes.
fn resident() -> Result<f64, Box<dyn Error + Send + Sync>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    let kilobytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kilobytes * 1024.0)
}
