//! The colours that queries are answered with: what a program set, else what the latest viewer shows.

use alacritty_terminal::vte::ansi::Rgb;

use crate::protocol::params::Colors;

/// Text, where no viewer ever said.
const FOREGROUND: Rgb = Rgb {
    r: 0xD0,
    g: 0xD0,
    b: 0xD0,
};
/// Background, where no viewer ever said.
const BACKGROUND: Rgb = Rgb {
    r: 0x00,
    g: 0x00,
    b: 0x00,
};
/// The first 16 of the palette, where no viewer ever said: xterm's.
const PALETTE: [u32; 16] = [
    0x000000, 0xCD0000, 0x00CD00, 0xCDCD00, 0x0000EE, 0xCD00CD, 0x00CDCD, 0xE5E5E5, 0x7F7F7F,
    0xFF0000, 0x00FF00, 0xFFFF00, 0x5C5CFF, 0xFF00FF, 0x00FFFF, 0xFFFFFF,
];
/// The levels of the palette's colour cube (16 to 231).
const CUBE: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// What a viewer shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewerColors {
    foreground: Rgb,
    background: Rgb,
    cursor: Rgb,
    palette: [Rgb; 16],
}

impl From<&Colors> for ViewerColors {
    /// What does not parse as `#rrggbb` counts as not said.
    fn from(colors: &Colors) -> Self {
        let parse = |text: &Option<String>| text.as_deref().and_then(parse);
        let foreground = parse(&colors.foreground).unwrap_or(FOREGROUND);
        let mut palette = PALETTE.map(rgb);
        for (slot, text) in palette.iter_mut().zip(&colors.palette) {
            *slot = self::parse(text).unwrap_or(*slot);
        }
        Self {
            foreground,
            background: parse(&colors.background).unwrap_or(BACKGROUND),
            cursor: parse(&colors.cursor).unwrap_or(foreground),
            palette,
        }
    }
}

impl ViewerColors {
    /// Index as in a query: 0 to 255 of the palette, 256 text, 257 background, 258 cursor.
    pub fn get(&self, index: usize) -> Option<Rgb> {
        match index {
            0..=15 => Some(self.palette[index]),
            16..=231 => {
                let level = |step: usize| CUBE[(index - 16) / step % 6];
                Some(Rgb {
                    r: level(36),
                    g: level(6),
                    b: level(1),
                })
            }
            232..=255 => {
                let grey = u8::try_from(8 + 10 * (index - 232)).unwrap_or(u8::MAX);
                Some(Rgb {
                    r: grey,
                    g: grey,
                    b: grey,
                })
            }
            256 => Some(self.foreground),
            257 => Some(self.background),
            258 => Some(self.cursor),
            _ => None,
        }
    }
}

fn rgb(value: u32) -> Rgb {
    let [_, r, g, b] = value.to_be_bytes();
    Rgb { r, g, b }
}

fn parse(text: &str) -> Option<Rgb> {
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6)?;
    u32::from_str_radix(digits, 16).ok().map(rgb)
}
