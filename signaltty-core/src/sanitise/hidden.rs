//! Which characters would not be seen where they stand, or would change how others are seen.

use unicode_properties::{
    GeneralCategory, GeneralCategoryGroup, UnicodeEmoji, UnicodeGeneralCategory,
};

/// A sort of hidden character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Hidden {
    /// Controls: they move a terminal's cursor, change its state, end lines where none seems to end.
    Control,
    /// Marks that change the direction of the text around them.
    Bidirectional,
    /// Characters without width, joiners and selectors out of place.
    ZeroWidth,
    /// Tags: invisible copies of ASCII.
    Tag,
    /// Letters and symbols that look like nothing, and in code spaces other than the space.
    Blank,
    /// Private and unassigned characters: what they look like is anybody's guess.
    Unknown,
    /// More accents on one letter than any script needs: they would cover the lines around them.
    Stacked,
}

impl Hidden {
    /// All sorts, in the order in which they are named.
    pub const ALL: [Self; 7] = [
        Self::Control,
        Self::Bidirectional,
        Self::ZeroWidth,
        Self::Tag,
        Self::Blank,
        Self::Unknown,
        Self::Stacked,
    ];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Control => "control",
            Self::Bidirectional => "bidirectional",
            Self::ZeroWidth => "zero-width",
            Self::Tag => "tag",
            Self::Blank => "blank",
            Self::Unknown => "unknown",
            Self::Stacked => "stacked",
        }
    }
}

/// How much stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strictness {
    /// What its script or its emoji needs.
    Prose,
    /// Only what can be seen.
    Code,
}

/// Accents that may follow one another. Vietnamese needs two, Hebrew with cantillation about five.
const ACCENTS_MAX: usize = 8;

/// What stands around a character.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Neighbours {
    /// The one before, as far as it is shown as it is.
    before: Option<char>,
    /// How many accents come just before.
    accents: usize,
    /// The one after.
    pub(super) next: Option<char>,
}

impl Neighbours {
    /// That one is shown as it is.
    pub(super) fn passed(&mut self, c: char) {
        self.before = Some(c);
        self.accents = if is_accent(c) { self.accents + 1 } else { 0 };
    }

    /// Something was written out: nothing joins across it.
    pub(super) fn broken(&mut self) {
        self.before = None;
    }
}

/// What sort of hidden character this is where it stands, if it is one.
pub(super) fn sort(c: char, around: &Neighbours, strictness: Strictness) -> Option<Hidden> {
    let prose = strictness == Strictness::Prose;
    match c {
        '\n' | '\t' | ' '..='~' => None,
        '\r' if prose && around.next == Some('\n') => None,
        '\u{061c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}' => Some(Hidden::Bidirectional),
        '\u{200c}' | '\u{200d}' if joins(c, around, prose) => None,
        '\u{fe00}'..='\u{fe0f}'
        | '\u{e0100}'..='\u{e01ef}'
        | '\u{180b}'..='\u{180d}'
        | '\u{180f}' => (!selects(c, around, prose)).then_some(Hidden::ZeroWidth),
        '\u{e0000}'..='\u{e007f}' => Some(Hidden::Tag),
        // Letters, marks and symbols that are drawn as nothing.
        '\u{034f}' | '\u{17b4}' | '\u{17b5}' => Some(Hidden::ZeroWidth),
        '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}' | '\u{1d159}' => {
            Some(Hidden::Blank)
        }
        // Format characters that are drawn: signs that embrace a number or an abbreviation.
        '\u{0600}'..='\u{0605}'
        | '\u{06dd}'
        | '\u{070f}'
        | '\u{0890}'
        | '\u{0891}'
        | '\u{08e2}' => None,
        _ => by_category(c, around, prose),
    }
}

fn by_category(c: char, around: &Neighbours, prose: bool) -> Option<Hidden> {
    match c.general_category() {
        GeneralCategory::Control
        | GeneralCategory::LineSeparator
        | GeneralCategory::ParagraphSeparator => Some(Hidden::Control),
        GeneralCategory::Format => Some(Hidden::ZeroWidth),
        GeneralCategory::SpaceSeparator => (!prose).then_some(Hidden::Blank),
        GeneralCategory::PrivateUse | GeneralCategory::Unassigned | GeneralCategory::Surrogate => {
            Some(Hidden::Unknown)
        }
        GeneralCategory::NonspacingMark | GeneralCategory::EnclosingMark => {
            (around.accents >= ACCENTS_MAX).then_some(Hidden::Stacked)
        }
        _ => None,
    }
}

/// Whether a joiner does there what it is for: it makes one emoji of two, or shapes letters of a script that
/// is written with joiners. The latter is not seen, so it does not stay in code.
fn joins(c: char, around: &Neighbours, prose: bool) -> bool {
    let (Some(before), Some(next)) = (around.before, around.next) else {
        return false;
    };
    let emoji = c == '\u{200d}' && ends_emoji(before) && is_pictograph(next);
    emoji || (prose && is_joining_script(before) && is_joining_script(next))
}

/// Whether a variation selector chooses a form of the character before it.
fn selects(c: char, around: &Neighbours, prose: bool) -> bool {
    let Some(before) = around.before else {
        return false;
    };
    match c {
        // Text or emoji form; of a digit only within a keycap.
        '\u{fe0e}' | '\u{fe0f}' => {
            is_pictograph(before) || (before.is_emoji_char() && around.next == Some('\u{20e3}'))
        }
        '\u{180b}'..='\u{180d}' | '\u{180f}' => {
            prose && ('\u{1800}'..='\u{18af}').contains(&before)
        }
        _ => prose && is_ideograph(before),
    }
}

fn is_pictograph(c: char) -> bool {
    !c.is_ascii() && c.is_emoji_char()
}

/// The last character of an emoji: itself, its form, or its skin.
fn ends_emoji(c: char) -> bool {
    is_pictograph(c) || c == '\u{fe0f}' || ('\u{1f3fb}'..='\u{1f3ff}').contains(&c)
}

fn is_accent(c: char) -> bool {
    c.general_category_group() == GeneralCategoryGroup::Mark
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// A letter or mark of a script in which joiners shape words: Arabic and its kin, those of India and its
/// neighbours, Mongolian, Adlam.
fn is_joining_script(c: char) -> bool {
    let script = matches!(c,
        '\u{0600}'..='\u{08ff}' | '\u{0900}'..='\u{0dff}' | '\u{0f00}'..='\u{109f}' | '\u{1780}'..='\u{18af}'
        | '\u{1a00}'..='\u{1cff}' | '\u{a800}'..='\u{abff}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}'
        | '\u{10a00}'..='\u{10fff}' | '\u{11000}'..='\u{11fff}' | '\u{1e900}'..='\u{1e95f}');
    script
        && matches!(
            c.general_category_group(),
            GeneralCategoryGroup::Letter | GeneralCategoryGroup::Mark
        )
}
