//! What the verifier refuses, accepts, and wants tested: code written for one rule each.

#[path = "common/asm.rs"]
mod asm;

use kvik_beam::{verify, Code, Container, Error, Module, Opcode, Proof};

fn check(body: &str) -> Result<(Code, Proof), Error> {
    let bytes = asm::module(body);
    let file = Container::parse(&bytes)?;
    let module = Module::parse(&file)?;
    let code = Code::decode(&module)?;
    let proof = verify(&module, &code)?;
    Ok((code, proof))
}

/// Bodies of `f/1` and a part of the reason for refusing them.
const REFUSED: &[(&str, &str)] = &[
    // Registers.
    ("move x1 x0; return", "isn't initialised"),
    ("allocate 1 1; move y1 x0; deallocate 1; return", "outside the frame"),
    ("move x0 y0; return", "outside the frame"),
    ("is_atom f5 x0; move x0 x1; label 5; move x1 x0; return", "isn't initialised"),
    ("allocate 0 1; call 1 f2; move x1 x0; deallocate 0; return", "isn't initialised"),
    ("test_heap 2 2; return", "live x register"),
    ("test_heap 0 0; return", "isn't initialised"),
    // Frames.
    ("allocate 1 1; return", "leaves the function with a frame"),
    ("allocate 1 1; allocate 1 1; return", "a second frame"),
    ("allocate 1 1; deallocate 2; return", "another size"),
    ("deallocate 0; return", "another size"),
    ("allocate 2 1; trim 1 2; deallocate 1; return", "another size"),
    ("call 1 f2; return", "without a frame"),
    ("allocate 1 1; call_last 1 f2 0", "another size"),
    ("allocate 1 1; is_atom f5 x0; trim 1 0; label 5; deallocate 1; return", "different sizes"),
    ("allocate_zero 0 1; call_only 1 f2", "with a frame"),
    ("allocate_zero 1 1; is_atom f5 x0; trim 1 0; label 5; deallocate 1; return", "another size"),
    // Labels and calls.
    ("jump f11; return", "another function"),
    ("jump f9; return", "isn't placed"),
    ("jump f0; return", "not a label"),
    ("call_only 2 f11", "isn't initialised"),
    ("call_only 1 f11", "number of arguments"),
    ("call_only 1 f1", "wrong kind"),
    ("call_ext_only 2 4", "number of arguments"),
    ("call_ext_only 1 6", "wrong kind"),
    ("allocate 0 1; jump f1", "there is a frame"),
    ("move @2 x0; allocate_zero 1 1; jump f2", "with a frame"),
    // Operands.
    ("bif1 f5 5 q0 x0; return; label 5; return", "a part of a constant"),
    ("bif1 f5 5 @2 x0; return; label 5; return", "a part of a constant"),
    ("get_hd q0 x0; return", "not a register"),
    ("get_hd x0 @2; return", "not a register"),
    // The heap.
    ("put_list x0 [] x0; return", "without having reserved"),
    ("test_heap 2 1; put_list x0 [] x0; put_list x0 [] x0; return", "without having reserved"),
    ("test_heap 2 1; put_tuple2 x0 { x0 x0 }; return", "without having reserved"),
    (
        "test_heap 2 1; is_atom f5 x0; put_list x0 [] x0; label 5; put_list x0 [] x0; return",
        "without having reserved",
    ),
    (
        "allocate_heap 0 2 1; call 1 f2; put_list x0 [] x0; deallocate 0; return",
        "without having reserved",
    ),
    ("test_heap 9 1; make_fun3 0 x0 { x0 }; return", "without having reserved"),
    ("test_heap 9 1; make_fun3 0 x0 { x0 x0 }; return", "free variables"),
    ("test_heap 1 1; fmove x0 fr0; fmove fr0 x0; return", "without having reserved"),
    ("set_tuple_element x0 x0 0; return", "right behind setelement"),
    (
        "allocate 0 1; move x0 x2; move [] x1; call_ext 3 1; get_tuple_element x0 0 x0; \
      get_tuple_element x0 0 x1; set_tuple_element [] x0 0; deallocate 0; return",
        "right behind setelement",
    ),
    // Float registers.
    ("test_heap 2 1; fmove fr0 x0; return", "float register"),
    ("fconv x0 fr0; fadd f0 fr0 fr1 fr0; return", "float register"),
    (
        "fconv x0 fr0; fadd f5 fr0 fr0 fr0; return; label 5; test_heap 2 1; fmove fr0 x0; return",
        "float register",
    ),
    (
        "allocate 0 1; fconv x0 fr0; call 1 f2; test_heap 2 1; fmove fr0 x0; deallocate 0; return",
        "float register",
    ),
    // Ways round on which nobody else gets a turn.
    ("label 5; is_nonempty_list f6 x0; get_tl x0 x0; jump f5; label 6; return", "a loop"),
    ("allocate_zero 1 1; label 5; try y0 f6; badmatch x0; label 6; try_case y0; jump f5", "a loop"),
    ("allocate 0 1; label 5; call_ext 1 4; jump f5", "a loop"),
    // BIFs.
    ("bif1 f1 0 x0 x0; return", "guard BIF"),
    ("gc_bif1 f1 1 4 x0 x0; return", "guard BIF"),
    ("bif2 f1 3 x0 x0 x0; return", "builds nothing"),
    ("on_load; return", "without arguments"),
    ("is_tagged_tuple f1 x0 0 @1; return", "empty tuple"),
    // Handlers.
    ("allocate_zero 1 1; try y0 f5; call 1 f2; label 5; deallocate 1; return", "wrong place"),
    (
        "allocate_zero 1 1; try y0 f5; call 1 f2; deallocate 1; return; label 5; try_case y0; \
      deallocate 1; return",
        "open handler",
    ),
    ("allocate_zero 1 1; try_case y0; deallocate 1; return", "no exception"),
    ("try_case y2; return", "no exception"),
    ("allocate_zero 1 1; try_end y0; deallocate 1; return", "innermost"),
    (
        "allocate_zero 1 1; try y0 f5; move x0 y0; label 5; try_case y0; deallocate 1; return",
        "overwrites a catch tag",
    ),
    (
        "allocate_zero 1 1; try y0 f5; move y0 x0; label 5; try_case y0; deallocate 1; return",
        "reads a catch tag",
    ),
    (
        "allocate_zero 2 1; try y0 f5; try y1 f6; label 5; try_case y0; deallocate 2; return; \
      label 6; try_case y1; deallocate 2; return",
        "inner handler",
    ),
    (
        "allocate_zero 1 1; try y0 f5; is_atom f5 x0; try_end y0; deallocate 1; return; \
      label 5; try_case y0; deallocate 1; return",
        "no exception",
    ),
    (
        "allocate_zero 2 1; try y0 f5; call 1 f2; try_end y0; deallocate 2; return; \
      label 5; test_heap 0 0; try_case y0; deallocate 2; return",
        "wrong place",
    ),
    (
        "allocate_zero 1 1; try y0 f5; label 7; trim 0 1; label 5; try_case y0; return",
        "open handler",
    ),
    // Match contexts.
    ("bs_start_match3 f1 x0 1 x1; move x1 x0; return", "match context as a term"),
    ("bs_start_match3 f1 x0 1 x1; test_heap 2 2; put_list x1 [] x0; return", "match context"),
    ("bs_start_match3 f1 x0 1 x1; move x1 x0; call_ext_only 1 4", "match context"),
    (
        "bs_start_match3 f5 x0 1 x0; move [] x1; call_only 2 f11; label 5; return",
        "match context as a term",
    ),
    // Tables.
    ("select_val x0 f1 { @1 f5 #3 }; label 5; return", "odd length"),
    ("select_val x0 f1 { x0 f5 }; label 5; return", "not a constant"),
    ("get_map_elements f1 x0 { @1 x1 @1 x2 }; return", "same key"),
    ("put_map_assoc f0 x0 x0 1 { x0 x0 @1 x0 }; return", "not a constant"),
    ("bs_match_string f1 x0 8 0; return", "string table"),
    ("bs_init2 f0 8 0 1 0 x0; bs_put_integer f0 #8 1 0 x1; return", "isn't initialised"),
    // Values are read after the collection that room is made by.
    (
        "move x0 x1; bs_init2 f0 8 0 1 0 x0; bs_put_integer f0 #8 1 0 x1; return",
        "isn't initialised",
    ),
    ("bs_init2 f0 8 0 1 0 x0; bs_put_integer f0 #8 0 0 x0; return", "unit out of range"),
    ("bs_init2 f0 8 0 1 0 x0; bs_put_string 8 0; return", "string table"),
    ("line 7; test_heap x0 1; return", "wrong kind"),
    ("init_yregs { x0 }; return", "not a y register"),
];

