# A `hook.ahp-NAME.command` of git's configuration sources this (git 2.54), before the hooks of a folder run. It judges where those would
# not: git takes them from elsewhere, or ours is gone. Installed by `ahp install git`, removed by `ahp uninstall git`.
git=@GIT@
[ -x "$git" ] || git=git

# As commit-msg itself, without starting it: nothing is left to judge.
is_quiet() {
    dir=${GIT_DIR:-.git}
    [ -f "$dir/ahp-token" ] && ! [ -e "$dir/ahp-message" ] && read -r parent head message after <"$dir/ahp-token" &&
        read -r kind now <"$dir/HEAD" && [ "$parent $head $message" = "$PPID ${now:-$kind} quiet" ]
}
[ @HOOK@ = commit-msg ] && is_quiet && exit 0

# This file may serve a copy of the repository that it was written for.
{ read -r common && read -r asked; } <<AHP
$("$git" rev-parse --git-common-dir --git-path hooks 2>/dev/null)
AHP
place=@PLACE@ shim=$common/ahp/second/@HOOK@
case $place in /*) ;; *) place=$common/$place ;; esac

# The shim is written with the time of its twin here; a restored one has another, and then they are compared.
is_reached() {
    [ "$asked" -ef "${place%/*}" ] && [ -x "$asked/"@HOOK@ ] && [ -x "$place" ] || return
    if [ "$place" -nt "$shim" ] || [ "$place" -ot "$shim" ]; then cmp -s "$place" "$shim"; fi
}
is_reached && exit 0
[ -x "$shim" ] || exit 0 # a copy without ahp's folder
exec "$shim" "$@"
