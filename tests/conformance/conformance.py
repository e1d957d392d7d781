"""Runs a corpus directory through the compile-time and the run-time API; see run.sh."""
import argparse
import concurrent.futures
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

import operations
import operations_atoms

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BATCH = 80
CXX = os.environ.get("CXX", "g++")
FLAGS = ["-std=c++20", "-O0", "-I", f"{ROOT}/include", "-I", HERE, "-w", "-fmax-errors=0", "-fno-diagnostics-show-caret"]


def unescape(text):
    out, i = "", 0
    while i < len(text):
        if text[i] == "\\" and i + 1 < len(text):
            out += {"n": "\n", "\\": "\\"}[text[i + 1]]
            i += 2
        else:
            out += text[i]
            i += 1
    return out


def parse(line, place):
    """A record; ends the run where the line is none."""
    try:
        r = json.loads(line)
    except ValueError as e:
        sys.exit(f"{place} is not JSON: {e}")
    good = isinstance(r, dict) and isinstance(r.get("op"), str) and isinstance(r.get("args"), list)
    if not good or not all(isinstance(a, str) for a in r["args"]):
        sys.exit(f'{place} is no record: "op", a string, and "args", a list of strings, are needed: {line.strip()[:200]}')
    return r


def load(directory, families, ops):
    records = []
    for path in sorted(glob.glob(f"{directory}/*.jsonl")):
        family = os.path.basename(path)[: -len(".jsonl")]
        if families and family not in families:
            continue
        for number, line in enumerate(open(path), 1):
            r = parse(line, f"{os.path.basename(path)}:{number}")
            if ops and not r["op"].startswith(ops):
                continue
            r["family"] = family
            r.setdefault("id", f"{r['op']}-{family}-{number}")
            records.append(r)
    return records


def build_runtime_api(work):
    binary = f"{work}/runtime_face"
    subprocess.run([CXX, "-std=c++20", "-O1", "-I", f"{ROOT}/include", f"{HERE}/runtime_face.cpp", "-o", binary], check=True)
    return binary


def run_runtime_api(binary, records):
    answers, rest = {}, records
    while rest:
        lines = "".join("\t".join([r["op"], *r["args"]]) + "\n" for r in rest)
        done = subprocess.run([binary], input=lines, capture_output=True, text=True)
        out = done.stdout.split("\n")[:-1]
        answers |= {r["id"]: unescape(o) for r, o in zip(rest, out)}
        rest = rest[len(out) :]
        if rest:  # it fell over the next record
            answers[rest[0]["id"]] = f"!no answer: the run-time API ended with {done.returncode}"
            rest = rest[1:]
    return answers


def prelude_of(record):
    return "prelude_atoms.hpp" if record["op"].startswith(operations_atoms.OPS) else "prelude.hpp"


FIRST = 4  # the line of a unit's first record


def unit(records):
    body = "".join(f'  record("{r["id"]}", [] {{ return {r["cpp"]}; }});\n' for r in records)
    return f'#include "{prelude_of(records[0])}"\n\nint main() {{\n{body}}}\n'


REFUSAL = re.compile(r"use of deleted function ‘.*zellige::|static assertion failed: ")


def refusals(errors, unit_name, records):
    """An error of each record, a refusal in words if there is one, else the first: the line of the unit is named where
    the error is, or before it."""
    found, line = {}, None
    place = re.compile(re.escape(os.path.basename(unit_name)) + r"\.cpp:(\d+):")
    for text in errors.split("\n"):
        named = place.search(text)
        if named:
            line = int(named[1])
        if "error:" in text and line is not None and FIRST <= line < FIRST + len(records):
            which, message = records[line - FIRST]["id"], "!" + text.split("error:", 1)[1].strip()
            if which not in found or (REFUSAL.search(message) and not REFUSAL.search(found[which])):
                found[which] = message
    return found


class StaticApi:
    def __init__(self, work, records):
        self.work, self.count = work, 0
        for prelude in sorted({prelude_of(r) for r in records}):
            subprocess.run([CXX, *FLAGS, "-x", "c++-header", f"{HERE}/{prelude}", "-o", f"{work}/{prelude}.gch"],
                           check=True)

    def compile(self, records):
        self.count += 1
        name = f"{self.work}/u{self.count}"
        with open(f"{name}.cpp", "w") as f:
            f.write(unit(records))
        done = subprocess.run([CXX, "-I", self.work, *FLAGS, f"{name}.cpp", "-o", name], capture_output=True, text=True)
        return name, done.returncode == 0, done.stderr

    def run(self, records):
        """Answers by id: all in one unit; what it does not compile is refused, and the rest tries again."""
        name, good, errors = self.compile(records)
        if good:
            out = subprocess.run([name], capture_output=True, text=True)
            os.remove(name)
            pairs = (line.split("\t", 1) for line in out.stdout.split("\n") if "\t" in line)
            answers = {i: unescape(text) for i, text in pairs}
            silent = [r for r in records if r["id"] not in answers]
            if silent and len(records) > 1:  # a record ended the program: each alone
                return answers | {i: a for r in silent for i, a in self.run([r]).items()}
            return answers | {r["id"]: f"!no answer: the program ended with {out.returncode}" for r in silent}
        answers = refusals(errors, name, records)
        rest = [r for r in records if r["id"] not in answers]
        if not rest:
            return answers
        if answers:
            return answers | self.run(rest)
        if len(rest) == 1:
            return {rest[0]["id"]: "!" + errors[:300]}
        half = len(rest) // 2
        return self.run(rest[:half]) | self.run(rest[half:])


