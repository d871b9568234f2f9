"""``python -I -m sandglass_supervisor``: the container's first process."""

import os
import signal
import sys

from .lacking import coverable, lacking, report


def main() -> int:
    """Protect the process, read the settings, serve."""
    missing = lacking()
    if missing:
        return report(missing)
    # Not before it is known that this Python can read it.
    from . import linux

    # Before the key is read: from here on nobody with the same user may look into this process.
    linux.set_undumpable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Sandboxes that mount the same claim are different users of one group.
    os.umask(0o002)

    from .children import log
    from .loop import Loop
    from .settings import BadSetting, take
    from .supervisor import Supervisor

    try:
        settings = take(os.environ)
    except BadSetting as error:
        log("refused", reason=error)
        return 2
    for folder in coverable():
        log("coverable", folder=folder)
    Supervisor(settings, Loop()).run()
    # As if the signal had ended it: with 0 a kubelet calls a pod that it evicts "Succeeded", and drops the cause.
    return 128 + signal.SIGTERM


if __name__ == "__main__":
    sys.exit(main())
