#!/usr/bin/env bash
# Builds SignalTTY and opens its window. Without a display it plays a short session on a virtual one:
# a real agent asks, a click answers, target/pictures/ shows it.
#
# Built optimised: a terminal that one tries out should be as fast as the one that one would install.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo=${CARGO:-cargo}
"$cargo" build --locked --release --package signaltty-agent
"$cargo" build --locked --release --package signaltty-gtk

if [ -n "${WAYLAND_DISPLAY:-}${DISPLAY:-}" ]; then
    # The window starts its host from the program beside it.
    exec target/release/signaltty-gtk
fi

echo "There is no display here (neither WAYLAND_DISPLAY nor DISPLAY): playing a session on a virtual one."
exec "$cargo" run --locked --release --quiet --package signaltty-gtk --example play
