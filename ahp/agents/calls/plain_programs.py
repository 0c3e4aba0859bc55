"""Programs that change no file but those that can be read of their command line; of git, these verbs.  [light]"""

_PROGRAMS = """
    : [ awk basename cat cd chgrp chmod chown cksum clear cmp column comm cp curl cut date declare df diff dirname du
    echo egrep env exit export expr false fgrep file find fold free gh grep head hostname id install jq kill less ln
    local ls lsof md5sum mkdir mktemp more mv nl nproc od paste pgrep popd printenv printf ps pushd pwd read readlink
    realpath return rev rg rm rmdir sed seq set sha1sum sha256sum shift sleep sort source sponge stat strings sudo tac
    tail tee test time timeout touch tr tree true truncate type ulimit umask uname uniq unset wait wc wget whereis
    which who whoami xargs xxd yes yq zcat
"""
_VERBS = """
    add blame branch cat-file check-ignore commit config describe diff fetch for-each-ref grep help log ls-files
    ls-remote ls-tree merge-base name-rev notes push reflog remote rev-list rev-parse shortlog show show-ref status tag
    var version whatchanged
"""
_PLAIN, _PLAIN_VERBS = frozenset(_PROGRAMS.split()), frozenset(_VERBS.split())


def is_plain(program: str, verb: str) -> bool:
    """Whether the program, or the verb of git, is one of them; a bare assignment or redirect is."""
    return verb in _PLAIN_VERBS if program == "git" else program in _PLAIN or program == ""
