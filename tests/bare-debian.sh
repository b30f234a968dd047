#!/bin/bash
# SPDX-License-Identifier: MIT
#
# bare-debian.sh [FOLDER [SUITE]] - the README's commands on a bare Debian, from a fresh clone.
#
# Run by root. packaging/bare-root makes the smallest Debian of SUITE (bookworm, which is Debian 12, or trixie, 13) in
# FOLDER (default: a temporary folder, removed afterwards), and the committed state of this checkout is cloned into it.
# There a user runs ./quickstart and root meson install, which compiles nothing and leaves nothing of root's in the build,
# so that the user's ninja goes on. What was installed is used elsewhere: the command, its man page, the library through
# pkg-config. Then ./runtests runs.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
root=${1:-$(mktemp -d)}
[ $# -gt 0 ] || trap 'rm -rf --one-file-system "$root"' EXIT
suite=${2:-bookworm}
inside() { "$top/packaging/bare-root" "$root" "$suite" "cd /srv; $1"; }

inside 'apt-get -qq update && apt-get -qq install -y --no-install-recommends git ca-certificates >/dev/null'
rm -rf "$root/srv/nearmiss"
git clone -q "$top" "$root/srv/nearmiss"
inside 'cd nearmiss
	tools/install-packages build pages wasm
	id user >/dev/null 2>&1 || useradd --create-home user
	chown -R user: .
	su user -c ./quickstart
	touch /srv/before
	meson install -C build --no-rebuild --quiet
	test -z "$(find build -user root -o -newer /srv/before -name "*.o")"
	su user -c "ninja -C build src/cli/nearmiss" | grep "no work to do"
	cd "$(mktemp -d)"
	cp /usr/local/share/doc/nearmiss/examples/matrix.c /usr/local/share/doc/nearmiss/examples/simulate.c .
	PATH=/usr/local/bin:$PATH
	gcc -g -O1 -o app matrix.c
	nearmiss record -q -- ./app columns
	nearmiss report --limit 3
	gcc simulate.c $(pkg-config --cflags --libs nearmiss) -o simulate
	./simulate
	test -s /usr/local/share/man/man1/nearmiss-report.1
	test -s /usr/local/share/bash-completion/completions/nearmiss'
inside 'git config --global safe.directory /srv/nearmiss; cd nearmiss && ./runtests'
echo "bare-debian.sh: all commands succeeded"
