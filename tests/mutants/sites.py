"""The places of a kernel's source that can be mutated, and the source with all its mutants selected by switches (mutant.hpp).

    program = Program()
    switched = program.switch(source, "gemm_sm90.hpp", swaps=0)
    program.mutants[7].words         # "row < rows: <= for <"

Kernels are C++ in one style, so words and brackets suffice to find the places: synchronising calls, statements, comparisons,
arithmetic, integers, numbers of groups to wait for, neighbours to swap. Compile-time values (template arguments, constexpr,
array bounds) have no switch; mutants.py compiles such mutants one by one.
"""
import re
from dataclasses import dataclass, field

SYNCHRONISING = r"""__syncthreads __syncwarp cluster_sync cluster_arrive cluster_arrive_relaxed cluster_wait
 named_barrier_sync named_barrier_arrive mbarrier_init mbarrier_wait mbarrier_wait_cluster mbarrier_arrive
 mbarrier_arrive_expect_tx mbarrier_arrive_remote mbarrier_arrive_remote_relaxed mbarrier_expect_tx
 fence_mbarrier_init fence_proxy_async fence_proxy_async_shared fence_proxy_async_global fence_block fence_cluster
 fence_device cp_async_commit cp_async_wait cp_async_wait_all wgmma_fence wgmma_commit wgmma_wait
 tma_store_commit tma_store_wait tma_store_wait_read tma_store_wait_complete griddep_wait
 griddep_launch_dependents register_alloc register_dealloc producer_acquire producer_tail consumer_wait consumer_release release my_turn your_turn
 init""".split()
WAITS = ["cp_async_wait", "wgmma_wait", "tma_store_wait", "tma_store_wait_read", "tma_store_wait_complete"]
SIGNS = {"<": "<", "<=": "l", ">": ">", ">=": "g", "==": "=", "!=": "!", "+": "+", "-": "-", "*": "*", "/": "/",
         "%": "%", "^": "^"}
COMPARISON = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
ARITHMETIC = {"+": "-", "-": "+", "*": "+", "/": "*", "%": "+", "^": "+"}


@dataclass
class Mutant:
    id: int
    kind: str
    file: str
    line: int
    words: str
    source: str


@dataclass
class Edit:
    at: int
    text: str
    until: int = -1  # a replacement; else an insertion
    order: int = 0


