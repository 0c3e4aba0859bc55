"""Plain records for the light path, where dataclasses and named tuples cost more than the work.  [light]"""


class Plain:
    """A record: its `__slots__` are its fields, two of equal fields are equal."""

    __slots__: tuple[str, ...] = ()
    __hash__ = None  # type: ignore[assignment]  # its fields may change

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    def __repr__(self) -> str:
        told = ", ".join([f"{name}={getattr(self, name)!r}" for name in self.__slots__])
        return f"{type(self).__name__}({told})"
