//! Loaded code: exports, fun entries, modules in two versions, and their address ranges.
//!
//! This crate is machine-independent: native code is an address and a length. The loader (`jit`)
//! makes [`LoadedModule`]s and commits them.
#![forbid(unsafe_code)]

pub mod coverage;
pub mod debugger;
pub mod export;
pub mod fun;
pub mod loaded_module;
pub mod module;
pub mod perf;
pub mod purging;
pub mod record_sites;
pub mod records;

pub use coverage::{Coverage, CoverageMode, CoveragePoint};
pub use debugger::{DebugTable, DebuggerSwitches, LinePoint};
pub use export::{
    all as exports, export, exports_of, find_export, find_export_by_code, is_active, is_defined,
    known_export, set_undef_stub, stage, staged_export, undef_stub,
};
pub use fun::{fun_entry, FunKey};
pub use loaded_module::{FuncRange, LibraryHandle, LoadedModule, Location, NifCell, ReturnSite};
pub use module::{at, commit, current, delete, loaded, old, purge, CommitError};
pub use record_sites::{record_entry, ForeignRecord, RecordName, RecordSite};
pub use records::{record_definition, record_info, RecordInfo, RecordLiteral};