@dataclass
class Program:
    mutants: dict = field(default_factory=dict)
    count: int = 0

    def add(self, kind, text, file, at, words, how_many=1):
        line = text.count("\n", 0, at) + 1
        source = text.splitlines()[line - 1].strip()
        first = self.count + 1
        for i in range(how_many):
            self.count += 1
            w = words[i] if isinstance(words, list) else words
            self.mutants[self.count] = Mutant(self.count, kind, file, line, w, source)
        return first

    def switch(self, text, file, swaps):
        """The source with all mutants as switches. `swaps`: which of overlapping pairs of neighbours, 0 or 1."""
        code = blank(text)
        edits = []
        claimed = []  # calls that are deleted as such, not as statements
        for m in re.finditer(r"(?:(?:[\w]+(?:\.|->))+)?(?:template )?\b(" + "|".join(SYNCHRONISING) +
                             r")(<[\w :+\-]*>)?\(", code):
            before = code[:m.start()].rstrip()
            if re.search(r"(void|auto|bool|&)$", before) or re.match(r"\s*[{;]?\s*const\b", code[close(code, m.end() - 1):]):
                continue
            start, end = m.start(), close(code, m.end() - 1)
            what = flat(text[start:end])
            without = self.add("delete", text, file, start, "without " + what)
            alone = self.add("lane", text, file, start, what + " by one lane of a warp")
            edits.append(Edit(start, "(zm::on(%d) || zm::others(%d) ? void() : void(" % (without, alone), order=1))
            edits.append(Edit(end, "))", order=-1))
            claimed.append((start, end))
            if m.group(1) in WAITS and m.group(2):
                n = m.group(2)[1:-1]
                wider = text[start:end].replace(m.group(2), "<(%s) + 1>" % n, 1)
                id_ = self.add("wait", text, file, start, "%s<%s + 1>" % (m.group(1), n))
                edits.append(Edit(start, "(zm::on(%d) ? void(%s) : void(" % (id_, wider), order=2))
                edits.append(Edit(end, "))", order=-2))
        statements = list(find_statements(code))
        for start, end, simple in statements:
            if (start, end) in claimed:
                continue
            what = flat(text[start:end])
            id_ = self.add("delete", text, file, start, "without " + what)
            if simple:
                first = self.first_element(text, code, file, start, end)
                edits.append(Edit(start, "(zm::on(%d)%s ? void() : void((" % (id_, first), order=1))
                edits.append(Edit(end, ")))", order=-1))
            else:
                edits.append(Edit(start, "if (!zm::on(%d)) " % id_, order=1))
        for line in re.finditer(r"^ +(?:float|uint32_t) [^;()]*;", code, re.M):
            for m in re.finditer(r"\b(\w+)(?:\[[^\]]*\])+( = \{\})", line.group(0)):
                at = line.start() + m.start(2)
                id_ = self.add("register", text, file, at, "without the zeros of " + m.group(1))
                edits.append(Edit(at, "", until=at + 5))
                edits.append(Edit(line.end(), " if (!zm::on(%d)) zm::clear(%s);" % (id_, m.group(1)), order=-5))
        edits += self.swap(text, code, file, statements, swaps)
        edits += self.expressions(text, code, file)
        return apply(text, edits)

    def first_element(self, text, code, file, start, end):
        """A switch for an assignment to registers, which omits their first element."""
        m = re.match(r"(\w+)((?:\[[^\[\]]*\])+) = ", code[start:end])
        if not m or m.group(1) + "[" in code[start + m.end():end]:
            return ""
        if not re.search(r"\b(?:float|uint32_t|Vec<[^;]*>) (?:[^;()]*, )?\(?&?" + m.group(1) + r"\)?[\[;,]", code):
            return ""
        index = " + ".join("(%s)" % i for i in re.findall(r"\[([^\[\]]*)\]", m.group(2)))
        id_ = self.add("register", text, file, start, "without the first of %s%s" % (m.group(1), m.group(2)))
        return " || (%s == 0 && zm::on(%d))" % (index, id_)

    def switch_part(self, text, file, swaps, lines_before):
        """The same for a part of a file that begins after `lines` lines."""
        before = self.count
        result = self.switch(text, file, swaps)
        for id_ in range(before + 1, self.count + 1):
            self.mutants[id_].line += lines_before
        return result

    def swap(self, text, code, file, statements, odd):
        edits, last_end, pair = [], -1, 0
        sync = re.compile(r"\b(" + "|".join(SYNCHRONISING) + r")\b")
        for (a, a_end, a_simple), (b, b_end, b_simple) in zip(statements, statements[1:]):
            between = code[a_end:b]
            if not (a_simple and b_simple) or between.strip() != ";" or starts_branch(code, a):
                continue
            if not sync.search(code[a:b_end]):
                continue
            pair += 1
            if a < last_end or (odd and pair % 2):
                continue
            id_ = self.add("swap", text, file, a, "%s after %s" % (flat(text[a:a_end]), flat(text[b:b_end])))
            edits += [Edit(a, "zm::swapped(%d, [&] { " % id_, order=3), Edit(a_end, "; }, [&] {", until=a_end + 1),
                      Edit(b_end, "; })", order=-3)]
            last_end = b_end
        return edits

    def expressions(self, text, code, file):
        edits = []
        skip = fixed_places(code)
        for m in re.finditer(r"(?<=[\w)\]}]) (<|<=|>|>=|==|!=|\+|-|\*|/|%|\^)(?= [\w(\-!*&])", code):
            at, sign = m.start() + 1, m.group(1)
            if skip[at]:
                continue
            if sign in COMPARISON:
                id_ = self.add("compare", text, file, at, ["%s for %s" % (COMPARISON[sign], sign), "true for the " + sign], 2)
            else:
                id_ = self.add("compute", text, file, at, "%s for %s" % (ARITHMETIC[sign], sign))
            edits.append(Edit(at, "%szm::op<'%s', %d> %s" % (sign, SIGNS[sign], id_, sign), until=at + len(sign)))
        for m in re.finditer(r"(?<![\w.\'])(\d+)u?(?![\w.\'])", code):
            at = m.start()
            if skip[at]:
                continue
            id_ = self.add("number", text, file, at, ["%d for %s" % (int(m.group(1)) + d, m.group(0)) for d in (1, -1)], 2)
            edits.append(Edit(at, "zm::n(%d, %s)" % (id_, m.group(0)), until=m.end()))
        for m in re.finditer(r"SwizzleMode::b(128|64)\b", code):
            if skip[m.start()]:
                continue
            other = "none" if m.group(1) == "64" else "b64"
            id_ = self.add("swizzle", text, file, m.start(), "SwizzleMode::%s for b%s" % (other, m.group(1)))
            edits.append(Edit(m.start(), "(zm::on(%d) ? SwizzleMode::%s : %s)" % (id_, other, m.group(0)), until=m.end()))
        return edits


