//! Functions with a variable number of arguments. Rust cannot define those, so a few lines of
//! assembly pass the arguments on to an ordinary function (System V, x86-64).

use std::arch::global_asm;

use crate::compound::{enif_make_list_from_array, enif_make_tuple_from_array};
use crate::text::{enif_vfprintf, enif_vsnprintf};

// `f(env, count, terms…)`: the first four terms come in registers, the others on the stack. Pushing
// the registers below the others forms an array. The return address is kept below that meanwhile.
macro_rules! of_terms {
    ($name:literal, $to:path) => {
        global_asm!(
            concat!(".globl ", $name),
            concat!(".type ", $name, ", @function"),
            concat!($name, ":"),
            "pop rax",
            "push r9",
            "push r8",
            "push rcx",
            "push rdx",
            "mov rdx, rsi",
            "mov rsi, rsp",
            "push rax",
            "sub rsp, 8",
            "call {to}",
            "add rsp, 8",
            "pop rcx",
            "add rsp, 32",
            "push rcx",
            "ret",
            concat!(".size ", $name, ", . - ", $name),
            to = sym $to
        );
    };
}
of_terms!("enif_make_tuple", enif_make_tuple_from_array);
of_terms!("enif_make_list", enif_make_list_from_array);

// `f(fixed arguments…, format, arguments…)`: saves all argument registers to an area of 176 bytes,
// and builds a `va_list` behind it, as C compilers do.
macro_rules! of_format {
    ($name:literal, $fixed:literal, $list:literal, $to:path) => {
        global_asm!(
            concat!(".globl ", $name),
            concat!(".type ", $name, ", @function"),
            concat!($name, ":"),
            "sub rsp, 216",
            "mov [rsp], rdi",
            "mov [rsp + 8], rsi",
            "mov [rsp + 16], rdx",
            "mov [rsp + 24], rcx",
            "mov [rsp + 32], r8",
            "mov [rsp + 40], r9",
            "movups [rsp + 48], xmm0",
            "movups [rsp + 64], xmm1",
            "movups [rsp + 80], xmm2",
            "movups [rsp + 96], xmm3",
            "movups [rsp + 112], xmm4",
            "movups [rsp + 128], xmm5",
            "movups [rsp + 144], xmm6",
            "movups [rsp + 160], xmm7",
            concat!("mov dword ptr [rsp + 176], ", $fixed),
            "mov dword ptr [rsp + 180], 48",
            "lea rax, [rsp + 224]",
            "mov [rsp + 184], rax",
            "mov [rsp + 192], rsp",
            concat!("lea ", $list, ", [rsp + 176]"),
            "call {to}",
            "add rsp, 216",
            "ret",
            concat!(".size ", $name, ", . - ", $name),
            to = sym $to
        );
    };
}
of_format!("enif_snprintf", "24", "rcx", enif_vsnprintf);
of_format!("enif_fprintf", "16", "rdx", enif_vfprintf);

// Declared only to take their addresses.
extern "C" {
    pub fn enif_make_tuple();
    pub fn enif_make_list();
    pub fn enif_snprintf();
    pub fn enif_fprintf();
}
