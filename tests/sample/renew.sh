#!/bin/sh
# SPDX-License-Identifier: MIT
#
# renew.sh NEARMISS MAKE_PROFILE EXAMPLES DATA - writes the stored profiles and the stored trace of tests/data
# anew: `ninja samples`, once per version of a format. The nests run in a folder of the same name on every
# machine, since profiles name their sources.
set -e
nearmiss=$(realpath "$1") make_profile=$(realpath "$2") examples=$(realpath "$3") data=$(realpath "$4")

if [ "$5" != inside ]; then
	exec unshare --map-root-user --mount "$0" "$nearmiss" "$make_profile" "$examples" "$data" inside
fi
mount -t tmpfs none /srv
cp "$examples"/*.nest /srv
cd /srv

nest() # NAME ARGUMENT...
{
	name=$1
	shift
	"$nearmiss" nest --quiet -o profile-$name.nmp "$@"
}

"$make_profile" profile-v1.nmp
"$make_profile" --asm profile-asm.nmp
"$make_profile" --shared profile-shared.nmp
nest curve blocked.nest --distances --cache=L1d=32K,8,64:L2=1M,8,64:L3=32M,16,64
nest reuses transpose.nest N=64 --distances --cache=L1d=2K,full,64
nest timeline order.nest WRONG=1 N=400 --cache=L1d=8K,8,64:L2=64K,8,64
nest machines interference.nest N=60 --cache=L1d=8K,1,32:L2=32K,8,32 --cache=twoway/L1d=8K,2,32:twoway/L2=64K,8,32
nest pmu interference.nest --cache=L1d=8K,1,32 --pmu=miss@10,miss@100,miss@1000,precise@10,pebs@10,ibs@100,random=1
"$nearmiss" nest --quiet -o p.nmp --trace=interference.nmt interference.nest N=20 --cache=L1d=512,1,32:L2=4K,4,32
"$nearmiss" replay --quiet -o profile-sets.nmp interference.nmt --sets --cache=L1d=512,1,32:L2=4K,4,32
for rank in 0 1 2 3; do
	n=40
	[ $rank != 2 ] || n=80
	"$nearmiss" nest --quiet -o $rank.nmp order.nest WRONG=1 N=$n --cache=L1d=8K,8,64:L2=64K,8,64
done
"$nearmiss" merge --quiet -o profile-merged.nmp 0.nmp 1.nmp 2.nmp 3.nmp
cp profile-*.nmp interference.nmt "$data"