def run_static_api(work, records, refused):
    answers, known = {}, []
    for r in records:
        try:
            r["cpp"] = operations.expression(r["op"], r["args"])
            known.append(r)
        except (ValueError, IndexError) as e:
            answers[r["id"]] = f"!{e}"
    if not known:
        return answers
    api = StaticApi(work, known)
    # Records that the run-time API refuses are expected not to compile, and are separated.
    batches = []
    for prelude in sorted({prelude_of(r) for r in known}):
        for rejected in (False, True):
            group = [r for r in known if prelude_of(r) == prelude and (r["id"] in refused) == rejected]
            batches += [group[i : i + BATCH] for i in range(0, len(group), BATCH)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for part in pool.map(api.run, batches):
            answers |= part
    return answers


UNKNOWN = re.compile(r"^!(operation .* is unknown|.*element type .* is unknown|.*there is no instruction |no answer)|"
                     r"was not declared in this scope|is not a member of|does not name a type|expected primary-expr")


def right(record, answer):
    """True if an answer agrees with the record; None if the record has no answer."""
    if answer.startswith("!") and UNKNOWN.search(answer):
        return False  # not a refusal: the runner or the library lacks what is asked for
    if answer.startswith("!") and "are not in the tables" in answer:
        return record["family"] == "rejected" or "by design"
    if record["family"].endswith("_unsound"):
        return answer.startswith("!")
    if record["family"] == "rejected":
        return answer.startswith("!") or satisfies(record, answer[1:])
    if "result" not in record:
        return None
    return answer == "=" + record["result"]


def satisfies(record, result):
    """True if the result of a rejected record satisfies the operation's definition at every coordinate."""
    import definition
    return definition.holds(record["op"], record["args"], result)


def listed_refusals():
    """The records excused by refused.txt, as FAIL prints them."""
    lines = open(f"{HERE}/refused.txt").read().splitlines()
    return {line.strip() for line in lines if line.startswith("  ")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("directory")
    parser.add_argument("--out")
    parser.add_argument("--api", choices=["both", "static", "runtime"], default="both")
    parser.add_argument("--show", type=int, default=20)
    parser.add_argument("--family", help="only these families, with commas between")
    parser.add_argument("--static-every", type=int, default=1, metavar="N", help="only every Nth record as static C++")
    parser.add_argument("--op", help="only operations whose names begin so")
    args = parser.parse_args()
    records = load(args.directory, args.family and args.family.split(","), args.op)
    if not records:
        sys.exit(f"{args.directory}: no records to run (*.jsonl, of the families and operations asked for)")
    passed, failed, by_family, shown, silent = 0, 0, {}, 0, 0
    excused, used = listed_refusals(), set()
    with tempfile.TemporaryDirectory() as work:
        binary = build_runtime_api(work)
        apis = {"runtime": run_runtime_api(binary, records)}
        refused = {i for i, a in apis["runtime"].items() if a.startswith("!")}
        if args.api != "runtime":
            apis["static"] = run_static_api(work, records[:: args.static_every], refused)
        if args.out:
            with open(args.out, "w") as out:
                for r in records:
                    for api, answers in apis.items():
                        if api == "static" and r["id"] not in answers and args.static_every > 1:
                            continue
                        a = answers.get(r["id"], "!no answer")
                        key = "result" if a.startswith("=") else "error"
                        out.write(json.dumps({"id": r["id"], "op": r["op"], "api": api, key: a[1:]}) + "\n")
        for api in apis:
            if args.api not in ("both", api):
                continue
            for r in records[:: args.static_every] if api == "static" else records:
                answer = apis[api].get(r["id"], "!no answer")
                verdict, words = right(r, answer), f"{r['op']}({' ; '.join(r['args'])})"
                if words in excused:
                    used.add((api, words))
                    verdict = "by design" if verdict is False and answer.startswith("!") else False
                if verdict is None:
                    silent += 1
                    continue
                row = by_family.setdefault((r["family"], api), [0, 0, 0])
                row[2 if verdict == "by design" else 0 if verdict else 1] += 1
                if not verdict and shown < args.show:
                    shown += 1
                    wanted = r.get("result", "a refusal")
                    message = "\n  (refused.txt says that it is refused)" if words in excused else ""
                    print(f"FAIL {api} {words}\n  answer {answer[:300]!r}\n  wanted {wanted[:300]!r}{message}")
    for (family, api), (good, bad, outside) in sorted(by_family.items()):
        print(f"{family:24} {api:8} {good:5} passed {bad:4} failed" +
              (f" {outside:4} refused, of SM100 and SM120 or listed" if outside else ""))
        passed += good
        failed += bad
    if silent:
        print(f"{silent} answers have no result to be compared with; --out writes them")
    if not (args.family or args.op):
        for words in sorted(excused - {words for _, words in used}):
            print(f"refused.txt: the corpus has no record {words}")
            failed += 1
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
