# SPDX-License-Identifier: MIT
"""``import chasqui.torch`` makes "chasqui" a backend of torch.distributed, for tensors in the memory of CPUs:

    import torch.distributed as dist
    import chasqui.torch
    dist.init_process_group("chasqui")
"""

from datetime import timedelta
from typing import Any

import torch
import torch.distributed as _dist

try:
    from chasqui import _torch
except ImportError as error:
    raise ImportError(
        "this chasqui was built where torch and its headers were not found: with both there (Debian: python3-torch, libtorch-dev) "
        "install it again, pip install --no-build-isolation .") from error


def _make_group(store: Any, rank: int, size: int, timeout: timedelta) -> Any:
    return _torch.make_group(store, rank, size, timeout)


if not hasattr(_dist.Backend, "CHASQUI"):
    _only_cpus = {"devices": ["cpu"]} if int(torch.__version__.split(".")[0]) >= 2 else {}
    _dist.Backend.register_backend("chasqui", _make_group, **_only_cpus)
