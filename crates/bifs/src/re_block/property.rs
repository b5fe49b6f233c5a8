//! Unicode properties by PCRE 8.44's numbers, in PCRE2's syntax.

const CATEGORIES: &[&str] = &["C", "L", "M", "N", "P", "S", "Z"];
const SUBCATEGORIES: &[&str] = &[
    "Cc", "Cf", "Cn", "Co", "Cs", "Ll", "Lm", "Lo", "Lt", "Lu", "Mc", "Me", "Mn", "Nd", "Nl", "No",
    "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "Sc", "Sk", "Sm", "So", "Zl", "Zp", "Zs",
];
const SCRIPTS: &[&str] = &[
    "Arabic",
    "Armenian",
    "Bengali",
    "Bopomofo",
    "Braille",
    "Buginese",
    "Buhid",
    "Canadian_Aboriginal",
    "Cherokee",
    "Common",
    "Coptic",
    "Cypriot",
    "Cyrillic",
    "Deseret",
    "Devanagari",
    "Ethiopic",
    "Georgian",
    "Glagolitic",
    "Gothic",
    "Greek",
    "Gujarati",
    "Gurmukhi",
    "Han",
    "Hangul",
    "Hanunoo",
    "Hebrew",
    "Hiragana",
    "Inherited",
    "Kannada",
    "Katakana",
    "Kharoshthi",
    "Khmer",
    "Lao",
    "Latin",
    "Limbu",
    "Linear_B",
    "Malayalam",
    "Mongolian",
    "Myanmar",
    "New_Tai_Lue",
    "Ogham",
    "Old_Italic",
    "Old_Persian",
    "Oriya",
    "Osmanya",
    "Runic",
    "Shavian",
    "Sinhala",
    "Syloti_Nagri",
    "Syriac",
    "Tagalog",
    "Tagbanwa",
    "Tai_Le",
    "Tamil",
    "Telugu",
    "Thaana",
    "Thai",
    "Tibetan",
    "Tifinagh",
    "Ugaritic",
    "Yi",
    "Balinese",
    "Cuneiform",
    "Nko",
    "Phags_Pa",
    "Phoenician",
    "Carian",
    "Cham",
    "Kayah_Li",
    "Lepcha",
    "Lycian",
    "Lydian",
    "Ol_Chiki",
    "Rejang",
    "Saurashtra",
    "Sundanese",
    "Vai",
    "Avestan",
    "Bamum",
    "Egyptian_Hieroglyphs",
    "Imperial_Aramaic",
    "Inscriptional_Pahlavi",
    "Inscriptional_Parthian",
    "Javanese",
    "Kaithi",
    "Lisu",
    "Meetei_Mayek",
    "Old_South_Arabian",
    "Old_Turkic",
    "Samaritan",
    "Tai_Tham",
    "Tai_Viet",
    "Batak",
    "Brahmi",
    "Mandaic",
    "Chakma",
    "Meroitic_Cursive",
    "Meroitic_Hieroglyphs",
    "Miao",
    "Sharada",
    "Sora_Sompeng",
    "Takri",
    "Bassa_Vah",
    "Caucasian_Albanian",
    "Duployan",
    "Elbasan",
    "Grantha",
    "Khojki",
    "Khudawadi",
    "Linear_A",
    "Mahajani",
    "Manichaean",
    "Mende_Kikakui",
    "Modi",
    "Mro",
    "Nabataean",
    "Old_North_Arabian",
    "Old_Permic",
    "Pahawh_Hmong",
    "Palmyrene",
    "Psalter_Pahlavi",
    "Pau_Cin_Hau",
    "Siddham",
    "Tirhuta",
    "Warang_Citi",
];
/// Code points that are equal but for case, three or more: a set's number, and one of its members.
const CASELESS_SETS: &[(u8, u32)] = &[
    (1, 0x0053),
    (5, 0x01c4),
    (9, 0x01c7),
    (13, 0x01ca),
    (17, 0x01f1),
    (21, 0x0345),
    (26, 0x00b5),
    (30, 0x03a3),
    (34, 0x0392),
    (38, 0x0398),
    (43, 0x03a6),
    (47, 0x03a0),
    (51, 0x039a),
    (55, 0x03a1),
    (59, 0x0395),
    (63, 0x1e60),
    (67, 0x03a9),
    (71, 0x004b),
    (75, 0x00c5),
];

/// Properties by the type's number, from [`FIRST_SPECIAL`] on.
const SPECIAL: &[&str] = &["Xan", "Xsp", "Xps", "Xwd"];
const FIRST_SPECIAL: u8 = 5;
/// Types that only classes have, from [`FIRST_POSIX`] on.
const POSIX: &[&str] = &["graph", "print", "punct"];
const FIRST_POSIX: u8 = 11;
const WORD: u8 = 8;
const CASELESS_SET: u8 = 9;

/// The member of a set of code points that are equal but for case.
pub fn caseless_set(kind: u8, value: u8) -> Option<u32> {
    let set = CASELESS_SETS.iter().find(|(number, _)| *number == value);
    set.filter(|_| kind == CASELESS_SET).map(|(_, c)| *c)
}

/// A property's name within braces. The scripts are those that characters have, not all that they
/// are used with, which PCRE2 means by a script's name alone.
fn name(kind: u8, value: u8) -> Option<String> {
    let in_table = |table: &[&str]| table.get(value as usize).map(|n| n.to_string());
    match kind {
        0 => Some("Any".to_owned()),
        1 => Some("L&".to_owned()),
        2 => in_table(CATEGORIES),
        3 => in_table(SUBCATEGORIES),
        4 => in_table(SCRIPTS).map(|n| format!("sc:{n}")),
        10 => Some("Xuc".to_owned()),
        _ => {
            let special = SPECIAL.get(kind.checked_sub(FIRST_SPECIAL)? as usize);
            special.map(|n| n.to_string())
        }
    }
}

/// A property as an item of a pattern. PCRE2's word characters are more than PCRE 8's.
pub fn item(not: bool, kind: u8, value: u8) -> Option<String> {
    match (kind, not) {
        (WORD, false) => Some(r"[\p{L}\p{N}_]".to_owned()),
        (WORD, true) => Some(r"[^\p{L}\p{N}_]".to_owned()),
        _ => name(kind, value).map(|n| format!(r"\{}{{{n}}}", if not { 'P' } else { 'p' })),
    }
}

/// What PCRE2 counts as a word character beyond PCRE 8, in UTF mode: marks, and connectors other than
/// the underscore. The exclamation mark is none in either, but with it the class has a bitmap. Without
/// one, PCRE2 10.46 takes all of Latin-1 to be in a list of characters that begins with a range from
/// U+0100 on.
const NO_WORD_CHARACTERS_OF_PCRE8: &str =
    r"!\p{Mn}\x{203f}\x{2040}\x{2054}\x{fe33}\x{fe34}\x{fe4d}-\x{fe4f}\x{ff3f}";

/// A property as a part of a class.
pub fn in_class(not: bool, kind: u8, value: u8, utf: bool) -> Option<String> {
    if let Some(n) = kind.checked_sub(FIRST_POSIX).and_then(|i| POSIX.get(i as usize)) {
        return Some(format!("[:{}{n}:]", if not { "^" } else { "" }));
    }
    match (kind, not) {
        (WORD, false) => Some(r"\p{L}\p{N}_".to_owned()),
        (WORD, true) if utf => Some(format!(r"\P{{Xwd}}{NO_WORD_CHARACTERS_OF_PCRE8}")),
        _ => name(kind, value).map(|n| format!(r"\{}{{{n}}}", if not { 'P' } else { 'p' })),
    }
}
