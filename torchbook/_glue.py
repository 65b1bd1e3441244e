"""Hand a number of the run to the prose: `{glue:text}` on the page, plain text in the notebook."""

from IPython.display import display

from torchbook import notices

_PREFIX = "application/papermill.record/"


def glue(name: str, value: object, spec: str = "", *, of_data: bool = True) -> None:
    """Record `value` under `name` for the prose of this page.

    The text is formatted here, once, so that page and notebook cannot differ. When something must be said beside
    every result of this kernel (stand-in data), it is said beside this one too.

    Args:
        name: key, unique on the page; the prose writes ``{glue:text}`name` ``.
        value: any value; tensors of one element are unwrapped.
        spec: format specification, as in `format(value, spec)`, e.g. ".1%".
        of_data: False for what no data can change (a parameter count, a setting): nothing need be said beside it.

    Raises:
        ValueError: `name` is empty, or `spec` does not fit the value.
    """
    if not name:
        raise ValueError("glue needs a name, e.g. glue('test_accuracy', 0.91, '.3f')")
    scalar = value.item() if hasattr(value, "item") else value
    text = format(scalar, spec)
    for notice in notices.current() if of_data else ():
        text += f" ({notice})"
    metadata = {"scrapbook": {"name": name, "mime_prefix": _PREFIX, "text": text}}
    # The page finds the value by its metadata and reads it as a Python literal: a bare "5,000" would be a tuple there.
    # A notebook shows nothing for this mime type.
    display({f"{_PREFIX}text/plain": repr(text)}, metadata=metadata, raw=True)
