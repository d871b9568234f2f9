"""``import mcptools`` in a program, where the workspace has no package of that name yet: this installation's own."""

import sys
from importlib.util import module_from_spec

from sandglass_supervisor.inside.tools import package

_spec = package()
if _spec is not None and _spec.loader is not None:
    # What an import gives is what stands here at its end.
    sys.modules[__name__] = module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules[__name__])
