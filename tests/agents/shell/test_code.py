from __future__ import annotations

import pytest

from ahp.agents.shell.code import general


@pytest.mark.parametrize(
    ("text", "scripts", "commands"),
    [
        ("os.system('a b')", ["a b"], []),
        ("subprocess.run(['a', 'b'], check=True)", [], [["a", "b"]]),
        ('import subprocess as s\ns.check_output("a b", shell=True)', ["a b"], []),
        ("os.execvp('a', ['a', 'b'])", [], [["a", "b"]]),
        ("os.system('a' + ' b')", ["a b"], []),
        ("child_process.spawn('a', ['b', 'c'])", [], [["a", "b", "c"]]),
        ('system "a", "b"', [], [["a", "b"]]),
        ("exec 'a b'; x", ["a b"], []),
        ("print `a b`", ["a b"], []),
        ("x = %x(a b)", ["a b"], []),
        ("qx{a b}; qx/c/", ["a b", "c"], []),
        ('do shell script "a b"', ["a b"], []),
        ("app.run('a b')", [], []),
        ("const x = `a b`", [], []),
        ("from os import system", [], []),
        ("print('''a 'b' c''')", [], []),
        ('(ext:run-shell-command "a")', ["a"], []),
    ],
)
def test_what_it_starts_is_told(text: str, scripts: list[str], commands: list[list[str]]) -> None:
    found = general(text)
    assert (found.scripts, found.commands, found.unknown) == (scripts, commands, False)


@pytest.mark.parametrize(
    "text",
    [
        "os.system(x)",
        "exec(x)",
        "eval(input())",
        "getattr(os, 'sys' + 'tem')('a')",
        "__import__('os').system('a')",
        "from os import system as s; s('a')",
        "exec(base64.b64decode('eA=='))",
        "exec(open('x.py').read())",
        "exec(compile(open(f).read(), f, 'exec'))",
        "runpy.run_path('x.py')",
        "use strict;\ndo './x.pl';",
        "load 'x.rb'",
        "process.binding('spawn_sync')",
    ],
)
def test_what_is_computed_may_be_anything(text: str) -> None:
    assert general(text).unknown


@pytest.mark.parametrize(
    ("text", "reads", "unsure"),
    [
        ("print(open('a.txt').read())", ["a.txt"], []),
        ("save('a.txt')", [], ["a.txt"]),
        ("open(x, 'w'); change('.a' + 'hp')", [], [".ahp"]),
        ("print('a sentence. and more', 'https://x.test/y')", [], []),
    ],
)
def test_strings_that_look_like_paths_are_files(text: str, reads: list[str], unsure: list[str]) -> None:
    found = general(text)
    assert (found.reads, found.unsure) == (reads, unsure)


