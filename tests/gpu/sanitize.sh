#!/usr/bin/env bash
# compute-sanitizer's verdict, for tests/gpu/run.sh, which sources this.

# is_clean LINE: whether the summary says 0 errors or hazards; "10 hazards" has a 0 at its end, too.
is_clean() {
  [[ $1 =~ SUMMARY:\ 0\ (errors|hazards) && ! $1 =~ SUMMARY:\ [1-9] ]]
}

# sanitize TOOL NAME COMMAND...: runs the command in two minutes and prints one line; false unless the command succeeds and
# the tool found nothing.
sanitize() {
  local tool=$1 name=$2 line status=0
  shift 2
  line=$(timeout 120 compute-sanitizer --tool "$tool" "$@" 2>&1) || status=$?
  line=$(grep -E "SUMMARY|not supported|wrong|failed|refused" <<<"$line" | tr '\n' ' ')
  [ $status = 0 ] || line+=" (the command ended with $status)"
  echo "$tool $name: ${line:-no summary}"
  [ $status = 0 ] && is_clean "$line"
}
