//! Matches of a pattern that can be suspended.
//!
//! PCRE2 cannot be left and re-entered. A short subject is matched at once, under a limit. A match
//! that takes longer starts again on a stack of its own, with code that calls out before each item
//! of the pattern; when its steps are used up, the callout switches away from that stack.

use std::borrow::Cow;
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use pcre2_sys as sys;

use crate::pcre::Pattern;

#[derive(Debug, PartialEq, Eq)]
pub enum MatchError {
    MatchLimit,
    DepthLimit,
    /// The subject or the offset is not UTF-8.
    BadUtf,
    /// A recursion in the pattern never ends, or no memory is left.
    Other,
}

/// Limits and options of one match.
#[derive(Copy, Clone, Debug, Default)]
pub struct MatchOpts {
    pub options: u32,
    pub match_limit: Option<u32>,
    pub depth_limit: Option<u32>,
}

/// Start and end of a group's match; `None` for a group that did not match. A pattern that moves
/// the start of the match (`\K` in a lookahead) may put it behind the end.
pub type Group = Option<(usize, usize)>;
/// The groups up to the highest that took part; `None` where nothing matches.
pub type MatchResult = Result<Option<Vec<Group>>, MatchError>;

/// Bytes of a subject proved to be UTF-8 in one step.
const BYTES_A_STEP: usize = 2;
/// Distance in the subject between two items of the pattern that counts as a step.
const STRIDE: usize = 32;
/// Largest subject that is matched at once, and the PCRE2 steps it gets in total.
const SHORT_SUBJECT_BYTES: usize = 1000;
const AT_ONCE: usize = 20_000;
/// PCRE2 keeps its backtracking state elsewhere.
const STACK: usize = 128 << 10;
/// Most stacks kept for later matches.
const STACKS: usize = 16;

pub enum MatchSubject<'s> {
    Bytes(Cow<'s, [u8]>),
    /// Known to be UTF-8.
    Text(&'s str),
}

/// A match of a subject from some byte on.
pub struct Matching<'s> {
    at: At,
    pattern: Arc<Pattern>,
    subject: Cow<'s, [u8]>,
    start: usize,
    opts: MatchOpts,
}

enum At {
    /// UTF-8 up to there.
    Text(usize),
    Begin,
    Within(Box<Within>),
}

