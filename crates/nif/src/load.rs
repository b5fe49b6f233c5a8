//! Loads a module's NIF library, and unloads it.

use std::ffi::{c_int, c_void, CStr, CString};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use kvik_code::{module, LoadedModule};
use kvik_proc::{BifResult, Proc};
use kvik_term::{am, Atom, Export, Term};

use crate::abi::{self, Entry, NifFunction, OldFunction};
use crate::call::{record, Record};
use crate::env::NifEnv;
use crate::halt;
use crate::library::NifLibrary;
use crate::pointers::{to_c, CStrPtr};
use crate::resource_types;
use crate::shared_object::last_error;

/// The library of a module version. Dropping it closes the library, but only after the last
/// resource with a callback in the library is gone.
struct Loaded(Arc<NifLibrary>);
impl Drop for Loaded {
    fn drop(&mut self) {
        resource_types::release(&self.0);
    }
}

/// Why a library was not loaded: error atom and text.
type Refusal = (&'static str, String);

/// Serializes loading.
static LOADING: Mutex<()> = Mutex::new(());

/// `erlang:load_nif/2`
pub fn load_nif<'h>(p: &'h Proc, path: &[u8], info: Term<'h>) -> BifResult<'h> {
    let Some(i) = kvik_jit::breakpoints::caller_address(p).and_then(module::at) else {
        return Err(p.badarg());
    };
    match load(p, &i, path, info) {
        Ok(()) => Ok(am::ok.into()),
        Err((kind, text)) => {
            let kind = Atom::intern(kind).map_or(am::error, |k| k);
            let why = p.heap.tuple(&[kind.into(), p.heap.string(&text)]);
            Ok(p.heap.tuple(&[am::error.into(), why]))
        }
    }
}

fn library(i: &LoadedModule) -> MutexGuard<'_, Option<kvik_code::LibraryHandle>> {
    i.library.lock().unwrap_or_else(|e| e.into_inner())
}

/// The library that a module version has loaded.
pub fn loaded_library(i: &LoadedModule) -> Option<Arc<NifLibrary>> {
    Some(library(i).as_ref()?.downcast_ref::<Loaded>()?.0.clone())
}

fn load(p: &Proc, i: &LoadedModule, path: &[u8], info: Term<'_>) -> Result<(), Refusal> {
    let _one = LOADING.lock().unwrap_or_else(|e| e.into_inner());
    let old = module::old(i.name).filter(|o| o.start != i.start);
    if old.is_none() && module::current(i.name).is_none_or(|c| c.start != i.start) {
        let why = format!("Calling load_nif from old module '{}' not allowed", i.name.name());
        return Err(("old_code", why));
    }
    if i.has_library() {
        let why = "NIF library already loaded (reload disallowed since OTP 20).";
        return Err(("reload", why.into()));
    }
    let (handle, entry) = open(path)?;
    kvik_bifs::code::taint(i.name);
    // SAFETY: what `nif_init` gives is the library's description of itself, for good.
    let entry = unsafe { &*entry };
    let lib = NifLibrary {
        handle,
        module: i.name,
        priv_data: AtomicPtr::new(ptr::null_mut()),
        unload: entry.unload,
        loaded: AtomicBool::new(false),
        options: OnceLock::new(),
        type_init_size: if entry.minor >= 12 { entry.sizeof_resource_type_init } else { 0 },
    };
    // From here on an error closes the library.
    let lib = Arc::new(lib);
    check(entry, i)?;
    let functions = functions(entry, i, &lib)?;
    let mut e = NifEnv::of_call(p, &*lib);
    e.loading = Some(Default::default());
    call_load(entry, &lib, old.as_deref(), &mut e, info)?;
    let loading = *e.loading.take().unwrap_or_default();
    resource_types::commit(loading.types, &lib);
    lib.loaded.store(true, Ordering::Release);
    let _ = lib.options.set(loading.options);
    halt::register(&lib);
    if loading.options.delay_halt {
        functions.iter().for_each(|(_, r)| r.delay_halt());
    }
    *library(i) = Some(Box::new(Loaded(lib)));
    for (at, r) in functions {
        if let Some(f) = i.nifs.get(at) {
            f.entry.store(ptr::from_ref::<Export>(&r.entry) as usize, Ordering::Release);
        }
    }
    Ok(())
}

fn text(s: CStrPtr) -> String {
    String::from_utf8_lossy(s.bytes()).into_owned()
}

fn open(path: &[u8]) -> Result<(*mut c_void, *const Entry), Refusal> {
    let file = [path, b".so"].concat();
    let name = String::from_utf8_lossy(path).into_owned();
    let file = CString::new(file).map_err(|_| ("load_failed", "a zero in the name".to_string()))?;
    let handle = crate::shared_object::open(Some(&file));
    if handle.is_null() {
        let why = last_error();
        let slogan = "Failed to load NIF library";
        let text = match why.contains(&name) {
            true => format!("{slogan}: '{why}'"),
            false => format!("{slogan} {name}: '{why}'"),
        };
        return Err(("load_failed", text));
    }
    let close = |kind, why| {
        // SAFETY: nothing of it is used.
        unsafe { libc::dlclose(handle) };
        Err((kind, why))
    };
    const INIT: &CStr = c"nif_init";
    // SAFETY: the handle is open.
    let init = unsafe { libc::dlsym(handle, INIT.as_ptr()) };
    if init.is_null() {
        let why = format!("Failed to find library init function: '{}'", last_error());
        return close("bad_lib", why);
    }
    // SAFETY: that is the function's type by the interface.
    let init =
        unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> *const Entry>(init) };
    // SAFETY: the library's own function.
    let entry = unsafe { init() };
    if entry.is_null() {
        return close("bad_lib", "Library init-call unsuccessful".to_string());
    }
    Ok((handle, entry))
}

