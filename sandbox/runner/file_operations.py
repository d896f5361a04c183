"""File operations below the workspace, for the host."""

from __future__ import annotations

import errno
import os
from typing import Any

from core.dir_walk import list_folder, read, remove, write


def perform(root: str, request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """Do one operation.

    Args:
        root: Absolute path of the workspace.
        request: operation (read, write, remove, list), path, and offset, limit, depth where they apply.
        data: What to write.

    Returns:
        Reply and data: {"errno", "error"} where the system refused, else what was asked for.
    """
    operation, path = request["operation"], request["path"]
    try:
        if operation == "read":
            content, size_bytes = read(root, path, request["offset"], request["limit"])
            return {"size_bytes": size_bytes}, content
        if operation == "write":
            write(root, path, data)
        elif operation == "remove":
            remove(root, path)
        elif operation == "list":
            found = list_folder(root, path, request["depth"], request["limit"])
            return {"entries": found}, b""
        else:
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    except OSError as error:
        return {"errno": error.errno or errno.EIO, "error": error.strerror or str(error)}, b""
    return {}, b""
