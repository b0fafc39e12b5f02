#!/bin/sh
# Tells the desktop that its entries and icons changed, where it keeps caches of them.
# usage: refresh-caches.sh SHARE_DIR
command -v update-desktop-database >/dev/null 2>&1 && update-desktop-database -q "$1/applications" 2>/dev/null
# A cache that is not there is not needed; one that is there must not be older than its folder.
if [ -e "$1/icons/hicolor/icon-theme.cache" ] && command -v gtk4-update-icon-cache >/dev/null 2>&1; then
    gtk4-update-icon-cache -qtf "$1/icons/hicolor"
fi
exit 0
