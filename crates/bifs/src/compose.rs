//! How `prim_file:internal_normalize_utf8/1` combines letters and marks: like OTP, which differs
//! from Unicode's NFC. It follows the tables of an old file system: pairs that Unicode has since
//! excluded or corrected, other forms of some Greek letters, and no canonical order of marks.

use std::collections::HashMap;
use std::sync::OnceLock;

/// A mark with its pairs: a base character, and base and mark combined.
#[rustfmt::skip]
const PAIRS: &[(char, &str)] = &[
    (
        '\u{300}',
        "AÀEÈIÌNǸOÒUÙWẀYỲaàeèiìnǹoòuùwẁyỳ¨῭ÂẦÊỀÔỒÜǛâầêềôồüǜĂẰăằĒḔēḕŌṐōṑƠỜơờƯỪưừΑᾺΕῈΗῊΙῚΟῸΥῪΩῺαὰεὲ\
         ηὴιὶοὸυὺωὼϊῒϋῢЕЀИЍеѐиѝἀἂἁἃἈἊἉἋἐἒἑἓἘἚἙἛἠἢἡἣἨἪἩἫἰἲἱἳἸἺἹἻὀὂὁὃὈὊὉὋὐὒὑὓὙὛὠὢὡὣὨὪὩὫ᾿῍῾῝",
    ),
    (
        '\u{301}',
        "AÁCĆEÉGǴIÍKḰLĹMḾNŃOÓPṔRŔSŚUÚWẂYÝZŹaácćeégǵiíkḱlĺmḿnńoópṕrŕsśuúwẃyýzź¨΅ÂẤÅǺÆǼÇḈÊẾÏḮÔỐÕṌØǾ\
         ÜǗâấåǻæǽçḉêếïḯôốõṍøǿüǘĂẮăắĒḖēḗŌṒōṓŨṸũṹƠỚơớƯỨưứ\u{308}\u{344}ΑΆΕΈΗΉΙΊΟΌΥΎΩΏαάεέηήιίοόυύωώ\
         ϊΐϋΰϒϓГЃКЌгѓкќἀἄἁἅἈἌἉἍἐἔἑἕἘἜἙἝἠἤἡἥἨἬἩἭἰἴἱἵἸἼἹἽὀὄὁὅὈὌὉὍὐὔὑὕὙὝὠὤὡὥὨὬὩὭ᾿῎῾῞",
    ),
    ('\u{302}', "AÂCĈEÊGĜHĤIÎJĴOÔSŜUÛWŴYŶZẐaâcĉeêgĝhĥiîjĵoôsŝuûwŵyŷzẑẠẬạậẸỆẹệỌỘọộ"),
    ('\u{303}', "AÃEẼIĨNÑOÕUŨVṼYỸaãeẽiĩnñoõuũvṽyỹÂẪÊỄÔỖâẫêễôỗĂẴăẵƠỠơỡƯỮưữ"),
    (
        '\u{304}',
        "AĀEĒGḠIĪOŌUŪYȲaāeēgḡiīoōuūyȳÄǞÆǢÕȬÖȪÜǕäǟæǣõȭöȫüǖǪǬǫǭȦǠȧǡȮȰȯȱΑᾹΙῙΥῩαᾱιῑυῡИӢУӮиӣуӯḶḸḷḹṚṜṛṝ",
    ),
    ('\u{306}', "AĂEĔGĞIĬOŎUŬaăeĕgğiĭoŏuŭȨḜȩḝΑᾸΙῘΥῨαᾰιῐυῠАӐЕӖЖӁИЙУЎаӑеӗжӂийуўẠẶạặ"),
    (
        '\u{307}',
        "AȦBḂCĊDḊEĖFḞGĠHḢIİMṀNṄOȮPṖRṘSṠTṪWẆXẊYẎZŻaȧbḃcċdḋeėfḟgġhḣmṁnṅoȯpṗrṙsṡtṫwẇxẋyẏzżŚṤśṥŠṦšṧſẛ\
         \u{306}\u{310}ṢṨṣṩ",
    ),
    (
        '\u{308}',
        "AÄEËHḦIÏOÖUÜWẄXẌYŸaäeëhḧiïoötẗuüwẅxẍyÿÕṎõṏŪṺūṻƏӚƟӪəӛɵӫΙΪΥΫιϊυϋϒϔІЇАӒЕЁЖӜЗӞИӤОӦУӰЧӴЫӸЭӬаӓ\
         еёжӝзӟиӥоӧуӱчӵыӹэӭіїӘӚәӛӨӪөӫ",
    ),
    ('\u{309}', "AẢEẺIỈOỎUỦYỶaảeẻiỉoỏuủyỷÂẨÊỂÔỔâẩêểôổĂẲăẳƠỞơởƯỬưử"),
    ('\u{30a}', "AÅUŮaåuůwẘyẙ"),
    ('\u{30b}', "OŐUŰoőuűУӲуӳ"),
    ('\u{30c}', "AǍCČDĎEĚGǦHȞIǏKǨLĽNŇOǑRŘSŠTŤUǓZŽaǎcčdďeěgǧhȟiǐjǰkǩlľnňoǒrřsštťuǔzžÜǙüǚƷǮʒǯ"),
    ('\u{30d}', "¨΅ΑΆΕΈΗΉΙΊΟΌΥΎΩΏαάεέηήιίοόυύωώϊΐϋΰϒϓ"),
    ('\u{30f}', "AȀEȄIȈOȌRȐUȔaȁeȅiȉoȍrȑuȕѴѶѵѷ"),
    ('\u{311}', "AȂEȆIȊOȎRȒUȖaȃeȇiȋoȏrȓuȗ"),
    ('\u{313}', "ΑἈΕἘΗἨΙἸΟὈΩὨαἀεἐηἠιἰοὀρῤυὐωὠ"),
    ('\u{314}', "ΑἉΕἙΗἩΙἹΟὉΡῬΥὙΩὩαἁεἑηἡιἱοὁρῥυὑωὡ"),
    ('\u{31b}', "OƠUƯoơuư"),
    (
        '\u{323}',
        "AẠBḄDḌEẸHḤIỊKḲLḶMṂNṆOỌRṚSṢTṬUỤVṾWẈYỴZẒaạbḅdḍeẹhḥiịkḳlḷmṃnṇoọrṛsṣtṭuụvṿwẉyỵzẓƠỢơợƯỰưự",
    ),
    ('\u{324}', "UṲuṳ"),
    ('\u{325}', "AḀaḁ"),
    ('\u{326}', "SȘTȚsștț"),
    ('\u{327}', "CÇDḐEȨGĢHḨKĶLĻNŅRŖSŞTŢcçdḑeȩgģhḩkķlļnņrŗsştţ"),
    ('\u{328}', "AĄEĘIĮOǪUŲaąeęiįoǫuų"),
    ('\u{32d}', "DḒEḘLḼNṊTṰUṶdḓeḙlḽnṋtṱuṷ"),
    ('\u{32e}', "HḪhḫ"),
    ('\u{330}', "EḚIḬUṴeḛiḭuṵ"),
    ('\u{331}', "BḆDḎKḴLḺNṈRṞTṮZẔbḇdḏhẖkḵlḻnṉrṟtṯzẕ"),
    (
        '\u{338}',
        "<≮=≠>≯←↚→↛↔↮⇐⇍⇒⇏⇔⇎∃∄∈∉∋∌∣∤∥∦∼≁≃≄≅≇≈≉≍≭≡≢≤≰≥≱≲≴≳≵≶≸≷≹≺⊀≻⊁≼⋠≽⋡⊂⊄⊃⊅⊆⊈⊇⊉⊑⋢⊒⋣⊢⊬⊨⊭⊩⊮⊫⊯⊲⋪⊳⋫⊴⋬⊵⋭\
         ⫝⫝̸",
    ),
    ('\u{342}', "¨῁αᾶηῆιῖυῦωῶϊῗϋῧἀἆἁἇἈἎἉἏἠἦἡἧἨἮἩἯἰἶἱἷἸἾἹἿὐὖὑὗὙὟὠὦὡὧὨὮὩὯ᾿῏῾῟"),
    (
        '\u{345}',
        "ΑᾼΗῌΩῼάᾴήῄαᾳηῃωῳόῴώῴἀᾀἁᾁἂᾂἃᾃἄᾄἅᾅἆᾆἇᾇἈᾈἉᾉἊᾊἋᾋἌᾌἍᾍἎᾎἏᾏἠᾐἡᾑἢᾒἣᾓἤᾔἥᾕἦᾖἧᾗἨᾘἩᾙἪᾚἫᾛἬᾜἭᾝἮᾞἯᾟὠᾠὡᾡ\
         ὢᾢὣᾣὤᾤὥᾥὦᾦὧᾧὨᾨὩᾩὪᾪὫᾫὬᾬὭᾭὮᾮὯᾯὰᾲὴῂὼῲᾶᾷῆῇῶῷ",
    ),
    ('\u{5b4}', "\u{5d9}\u{fb1d}"),
    ('\u{5b7}', "\u{5d0}\u{fb2e}\u{5f2}\u{fb1f}"),
    ('\u{5b8}', "\u{5d0}\u{fb2f}"),
    ('\u{5b9}', "\u{5d5}\u{fb4b}"),
    (
        '\u{5bc}',
        "\u{5d0}\u{fb30}\u{5d1}\u{fb31}\u{5d2}\u{fb32}\u{5d3}\u{fb33}\u{5d4}\u{fb34}\
         \u{5d5}\u{fb35}\u{5d6}\u{fb36}\u{5d8}\u{fb38}\u{5d9}\u{fb39}\u{5da}\u{fb3a}\
         \u{5db}\u{fb3b}\u{5dc}\u{fb3c}\u{5de}\u{fb3e}\u{5e0}\u{fb40}\u{5e1}\u{fb41}\
         \u{5e3}\u{fb43}\u{5e4}\u{fb44}\u{5e6}\u{fb46}\u{5e7}\u{fb47}\u{5e8}\u{fb48}\
         \u{5e9}\u{fb49}\u{5ea}\u{fb4a}",
    ),
    ('\u{5bf}', "\u{5d1}\u{fb4c}\u{5db}\u{fb4d}\u{5e4}\u{fb4e}"),
    ('\u{5c1}', "\u{5e9}\u{fb2a}\u{fb49}\u{fb2c}"),
    ('\u{5c2}', "\u{5e9}\u{fb2b}\u{fb49}\u{fb2d}"),
    ('\u{653}', "\u{627}\u{622}"),
    (
        '\u{654}',
        "\u{627}\u{623}\u{648}\u{624}\u{64a}\u{626}\u{6c1}\u{6c2}\u{6d2}\u{6d3}\u{6d5}\u{6c0}",
    ),
    ('\u{655}', "\u{627}\u{625}"),
    ('\u{93c}', "कक़खख़गग़जज़डड़ढढ़नऩफफ़यय़रऱळऴ"),
    ('\u{9bc}', "ডড়ঢঢ়বরযয়"),
    ('\u{9be}', "\u{9c7}\u{9cb}"),
    ('\u{9d7}', "\u{9c7}\u{9cc}"),
    ('\u{a3c}', "ਖਖ਼ਗਗ਼ਜਜ਼ਡੜਫਫ਼ਲਲ਼ਸਸ਼"),
    ('\u{b3c}', "ଡଡ଼ଢଢ଼ଯୟ"),
    ('\u{b3e}', "\u{b47}\u{b4b}"),
    ('\u{b56}', "\u{b47}\u{b48}"),
    ('\u{b57}', "\u{b47}\u{b4c}"),
    ('\u{bbe}', "\u{bc6}\u{bca}\u{bc7}\u{bcb}"),
    ('\u{bd7}', "ஒஔ\u{bc6}\u{bcc}"),
    ('\u{c56}', "\u{c46}\u{c48}"),
    ('\u{cc2}', "\u{cc6}\u{cca}"),
    ('\u{cd5}', "\u{cbf}\u{cc0}\u{cc6}\u{cc7}\u{cca}\u{ccb}"),
    ('\u{cd6}', "\u{cc6}\u{cc8}"),
    ('\u{d3e}', "\u{d46}\u{d4a}\u{d47}\u{d4b}"),
    ('\u{d57}', "\u{d46}\u{d4c}"),
    ('\u{dca}', "\u{dd9}\u{dda}\u{ddc}\u{ddd}"),
    ('\u{dcf}', "\u{dd9}\u{ddc}"),
    ('\u{ddf}', "\u{dd9}\u{dde}"),
    ('\u{e32}', "\u{e4d}ำ"),
    ('\u{eb2}', "\u{ecd}ຳ"),
    ('\u{f71}', "\u{f72}\u{f73}\u{f74}\u{f75}\u{f76}\u{f77}\u{f78}\u{f79}"),
    ('\u{f72}', "\u{f71}\u{f73}"),
    ('\u{f74}', "\u{f71}\u{f75}"),
    ('\u{f80}', "\u{f71}\u{f81}\u{fb2}\u{f76}\u{fb3}\u{f78}"),
    ('\u{fb5}', "ཀཀྵ\u{f90}\u{fb9}"),
    ('\u{fb7}', "གགྷཌཌྷདདྷབབྷཛཛྷ\u{f92}\u{f93}\u{f9c}\u{f9d}\u{fa1}\u{fa2}\u{fa6}\u{fa7}\u{fab}\u{fac}"),
    ('\u{102e}', "ဥဦ"),
    (
        '\u{1b35}',
        "ᬅᬆᬇᬈᬉᬊᬋᬌᬍᬎᬑᬒ\u{1b3a}\u{1b3b}\u{1b3c}\u{1b3d}\u{1b3e}\u{1b40}\u{1b3f}\u{1b41}\
         \u{1b42}\u{1b43}",
    ),
    (
        '\u{3099}',
        "うゔかがきぎくぐけげこごさざしじすずせぜそぞただちぢつづてでとどはばひびふぶへべほぼゝゞウヴカガキギクグケゲコゴサザシジスズセゼソゾタダチヂツヅテデトドハバヒビフブヘベホボワヷ\
         ヰヸヱヹヲヺヽヾ",
    ),
    ('\u{309a}', "はぱひぴふぷへぺほぽハパヒピフプヘペホポ"),
];
/// Letters combined with this mark are replaced by their other form in `FORMS`.
const ACUTE: char = '\u{301}';
const FORMS: &str = "΅΅ΆΆΈΈΉΉΊΊΌΌΎΎΏΏΐΐάάέέήήίίΰΰόόύύώώ";
/// Combined last, wherever it stands among the marks.
const IOTA: char = '\u{345}';

