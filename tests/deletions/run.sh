#!/bin/sh
# tests/deletions/run.sh [FILE...]: deletes each barrier, wait and predicate of the emitted text of each file's first
# graph, and checks what the emulator counted. Without files: all of $ZELLIGE_MUGRAPHS, or of ../shared/mugraphs.
# Builds what it needs in $ZELLIGE_BUILD (build). About 2 minutes on 2 cores for the eight files.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${ZELLIGE_BUILD:-$root/build}
if [ $# -eq 0 ]; then
  folder=${ZELLIGE_MUGRAPHS:-$root/../shared/mugraphs}
  [ -d "$folder" ] || { echo "run.sh: there is no folder $folder; name graph files, or set ZELLIGE_MUGRAPHS" >&2; exit 2; }
  set -- "$folder"/*.json
fi
[ -f "$build/CMakeCache.txt" ] || cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build "$build" --parallel 2 --target deletions counters >/dev/null
status=0
"$build/deletions" --target "${ZELLIGE_TARGET:-sm_80}" "$@" || status=1
"$build/counters" --target "${ZELLIGE_TARGET:-sm_80}" "$@" || status=1
exit $status
