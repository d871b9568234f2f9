"""HTML as a model reads it: its text, a line for each block, a row for each row of a table (pure).

Not on the standard library's html.parser: it takes 43 s for 64 KiB of ``<a ``, and the supervisor has one thread. Here
every search ends the reading if it fails, so the time grows with the length alone.
"""

import re
import string
from collections.abc import Callable, Iterator

from ..limits import HTML_CHARS

_HIDDEN = frozenset({"script", "style", "template", "title"})
_BLOCKS = frozenset(
    "address article aside blockquote br caption center dd details div dl dt figcaption figure footer form h1 h2 h3 h4 "
    "h5 h6 header hr li main nav ol p pre section summary table tbody tfoot thead tr ul".split()
)
_CELLS = frozenset({"td", "th"})
_MEDIA = {
    "img": "picture",
    "audio": "audio",
    "video": "video",
    "iframe": "frame",
    "embed": "object",
    "canvas": "canvas",
}
_TAG = re.compile(r"/?[a-zA-Z][a-zA-Z0-9]{0,20}")
_SAID = re.compile(r"""\b(alt|title|src)=(?:"([^"]*)"?|'([^']*)'?|([^\s>"']+))""", re.IGNORECASE)
_ATTRIBUTE_CHARS = 500
_SAID_CHARS = 200
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)  # str.lower changes the length of some texts
_KEPT_SPACE = "\0"


def html_text(page: str) -> str:
    """The text of a page or fragment, however broken; of a long one the beginning, and a note of what is missing.

    Empty if there is none, as in a page that only scripts fill.
    """
    parts: list[str] = []
    preformatted = False
    for text, tag, attributes in _tokens(page[:HTML_CHARS]):
        parts.append(text.replace(" ", _KEPT_SPACE) if preformatted else text.replace("\n", " "))
        preformatted = tag == "pre" or (preformatted and tag != "/pre")
        if tag in _CELLS:
            parts.append(" | ")
        elif tag in _MEDIA:
            parts.append(_medium(_MEDIA[tag], attributes))
        elif tag == "li":
            parts.append("\n- ")
        elif tag.lstrip("/") in _BLOCKS:
            parts.append("\n")
    unescape = _unescape() if "&" in page else str
    lines = (" ".join(unescape(line).split()).strip("| ") for line in "".join(parts).split("\n"))
    text = "\n".join(line for line in lines if line.strip("-")).replace(_KEPT_SPACE, " ")
    missing = len(page) - HTML_CHARS
    return text if missing <= 0 or not text else f"{text}\n[... {missing} characters of HTML left out ...]"


def _tokens(page: str) -> Iterator[tuple[str, str, str]]:
    """Each tag as (text before it, lower-case name with the slash of an end tag, attributes); the name may be empty."""
    folded = page.translate(_LOWER)
    at = 0
    while True:
        start = page.find("<", at)
        if start < 0:
            yield page[at:], "", ""
            return
        name = _TAG.match(page, start + 1)
        if name is None and not page.startswith(("<!", "<?"), start):
            yield page[at : start + 1], "", ""
            at = start + 1
            continue
        tag = "" if name is None else name[0].lower()
        closing = f"</{tag}" if tag in _HIDDEN else "-->" if page.startswith("<!--", start) else ">"
        end = folded.find(closing, start)
        yield page[at:start], tag, page[start : start + _ATTRIBUTE_CHARS if end < 0 else end][:_ATTRIBUTE_CHARS]
        if end < 0:
            return
        at = end + len(closing)
        if tag in _HIDDEN:
            at = page.find(">", at) + 1 or len(page)


def _medium(kind: str, attributes: str) -> str:
    said = {found[1].lower(): found[2] or found[3] or found[4] or "" for found in _SAID.finditer(attributes)}
    about = said.get("alt") or said.get("title") or said.get("src") or ""
    # A picture inside the page is thousands of letters that say nothing.
    return f"[{kind}]" if not about or about.startswith("data:") else f"[{kind}: {about[:_SAID_CHARS]}]"


def _unescape() -> Callable[[str], str]:
    """What puts characters in the place of references, for a whole page: to find out that it cannot takes its time."""
    try:
        # Its table of 2,231 names is in the memory only where it is needed.
        import html
    except OSError:  # no descriptor is left to read it by
        return str

    def unescaped(text: str) -> str:
        try:
            return html.unescape(text)
        except ValueError:  # a reference of thousands of digits
            return text

    return unescaped