fn pairs() -> &'static HashMap<(char, char), char> {
    static TABLE: OnceLock<HashMap<(char, char), char>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut t = HashMap::new();
        for &(mark, of) in PAIRS {
            t.extend(two_by_two(of).map(|(base, made)| ((base, mark), made)));
        }
        t
    })
}
fn two_by_two(s: &str) -> impl Iterator<Item = (char, char)> + '_ {
    s.chars().step_by(2).zip(s.chars().skip(1).step_by(2))
}

/// A text with all pairs combined.
pub fn composed(s: &str) -> Vec<char> {
    let mut all = Vec::new();
    let mut rest = s.chars().peekable();
    while let Some(first) = rest.next() {
        let (mut made, mut iota, mut last) = (first, false, ' ');
        while let Some(&next) = rest.peek() {
            match pairs().get(&(made, next)) {
                _ if next == IOTA && !iota => iota = true,
                Some(&c) => (made, last) = (c, next),
                None => break,
            }
            rest.next();
        }
        let with_iota = pairs().get(&(made, IOTA)).filter(|_| iota);
        made = with_iota.copied().unwrap_or(made);
        let form = two_by_two(FORMS).find(|(a, _)| *a == made && last == ACUTE);
        all.push(form.map_or(made, |(_, b)| b));
        all.extend((iota && with_iota.is_none()).then_some(IOTA));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combines_marks_with_base_characters() {
        let composed = |s: &str| composed(s).into_iter().collect::<String>();
        for (from, to) in [
            ("abc\u{e4}", "abc\u{e4}"),
            ("A\u{302}\u{300}x", "\u{1ea6}x"),
            ("\u{3b1}\u{345}\u{313}\u{300}", "\u{1f82}"),
            ("\u{3b1}\u{301}", "\u{1f71}"),
            ("\u{3b1}\u{30d}\u{3ac}", "\u{3ac}\u{3ac}"),
            ("x\u{345}\u{300}", "x\u{345}\u{300}"),
            ("\u{345}", "\u{345}"),
        ] {
            assert_eq!(composed(from), to);
        }
    }
}