def flat(text):
    return re.sub(r"\s+", " ", text)


def blank(text):
    """Comments, strings and preprocessor lines as spaces: offsets stay."""
    def spaces(m):
        return re.sub(r"[^\n]", " ", m.group(0))
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|^#[^\n]*', spaces, text, flags=re.S | re.M)


def close(code, open_):
    """The position after the bracket that closes the one at `open_`."""
    depth = 0
    for i in range(open_, len(code)):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(code[i], 0)
        if depth == 0:
            return i + 1
    return len(code)


KEYWORD = re.compile(r"(__attribute__|const|constexpr|auto|using|typename|static|struct|template|enum|namespace|public|private|case|"
                     r"default|friend|inline|class|typedef|do|switch|static_assert|goto|throw|delete|extern)\b")
DECLARATION = re.compile(r"[\w:]+(<[^;(]*>)?(::\w+)?\s*[&*]?\s+[&*]?[A-Za-z_\[(]\w*")


def find_statements(code):
    """Returns (start, end, is_expression) for each statement in function bodies; `end` of an expression is before its semicolon."""
    i, n = 0, len(code)
    depth_function = []  # of braces: whether inside of a function
    expect = False
    while i < n:
        c = code[i]
        if c.isspace():
            i += 1
            continue
        if c == "{":
            head = code[:i].rstrip()
            inside = bool(depth_function and depth_function[-1]) or head.endswith(")") or \
                re.search(r"\)\s*(const|noexcept|mutable)$", head) is not None
            if re.search(r"(=|return|,|\(|[\w>])$", head) and not re.search(r"\b(else|do|const|mutable)$", head) \
                    and not head.endswith(")"):
                if not re.search(r"(namespace [\w:]+|(struct|class|enum class|enum) \w+(<[^{}]*>)?( final)?( : [\w ,:<>]+)?)$",
                                 head):
                    i = close(code, i)  # a braced list
                    expect = False
                    continue
                inside = False
            depth_function.append(inside)
            expect = True
            i += 1
            continue
        if c == "}":
            if depth_function:
                depth_function.pop()
            expect = True
            i += 1
            continue
        if c == ";":
            expect = True
            i += 1
            continue
        if not expect:
            if c == "[" and re.match(r"\[[&=\w, ]*\]\s*(\([^()]*\)\s*)?(mutable\s*)?\{", code[i:]) and depth_function \
                    and depth_function[-1]:
                j = code.index("{", i)
                depth_function.append(True)
                expect = True
                i = j + 1
                continue
            i += 1
            continue
        in_function = bool(depth_function and depth_function[-1])
        rest = code[i:]
        if rest.startswith("template"):
            end = angle(code, i + rest.index("<"))
            if end > 0:
                i = end
                continue
        m = re.match(r"(if constexpr|if|for|while)\s*\(", rest)
        if m and in_function:
            i = close(code, i + m.end() - 1)
            continue
        m = re.match(r"else\b", rest)
        if m:
            i += 4
            continue
        expect = False
        if not in_function:
            continue
        if rest.startswith("emulate::"):
            continue  # the emulator's own
        if re.match(r"(continue|return)\b", rest):
            if rest.startswith("continue"):
                yield i, i + rest.index(";"), False
            elif re.match(r"return;", rest):
                yield i, i + 6, False
            i += 6
            continue
        m = re.match(r"[\w:]+<", rest)
        if m and re.match(r"(::\w+)?\s*[&*]?\s*[A-Za-z_]", code[angle(code, i + m.end() - 1):] if
                          angle(code, i + m.end() - 1) > 0 else ""):
            continue  # a declaration
        if KEYWORD.match(rest) or DECLARATION.match(rest) or not re.match(r"[\w+\-*(:]", rest):
            continue
        j = i
        while j < n and code[j] != ";":
            j = close(code, j) if code[j] in "([{" else j + 1
        if j < n and "{" not in code[i:j]:
            yield i, j, True
            i = j
            continue
        i += 1


