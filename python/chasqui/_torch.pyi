# SPDX-License-Identifier: MIT
from datetime import timedelta
from typing import Any

def make_group(store: Any, rank: int, size: int, timeout: timedelta) -> Any: ...
