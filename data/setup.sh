#!/usr/bin/env bash
# Installs what SignalTTY needs and the system lacks, and says plainly what it cannot install.
#
# usage: data/setup.sh run|test [--dry-run]
#
#   run        what building and opening the window takes; without a display also what a virtual one takes
#   test       that, and what the tests take
#   --dry-run  only says what is missing
#
# Debian 12 and 13, Ubuntu and Fedora: apt or dnf, through sudo only where we are not root. Where nothing is
# missing it asks the package database once and touches nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

purpose=${1:-}
dry_run=${2:-}
case "$purpose" in run | test) ;; *)
    echo "usage: data/setup.sh run|test [--dry-run]" >&2
    exit 2
    ;;
esac

# The oldest Rust that builds the workspace: the one place where it stands.
msrv=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)

say() { printf 'setup: %s\n' "$*"; }
fail() {
    printf 'setup: %s\n' "$@" >&2
    exit 1
}
# newer_or_same A B: version A is at least version B.
newer_or_same() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$2" ]; }

if command -v apt-get >/dev/null; then
    manager=apt
    build=(libgtk-4-dev libadwaita-1-dev libvte-2.91-gtk4-dev pkg-config gcc libc6-dev make)
    desktop=(xvfb openbox xdotool imagemagick dbus at-spi2-core python3 python3-gi gir1.2-atspi-2.0
        fonts-dejavu-core adwaita-icon-theme librsvg2-common)
    node=(nodejs npm)
    rust=(rustc cargo)
elif command -v dnf >/dev/null; then
    manager=dnf
    build=(gtk4-devel libadwaita-devel vte291-gtk4-devel pkgconf-pkg-config gcc glibc-devel make)
    desktop=(xorg-x11-server-Xvfb openbox xdotool ImageMagick dbus-daemon at-spi2-core python3 python3-gobject
        dejavu-sans-mono-fonts dejavu-sans-fonts adwaita-icon-theme librsvg2)
    node=(nodejs npm)
    rust=(rust cargo)
else
    manager=none
fi

installed() {
    case "$manager" in
    apt) [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ] ;;
    dnf) rpm -q --quiet --whatprovides "$1" 2>/dev/null ;;
    esac
}

# The version of a package that could be installed, or nothing where the archive has none.
available() {
    case "$manager" in
    apt) apt-cache policy "$1" 2>/dev/null | awk '$1 == "Candidate:" && $2 != "(none)" { print $2 }' ;;
    dnf) dnf -q repoquery --latest-limit=1 --queryformat '%{version}\n' "$1" 2>/dev/null | tail -n 1 ;;
    esac
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        fail "this needs root, and there is no sudo. Run as root: $*"
    fi
}

refreshed=no
refresh() {
    [ "$refreshed" = no ] || return 0
    refreshed=yes
    case "$manager" in
    apt) as_root apt-get update -qq || say "the package lists could not be refreshed; going on with the old ones" ;;
    esac
}

install_packages() {
    local package unknown=()
    say "missing: $*"
    [ "$dry_run" != --dry-run ] || return 0
    refresh
    for package in "$@"; do
        [ -n "$(available "$package")" ] || unknown+=("$package")
    done
    if [ ${#unknown[@]} -gt 0 ]; then
        fail "this system's archive has no ${unknown[*]}." \
            "SignalTTY needs GTK 4.8, libadwaita 1.2 and VTE 0.70 for GTK 4: Debian 12, Ubuntu 23.04, Fedora 38, or newer."
    fi
    case "$manager" in
    apt) as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" ;;
    dnf) as_root dnf install -y -q --setopt=install_weak_deps=False "$@" ;;
    esac || fail "the packages above could not be installed; what the package manager said stands above"
}

require_packages() {
    local package missing=()
    for package in "$@"; do
        installed "$package" || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}"
}

# --- the toolchain -----------------------------------------------------------------------------------
rust_version() { rustc --version 2>/dev/null | awk '{ print $2 }'; }

require_rust() {
    local have offered="" how="Install a current one with rustup: https://rustup.rs"
    export PATH="$PATH:$HOME/.cargo/bin"
    have=$(rust_version || true)
    if [ -n "$have" ] && command -v cargo >/dev/null && newer_or_same "$have" "$msrv"; then
        return
    fi
    # The system's own is taken only where there is none yet: one that a person put there is theirs to renew.
    if [ -z "$have" ] && [ "$manager" != none ]; then
        [ "$dry_run" = --dry-run ] || refresh
        offered=$(available "${rust[0]}")
        if [ -n "$offered" ] && newer_or_same "${offered%%[+~-]*}" "$msrv"; then
            install_packages "${rust[@]}"
            return
        fi
    fi
    if [ -n "$have" ]; then
        fail "Rust $have is too old: SignalTTY needs $msrv or newer. $how"
    fi
    fail "there is no Rust here${offered:+, and this system offers only ${offered%%[+~-]*}}: SignalTTY needs $msrv or newer. $how"
}

# First what cannot be helped: nobody should wait for packages to learn that the compiler is too old.
require_rust
if [ "$manager" = none ]; then
    say "neither apt nor dnf is here, so nothing is installed. Needed: GTK 4.8, libadwaita 1.2, VTE 0.70 for GTK 4 (with their headers), pkg-config, a C compiler"
else
    require_packages "${build[@]}"
fi

if [ "$manager" != none ] && { [ "$purpose" = test ] || [ -z "${WAYLAND_DISPLAY:-}${DISPLAY:-}" ]; }; then
    require_packages "${desktop[@]}"
    # The real agents come from npm. One that a person installed in another way will do.
    if ! command -v npm >/dev/null || ! command -v node >/dev/null; then
        install_packages "${node[@]}"
    fi
fi
