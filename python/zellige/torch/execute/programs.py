"""Plans the programs of parts of a graph in parallel threads. On a GPU, NVRTC compiles planned programs while others
are being planned.

    with Programs(device) as programs:
        planned = programs.begin(part.plan, worth_compiling)   # a future
        planned.result()                                       # what part.plan() returns or raises
    # everything begun is planned and compiled

worth_compiling(program) returns whether to compile a program. A compilation error is raised when the program is called.
If the block ends with an exception, such as KeyboardInterrupt, work that has not begun is dropped, and the attribute
`ended` is set, which the planners check.
"""

import concurrent.futures
import contextlib
import os

import torch

from ..._native import Error


class Programs:
    """Thread pools that plan and compile programs; a context manager."""
    def __init__(self, device):
        self.device, self.ended = device, False
        cores = os.cpu_count()
        # half of the cores, because several threads plan a large part
        self._planners = concurrent.futures.ThreadPoolExecutor(max(1, cores // 2))
        self._compilers = concurrent.futures.ThreadPoolExecutor(cores) if device.type == "cuda" else None
        self._compiled = {}  # futures of the compilations, by program

    def begin(self, plan, worth_compiling):
        """Starts planning in a thread, and returns a future of the result. `plan()` returns a program, or None.
        `worth_compiling(program)` returns whether to compile the program, too."""

        def one():
            if self.device.type == "cuda":
                torch.cuda.set_device(self.device)
            program = plan()
            if program is not None and worth_compiling(program):
                self.compile(program)
            return program

        return self._planners.submit(one)

    def compile(self, program) -> None:
        """Starts compiling a program in a thread, unless that has been started. Does nothing for the CPU."""
        if self._compilers is not None and program not in self._compiled:
            self._compiled[program] = self._compilers.submit(self._compile, program)

    def _compile(self, program):
        """Compiles a program for the GPU; an error is raised later, when the program is called."""
        torch.cuda.set_device(self.device)
        with contextlib.suppress(Error):
            program.compile()

    def compiled(self):
        """Waits for one compilation after the other, and yields after each the number of those that are done."""
        for done, future in enumerate(list(self._compiled.values())):
            future.result()
            yield done + 1

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.ended = kind is not None
        for threads in (self._planners, self._compilers):
            if threads is not None:
                # NVRTC cannot be interrupted; after ctrl-C the user need not wait for it.
                threads.shutdown(wait=not self.ended or threads is self._planners, cancel_futures=self.ended)
