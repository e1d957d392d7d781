"""Graphs, programs and tables of the library, as Python objects: each calls the C ABI (_abi.py)."""

import ctypes
import functools
import json
import os
import sys
import sysconfig
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int64, c_size_t, c_void_p

from ._abi import WATCH, Error, Info, Options, Size, checked, counted, library, locked, release, text_of
from ._abi import Exhausted as Exhausted
from ._abi import Fault as Fault

# distance from a tuple's address to its objects' addresses in CPython; 0 elsewhere
_TUPLES = tuple.__basicsize__ if sys.implementation.name == "cpython" else 0


def _integers(values):
    """Returns a C array of 64-bit integers."""
    return (c_int64 * max(len(values), 1))(*values)


def _info(function, handle, index) -> dict:
    """Returns a dict with the fields of TensorInfo (program.py) for the input or output number `index` of a graph or
    program. `handle`: the graph or program; `function`: the C function that describes its inputs or outputs."""
    i = Info()
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
        release(self, "zellige_graph_free")

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
        self.function = WATCH(self._call) if watch else WATCH()

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
        options = Options(
            ctypes.sizeof(Options),
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
        find_nvrtc()
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
        release(self, "zellige_program_free")

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
        found, size = [], Size()
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
        return locked().zellige_program_call_objects, self._handle.value

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
    find_nvrtc()
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
    find_nvrtc()
    target, why_not = c_void_p(), c_void_p()
    checked(library().zellige_gpu(byref(target), byref(why_not)))
    found = tuple(ctypes.string_at(t).decode() for t in (target, why_not))
    for t in (target, why_not):
        library().zellige_text_free(t)
    return found


def find_nvrtc() -> None:
    """Sets $ZELLIGE_NVRTC to NVRTC's library in pip's wheels, if it is installed there and the variable is not
    set."""
    if os.environ.get("ZELLIGE_NVRTC"):
        return
    root = os.path.join(sysconfig.get_paths()["purelib"], "nvidia")
    for place in ("cu13/lib/libnvrtc.so.13", "cuda_nvrtc/lib/libnvrtc.so.13", "cuda_nvrtc/lib/libnvrtc.so.12"):
        if os.path.exists(os.path.join(root, place)):
            os.environ["ZELLIGE_NVRTC"] = os.path.join(root, place)
            return
