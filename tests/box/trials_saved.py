"""Destructive forms against random dirty work trees: restored byte for byte.

`python -m tests.box.trials_saved N [FROM]`: a trial is made of its number alone, so runs resume.
"""

from __future__ import annotations

import os
import random
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

from ahp.box.saved import Store
from ahp.system import environ, git

FORMS = """\
git checkout -q -- .
git checkout -qf HEAD
git restore .
git restore --staged --worktree .
git reset -q --hard
git reset -q --hard HEAD~1
git clean -fdq
git clean -fdxq
git clean -fdXq
git clean -ffdxq
git stash -q
git stash -uq; git stash drop -q
git stash -aq; git stash clear
git switch -qf other
git checkout -qf other
git checkout -q other -- .
git rm -rfq .
git rm -q --cached -r .; git clean -fdxq
git read-tree -u --reset other
git add -A; git reset -q --hard
git add -A; git commit -qm x; git reset -q --hard HEAD~1
git branch -qD keep
git branch -qD keep other; rm -rf src
git stash clear
git update-ref -d refs/heads/keep
git merge -q -X theirs --no-edit other; git reset -q --hard ORIG_HEAD
git checkout-index -faq
git tag -d v1
rm -rf src
rm -rf *
rm -f a.txt .env
rm -rf lib nested
find . -name '*.txt' -not -path './.git/*' -delete
find . -type f -not -path '*/.git/*' -exec rm {} +
find . -path './.git' -prune -o -empty -type f -delete
mv a.txt b.txt
mv src gone
mv src /dev/shm/ahp-trial-$$; rm -rf /dev/shm/ahp-trial-$$
cp a.txt src/new.txt
echo > a.txt
: > src/x.txt
cat /dev/null > .env
dd if=/dev/zero of=a.txt bs=1 count=9 status=none
truncate -s 0 a.txt src/*
sed -i s/[a-z]/X/g a.txt src/*.txt
perl -pi -e 's/a/b/' a.txt
tee a.txt < /dev/null
chmod -R a-x,u+rwX src; chmod a+x a.txt
chmod 600 a.txt; rm -f a.txt
ln -sf /etc/passwd a.txt
rm -rf src; ln -s /tmp src
rm -rf src; echo > src
rm a.txt; mkdir -p a.txt/b; echo > a.txt/b/c
shred -u a.txt
tar cf - src | tar xf - -C lib
python3 -c "import shutil; shutil.rmtree('src')"
python3 -c "open('a.txt','w')"
rsync -a --delete lib/ src/ || rm -rf src
git config core.autocrlf true; rm -rf *; git checkout -q -- .
rm -rf .git/objects/*; rm -rf *
rm -f .git/index; rm -rf src
git gc -q --prune=now; rm -rf src
install -m 644 /dev/null a.txt
git worktree add -qf .w other; rm -rf lib
""".splitlines()
NAMES = [
    "x.txt",
    "y.bin",
    "with space",
    "new\nline",
    'quo"te',
    "back\\slash",
    "ünï",
    "-dash",
    "run.sh",
    "raw\udcff",
    "empty",
    "z.log",
]
REFS = ("git branch", "git tag", "git update-ref", "git stash clear", "git stash -")  # forms that lose refs