@pytest.mark.parametrize(
    "text",
    [
        "open('d/e', 'w')",
        "open('d/' + 'e', mode='ab')",
        "open(file='d/e', mode='r+')",
        "io.open('d/e', encoding='utf-8', mode='w')",
        "with open(os.path.join('d', 'e'), 'w') as f: f.write('x')",
        "os.open('d/e', os.O_WRONLY | os.O_TRUNC)",
        "p = 'd/e'\ns = open(p).read()\ns = s.replace('a', 'b')\nopen(p, 'w').write(s)",
        "d = 'd'\nopen(f'{d}/e', 'w')",
        "d = 'd'\np = d + '/e'\nopen(p, 'w')",
        "from pathlib import Path\nPath('d/e').write_text('x')",
        "p = pathlib.Path('d') / 'e'\np.write_text(p.read_text().replace('a', 'b'))",
        "p: Path = Path('d/e')\np.unlink(missing_ok=True)",
        "Path('d/e').open('w').write('')",
        "Path('a/b').rename('d/e')",
        "Path('d/e').resolve().chmod(0o644)",
        "os.remove('d/e')",
        "os.rename('d/e', '/tmp/x')",
        "os.replace('/tmp/x', 'd/e')",
        "os.chmod('d/e', 0o644)",
        "os.truncate('d/e', 0)",
        "shutil.copy('/tmp/x', 'd/e')",
        "shutil.move('d/e', '/tmp')",
        "os.symlink('/dev/null', 'd/e')",
        "for p in ['x/y', 'd/e']:\n    os.chmod(p, 0o644)",
        "for p in ('d/e',): p2 = 1; os.unlink(p)",
        "[os.remove(p) for p in ['d/e']]",
        "os.chdir('d'); os.remove('e')",
        "import fileinput\nfor line in fileinput.input('d/e', inplace=True): print(line)",
        "require('fs').writeFileSync('d/e', '')",
        "const fs = require('fs'); const p = 'd/e'; fs.writeFileSync(p, fs.readFileSync(p, 'utf8').replace('a', 'b'))",
        "import {unlinkSync} from 'fs'; unlinkSync(`d/e`)",
        "require('fs').promises.rm('d/e')",
        "fs.renameSync(path.join('d', 'e'), '/tmp/x')",
        "fs.openSync('d/e', 'w')",
        "['d/e'].forEach(f => fs.chmodSync(f, 0o644))",
        "for (const f of ['d/e']) { fs.unlinkSync(f) }",
        "Deno.writeTextFileSync('d/e', '')",
        "File.write('d/e', 'x')",
        "File.open('d/e', 'w') { |f| f.puts 'x' }",
        "FileUtils.rm_f 'd/e'",
        "FileUtils.chmod 0644, 'd/e'",
        "%w[a].each { |x| }; ['d/e'].each { |f| File.delete(f) }",
        "unlink 'd/e'",
        "chmod 0644, 'd/e';",
        "rename 'd/e', 'x';",
        "open(F, '>d/e')",
        "open(my $f, '>', 'd/e') or die",
        "my $p = 'd/e'; open my $f, '>>', $p;",
        "foreach my $f ('d/e') { unlink $f }",
        "file_put_contents('d/e', '');",
        "$p = 'd/e'; unlink($p);",
        "foreach (['d/e'] as $p) { chmod($p, 0644); }",
        "fopen('d/e', 'w');",
        "Files.writeString(Path.of('d/e'), x)",
    ],
)
def test_what_a_call_writes_is_written(text: str) -> None:
    assert "d/e" in general(text).writes


@pytest.mark.parametrize(
    "text",
    [
        "open('out.txt', 'w').write(open('d/e').read())",
        "shutil.copy('d/e', '/tmp/x')",
        "json.dump(json.load(open('d/e', 'rb')), open('out.txt', 'w'))",
        "p = Path('d/e')\nPath('out.txt').write_text(p.read_text())",
        "p = 'd/e'\nprint(open(p).read())\np = 'out.txt'\nopen(p, 'w')",
        "fs.writeFileSync('out.txt', fs.readFileSync('d/e'))",
        "File.write('out.txt', File.read('d/e'))",
        "open('out.txt', 'w') if os.path.exists('d/e') else 0",
        "old = \"open('d/e', 'w')\"\ns = s.replace(old, 'x')\nopen('out.txt', 'w').write(s)",
        "open('out.txt', 'w').write('''\np = 'd/e'\nopen(p, 'w')\n''')",
    ],
)
def test_what_is_only_read_beside_a_write_is_not_written(text: str) -> None:
    found = general(text)
    assert "d/e" not in (*found.writes, *found.unsure)


@pytest.mark.parametrize(
    "text",
    [
        "x.remove('d/e'); open(y, 'w')",
        "'d/e'.replace('d', 'f'); open(y, 'w')",
        "f('d/e', open(y, 'w'))",
        "class A:\n    p = 'd/e'\nopen(A.p, 'w')",
        "p = 'd/e'\nopen(globals()['p'], 'w')",
        "def f(): open(p, 'w')\np = 'd/e'\nf()",
        "open(**{'file': 'd/e', 'mode': 'w'})",
        "Path('d/e').open(m).write(x)",
        "open('d/e', m).write(x)",
        "from os import remove as read; read('d/e')",
        "for f in glob.glob('d/e'): os.remove(f)",
        "f = open('d/e'); open(f.name, 'w')",
        "q = Path('d/e').parent; (q / 'x').write_text('')",
    ],
)
def test_what_may_be_written_is_not_sure(text: str) -> None:
    found = general(text)
    assert "d/e" in found.unsure and "d/e" not in found.writes


def test_a_name_in_an_unknown_folder_is_told_where_it_is_a_hidden_one() -> None:
    assert general("open(f'{d}/config', 'w'); open(f'{name}.yaml', 'w')").writes == []
    assert general("open(f'{d}/.git/config', 'w'); open(f'd/{name}', 'w')").writes == ["**/.git/config", "d/**"]
