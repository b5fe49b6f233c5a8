//! A module's tables, read from its chunks.

use crate::container::Container;
use crate::error::BeamError;
use crate::lines::Lines;
use crate::md5;
use crate::read_buffers::ReadBuffers;
use crate::reader::Reader;
use crate::tables::{self, FunctionEntry, Import, Lambda, Literals};
use crate::types::Types;
use crate::verify::MAX_LABELS;
use kvik_isa::{highest_opcode, Opcode};

/// The header of the `Code` chunk and the instructions behind it, not yet decoded.
#[derive(Clone, Copy)]
pub struct CodeChunk<'f> {
    /// The highest opcode that the file declares.
    opcodes: u32,
    /// Labels are numbered below this.
    pub labels: u32,
    /// How many functions there are.
    pub functions: u32,
    /// The encoded instructions.
    pub bytes: &'f [u8],
}

/// Everything a file says about its module except the decoded code.
pub struct Module<'f> {
    /// Atom texts; entry 0 isn't an atom, entry 1 is the module's name.
    pub atoms: Vec<&'f str>,
    /// Functions of other modules.
    pub imports: Vec<Import>,
    /// Exported functions.
    pub exports: Vec<FunctionEntry>,
    /// Local functions (for tools that print code; may be missing).
    pub locals: Vec<FunctionEntry>,
    /// Funs.
    pub lambdas: Vec<Lambda>,
    /// Bytes for `bs_put_string`, `bs_match_string`, `bs_create_bin`.
    pub strings: &'f [u8],
    /// Literal terms.
    pub literals: Literals,
    /// Source locations.
    pub lines: Lines<'f>,
    /// The compiler's type information about operands.
    pub types: Types,
    /// Definitions of native records, not yet decoded; empty if there are none, or if the release
    /// does not know them.
    pub records: &'f [u8],
    /// What a debugger is told about the code, not yet decoded; empty if there is nothing, or if the
    /// release does not know it.
    pub debug_info: &'f [u8],
    /// `module_info(attributes)` in external term format, or empty.
    pub attributes: &'f [u8],
    /// `module_info(compile)` in external term format, or empty.
    pub compile_info: &'f [u8],
    /// `module_info(md5)`.
    pub md5: [u8; 16],
    /// The code.
    pub code: CodeChunk<'f>,
}

/// A chunk that is present and not empty.
fn chunk<'f>(file: &'f Container, id: &[u8; 4]) -> Option<&'f [u8]> {
    file.chunk(id).filter(|c| !c.is_empty())
}