def starts_branch(code, at):
    """True if the statement at `at` is the body of an `if` or `for` without braces."""
    before = code[:at].rstrip()
    return before.endswith(")") or before.endswith("else")


def fixed_places(code):
    """For each character: whether it is in a compile-time expression."""
    skip = bytearray(len(code) + 1)

    def mark(a, b):
        skip[a:b] = b"\1" * (b - a)
    for m in re.finditer(r"\b(constexpr|static_assert|using|template|__launch_bounds__|enum|static|operator)\b", code):
        word = m.group(1)
        if word in ("static_assert", "__launch_bounds__"):
            mark(m.start(), close(code, code.index("(", m.start())))
        elif word == "template":
            j = code.find("<", m.end())
            if j == m.end() + 1:
                mark(m.start(), angle(code, j))
        elif code[:m.start()].rstrip().endswith("if"):
            mark(m.start(), close(code, code.index("(", m.start())))
        elif word in ("static", "operator"):
            pass
        else:
            ends = [x for x in (code.find(";", m.end()), code.find("{", m.end())) if x >= 0]
            end = min(ends) if ends else len(code)
            if word == "constexpr" and "=" in code[m.end():end] or word in ("using", "enum"):
                end = code.find(";", m.end())
            elif word == "constexpr" and code[end] == "{":
                end = close(code, end)  # a constexpr function
            mark(m.start(), end)
    for m in re.finditer(r"\w<", code):
        j = angle(code, m.end() - 1)
        if j > 0:
            mark(m.start(), j)
    for m in re.finditer(r"^\s*(?:const )?(?:float|int|unsigned|uint32_t|Vec<[^>]*>|smem<[^>]*>) [^;]*;", code, re.M):
        for b in re.finditer(r"\w\[", m.group(0).split("=")[0]):
            a = m.start() + b.end() - 1
            mark(a, close(code, a))
    for m in re.finditer(r"\(&\w*\)\s*\[", code):
        a = m.end() - 1
        mark(a, close(code, a))
    for m in re.finditer(r"\bSwizzle < [^;{]*?> \{", code):
        mark(m.start(), m.end())
    for m in re.finditer(r"struct \w+ \{[^{}]*\}", code):
        mark(m.start(), m.end())
    return skip


def angle(code, open_):
    """The position after the > that closes the < at `open_`; -1 if it is not a template bracket."""
    depth = 0
    for i in range(open_, min(len(code), open_ + 400)):
        c = code[i]
        if c == "<":
            depth += 1
        elif c == ">" and code[i - 1] != "-":
            depth -= 1
            if depth == 0:
                return i + 1
        elif c in ";{" and depth:
            return -1
    return -1


def apply(text, edits):
    """Insertions at one place: closing ones first, then opening ones from the outermost (highest order)."""
    out, at = [], 0
    for e in sorted(edits, key=lambda e: (e.at, e.order >= 0, -e.order if e.order > 0 else -e.order)):
        if e.at < at:
            raise ValueError("overlapping edits near: " + text[max(0, e.at - 60):e.at + 20])
        out.append(text[at:e.at])
        out.append(e.text)
        at = e.until if e.until >= 0 else e.at
    out.append(text[at:])
    return "".join(out)