#[test]
fn refuses() {
    let mut wrong = Vec::new();
    for (body, reason) in REFUSED {
        match check(body) {
            Err(Error::Unsafe(found)) if found.what.contains(reason) => {}
            Err(other) => wrong.push(format!("{body}: refused, but: {other}")),
            Ok(_) => wrong.push(format!("{body}: accepted")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The same for what cannot be decoded.
const MALFORMED: &[(&str, &str)] = &[
    ("bs_put_integer f0 #8 1 0 x0; return", "appends to no bit string"),
    ("bs_init2 f0 8 0 1 0 x0; return; bs_put_integer f0 #8 1 0 x0", "appends to no bit string"),
    ("bs_init2 f5 8 0 1 0 x1; bs_put_float f0 #64 1 0 x0; label 5; return", "another label"),
];

#[test]
fn refuses_malformed() {
    for (body, reason) in MALFORMED {
        match check(body) {
            Err(Error::Code { what, .. }) if what.contains(reason) => {}
            Err(other) => panic!("{body}: refused, but: {other}"),
            Ok(_) => panic!("{body}: accepted"),
        }
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
    "allocate 0 1; move x0 x2; move [] x1; call_ext 3 1; set_tuple_element [] x0 0; \
     deallocate 0; return",
    // What compilers before OTP 25 make: the target may be a source of what is appended.
    "bs_add f0 #1 x0 8 x1; bs_init2 f0 x1 0 2 0 x0; bs_put_integer f0 #8 1 0 x0; \
     bs_put_utf8 f0 0 x1; bs_put_binary f0 @1 8 0 x0; return",
    "move x0 x5; bs_private_append f0 #8 8 x0 0 x0; bs_put_utf16 f0 0 x5; move x5 x0; return",
    // The BIF's target is read where it failed.
    "bif1 f5 5 x0 x1; return; label 5; move x1 x0; return",
];

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
    // Two paths, of which one knows less.
    let joined = "is_tuple f1 x0; select_tuple_arity x0 f1 { 2 f5 3 f6 }; label 5; label 6; \
                  get_tuple_element x0 1 x1; get_tuple_element x0 2 x0; return";
    assert!(needs_test(joined, get));
    assert!(!needs_test(
        "is_list f1 x0; is_nil f5 x0; return; label 5; get_hd x0 x0; return",
        "get_hd"
    ));
    assert!(!needs_test("bif1 f1 5 x0 x1; get_tl x0 x0; return", "get_tl"));
    assert!(needs_test("is_list f1 x0; get_tl x0 x0; return", "get_tl"));
    // A loop that shrinks what is known.
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
    let written = "allocate 1 1; move x0 y0; call 1 f2; deallocate 1; return";
    assert!(!has(written, "allocate", Proof::fill_frame));
}
