"""The shells, by their programs' names.  [light]"""

_NAMES = "sh bash dash zsh ksh mksh ash fish yash posh rbash csh tcsh sash elvish rc es"
SHELLS = frozenset(_NAMES.split())
SOURCING = (".", "source")
"""Programs that run a script in the shell itself."""
