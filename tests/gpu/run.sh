#!/usr/bin/env bash
# Everything that needs a GPU, on demand: tests/gpu/run.sh ZELLIGE MUGRAPHS OUT [SANITIZERS]
# 1. every graph on the GPU, with its own tiles, and planned for sm_80; 2. the first of these on the emulator; 3. their arrays compared;
# 4. compute-sanitizer on the first graph of each file and on products whose lines begin anywhere; 5. the emitted host entry under nvcc,
# captured in a CUDA graph; 6. the Python package on torch's tensors; 7. each operator, attention and every cast beside PyTorch's; 8. what was
# compiled ahead of time, launched by a server's threads; 9. parts of other models at their sizes, and 500 random graphs, from plain math; 10. the soak.
set -uo pipefail
zellige=$1 graphs=$2 out=$3 sanitizers=${4:-memcheck racecheck initcheck synccheck}
here=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
# shellcheck source=tests/gpu/sanitize.sh
. "$here/tests/gpu/sanitize.sh"
"$zellige" run "$graphs"/*.json --all --on gpu --target sm_90a --force --json "$out/gpu.jsonl" --dump "$work/gpu" >"$out/gpu.txt" 2>&1 || failed=1
tail -11 "$out/gpu.txt"
for how in "sm_90a --tiling given" sm_80; do
  # shellcheck disable=SC2086 (a target and its options)
  "$zellige" run "$graphs"/*.json --all --on gpu --target $how --force --json "$out/gpu_${how// /_}.jsonl" >"$out/gpu_${how// /_}.txt" 2>&1 || failed=1
  echo "$how: $(tail -1 "$out/gpu_${how// /_}.txt")"
done
"$zellige" run "$graphs"/*.json --all --on emulator --target sm_90a --force --json "$out/emulator.jsonl" --dump "$work/emulator" >"$out/emulator.txt" 2>&1 || failed=1
tail -11 "$out/emulator.txt"
python3 "$here/tests/gpu/compare_dumps.py" "$work/gpu" "$work/emulator" | tee "$out/compare.txt" || failed=1
for tool in $sanitizers; do
  for file in "$graphs"/*.json; do
    sanitize "$tool" "$(basename "$file" .json)" "$zellige" run "$file" --index 0 --on gpu --target sm_90a | tee -a "$out/sanitizer.txt" || failed=1
  done
done
python3 - "$here/bench" >"$work/lines.json" <<'PYTHON' || failed=1
import json, sys
sys.path.insert(0, sys.argv[1])
from emitted import ODD, product_graph
print(json.dumps([product_graph(m, n, k, dtype, major) for m, n, k in ODD for dtype, major in (("f16", "k"), ("bf16", "n"))]))
PYTHON
"$zellige" run "$work/lines.json" --all --on gpu --target sm_90a >"$out/lines.txt" 2>&1 || failed=1
tail -1 "$out/lines.txt"
sanitize memcheck "of lines that begin anywhere" "$zellige" run "$work/lines.json" --index 8 --on gpu --target sm_90a | tee -a "$out/sanitizer.txt" || failed=1
"$zellige" transpile "$here/examples/lora.json" --target sm_90a -o "$work" &&
  nvcc -std=c++20 -gencode arch=compute_90a,code=sm_90a -I "$here/include" -include "$work"/lora_0.cu "$here/tests/gpu/host_entry.cu" -o "$work/host_entry" -diag-suppress 177 &&
  "$work/host_entry" || failed=1
build=$(cd "$(dirname "$zellige")" && pwd)
sh "$here/tests/python/run.sh" "$build" "$build/libzellige.so" -rs | tee "$out/python.txt"
[ "${PIPESTATUS[0]}" = 0 ] || failed=1
for program in "meaning/compare.py --on gpu" "meaning/attention.py --on gpu" gpu/casts_in_torch.py gpu/memory_in_torch.py; do
  # shellcheck disable=SC2086 (a program and its options)
  PYTHONPATH=$here/python ZELLIGE_LIBRARY=$build/libzellige.so python3 "$here"/tests/$program | tee -a "$out/torch.txt"
  [ "${PIPESTATUS[0]}" = 0 ] || failed=1
done
cuda=$(cd "$(dirname "$(command -v nvcc)")/.." && pwd)
"$zellige" transpile "$here/examples/mlp.json" --target sm_90a --emit h,cubin,so -o "$work" &&
  g++ -std=c++17 -I "$work" -I "$here/include" -I "$cuda/include" "$here/tests/gpu/ahead_of_time.cpp" "$work/mlp.so" -L "$build" -lzellige -L "$cuda/lib64" -lcudart -o "$work/ahead_of_time" &&
  LD_LIBRARY_PATH=$work:$build:$cuda/lib64:${LD_LIBRARY_PATH:-} "$work/ahead_of_time" "$here/examples/mlp.json" "$work/mlp.manifest.json" || failed=1
"$zellige" run "$here"/examples/parts/*.json --all --on gpu --target sm_90a --check sampled --force --json "$out/parts.jsonl" >"$out/parts.txt" 2>&1 || failed=1
tail -1 "$out/parts.txt"
{ echo "["; for seed in $(seq 500); do [ "$seed" = 1 ] || echo ","; "$build/zellige_random" --plain --print "$seed"; done; echo "]"; } >"$work/random.json" &&
  "$zellige" run "$work/random.json" --all --on gpu --target sm_90a --force --json "$out/random.jsonl" >"$out/random.txt" 2>&1 || failed=1
tail -1 "$out/random.txt"
"$here/tests/gpu/soak.sh" "$build/zellige_random" 2000 1 "$out/soak" || failed=1
[ $failed = 0 ] && echo "GPU tests: all passed" || echo "GPU tests: some failed"
exit $failed
