#!/usr/bin/env bash
# The first run on a GPU of Blackwell, in one command: tests/gpu/blackwell.sh ZELLIGE [OUT] [COUNT] [MUGRAPHS]
# ZELLIGE: the command, beside it zellige_random; COUNT (500): random graphs; MUGRAPHS: a folder of saved graphs. OUT (blackwell) gets the logs.
# 1. which target the GPU is; 2. every instruction form that emitted text uses, in loops over rings, one process a form (but wgmma, which
# such a GPU lacks); 3. the examples, layers, parts and saved graphs, compared with the reference; 4. COUNT random graphs of four
# kinds, each in a process of its own, whose context is looked at afterwards; 5. the same examples planned for sm_80; 6. drawn products
# against cuBLAS, timed.
# On a machine without a GPU, the examples and the random graphs run on the emulator for ZELLIGE_TARGET (sm_120a), and the others are
# named as left out.
# Exit status 0: what ran is right.
set -uo pipefail
[ $# -ge 1 ] || { sed -n 2,10p "$0"; exit 2; }
zellige=$1 out=${2:-blackwell} count=${3:-500} graphs=${4:-}
here=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$(dirname "$zellige")" && pwd)
mkdir -p "$out"
failed=0
if "$zellige" run "$here/examples/lora.json" --on gpu --force --json "$out/probe.jsonl" >"$out/probe.txt" 2>&1; then
  on=gpu target=$(grep -o '"target": *"[^"]*"' "$out/probe.jsonl" | head -1 | cut -d'"' -f4)
else
  on=emulator target=${ZELLIGE_TARGET:-sm_120a}
  tail -1 "$out/probe.txt"
fi
case $target in
  sm_1[0-9][0-9]a) echo "target $target on the $on" ;;
  *) echo "blackwell.sh: this GPU is $target, not one of Blackwell" && exit 2 ;;
esac
if [ $on = gpu ] && command -v nvcc >/dev/null; then
  nvcc -std=c++20 -O1 -I "$here/include" -gencode "arch=compute_${target#sm_},code=$target" "$here/tests/atom/hardware_ring.cu" -o "$out/hardware_ring" || failed=1
  "$out/hardware_ring" --list | grep -v "^wgmma/" | while read -r form; do "$out/hardware_ring" --only "$form" | grep -E "^(ok|WRONG|FAULT) "; done >"$out/ring.txt" 2>&1
  grep -q "^ok " "$out/ring.txt" || failed=1
  grep -qE "^(WRONG|FAULT) " "$out/ring.txt" && failed=1
  grep -v "^ok " "$out/ring.txt"
  echo "rings: $(grep -c "^ok " "$out/ring.txt") forms are right"
else
  echo "left out: the instructions in loops over rings (they take a GPU and nvcc)"
fi
compare() { # name, target, options and files
  local name=$1 to=$2
  shift 2
  "$zellige" run "$@" --all --on $on --target "$to" --force --json "$out/$name.jsonl" >"$out/$name.txt" 2>&1 || failed=1
  echo "$name, $to: $(tail -1 "$out/$name.txt")"
}
compare examples "$target" "$here"/examples/*.json
if [ $on = gpu ]; then
  compare layers "$target" --check sampled "$here"/examples/layers/*.json
  compare parts "$target" --check sampled "$here"/examples/parts/*.json
  [ -z "$graphs" ] || compare saved "$target" --check sampled "$graphs"/*.json
else
  echo "left out: layers, parts and saved graphs (they take hours on the emulator; tests/predict/run_graphs.py runs the smallest first)"
fi
"$build/zellige_random" --soak --on $on --target "$target" --count "$count" --seed 1 --jobs "$(nproc)" --keep "$out/graphs" >"$out/random.txt" 2>&1 || failed=1
grep -E ": (wrong|failed|refused): " "$out/random.txt"
echo "random graphs: $(grep -E "^[0-9]+ correct" "$out/random.txt" | tail -1)"
if [ $on = gpu ]; then
  compare text_of_sm_80 sm_80 "$here"/examples/*.json
  PYTHONPATH=$here/python ZELLIGE_LIBRARY=$build/libzellige.so python3 "$here/bench/draws.py" --family products --count 40 --json "$out/draws.jsonl" | tee "$out/draws.txt"
  [ "${PIPESTATUS[0]}" = 0 ] || failed=1
else
  echo "left out: examples for sm_80, and times against cuBLAS (they take a GPU)"
fi
[ $failed = 0 ] && echo "blackwell: what ran is right" || echo "blackwell: see $out"
exit $failed
