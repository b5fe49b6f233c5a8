//! A headless Chromium, driven through its remote debugging pipe: JSON with a zero byte behind each
//! message.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{json, Value};

/// What one thing may take, on a machine with much else to do.
const PATIENCE: Duration = Duration::from_secs(60);

const FLAGS: &[&str] = &[
    "--headless",
    // The page is our own, and root, as CI often is, has no sandbox.
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
];

pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    last: u64,
    session: Option<String>,
    /// Events that nobody has looked at.
    events: VecDeque<Value>,
}

pub type Result<T> = std::result::Result<T, String>;

impl Browser {
    /// Starts it with one empty page. `profile`: an empty directory.
    pub fn start(program: &str, profile: &Path) -> Result<Browser> {
        // It reads from descriptor 3 and writes to 4.
        let shell = "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1";
        let mut child = Command::new("sh")
            .args(["-c", shell, program])
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", profile.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| format!("{program}: {e}"))?;
        let to = child.stdin.take().ok_or("no pipe to the browser")?;
        let out = child.stdout.take().ok_or("no pipe from the browser")?;
        let (tell, from) = mpsc::channel();
        thread::spawn(move || {
            for text in BufReader::new(out).split(0).map_while(std::result::Result::ok) {
                let Ok(v) = serde_json::from_slice(&text) else { return };
                if tell.send(v).is_err() {
                    return;
                }
            }
        });
        let mut b = Browser { child, to, from, last: 0, session: None, events: VecDeque::new() };
        let page = b.call("Target.createTarget", json!({ "url": "about:blank" }))?;
        let page = json!({ "targetId": page["targetId"], "flatten": true });
        let session = b.call("Target.attachToTarget", page)?;
        b.session = session["sessionId"].as_str().map(str::to_string);
        for domain in ["Page", "Runtime", "Network", "Log"] {
            b.call(&format!("{domain}.enable"), json!({}))?;
        }
        Ok(b)
    }
    /// What that command comes to.
    pub fn call(&mut self, method: &str, params: Value) -> Result<Value> {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": params });
        if let Some(s) = &self.session {
            message["sessionId"] = s.as_str().into();
        }
        write!(self.to, "{message}\0").map_err(|e| format!("{method}: {e}"))?;
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let v = self.from.recv_timeout(left).map_err(|e| match e {
                RecvTimeoutError::Timeout => format!("{method}: no answer"),
                RecvTimeoutError::Disconnected => format!("{method}: the browser has ended"),
            })?;
            if v["id"] == self.last {
                return match v.get("error") {
                    Some(e) => Err(format!("{method}: {e}")),
                    None => Ok(v["result"].clone()),
                };
            }
            if v["method"].is_string() {
                self.events.push_back(v);
            }
        }
    }
    /// The value of an expression in the page.
    pub fn eval(&mut self, code: &str) -> Result<Value> {
        let params = json!({ "expression": code, "returnByValue": true, "awaitPromise": true });
        let r = self.call("Runtime.evaluate", params)?;
        match r.get("exceptionDetails") {
            Some(e) => Err(format!("{code}: {}", e["exception"]["description"])),
            None => Ok(r["result"]["value"].clone()),
        }
    }
    /// Waits until an expression is true.
    pub fn until(&mut self, code: &str) -> Result<()> {
        let end = Instant::now() + PATIENCE;
        while self.eval(code)? != json!(true) {
            if Instant::now() >= end {
                return Err(format!("not so after {} s: {code}", PATIENCE.as_secs()));
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }
    /// What has happened since this was asked last.
    pub fn events(&mut self) -> Vec<Value> {
        self.events.drain(..).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.session = None;
        let _ = self.call("Browser.close", json!({}));
        let end = Instant::now() + Duration::from_secs(5);
        while matches!(self.child.try_wait(), Ok(None)) {
            if Instant::now() >= end {
                let _ = self.child.kill();
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}