impl<'s> Matching<'s> {
    pub fn new(
        pattern: Arc<Pattern>,
        subject: MatchSubject<'s>,
        start: usize,
        opts: MatchOpts,
    ) -> Matching<'s> {
        let (subject, known) = match subject {
            MatchSubject::Bytes(b) => (b, 0),
            MatchSubject::Text(s) => (s.as_bytes().into(), s.len()),
        };
        let at = if pattern.is_utf() { At::Text(known) } else { At::Begin };
        Matching { at, pattern, subject, start, opts }
    }
    pub fn subject(&self) -> &[u8] {
        &self.subject
    }
    /// The subject, if it was proved to be text.
    pub fn text(&self) -> Option<&str> {
        let proved = self.pattern.is_utf() && !matches!(self.at, At::Text(_));
        // SAFETY: it was.
        proved.then(|| unsafe { std::str::from_utf8_unchecked(&self.subject) })
    }

    /// Runs for at most `left` steps, and subtracts what it used. `None`: not finished.
    pub fn run(&mut self, left: &mut usize) -> Option<MatchResult> {
        if self.start > self.subject.len() {
            return Some(Ok(None));
        }
        if let At::Text(from) = self.at {
            match self.validated(from, left) {
                Ok(at) if at == self.subject.len() => self.at = At::Begin,
                Ok(at) => {
                    self.at = At::Text(at);
                    return None;
                }
                Err(e) => return Some(Err(e)),
            }
            if self.subject.get(self.start).is_some_and(|b| b & 0xc0 == 0x80) {
                return Some(Err(MatchError::BadUtf));
            }
        }
        let found = match &mut self.at {
            At::Within(w) => w.resume(left)?,
            _ => match self.at_once(left) {
                Some(found) => found,
                None => {
                    let Some(w) = self.within() else { return Some(Err(MatchError::Other)) };
                    let At::Within(w) = self.at.insert(w) else { return None };
                    w.resume(left)?
                }
            },
        };
        Some(found)
    }

    /// How far the subject is known to be UTF-8 now.
    fn validated(&self, from: usize, left: &mut usize) -> Result<usize, MatchError> {
        let rest = &self.subject[from..];
        let now = rest.len().min(left.saturating_mul(BYTES_A_STEP).max(4));
        let good = match std::str::from_utf8(&rest[..now]) {
            Ok(_) => now,
            // The last character continues beyond the checked part.
            Err(e) if e.error_len().is_none() && now < rest.len() => e.valid_up_to(),
            Err(_) => return Err(MatchError::BadUtf),
        };
        *left = left.saturating_sub(now.div_ceil(BYTES_A_STEP));
        Ok(from + good)
    }

    fn job(&self, stopping: bool, limit: Option<u32>) -> Option<Job> {
        let code = self.pattern.code(stopping);
        let utf = if self.pattern.is_utf() { sys::PCRE2_NO_UTF_CHECK } else { 0 };
        Some(Job {
            code,
            subject: self.subject.as_ptr(),
            length: self.subject.len(),
            start: self.start,
            options: self.opts.options | utf,
            data: Data::new(code, limit, self.opts.depth_limit)?,
        })
    }
    /// Result of a short match; `None` if it needs more steps.
    fn at_once(&mut self, left: &mut usize) -> Option<MatchResult> {
        let length = self.subject.len() - self.start;
        if length > SHORT_SUBJECT_BYTES {
            return None;
        }
        let limit = (AT_ONCE / (length + 1)) as u32;
        let asked = self.opts.match_limit;
        let Some(job) = self.job(false, Some(asked.map_or(limit, |n| n.min(limit)))) else {
            return Some(Err(MatchError::Other));
        };
        // SAFETY: the code, the subject and what belongs to the match are alive; UTF-8 was proved.
        let rc = unsafe { job.run(None) };
        let ours = rc == sys::PCRE2_ERROR_MATCHLIMIT && asked.is_none_or(|n| n > limit);
        if ours {
            *left = left.saturating_sub(1 + length / STRIDE + AT_ONCE / 8);
            return None;
        }
        let found = job.data.found(rc);
        let end = match &found {
            Ok(Some(groups)) => groups.first().copied().flatten().map(|(_, to)| to),
            _ => None,
        };
        let scanned = end.map_or(length, |end| end.saturating_sub(self.start));
        *left = left.saturating_sub(1 + scanned / STRIDE);
        Some(found)
    }
    fn within(&self) -> Option<Box<Within>> {
        let job = Rc::new(self.job(true, self.opts.match_limit)?);
        let on_it = Rc::as_ptr(&job);
        let stack = stack()?;
        let start = self.start;
        let run = Coroutine::with_stack(stack, move |y: &Yielder<usize, usize>, left| {
            let meter = Meter { left: Cell::new(left), last: Cell::new(start), y };
            // SAFETY: the job outlives this stack, as does what it points to (see `Within`).
            let rc = unsafe { (*on_it).run(Some(&meter)) };
            (rc, meter.left.get())
        });
        Some(Box::new(Within { run: Some(run), job }))
    }
}

impl At {
    fn insert(&mut self, w: Box<Within>) -> &mut At {
        *self = At::Within(w);
        self
    }
}

/// The match's data, limits and result.
struct Data {
    data: *mut sys::pcre2_match_data_8,
    context: *mut sys::pcre2_match_context_8,
}

impl Data {
    fn new(code: *const sys::pcre2_code_8, limit: Option<u32>, depth: Option<u32>) -> Option<Data> {
        // SAFETY: the code is alive; what could not be made is not used.
        unsafe {
            let d = Data {
                data: sys::pcre2_match_data_create_from_pattern_8(code, ptr::null_mut()),
                context: sys::pcre2_match_context_create_8(ptr::null_mut()),
            };
            if d.data.is_null() || d.context.is_null() {
                return None;
            }
            if let Some(n) = limit {
                sys::pcre2_set_match_limit_8(d.context, n);
            }
            if let Some(n) = depth {
                sys::pcre2_set_depth_limit_8(d.context, n);
            }
            Some(d)
        }
    }
    fn found(&self, rc: c_int) -> MatchResult {
        match rc {
            1.. => Ok(Some((0..rc as usize).map(|i| self.group(i)).collect())),
            sys::PCRE2_ERROR_NOMATCH => Ok(None),
            sys::PCRE2_ERROR_MATCHLIMIT => Err(MatchError::MatchLimit),
            sys::PCRE2_ERROR_DEPTHLIMIT | sys::PCRE2_ERROR_HEAPLIMIT => Err(MatchError::DepthLimit),
            _ => Err(MatchError::Other),
        }
    }
    fn group(&self, i: usize) -> Group {
        // SAFETY: the vector has as many pairs as is said beside it.
        let (from, to) = unsafe {
            let v = sys::pcre2_get_ovector_pointer_8(self.data);
            if i >= sys::pcre2_get_ovector_count_8(self.data) as usize {
                return None;
            }
            (*v.add(2 * i), *v.add(2 * i + 1))
        };
        (from != usize::MAX).then_some((from, to))
    }
}
impl Drop for Data {
    fn drop(&mut self) {
        // SAFETY: they are ours; null does nothing.
        unsafe {
            sys::pcre2_match_data_free_8(self.data);
            sys::pcre2_match_context_free_8(self.context);
        }
    }
}

