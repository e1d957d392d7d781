"""Binds the C ABI of <zellige/api.h> with ctypes: its structures, and functions that raise an exception where C returns a status."""

import ctypes
import functools
import json
import os
import sys
import sysconfig
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


class _Info(ctypes.Structure):
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
_WATCH = ctypes.CFUNCTYPE(c_int32, c_void_p, c_char_p, c_int64, c_int64)


class _Size(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("min", c_int64), ("max", c_int64), ("multiple", c_int64)]


class _Options(ctypes.Structure):
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
        ("watch", _WATCH),
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
    "zellige_graph_input": (c_int, [c_void_p, c_int, POINTER(_Info)]),
    "zellige_graph_output": (c_int, [c_void_p, c_int, POINTER(_Info)]),
    "zellige_program_new": (c_int, [c_void_p, POINTER(_Options), POINTER(c_void_p)]),
    "zellige_program_load": (c_int, [c_char_p, c_char_p, c_char_p, c_size_t, POINTER(c_void_p)]),
    "zellige_manifest_seal": (c_int, [c_char_p, c_char_p, c_char_p, c_size_t, _TEXTS]),
    "zellige_cubin": (c_int, [c_char_p, c_char_p, _TEXTS, POINTER(c_size_t)]),
    "zellige_program_free": (None, [c_void_p]),
    "zellige_program_text": (c_int, [c_void_p, c_int, _TEXTS]),
    "zellige_program_price": (c_double, [c_void_p]),
    "zellige_program_workspace": (c_int64, [c_void_p]),
    "zellige_program_sizes": (c_int, [c_void_p]),
    "zellige_program_size": (c_int, [c_void_p, c_int, POINTER(_Size)]),
    "zellige_program_find_sizes": (c_int, [c_void_p, c_void_p, c_int, POINTER(c_int64), c_int]),
    "zellige_program_output_sizes": (
        c_int,
        [c_void_p, c_int, POINTER(c_int64), c_int, POINTER(c_int64), POINTER(c_int64), POINTER(c_int64)],
    ),
    "zellige_program_workspace_sizes": (c_int64, [c_void_p, POINTER(c_int64), c_int]),
    "zellige_program_inputs": (c_int, [c_void_p]),
    "zellige_program_outputs": (c_int, [c_void_p]),
    "zellige_program_input": (c_int, [c_void_p, c_int, POINTER(_Info)]),
    "zellige_program_output": (c_int, [c_void_p, c_int, POINTER(_Info)]),
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
    "zellige_rank_program_new": (c_int, [c_void_p, c_void_p, POINTER(_Options), POINTER(c_void_p)]),
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
# distance from a tuple's address to its objects' addresses in CPython; 0 elsewhere
_TUPLES = tuple.__basicsize__ if sys.implementation.name == "cpython" else 0
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
def _locked():
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


def _integers(values):
    """Returns a C array of 64-bit integers."""
    return (c_int64 * max(len(values), 1))(*values)


def counted(count: int) -> int:
    """Returns `count`, the result of a C function that is -1 on failure. Raises Error in that case."""
    if count < 0:
        checked(1)
    return count


def _info(function, handle, index) -> dict:
    """Returns a dict with the fields of TensorInfo (program.py) for the input or output number `index` of a graph or
    program. `handle`: the graph or program; `function`: the C function that describes its inputs or outputs."""
    i = _Info()
    checked(function(handle, index, byref(i)))
    return {
        "name": i.name.decode(),
        "dtype": i.dtype.decode(),
        "shape": tuple(i.shape[: i.rank]),
        "strides": tuple(i.strides[: i.rank]) if i.strides else None,
        "bytes": i.bytes,
        "alignment": i.alignment,
        "memory": None if i.memory < 0 else i.memory,
        "constant": bool(i.constant),
    }


