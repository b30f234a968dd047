#!/bin/sh
# SPDX-License-Identifier: MIT
#
# join.sh OUT FOLDER LIBRARY... - makes an archive of one object of the first LIBRARY and what it needs of the others.
set -eu
out=$1 folder=$2 first=$3
shift 3
mkdir -p "$folder"
${LD:-ld} -r -o "$folder/nearmiss.o" --whole-archive "$first" --no-whole-archive --start-group "$@" --end-group
${OBJCOPY:-objcopy} --localize-hidden "$folder/nearmiss.o"
rm -f "$out"
${AR:-ar} rcsD "$out" "$folder/nearmiss.o"
