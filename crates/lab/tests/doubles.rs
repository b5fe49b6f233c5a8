//! The lab measured: its peers are shell scripts that stand in for kvik and OTP. What they print is
//! computed, so that no clock decides how a test ends.
#![cfg(unix)]

use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A folder of its own for each test; it goes when the test is done.
struct Bench {
    dir: PathBuf,
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

impl Bench {
    fn new(name: &str) -> Bench {
        let dir = std::env::temp_dir().join(format!("kvik-doubles-{name}.{}", std::process::id()));
        fs::create_dir_all(dir.join("bin")).unwrap();
        // What the scripts use, and no compiler: what they stand for is not compiled.
        for tool in ["awk", "cat", "sleep", "touch", "wc"] {
            let places = ["/bin", "/usr/bin"].map(|place| Path::new(place).join(tool));
            let found =
                places.into_iter().find(|p| p.exists()).unwrap_or_else(|| panic!("no {tool}"));
            std::os::unix::fs::symlink(found, dir.join("bin").join(tool)).unwrap();
        }
        Bench { dir }
    }

    /// A stand-in: `answer` is shell code that knows what it was asked for as `$*`. Asked to compile
    /// or what it is, it does as much as the lab needs.
    fn double(&self, name: &str, answer: &str) -> PathBuf {
        let path = self.dir.join(name);
        let dir = self.dir.display();
        let code = format!(
            "#!/bin/sh\nhere={dir}\ncase \"$*\" in\n  *compile:file*) exit 0 ;;\n  *system_version*) \
             echo 25; echo $here; echo double; exit 0 ;;\nesac\n{answer}\n"
        );
        fs::write(&path, code).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn command(&self, args: &str, kvik: &Path, otp: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kvik-lab"));
        command
            .args(args.split_whitespace())
            .args(["--peers", "kvik,otp", "--out"])
            .arg(self.dir.join("out"))
            .arg("--vm")
            .arg(kvik)
            .arg("--erl")
            .arg(otp)
            .env("XDG_CACHE_HOME", self.dir.join("cache"))
            .env("PATH", self.dir.join("bin"))
            .env("TMPDIR", &self.dir);
        command
    }

    fn run(&self, args: &str, kvik: &Path, otp: &Path) -> (Output, Value) {
        let output = self.command(args, kvik, otp).output().unwrap();
        (output, self.report())
    }

    fn report(&self) -> Value {
        let text = fs::read_to_string(self.dir.join("out/report.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }
}

fn row<'a>(report: &'a Value, id: &str) -> &'a Value {
    let rows = report["rows"].as_array().unwrap();
    rows.iter().find(|r| r["id"] == id).unwrap_or_else(|| panic!("no row {id}"))
}

fn ratio(report: &Value, id: &str) -> f64 {
    row(report, id)["ratios"]["kvik"]["otp"]["median"].as_f64().unwrap()
}

/// Sleeps a little for every message and says what it took by that, not by a clock.
fn sleeper(ms_per_message: &str) -> String {
    format!(
        "messages=20\nsleep $(awk \"BEGIN {{print $messages * {ms_per_message} / 1000}}\")\n\
         case \"$*\" in\n  *zog*) awk \"BEGIN {{printf \\\"Setup : 0.001 s (1.0 us per spawn) (1000 \
         spawns)\\nRun : 1.0 s (%f us per msg) (1000000 msgs)\\n\\\", {ms_per_message} * 1000}}\" ;;\n\
         \n  *) awk \"BEGIN {{print 1000 / {ms_per_message}}}\" ;;\nesac"
    )
}

#[test]
fn a_slowed_peer_is_slower_by_as_much() {
    let bench = Bench::new("slow");
    let kvik = bench.double("kvik", &sleeper("2"));
    let otp = bench.double("otp", &sleeper("7"));
    let (output, report) = bench.run("pingpong --rounds 3", &kvik, &otp);
    assert!(output.status.success(), "{output:?}");
    let found = ratio(&report, "pingpong");
    assert!((found / 3.5 - 1.0).abs() < 0.05, "{found}");
    // Whoever sleeps does not end before.
    for job in report["runs"].as_array().unwrap() {
        let least = if job["peer"] == "kvik" { 0.04 } else { 0.14 };
        let runs = job["runs"].as_array().unwrap();
        assert!(runs.len() == 3 && runs.iter().all(|r| r["wall_seconds"].as_f64() > Some(least)));
    }
    assert!(String::from_utf8_lossy(&output.stdout).contains("3.50"));
}

#[test]
fn costs_are_compared_the_other_way_round() {
    let bench = Bench::new("cost");
    let kvik = bench.double("kvik", "echo switches 1 /s reductions 1 /s ns 40");
    let otp = bench.double("otp", "echo switches 1 /s reductions 1 /s ns 200");
    let (_, report) = bench.run("scheduling --rounds 3", &kvik, &otp);
    assert!((ratio(&report, "scheduling") / 5.0 - 1.0).abs() < 0.05);
}

const GOOD: &str = "case \"$*\" in *switches*) echo switches 1 /s reductions 1 /s ns 40 ;; *calls*) \
                    printf 'calls/0 500000 in 0.5 s\\ncalls/100000 500000 in 0.5 s\\n' ;; *) echo 5 ;; esac";

#[test]
fn a_crashed_peer_has_failed_and_the_rest_goes_on() {
    let bench = Bench::new("crash");
    let kvik = bench.double("kvik", GOOD);
    let otp = bench.double(
        "otp",
        &format!("case \"$*\" in *pingpong*) echo so far; echo went wrong >&2; kill -SEGV $$ ;; esac\n{GOOD}"),
    );
    let (output, report) = bench.run("pingpong scheduling --rounds 3", &kvik, &otp);
    let why = row(&report, "pingpong")["peers"]["otp"]["failed"].as_str().unwrap();
    assert!(why.contains("signal: 11") && why.contains("so far went wrong"), "{why}");
    assert_eq!(row(&report, "pingpong")["peers"]["kvik"]["n"], 3);
    assert_eq!(row(&report, "scheduling")["peers"]["otp"]["n"], 3);
    // kvik did what it was asked for.
    assert!(output.status.success());
    for page in ["index.html", "report.md"] {
        let text = fs::read_to_string(bench.dir.join("out").join(page)).unwrap();
        assert!(text.contains("went wrong") && text.contains("pingpong on OTP"), "{page}");
    }
}

#[test]
fn a_hanging_peer_has_failed_and_the_rest_goes_on() {
    let bench = Bench::new("hang");
    let kvik = bench
        .double("kvik", &format!("case \"$*\" in *pingpong*) echo begun; sleep 600; esac\n{GOOD}"));
    let otp = bench.double("otp", GOOD);
    let begin = Instant::now();
    let (output, report) = bench.run("pingpong scheduling --rounds 3 --limit 5", &kvik, &otp);
    assert!(begin.elapsed() < Duration::from_secs(300));
    let why = row(&report, "pingpong")["peers"]["kvik"]["failed"].as_str().unwrap();
    assert!(why.contains("did not end within 5 s") && why.contains("begun"), "{why}");
    assert_eq!(row(&report, "pingpong")["peers"]["otp"]["n"], 3);
    assert_eq!(row(&report, "scheduling")["peers"]["kvik"]["n"], 3);
    assert_eq!(output.status.code(), Some(1), "kvik failed");
}

#[test]
fn a_tool_that_is_not_there_is_missing_and_nobody_has_failed() {
    let bench = Bench::new("missing");
    let answer = "case \"$*\" in *mix_compile*) echo 'missing mix (get it)' ;; *) echo \
                  programs/x $(echo \"$*\" | awk '{print $NF}') in 1 s ;; esac";
    let (kvik, otp) = (bench.double("kvik", answer), bench.double("otp", answer));
    let (output, report) = bench.run("programs --rounds 3", &kvik, &otp);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(report["missing"], serde_json::json!(["programs mix_compile: mix (get it)"]));
    assert_eq!(report["failed"], serde_json::json!([]));
    assert!(String::from_utf8_lossy(&output.stdout).contains("missing: programs mix_compile: mix"));
}

#[test]
fn a_peer_that_passes_fewer_messages_has_failed() {
    let bench = Bench::new("lie");
    let kvik = bench.double("kvik", GOOD);
    let lie = GOOD.replace("calls/100000 500000", "calls/100000 499999");
    let otp = bench.double("otp", &lie);
    let (_, report) = bench.run("calls --rounds 3", &kvik, &otp);
    let why = row(&report, "calls/0")["peers"]["otp"]["failed"].as_str().unwrap();
    assert!(why.contains("something else") && why.contains("499999"), "{why}");
    assert_eq!(row(&report, "calls/0")["peers"]["kvik"]["n"], 3);
    assert!(report["failed"][0]["what"].as_str().unwrap().contains("calls on OTP"));
}

#[test]
fn intermittent_failure_is_a_failure() {
    let bench = Bench::new("sometimes");
    let kvik = bench.double("kvik", GOOD);
    let otp = bench
        .double("otp", &format!("[ -e $here/been ] || {{ touch $here/been; exit 4; }}\n{GOOD}"));
    let (_, report) = bench.run("pingpong --rounds 3", &kvik, &otp);
    assert_eq!(row(&report, "pingpong")["peers"]["otp"]["n"], 2);
    let what = report["failed"][0]["what"].as_str().unwrap();
    assert!(what.contains("1 of 3 runs"), "{what}");
}

#[test]
fn results_survive_an_interrupt() {
    let bench = Bench::new("interrupt");
    let kvik = bench.double("kvik", GOOD);
    let otp = bench.double(
        "otp",
        &format!("echo >>$here/times; [ $(wc -l <$here/times) -lt 3 ] || sleep 600\n{GOOD}"),
    );
    let mut command = bench.command("pingpong --rounds 5", &kvik, &otp);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begin = Instant::now();
    let lines = || fs::read_to_string(bench.dir.join("times")).map_or(0, |t| t.lines().count());
    while lines() < 3 {
        assert!(begin.elapsed() < Duration::from_secs(120) && child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(20));
    }
    let told = Command::new("/bin/sh").args(["-c", &format!("kill -INT {}", child.id())]).status();
    assert!(told.unwrap().success());
    child.wait().unwrap();
    assert!(begin.elapsed() < Duration::from_secs(300));
    let report = bench.report();
    assert_eq!(report["interrupted"], true);
    assert_eq!(row(&report, "pingpong")["peers"]["otp"]["n"], 2);
    assert_eq!(report["failed"], serde_json::json!([]));
}

#[test]
fn reports_changes() {
    let bench = Bench::new("changes");
    let (kvik, otp) = (bench.double("kvik", "echo 30"), bench.double("otp", "echo 10"));
    bench.run("pingpong --rounds 3", &kvik, &otp);
    let old = bench.dir.join("old.json");
    fs::copy(bench.dir.join("out/report.json"), &old).unwrap();
    let compare = format!("--compare {}", old.display());
    let kvik = bench.double("kvik", "echo 45");
    let (output, _) = bench.run(&format!("pingpong --rounds 3 {compare}"), &kvik, &otp);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("1.50") && said.contains("1 are better now, 0 worse"), "{said}");
    assert!(said.contains("Of 1 ratios") && said.contains("intervals of 0 overlap: 0.0%"));
    assert!(said.contains("apart: ping-pong beside OTP: 3.00"), "{said}");
    let page = fs::read_to_string(bench.dir.join("out/index.html")).unwrap();
    assert!(page.contains("What changed") && page.contains("better"));
    let with = format!("{compare} --with {}", bench.dir.join("out/report.json").display());
    let output = bench.command(&with, &kvik, &otp).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 are better now, 0 worse"));
    let none = bench.command("pingpong --compare /no/such/file", &kvik, &otp).output().unwrap();
    assert_eq!(none.status.code(), Some(1));
}
