#!/bin/sh
# SPDX-License-Identifier: MIT
#
# wirecat_test.sh - does wirecat see what a collector does? Arguments: wirecat, sample_collector.
# Each case names what the collector does, wirecat's exit status, and lines that its output must hold.
wirecat=$1
collector=$2
failed=0

check() {
	how=$1 status=$2
	shift 2
	text=$("$wirecat" $options "$collector" @FD@ "$how" 2>&1)
	got=$?
	[ $got = "$status" ] || { echo "$how: exit $got, expected $status"; failed=1; }
	for line; do
		echo "$text" | grep -q -- "$line" || { echo "$how: no '$line' in:"; echo "$text"; failed=1; }
	done
}

options=
check good 0 'started, closed' 'words  *202$' 'ALLOC  *3$' 'SHARED  *1$' 'reads  *10$' 'instructions  *1019$' 'command: exit 0'
check bad 1 'fault: word 51: block that was not defined' '^wirecat: process 0: word 51'
check fork 0 'process 1: .*forked, closed' 'calls  *1$'
check lonely 1 'forked by a process that does not tell of this fork'
check killed 0 'started, broken' 'reads  *10$' 'command: signal 9'
options='--chunk-words 512 --chunks 2'
check good 0 'reads  *10$'
options=--discard
check bad 0 'started, closed' 'words  *52$'
exit $failed
