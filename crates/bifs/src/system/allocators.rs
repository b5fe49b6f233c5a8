//! Figures of OTP's allocators: `erlang:system_info/1` of `alloc_util_allocators`, `allocator`,
//! `{allocator, _}` and `{allocator_sizes, _}`.
//!
//! kvik allocates from mimalloc, whatever the memory is for, and counts what most of it is used
//! for. Each count is the blocks of the OTP allocator that would hold them; `std_alloc` has the
//! rest, which is also mimalloc's free memory, so that all blocks together are the total of
//! `erlang:memory/0`. Each allocator has one instance and, if it has blocks, one carrier, of whole
//! pages. All carriers together are the memory that is present: what mimalloc has committed is
//! several times as much, most of it never touched.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use kvik_heap::memory_counters::{BINARIES, BLOCKS};
use kvik_proc::{BifResult, Proc};
use kvik_term::{am, Atom, Term};

use super::memory::MemoryUsage;

/// The allocators, in OTP's order.
const NAMES: [&str; COUNT] = [
    "temp_alloc",
    "sl_alloc",
    "std_alloc",
    "ll_alloc",
    "eheap_alloc",
    "ets_alloc",
    "fix_alloc",
    "literal_alloc",
    "binary_alloc",
    "driver_alloc",
];
const COUNT: usize = 10;
const PAGE: usize = 4096;

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Detail {
    All,
    /// Only sizes.
    Sizes,
}

/// A figure now, its highest value since the reading before, and its highest of all readings.
#[derive(Clone, Copy, Default)]
struct Gauge {
    now: usize,
    recent: usize,
    peak: usize,
}

struct GaugeHistory {
    last: AtomicUsize,
    peak: AtomicUsize,
}
impl GaugeHistory {
    const fn new() -> GaugeHistory {
        GaugeHistory { last: AtomicUsize::new(0), peak: AtomicUsize::new(0) }
    }
    fn read(&self, now: usize) -> Gauge {
        let recent = self.last.swap(now, Relaxed).max(now);
        Gauge { now, recent, peak: self.peak.fetch_max(now, Relaxed).max(now) }
    }
}

kvik_state::vm_state! {
    /// Of each allocator: blocks, their size, and that of the carrier.
    static HISTORY: [[GaugeHistory; 3]; COUNT] =
        [const { [const { GaugeHistory::new() }; 3] }; COUNT];
}

/// The blocks and the carrier of one allocator.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
struct Holding {
    blocks: usize,
    block_bytes: usize,
    carrier_bytes: usize,
}

/// All allocators at one moment.
struct Snapshot {
    holdings: [Holding; COUNT],
    task_bytes: usize,
}
impl Snapshot {
    fn now() -> Snapshot {
        let usage = MemoryUsage::now();
        let modules = kvik_code::module::all_versions().len();
        let blocks = |name: &str| match name {
            "ll_alloc" => modules + Atom::count(),
            "eheap_alloc" => BLOCKS.blocks(),
            "ets_alloc" => kvik_ets::registry::count(),
            "fix_alloc" => kvik_proc::process::table().count(),
            "literal_alloc" => modules,
            "binary_alloc" => BINARIES.blocks(),
            _ => 1,
        };
        Snapshot::new(&usage, blocks)
    }
    /// `blocks`: how many blocks an allocator has, if it has any.
    fn new(usage: &MemoryUsage, blocks: impl Fn(&str) -> usize) -> Snapshot {
        let holdings = NAMES.map(|name| {
            let bytes = match name {
                "std_alloc" => usage.total - usage.counted(),
                "ll_alloc" => usage.native_code + usage.atoms,
                "eheap_alloc" => usage.heaps,
                "ets_alloc" => usage.tables,
                "fix_alloc" => usage.tasks,
                "literal_alloc" => usage.literals,
                "binary_alloc" => usage.binaries,
                // kvik has no temporary blocks, and does not count those of ports and timers.
                _ => 0,
            };
            match bytes {
                0 => Holding::default(),
                n => Holding {
                    blocks: blocks(name).max(1),
                    block_bytes: n,
                    carrier_bytes: n.next_multiple_of(PAGE),
                },
            }
        });
        Snapshot { holdings, task_bytes: usage.tasks }
    }
    fn carriers(&self) -> usize {
        self.holdings.iter().filter(|h| h.carrier_bytes > 0).count()
    }
    fn carrier_bytes(&self) -> usize {
        self.holdings.iter().map(|h| h.carrier_bytes).sum()
    }
}