/// The arguments of a match.
struct Job {
    code: *const sys::pcre2_code_8,
    subject: *const u8,
    length: usize,
    start: usize,
    options: u32,
    data: Data,
}

impl Job {
    /// PCRE2's answer.
    ///
    /// # Safety
    /// The code and the subject are alive until it is there; the subject is UTF-8 if the pattern
    /// wants that.
    unsafe fn run(&self, meter: Option<&Meter<'_>>) -> c_int {
        // SAFETY: the meter is there as long as the match runs; for the rest see above.
        unsafe {
            if let Some(m) = meter {
                let m = (&raw const *m).cast::<c_void>().cast_mut();
                pcre2_set_callout_8(self.data.context, Some(callout), m);
            }
            sys::pcre2_match_8(
                self.code,
                self.subject,
                self.length,
                self.start,
                self.options,
                self.data.data,
                self.data.context,
            )
        }
    }
}

/// Counts the steps of a match on a stack of its own.
struct Meter<'a> {
    left: Cell<usize>,
    /// Position of the last step in the subject.
    last: Cell<usize>,
    y: &'a Yielder<usize, usize>,
}

/// The beginning of the block that PCRE2 passes to a callout.
#[repr(C)]
struct Block {
    numbers: [u32; 4],
    offset_vector: *mut usize,
    mark: *const u8,
    subject: *const u8,
    subject_length: usize,
    start_match: usize,
    current_position: usize,
}
type Callout = unsafe extern "C" fn(*mut Block, *mut c_void) -> c_int;
unsafe extern "C" {
    fn pcre2_set_callout_8(
        context: *mut sys::pcre2_match_context_8,
        callout: Option<Callout>,
        data: *mut c_void,
    ) -> c_int;
}

