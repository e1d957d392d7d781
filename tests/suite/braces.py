"""Follows the braces of C++ sources: which namespaces, classes and functions there are, on which lines.

    for b in braces.blocks(path.read_text()):
        print(b.kind, b.name, b.first, b.last, b.around)   # function cost 12 40 ('namespace',)
"""
import re
import typing

_NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|^[ \t]*#(?:\\\n|[^\n])*', re.S | re.M)
_TEMPLATE = re.compile(r"\btemplate\s*<(?:[^<>]|<[^<>]*>)*>")
_NAMESPACE = re.compile(r"\bnamespace(?:\s+([\w:]+))?\s*$")
_CLASS = re.compile(r"\b(?:struct|class|union|enum(?:\s+class)?)\s+(?:alignas\([^)]*\)\s*)?([\w:]+(?:\s*<)?)[^()]*$")
_FUNCTION = re.compile(r"([\w:~]+|operator\s*\S+?)\s*\(")
_ALIAS = re.compile(r"^\s*using\s+(\w+)\s*=\s*(.*)$", re.S)


class Block(typing.NamedTuple):
    """What is between two braces, or an alias. around: the kinds of the blocks around it, the outermost first."""
    kind: str  # namespace, class, function, alias; inner: in a function; table: of another kind
    name: str  # of a specialization "NAME<"; of an alias "NAME = TYPE"; "" if there is none
    first: int  # the line of the first brace
    last: int
    around: tuple


def _kind(header, around):
    header = _TEMPLATE.sub(" ", header)
    if around and around[-1] not in ("namespace", "class"):
        return "inner", ""
    if m := _NAMESPACE.search(header):
        return "namespace", m.group(1) or ""
    if m := _CLASS.search(header):
        return "class", m.group(1).replace(" ", "")
    if header.rstrip().endswith("=") or not (m := _FUNCTION.search(header)):
        return "table", ""
    return "function", m.group(1)


def blocks(text):
    """Yields the blocks of a source in the order of their ends."""
    text = _NOISE.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)
    inside, start, line, counted = [], 0, 1, 0  # inside: (kind, name, line) of each brace that is open
    for m in re.finditer(r"[;{}]", text):
        line, counted = line + text.count("\n", counted, m.start()), m.start()
        around = tuple(kind for kind, _, _ in inside)
        if m.group(0) == "{":
            inside.append((*_kind(text[start:m.start()], around), line))
        elif m.group(0) == "}" and inside:
            kind, name, first = inside.pop()
            yield Block(kind, name, first, line, around[:-1])
        elif alias := m.group(0) == ";" and _ALIAS.search(_TEMPLATE.sub(" ", text[start:m.start()])):
            yield Block("alias", f"{alias.group(1)} = {alias.group(2).strip()}", line, line, around)
        start = m.end()
