"""NVRTC, loaded at run time: compiles source code to a cubin, and measures the CPU seconds.

    python3 nvrtc.py FILE ARCHITECTURE INCLUDE...     prints "CPU-seconds wall-seconds cubin-bytes"
"""
import ctypes
import os
import sys
import time

CUDA = os.environ.get("CUDA_HOME", "/usr/local/cuda")
NAMES = [os.environ.get("ZELLIGE_NVRTC"), "libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12",
         f"{CUDA}/lib64/libnvrtc.so", f"{CUDA}/lib/libnvrtc.so"]


def load():
    """The library, or None if there is none."""
    for name in filter(None, NAMES):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def compile_text(library, text, architecture, includes):
    """(CPU seconds, wall seconds, cubin). On failure exits with the log."""
    program = ctypes.c_void_p()
    options = [f"--gpu-architecture={architecture}", "-std=c++20", *(f"-I{i}" for i in includes)]
    words = (ctypes.c_char_p * len(options))(*(o.encode() for o in options))
    library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernel.cu", 0, None, None)
    wall, cpu = time.perf_counter(), time.process_time()
    status = library.nvrtcCompileProgram(program, len(options), words)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    size = ctypes.c_size_t()
    if status != 0:
        library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        library.nvrtcGetProgramLog(program, log)
        sys.exit(f"nvrtc: {log.value.decode()[:4000]}")
    library.nvrtcGetCUBINSize(program, ctypes.byref(size))
    cubin = ctypes.create_string_buffer(size.value)
    library.nvrtcGetCUBIN(program, cubin)
    return cpu, wall, cubin.raw


def main():
    library = load()
    if not library:
        sys.exit("nvrtc: libnvrtc was not found; ZELLIGE_NVRTC may name it")
    with open(sys.argv[1]) as f:
        cpu, wall, cubin = compile_text(library, f.read(), sys.argv[2], sys.argv[3:])
    print(f"{cpu:.3f} {wall:.3f} {len(cubin)}")


if __name__ == "__main__":
    main()
