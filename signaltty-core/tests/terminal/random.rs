//! Random output of programs: text of every width and the control sequences that matter, often at the margins.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseResult, TestError, TestRng, TestRunner};

/// How many cases a property runs. More by hand: `SIGNALTTY_CASES=10000`, which also takes new random numbers.
fn runner(cases: u32) -> TestRunner {
    let more = std::env::var("SIGNALTTY_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok());
    let config = Config {
        cases: more.unwrap_or(cases),
        failure_persistence: None,
        ..Config::default()
    };
    if more.is_some() {
        return TestRunner::new(config);
    }
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z ]{1,12}",
        1 => "[a-z]{20,60}",
        1 => "[日本語한글]{1,9}",
        1 => "[e\u{301}\u{308}日\u{200d}]{1,6}",
        1 => "[🙂é·«│─█a]{1,5}",
        2 => prop::sample::select(vec!["\r\n", "\n", "\r", "\t", "\x08", "\x0b", "\x0e", "\x0f", "\r\n\r\n\r\n"])
            .prop_map(str::to_owned),
    ]
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => Just(String::new()),
        6 => (0_u32..8).prop_map(|n| n.to_string()),
        2 => (0_u32..40).prop_map(|n| n.to_string()),
        1 => prop::sample::select(vec!["65535", "99999999"]).prop_map(str::to_owned),
    ]
}

fn csi() -> impl Strategy<Value = String> {
    let last = prop::sample::select(
        "@ABCDEFGHIJKLMPSTXZ`abdefgmrsuh"
            .chars()
            .collect::<Vec<_>>(),
    );
    (number(), number(), last).prop_map(|(a, b, last)| match last {
        'H' | 'f' | 'r' => format!("\x1b[{a};{b}{last}"),
        'h' => format!("\x1b[4{}", if a.is_empty() { 'h' } else { 'l' }),
        _ => format!("\x1b[{a}{last}"),
    })
}

fn sgr() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "0",
            "1",
            "2",
            "3",
            "4",
            "4:2",
            "4:3",
            "4:4",
            "4:5",
            "7",
            "8",
            "9",
            "21",
            "22",
            "23",
            "24",
            "27",
            "28",
            "29",
            "31",
            "39",
            "42",
            "49",
            "97",
            "104",
            "38;5;3",
            "48;5;200",
            "38;2;1;2;3",
            "48:2::9:8:7",
            "58:5:9",
            "58:2::1:2:3",
            "59",
            "41;1",
            "0;44",
        ])
        .prop_map(|parameters| format!("\x1b[{parameters}m")),
    ]
}

fn mode() -> impl Strategy<Value = String> {
    let modes = vec![
        1, 3, 5, 6, 6, 7, 7, 9, 12, 25, 47, 66, 1000, 1002, 1004, 1006, 1048, 1049, 1049, 2004,
        2026, 7777,
    ];
    (prop::sample::select(modes), any::<bool>())
        .prop_map(|(mode, set)| format!("\x1b[?{mode}{}", if set { 'h' } else { 'l' }))
}

fn escape() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "\x1b7", "\x1b8", "\x1bD", "\x1bE", "\x1bM", "\x1bH", "\x1b=", "\x1b>", "\x1b(0", "\x1b(B",
        "\x1b)0", "\x1b*0", "\x1b(A", "\x1b#8", "\x1bc", "\x1b[!p", "\x1b[3g", "\x1b[?5W",
        "\x1b[2J", "\x1b[3J", "\x1b[H", "\x1b[K", "\x1b[1K", "\x1b[J", "\x1b[1J", "\x1b[5 q",
        "\x1b[0 q", "\x1b[20h",
    ])
    .prop_map(str::to_owned)
}

fn osc() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "\x1b]0;title\x07",
        "\x1b]2;other\x1b\\",
        "\x1b]8;;https://a.example/\x1b\\",
        "\x1b]8;id=x;https://b.example/;y\x07",
        "\x1b]8;;\x07",
        "\x1b]4;1;#102030\x07",
        "\x1b]10;rgb:11/22/33\x07",
        "\x1b]104\x07",
        "\x1b]110\x07",
        "\x1b]133;A\x07",
        "\x1b]9;done\x07",
        "\x1b]7;file:///tmp\x07",
    ])
    .prop_map(str::to_owned)
}

