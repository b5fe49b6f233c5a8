//! `cargo xtask page ADDRESS DIR [SECONDS]`: the live page in a real browser, as `tests/web/run` calls it. What
//! is on it, that it changes, that nothing is fetched from elsewhere, and how it looks: pictures go to
//! the directory. The node it shows is one that does something.

use std::fs;
use std::path::Path;

use serde_json::{json, Value};

use crate::browser::{Browser, Result};
use crate::view::base64;

/// The ways to look at it: the picture's name, width, colours.
const VIEWS: [(&str, u32, &str); 4] = [
    ("light", 1100, "light"),
    ("dark", 1100, "dark"),
    ("narrow-light", 400, "light"),
    ("narrow-dark", 400, "dark"),
];

/// What has to be there, each as soon as it can be: an expression that becomes true.
const THERE: &[&str] = &[
    "document.readyState === 'complete'",
    "document.getElementById('state').className === 'live'",
    "document.querySelectorAll('#bands .band').length > 0",
    "[...document.querySelectorAll('#bands .band')].every(b => [...b.querySelectorAll('path')].some(p => p.getAttribute('d')))",
    "document.querySelectorAll('#histograms .histogram').length === 4",
    "['0', '1', '2'].every(i => document.querySelectorAll('.histogram')[i].dataset.count > 0)",
    "[...document.querySelectorAll('.histogram')[0].querySelectorAll('.bars i')].some(b => b.offsetHeight > 40)",
    "document.querySelector('#processes tbody').rows.length >= 10",
    "[...document.querySelectorAll('#processes tbody small')].every(s => /^[^:]+:[^:]+\\/\\d+$/.test(s.innerText))",
    "document.querySelectorAll('#memory tbody tr').length === 7",
    "document.querySelector('#ports tbody').rows.length > 0",
    "document.querySelector('#tables tbody').rows.length > 0",
];

/// What has to change by itself.
const LIVE: &[&str] = &[
    "document.querySelector('#bands svg').innerHTML",
    "document.querySelector('#histograms').innerText",
    "document.querySelector('#tiles').innerText",
    "document.querySelector('#processes tbody').innerText",
    "document.querySelector('#system').innerText",
];

/// `seconds`: how long the node is looked at before pictures are taken.
pub fn check(address: &str, dir: &Path, seconds: u32) -> Result<()> {
    fs::create_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let profile = dir.join("profile");
    let _ = fs::remove_dir_all(&profile);
    let program = std::env::var("CHROMIUM").unwrap_or_else(|_| "chromium".into());
    let mut b = Browser::start(&program, &profile)?;
    for (name, width, colours) in VIEWS {
        let view = View { name, width, colours, seconds };
        look(&mut b, address, dir, &view).map_err(|e| format!("{name}: {e}"))?;
        faults(&mut b, address).map_err(|e| format!("{name}: {e}"))?;
        println!("ok {name}");
    }
    let _ = fs::remove_dir_all(&profile);
    Ok(())
}

/// One way to look at it.
struct View<'a> {
    name: &'a str,
    width: u32,
    colours: &'a str,
    seconds: u32,
}

fn look(b: &mut Browser, address: &str, dir: &Path, view: &View) -> Result<()> {
    let width = view.width;
    let size =
        json!({ "width": width, "height": 1200, "deviceScaleFactor": 1, "mobile": width < 600 });
    b.call("Emulation.setDeviceMetricsOverride", size)?;
    let colours = json!([{ "name": "prefers-color-scheme", "value": view.colours }]);
    b.call("Emulation.setEmulatedMedia", json!({ "features": colours }))?;
    b.call("Page.navigate", json!({ "url": address }))?;
    for code in THERE {
        b.until(code)?;
    }
    for code in LIVE {
        let before = b.eval(code)?;
        b.until(&format!("({code}) !== {before}"))?;
    }
    choices(b)?;
    fits(b)?;
    // A picture of some seconds.
    b.until(&format!("seen.length > {}", view.seconds))?;
    picture(b, dir, view.name, false)?;
    picture(b, dir, &format!("{}-all", view.name), true)?;
    details(b)?;
    fits(b)?;
    picture(b, dir, &format!("{}-details", view.name), false)?;
    b.eval("document.getElementById('details').close()")?;
    b.until("shown === null").map(drop)
}

