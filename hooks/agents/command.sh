h="@ROOT@/.git/ahp/agent-hook"
[ -x "$h" ] || h="$(git -C "@ROOT@" rev-parse --path-format=absolute --git-common-dir 2>/dev/null)/ahp/agent-hook"
if [ -x "$h" ]; then "$h" "$@"; else ahp hook "$@"; fi
s=$?
[ $s = 0 ] && exit 0
@OTHERWISE@
