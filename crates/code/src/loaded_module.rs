//! One loaded version of a module.

use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Arc;
use std::sync::Mutex;

use kvik_heap::LiteralArea;
use kvik_term::{Atom, CodeAddress, Export, FunEntry};

use crate::{Coverage, CoverageMode, DebugTable, RecordLiteral, RecordSite};

/// Start offset of a function's native code, which extends to the start of the next function.
#[derive(Copy, Clone, Debug)]
pub struct FuncRange {
    pub start: u32,
    pub function: Atom,
    pub arity: u32,
    /// The function's own source position, an index of `lines`.
    pub line: u32,
}

/// An address that may occur in a stack trace, and its source position as an index of `lines`.
#[derive(Copy, Clone, Debug)]
pub struct ReturnSite {
    pub offset: u32,
    pub line: u32,
}

/// The stack trace information for an address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    pub module: Atom,
    pub function: Atom,
    pub arity: u32,
    /// File and line if known.
    pub line: Option<(Arc<str>, u32)>,
}

/// Keeps a NIF library loaded; dropping it unloads the library.
pub type LibraryHandle = Box<dyn Any + Send>;

/// A function that a NIF library may replace.
pub struct NifCell {
    pub function: Atom,
    pub arity: u32,
    /// The address of the entry that is called instead of the code, or 0.
    pub entry: Box<AtomicUsize>,
}

/// A version of a module: its code and everything that belongs to it.
pub struct LoadedModule {
    pub name: Atom,
    pub md5: [u8; 16],
    /// `module_info(attributes)` and `module_info(compile)` in external term format, or empty.
    pub attributes: Vec<u8>,
    pub compile: Vec<u8>,
    pub start: usize,
    pub size: usize,
    /// Sorted by offset.
    pub functions: Vec<FuncRange>,
    pub places: Vec<ReturnSite>,
    /// File number and line; entry 0 is "not known". File 0 is the module's own, `Name.erl`.
    pub lines: Vec<(u32, u32)>,
    pub files: Vec<Arc<str>>,
    /// Exported functions with the addresses to enter.
    pub exports: Vec<(&'static Export, CodeAddress)>,
    /// Exported functions that the VM implements.
    pub natives: Vec<&'static Export>,
    /// Functions of other modules that it calls, until it is committed.
    pub imports: Vec<&'static Export>,
    pub funs: Vec<(&'static FunEntry, CodeAddress)>,
    /// The entry of the `-on_load` function.
    pub on_load: Option<CodeAddress>,
    /// Whether that function has succeeded, if there is one.
    pub enabled: AtomicBool,
    /// Whether there was a current version when this one was committed.
    pub replaces: AtomicBool,
    pub literals: LiteralArea,
    /// Its native records.
    pub records: Vec<RecordLiteral>,
    /// The inline caches of its code.
    pub record_sites: Vec<Arc<RecordSite>>,
    /// What has run, if that is recorded.
    pub coverage: Option<Coverage>,
    /// The mode for new modules when this one was made.
    pub made_in_mode: CoverageMode,
    /// For the debugger.
    pub debug: DebugTable,
    /// Functions with a `nif_start`.
    pub nifs: Vec<NifCell>,
    /// The NIF library that the module has loaded.
    pub library: Mutex<Option<LibraryHandle>>,
    /// Owns the code's memory.
    pub memory: Box<dyn Any + Send + Sync>,
}

impl Drop for LoadedModule {
    fn drop(&mut self) {
        if !self.records.is_empty() {
            crate::record_sites::forget_definitions();
        }
    }
}

impl LoadedModule {
    /// Whether its `-on_load` function has not finished yet, so that it can't be called.
    pub fn waits(&self) -> bool {
        self.on_load.is_some() && !self.enabled.load(Ordering::Acquire)
    }
    /// Whether the module can be called. While an `-on_load` function runs, the previous version
    /// can.
    pub fn is_there(&self) -> bool {
        !self.waits() || self.replaces.load(Ordering::Acquire)
    }
    /// Restores the module's own functions and drops the NIF library.
    pub fn drop_library(&self) {
        self.nifs.iter().for_each(|n| n.entry.store(0, Ordering::Release));
        let library = self.library.lock().unwrap_or_else(|e| e.into_inner()).take();
        drop(library);
    }
    pub fn has_library(&self) -> bool {
        self.library.lock().unwrap_or_else(|e| e.into_inner()).is_some()
    }
    pub fn contains(&self, address: usize) -> bool {
        address.wrapping_sub(self.start) < self.size
    }
    /// The function an address lies in.
    pub fn function_at(&self, address: usize) -> Option<&FuncRange> {
        let offset = address.checked_sub(self.start)? as u32;
        let i = self.functions.partition_point(|f| f.start <= offset);
        self.functions.get(i.checked_sub(1)?)
    }
    /// The entry for a return address or an address that raises exceptions.
    pub fn place_at(&self, address: usize) -> Option<&ReturnSite> {
        let offset = address.checked_sub(self.start)? as u32;
        let i = self.places.partition_point(|p| p.offset < offset);
        self.places.get(i).filter(|p| p.offset == offset)
    }
    pub fn line(&self, index: u32) -> Option<(Arc<str>, u32)> {
        let (file, line) = *self.lines.get(index as usize).filter(|_| index > 0)?;
        if line == 0 {
            return None;
        }
        let name = match self.files.get(file as usize) {
            Some(f) => f.clone(),
            None => format!("{}.erl", self.name.name()).into(),
        };
        Some((name, line))
    }
    /// The source position of a process that continues at an address: the function, and the last
    /// line passed.
    pub fn location_near(&self, address: usize) -> Option<Location> {
        if let Some(l) = self.location(address) {
            return Some(l);
        }
        let f = self.function_at(address)?;
        let offset = address.checked_sub(self.start)? as u32;
        let i = self.places.partition_point(|p| p.offset <= offset);
        let before = i.checked_sub(1).and_then(|i| self.places.get(i));
        let place = before.filter(|p| p.offset > f.start).or(self.places.get(i));
        Some(Location {
            module: self.name,
            function: f.function,
            arity: f.arity,
            line: place.and_then(|p| self.line(p.line)),
        })
    }
    pub fn location(&self, address: usize) -> Option<Location> {
        let place = self.place_at(address)?;
        // A return site may be the end of its function.
        let f = self.function_at(address.checked_sub(1)?)?;
        Some(Location {
            module: self.name,
            function: f.function,
            arity: f.arity,
            line: self.line(place.line),
        })
    }
}
