"""H5PYSaverCallback: traced values in an HDF5 file."""

from __future__ import annotations

import os
from typing import Any


class H5PYSaverCallback:
    """A post_gather callback that moves what was gathered into a file."""

    def __init__(
        self,
        dataset_file: str | os.PathLike[str],
        iteration_dtype: Any = None,
        float_dtype: Any = None,
        int_dtype: Any = None,
        compression: Any = None,
        compression_opts: Any = None,
        shuffle: bool = False,
        existing_ok: bool = True,
    ) -> None:
        raise NotImplementedError