/// Builds the terms.
struct Builder<'h>(&'h Proc);
impl<'h> Builder<'h> {
    fn atom(&self, name: &str) -> BifResult<'h> {
        Atom::intern(name).map(Term::from).map_err(|_| self.0.system_limit())
    }
    fn int(&self, n: usize) -> Term<'h> {
        self.0.heap.integer(n as i64)
    }
    fn list(&self, items: &[Term<'h>]) -> Term<'h> {
        self.0.heap.list(items)
    }
    /// `{name, ...}`.
    fn tuple(&self, name: &str, rest: &[Term<'h>]) -> BifResult<'h> {
        let mut all = vec![self.atom(name)?];
        all.extend_from_slice(rest);
        Ok(self.0.heap.tuple(&all))
    }
    /// `{name, Integer, ...}`.
    fn numbers(&self, name: &str, numbers: &[usize]) -> BifResult<'h> {
        let rest: Vec<_> = numbers.iter().map(|n| self.int(*n)).collect();
        self.tuple(name, &rest)
    }
    fn gauge(&self, name: &str, g: Gauge) -> BifResult<'h> {
        self.numbers(name, &[g.now, g.recent, g.peak])
    }
    /// Settings of each allocator of [`NAMES`], those that mimalloc has too.
    fn options(&self) -> BifResult<'h> {
        let mut all = vec![self.tuple("e", &[true.into()])?];
        // One instance for all threads.
        for name in ["t", "atags", "ramv"] {
            all.push(self.tuple(name, &[false.into()])?);
        }
        // Blocks from that size on have mappings of their own.
        all.push(self.numbers("sbct", &[kvik_sys::large_alloc::MIN_BYTES])?);
        all.push(self.tuple("cp", &[am::undefined.into()])?);
        // OTP's "good fit" also has a list of free blocks for each class of sizes. Tools know only
        // the names of OTP's strategies.
        all.push(self.tuple("as", &[self.atom("gf")?])?);
        Ok(self.list(&all))
    }
    fn sys_options(&self) -> BifResult<'h> {
        let malloc = self.tuple("m", &[self.atom("mimalloc")?])?;
        Ok(self.list(&[self.tuple("e", &[true.into()])?, malloc]))
    }
    fn mseg_options(&self) -> BifResult<'h> {
        let all = ["amcbf", "rmcbf", "mcs"].map(|name| self.numbers(name, &[0]));
        let all = all.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(self.list(&all))
    }
    fn version(&self) -> Term<'h> {
        let [major, minor, patch] = kvik_sys::alloc::version();
        self.0.heap.string(&format!("{major}.{minor}.{patch}"))
    }
    /// `[{instance, 0, Items}]`.
    fn instance(&self, items: &[Term<'h>]) -> BifResult<'h> {
        let one = self.tuple("instance", &[Term::int(0), self.list(items)])?;
        Ok(self.list(&[one]))
    }

    /// `{mbcs | sbcs, Items}`.
    fn carriers(
        &self,
        kind: &str,
        name: &str,
        gauges: [Gauge; 3],
        detail: Detail,
    ) -> BifResult<'h> {
        let [blocks, block_bytes, carrier_bytes] = gauges;
        let all = detail == Detail::All;
        let mut types = Vec::new();
        if block_bytes.peak > 0 {
            let mut figures = Vec::new();
            if all {
                figures.push(self.gauge("count", blocks)?);
            }
            figures.push(self.gauge("size", block_bytes)?);
            types.push(self.tuple(name, &[self.list(&figures)])?);
        }
        let mut items = vec![self.tuple("blocks", &[self.list(&types)])?];
        if all {
            let one = |n: usize| n.min(1);
            let Gauge { now, recent, peak } = carrier_bytes;
            items.push(self.numbers("carriers", &[one(now), one(recent), one(peak)])?);
            items.push(self.numbers("mseg_alloc_carriers", &[one(now)])?);
            items.push(self.numbers("sys_alloc_carriers", &[0])?);
        }
        items.push(self.gauge("carriers_size", carrier_bytes)?);
        if all {
            items.push(self.numbers("mseg_alloc_carriers_size", &[carrier_bytes.now])?);
            items.push(self.numbers("sys_alloc_carriers_size", &[0])?);
        }
        self.tuple(kind, &[self.list(&items)])
    }
    /// `{calls, Items}`. Calls are not counted.
    fn calls(&self, names: &[&str]) -> BifResult<'h> {
        let all = names.iter().map(|n| self.numbers(n, &[0, 0])).collect::<Result<Vec<_>, _>>()?;
        self.tuple("calls", &[self.list(&all)])
    }

    /// The instances of an allocator of [`NAMES`].
    fn allocator(&self, index: usize, s: &Snapshot, detail: Detail) -> BifResult<'h> {
        let name = NAMES[index];
        let h = s.holdings[index];
        let [blocks, block_bytes, carrier_bytes] = &HISTORY[index];
        let gauges = [
            blocks.read(h.blocks),
            block_bytes.read(h.block_bytes),
            carrier_bytes.read(h.carrier_bytes),
        ];
        let mut items = Vec::new();
        if detail == Detail::All {
            let interface = self.0.heap.string("3.0");
            items.push(self.tuple("versions", &[self.version(), interface])?);
            items.push(self.tuple("options", &[self.options()?])?);
        }
        if name == "fix_alloc" {
            let tasks = self.numbers("proc", &[s.task_bytes, s.task_bytes])?;
            items.push(self.tuple("fix_types", &[self.list(&[tasks])])?);
        }
        items.push(self.carriers("mbcs", name, gauges, detail)?);
        items.push(self.carriers("sbcs", name, [Gauge::default(); 3], detail)?);
        if detail == Detail::All {
            let short = name.trim_end_matches("alloc");
            let own = ["alloc", "free", "realloc"].map(|call| format!("{short}{call}"));
            let mut names: Vec<&str> = own.iter().map(String::as_str).collect();
            names.extend(["mseg_alloc", "mseg_dealloc", "mseg_realloc"]);
            names.extend(["sys_alloc", "sys_free", "sys_realloc"]);
            items.push(self.calls(&names)?);
        }
        self.instance(&items)
    }
    /// The segments: the carriers.
    fn mseg_alloc(&self, s: &Snapshot, detail: Detail) -> BifResult<'h> {
        let (n, bytes) = (s.carriers(), s.carrier_bytes());
        let size = self.numbers("segments_size", &[bytes; 3])?;
        if detail == Detail::Sizes {
            return self.instance(&[size]);
        }
        let status = [
            self.numbers("cached_segments", &[0])?,
            self.numbers("cache_hits", &[0])?,
            self.numbers("segments", &[n; 3])?,
            self.numbers("segments_watermark", &[n])?,
            size,
        ];
        let kind = [
            self.tuple("name", &[self.0.heap.string("all memory")])?,
            self.tuple("status", &[self.list(&status)])?,
            self.calls(&MSEG_CALLS)?,
        ];
        self.instance(&[
            self.tuple("version", &[self.version()])?,
            self.tuple("options", &[self.mseg_options()?])?,
            self.tuple("memkind", &[self.list(&kind)])?,
        ])
    }
    fn erts_mmap(&self, s: &Snapshot, detail: Detail) -> BifResult<'h> {
        let mut items = Vec::new();
        if detail == Detail::All {
            let used = self.numbers("used", &[s.carrier_bytes()])?;
            let sizes = self.tuple("sizes", &[self.list(&[used])])?;
            items.push(self.tuple("options", &[self.list(&[self.numbers("scs", &[0])?])])?);
            items.push(self.tuple("os", &[self.list(&[sizes])])?);
        }
        Ok(self.list(&[self.tuple("default_mmap", &[self.list(&items)])?]))
    }
    /// `None` if there is no allocator of that name.
    fn named(&self, name: &str, s: &Snapshot, detail: Detail) -> Option<BifResult<'h>> {
        if let Some(i) = NAMES.iter().position(|n| *n == name) {
            return Some(self.allocator(i, s, detail));
        }
        Some(match name {
            "test_alloc" => Ok(false.into()),
            "sys_alloc" if detail == Detail::Sizes => self.instance(&[]),
            "sys_alloc" => {
                let options = self.sys_options().and_then(|o| self.tuple("options", &[o]));
                options.and_then(|o| self.instance(&[o]))
            }
            "alloc_util" => self.instance(&[]),
            "mseg_alloc" => self.mseg_alloc(s, detail),
            "erts_mmap" => self.erts_mmap(s, detail),
            _ => return None,
        })
    }
}

