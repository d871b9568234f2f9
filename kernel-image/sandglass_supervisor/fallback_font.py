"""``python -m sandglass_supervisor.fallback_font FILE``: matplotlib draws with that font what no other font has.

Run once, when an image is built. Matplotlib asks the fonts of ``font.family`` alone, and its own have no East Asian
letters: a title in Chinese, Japanese or Korean would be empty boxes, whatever style or family the code chose.
"""

import sys
from pathlib import Path

_ADDED = '''

# Added by sandglass_supervisor.fallback_font.
def _and_fallback(self, prop, fontext="ttf", *args, _found=FontManager._find_fonts_by_props, **more):
    """The fonts that are asked for, and one more for letters that none of them has."""
    found = _found(self, prop, fontext, *args, **more)
    fallback = FontPath({path!r}, 0)
    return found if fontext != "ttf" or fallback in found else [*found, fallback]


FontManager._find_fonts_by_props = _and_fallback
'''


def main(font: str) -> int:
    """Add the font to matplotlib, unless it is there; 1 if there is no such font, or matplotlib is an unknown one."""
    try:
        from matplotlib import font_manager
    except ImportError:
        return _refuse("this Python has no matplotlib")
    if not Path(font).is_file():
        return _refuse(f"there is no font {font}")
    if not hasattr(font_manager, "FontPath") or not hasattr(font_manager.FontManager, "_find_fonts_by_props"):
        return _refuse("its matplotlib is of a version that is not known here")
    file = Path(font_manager.__file__)
    text, added = file.read_text(encoding="utf-8"), _ADDED.format(path=font)
    if added not in text:
        file.write_text(text + added, encoding="utf-8")
    return 0


def _refuse(why: str) -> int:
    sys.stderr.write(f"{sys.executable}: {why}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
