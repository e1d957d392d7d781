"""Every operator's cases."""

import accumulators  # noqa: F401 (each appends its own)
import arrangement  # noqa: F401
import dimensions  # noqa: F401
import elementwise  # noqa: F401
import products  # noqa: F401
from case import CASES  # noqa: F401
