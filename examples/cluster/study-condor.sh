#!/bin/sh
# Started by study.sub: SPEC.toml DIR PROCESS PARTS, processes numbered from 0.
set -eu
index=$(($3 + 1))
exec leafgp study run "$1" --out "$2/shard-$index" --shard "$index/$4" --jobs 1
