#!/bin/sh
# What CTest runs of the corpus: all of it on the run-time API, and every sixteenth record (with ZELLIGE_ALL every eighth) as static C++, whose compilation
# is what takes the time. run.sh runs all.
corpus=${ZELLIGE_CONFORMANCE:-$PWD/../shared/conformance}
if [ ! -d "$corpus" ]; then
  echo "skipped: the conformance corpus is not here: set ZELLIGE_CONFORMANCE to the folder that has it"
  exit 77
fi
exec python3 -B "$(dirname "$0")/conformance.py" "$corpus" --static-every "$([ -z "${ZELLIGE_ALL+set}" ] && echo 16 || echo 8)"
