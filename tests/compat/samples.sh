#!/bin/sh
# samples.sh FOLDER: compiles each .cpp of the folder with g++ and runs it, and compiles each .cu with nvcc, all with compat's
# headers alone. A .cu names its GPU in its first line ("-arch=sm_100a"), else it is for sm_90a. Ends with the number that failed.
cd "$(dirname "$0")/../.." || exit 2
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
failed=0
report() {  # NAME STATUS: the first error of a program that failed
  [ "$2" -eq 0 ] && echo "ok $1" && return
  failed=$((failed + 1))
  echo "FAILED $1: $(grep -m 1 -i -E 'error|refus|!=' "$work/log" | cut -c 1-200)"
}
for unit in "$1"/*.cpp; do
  [ -e "$unit" ] || continue
  ${CXX:-g++} -std=c++20 -I compat -I include "$unit" -o "$work/program" >"$work/log" 2>&1 && "$work/program" >>"$work/log" 2>&1
  report "$(basename "$unit")" $?
done
for unit in "$1"/*.cu; do
  [ -e "$unit" ] || continue
  command -v nvcc >/dev/null || { echo "skipped $(basename "$unit"): no nvcc"; continue; }
  arch=$(head -1 "$unit" | grep -o 'sm_[0-9a-f]*' | head -1)
  nvcc -std=c++20 --expt-relaxed-constexpr -arch="${arch:-sm_90a}" -DCUTLASS_ARCH_MMA_SM100_SUPPORTED -I compat -I include -cubin \
    -o "$work/cubin" "$unit" >"$work/log" 2>&1
  report "$(basename "$unit")" $?
done
echo "$failed failed"
[ "$failed" -eq 0 ]
