"""Reports on compiled graphs: what became programs, what is left to torch, and why."""

import html
import warnings
from dataclasses import dataclass, field

from .._native import Error, Exhausted, Fault
from . import words


@dataclass
class Report:
    """The report on one graph: which operators became programs, which did not, and why. print(report) shows it."""

    operators: int = 0  # operators in the graph
    taken: int = 0  # operators in parts that became programs
    parts: list = field(default_factory=list)  # the parts' programs
    kept: bool = False  # true if the graph runs as compiled here; false: as torch traced it
    left: dict = field(default_factory=dict)  # by operator or part: why it was left to torch
    # plans that the verifier rejected, with its reasons: internal errors of Zellige
    rejected: list = field(default_factory=list)
    # sentences about operators left to torch because of an internal error of Zellige
    faults: list = field(default_factory=list)
    # operators left to torch because the machine had no memory, files or threads left
    exhausted: list = field(default_factory=list)
    # seconds by phase: "tracing" (torch's and Zellige's), "programs" (planning and compilation); or "cache" (reading the
    # decisions), "programs" (loading them), and "tracing" if AOT's wrappers are needed
    seconds: dict = field(default_factory=dict)
    # by size of the graph that is known at a call only: where it is from, and its least and greatest value
    sizes: dict = field(default_factory=dict)
    branches: dict = field(default_factory=dict)  # by part: the sizes at which torch's kernels run in its place
    specialised: str = ""  # why the graph is compiled again for other sizes, although torch has symbols for them
    # "from the cache", "kept" there, or "not kept", with the reason: what was decided on this graph
    decisions: str = ""
    # sentences: the torch kernel for each attention left to torch, and measured times
    attention: list = field(default_factory=list)
    captured: int = 0  # number of CUDA graphs captured from calls
    uncaptured: str = ""  # why calls are not captured in CUDA graphs, although that was requested

    ranks: str = ""  # the process group whose ranks decide together, since the graph has its collectives
    joined: list = field(default_factory=list)  # sentences: parts that begin with collectives, and what computes these
    where: dict = field(default_factory=dict)  # by part: its operators and the user's lines

    def leave(self, name, why: Error, node=None) -> None:
        """Records why the operator or part (set of operators) `name` is left to torch. `node`: of an operator, its first node,
        for the user's line. Warns if the reason, `why`, is an internal error of Zellige."""
        self.left.setdefault(name, str(why) if node is None else words.sentence(node, why))
        if isinstance(why, Exhausted):
            self.exhausted.append(self._shown(name))
        if isinstance(why, Fault):
            self.faults.append(f"{self._shown(name)}: {why}")
            warnings.warn(f"zellige leaves {self._shown(name)} to torch, by a fault of its own: {why}", RuntimeWarning, stacklevel=2)

    def _shown(self, name) -> str:
        """Returns the name of an operator or part as messages have it: a part's with its operators and lines."""
        return f"{name} ({self.where[name]})" if self.where.get(name) else name

    def __str__(self) -> str:
        lines = [f"{self.taken} of {self.operators} operators in {len(self.parts)} part(s)"]
        at = lambda p: " at the greatest sizes" if p.sizes else ""  # noqa: E731
        lines += [f"  part {p.name}: {len(p.manifest['kernels'])} kernel(s), {p.price:.1f} us expected{at(p)}" for p in self.parts]
        lines += [f"  for {name}: {what}" for name, what in self.sizes.items()]
        lines += [f"  compiled again for other sizes: {self.specialised}"] if self.specialised else []
        lines += [f"  branch: {self._shown(name)}: {what}" for name, what in self.branches.items()]
        lines += [f"  note: {p.name}: {note}" for p in self.parts for note in p.notes]
        lines += [f"  over ranks: {sentence}" for sentence in self.joined]
        lines += [f"  rejected: {sentence}" for sentence in self.rejected]
        lines += [f"  left: {self._shown(name)}: {why}" for name, why in self.left.items()]
        lines += [f"  {sentence}" for sentence in self.attention]
        lines += [f"  captured: {self.captured} CUDA graph(s)"] if self.captured else []
        lines += [f"  not captured: {self.uncaptured}"] if self.uncaptured else []
        lines += [f"  decisions: {self.decisions}"] if self.decisions == "from the cache" else []
        if self.seconds:
            lines.append("  seconds: " + ", ".join(f"{phase} {s:.1f}" for phase, s in self.seconds.items()))
        return "\n".join(lines)

    def page(self) -> str:
        """Returns a page of HTML that needs no other file: this report, and why the kernels of each part are as they are, as
        `zellige explain` says it. Plans the parts again."""
        frames = "".join(f"<h2>{html.escape(p.name)}</h2>\n{_frame(p.name, _page_of(p))}\n" for p in self.parts)
        head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="light dark">'
        return (
            f'<!doctype html>\n<html lang="en"><head>{head}<title>zellige report</title><style>{_STYLE}</style></head><body>\n'
            f"<h1>{self.taken} of {self.operators} operators in {len(self.parts)} part(s)</h1>\n<pre>{html.escape(str(self))}</pre>\n{frames}</body></html>\n"
        )

    def html(self, path) -> None:
        """Writes page() to a file."""
        text = self.page()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def _repr_html_(self) -> str:
        """What a notebook displays: the page, in a frame of its own."""
        return _frame("zellige report", self.page())


def _page_of(program) -> str:
    """Returns the page of a part's program, or why it has none: it was loaded without its plan."""
    try:
        return program.page()
    except Error as why:
        return f"<p>{html.escape(str(why))}</p>"


def _frame(title: str, page: str) -> str:
    return f'<iframe title="{html.escape(title)}" style="width:100%;height:48em;border:1px solid #888" srcdoc="{html.escape(page)}"></iframe>'


_STYLE = "body{font-family:sans-serif;margin:1em}pre{white-space:pre-wrap}"

reports: list[Report] = []
