"""A conclusion and its details."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Statement:
    """The conclusion of a picture.

    Attributes
    ----------
    headline : str
        One sentence about the picture.
    more : str
        Certainty, evidence and exceptions.
    """

    headline: str = ""
    more: str = ""

    @classmethod
    def of(cls, *parts: str) -> Statement:
        """Make a statement of sentences; the first one that is not empty is the headline."""
        given = [part for part in parts if part]
        return cls(given[0] if given else "", " ".join(given[1:]))

    def then(self, *parts: str) -> Statement:
        """Return the statement with further sentences."""
        return Statement.of(self.headline, self.more, *parts)

    @property
    def text(self) -> str:
        """All of it."""
        return " ".join(part for part in (self.headline, self.more) if part)
