#!/usr/bin/env bash
# Builds SignalTTY and opens its window. Without a display it plays a short session on a virtual one:
# a real agent asks, a click answers, target/pictures/ shows it.
#
# For a person it is built optimised: what one tries out should be as fast as what one would install. The played
# session takes the build that `make test` takes, which is there sooner.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo=${CARGO:-cargo}

if [ -n "${WAYLAND_DISPLAY:-}${DISPLAY:-}" ]; then
    "$cargo" build --locked --release --package signaltty-agent
    "$cargo" build --locked --release --package signaltty-gtk
    # The window starts its host from the program beside it.
    exec target/release/signaltty-gtk
fi

echo "There is no display here (neither WAYLAND_DISPLAY nor DISPLAY): playing a session on a virtual one."
"$cargo" build --locked --workspace --bins --example play
exec target/debug/examples/play
