# SignalTTY: run it, test it, install it.
#
#   make run                 builds SignalTTY and opens its window; without a display it plays a short
#                            session on a virtual one and leaves pictures in target/pictures/
#   make test                every test, on the real programs
#   make build               both programs, optimised
#   make install             both programs, desktop entry, icons, metainfo [PREFIX=/usr/local] [DESTDIR=]
#   make uninstall           removes exactly what `install` put there
#
# Everything is built below one folder, target/. `run` and `test` install what the system lacks.

PREFIX ?= /usr/local
DESTDIR ?=
CARGO ?= cargo

APP = org.signaltty.SignalTTY
BINDIR = $(DESTDIR)$(PREFIX)/bin
DATADIR = $(DESTDIR)$(PREFIX)/share
INSTALLED = \
	$(BINDIR)/signaltty \
	$(BINDIR)/signaltty-gtk \
	$(DATADIR)/applications/$(APP).desktop \
	$(DATADIR)/metainfo/$(APP).metainfo.xml \
	$(DATADIR)/icons/hicolor/scalable/apps/$(APP).svg \
	$(DATADIR)/icons/hicolor/symbolic/apps/$(APP)-symbolic.svg

# rustup's default place, for a shell whose profile was not read since it was installed.
export PATH := $(PATH):$(HOME)/.cargo/bin

.PHONY: run test build install uninstall

run:
	data/setup.sh run
	data/run.sh

# The documentation's examples go first, so that what cargo prints last is the result of real tests.
test:
	data/setup.sh test
	$(CARGO) test --locked --workspace --doc
	$(CARGO) test --locked --workspace --lib --bins --tests

# Two builds, one a program: built together the window would be linked with the host's half of the core.
build:
	$(CARGO) build --locked --release --package signaltty-agent
	$(CARGO) build --locked --release --package signaltty-gtk

# Under sudo nothing is compiled, so that nothing of root's is left in target/: `make build && sudo make install`.
install:
	@if [ -z "$$SUDO_USER" ]; then $(MAKE) build; \
	elif ! [ -x target/release/signaltty -a -x target/release/signaltty-gtk ]; then \
		echo "nothing is built yet: run 'make build' as yourself first" >&2; exit 1; fi
	install -sDm755 target/release/signaltty $(BINDIR)/signaltty
	install -sDm755 target/release/signaltty-gtk $(BINDIR)/signaltty-gtk
	install -Dm644 data/$(APP).desktop $(DATADIR)/applications/$(APP).desktop
	install -Dm644 data/$(APP).metainfo.xml $(DATADIR)/metainfo/$(APP).metainfo.xml
	install -Dm644 data/icons/hicolor/scalable/apps/$(APP).svg $(DATADIR)/icons/hicolor/scalable/apps/$(APP).svg
	install -Dm644 data/icons/hicolor/symbolic/apps/$(APP)-symbolic.svg $(DATADIR)/icons/hicolor/symbolic/apps/$(APP)-symbolic.svg
	@test -n "$(DESTDIR)" || data/refresh-caches.sh $(PREFIX)/share

uninstall:
	rm -f $(INSTALLED)
	@test -n "$(DESTDIR)" || data/refresh-caches.sh $(PREFIX)/share