def _json(form) -> str:
    """Returns a graph's JSON string. Raises Error for values that JSON lacks."""
    try:
        return json.dumps(form, allow_nan=False)
    except TypeError as why:
        raise Error(f"graph: expected numbers, strings, lists and dicts, found a value that is none of them: {why}") from None
    except (ValueError, RecursionError):
        raise Error('graph: expected finite numbers in lists and dicts, found nan, an infinity (which is "inf" or "-inf") or a list in itself') from None


class Graph:
    """A graph that the library has parsed and validated. `form`: its JSON string, or a dict in that form. Raises Error if it is invalid."""

    def __init__(self, form, name: str = "graph"):
        self._handle = c_void_p()
        text = form if isinstance(form, str) else _json(form)
        checked(library().zellige_graph_from_json(text.encode(), name.encode(), byref(self._handle)))

    def __del__(self):
        if getattr(self, "_handle", None) and _library is not None:
            _library.zellige_graph_free(self._handle)

    @property
    def handle(self):
        return self._handle

    def form(self) -> dict:
        return json.loads(text_of(library().zellige_graph_json, self._handle))

    def inputs(self) -> list:
        count = counted(library().zellige_graph_inputs(self._handle))
        return [_info(library().zellige_graph_input, self._handle, i) for i in range(count)]

    def outputs(self) -> list:
        count = counted(library().zellige_graph_outputs(self._handle))
        return [_info(library().zellige_graph_output, self._handle, i) for i in range(count)]

    def find_sizes(self, shapes: list, count: int) -> list:
        """Returns the values of the graph's sizes at which its inputs have these shapes, None where one is not known. Raises Error if
        they disagree."""
        given = (POINTER(c_int64) * len(shapes))(*(None if s is None else _integers(s) for s in shapes))
        ranks, sizes = (c_int * len(shapes))(*(len(s or ()) for s in shapes)), (c_int64 * count)()
        checked(library().zellige_graph_find_sizes(self._handle, given, ranks, len(shapes), sizes, count))
        return list(sizes)


TEXTS = {"source": 0, "standalone": 1, "manifest": 2, "plan": 3, "price": 4, "graph": 5, "target": 6, "notes": 7, "rejected": 8, "page": 9}
ON = {"auto": 0, "gpu": 1, "emulator": 2, "reference": 3}


class _Watched:
    """Adapts a progress function of (phase, done, of) to the C ABI. An exception in it, including
    KeyboardInterrupt, ends the search; the caller raises it again from `raised`."""

    def __init__(self, watch):
        self._watch, self.raised = watch, None
        self.function = _WATCH(self._call) if watch else _WATCH()

    def _call(self, _, phase, done, of):
        try:
            return int(self._watch(phase.decode(), done, of))
        except BaseException as e:  # an exception must not cross the ABI
            self.raised = e
            return 0


