"""Declares the C ABI of <zellige/api.h> to ctypes: its structures and functions. Loads the library, and raises an exception where C returns a status."""

import ctypes
import functools
import os
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint8, c_uint16, c_uint64, c_void_p


class Error(ValueError):
    """Raised for an error of the caller or the machine. The message is one sentence with the conflicting values."""


class Fault(Error):
    """Raised for an internal error of Zellige, such as a kernel that does not compile."""


class Exhausted(Error):
    """Raised where the machine has no memory, files or threads left. The same call may succeed later."""


class Tensor(ctypes.Structure):
    """The C structure zellige_tensor, which is DLPack's DLTensor."""

    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("rank", c_int32),
        ("dtype_code", c_uint8),
        ("dtype_bits", c_uint8),
        ("dtype_lanes", c_uint16),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


class Info(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("dtype", c_char_p),
        ("rank", c_int32),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("bytes", c_int64),
        ("alignment", c_int32),
        ("memory", c_int32),
        ("constant", c_int32),
    ]


# zellige_gather: rank's bytes, where those of all go, and how many
GATHER = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_size_t)
WATCH = ctypes.CFUNCTYPE(c_int32, c_void_p, c_char_p, c_int64, c_int64)


class Size(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("min", c_int64), ("max", c_int64), ("multiple", c_int64)]


class Options(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("on", c_int32),
        ("tune", c_int32),
        ("target", c_char_p),
        ("tiling", c_char_p),
        ("constants", POINTER(c_char_p)),
        ("constant_count", c_int32),
        ("workers", c_int32),
        ("as_given", c_int32),
        ("watch", WATCH),
        ("watcher", c_void_p),
        ("keep", c_int32),
        ("collectives", c_int32),
    ]


class Cost(ctypes.Structure):
    """The C structure zellige_cost: what a way to compute something costs, in microseconds, kernels and bytes."""

    _fields_ = [
        ("size", c_size_t),
        ("us", c_double),
        ("host_us", c_double),
        ("launches", c_int64),
        ("workspace", c_int64),
    ]

    def __init__(self, us=0.0, host_us=0.0, launches=1, workspace=0):
        super().__init__(ctypes.sizeof(Cost), us, host_us, launches, workspace)