const MSEG_CALLS: [&str; 9] = [
    "mseg_alloc",
    "mseg_dealloc",
    "mseg_realloc",
    "mseg_create_resize",
    "mseg_create",
    "mseg_destroy",
    "mseg_recreate",
    "mseg_clear_cache",
    "mseg_check_cache",
];

/// `alloc_util_allocators`.
pub(super) fn names<'h>(p: &'h Proc) -> BifResult<'h> {
    let b = Builder(p);
    let all = NAMES.iter().map(|n| b.atom(n)).collect::<Result<Vec<_>, _>>()?;
    Ok(b.list(&all))
}

/// `allocator`: the allocator below (which OTP knows only as glibc's or not), its version, the
/// features, and the settings: those of OTP's allocators are off, since none of them can be set.
pub(super) fn settings<'h>(p: &'h Proc) -> BifResult<'h> {
    let b = Builder(p);
    let off = b.list(&[b.tuple("e", &[false.into()])?]);
    let mut features = vec![b.atom("sys_alloc")?];
    let mut all = vec![b.tuple("sys_alloc", &[b.sys_options()?])?];
    for name in NAMES {
        features.push(b.atom(name)?);
        all.push(b.tuple(name, &[off])?);
    }
    features.push(b.atom("mseg_alloc")?);
    all.push(b.tuple("test_alloc", &[off])?);
    all.push(b.tuple("mseg_alloc", &[b.mseg_options()?])?);
    all.push(b.tuple("alloc_util", &[Term::NIL])?);
    all.push(b.tuple("erts_mmap", &[b.list(&[b.numbers("scs", &[0])?])])?);
    all.push(b.tuple("lock_physical_memory", &[b.atom("no")?])?);
    Ok(p.heap.tuple(&[am::undefined.into(), Term::NIL, b.list(&features), b.list(&all)]))
}

