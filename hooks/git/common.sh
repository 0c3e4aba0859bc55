hook=@HOOK@
verb=@VERB@
python=@PYTHON@
package=@PACKAGE@
program=@PROGRAM@
bundle=@BUNDLE@
[ -f "$bundle" ] || bundle=${0%/*}/@NEAR@ # where the repository was moved
start=@START@
log=@LOG@
user=@USER@
git=@GIT@
others=@OTHERS@
install=@INSTALL@
[ -x "$git" ] || git=git

lost="is gone, or this user may not read it"

# The interpreter that ahp was installed with; else, where its environment was made anew with another Python, its own
# program; else the ahp on PATH; else nobody can judge, and the action is refused.
judge() {
    if [ -x "$python" ] && [ -r "$package" ]; then
        export AHP_REFUSED=11 # an interpreter that fails ends with 1
        [ -f "$bundle" ] && [ -r "$bundle" ] && [ -s "$bundle" ] && exec "$python" -I -S "$bundle" "$hook" "$PPID" "$log" "$user" "$git" "$@"
        exec "$python" -I -S -c "$start" "$hook" "$PPID" "$log" "$user" "$git" "$@"
    elif [ -n "$program" ] && "$program" --version >/dev/null 2>&1 </dev/null; then
        echo "ahp: it was installed anew since these hooks were; $program judges (fix: ahp install git)" >&2
        exec "$program" hook git "$hook" "$PPID" "$log" "$user" "$git" "$@"
    elif command -v ahp >/dev/null 2>&1; then
        echo "ahp: the ahp it was installed with $lost; the one on PATH judges (fix: ahp install git)" >&2
        exec ahp hook git "$hook" "$PPID" "$log" "$user" "$git" "$@"
    else
        echo "ahp: cannot judge this $hook: the ahp it was installed with $lost, and none is on PATH" >&2
        echo "     it was ${program:-$package}" >&2
        ways_out
        return 2
    fi
}

# Where Python gave no answer (it cannot start, it was killed) the action is refused, too, with what to do next.
answered() {
    case $1 in 0 | 2 | 130) exit "$1" ;; 11) exit 1 ;; esac
    by=$python
    [ -x "$python" ] && [ -r "$package" ] || { [ "$1" != 1 ] || exit 1; by="the ahp on PATH"; }
    echo "ahp: cannot judge this $hook: $by ended with $1 and without an answer" >&2
    # More than 128 is a signal: what was killed, as for want of memory, is installed all the same.
    if [ "$1" -gt 128 ]; then ways_out "try again; it was killed by signal $(($1 - 128))"; else ways_out; fi
    exit 2
}

# git's own switch is named to a person at a terminal, never to an agent; there is none after the fact.
ways_out() {
    echo "     fix: ${1:-$install && ahp install git}" >&2
    [ -n "$verb" ] && [ -t 2 ] || return
    for name in $others; do
        eval "[ -z \"\${$name-}\" ]" || return
    done
    echo "     until it is fixed a person may go on with \`git $verb --no-verify\`" >&2
}

# git lists HEAD's policy files while Python starts, writes what is staged as a tree, as its commit will, and compares
# that; the marks say that it got through. Of what changes it fetches nothing that a partial clone lacks
# (GIT_NO_LAZY_FETCH is of git 2.45), and reads no file of the work tree in place of what is staged: in the git
# directory it finds none of them. No trace may be written among what it prints.
judge_staged() {
    index=${GIT_INDEX_FILE:-$dir/index}
    case $index in /*) ;; *) index=$PWD/$index ;; esac
    {
        unset GIT_TRACE GIT_TRACE_SETUP GIT_TRACE_PERFORMANCE GIT_TRACE2 GIT_TRACE2_EVENT GIT_TRACE2_PERF
        "$git" --no-replace-objects -c core.commitGraph=false ls-tree -r -z --full-tree HEAD .ahp 2>/dev/null && printf 'ahp:listed\000'
        # By another name: git locks an index that it writes a tree of, and a killed git leaves its lock. Whoever changes the
        # index makes another file, so the name also tells later whether it is still the one that was judged.
        export GIT_DIR=. GIT_WORK_TREE=. GIT_INDEX_FILE=ahp-index.$PPID GIT_NO_LAZY_FETCH=1 GIT_ALLOW_PROTOCOL=none
        cd "$dir" && ln -f "$index" "ahp-index.$PPID" 2>/dev/null &&
            tree=$("$git" --no-replace-objects -c core.fsmonitor=false -c core.hooksPath=/dev/null \
                -c hook.post-index-change.enabled=false write-tree --missing-ok 2>/dev/null) &&
            "$git" --no-replace-objects -c core.fsmonitor=false -c core.commitGraph=false diff-tree -r -t @RAW@ HEAD "$tree" -- 2>/dev/null &&
            printf '\000ahp:done\000'
        printf '\000ahp:tree\000%s' "$tree"
    } | judge "$@"
    code=$?
    [ $code = 0 ] || rm -f "$dir/ahp-index.$PPID"
    answered $code
}

# The hook that was here before ahp keeps running, first: it may change what is judged. It is called by its own name, by
# which a script that serves several hooks tells them apart.
earlier="${0%/*}/$hook.before-ahp"
run_earlier() {
    [ -x "${0%/*}/before-ahp/$hook" ] && earlier="${0%/*}/before-ahp/$hook"
    "$earlier" "$@"
}