_TEXTS = POINTER(c_void_p)
_COST = POINTER(Cost)
_SIGNATURES = {
    "zellige_api_version": (c_int, []),
    "zellige_version": (c_char_p, []),
    "zellige_last_error": (c_char_p, []),
    "zellige_text_free": (None, [c_void_p]),
    "zellige_graph_from_json": (c_int, [c_char_p, c_char_p, POINTER(c_void_p)]),
    "zellige_graph_free": (None, [c_void_p]),
    "zellige_graph_json": (c_int, [c_void_p, _TEXTS]),
    "zellige_graph_inputs": (c_int, [c_void_p]),
    "zellige_graph_outputs": (c_int, [c_void_p]),
    "zellige_graph_find_sizes": (c_int, [c_void_p, POINTER(POINTER(c_int64)), POINTER(c_int), c_int, POINTER(c_int64), c_int]),
    "zellige_graph_input": (c_int, [c_void_p, c_int, POINTER(Info)]),
    "zellige_graph_output": (c_int, [c_void_p, c_int, POINTER(Info)]),
    "zellige_program_new": (c_int, [c_void_p, POINTER(Options), POINTER(c_void_p)]),
    "zellige_program_load": (c_int, [c_char_p, c_char_p, c_char_p, c_size_t, POINTER(c_void_p)]),
    "zellige_manifest_seal": (c_int, [c_char_p, c_char_p, c_char_p, c_size_t, _TEXTS]),
    "zellige_cubin": (c_int, [c_char_p, c_char_p, _TEXTS, POINTER(c_size_t)]),
    "zellige_program_free": (None, [c_void_p]),
    "zellige_program_text": (c_int, [c_void_p, c_int, _TEXTS]),
    "zellige_program_price": (c_double, [c_void_p]),
    "zellige_program_workspace": (c_int64, [c_void_p]),
    "zellige_program_sizes": (c_int, [c_void_p]),
    "zellige_program_size": (c_int, [c_void_p, c_int, POINTER(Size)]),
    "zellige_program_find_sizes": (c_int, [c_void_p, c_void_p, c_int, POINTER(c_int64), c_int]),
    "zellige_program_output_sizes": (
        c_int,
        [c_void_p, c_int, POINTER(c_int64), c_int, POINTER(c_int64), POINTER(c_int64), POINTER(c_int64)],
    ),
    "zellige_program_workspace_sizes": (c_int64, [c_void_p, POINTER(c_int64), c_int]),
    "zellige_program_inputs": (c_int, [c_void_p]),
    "zellige_program_outputs": (c_int, [c_void_p]),
    "zellige_program_input": (c_int, [c_void_p, c_int, POINTER(Info)]),
    "zellige_program_output": (c_int, [c_void_p, c_int, POINTER(Info)]),
    "zellige_program_call": (c_int, [c_void_p, c_void_p, c_int, c_void_p, c_int, c_void_p]),
    "zellige_program_compile": (c_int, [c_void_p]),
    "zellige_program_time": (c_int, [c_void_p, POINTER(c_double)]),
    "zellige_ranks_of_environment": (c_int, [c_int32, POINTER(c_void_p)]),
    "zellige_ranks_of_threads": (c_int, [c_int32, c_int32, POINTER(c_void_p)]),
    "zellige_ranks_of_nccl": (c_int, [c_void_p, POINTER(c_void_p)]),
    "zellige_ranks_of_gather": (c_int, [c_int32, c_int32, c_int32, GATHER, c_void_p, POINTER(c_void_p)]),
    "zellige_ranks_free": (None, [c_void_p]),
    "zellige_ranks_rank": (c_int, [c_void_p]),
    "zellige_ranks_count": (c_int, [c_void_p]),
    "zellige_ranks_device": (c_int, [c_void_p]),
    "zellige_rank_program_new": (c_int, [c_void_p, c_void_p, POINTER(Options), POINTER(c_void_p)]),
    "zellige_rank_program_free": (None, [c_void_p]),
    "zellige_rank_program_launch": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "zellige_rank_program_wait": (c_int, [c_void_p, c_void_p]),
    "zellige_rank_program_text": (c_int, [c_void_p, c_int, _TEXTS]),
    "zellige_gpu": (c_int, [_TEXTS, _TEXTS]),
    "zellige_kept": (c_int, [c_char_p, _TEXTS]),
    "zellige_keep": (c_int, [c_char_p, c_char_p]),
    "zellige_layout": (c_int, [c_char_p, _TEXTS]),
    "zellige_layout_operations": (c_int, [_TEXTS]),
    "zellige_layout_svg": (c_int, [c_char_p, c_int, _TEXTS]),
    "zellige_operators": (c_int, [_TEXTS]),
    "zellige_dtypes": (c_int, [_TEXTS]),
    "zellige_targets": (c_int, [_TEXTS]),
    "zellige_cost_compare": (c_int, [c_int, _COST, _COST]),
    "zellige_cost_time": (c_double, [_COST]),
    "zellige_cost_pays": (c_int, [_COST, _COST, _COST]),
    "zellige_cost_worth": (c_int, [_COST, _COST, _COST]),
}
_API_VERSION = 11
_library = None


def library():
    """Returns the shared library, loaded on first use: libzellige.so next to this file, or the one that
    $ZELLIGE_LIBRARY names. Raises ImportError if it cannot be loaded or has an older ABI."""
    global _library
    if _library is None:
        path = os.environ.get("ZELLIGE_LIBRARY") or os.path.join(os.path.dirname(__file__), "libzellige.so")
        try:
            loaded = ctypes.CDLL(path)
        except OSError as why:
            raise ImportError(f"zellige: {path} cannot be loaded: {why}") from None
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(loaded, name)
            function.restype, function.argtypes = result, arguments
        if loaded.zellige_api_version() < _API_VERSION:
            found = loaded.zellige_api_version()
            raise ImportError(f"zellige: {path} has version {found} of the ABI, expected {_API_VERSION} or later")
        _library = loaded
    return _library


@functools.cache
def locked():
    """Returns the shared library, loaded so that calls keep Python's interpreter lock, for functions that use
    Python objects."""
    loaded = ctypes.PyDLL(library()._name)
    loaded.zellige_program_call_objects.argtypes = [c_void_p, c_void_p, c_void_p, c_int, c_void_p, c_int, c_void_p]
    return loaded


def checked(status: int) -> None:
    """Raises Error, Fault for status 2 or Exhausted for status 3, with the library's last message, unless `status` is 0."""
    if status:
        message = library().zellige_last_error().decode()
        raise {2: Fault, 3: Exhausted}.get(status, Error)(message)


def text_of(function, *arguments) -> str:
    """Returns the string that a C function writes to its last parameter, a `char**`. Raises Error if the function fails."""
    text = c_void_p()
    checked(function(*arguments, byref(text)))
    try:
        return ctypes.string_at(text).decode()
    finally:
        library().zellige_text_free(text)


def counted(count: int) -> int:
    """Returns `count`, the result of a C function that is -1 on failure. Raises Error in that case."""
    if count < 0:
        checked(1)
    return count


def release(owner, free: str) -> None:
    """Frees the handle of an object by the C function named `free`. Does nothing if its constructor failed before there was a handle."""
    handle = getattr(owner, "_handle", None)
    if handle and _library is not None:
        getattr(_library, free)(handle)
