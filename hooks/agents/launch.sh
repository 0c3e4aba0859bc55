#!/bin/sh
# What the hooks of coding agents start in this clone. Made by `ahp install`, removed by `ahp uninstall`.
python=@PYTHON@
package=@PACKAGE@
program=@PROGRAM@
bundle=@BUNDLE@
start=@START@
folder=@FOLDER@
log=@LOG@
user=@USER@
git=@GIT@
[ -x "$git" ] || git=git

# The interpreter that ahp was installed with; else its own program, else the ahp on PATH; else nobody can judge, and who
# called us refuses.
if [ -x "$python" ] && [ -r "$package" ]; then
    [ -f "$bundle" ] && [ -s "$bundle" ] && exec "$python" -I -S "$bundle" agent "$folder" "$log" "$user" "$git" "$@"
    exec "$python" -I -S -c "$start" agent "$folder" "$log" "$user" "$git" "$@"
fi
[ -n "$program" ] && "$program" --version >/dev/null 2>&1 </dev/null && exec "$program" hook "$@"
exec ahp hook "$@"