impl<'f> Module<'f> {
    /// Reads only the names of atoms; entry 0 is an empty one.
    pub fn atoms(file: &'f Container) -> Result<Vec<&'f str>, BeamError> {
        match (chunk(file, b"AtU8"), chunk(file, b"Atom")) {
            (Some(chunk), _) => tables::atoms(chunk).ok_or(BeamError::Chunk("AtU8")),
            (None, Some(_)) => Err(BeamError::OldAtoms),
            (None, None) => Err(BeamError::Missing("AtU8")),
        }
    }

    /// Reads all tables of a file.
    pub fn parse(file: &'f Container) -> Result<Module<'f>, BeamError> {
        Module::parse_in(file, &mut ReadBuffers::default())
    }

    /// The same, with memory from `buffers`.
    pub fn parse_in(
        file: &'f Container,
        buffers: &mut ReadBuffers,
    ) -> Result<Module<'f>, BeamError> {
        Module::parse_known(file, buffers, None)
    }

    /// The same for a file whose checksum may be known.
    pub fn parse_known(
        file: &'f Container,
        buffers: &mut ReadBuffers,
        md5: Option<[u8; 16]>,
    ) -> Result<Module<'f>, BeamError> {
        let get = |id: &[u8; 4]| chunk(file, id);
        let code = parse_code(get(b"Code").ok_or(BeamError::Missing("Code"))?)?;
        let atoms = Module::atoms(file)?;
        let (count, labels) = (atoms.len(), code.labels);
        let imports = get(b"ImpT").ok_or(BeamError::Missing("ImpT"))?;
        let exports = get(b"ExpT").ok_or(BeamError::Missing("ExpT"))?;
        // An optional chunk: empty if missing, refused if damaged.
        fn optional<'c, T: Default>(
            chunk: Option<&'c [u8]>,
            name: &'static str,
            parse: impl FnOnce(&'c [u8]) -> Option<T>,
        ) -> Result<T, BeamError> {
            chunk.map_or(Ok(T::default()), |c| parse(c).ok_or(BeamError::Chunk(name)))
        }
        let module = Module {
            imports: tables::imports(imports, count).ok_or(BeamError::Chunk("ImpT"))?,
            exports: tables::exports(exports, count, labels).ok_or(BeamError::Chunk("ExpT"))?,
            // OTP reads LocT only to print code: a damaged one does no harm.
            locals: get(b"LocT")
                .and_then(|c| tables::exports(c, count, labels))
                .unwrap_or_default(),
            lambdas: optional(get(b"FunT"), "FunT", |c| tables::lambdas(c, count, labels))?,
            strings: get(b"StrT").unwrap_or_default(),
            literals: optional(get(b"LitT"), "LitT", |c| {
                tables::literals(c, &mut buffers.inflate)
            })?,
            lines: optional(get(b"Line"), "Line", Lines::parse)?,
            types: match get(b"Type") {
                Some(chunk) => Types::parse(chunk).ok_or(BeamError::Chunk("Type"))?,
                None => Types::none(),
            },
            records: get(b"Recs")
                .filter(|_| kvik_release::current().has_native_records())
                .unwrap_or_default(),
            debug_info: get(b"DbgB")
                .filter(|_| kvik_release::current().has_debugger())
                .unwrap_or_default(),
            attributes: get(b"Attr").unwrap_or_default(),
            compile_info: get(b"CInf").unwrap_or_default(),
            md5: md5.unwrap_or_else(|| md5::checksum(file)),
            atoms,
            code,
        };
        check_compiler(module.code.opcodes)?;
        Ok(module)
    }

    /// The module's name.
    pub fn name(&self) -> &'f str {
        self.atoms.get(1).copied().unwrap_or_default()
    }

    /// The text of an atom; nothing for 0, which is `[]`.
    pub fn atom(&self, index: u32) -> Option<&'f str> {
        let index = usize::try_from(index).ok().filter(|i| *i > 0)?;
        self.atoms.get(index).copied()
    }
}

/// Parses the `Code` chunk, which starts with the size of its header, so that headers can grow.
fn parse_code(chunk: &[u8]) -> Result<CodeChunk<'_>, BeamError> {
    let damaged = || BeamError::Chunk("Code");
    let mut r = Reader::new(chunk);
    let size = r.u32().and_then(|n| usize::try_from(n).ok()).ok_or_else(damaged)?;
    let mut header = Reader::new(r.bytes(size).ok_or_else(damaged)?);
    let mut field = || header.u32().ok_or_else(damaged);
    let (version, opcodes, labels, functions) = (field()?, field()?, field()?, field()?);
    let bytes = r.rest();
    // A label takes at least two bytes of code (but not every number need be used).
    let most = bytes.len();
    if version != 0 || labels as usize > most || functions as usize > most {
        return Err(damaged());
    }
    // Checked before any table gets an entry for each label.
    if labels >= MAX_LABELS {
        return Err(BeamError::Layout { op: 0, what: "too many labels" });
    }
    Ok(CodeChunk { opcodes, labels, functions, bytes })
}

/// Whether this release loads what the file's compiler made, by the highest opcode that the file
/// declares. It is a signed number to OTP, which looks at it after all tables.
fn check_compiler(opcodes: u32) -> Result<(), BeamError> {
    let release = kvik_release::current();
    let opcodes = opcodes as i32;
    if opcodes > i32::from(highest_opcode(release.number)) {
        return Err(BeamError::TooNew(opcodes));
    }
    if release.earliest_compiler().is_some() && opcodes < Opcode::Swap as i32 {
        return Err(BeamError::EarlyCompiler);
    }
    Ok(())
}
