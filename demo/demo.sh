#!/bin/sh
# The gate on real commits in a scratch repository: blocked, fixed, warned, passed, and what the log says.
# Every command is printed before it runs; a step that ends otherwise than told ends the demo with an error.
set -u

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ahp-demo.XXXXXX") || exit 2
trap 'cd / && rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

# A home of its own: the demo reads and writes nothing of yours.
mkdir "$scratch/home" "$scratch/project"
export HOME="$scratch/home" GIT_CONFIG_GLOBAL="$scratch/home/.gitconfig" GIT_CONFIG_NOSYSTEM=1
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_PREFIX XDG_CONFIG_HOME
cat >"$GIT_CONFIG_GLOBAL" <<'CONFIG'
[user]
	name = Demo Person
	email = demo@example.org
[init]
	defaultBranch = main
[advice]
	detachedHead = false
CONFIG
cd "$scratch/project" || exit 2

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$(printf '\033[1m') plain=$(printf '\033[0m'); else bold='' plain=''; fi

say() { printf '\n%s== %s%s\n' "$bold" "$*" "$plain"; }

# Print a command, run it, keep its exit status.
show() {
  printf '%s$ %s%s\n' "$bold" "$1" "$plain"
  eval "$1" </dev/null
}

passes() {
  show "$1" && return
  echo "demo: this was to pass: $1" >&2
  exit 1
}

is_refused() {
  show "$1"
  code=$?
  [ "$code" -eq 1 ] && return
  echo "demo: this was to be refused with 1, and ended with $code: $1" >&2
  exit 1
}

say 'A repository, and one policy for it'
passes 'git init --quiet .'
passes 'echo "print(1)" > app.py && git add app.py && git commit --quiet -m "Start"'
mkdir .ahp && cp "$here/hooks.yaml" .ahp/hooks.yaml
passes 'cat .ahp/hooks.yaml'
passes 'ahp policy lint'
passes 'ahp install git'

say 'Blocked: the policy protects main'
passes 'echo "Judged by ahp." > NOTES.md && git add .ahp NOTES.md'
is_refused 'git commit --quiet -m "Add the policy and a note"'

say 'Fixed: the same commit on a branch passes, and ahp has nothing to say'
passes 'git switch --quiet --create feature/login'
passes 'git commit --quiet -m "Add the policy and a note"'

say 'Blocked: a key in an added line; the log and the screen get file and line, never the key'
passes "echo 'key = \"AKIA0123456789ABCDEF\"' > config.py && git add config.py"
is_refused 'git commit --quiet -m "Configure"'

say 'Fixed'
passes "echo 'key = environ[\"KEY\"]' > config.py && git add config.py"
passes 'git commit --quiet -m "Configure"'

say 'Blocked by the message, fixed by a shorter one'
passes 'echo "print(2)" > app.py && git add app.py'
is_refused 'git commit --quiet -m "Print two instead of one because one was not enough for anybody"'
passes 'git commit --quiet -m "Print two"'

say 'Changed: a full stop too many is taken out on the way in'
passes 'echo "print(3)" > app.py && git commit --quiet -am "Print three."'
passes 'git log -1 --format=%s'

edit() { for name in one two three four; do echo "value = $1" >"$name.py"; done; }

say 'Warned: four files are many, but going on is allowed'
edit 1
passes 'git add . && git commit --quiet -m "Four modules"'

say 'Gone past once, the warning climbs: now a change of the action is proposed'
edit 2
passes 'git add . && git commit --quiet -m "Four modules again"'

say 'Gone past twice, it blocks'
edit 3
passes 'git add .'
is_refused 'git commit --quiet -m "Four modules once more"'

say 'Fixed: in smaller steps, as it said'
passes 'git reset --quiet && git add one.py two.py && git commit --quiet -m "Two modules"'
passes 'git add . && git commit --quiet -m "The other two"'

say 'Once fixed it starts over: the next one is a warning again'
edit 4
passes 'git add . && git commit --quiet -m "Four modules, one last time"'

say 'A dry question: it logs nothing and counts nothing'
edit 5
passes 'git add . && ahp check pre-commit'
passes 'git reset --quiet --hard'

say 'What the log says'
passes 'ahp log verify'
passes 'ahp log'
