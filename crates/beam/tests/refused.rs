//! Code that the verifier refuses, accepts, or wants tested at run time, each written for one rule.

#[path = "common/asm.rs"]
mod asm;
#[path = "common/hostile.rs"]
mod hostile;

use hostile::{LAYOUT, MALFORMED, REFUSED};
use kvik_beam::{verify, BeamError, Code, Container, Module, Opcode, Proof};

fn check(body: &str) -> Result<(Code, Proof), BeamError> {
    check_file(&asm::module(body))
}

fn check_file(bytes: &[u8]) -> Result<(Code, Proof), BeamError> {
    let file = Container::parse(bytes)?;
    let module = Module::parse(&file)?;
    let code = Code::decode(&module)?;
    let proof = verify(&module, &code)?;
    Ok((code, proof))
}

#[test]
fn refuses() {
    let mut wrong = Vec::new();
    for (body, reason) in REFUSED {
        match check(body) {
            Err(BeamError::Unsafe(found)) if found.what.contains(reason) => {}
            Err(other) => wrong.push(format!("{body}: refused, but: {other}")),
            Ok(_) => wrong.push(format!("{body}: accepted")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn refuses_malformed() {
    let mut wrong = Vec::new();
    for (body, reason) in MALFORMED.iter().chain(LAYOUT) {
        match check(body) {
            Err(BeamError::Code { what, .. } | BeamError::Layout { what, .. })
                if what.contains(reason) => {}
            Err(other) => wrong.push(format!("{body}: refused, but: {other}")),
            Ok(_) => wrong.push(format!("{body}: accepted")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Exports and funs that name no function, or one with another name or arity.
#[test]
fn refuses_forged_tables() {
    let exports = [(2, 1, 1), (2, 1, 5), (2, 1, 9), (2, 1, 10), (2, 1, 11), (2, 2, 2), (3, 1, 2)];
    for export in exports {
        let file = asm::with_tables("label 5; return", &[export], &asm::FUNS);
        let refused = check_file(&file).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(refused.contains("an export has no function"), "{export:?}: {refused}");
    }
    for (arity, label) in [(1, 11), (3, 11), (2, 2), (2, 5), (2, 10), (2, 9)] {
        let fun = [3, arity, label, 0, 1, 0];
        let file = asm::with_tables("label 5; return", &asm::EXPORTS, &[fun]);
        let refused = check_file(&file).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(refused.contains("a fun has no function"), "{fun:?}: {refused}");
    }
}

const ACCEPTED: &[&str] = &[
    "return",
    "call_only 1 f2",
    "is_atom f1 x0; return",
    "allocate 1 1; move x0 y0; call 1 f2; move y0 x0; deallocate 1; return",
    "test_heap 5 1; put_list x0 [] x0; put_tuple2 x0 { x0 x0 }; return",
    "is_nonempty_list f6 x0; get_tl x0 x0; jump f2; label 6; return",
    "is_atom f5 x0; jump f6; label 7; return; label 5; jump f7; label 6; jump f7",
    "test_heap 2 1; fconv x0 fr0; fadd f0 fr0 fr0 fr1; fmove fr1 x0; return",
    "allocate_zero 1 1; try y0 f5; call 1 f2; try_end y0; deallocate 1; return; \
     label 5; try_case y0; move x2 x0; deallocate 1; return",
    "allocate_zero 1 1; catch y0 f5; call 1 f2; label 5; catch_end y0; deallocate 1; return",
    "allocate_zero 1 1; call_ext_last 1 0 7",
    "bs_start_match3 f1 x0 1 x0; call_only 1 f2",
    "allocate_zero 0 0; label 5; loop_rec f6 x0; remove_message; deallocate 0; return; \
     label 6; wait f5",
    "allocate_zero 1 0; label 5; loop_rec f6 x0; is_atom f7 x0; move x0 y0; label 7; \
     loop_rec_end f5; label 6; wait f5",
    "allocate_zero 1 0; label 5; loop_rec f6 x0; get_hd x0 x1; remove_message; move x1 y0; \
     call_ext 1 4; deallocate 1; return; label 6; wait f5",
    "allocate 0 1; label 5; wait_timeout f5 x0; timeout; move [] x0; deallocate 0; return",
    // The same, if control returns to the wait by a jump.
    "allocate 0 1; label 5; wait_timeout f6 x0; timeout; move [] x0; deallocate 0; return; \
     label 6; jump f5",
    "allocate 0 1; move x0 x2; move [] x1; call_ext 3 1; set_tuple_element [] x0 0; \
     deallocate 0; return",
    "allocate_zero 1 1; move x0 x2; move [] x1; call_ext 3 1; move x0 y0; set_tuple_element [] x0 0; \
     get_tuple_element x0 1 x1; swap x0 x1; set_tuple_element x0 x1 1; set_tuple_element @2 y0 0; \
     deallocate 1; return",
    // Code of compilers before OTP 25: the target may be a source of an appended segment.
    "bs_add f0 #1 x0 8 x1; bs_init2 f0 x1 0 2 0 x0; bs_put_integer f0 #8 1 0 x0; \
     bs_put_utf8 f0 0 x1; bs_put_binary f0 @1 8 0 x0; return",
    "move x0 x5; bs_private_append f0 #8 8 x0 0 x0; bs_put_utf16 f0 0 x5; move x5 x0; return",
    // A match context is restored and read between two segments.
    "bs_start_match3 f1 x0 1 x1; bs_get_position x1 x0 2; bs_init2 f0 16 0 2 0 x2; \
     bs_put_integer f0 #8 1 0 x0; bs_set_position x1 x0; bs_get_tail x1 x0 3; \
     bs_put_integer f0 #8 1 0 x0; move x2 x0; return",
    // The BIF's target is read on its failure edge.
    "bif1 f5 5 x0 x1; return; label 5; move x1 x0; return",
];

/// One item: version, number of items and of terms; a frame of two registers; the first argument in
/// x0; a call of `m:m/1`.
const DEBUG_INFO: [u8; 28] = [
    0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 5, 4, 0, 0x20, 4, 0x10, 0x17, 0x20, 0x11, 0x03, 4, 0x20, 0x17,
    0x30, 0x10, 0x12, 0x12,
];

#[test]
fn refuses_damaged_debug_information() {
    use kvik_beam::{Arg, DebugCall, DebugFrame};
    let read = |chunk: &[u8]| {
        let file = asm::with_chunk("return", b"DbgB", chunk);
        let container = Container::parse(&file).expect("a file");
        let module = Module::parse(&container).expect("a module");
        Code::decode(&module).map(|c| c.debug_info.items)
    };
    let items = read(&DEBUG_INFO).expect("debug information");
    let [item] = &items[..] else { panic!("one item") };
    assert_eq!(item.frame, DebugFrame::Size(2));
    assert_eq!(item.variables, [[Arg::Int(1), Arg::X(0, 0)]]);
    let m = Arg::Atom(1);
    assert_eq!(item.calls, [DebugCall::Remote { module: m, function: m, arity: 1 }]);
    let is_refused = |chunk: &[u8]| read(chunk) == Err(BeamError::Chunk("DbgB"));
    for end in 1..DEBUG_INFO.len() {
        assert!(is_refused(&DEBUG_INFO[..end]), "cut off at {end}");
    }
    // More items, fewer terms, another instruction, entries out of order, a frame size that is a
    // register, a variable without a place, a name that is a register, an arity without a name.
    let damages =
        [(4, 255), (11, 4), (12, 5), (13, 0x10), (14, 3), (18, 0x10), (19, 3), (27, 0x10)];
    for (at, byte) in damages {
        let mut damaged = DEBUG_INFO;
        damaged[at] = byte;
        assert!(is_refused(&damaged), "byte {at}");
    }
    let mut later = DEBUG_INFO;
    later[3] = 2;
    assert_eq!(read(&later), Ok(Vec::new()));
}

/// `#m{f, g = m}` of module `m`, exported: version, number of records and of fields; `call_last`,
/// `m`, `true`, and four operands.
const RECORDS: [u8; 22] =
    [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 5, 0x12, 0x0A, 25, 0x17, 0x40, 0x22, 0, 0x32, 0x12];

#[test]
fn refuses_damaged_record_definitions() {
    let read = |chunk: &[u8], body: &str| {
        let file = asm::with_chunk(body, b"Recs", chunk);
        check_file(&file).map(drop)
    };
    let make = "put_record f0 @1 [] x0 1 { @2 x0 }; return";
    read(&RECORDS, make).expect("a definition");
    let file = asm::with_chunk("return", b"Recs", &RECORDS);
    let container = Container::parse(&file).expect("a file");
    let module = Module::parse(&container).expect("a module");
    let code = Code::decode(&module).expect("code");
    let [r] = &code.records[..] else { panic!("one record") };
    assert_eq!((r.name, r.exported), (1, true));
    assert_eq!(r.fields, [(2, None), (3, Some(kvik_beam::Arg::Atom(1)))]);
    let is_refused = |chunk: &[u8]| read(chunk, "return") == Err(BeamError::Chunk("Recs"));
    for end in 1..RECORDS.len() {
        assert!(is_refused(&RECORDS[..end]), "cut off at {end}");
    }
    // Another version, more records, another instruction, no visibility, an odd number of operands,
    // a key that is no atom, one key twice, and a register as default value.
    let damages: [&[(usize, u8)]; 8] = [
        &[(3, 1)],
        &[(4, 255)],
        &[(12, 4)],
        &[(14, 0x12), (15, 0x12)],
        &[(17, 0x30)],
        &[(18, 0x21)],
        &[(20, 0x22)],
        &[(21, 0x13)],
    ];
    for damage in damages {
        let mut chunk = RECORDS;
        damage.iter().for_each(|(at, byte)| chunk[*at] = *byte);
        assert!(is_refused(&chunk), "{damage:?}");
    }
}

#[test]
fn accepts() {
    for body in ACCEPTED {
        if let Err(error) = check(body) {
            panic!("{body}\n  refused: {error}");
        }
    }
}

/// Whether the last instruction with this name in `body` needs a test.
fn needs_test(body: &str, name: &str) -> bool {
    let (code, proof) = check(body).unwrap_or_else(|e| panic!("{body}\n  refused: {e}"));
    let opcode = Opcode::from_name(name);
    let at = code.ops.iter().rposition(|op| Some(op.opcode) == opcode).expect("the instruction");
    proof.checked_needed(at)
}

#[test]
fn proves_types() {
    let get = "get_tuple_element";
    assert!(needs_test("get_tuple_element x0 0 x0; return", get));
    assert!(!needs_test("is_tagged_tuple f1 x0 2 @1; get_tuple_element x0 1 x0; return", get));
    assert!(needs_test("is_tagged_tuple f1 x0 2 @1; get_tuple_element x0 2 x0; return", get));
    assert!(!needs_test(
        "is_tuple f1 x0; test_arity f1 x0 3; get_tuple_element x0 2 x0; return",
        get
    ));
    assert!(!needs_test("move q0 x0; get_tuple_element x0 0 x0; return", get));
    assert!(needs_test("move q0 x0; get_tuple_element x0 1 x0; return", get));
    // Two paths, one with less type information.
    let joined = "is_tuple f1 x0; select_tuple_arity x0 f1 { 2 f5 3 f6 }; label 5; label 6; \
                  get_tuple_element x0 1 x1; get_tuple_element x0 2 x0; return";
    assert!(needs_test(joined, get));
    assert!(!needs_test(
        "is_list f1 x0; is_nil f5 x0; return; label 5; get_hd x0 x0; return",
        "get_hd"
    ));
    assert!(!needs_test("bif1 f1 5 x0 x1; get_tl x0 x0; return", "get_tl"));
    assert!(needs_test("is_list f1 x0; get_tl x0 x0; return", "get_tl"));
    // A loop that shrinks the known type.
    let shrinking = "allocate 1 1; move q0 y0; label 5; loop_rec f6 x0; \
                     get_tuple_element y0 0 x2; move x2 y0; loop_rec_end f5; label 6; wait f5";
    assert!(needs_test(shrinking, get));
    assert!(needs_test("bs_test_tail2 f1 x0 0; return", "bs_test_tail2"));
    let matching = "bs_start_match3 f1 x0 1 x1; bs_test_tail2 f1 x1 0; return";
    assert!(!needs_test(matching, "bs_test_tail2"));
}

#[test]
fn marks_traps_and_frames() {
    let has = |body: &str, name: &str, ask: fn(&Proof, usize) -> bool| {
        let (code, proof) = check(body).unwrap_or_else(|e| panic!("{body}\n  refused: {e}"));
        let opcode = Opcode::from_name(name);
        let at = code.ops.iter().position(|op| Some(op.opcode) == opcode).expect("there");
        ask(&proof, at)
    };
    assert!(has(
        "bif1 f5 5 x0 x1; return; label 5; move x1 x0; return",
        "bif1",
        Proof::clear_target
    ));
    assert!(!has("bif1 f5 5 x0 x1; return; label 5; return", "bif1", Proof::clear_target));
    assert!(has("allocate 0 1; call_ext 1 0", "call_ext", Proof::trap_after));
    assert!(has("allocate 0 1; call_ext 1 4", "call_ext", Proof::trap_after));
    assert!(!has(
        "allocate 0 1; call_ext 1 4; deallocate 0; return",
        "call_ext",
        Proof::trap_after
    ));
    let raw = "allocate 1 1; call 1 f2; deallocate 1; return";
    assert!(has(raw, "allocate", Proof::fill_frame));
    // Parts of a message that goes back to the mailbox.
    let look = |rest: &str| {
        format!("allocate_zero 1 0; label 5; loop_rec f6 x0; {rest}; label 6; wait f5")
    };
    let keeps = |rest: &str, name: &str| has(&look(rest), name, Proof::keep_message);
    assert!(keeps("move x0 y0; loop_rec_end f5", "loop_rec_end"));
    assert!(keeps(
        "get_hd x0 x1; test_heap 2 2; put_list x1 x0 x2; move x2 y0; loop_rec_end f5",
        "loop_rec_end"
    ));
    assert!(keeps("call_ext 1 4; loop_rec_end f5", "call_ext"));
    assert!(keeps("deallocate 1; return", "return"));
    assert!(!keeps("is_atom f7 x0; move x0 y0; label 7; loop_rec_end f5", "loop_rec_end"));
    let taken = "get_hd x0 x1; move x0 y0; remove_message; call_ext 1 4; deallocate 1; return";
    assert!(!keeps(taken, "call_ext"));
    // The values that `catch_end` leaves and that a jump to the entry passes.
    assert!(keeps(
        "catch y0 f8; label 8; catch_end y0; move x0 y0; loop_rec_end f5",
        "loop_rec_end"
    ));
    assert!(has("label 5; loop_rec f6 x0; jump f2; label 6; wait f5", "jump", Proof::keep_message));
    // In a register that only the larger of two frames has, whichever comes first.
    let larger =
        "allocate_zero 2 0; label 6; loop_rec f7 x0; move x0 y1; jump f8; label 7; wait f6";
    let smaller = "allocate_zero 1 0; jump f8";
    for (one, other) in [(larger, smaller), (smaller, larger)] {
        let met = format!(
            "is_atom f5 x0; {one}; label 5; {other}; label 8; loop_rec_end f9; \
                           label 9; loop_rec f3 x0; loop_rec_end f9; label 3; wait f9"
        );
        assert!(has(&met, "loop_rec_end", Proof::keep_message));
    }
    let written = "allocate 1 1; move x0 y0; call 1 f2; deallocate 1; return";
    assert!(!has(written, "allocate", Proof::fill_frame));
}
