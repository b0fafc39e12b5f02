//! Colours of the terminal, light and dark. Everything outside the terminal takes its colours from the theme.

use gtk::gdk;
use signaltty_core::protocol::params::Colors;

/// One set of colours, as `0xRRGGBB`.
struct Palette {
    foreground: u32,
    background: u32,
    colours: [u32; 16],
}

/// GNOME's own sixteen, which every program for a GNOME terminal was tried with.
const COLOURS: [u32; 16] = [
    0x24_1f31, 0xc0_1c28, 0x2e_c27e, 0xf5_c211, 0x1e_78e4, 0x98_41bb, 0x0a_b9dc, 0xc0_bfbc,
    0x5e_5c64, 0xed_333b, 0x57_e389, 0xf8_e45c, 0x51_a1ff, 0xc0_61cb, 0x4f_d2fd, 0xf6_f5f4,
];
/// The same, darkened where light text on white could not be read.
const COLOURS_ON_LIGHT: [u32; 16] = [
    0x24_1f31, 0xc0_1c28, 0x1b_8553, 0x9c_6e03, 0x1a_5fb4, 0x81_3d9c, 0x0b_7f97, 0x77_767b,
    0x5e_5c64, 0xed_333b, 0x26_a269, 0xb5_8400, 0x35_84e4, 0xc0_61cb, 0x21_90a4, 0x9a_9996,
];
const DARK: Palette = Palette {
    foreground: 0xff_ffff,
    background: 0x1e_1e1e,
    colours: COLOURS,
};
const LIGHT: Palette = Palette {
    foreground: 0x1e_1e1e,
    background: 0xff_ffff,
    colours: COLOURS_ON_LIGHT,
};

fn palette(dark: bool) -> &'static Palette {
    if dark { &DARK } else { &LIGHT }
}

/// Foreground, background and the sixteen colours for the widget.
pub fn rgba(dark: bool) -> (gdk::RGBA, gdk::RGBA, Vec<gdk::RGBA>) {
    let palette = palette(dark);
    (
        one(palette.foreground),
        one(palette.background),
        palette.colours.iter().copied().map(one).collect(),
    )
}

/// The same for the host, which answers the programs that ask.
pub fn wire(dark: bool) -> Colors {
    let palette = palette(dark);
    let named = |colour: u32| format!("#{colour:06x}");
    Colors {
        foreground: Some(named(palette.foreground)),
        background: Some(named(palette.background)),
        cursor: Some(named(palette.foreground)),
        palette: palette.colours.iter().copied().map(named).collect(),
    }
}

fn one(colour: u32) -> gdk::RGBA {
    let [_, red, green, blue] = colour.to_be_bytes();
    let part = |byte: u8| f32::from(byte) / 255.0;
    gdk::RGBA::new(part(red), part(green), part(blue), 1.0)
}
