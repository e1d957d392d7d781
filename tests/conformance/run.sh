#!/bin/sh
# tests/conformance/run.sh DIR [--out FILE] [--api static|runtime] [--family NAME,...] [--op PREFIX] [--static-every N]
# Turns every record of the corpus in DIR into static C++, which is compiled and run, and into run-time calls; compares
# both with the record's result where it is given. --out writes what each API computed. Ends with "N passed, M failed".
exec python3 "$(dirname "$0")/conformance.py" "$@"
