"""``python -I -m sandglass_supervisor``: the container's first process."""

import os
import signal
import sys

from .image_check import coverable, lacking, report


def main() -> int:
    """Protect the process, read the settings, serve."""
    # Python's own hashes do: OpenSSL takes 3.5 MiB, and when memory ends, Linux ends the largest process first.
    sys.modules["_hashlib"] = None  # type: ignore[assignment]
    missing = lacking()
    if missing:
        return report(missing)
    # Not before it is known that this Python can read it.
    from . import linux

    oom_score = linux.OomScore()
    # Before the key is read: from here on nobody with the same user may look into this process.
    linux.set_undumpable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Sandboxes that mount the same claim are different users of one group.
    os.umask(0o002)

    from . import mounted_files
    from .loop import Loop
    from .processes.children import log
    from .settings import BadSetting, take
    from .supervisor import Supervisor

    try:
        settings = take(os.environ)
    except BadSetting as error:
        log("refused", reason=error)
        return 2
    if os.getpid() == 1:
        for path in mounted_files.writable(settings.volumes):
            return report(mounted_files.words(path))
    for folder in coverable():
        log("coverable", folder=folder)
    Supervisor(settings, Loop(), oom_score).run()
    # As if the signal had ended it: with 0 a kubelet calls a pod that it evicts "Succeeded", and drops the cause.
    return 128 + signal.SIGTERM


if __name__ == "__main__":
    sys.exit(main())