class Program:
    """A compiled graph, in the C ABI. `watch`: a function of (phase, done, of), called during the search for
    fusion groups; returning false ends the search. `keep`: take the program from the user's cache, or keep it there.
    Raises Error or Fault."""

    def __init__(self, graph: Graph, *, on, target, tiling, tune, constants, workers, fuse, watch=None, keep=False):
        names = (c_char_p * max(1, len(constants)))(*[c.encode() for c in constants])
        options = _Options(
            ctypes.sizeof(_Options),
            ON[on],
            tune,
            target.encode() if target else None,
            tiling.encode() if tiling else None,
            names,
            len(constants),
            workers,
            not fuse,
        )
        watched = _Watched(watch)
        options.watch, options.keep = watched.function, keep
        _find_nvrtc()
        handle = c_void_p()
        status = library().zellige_program_new(graph.handle, byref(options), byref(handle))
        if watched.raised:
            library().zellige_program_free(handle)
            raise watched.raised
        checked(status)
        self._take(handle)

    def _take(self, handle):
        self._handle = handle
        self._call, self._objects = library().zellige_program_call, None

    def __del__(self):
        if getattr(self, "_handle", None) and _library is not None:
            _library.zellige_program_free(self._handle)

    def text(self, which: str) -> str:
        return text_of(library().zellige_program_text, self._handle, TEXTS[which])

    def price(self) -> float:
        """Returns the estimated time of the program in microseconds."""
        return library().zellige_program_price(self._handle)

    def compile(self) -> None:
        """Compiles the kernels for the GPU now, not at the first call."""
        checked(library().zellige_program_compile(self._handle))

    def time(self) -> float:
        """Returns the measured time of one evaluation on the GPU, in microseconds. Raises Error if there is no GPU."""
        us = c_double()
        checked(library().zellige_program_time(self._handle, byref(us)))
        return us.value

    def workspace(self) -> int:
        """Returns the bytes of device memory that the program needs in addition to its tensors."""
        return counted(library().zellige_program_workspace(self._handle))

    def sizes(self) -> list:
        """Returns the sizes that are known at launch only: name, min, max and multiple of each."""
        found, size = [], _Size()
        for i in range(counted(library().zellige_program_sizes(self._handle))):
            checked(library().zellige_program_size(self._handle, i, byref(size)))
            found.append({"name": size.name.decode(), "min": size.min, "max": size.max, "multiple": size.multiple})
        return found

    def workspace_at(self, sizes: list) -> int:
        """Returns the bytes of device memory that a call with these sizes needs in addition to its tensors."""
        return counted(library().zellige_program_workspace_sizes(self._handle, _integers(sizes), len(sizes)))

    def find_sizes(self, inputs, input_count: int, count: int) -> list:
        """Returns the sizes that the shapes of a C array of zellige_tensor have. Raises Error if they disagree."""
        sizes = (c_int64 * count)()
        checked(library().zellige_program_find_sizes(self._handle, inputs, input_count, sizes, count))
        return list(sizes)

    def output_at(self, index: int, rank: int, sizes: list) -> tuple:
        """Returns (shape, strides, bytes) of an output at these sizes."""
        shape, strides, size = (c_int64 * max(rank, 1))(), (c_int64 * max(rank, 1))(), c_int64()
        call = library().zellige_program_output_sizes
        checked(call(self._handle, index, _integers(sizes), len(sizes), shape, strides, byref(size)))
        return tuple(shape[:rank]), tuple(strides[:rank]), size.value

    def inputs(self) -> list:
        count = counted(library().zellige_program_inputs(self._handle))
        return [_info(library().zellige_program_input, self._handle, i) for i in range(count)]

    def outputs(self) -> list:
        count = counted(library().zellige_program_outputs(self._handle))
        return [_info(library().zellige_program_output, self._handle, i) for i in range(count)]

    def objects(self):
        """Returns (the C function that runs a program on array objects, this program's handle). call_objects calls the
        function with the handle; it returns a status, 0 for success."""
        return _locked().zellige_program_call_objects, self._handle.value

    def call_objects(self, exchange: int, inputs, outputs, stream=None) -> None:
        """Runs the program on a framework's array objects, through the framework's table of C functions
        (`exchange`). Keeps the interpreter lock during the call, and is therefore only for kernel launches."""
        if self._objects is None:  # looked up once, so that a call takes little time
            self._objects = self.objects()
        run, handle = self._objects
        inputs, outputs = tuple(inputs), tuple(outputs)
        if _TUPLES:
            ins, outs = id(inputs) + _TUPLES, id(outputs) + _TUPLES
        else:
            ins, outs = ((ctypes.py_object * len(objects))(*objects) for objects in (inputs, outputs))
        status = run(handle, exchange, ins, len(inputs), outs, len(outputs), stream)
        if status:
            checked(status)

    def call(self, inputs, input_count: int, outputs, output_count: int, stream) -> None:
        """Runs the program on C arrays of zellige_tensor. Raises Error if a tensor is not what the program
        expects."""
        checked(self._call(self._handle, inputs, input_count, outputs, output_count, stream))


