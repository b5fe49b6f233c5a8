//! One loaded version of a module.

use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Arc;
use std::sync::Mutex;

use kvik_heap::LiteralArea;
use kvik_term::{Atom, CodeAddress, Export, FunEntry};

/// A function's native code begins here, as an offset; it lasts until the next one begins.
#[derive(Copy, Clone, Debug)]
pub struct FuncRange {
    pub start: u32,
    pub function: Atom,
    pub arity: u32,
    /// The function's own place, an index of `lines`.
    pub line: u32,
}

/// An address that may stand in a stack trace, and its place as an index of `lines`.
#[derive(Copy, Clone, Debug)]
pub struct ReturnSite {
    pub offset: u32,
    pub line: u32,
}

/// What a stack trace says of an address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    pub module: Atom,
    pub function: Atom,
    pub arity: u32,
    /// File and line where they are known.
    pub line: Option<(Arc<str>, u32)>,
}

/// What keeps a NIF library; to drop it unloads it.
pub type LibraryHandle = Box<dyn Any + Send>;

/// A function that a NIF library may take over.
pub struct NifCell {
    pub function: Atom,
    pub arity: u32,
    /// The address of the entry that is called instead of the code, or 0.
    pub entry: Box<AtomicUsize>,
}

/// A version of a module: its code and all that belongs to it.
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
    /// Exported functions for which natives stand.
    pub natives: Vec<&'static Export>,
    pub funs: Vec<(&'static FunEntry, CodeAddress)>,
    /// The entry of the `-on_load` function.
    pub on_load: Option<CodeAddress>,
    /// That function has succeeded, where there is one.
    pub enabled: AtomicBool,
    /// There was a current version when this was put in place.
    pub replaces: AtomicBool,
    pub literals: LiteralArea,
    /// Functions with a `nif_start`.
    pub nifs: Vec<NifCell>,
    /// The NIF library it has loaded.
    pub library: Mutex<Option<LibraryHandle>>,
    /// Keeps the code's memory.
    pub memory: Box<dyn Any + Send + Sync>,
}

impl LoadedModule {
    /// Has it an `-on_load` function that has not ended yet? Then it can't be called.
    pub fn waits(&self) -> bool {
        self.on_load.is_some() && !self.enabled.load(Ordering::Acquire)
    }
    /// Can the module be called? While an `-on_load` function runs it is the version before that is.
    pub fn is_there(&self) -> bool {
        !self.waits() || self.replaces.load(Ordering::Acquire)
    }
    /// Its functions are what the module's file says again, and the NIF library is given up.
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
    /// Is this an address that a call comes back to or an exception comes from?
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
    /// Where a process that goes on at an address stands: the function, and the line last passed.
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
        // A place may be the end of its function.
        let f = self.function_at(address.checked_sub(1)?)?;
        Some(Location {
            module: self.name,
            function: f.function,
            arity: f.arity,
            line: self.line(place.line),
        })
    }
}