/// Whether this names an allocator of OTP: all of these are off.
pub(super) fn is_off(name: &str) -> bool {
    name == "sys_alloc" || name == "test_alloc" || NAMES.contains(&name)
}

/// `system_flag(erts_alloc, {Allocator, Parameter, Value})`: `notsup`, as of an allocator of OTP that
/// is off.
pub(super) fn set<'h>(p: &'h Proc, setting: Term<'h>) -> BifResult<'h> {
    let [name, parameter, value] = setting.as_tuple_n::<3>().ok_or_else(|| p.badarg())?;
    if name.as_atom().is_some_and(|n| is_off(n.name()))
        && parameter.as_atom().is_some()
        && value.is_integer()
    {
        return Ok(am::notsup.into());
    }
    Err(p.badarg())
}

/// `{allocator, Which}` and `{allocator_sizes, Which}`, of one name or of a list of them.
pub(super) fn info<'h>(p: &'h Proc, which: Term<'h>, detail: Detail) -> BifResult<'h> {
    let b = Builder(p);
    if let Some(a) = which.as_atom().filter(|_| !which.is_list()) {
        return b.named(a.name(), &Snapshot::now(), detail).unwrap_or_else(|| Err(p.badarg()));
    }
    let names = which.list_to_vec().filter(|l| !l.is_empty()).ok_or_else(|| p.badarg())?;
    let s = Snapshot::now();
    let mut rows: Vec<(Atom, Term<'h>)> = Vec::new();
    // Ends at the first name that is unknown or comes again, so it is short however long the list.
    for n in names {
        let name = n.as_atom().ok_or_else(|| p.badarg())?;
        if rows.iter().any(|(before, _)| *before == name) {
            return Err(p.badarg());
        }
        let value = b.named(name.name(), &s, detail).unwrap_or_else(|| Err(p.badarg()))?;
        rows.push((name, p.heap.tuple(&[n, value])));
    }
    let rows: Vec<Term<'h>> = rows.into_iter().map(|(_, row)| row).collect();
    Ok(b.list(&rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(total: usize) -> MemoryUsage {
        MemoryUsage {
            total,
            tasks: 1000,
            heaps: 5000,
            atoms: 300,
            binaries: 0,
            native_code: 8192,
            literals: 10,
            tables: 4097,
        }
    }

    #[test]
    fn blocks_add_up_to_the_total() {
        let s = Snapshot::new(&usage(100_000), |_| 3);
        assert_eq!(s.holdings.iter().map(|h| h.block_bytes).sum::<usize>(), 100_000);
        let of = |name| s.holdings[NAMES.iter().position(|n| *n == name).unwrap()];
        assert_eq!(of("binary_alloc"), Holding::default());
        let ets = Holding { blocks: 3, block_bytes: 4097, carrier_bytes: 8192 };
        assert_eq!(of("ets_alloc"), ets);
        assert_eq!(of("ll_alloc").block_bytes, 8492);
        assert!(s.holdings.iter().all(|h| h.carrier_bytes >= h.block_bytes));
    }

    #[test]
    fn gauges_remember_their_peak() {
        let history = GaugeHistory::new();
        let read = |n| {
            let g = history.read(n);
            [g.now, g.recent, g.peak]
        };
        assert_eq!(read(5), [5, 5, 5]);
        assert_eq!(read(3), [3, 5, 5]);
        assert_eq!(read(4), [4, 4, 5]);
    }
}
