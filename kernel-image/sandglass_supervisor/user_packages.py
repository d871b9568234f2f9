"""``python -m sandglass_supervisor.user_packages``: pip of this environment may change what it installed for the user.

Run once, when an image is built. In an environment pip leaves everything outside of its folder as it is, also what it
has put into the home folder itself: a new version then comes beside the old one, and nothing can be removed.
"""

import sys
from pathlib import Path

_ADDED = '''

# Added by sandglass_supervisor.user_packages.
_is_of_environment = is_local


def is_local(path: str) -> bool:
    """True for what lies in the environment, or in the folder of packages that are installed for the user."""
    import site

    home = os.path.join(normalize_path(site.getuserbase()), "")
    return _is_of_environment(path) or normalize_path(path).startswith(home)
'''
# Of each file that is removed newer versions ask this instead.
_ADDED_TO_REMOVAL = """

# Added by sandglass_supervisor.user_packages.
def _permitted(self, path: str, permitted=UninstallPathSet._permitted) -> bool:
    from pip._internal.utils import misc

    return permitted(self, path) or misc.is_local(path)


UninstallPathSet._permitted = _permitted
"""


def main() -> int:
    """Add to pip what it lacks, unless it is there; 1 if this environment has no pip of its own, or an unknown one."""
    try:
        from pip._internal.req import req_uninstall
        from pip._internal.utils import misc
    except ImportError:
        return _refuse("this Python has no pip")
    if not Path(misc.__file__).is_relative_to(sys.prefix):
        return _refuse(f"its pip is not its own: {misc.__file__}")
    if not hasattr(misc, "is_local") or not hasattr(req_uninstall.UninstallPathSet, "_permitted"):
        return _refuse("its pip is of a version that is not known here")
    _add(Path(misc.__file__), _ADDED)
    _add(Path(req_uninstall.__file__), _ADDED_TO_REMOVAL)
    return 0


def _add(file: Path, code: str) -> None:
    text = file.read_text(encoding="utf-8")
    if code not in text:
        file.write_text(text + code, encoding="utf-8")


def _refuse(why: str) -> int:
    sys.stderr.write(
        f"{sys.executable}: {why}; make an environment with: python3 -m venv --system-site-packages FOLDER\n"
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
