"""What must be said beside every result of this kernel.

A module that knows something which changes how a result must be read (for instance that the data are a
stand-in) adds one short phrase here. Figures print the phrases under their titles and glued numbers carry them.
"""

_texts: dict[str, None] = {}


def add(text: str) -> None:
    """Add a phrase, short enough for a figure's subtitle; a phrase already there is kept once."""
    _texts[text] = None


def current() -> tuple[str, ...]:
    """The phrases added so far, oldest first."""
    return tuple(_texts)


def clear() -> None:
    """Forget all phrases."""
    _texts.clear()
