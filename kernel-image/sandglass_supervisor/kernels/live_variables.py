"""Which environment variables a kernel that runs already can be given, and which it must be started anew for (pure).

A kernel of a seat starts before its sandbox is known. What it reads of the environment only when code asks, it finds in
time if the variables are set before the first run: 15 ms from a claim to the first result. What it reads while it
starts it would never see, and starting it anew takes a third of a second. ``tests/test_seat_variables.py`` records what
a Python kernel reads, and fails if something is missing here; for Node it was recorded with a ``getenv`` of our own.
"""

from collections.abc import Iterable

# The C library, its loader and OpenSSL, in both: at the start, or when the first of them is used, which has been.
# Locale, memory allocation, libraries and their folders, character sets.
_EVERYWHERE = frozenset({"LANG", "LANGUAGE", "LOCPATH", "NLSPATH", "GCONV_PATH", "GLIBC_TUNABLES", "HOME"})
_EVERYWHERE_PREFIXES = ("LC_", "LD_", "MALLOC_", "OPENSSL")
# HOME: folders of packages (~/.local, ~/.node_modules) and of IPython.
_FRESH = {
    # IPython looks up the terminal and the user, whoever ends up seeing them; MPLBACKEND chooses the backend.
    "python": frozenset({"ANDROID_DATA", "COLUMNS", "IN_SPHINX_RUN", "LINES", "MPLBACKEND", "TERM", "USER"}),
    # The image has Node use the proxies that its environment names, and Node reads them once (NODE_USE_ENV_PROXY).
    # PATH: where an image has no Node of its own beside the supervisor, it says which Node runs.
    "nodejs": frozenset(
        "HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy PATH WATCH_REPORT_DEPENDENCIES".split()
    ),
}
_FRESH_PREFIXES = {
    # The interpreter's own (sys.path, hashes, memory, threads), and what the kernel's packages read when imported.
    "python": tuple("PYTHON _PYTHON __PYVENV IPYTHON JPY_ JUPYTER_ PYZMQ_ TORNADO_ TRAITLETS_ XDG_".split()),
    "nodejs": ("NODE_", "ICU_", "SIMDUTF_"),
}
# Read anew when the kernel is told so: Python by time.tzset(), Node by an assignment to process.env.
TIME_ZONE = frozenset({"TZ", "TZDIR"})


def starts_anew(language: str, names: Iterable[str]) -> bool:
    """Whether a running kernel of that language must be started anew to have variables of these names.

    All other variables are set in the running process: libraries that are not loaded yet find them there when they are
    (OMP_NUM_THREADS of NumPy), and programs inherit them (TMPDIR, PIP_*, proxies).
    """
    exact = _EVERYWHERE | _FRESH[language]
    prefixes = _EVERYWHERE_PREFIXES + _FRESH_PREFIXES[language]
    return any(name in exact or name.startswith(prefixes) for name in names)
