#!/usr/bin/env bash
# Looks for what kills a GPU's context, before every release: tests/gpu/soak.sh ZELLIGE_RANDOM [COUNT] [SEED] [OUT]
# 1. every instruction form that emitted text uses, in a loop with ring addresses (tests/atom/hardware_ring.cu), one process a form;
# 2. COUNT (2000) random graphs from SEED (1) on, of four kinds in turn: custom operators, chains of products, plain operators, products
# of 1 to 77 rows; of every dtype; lines that begin anywhere. Each is compiled by NVRTC, as users get it, for sm_90a and the first
# quarter for sm_80, too, and runs in a process of its own, whose context is looked at afterwards; one that takes 30 s is named, one
# that takes 120 s is killed.
# OUT (soak) gets the logs and the graphs that were not correct. About 11 minutes on 16 cores, most of it the making of contexts.
# Exit status 0: all are correct or borderline, and at most one in a hundred is refused.
set -uo pipefail
[ $# -ge 1 ] || { sed -n 2,9p "$0"; exit 2; }
random=$1 count=${2:-2000} seed=${3:-1} out=${4:-soak}
here=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$out"
failed=0
if command -v nvcc >/dev/null; then
  nvcc -std=c++20 -O1 -I "$here/include" -gencode arch=compute_90a,code=sm_90a "$here/tests/atom/hardware_ring.cu" -o "$out/hardware_ring" &&
    "$out/hardware_ring" >"$out/ring.txt" 2>&1 || failed=1
  grep -v "^ok " "$out/ring.txt"
else
  echo "soak.sh: no nvcc, so the instructions are not tried" && failed=1
fi
soak() { # target, count
  "$random" --soak --on gpu --target "$1" --count "$2" --seed "$seed" --jobs "$(nproc)" --keep "$out/graphs_$1" >"$out/$1.txt" 2>&1 || failed=1
  grep -E "^--|: (wrong|failed|refused): " "$out/$1.txt" | grep -v ": borderline: "
  echo "$1: $(tail -1 "$out/$1.txt")"
}
soak sm_90a "$count"
soak sm_80 $((count / 4))
[ $failed = 0 ] && echo "soak: no fault" || echo "soak: see $out"
exit $failed
