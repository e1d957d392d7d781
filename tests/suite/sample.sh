#!/bin/sh
# sample.sh FEW MANY COMMAND...: runs the command with FEW as its last argument, with MANY where ZELLIGE_ALL is set: how much it
# takes of what it has.
last=$1
[ -z "${ZELLIGE_ALL+set}" ] || last=$2
shift 2
exec "$@" "$last"