/// Called before PCRE2 tries an item of the pattern.
unsafe extern "C" fn callout(block: *mut Block, meter: *mut c_void) -> c_int {
    // SAFETY: PCRE2 gives what it was given, and its block.
    let (meter, at) = unsafe { (&*meter.cast::<Meter<'_>>(), (*block).current_position) };
    let steps = 1 + meter.last.replace(at).abs_diff(at) / STRIDE;
    meter.left.set(match meter.left.get().checked_sub(steps) {
        Some(left) => left,
        None => meter.y.suspend(0),
    });
    0
}

type Run = Coroutine<usize, usize, (c_int, usize), DefaultStack>;

/// A match in progress on a stack of its own. It points into the job, the pattern and the subject;
/// `Matching` keeps those in place, and drops this first.
struct Within {
    run: Option<Run>,
    job: Rc<Job>,
}
// SAFETY: a match holds nothing that belongs to a thread, nor does anything else use its job.
unsafe impl Send for Within {}

impl Within {
    fn resume(&mut self, left: &mut usize) -> Option<MatchResult> {
        let Some(run) = &mut self.run else { return Some(Err(MatchError::Other)) };
        match run.resume(*left) {
            CoroutineResult::Yield(over) => {
                *left = over;
                None
            }
            CoroutineResult::Return((rc, over)) => {
                *left = over;
                Some(self.job.data.found(rc))
            }
        }
    }
}

impl Drop for Within {
    fn drop(&mut self) {
        let Some(mut run) = self.run.take() else { return };
        if run.started() && !run.done() {
            // SAFETY: the stack holds PCRE2's locals and ours, which own nothing.
            unsafe { run.force_reset() };
        }
        let mut all = STACK_POOL.lock().unwrap_or_else(|e| e.into_inner());
        if run.done() && all.len() < STACKS {
            all.push(Stack(run.into_stack()));
        }
    }
}

struct Stack(DefaultStack);
// SAFETY: it is memory.
unsafe impl Send for Stack {}

static STACK_POOL: Mutex<Vec<Stack>> = Mutex::new(Vec::new());

fn stack() -> Option<DefaultStack> {
    let kept = STACK_POOL.lock().unwrap_or_else(|e| e.into_inner()).pop();
    kept.map(|s| s.0).or_else(|| DefaultStack::new(STACK).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pcre::{opt, PcreDialect};

    fn begin<'s>(pattern: &str, options: u32, s: &'s [u8], opts: MatchOpts) -> Matching<'s> {
        let p = Pattern::compile(pattern.as_bytes(), options, 0, 0, PcreDialect::Pcre8).unwrap();
        Matching::new(Arc::new(p), MatchSubject::Bytes(s.into()), 0, opts)
    }
    fn turns(m: &mut Matching<'_>, steps: usize) -> (usize, MatchResult) {
        for n in 1.. {
            if let Some(found) = m.run(&mut steps.clone()) {
                return (n, found);
            }
        }
        unreachable!()
    }
    fn at_once(pattern: &str, options: u32, s: &[u8]) -> MatchResult {
        turns(&mut begin(pattern, options, s, MatchOpts::default()), usize::MAX).1
    }

    #[test]
    fn groups_and_latin1() {
        let g = at_once("(?<x>a+)(b)?(c)", 0, b"zaac").unwrap().unwrap();
        assert_eq!(g, [Some((1, 4)), Some((1, 3)), None, Some((3, 4))]);
        assert!(at_once(r"^\w\xe5$", opt::CASELESS, b"\xe4\xc5").unwrap().is_some());
        assert_eq!(at_once(r"(?=ab\K)", 0, b"ab"), Ok(Some(vec![Some((2, 0))])));
    }

    #[test]
    fn stopped_matches_go_on() {
        let s = [b"x".repeat(600), b"ab".repeat(300)].concat();
        let all = [r"(ab)+$", r"x*?(a.)(?=b)", r"\w+\d", r"(?<=x)ab", r"(?|(a)(b)|(x)c)ab$"];
        for pattern in all {
            let whole = at_once(pattern, 0, &s);
            for steps in [1, 7, 1000] {
                let opts = MatchOpts::default();
                let (n, found) = turns(&mut begin(pattern, 0, &s, opts), steps);
                assert!(n > 1 || steps == 1000, "{pattern}");
                assert_eq!(found, whole, "{pattern}");
            }
        }
    }

    #[test]
    fn one_that_takes_for_ever_may_be_dropped() {
        let s = b"a".repeat(40);
        for _ in 0..100 {
            let opts = MatchOpts { match_limit: Some(u32::MAX), ..Default::default() };
            let mut m = begin("(a+)+!", opt::NO_START_OPTIMIZE, &s, opts);
            assert_eq!(m.run(&mut 5000), None);
            assert_eq!(m.run(&mut 5000), None);
        }
        let opts = MatchOpts { match_limit: Some(100_000), ..Default::default() };
        let mut m = begin("(a+)+!", opt::NO_START_OPTIMIZE, &s, opts);
        assert_eq!(turns(&mut m, 1000).1, Err(MatchError::MatchLimit));
    }

    #[test]
    fn utf_8_is_proved_in_pieces() {
        let s = "åäö€𝄞".repeat(1000);
        let opts = MatchOpts::default();
        let (n, found) = turns(&mut begin("𝄞$", opt::UTF, s.as_bytes(), opts), 1);
        assert!(n > s.len() / 4);
        assert_eq!(found, Ok(Some(vec![Some((s.len() - 4, s.len()))])));
        for bad in [&s.as_bytes()[..s.len() - 1], b"abcdefgh\xff", b"\xe2\x82"] {
            let m = turns(&mut begin("x", opt::UTF, bad, opts), 1).1;
            assert_eq!(m, Err(MatchError::BadUtf));
        }
        let mut m = begin("", opt::UTF, s.as_bytes(), opts);
        m.start = 3;
        assert_eq!(turns(&mut m, 1).1, Err(MatchError::BadUtf));
        let p = Pattern::compile("𝄞$".as_bytes(), opt::UTF, 0, 0, PcreDialect::Pcre8);
        let p = Arc::new(p.unwrap());
        let mut m = Matching::new(p, MatchSubject::Text(&s[..13]), 2, opts);
        assert_eq!(m.run(&mut 100), Some(Ok(Some(vec![Some((9, 13))]))));
        assert_eq!(m.text(), Some(&s[..13]));
    }
}
