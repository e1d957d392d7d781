#!/usr/bin/env python3
"""Lists which public names and members of CuTe's headers compat provides. On demand, with nvcc:

    tests/compat/census.py CUTLASS/include [--missing]

Names are those at namespace scope of cute/ and below, macros included, without SM100, SM120 and the sparse instructions;
members are those of the classes, and of templates for which `examples` has an instance.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = re.compile(r"sm100|sm103|sm120|sparse|tmem|_gmma_ext")
PRIVATE = re.compile(r"(^|::)(detail|eso|impl|lazy_detail)(::|$)")
ROOT = pathlib.Path(__file__).resolve().parents[2]
KEYWORDS = set("""alignas auto bool char class const constexpr decltype default delete double else enum explicit extern
    false float for friend if inline int long namespace noexcept operator private public requires return short signed
    sizeof static static_assert struct switch template this true typedef typename union unsigned using virtual void
    volatile while asm do case printf assert static_cast reinterpret_cast const_cast""".split())

# One type of each class template, to look at its members.
examples = {
    "Layout": "Layout<Shape<_4, _8>, Stride<_8, _1>>",
    "ComposedLayout": "ComposedLayout<Swizzle<2, 0, 2>, _0, Layout<Shape<_4, _4>>>",
    "Tensor": "Tensor<ViewEngine<float*>, Layout<Shape<_4, _8>>>",
    "ArrayEngine": "ArrayEngine<float, 4>", "ViewEngine": "ViewEngine<float*>",
    "ConstViewEngine": "ConstViewEngine<float*>",
    "Swizzle": "Swizzle<3, 3, 3>", "MixedBits": "MixedBits<1, 8>",
    "array": "array<float, 4>", "array_subbyte": "array_subbyte<int4_t, 4>",
    "subbyte_iterator": "subbyte_iterator<int4_t>", "subbyte_reference": "subbyte_reference<int4_t>",
    "tuple": "tuple<int, float>", "ScaledBasis": "ScaledBasis<int, 0>", "C": "C<3>",
    "TiledMMA": "TiledMMA<MMA_Atom<SM80_16x8x8_F32F16F16F32_TN>, Layout<Shape<_1, _1, _1>>>",
    "MMA_Atom": "MMA_Atom<SM80_16x8x8_F32F16F16F32_TN>",
    "Copy_Atom": "Copy_Atom<SM75_U32x4_LDSM_N, half_t>",
    "TiledCopy": "decltype(make_tiled_copy(Copy_Atom<DefaultCopy, float>{}, Layout<_32>{}, Layout<_4>{}))",
    "ThrCopy": "decltype(make_tiled_copy(Copy_Atom<DefaultCopy, float>{}, Layout<_32>{}, Layout<_4>{}).get_slice(0))",
    "ThrMMA": "decltype(TiledMMA<MMA_Atom<SM80_16x8x8_F32F16F16F32_TN>, Layout<Shape<_1, _1, _1>>>{}.get_slice(0))",
    "UniversalFMA": "UniversalFMA<float>", "UniversalCopy": "UniversalCopy<float>",
    "SM80_CP_ASYNC_CACHEALWAYS": "SM80_CP_ASYNC_CACHEALWAYS<float>",
    "SM80_CP_ASYNC_CACHEGLOBAL": "SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>",
    "SM80_CP_ASYNC_CACHEALWAYS_ZFILL": "SM80_CP_ASYNC_CACHEALWAYS_ZFILL<float>",
    "SM80_CP_ASYNC_CACHEGLOBAL_ZFILL": "SM80_CP_ASYNC_CACHEGLOBAL_ZFILL<uint128_t>",
    "ArithmeticTupleIterator": "ArithmeticTupleIterator<ArithmeticTuple<int, int>>",
    "counting_iterator": "counting_iterator<int>", "R": "R<1, 2>", "type_list": "type_list<int, float>",
    "bit_field": "bit_field<3, 5>", "smem_ptr": "smem_ptr<float*>", "gmem_ptr": "gmem_ptr<float*>",
    "rmem_ptr": "rmem_ptr<float*>", "swizzle_ptr": "swizzle_ptr<Swizzle<3, 3, 3>, float*>",
}


def tokens_of(text):
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r'"(\\.|[^"\\])*"' + r"|'(\\.|[^'\\])'", '""', text)
    text = re.sub(r"^[ \t]*#(\\\n|[^\n])*", " ", text, flags=re.M)
    return re.findall(r"[A-Za-z_]\w*|::|->|\S", text)


def closing(t, i, open_, close):
    depth = 0
    while i < len(t):
        depth += (t[i] == open_) - (t[i] == close)
        if depth == 0:
            return i
        i += 1
    return i


def declared(words):
    """The name that one declaration declares, what kind it is, and whether it is a template."""
    template = bool(words) and words[0] == "template"
    while words and words[0] == "template" and len(words) > 1 and words[1] == "<":
        depth, i = 0, 1
        while i < len(words):
            if words[i] == "<": depth += 1
            if words[i] == ">" and words[i - 1] != "-": depth -= 1
            if words[i] == "(": i = closing(words, i, "(", ")")
            if depth == 0: break
            i += 1
        words = words[i + 1:]
    if not words or words[0] in ("friend", "static_assert", "extern", "asm", "namespace"):
        return None
    if "operator" in words:
        return None
    if words[0] == "using":
        if "=" in words:
            return words[1], "using", template
        return (words[-1], "using", template) if words[1] != "namespace" and len(words) > 2 else None
    if words[0] in ("struct", "class", "union", "enum"):
        rest = [w for w in words[1:] if w not in ("class", "struct")]
        if rest and rest[0] == "alignas":
            rest = rest[closing(rest, 1, "(", ")") + 1:]
        special = len(rest) > 1 and rest[1] == "<"
        return (rest[0], "class", template) if rest and not special and re.match(r"[A-Za-z_]", rest[0]) else None
    depth = 0
    for i, w in enumerate(words[:-1]):
        if w == "<": depth += 1
        if w == ">": depth -= 1
        if words[i + 1] == "(" and re.match(r"[A-Za-z_]", w) and w not in KEYWORDS and not w.startswith(("__", "CUTE_")):
            return w, "function", template
        if words[i + 1] in ("=", "{") and depth <= 0 and i > 0 and re.match(r"[A-Za-z_]", w) and w not in KEYWORDS:
            return w, "variable", template
    if len(words) >= 2 and words[-1] == "]" and "[" in words:
        words = words[:words.index("[")]
    if len(words) >= 2 and re.match(r"[A-Za-z_]", words[-1]) and words[-1] not in KEYWORDS:
        return words[-1], "variable", template
    return None


def walk(t, scope, found, members, klass=None):
    """Declarations of tokens t; those of a class go to members[klass]."""
    i, words = 0, []
    while i < len(t):
        w = t[i]
        if w == "{":
            end = closing(t, i, "{", "}")
            body = t[i + 1:end]
            if "namespace" in words and klass is None:
                name = "".join(words[words.index("namespace") + 1:])
                walk(body, scope + ([name] if name else ["detail"]), found, members)
                words = []
            else:
                d = declared(words + ["{"])
                if d:
                    note(d, scope, found, members, klass)
                    if d[1] == "class" and klass is None and "enum" not in words:
                        key = "::".join(scope + [d[0]])
                        members.setdefault(key, [d[2], set()])
                        walk(body, scope, found, members, key)
                # A class, or a variable with an initialiser, goes on to its semicolon; a function ends here.
                if d and d[1] in ("class", "variable"):
                    while end + 1 < len(t) and t[end + 1] != ";":
                        end += 1
                    end += 1
                words = []
            i = end + 1
            continue
        if w == ";":
            d = declared(words)
            if d:
                note(d, scope, found, members, klass)
            words = []
        elif w == "(":
            end = closing(t, i, "(", ")")
            words += t[i:end + 1]
            i = end
        elif w == ":" and words and words[-1] in ("public", "private", "protected"):
            words = []
        else:
            words.append(w)
        i += 1


def note(d, scope, found, members, klass):
    name, kind, template = d
    if klass is None:
        found.setdefault("::".join(scope + [name]), kind)
    elif name != klass.split("::")[-1] and not name.startswith("_"):
        members[klass][1].add(name)


def survey(include):
    found, members, macros = {}, {}, set()
    for path in sorted((include / "cute").rglob("*.hpp")):
        if SKIPPED.search(str(path.relative_to(include))):
            continue
        text = path.read_text()
        macros |= {m for m in re.findall(r"^#\s*define\s+(CUTE_\w+)", text, flags=re.M)}
        walk(tokens_of(text), [], found, members)
    names = {n: k for n, k in found.items() if n.startswith("cute::") and not PRIVATE.search(n) and not re.search("SM1[02]0|CUTE_|UMMA", n)}
    return names, {k: v for k, v in members.items() if k in names}, macros


def errors_at(lines, first):
    """The numbers of the lines of a unit that nvcc's front end does not take, with these folders on the path."""
    with tempfile.TemporaryDirectory() as where:
        unit = pathlib.Path(where) / "census.cu"
        unit.write_text("\n".join(lines) + "\n")
        command = ["nvcc", "-std=c++20", "-arch=sm_90a", "--cuda", "-Xcudafe", "--error_limit=100000",
                   *(f"-I{folder}" for folder in first), "-o", os.devnull, str(unit)]
        result = subprocess.run(command, capture_output=True, text=True)
    bad = {int(n) for n in re.findall(r"census\.cu\((\d+)\): error", result.stdout + result.stderr)}
    if result.returncode and not bad:
        sys.exit(result.stdout + result.stderr)
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("include", type=pathlib.Path)
    parser.add_argument("--missing", action="store_true", help="list what is not there")
    parser.add_argument("--beside", action="store_true", help="with CUTLASS's headers after ours on the path")
    a = parser.parse_args()
    names, members, macros = survey(a.include)
    ours = [ROOT / "compat", ROOT / "include"] + ([a.include] if a.beside else [])
    lines, of_line = [], {}

    def line(text, what=None):
        lines.append(text)
        if what:
            of_line[len(lines)] = what

    headers = sorted(str(p.relative_to(ROOT / "compat")) for p in (ROOT / "compat/cute").rglob("*.hpp"))
    line("#include <cuda.h>")
    for header in headers:
        if not SKIPPED.search(header) and (a.include / header).exists():
            line(f"#include <{header}>")
    for i, n in enumerate(sorted(names)):
        line(f"namespace name_{i} {{ using {n}; }}", n)
    for m in sorted(macros):
        line(f"#ifndef {m}")
        line("static_assert(false);", m)
        line("#endif")
    line("using namespace cute;")
    unseen = 0
    for k, (template, all_) in sorted(members.items()):
        short = k.split("::")[-1]
        example = "::" + k if not template else examples.get(short)
        if example is None:
            unseen += len(all_)
            continue
        for m in sorted(all_):
            tag = re.sub(r"\W", "_", k) + "_" + m
            line(f"namespace m_{tag} {{ struct F {{ int {m}; }}; struct D : {example}, F {{}}; template <class T> "
                 f"concept unclear = !requires {{ &T::{m}; }}; static_assert(unclear<D>); }}", f"{k}.{m}")
    names |= {m: "macro" for m in macros}
    # Names that CuTe itself lacks in such a unit (names of other targets, misparsed code) do not count.
    seen = set(of_line.values()) - {of_line[n] for n in errors_at(lines, [a.include]) if n in of_line}
    bad = {of_line[n] for n in errors_at(lines, ours) if n in of_line} & seen
    missing_names = sorted(n for n in bad if n in names)
    missing_members = sorted(n for n in bad if n not in names)
    count = len([n for n in seen if n in names])
    of_members = len(seen) - count
    print(f"names {count - len(missing_names)} of {count}, members {of_members - len(missing_members)} of {of_members}, "
          f"{unseen} members of templates without an example")
    if a.missing:
        print("\n".join(missing_names + missing_members))


if __name__ == "__main__":
    main()
