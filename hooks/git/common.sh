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

# A refused commit leaves nothing of the index that was judged.
judge_staged() {
    (judge "$@") </dev/null
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
