#!/bin/bash
# SPDX-License-Identifier: MIT
#
# bare-debian.sh [FOLDER [SUITE]] - the README's commands on a bare Debian, from a fresh clone.
#
# Run by root. debootstrap makes the smallest Debian of SUITE (bookworm, which is Debian 12, or trixie, 13) in
# FOLDER (default: a temporary folder, removed afterwards) from the mirror that this machine's own apt uses; git
# and ca-certificates are added, the committed state of this checkout is cloned into it, and ./quickstart, meson
# install and ./runtests are run there. What was installed is used elsewhere: the command, its man page, the
# library through pkg-config.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
[ "$(id -u)" -eq 0 ] || { echo "bare-debian.sh: run me as root" >&2; exit 125; }
command -v debootstrap >/dev/null || { echo "bare-debian.sh: debootstrap is needed" >&2; exit 125; }

suite=${2:-bookworm}
here=$(. /etc/os-release && echo "$VERSION_CODENAME")
mirror=$(apt-get indextargets --format '$(SITE) $(RELEASE)' | awk -v here="$here" '$2 == here { print $1; exit }')
root=${1:-$(mktemp -d)}
mkdir -p "$root"
chmod 755 "$root" # apt reads it as a user of its own

cleanup() {
	for place in sys dev proc .; do umount -l "$root/$place" 2>/dev/null || true; done
	[ $# -gt 0 ] || rm -rf --one-file-system "$root"
}
trap 'cleanup ${1:+kept}' EXIT

[ -d "$root/etc/apt" ] || debootstrap --variant=minbase --include=git,ca-certificates "$suite" "$root" "$mirror"
# The same proxies and certificates as here, so that apt works inside wherever it works outside.
apt-config dump | grep -E '^Acquire::https?::' >"$root/etc/apt/apt.conf.d/90host" || true
cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
mount --bind "$root" "$root" # a mount point, so that tests can have mounts of their own inside
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t sysfs sys "$root/sys"

rm -rf "$root/srv/nearmiss"
git clone -q "$top" "$root/srv/nearmiss"
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb \
	${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
	sh -ec "cd /srv/nearmiss; $1"; }
inside ./quickstart
inside 'meson install -C build --no-rebuild --quiet
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
inside ./runtests
echo "bare-debian.sh: all commands succeeded"
