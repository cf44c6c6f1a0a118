#!/bin/sh
# Stands for a rig that measures by itself: the settings come as one JSON object on standard input, the last line printed is the value. The coating is made up.
read -r settings
number() { printf '%s' "$settings" | sed "s/.*\"$1\": *\([-+0-9.eE]*\).*/\1/"; }
case $settings in *xylene*) bonus=4 ;; *water*) bonus=6 ;; *) bonus=0 ;; esac
awk -v T="$(number temperature)" -v t="$(number time)" -v h="$(number hardener)" -v c="$(number coats)" -v b="$bonus" \
  'BEGIN { printf "%.1f\n", 50 + b - 0.004 * (T - 110)^2 - 0.0267 * (t - 25)^2 - 30 * (h - 0.3)^2 + 1.2 * c }'
