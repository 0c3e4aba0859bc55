"""`source`: tests, assertions and suppressions, from the syntax of both states of a file."""

from __future__ import annotations

from typing import Any

import pytest

from ahp.facts import source, syntax
from ahp.facts.registry import Absent
from ahp.system import git
from ahp.system.history import CommitView, RangeView
from tests.conftest import Repo

ALL = [f"source.{field}" for field in source.NAMESPACE.schema]
SAMPLES = {
    "a.py": (
        "class T:\n  def test_a(self):\n    self.assertEqual(1, 2)\n@pytest.mark.skip\n"
        "async def test_b():\n  '''def test_c(): assert 1'''\n  assert 1  # def test_d()\n"
    ),
    "a.js": 'it("a", () => { expect(1) })\nxit("b", f)\n// it("c")\nassert.equal(1, 1)\n',
    "a.ts": 'test.each([1])("a", (x: number) => expect(<any>x))\ntest.skip("b", f)\nassert(1)\n',
    "a.go": "package a\nfunc TestA(t *T) { t.Skip(); t.Fatal() }\n// func TestC()\nfunc TestB() { assert.Equal(1) }\n",
    "a.rs": '#[test]\nfn a() { assert!(1); "#[test]"; }\n#[tokio::test]\n#[ignore]\nfn b() { assert_eq!(1, 1); }\n',
    "A.java": "class A { @Test @Disabled(1) void a() { assertTrue(1); }\n@ParameterizedTest void b() { assert x; } }\n",
    "a.rb": "it 'a' do\n  expect(1).to eq 1\nend\ndef test_b\n  skip 'x'\n  assert 1\nend\n",
    "a.php": "<?php class A { #[Test] function a() { $this->assertTrue(1); }\n"
    "function testB() { self::assertTrue(1); $this->markTestSkipped('x'); } }\n",
    "a.exs": 'test "a" do\n  assert 1\nend\n@tag :skip\ntest "b", %{} do\n  refute 1\nend\n',
    "a.cs": "class A { [Fact] void A() { Assert.True(1); }\n[Theory(Skip=1)] void B() { x.Should().Be(1); } }\n",
}


@pytest.mark.parametrize("path", SAMPLES)
def test_each_language_tells_its_tests_skips_and_assertions(path: str) -> None:
    read = syntax.Source(path, SAMPLES[path].encode())
    found = {sort: len([*read.are(sort)]) for sort in ("test", "skip", "assertion")}
    assert found == {"test": 2, "skip": 1, "assertion": 2}


BEFORE = {
    "test_a.py": "def test_a():\n    assert 1\n    assert 2\n\ndef test_b():\n    assert 3\n",
    "gone.test.ts": 'it("goes", () => expect(1))\nit("moves", () => expect(1))\n',
    "lib.py": "import x  # noqa: F401\n",
}
AFTER = {
    "test_a.py": "class TestA:\n    def test_a(self):\n        assert 1\n\n@unittest.skip\ndef test_c():\n    pass\n",
    "new.test.ts": '  it("moves", () => expect(1))\n',
    "lib.py": "\nimport x  # noqa: F401\nimport y  # type: ignore[z]  # it has no types\nimport z  # noqa\n",
    "A.java": 'class A { @SuppressWarnings("x") int a; }\n',
    "notes.txt": "def test_d(): assert 1  # noqa\n",
}


def told(facts: dict[str, Any]) -> list[object]:
    keys = ("name", "name", "name", "reason")
    lists = [[one[key] for one in facts[path]] for path, key in zip(ALL[:4], keys, strict=True)]
    return [*lists, *(facts[path] for path in ALL[4:])]


def test_they_are_compared_in_every_view(repo: Repo, make_event: Any, gather: Any) -> None:
    first = repo.commit("one", **BEFORE)
    repo.git("rm", "-q", "gone.test.ts")
    for path, text in AFTER.items():
        repo.write(path, text)
    repo.add()
    expected = [["\"goes\"", "test_b"], ["test_c"], ["unittest.skip"], ["", "it has no types", ""], 5, 2]  # fmt: skip
    staged = gather(make_event(), *ALL)
    assert [*told(staged)[:2], [*map(str.strip, told(staged)[2])], *told(staged)[3:]] == [
        expected[0], expected[1], ["@unittest.skip"], *expected[3:]
    ]  # fmt: skip
    assert [one["path"] for one in staged["source.suppressions.added"]] == ["A.java", "lib.py", "lib.py"]
    repo.commit("two")
    repository = git.discover(str(repo.root), {})
    for view in (CommitView(repository, "HEAD"), RangeView(repository, first, repo.head())):
        assert gather(make_event(view=view), *ALL) == staged


def test_a_file_that_cannot_be_read_makes_them_absent(
    repo: Repo, make_event: Any, gather: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.write("a.py", "x = 1\n")
    repo.write("a.rb", "x = 1\n")
    repo.add()
    rust = syntax.language_of("a.rb")
    monkeypatch.setitem(rust.grammars if rust else {}, ".rb", "tree_sitter_never.language")
    missing = gather(make_event(), *ALL)["missing"]
    assert {command for _, command in missing.values()} == {"pip install tree-sitter-never"}
    monkeypatch.setattr(syntax, "_LARGEST", 3)
    with pytest.raises(Absent, match="larger than"):
        syntax.Source("a.py", b"x = 1")


@pytest.mark.parametrize(
    ("path", "text", "reason"),
    [
        ("a.py", "import x  # noqa: F401\n", ""),
        ("a.py", "import x  # noqa: F401  # others import it\n", "others import it"),
        ("a.ts", "// @ts-ignore\nx()\n", ""),
        ("a.ts", "// @ts-expect-error the types are old\nx()\n", "the types are old"),
        ("a.ts", "// eslint-disable-next-line no-eval -- it is ours\nx()\n", "it is ours"),
        ("a.ts", "// biome-ignore lint/a: it is ours\nx()\n", "it is ours"),
        ("a.go", "package a\nvar x = 1 //nolint:gosec // it is no secret\n", "it is no secret"),
        ("a.rs", "#[allow(dead_code)] // for tests\nfn a() {}\n", "for tests"),
        ("A.java", '@SuppressWarnings("x") // http://a is old\nclass A {}\n', "http://a is old"),
        ("a.rb", "x = 1 # rubocop:disable A/B -- as is\n", "as is"),
    ],
)
def test_the_reason_of_a_silenced_checker_stands_behind_it(
    repo: Repo, make_event: Any, gather: Any, path: str, text: str, reason: str
) -> None:
    repo.write(path, text)
    repo.add()
    (one,) = gather(make_event(), "source.suppressions.added")["source.suppressions.added"]
    assert (one["path"], one["reason"]) == (path, reason)
