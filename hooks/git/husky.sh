# The line that `ahp install git` put into husky's committed hooks sources this; removed by `ahp uninstall git`.
[ -e .git ] || { cd "./$(git rev-parse --show-cdup)" && ahp=$(git rev-parse --git-common-dir)/ahp/husky/line.sh; }
ahp=${ahp%/*}/${0##*/}.sh
if [ "${0##*/}" = pre-push ]; then
    # What git pushes is read once, by the shell itself, and then handed to the lines that follow.
    ahp_refs=
    while IFS= read -r ahp_ref; do
        ahp_refs="$ahp_refs${ahp_refs:+
}$ahp_ref"
    done
    if [ -n "$ahp_refs" ]; then
        printf '%s\n' "$ahp_refs" | "$ahp" "$@" || exit
        exec <<AHP
$ahp_refs
AHP
    fi
else
    "$ahp" "$@" || exit
fi
