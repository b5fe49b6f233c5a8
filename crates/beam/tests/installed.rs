//! Every `.beam` file of the installed OTP is read in full and verified.

mod common;

use kvik_beam::{verify, Code, Container, Module, Opcode};

#[test]
fn reads_and_verifies_every_installed_module() {
    for path in common::installed() {
        let bytes = std::fs::read(&path).expect("readable file");
        let stem = path.file_stem().and_then(|s| s.to_str()).expect("a name");
        let file = Container::parse(&bytes).unwrap_or_else(|e| panic!("{stem}: {e}"));
        let module = Module::parse(&file).unwrap_or_else(|e| panic!("{stem}: {e}"));
        assert_eq!(module.name(), stem);
        assert!(module.literals.iter().all(|l| l.first() == Some(&131)), "{stem}");
        let code = Code::decode(&module).unwrap_or_else(|e| panic!("{stem}: {e}"));
        assert_eq!(code.ops.last().map(|op| op.opcode), Some(Opcode::IntCodeEnd));
        verify(&module, &code).unwrap_or_else(|e| panic!("{stem}: {e}"));
        for export in &module.exports {
            let known = code.functions.iter().any(|f| {
                (f.name, f.arity, f.entry_label) == (export.function, export.arity, export.label)
            });
            assert!(known, "{stem}: {:?}", module.atom(export.function));
        }
    }
}

/// The checksum equals OTP's, recorded once for the `lists` module of its own release.
#[test]
fn the_checksum_is_otps() {
    let Some(path) = common::installed().into_iter().find(|p| p.ends_with("lists.beam")) else {
        return;
    };
    let ask = "io:format(\"~w\", [binary_to_list(lists:module_info(md5))]), halt().";
    let erl = std::process::Command::new("erl").args(["-noshell", "-eval", ask]).output();
    let Ok(answer) = erl else { return };
    let bytes = std::fs::read(path).expect("readable file");
    let file = Container::parse(&bytes).expect("a beam file");
    let md5 = Module::parse(&file).expect("a module").md5;
    let expected = format!("{md5:?}").replace(", ", ",");
    assert_eq!(String::from_utf8_lossy(&answer.stdout), expected);
}