/// What can be chosen changes what is shown.
fn choices(b: &mut Browser) -> Result<()> {
    for (choice, shows) in [
        // Whoever has mail may have any name.
        ("[data-list=mailbox]", "document.querySelector('#processes tbody').innerText"),
        ("[data-list=memory]", "document.querySelector('#processes tbody').innerText"),
        ("[data-list=reductions]", "document.querySelector('#processes tbody').innerText"),
        ("[data-window=\"0\"]", "document.querySelector('#histograms').innerText"),
        ("[data-window=\"10\"]", "document.querySelector('#histograms').innerText"),
    ] {
        let clicked = format!(
            "(() => {{ const before = {shows}; document.querySelector('{choice}').click(); \
             return document.querySelector('{choice}').getAttribute('aria-pressed') === 'true' \
             && before !== {shows}; }})()"
        );
        if b.eval(&clicked)? != json!(true) {
            return Err(format!("{choice} changes nothing"));
        }
    }
    Ok(())
}
/// A click on a process shows what there is to say of it.
fn details(b: &mut Browser) -> Result<()> {
    let pid = b.eval(
        "(() => { const first = document.querySelector('#processes tbody button'); \
         const pid = /<[0-9.]+>/.exec(first.textContent)[0]; first.click(); return pid; })()",
    )?;
    for code in [
        "document.getElementById('details').open",
        &format!("document.getElementById('details-title').textContent.includes({pid})"),
        "document.getElementById('details-rows').innerText.includes('current_function')",
        "document.querySelectorAll('#details-stack li').length > 0",
    ] {
        b.until(code)?;
    }
    Ok(())
}
/// Nothing is wider than the window.
fn fits(b: &mut Browser) -> Result<()> {
    let wide = "(() => { const w = document.documentElement.clientWidth; \
        return [...document.querySelectorAll('body *')] \
        .filter(e => e.getBoundingClientRect().right > w + 1).map(e => e.tagName + '#' + e.id)\
        .concat(document.documentElement.scrollWidth > w ? ['scrolls'] : []); })()";
    match b.eval(wide)? {
        Value::Array(all) if all.is_empty() => Ok(()),
        all => Err(format!("wider than the window: {all}")),
    }
}
/// Errors, and requests to elsewhere.
fn faults(b: &mut Browser, address: &str) -> Result<()> {
    // What was said before is there when this is answered.
    b.eval("1")?;
    let mut requests = 0;
    for e in b.events() {
        let (method, p) = (e["method"].as_str().unwrap_or_default(), &e["params"]);
        let is_error = |k: &str| matches!(p[k].as_str(), Some("error" | "warning" | "assert"));
        match method {
            "Runtime.exceptionThrown" => return Err(format!("exception: {p}")),
            "Runtime.consoleAPICalled" if is_error("type") => return Err(format!("console: {p}")),
            "Log.entryAdded" if is_error_entry(&p["entry"]) => return Err(format!("log: {p}")),
            "Network.requestWillBeSent" => {
                let url = p["request"]["url"].as_str().unwrap_or_default();
                if !url.starts_with(address) && !url.starts_with("data:") {
                    return Err(format!("a request to elsewhere: {url}"));
                }
                requests += 1;
            }
            _ => {}
        }
    }
    match requests {
        0 => Err("no requests were seen".into()),
        _ => Ok(()),
    }
}
fn is_error_entry(entry: &Value) -> bool {
    matches!(entry["level"].as_str(), Some("error" | "warning"))
}

/// A picture of what is seen, or of the whole page.
fn picture(b: &mut Browser, dir: &Path, name: &str, all: bool) -> Result<()> {
    let mut how = json!({});
    if all {
        let size = b.call("Page.getLayoutMetrics", json!({}))?["cssContentSize"].clone();
        let clip =
            json!({ "x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1 });
        how = json!({ "captureBeyondViewport": true, "clip": clip });
    }
    let shown = b.call("Page.captureScreenshot", how)?;
    let bytes = base64(shown["data"].as_str().unwrap_or_default());
    let file = dir.join(format!("{name}.png"));
    fs::write(&file, bytes).map_err(|e| format!("{}: {e}", file.display()))
}
