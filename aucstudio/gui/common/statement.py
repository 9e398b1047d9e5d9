"""A conclusion and its details."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Statement:
    """Words about a picture.

    Attributes
    ----------
    headline : str
        One sentence: what the picture shows.
    more : str
        How sure that is, what decides it, what is left out.
    """

    headline: str = ""
    more: str = ""

    @classmethod
    def of(cls, *parts: str) -> Statement:
        """Make a statement of sentences, some of which may be empty; the first is the headline."""
        said = [part for part in parts if part]
        return cls(said[0] if said else "", " ".join(said[1:]))

    def then(self, *parts: str) -> Statement:
        """State this, and then something more."""
        return Statement.of(self.headline, self.more, *parts)

    @property
    def text(self) -> str:
        """All of it."""
        return " ".join(part for part in (self.headline, self.more) if part)
