//! Pages in the browser: opened, as wide as wanted, in light or dark or print, and pictures of them.
//! The lab's test of its report has this file and `browser.rs` too.

use super::browser::{Browser, Result};
use serde_json::{json, Value};
use std::path::{Path, PathBuf};

pub struct View {
    browser: Browser,
    profile: PathBuf,
    /// What the pages complained about: errors and warnings of console and browser, and exceptions.
    pub complaints: Vec<String>,
    /// The addresses that were asked for.
    pub requests: Vec<String>,
}

/// The program, where one is installed: `$CHROMIUM`, or `chromium` on the path.
pub fn installed() -> Option<PathBuf> {
    let named = std::env::var_os("CHROMIUM").map_or_else(|| "chromium".into(), PathBuf::from);
    let paths = std::env::var_os("PATH")?;
    let dirs: Vec<PathBuf> = std::env::split_paths(&paths).collect();
    dirs.iter().map(|dir| dir.join(&named)).find(|p| p.is_file())
}

impl View {
    /// `name` tells its folder from others'.
    pub fn start(program: &Path, name: &str) -> Result<View> {
        let profile = std::env::temp_dir().join(format!("kvik-{name}.{}", std::process::id()));
        let browser = Browser::start(&program.to_string_lossy(), &profile)?;
        Ok(View { browser, profile, complaints: Vec::new(), requests: Vec::new() })
    }

    /// Opens a page and waits until all of it is there.
    pub fn open(&mut self, url: &str) -> Result<()> {
        self.look();
        let opened = self.browser.call("Page.navigate", json!({"url": url}))?;
        if let Some(error) = opened["errorText"].as_str() {
            return Err(format!("{url}: {error}"));
        }
        let there = format!("document.readyState === 'complete' && location.href === {url:?}");
        self.browser.until(&there)
    }

    /// What an expression of the page comes to.
    pub fn eval(&mut self, code: &str) -> Result<Value> {
        let value = self.browser.eval(code);
        self.look();
        value
    }

    /// Sorts what has happened.
    fn look(&mut self) {
        for event in self.browser.events() {
            let p = &event["params"];
            match event["method"].as_str() {
                Some("Network.requestWillBeSent") => {
                    self.requests.extend(p["request"]["url"].as_str().map(str::to_owned));
                }
                Some("Runtime.exceptionThrown" | "Log.entryAdded") => {
                    self.complaints.push(p.to_string());
                }
                Some("Runtime.consoleAPICalled") if p["type"] != "log" => {
                    self.complaints.push(p.to_string());
                }
                _ => {}
            }
        }
    }

    /// How wide the window is, in CSS pixels.
    pub fn width(&mut self, width: u32) -> Result<()> {
        let size = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.browser.call("Emulation.setDeviceMetricsOverride", size).map(drop)
    }

    /// `medium` is `screen` or `print`, `colours` are `light` or `dark`.
    pub fn media(&mut self, medium: &str, colours: &str) -> Result<()> {
        let features = json!([{"name": "prefers-color-scheme", "value": colours}]);
        let params = json!({"media": medium, "features": features});
        self.browser.call("Emulation.setEmulatedMedia", params).map(drop)
    }

    /// How high the page is.
    pub fn height(&mut self) -> Result<u32> {
        let height = self.eval("document.documentElement.scrollHeight")?;
        height.as_u64().and_then(|h| u32::try_from(h).ok()).ok_or_else(|| height.to_string())
    }

    /// A PNG of so much of the page, from that far down.
    pub fn picture(&mut self, from: u32, width: u32, height: u32) -> Result<Vec<u8>> {
        let clip = json!({"x": 0, "y": from, "width": width, "height": height, "scale": 1});
        let how = json!({"captureBeyondViewport": true, "clip": clip});
        let shown = self.browser.call("Page.captureScreenshot", how)?;
        Ok(base64(shown["data"].as_str().unwrap_or_default()))
    }

    /// Ends the browser and takes its folder away.
    pub fn end(self) {
        drop(self.browser);
        // What is left behind in the system's folder for such things hurts nobody.
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

pub fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text.bytes().filter_map(|c| DIGITS.iter().position(|d| *d == c));
    let (mut out, mut bits, mut n) = (Vec::new(), 0u32, 0);
    for d in digits {
        (bits, n) = (bits << 6 | d as u32, n + 6);
        if n >= 8 {
            n -= 8;
            out.push((bits >> n) as u8);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn base64() {
        let texts = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="].map(super::base64);
        assert_eq!(texts, ["", "f", "fo", "foo", "foob"].map(|s| s.as_bytes().to_vec()));
    }
}
