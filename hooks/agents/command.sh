h="@ROOT@/.git/ahp/agent-hook"
[ -x "$h" ] || h="$(git -C "@ROOT@" rev-parse --path-format=absolute --git-common-dir 2>/dev/null)/ahp/agent-hook"
if [ -x "$h" ]; then o="$("$h" "$@")"; else o="$(ahp hook "$@")"; fi
s=$?
if [ $s = 0 ] || [ $s = 2 ]; then [ -z "$o" ] || printf "%s\n" "$o"; exit $s; fi
@OTHERWISE@