/// Questions, and what would make a viewer talk.
pub const QUERIES: &[&str] = &[
    "\x1b[c",
    "\x1b[0c",
    "\x1b[>c",
    "\x1b[=c",
    "\x1bZ",
    "\x1b[5n",
    "\x1b[6n",
    "\x1b[?6n",
    "\x1b[?15n",
    "\x1b[?996n",
    "\x1b[?2026$p",
    "\x1b[?25$p",
    "\x1b[4$p",
    "\x1b[>q",
    "\x1b[>0q",
    "\x1bP$qm\x1b\\",
    "\x1bP$q q\x1b\\",
    "\x1bP+q544e;436f\x1b\\",
    "\x1b]4;1;?\x07",
    "\x1b]10;?\x1b\\",
    "\x1b]11;?\x07",
    "\x1b]12;?\x07",
    "\x1b]10;?;?\x07",
    "\x1b[14t",
    "\x1b[16t",
    "\x1b[18t",
    "\x1b[19t",
    "\x1b[20t",
    "\x1b[21t",
    "\x1b[?u",
    "\x1b[>1u",
    "\x1b[x",
    "\x1b[?1;1;0S",
    "\x1b[1;1;1;1;1;1*y",
    "\x1b]52;c;?\x07",
    "\x1b]50;?\x07",
    "\x1b_Gi=1,a=q;AAAA\x1b\\",
    "\x05",
    "\u{9b}6n",
    "\u{9d}11;?\u{9c}",
    "\u{90}+q544e\u{9c}",
    "\x1b[?4m",
    "\x1b[>4;2m",
    "\x1b]99;i=1:p=?;\x1b\\",
    "\x1b[6\nn",
    "\x1b[\x08c",
];

fn query() -> impl Strategy<Value = String> {
    prop::sample::select(QUERIES).prop_map(str::to_owned)
}

/// Bytes that are no text, and sequences cut off.
fn garbage() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 1..6),
        prop::sample::select(vec![
            b"\x1b[1;\x18".to_vec(),
            b"\x1b[\xe2\x94".to_vec(),
            b"\x1b]0;x\x1b[".to_vec(),
            b"\xc2".to_vec(),
            b"\xe2\x82".to_vec(),
            b"\xf0\x9f".to_vec(),
            b"\x1b[1;2:3?5h".to_vec(),
            b"\x1bP1;2q\x1b".to_vec(),
            b"\xff\xfe".to_vec(),
            b"\x9b6n".to_vec(),
        ]),
    ]
}

/// Output that a well-behaved program could write, queries included if `queries`.
pub fn program(queries: bool) -> impl Strategy<Value = Vec<u8>> {
    let token = prop_oneof![
        8 => text(),
        5 => csi(),
        3 => sgr(),
        2 => mode(),
        2 => escape(),
        1 => osc(),
        (if queries { 3 } else { 1 }) => query(),
    ];
    prop::collection::vec(token, 0..60).prop_map(|tokens| tokens.concat().into_bytes())
}

/// The same with garbage in it.
pub fn anything() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![3 => program(true), 1 => garbage()];
    prop::collection::vec(part, 0..6).prop_map(|parts| parts.concat())
}

/// Terminal sizes, small ones most.
pub fn size() -> impl Strategy<Value = (u16, u16)> {
    prop_oneof![4 => (2_u16..24, 1_u16..8), 1 => Just((80_u16, 24_u16)), 1 => (1_u16..4, 1_u16..4)]
}

/// Runs a property over random values; its failure names the smallest case, bytes readably.
pub fn check<S: Strategy>(
    cases: u32,
    strategy: &S,
    property: impl Fn(S::Value) -> TestCaseResult,
    show: impl Fn(&S::Value) -> String,
) {
    match runner(cases).run(strategy, property) {
        Ok(()) => (),
        Err(TestError::Fail(reason, value)) => panic!("{reason}\n--- case\n{}", show(&value)),
        Err(error) => panic!("{error}"),
    }
}

/// Bytes as a string literal would have them.
pub fn readable(bytes: &[u8]) -> String {
    format!("b\"{}\"", bytes.escape_ascii())
}
