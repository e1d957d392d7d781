#!/bin/sh
# run.sh BUILD LIBRARY PROGRAM [its options]: one of the programs here, on the library that is built.
build=$1
export ZELLIGE_LIBRARY="$2" PYTHONDONTWRITEBYTECODE=1
program=$3
shift 3
. "$(dirname "$0")/../python/interpreter.sh"
exec "$python" "tests/meaning/$program" "$@"