/// Checks that the library is made for this interface and this module.
fn check(entry: &Entry, i: &LoadedModule) -> Result<(), Refusal> {
    let bad = |why| Err(("bad_lib", why));
    let (major, minor, module) = (entry.major, entry.minor, i.name.name());
    let ours = kvik_release::current().nif;
    let ours = (c_int::from(ours.0), c_int::from(ours.1));
    if (major, minor) > ours {
        return bad(format!(
            "That '{module}' NIF library needs {} or newer. Either try to recompile the NIF lib or \
             use a newer erts runtime.",
            text(entry.min_erts)
        ));
    }
    if major < ours.0 || (major, minor) == (2, 5) {
        return bad(format!(
            "That old NIF library ({major}.{minor}) is not compatible with this erts runtime \
             ({}.{}). Try recompile the NIF lib.",
            ours.0, ours.1
        ));
    }
    if minor >= 1 && entry.vm_variant.bytes() != abi::VARIANT {
        return bad(format!(
            "Library ({}) not compiled for this vm variant ({}).",
            text(entry.vm_variant),
            String::from_utf8_lossy(abi::VARIANT)
        ));
    }
    if entry.name.bytes() != module.as_bytes() {
        return bad(format!(
            "Library module name '{}' does not match calling module '{module}'",
            text(entry.name)
        ));
    }
    Ok(())
}

/// Entry number `n` of a library's function table.
fn function(entry: &Entry, n: usize) -> NifFunction {
    // SAFETY: the library has `num_of_funcs` of them; their size changed with version 2.7.
    unsafe {
        if entry.minor >= 7 {
            ptr::read(entry.funcs.add(n))
        } else {
            let f = &*entry.funcs.cast::<OldFunction>().add(n);
            NifFunction { name: f.name, arity: f.arity, code: f.code, flags: 0 }
        }
    }
}

/// The functions that the library replaces: indices into the module's `nifs`.
fn functions(
    entry: &Entry,
    i: &LoadedModule,
    lib: &Arc<NifLibrary>,
) -> Result<Vec<(usize, &'static Record)>, Refusal> {
    let module = i.name.name();
    let mut found: Vec<(usize, &'static Record)> = Vec::new();
    for n in 0..entry.num_of_funcs.max(0) as usize {
        let f = function(entry, n);
        let name = f.name.latin1();
        let bad = |what: &str| ("bad_lib", format!("{what} {module}:{name}/{}", f.arity));
        let atom = Atom::existing(&name);
        let is = |function, arity| Some(function) == atom && arity == f.arity;
        let Some(at) = i.nifs.iter().position(|c| is(c.function, c.arity)) else {
            let there = i.functions.iter().any(|c| is(c.function, c.arity));
            let what = if there { "Function not declared as nif" } else { "Function not found" };
            return Err(bad(what));
        };
        if f.flags > abi::DIRTY_IO {
            return Err(bad(&format!("Illegal flags field value {} for NIF", f.flags)));
        }
        if found.iter().any(|(other, _)| *other == at) {
            return Err(bad("Duplicate NIF entry for"));
        }
        let name = (i.name, i.nifs[at].function, f.arity);
        let Some(r) = record(&**lib, name, f.code, f.flags, None) else {
            return Err(("load_failed", "no memory for code".into()));
        };
        found.push((at, r));
    }
    Ok(found)
}

/// Calls `load`, or `upgrade` if the previous version had a library.
fn call_load(
    entry: &Entry,
    lib: &NifLibrary,
    old: Option<&LoadedModule>,
    e: &mut NifEnv,
    info: Term<'_>,
) -> Result<(), Refusal> {
    // The library may read it before the call returns.
    let data = lib.priv_data.as_ptr();
    let before = old.and_then(loaded_library);
    let veto: c_int = match (before, entry.upgrade, entry.load) {
        (Some(_), None, _) => {
            let why = "Upgrade not supported by this NIF library.";
            return Err(("upgrade", why.into()));
        }
        (Some(old), Some(upgrade), _) => {
            let old_data = old.priv_data.load(Ordering::Acquire);
            // SAFETY: the library's own function.
            let veto = unsafe { upgrade(e, data, old.priv_data.as_ptr(), to_c(info)) };
            if veto != 0 {
                old.priv_data.store(old_data, Ordering::Release);
                let why = format!("Library upgrade-call unsuccessful ({veto}).");
                return Err(("upgrade", why));
            }
            0
        }
        // SAFETY: as above.
        (None, _, Some(load)) => unsafe { load(e, data, to_c(info)) },
        (None, _, None) => 0,
    };
    if veto != 0 {
        return Err(("load", format!("Library load-call unsuccessful ({veto}).")));
    }
    Ok(())
}
