// planted [--verbose] [--target T] [--take half|all]: injects faults into the emitted code of small graphs, one at a time, and
// runs each on the emulator. A fault is found by name (a finding describes it), only by wrong numbers, or not
// at all. Exit status 0 only if each can be injected, none is missed and none of a kind with a rule (`named`)
// is found only by its numbers. Half: of the graphs of each kind, every other, the first or the second in rotation. docs/explanation/fault-injection.md has the table.
#include <fmt/format.h>

#include <cstring>
#include <map>
#include <regex>

#include "../unfused.hpp"
#include "emit/emit.hpp"
#include "graph/error.hpp"
#include "graphs.hpp"
#include "reference/inputs.hpp"
#include "run/emulated.hpp"

namespace zellige::injected {
namespace {

using run::Bytes;

struct Bug {
  const char* kind;
  const char* from;  // a regular expression; ECMAScript
  const char* to;
  bool named;      // the emulator has a rule for it, or the machine has
  int graphs = 3;  // the number of graphs in which it is injected, at its first place
};

const Bug bugs[] = {
    {"accumulators not cleared", R"(acc(\d+)\.clear\(\);)", "", true, 4},
    {"accumulators not cleared", R"(acc(\d+)\.fill\(0\.0f\);)", "", true},
    {"running result not started", R"((for \(int [iv] = 0; [^;]*; \+\+[iv]\) )*acc\d+\[\w\]\[\w\] = [^;]*;)", ";",
     true},
    {"running result not started", R"((for \(int i = 0; [^;]*; \+\+i\) )?sum\d+\[\w\] = [^;]*;)", ";", true, 4},
    {"element of a fragment not filled", R"(op(\d+)\.put\(i, )", "if (i != 1) op$1.put(i, ", true},
    {"element of a fragment not filled", R"((\n *)(for \(int v = 0; v < \d+; \+\+v\)) r(\d+)\[v\] = )",
     "$1$2 if (v != 1) r$3[v] = ", true, 4},
    {"element of a fragment not filled", R"(const Vec<float, 1> (r\d+)\{([^;]*)\};)",
     "Vec<float, 1> $1; if (tid != 0) $1[0] = $2;", true},
    {"swizzle of one side only", R"((view<Swizzled<)3, )", "$012, ", true, 5},
    {"swizzle of one side only", R"((view<Swizzled<\d, )3, )", "$014, ", true, 5},
    {"stride of one side only", R"((view<[^(]*Stride<Int<\d+>, Int<)(\d+)(>, Int<1>>))", "$01$028$3", true, 4},
    {"wrong number of lanes", R"((sum|max)_lanes<4>)", "$1_lanes<2>", true},
    {"wrong number of lanes", R"((sum|max)_lanes<4>)", "$1_lanes<8>", true},
    {"wrong number of lanes", R"((sum|max)_lanes<(?:8|16|32)>)", "$1_lanes<2>", true},
    {"partial results half added", R"(read_(sum|max)<(\d), 4>)", "read_$1<$2, 2>", true},
    {"partial results half added", R"(read_(sum|max)<(\d), 2>)", "read_$1<$2, 1>", true},
    {"partial results half added", R"(read_sum<(\d), \d>\((\w+), ([^()]*)\))", "read<$1>($2(0, $3))", false},
    {"a stage read again", R"(\.shift\(stage \* (\d+)\))", ".shift(0 * $1)", false, 4},
    {"a stage read again", R"(stage = stage \+ 1 == \d+ \? 0 : stage \+ 1;)", "", true, 4},
    {"a stage too early", R"(cp_async_wait<3>)", "cp_async_wait<4>", true},
    {"a stage too early", R"(cp_async_wait<7>)", "cp_async_wait<8>", true},
    {"a stage too early", R"(\.shift\(stage \* (\d+)\))", ".shift((stage + 1) % 2 * $1)", true},
    {"a copy too short", R"(( copies of \d+ bytes\n *#pragma unroll\n *for \(int i = 0; i < )(\d+))", "$01$2 - 1", true,
     4},
    {"a tile in another's place",  // not a result: after the loop the other tile may be dead
     R"((shared_\w+<.*>\("(?!\w*_out")\w+", )[1-9]\d*,)", "$010,", true, 4},
    {"too few warps", R"(if \(warp < (\d+)\) \{\n *multiply)", "if (warp < $1 - 1) {\n multiply", false},
    {"a product too short", R"(multiply<half_t, 64,)", "multiply<half_t, 48,", false},
    {"a block's offset", R"(\bbx \* (\d+))", "bx * $1 / 2", false},
};

/// A graph's emitted code unchanged, and its results.
struct Subject {
  std::string name;
  emit::EmittedProgram program;
  std::vector<Bytes> inputs, right;
};

struct Seen {
  int injected = 0, named = 0, numbers = 0, unseen = 0;
};

std::vector<Bytes> starting(const graph::KernelGraph& g, const manifest::Manifest& m) {
  std::vector<Bytes> storage;
  const reference::RandomInputs inputs = reference::random_inputs(g, 1);
  for (const manifest::TensorPlace& t : m.tensors)
    storage.push_back(t.role == manifest::Role::input
                          ? run::pack(t, inputs.arrays[static_cast<std::size_t>(t.position)].values)
                          : run::poisoned(t));
  return storage;
}

std::vector<Subject> subjects(const std::string& target, const toolchain::Cache& cache) {
  std::vector<Subject> all;
  for (const plan::GoldenGraph& golden : plan::golden_graphs()) {
    if (golden.name == "rmsnorm") continue;  // seconds a run
    const graph::KernelGraph g = golden.graph();
    Subject s{golden.name, test::transpile(g, target::find(target)), {}, {}};
    s.inputs = s.right = starting(g, s.program.manifest);
    const run::EmulatedRun r = run::run_emulated(s.program, s.right, cache);
    if (!r.findings.empty()) fail("{}: with nothing injected: {}", s.name, r.findings[0].message);
    all.push_back(std::move(s));
  }
  return all;
}

/// "!..." a finding, "~" other numbers, "=" nothing, "?" does not compile.
std::string judge(const Subject& s, std::string text, const toolchain::Cache& cache) {
  emit::EmittedProgram p = s.program;
  p.source = std::move(text);
  std::vector<Bytes> storage = s.inputs;
  try {
    const run::EmulatedRun r = run::run_emulated(p, storage, cache);
    if (!r.findings.empty()) return "!" + r.findings[0].message;
  } catch (const Error& e) {
    return std::string("?") + e.what();
  }
  for (std::size_t t = 0; t < storage.size(); ++t)
    if (p.manifest.tensors[t].role == manifest::Role::output && storage[t] != s.right[t]) return "~";
  return "=";
}

/// The first graphs of those that have a place for the bug, with it; half of them: every other, from the first or the second.
std::vector<std::pair<const Subject*, std::string>> places(const Bug& bug, const std::vector<Subject>& all, bool half) {
  const std::regex from(bug.from);
  std::vector<std::pair<const Subject*, std::string>> found, taken;
  for (const Subject& s : all) {
    std::string text = std::regex_replace(s.program.source, from, bug.to, std::regex_constants::format_first_only);
    if (text != s.program.source) found.push_back({&s, std::move(text)});
    if (found.size() == static_cast<std::size_t>(bug.graphs)) break;
  }
  if (!half || found.size() < 2) return found;
  for (auto i = static_cast<std::size_t>(&bug - bugs) % 2; i < found.size(); i += 2) taken.push_back(found[i]);
  return taken;
}

int run_all(const std::string& target, bool verbose, bool half) {
  const toolchain::Cache cache = toolchain::Cache::standard();
  const std::vector<Subject> all = subjects(target, cache);
  std::vector<std::pair<std::string, Seen>> rows;
  bool good = true;
  for (const Bug& bug : bugs) {
    if (rows.empty() || rows.back().first != bug.kind) rows.push_back({bug.kind, {}});
    Seen& row = rows.back().second;
    int injected = 0;
    for (const auto& [subject, text] : places(bug, all, half)) {
      const Subject& s = *subject;
      const std::string seen = judge(s, text, cache);
      if (seen[0] == '?') fail("{} in {}: {}", bug.kind, s.name, seen.substr(1));
      ++injected, ++row.injected;
      ++(seen[0] == '!' ? row.named : seen[0] == '~' ? row.numbers : row.unseen);
      const bool as_it_should = seen[0] == '!' || (seen[0] == '~' && !bug.named);
      good = good && as_it_should;
      if (verbose || !as_it_should)
        fmt::print("{}{} in {}, {}: {}\n", as_it_should ? "" : "NOT AS IT SHOULD BE: ", bug.kind, s.name, bug.from,
                   seen[0] == '!'   ? seen.substr(1)
                   : seen[0] == '~' ? "other numbers"
                                    : "NOT SEEN");
      std::fflush(stdout);
    }
    if (injected == 0) {
      fmt::print("NOT AS IT SHOULD BE: {}: no source has a place for {}\n", bug.kind, bug.from);
      good = false;
    }
  }
  Seen sum;
  fmt::print("{:<34} {:>8} {:>9} {:>13} {:>9}\n", "kind", "injected", "by name", "numbers only", "not seen");
  const auto print = [](const std::string& kind, const Seen& s) {
    fmt::print("{:<34} {:>8} {:>9} {:>13} {:>9}\n", kind, s.injected, s.named, s.numbers, s.unseen);
  };
  for (const auto& [kind, s] : rows) {
    print(kind, s);
    sum.injected += s.injected, sum.named += s.named, sum.numbers += s.numbers, sum.unseen += s.unseen;
  }
  print("together", sum);
  return good ? 0 : 1;
}

}  // namespace
}  // namespace zellige::injected

int main(int argc, char** argv) {
  std::string target = "sm_80";
  bool verbose = false, half = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--verbose") == 0) verbose = true;
    if (std::strcmp(argv[i], "--target") == 0 && i + 1 < argc) target = argv[++i];
    if (std::strcmp(argv[i], "--take") == 0 && i + 1 < argc) half = std::strcmp(argv[++i], "half") == 0;
  }
  try {
    return zellige::injected::run_all(target, verbose, half);
  } catch (const zellige::Error& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 2;
  }
}