def sh(root: Path, text: str) -> None:
    """Runs a text of a shell as somebody without settings of their own."""
    env = {"PATH": os.environ["PATH"], "HOME": str(root.parent), "GIT_CONFIG_NOSYSTEM": "1"}
    who = {f"GIT_{kind}_{what}": "a@example.invalid" for kind in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    subprocess.run(["bash", "-c", text], cwd=root, env={**env, **who}, capture_output=True, check=False)


def fill(root: Path, dice: random.Random, count: int) -> None:
    """Makes, changes and removes files at random."""
    for _ in range(count):
        folder = root / dice.choice(["", "src", "src/deep", "lib", "nested", "ignored", "odd dir"])
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            continue
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / dice.choice(NAMES)
        if path.is_dir() and not path.is_symlink():
            continue
        kind = dice.random()
        if path.is_symlink() or (kind < 0.15 and path.exists()):
            path.unlink()
        elif kind < 0.25 and not path.exists():
            path.symlink_to(dice.choice(["x.txt", "../a.txt", "/etc/passwd", "nowhere"]))
        else:
            path.write_bytes(
                dice.randbytes(dice.choice([0, 1, 50, 5000])) + dice.choice([b"", b"a\r\nb\r\n", b"$Id$\n", b"text\n"])
            )
            path.chmod(dice.choice([0o644, 0o644, 0o755, 0o600]))


def project(root: Path, dice: random.Random) -> None:
    """A repository with a past, branches, a stash, an embedded repository, and a dirty work tree."""
    root.mkdir()
    (root / "a.txt").write_text("a\r\nb\n")
    (root / ".gitignore").write_text("ignored/\n*.log\n.env\n.w/\n")
    if dice.random() < 0.4:
        (root / ".gitattributes").write_text("*.txt text eol=crlf ident\n*.bin filter=gone\n")
    (root / "src").mkdir()
    (root / "src/x.txt").write_text("x\n")
    sh(root, "git init -qb main; git add -A; git commit -qm one; git branch keep; git tag v1")
    fill(root, dice, 12)
    sh(root, "git add -A; git commit -qm two; git checkout -qb other; echo o > o.txt; echo o >> a.txt; git add -A")
    sh(root, "git commit -qm o; git checkout -qf main; echo s >> a.txt; git stash -q")
    fill(root, dice, 12)
    sh(root, "git add -A -- src")
    fill(root, dice, 12)
    (root / ".env").write_text("KEY=1\n")
    (root / ".env").chmod(0o600)
    if dice.random() < 0.5:
        sh(
            root,
            "mkdir -p nested/inner && cd nested/inner && git init -q && echo i > i.txt && mkdir -p d && echo j > d/j",
        )
    if dice.random() < 0.3:
        sh(
            root,
            "git update-index --assume-unchanged a.txt; git update-index --skip-worktree src/x.txt; echo hid >> a.txt",
        )


def lying(root: Path) -> dict[str, tuple[object, ...]]:
    """What lies in a work tree: permissions and bytes, or where a link leads."""
    found: dict[str, tuple[object, ...]] = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [one for one in folders if one not in (".git", ".w")]
        links = [one for one in folders if os.path.islink(os.path.join(folder, one))]
        for name in [*names, *links]:
            path = os.path.join(folder, name)
            what = os.lstat(path)
            is_link = stat.S_ISLNK(what.st_mode)
            content: object = os.readlink(path) if is_link else Path(path).read_bytes()
            found[os.path.relpath(path, root)] = (content, None if is_link else what.st_mode & 0o777)
    return {path: one for path, one in found.items() if not path.endswith("/.git") and path != ".git"}


def refs(root: Path) -> set[str]:
    """The names of branches and tags, and the messages of the stash."""
    asked = "git for-each-ref --format='%(refname)' refs/heads refs/tags; git stash list --format=%gs"
    done = subprocess.run(["bash", "-c", asked], cwd=root, capture_output=True, text=True, check=False)
    return set(done.stdout.splitlines())


def trial(number: int, folder: Path) -> str:
    """One trial: "" where all is as before, else what is not."""
    dice = random.Random(number)
    root, form = folder / "p", FORMS[number % len(FORMS)]
    project(root, dice)
    store = Store(git.discover(str(root), environ.current()))
    if dice.random() < 0.5:  # not the first snapshot of its store
        store.save()
        fill(root, dice, 6)
    before, named = lying(root), refs(root)
    name = store.save("s", form)
    sh(root, form)
    store.restore(name)
    after = lying(root)
    wrong = [repr(path) for path in {**before, **after} if before.get(path) != after.get(path)]
    if form.startswith(REFS):
        store.restore_refs(name)
        wrong += sorted(named - refs(root))
    return f"{number} {form}: {', '.join(wrong)}" if wrong else ""


def main(count: int, start: int = 0) -> int:
    """Runs trials by their numbers, and says which failed."""
    failed = 0
    for number in range(start, count):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            told = trial(number, Path(folder))
        failed += bool(told)
        if told or number % 500 == 499:
            print(told or f"{number + 1} done, {failed} failed", flush=True)
    print(f"{count - start} trials, {failed} failed")
    return failed


if __name__ == "__main__":
    sys.exit(bool(main(*map(int, sys.argv[1:]))))
