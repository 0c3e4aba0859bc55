"""The names in a task or a step that are worth looking for in a project: paths, identifiers, quoted words."""

import re

_MOST = 12
_SHORTEST, _LONGEST = 3, 80
_QUOTED = re.compile(r"""[`'"“‘「]([^`'"”’」\n]{3,80})[`'"”’」]""")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:[./:-]+[A-Za-z0-9_]+)*(?:\.[A-Za-z0-9]+)?")
_TELLING = re.compile(r"[_./:]|[a-z][A-Z]|[A-Za-z]\d|^[A-Z]{3,}$")
# Words of nearly every task, which name nothing in particular.
_WORDS = """
    about add after again all also and any are before both build call calls can change check code create delete
    does done each ensure every existing file files find fix folder for from function given has have how
    implement into its line lines list look make mend method module more most name new not now of one only other
    our out over project put read remove rename replace result run same see set should show some step such sure
    task test tests than that the their them then there these they this to tool update use used using value what
    when where which will with without work write you your
"""
_COMMON = frozenset(_WORDS.split())


def names(*texts: str) -> list[str]:
    """At most 12 names, the most telling first: quoted words, paths and identifiers, then plain words of four letters.

    Earlier `texts` go before later ones. Linear in the texts, of which the first 20,000 characters count.
    """
    telling: dict[str, None] = {}
    plain: dict[str, None] = {}
    for text in (text[:20_000] for text in texts):
        telling.update(dict.fromkeys(word.strip() for word in _QUOTED.findall(text)))
        for word in _WORD.findall(text):
            if _TELLING.search(word):
                telling[word.rstrip(".:/-")] = None
            elif len(word) > _SHORTEST and word.lower() not in _COMMON:
                plain[word] = None
    found = [name for name in telling if _SHORTEST <= len(name) <= _LONGEST and not name.isdigit()]
    return list(dict.fromkeys([*found, *plain]))[:_MOST]
