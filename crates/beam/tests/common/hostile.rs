//! Code that no compiler writes and the verifier refuses: a body of `f/1` (see `asm.rs`) for each,
//! and a part of the reason. None of it may reach a template.

/// Bodies of `f/1` and a part of the reason for refusing them.
pub const REFUSED: &[(&str, &str)] = &[
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
    // A handler in a frame of unknown size, forgotten where it meets another frame.
    (
        "is_atom f5 x0; allocate_zero 2 1; jump f6; label 5; allocate_zero 3 1; label 6; \
      catch y0 f7; call 1 f2; label 7; catch_end y0; call_ext 1 0",
        "a frame of known size",
    ),
    // Two handlers of which either may be the innermost.
    (
        "allocate_zero 1 1; is_atom f5 x0; catch y0 f7; jump f6; label 5; catch y0 f8; label 6; \
      call 1 f2; label 7; catch_end y0; deallocate 1; return; label 8; catch_end y0; deallocate 1; \
      return",
        "which handler is the innermost",
    ),
    // Labels and calls.
    ("jump f11; return", "another function"),
    ("jump f9; return", "isn't placed"),
    ("jump f0; return", "not a label"),
    ("call_only 2 f11", "isn't initialised"),
    ("call_only 1 f11", "number of arguments"),
    ("call_only 1 f1", "wrong kind"),
    ("call_ext_only 2 4", "number of arguments"),
    ("call_ext_only 1 7", "wrong kind"),
    ("allocate 0 1; jump f1", "there is a frame"),
    ("move @2 x0; allocate_zero 1 1; jump f2", "with a frame"),
    // A bit string passes `bs_start_match4` with `resume`, so the code behind it is run.
    ("bs_start_match4 @15 1 x0 x0; move x5 x0; return", "isn't initialised"),
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
    (
        "allocate 0 1; move x0 x2; move [] x1; call_ext 3 1; test_heap 1 1; \
      set_tuple_element [] x0 0; deallocate 0; return",
        "right behind setelement",
    ),
    // The tuple isn't tracked across labels.
    (
        "allocate 0 1; move x0 x2; move [] x1; call_ext 3 1; label 5; \
      set_tuple_element [] x0 0; deallocate 0; return",
        "right behind setelement",
    ),
    (
        "allocate 1 1; move x0 y0; move x0 x2; move [] x1; call_ext 3 1; swap x0 y0; \
      set_tuple_element [] x0 0; deallocate 1; return",
        "the tuple that setelement/3 made",
    ),
    // A tuple that contains itself, under its own or another name.
    (
        "allocate 0 1; move x0 x2; move [] x1; call_ext 3 1; set_tuple_element x0 x0 0; \
      deallocate 0; return",
        "contains itself",
    ),
    (
        "allocate_zero 1 1; move x0 x2; move [] x1; call_ext 3 1; move x0 x1; swap x1 y0; \
      set_tuple_element y0 x0 0; deallocate 1; return",
        "contains itself",
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
    // Loops that cannot be preempted.
    ("label 5; is_nonempty_list f6 x0; get_tl x0 x0; jump f5; label 6; return", "a loop"),
    ("allocate_zero 1 1; label 5; try y0 f6; badmatch x0; label 6; try_case y0; jump f5", "a loop"),
    ("allocate 0 1; label 5; call_ext 1 4; jump f5", "a loop"),
    // BIFs.
    ("bif1 f1 0 x0 x0; return", "guard BIF"),
    ("gc_bif1 f1 1 4 x0 x0; return", "guard BIF"),
    ("bif2 f1 3 x0 x0 x0; return", "builds nothing"),
    ("on_load; return", "without arguments"),
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
    // `bs_match`: no command takes more bits than the first has checked, and all need the context.
    ("bs_start_match3 f1 x0 1 x1; bs_match f1 x1 { @18 8 }; return", "begins without making sure"),
    ("bs_start_match3 f1 x0 1 x1; bs_match f1 x1 { @16 8 1 @17 8 }; return", "of its bits twice"),
    ("bs_start_match3 f1 x0 1 x1; bs_match f1 x1 { @16 8 1 @18 9 }; return", "more bits than"),
    ("bs_start_match3 f1 x0 1 x1; bs_match f1 x1 { @17 8 @21 [] 9 1 }; return", "more bits than"),
    (
        "bs_start_match3 f1 x0 1 x1; bs_match f1 x1 { @16 8 1 @11 2 [] 5 2 x0 }; return",
        "more bits than",
    ),
    (
        "bs_start_match3 f1 x0 1 x1; bs_match f1 x1 { @17 8 @19 2 [] 8 1 x0 @18 1 }; return",
        "more bits than",
    ),
    ("bs_start_match3 f1 x0 1 x1; bs_match f1 x1 { @1 }; return", "no command"),
    ("bs_start_match3 f1 x0 1 x1; bs_match f1 x1 { @16 8 0 }; return", "no command"),
    ("bs_start_match3 f1 x0 1 x1; bs_match f1 x1 { }; return", "no command"),
    (
        "bs_start_match3 f1 x0 1 x1; bs_match f1 x1 { @16 99 1 @21 [] 65 1 }; return",
        "compares too many",
    ),
    (
        "bs_start_match3 f1 x0 1 x1; bs_match f1 x1 { @16 8 1 @11 2000 [] 8 1 x0 }; return",
        "too many live",
    ),
    (
        "bs_start_match3 f1 x0 1 x1; bs_match f1 x1 { @16 8 1 @20 2 8 @1 }; return",
        "not a register",
    ),
    (
        "bs_start_match3 f1 x0 1 x1; bs_match f1 x1 { @16 8 1 @11 2 @1 8 1 x0 }; return",
        "flags of the wrong kind",
    ),
    ("bs_start_match3 f1 x0 1 x1; bs_match f1 x1 { @16 x0 1 }; return", "no number of bits"),
    (
        "bs_start_match3 f1 x0 1 x1; bs_match f1 x1 { @16 16 1 @11 2 [] 8 1 x1 @18 8 }; return",
        "goes on without its context",
    ),
    (
        "bs_start_match3 f1 x0 1 x1; bs_match f1 x1 { @16 16 1 @19 1 [] 8 1 x0 @21 [] 8 1 }; return",
        "goes on without its context",
    ),
    ("bs_start_match3 f1 x0 1 x1; bs_match f1 x1 { @16 8 1 @20 3 8 x0 }; return", "live x register"),
    ("bs_match f1 x1 { @16 8 1 }; return", "isn't initialised"),
    ("put_record f0 [] x0 x0 1 { }; return", "not the name of a native record"),
    ("put_record f0 @2 [] x0 1 { }; return", "no such native record"),
    ("put_record f1 q0 [] x0 1 { }; return", "not the name of a native record"),
    ("put_record f0 q0 x1 x0 1 { @1 x0 }; return", "isn't initialised"),
    ("put_record f0 q0 [] x0 1 { @1 x1 }; return", "isn't initialised"),
    ("put_record f0 q0 [] x0 1 { @1 x0 @1 x0 }; return", "the same key twice"),
    ("put_record f0 q0 [] x0 1 { #1 x0 }; return", "not an atom"),
    ("put_record f0 q0 [] x0 2 { @1 x0 }; return", "live x register"),
    ("put_record f0 q0 [] x1 1 { @1 x0 }; move x2 x0; return", "isn't initialised"),
    ("get_record_elements f1 x0 { }; return", "no keys"),
    ("get_record_elements f1 x0 { @1 }; return", "odd length"),
    ("get_record_elements f1 x0 { @1 #2 }; return", "not a register"),
    ("is_native_record f1 x0 @1 x0; return", "not the name of a native record"),
    ("get_record_field f0 x0 x0 @1 x0; return", "not the name of a native record"),
    // Of a match context only the size may be computed.
    ("bs_start_match3 f1 x0 1 x1; gc_bif1 f0 2 6 x1 x0; return", "match context as a term"),
    // `update_record`.
    ("test_heap 3 1; update_record @22 2 x0 x0 { @1 x0 }; return", "is not a number"),
    ("test_heap 3 1; update_record @22 2 x0 x0 { 2 x0 1 x0 }; return", "positions out of order"),
    ("test_heap 3 1; update_record @22 2 x0 x0 { 1 x0 1 x0 }; return", "positions out of order"),
    ("test_heap 3 1; update_record @22 2 x0 x0 { 0 x0 }; return", "positions out of order"),
    ("test_heap 3 1; update_record @22 2 x0 x0 { 3 x0 }; return", "outside the tuple"),
    ("test_heap 2 1; update_record @22 2 x0 x0 { 1 x0 }; return", "without having reserved"),
    ("test_heap 3 1; update_record @22 2 x1 x0 { 1 x0 }; return", "isn't initialised"),
    ("test_heap 3 1; update_record @22 2 x0 x0 { 1 x1 }; return", "isn't initialised"),
    // Tables.
    ("select_val x0 f1 { @1 f5 #3 }; label 5; return", "odd length"),
    ("select_val x0 f1 { x0 f5 }; label 5; return", "not a constant"),
    ("get_map_elements f1 x0 { @1 x1 @1 x2 }; return", "same key"),
    ("put_map_assoc f0 x0 x0 1 { x0 x0 @1 x0 }; return", "not a constant"),
    ("bs_match_string f1 x0 8 0; return", "string table"),
    ("bs_init2 f0 8 0 1 0 x0; bs_put_integer f0 #8 1 0 x1; return", "isn't initialised"),
    // Values are read after the collection that makes room.
    (
        "move x0 x1; bs_init2 f0 8 0 1 0 x0; bs_put_integer f0 #8 1 0 x1; return",
        "isn't initialised",
    ),
    ("bs_init2 f0 8 0 1 0 x0; bs_put_integer f0 #8 0 0 x0; return", "unit out of range"),
    ("bs_init2 f0 8 0 1 0 x0; bs_put_string 8 0; return", "string table"),
    ("line 7; test_heap x0 1; return", "wrong kind"),
    ("init_yregs { x0 }; return", "not a y register"),
    // Registers that were never written, read by one instruction of each kind.
    ("swap x0 x1; return", "isn't initialised"),
    ("test_heap 2 1; put_list x1 [] x0; return", "isn't initialised"),
    ("test_heap 2 1; put_tuple2 x0 { x1 }; return", "isn't initialised"),
    ("is_lt f1 x0 x1; return", "isn't initialised"),
    ("is_eq_exact f1 x1 x0; return", "isn't initialised"),
    ("is_function2 f1 x0 x1; return", "isn't initialised"),
    ("get_tuple_element x1 0 x0; return", "isn't initialised"),
    ("select_val x1 f1 { @1 f5 }; label 5; return", "isn't initialised"),
    ("has_map_fields f1 x0 { x1 }; return", "isn't initialised"),
    ("get_map_elements f1 x1 { @1 x0 }; return", "isn't initialised"),
    ("put_map_assoc f0 x1 x0 1 { @1 x0 }; return", "isn't initialised"),
    ("bif1 f0 5 x1 x0; return", "isn't initialised"),
    ("gc_bif2 f0 1 3 x0 x1 x0; return", "isn't initialised"),
    ("fconv x1 fr0; return", "isn't initialised"),
    ("badmatch x1", "isn't initialised"),
    ("raise x0 x1", "isn't initialised"),
    ("allocate 0 1; raw_raise", "isn't initialised"),
    ("allocate 0 1; send; deallocate 0; return", "isn't initialised"),
    ("allocate 0 1; call_fun 1; deallocate 0; return", "isn't initialised"),
    ("allocate 0 1; call_fun2 @13 2 x0; deallocate 0; return", "isn't initialised"),
    ("allocate 0 1; apply 1; deallocate 0; return", "isn't initialised"),
    ("allocate 0 1; apply_last 0 0", "isn't initialised"),
    ("call_ext_only 3 1", "isn't initialised"),
    ("recv_marker_bind x0 x1; return", "isn't initialised"),
    ("recv_marker_use x1; return", "isn't initialised"),
    ("bs_start_match3 f1 x1 1 x1; return", "isn't initialised"),
    ("bs_start_match3 f1 x0 1 x1; bs_get_integer2 f1 x1 2 x2 1 0 x0; return", "isn't initialised"),
    ("bs_start_match3 f1 x0 1 x1; bs_set_position x1 x2; return", "isn't initialised"),
    ("bs_get_tail x1 x0 1; return", "isn't initialised"),
    ("bs_add f0 x0 x1 8 x0; return", "isn't initialised"),
    ("bs_utf8_size f0 x1 x0; return", "isn't initialised"),
    ("bs_create_bin f0 0 1 8 x0 { @11 #1 1 [] x1 #8 }; return", "isn't initialised"),
    ("allocate 0 1; wait_timeout f5 x1; label 5; move [] x0; deallocate 0; return", "isn't initialised"),
    ("gc_bif1 f0 2 6 x0 x0; return", "live x register"),
    ("allocate 0 2; deallocate 0; return", "live x register"),
    // Registers that a call, a receive or a failing match leaves undefined.
    ("allocate 0 1; call_ext 1 4; move x1 x0; deallocate 0; return", "isn't initialised"),
    ("move x0 x1; allocate 0 2; call 1 f2; move x1 x0; deallocate 0; return", "isn't initialised"),
    ("move x0 x1; test_heap 0 1; move x1 x0; return", "isn't initialised"),
    (
        "allocate_zero 0 1; label 5; loop_rec f6 x1; move x0 x2; remove_message; deallocate 0; \
         return; label 6; wait f5",
        "isn't initialised",
    ),
    ("allocate 0 1; label 5; wait_timeout f5 #1; timeout; deallocate 0; return", "isn't initialised"),
    (
        "allocate_zero 1 1; catch y0 f5; call 1 f2; label 5; catch_end y0; move x1 x0; \
         deallocate 1; return",
        "isn't initialised",
    ),
    (
        "allocate_zero 1 1; try y0 f5; call 1 f2; try_end y0; deallocate 1; return; \
         label 5; try_case y0; move x3 x0; deallocate 1; return",
        "isn't initialised",
    ),
    // The stack: accesses below it, above it, without a frame.
    ("move y0 x0; return", "outside the frame"),
    ("init y0; return", "outside the frame"),
    ("allocate_zero 1 1; init_yregs { y0 y1 }; deallocate 1; return", "outside the frame"),
    ("allocate_zero 1 1; swap y0 y1; deallocate 1; return", "outside the frame"),
    ("get_list x0 y0 x0; return", "outside the frame"),
    ("try y0 f5; label 5; try_case y0; return", "outside the frame"),
    ("allocate_zero 1 1; catch y1 f5; label 5; catch_end y1; deallocate 1; return", "outside the frame"),
    ("allocate_zero 2 1; trim 1 1; move y1 x0; deallocate 1; return", "outside the frame"),
    ("allocate_zero 1 1; deallocate 1; move y0 x0; return", "outside the frame"),
    ("trim 0 0; return", "another size"),
    ("allocate 1 1; deallocate 0; return", "another size"),
    ("allocate 1 1; deallocate 1; deallocate 1; return", "another size"),
    ("call_last 1 f2 0", "another size"),
    ("call_ext_last 1 4 3", "another size"),
    ("move x0 x1; apply_last 0 0", "another size"),
    ("send; return", "isn't initialised"),
    ("move x0 x1; send; return", "without a frame"),
    ("call_fun 0; return", "without a frame"),
    ("call_ext 1 4; return", "without a frame"),
    ("allocate 0 1; call_ext_only 1 4", "with a frame"),
    ("allocate 0 1; is_atom f5 x0; deallocate 0; label 5; return", "with a frame"),
    // Invalid labels.
    ("is_atom f11 x0; return", "another function"),
    ("is_atom f10 x0; return", "another function"),
    ("is_atom f9 x0; return", "isn't placed"),
    ("is_atom f0 x0; return", "not a label"),
    ("is_atom x0 x0; return", "not a label"),
    ("select_val x0 f1 { @1 f11 }", "another function"),
    ("select_val x0 f1 { @1 x0 }", "not a label"),
    ("select_tuple_arity x0 f1 { 2 f9 }", "isn't placed"),
    ("allocate 0 1; call 1 f5; label 5; deallocate 0; return", "wrong kind"),
    ("allocate_zero 1 1; try y0 f0; try_end y0; deallocate 1; return", "not a label"),
    ("allocate_zero 1 1; catch y0 f11; catch_end y0; deallocate 1; return", "another function"),
    ("allocate 0 0; label 5; loop_rec f11 x0; wait f5", "another function"),
    ("allocate 0 0; wait f11", "another function"),
    ("bif1 f11 5 x0 x0; return", "another function"),
    ("bs_start_match4 @1 1 x0 x0; return", "wrong kind"),
    // Operands of the wrong kind.
    ("init x0; return", "wrong kind"),
    ("allocate_zero 1 1; catch x0 f5; label 5; deallocate 1; return", "wrong kind"),
    ("move x0 @1; return", "not a register"),
    ("swap x0 #1; return", "not a register"),
    ("get_list x0 @1 x0; return", "not a register"),
    ("get_map_elements f1 x0 { @1 @1 }; return", "not a register"),
    ("fadd f0 x0 fr0 fr0; return", "wrong kind"),
    ("fmove x0 x1; return", "no float register"),
    ("fconv x0 fr0; fmove fr0 fr1; return", "goes nowhere"),
    ("fmove q0 fr0; return", "no float"),
    ("move f1 x0; return", "not a register"),
    ("allocate x0 1; return", "wrong kind"),
    ("select_tuple_arity x0 f1 { @1 f5 }; label 5; return", "not a number"),
    ("call_fun2 @1 0 x0; return", "wrong kind"),
    // Indexes and numbers out of range.
    ("bif0 9 x0; return", "wrong kind"),
    ("bif0 5 x0; return", "number of arguments"),
    ("bif1 f1 2 x0 x0; return", "number of arguments"),
    ("gc_bif2 f0 1 5 x0 x0 x0; return", "number of arguments"),
    ("make_fun2 1; return", "wrong kind"),
    ("make_fun3 1 x0 { }; return", "wrong kind"),
    ("allocate 1024 1; return", "wrong kind"),
    ("test_heap 0 1024; return", "wrong kind"),
    ("test_heap 16777217 1; return", "wrong kind"),
    ("update_record @22 8388607 x0 x0 { 1 x0 }; return", "too large"),
    ("bs_test_unit f1 x0 0; return", "unit out of range"),
    ("bs_test_unit f1 x0 257; return", "unit out of range"),
    ("bs_get_integer2 f1 x0 1 #8 257 0 x0; return", "unit out of range"),
    ("bs_get_binary2 f1 x0 1 #8 8 256 x0; return", "unit out of range"),
    ("bs_skip_bits2 f1 x0 #8 257 0; return", "unit out of range"),
    ("put_map_assoc f0 x0 x0 1 { }; return", "no keys"),
    ("put_map_exact f0 x0 x0 1 { @1 }; return", "odd length"),
    ("get_map_elements f1 x0 { @1 x1 @2 }; return", "odd length"),
    // Segments of bit strings.
    ("bs_create_bin f0 0 1 8 x0 { @11 #1 1 [] x0 }; return", "cut off"),
    ("bs_create_bin f0 0 1 8 x0 { @1 #1 1 [] x0 #8 }; return", "unknown type"),
    ("bs_create_bin f0 0 1 8 x0 { x0 #1 1 [] x0 #8 }; return", "wrong kind"),
    ("bs_create_bin f0 0 1 8 x0 { @11 #1 0 [] x0 #8 }; return", "unit out of range"),
    ("bs_create_bin f0 0 1 8 x0 { @11 #1 257 [] x0 #8 }; return", "unit out of range"),
    ("bs_create_bin f0 0 1 8 x0 { @11 #1 1 x0 x0 #8 }; return", "flags"),
    ("bs_create_bin f0 0 1 8 x0 { @11 #1 1 [] f1 #8 }; return", "not a register"),
    ("bs_create_bin f0 0 1 8 x0 { @12 #1 8 [] 0 #8 }; return", "string table"),
    ("bs_create_bin f0 0 1 8 x0 { @12 #1 8 [] x0 #8 }; return", "string segment"),
    // More values that are not terms.
    ("bs_start_match3 f1 x0 1 x0; return", "match context as a term"),
    ("bs_start_match3 f1 x0 1 x0; is_atom f1 x0; return", "match context"),
    ("bs_start_match3 f1 x0 1 x0; allocate 0 1; move x0 x1; send; deallocate 0; return", "match context"),
    ("bs_start_match3 f1 x0 1 x0; badmatch x0", "match context"),
    ("bs_start_match3 f1 x0 1 x0; allocate 0 1; call_fun 0; deallocate 0; return", "match context"),
    ("bs_start_match3 f1 x0 1 x0; test_heap 2 1; put_tuple2 x0 { x0 }; return", "match context"),
    ("bs_start_match3 f1 x0 1 x0; bs_create_bin f0 0 1 8 x0 { @11 #1 1 [] x0 #8 }; return", "match context"),
    ("allocate_zero 1 1; try y0 f5; call_ext 1 4; move y0 x0; try_end y0; deallocate 1; return; \
      label 5; try_case y0; deallocate 1; return", "reads a catch tag"),
    ("allocate_zero 2 1; catch y0 f5; swap y0 y1; label 5; catch_end y0; deallocate 2; return", "catch tag"),
    ("allocate_zero 1 1; catch y0 f5; init y0; label 5; catch_end y0; deallocate 1; return", "overwrites a catch tag"),
    ("allocate_zero 1 1; catch y0 f5; try_end y0; label 5; catch_end y0; deallocate 1; return", "innermost"),
    ("allocate_zero 1 1; catch_end y0; deallocate 1; return", "innermost"),
    ("allocate_zero 1 1; catch y0 f5; deallocate 1; return; label 5; catch_end y0; deallocate 1; return",
     "open handler"),
    ("allocate_zero 1 1; label 5; is_atom f6 x0; catch y0 f7; jump f5; label 6; deallocate 1; return; \
      label 7; catch_end y0; deallocate 1; return", "an inner handler"),
    ("bs_init_writable; return", "without a frame"),
    ("allocate 0 1; label 5; jump f5", "a loop"),
    ("label 5; bs_start_match3 f6 x0 1 x0; bs_get_tail x0 x0 1; jump f5; label 6; return", "a loop"),
];

/// The same for code that cannot be decoded.
pub const MALFORMED: &[(&str, &str)] = &[
    ("bs_put_integer f0 #8 1 0 x0; return", "appends to no bit string"),
    ("bs_init2 f0 8 0 1 0 x0; return; bs_put_integer f0 #8 1 0 x0", "appends to no bit string"),
    ("bs_init2 f5 8 0 1 0 x1; bs_put_float f0 #64 1 0 x0; label 5; return", "another label"),
    // Indexes outside of their tables, nonexistent registers.
    ("move q1 x0; return", "no such literal"),
    ("move q2000 x0; return", "no such literal"),
    ("move @200 x0; return", "no such atom"),
    ("jump f12; return", "no such label"),
    ("call_only 1 f2000", "no such label"),
    ("move x1023 x0; return", "no such register"),
    ("move x1024 x0; return", "no such register"),
    ("move y1024 x0; return", "no such register"),
    ("fconv x0 fr1024; return", "no such register"),
    ("bs_init2 f0 8 0 1 0 x0; move [] x0; bs_put_string 1 0; return", "appends to no bit string"),
];

/// Code that isn't laid out in functions.
pub const LAYOUT: &[(&str, &str)] = &[
    ("label 5; label 5; return", "placed twice"),
    ("label 2; return", "placed twice"),
    ("label 11; return", "placed twice"),
    ("label 0; return", "no such label"),
    ("label 12; return", "no such label"),
    ("return; func_info @1 @2 1", "no function begins"),
    ("label 5; func_info @1 @2 1; return", "no function begins"),
    ("label 5; func_info @2 @2 1; label 6; return", "no function begins"),
    ("label 5; func_info @1 @2 300; label 6; return", "no function begins"),
    ("label 5; func_info @1 @2 1; label 6; return", "number of functions"),
    ("int_code_end", "number of functions"),
];