def sealed(manifest: str, name: str, cubin: bytes) -> str:
    """Returns the manifest (a program's JSON description) with the hashes of `cubin` and of the manifest itself added,
    for a manifest that the library did not write. `name` denotes the manifest in messages."""
    return text_of(library().zellige_manifest_seal, manifest.encode(), _shown(name), cubin, len(cubin))


def _shown(name: str) -> bytes:
    """Returns the file name `name` as bytes, for messages. A file name may contain bytes that are not valid UTF-8."""
    return name.encode(errors="backslashreplace")


def loaded(manifest: str, name: str, cubin: bytes) -> Program:
    """Loads a compiled program from its manifest and cubin. `name` denotes the manifest in messages. Raises Error
    if the manifest does not belong to the cubin."""
    handle = c_void_p()
    checked(library().zellige_program_load(manifest.encode(), _shown(name), cubin, len(cubin), byref(handle)))
    program = Program.__new__(Program)
    program._take(handle)
    return program


def cubin(source: str, target: str) -> bytes:
    """Compiles CUDA source code, which may include Zellige's headers, with NVRTC for `target`. Returns the cubin.
    Raises Fault if NVRTC rejects the source code."""
    _find_nvrtc()
    made, size = c_void_p(), c_size_t()
    checked(library().zellige_cubin(source.encode(), target.encode(), byref(made), byref(size)))
    try:
        return ctypes.string_at(made, size.value)
    finally:
        library().zellige_text_free(made)


def kept(key: str):
    """Returns the string that `keep` stored under a key, in any process of this user, by the same build of the library;
    None if there is none. Raises Error if no folder for the cache is known."""
    text = c_void_p()
    checked(library().zellige_kept(key.encode(), byref(text)))
    if not text:
        return None
    try:
        return ctypes.string_at(text).decode()
    finally:
        library().zellige_text_free(text)


def keep(key: str, text: str) -> None:
    """Stores a string in the user's cache. Raises Error if no folder for the cache is known."""
    checked(library().zellige_keep(key.encode(), text.encode()))


@functools.cache
def operators() -> dict:
    """Returns the operators of graphs by name; each is a dict, whose keys <zellige/api.h> describes."""
    return {row["name"]: row for row in json.loads(text_of(library().zellige_operators))}


@functools.cache
def dtypes() -> dict:
    """Returns the dtypes by name; each is a dict with DLPack's type code and the bits of an element."""
    return {row["name"]: row for row in json.loads(text_of(library().zellige_dtypes))}


@functools.cache
def targets() -> dict:
    """Returns the targets by name; each is a dict with its compute capability, and whether it is tuned."""
    return {row["name"]: row for row in json.loads(text_of(library().zellige_targets))}


def gpu():
    """Returns (target, "") for the machine's GPU, or ("", reason) if there is no usable one. For example
    ("sm_90a", "")."""
    _find_nvrtc()
    target, why_not = c_void_p(), c_void_p()
    checked(library().zellige_gpu(byref(target), byref(why_not)))
    found = tuple(ctypes.string_at(t).decode() for t in (target, why_not))
    for t in (target, why_not):
        library().zellige_text_free(t)
    return found


def _find_nvrtc() -> None:
    """Sets $ZELLIGE_NVRTC to NVRTC's library in pip's wheels, if it is installed there and the variable is not
    set."""
    if os.environ.get("ZELLIGE_NVRTC"):
        return
    root = os.path.join(sysconfig.get_paths()["purelib"], "nvidia")
    for place in ("cu13/lib/libnvrtc.so.13", "cuda_nvrtc/lib/libnvrtc.so.13", "cuda_nvrtc/lib/libnvrtc.so.12"):
        if os.path.exists(os.path.join(root, place)):
            os.environ["ZELLIGE_NVRTC"] = os.path.join(root, place)
            return
