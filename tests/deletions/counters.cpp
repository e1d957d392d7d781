// counters [--target T] FILE...: compares the emulator's counters with those of a good kernel. A FILE has
// graphs, of which the first is run, or is the .jsonl that `zellige run --on emulator --json` wrote. One row
// per file:
//
//   mma         the number of m16n8k16 (m16n8k8 for a last half step) executed, and the number that the graph's matmuls
//               need; fewer would mean that one ran without tensor cores
//   16-byte     share of the bytes between global memory and shared memory or registers that moved 16 at a time
//   ldmatrix    wavefronts, and the fewest possible: equal where no bank conflicts
//
// Exit status 0 only if no graph has too few mma, each file has at least 95 % and no ldmatrix conflicts.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "../loaded.hpp"
#include "graph/error.hpp"
#include "json/json.hpp"
#include "run/run.hpp"

namespace zellige::counters {
namespace {

using graph::BlockGraph;
using graph::KernelGraph;
using graph::OpKind;
using graph::Shape;

std::int64_t up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// A product's 16x8x16 steps; rows and columns may change places where that takes fewer.
std::int64_t steps(const Shape& a, const Shape& out) {
  const std::int64_t k = a.back(), n = out.back(), m = out[out.size() - 2];
  std::int64_t batch = 1;
  for (std::size_t d = 0; d + 2 < out.size(); ++d) batch *= out[d];
  return batch * up(k, 16) * std::min(up(m, 16) * up(n, 8), up(n, 16) * up(m, 8));
}

std::int64_t steps(const BlockGraph& b) {
  std::vector<bool> changes(b.tensors.size(), false);  // from one iteration to the next
  std::int64_t sum = 0;
  for (const graph::BlockOp& op : b.ops) {
    bool here = op.kind == OpKind::input && op.loop_dim >= 0;
    for (const int i : op.inputs) here = here || changes[static_cast<std::size_t>(i)];
    for (const int o : op.outputs)
      changes[static_cast<std::size_t>(o)] = here && !b.tensors[static_cast<std::size_t>(o)].after_loop;
    if (op.kind != OpKind::matmul) continue;
    const auto& a = b.tensors[static_cast<std::size_t>(op.inputs[0])];
    const auto& out = b.tensors[static_cast<std::size_t>(op.outputs[0])];
    if (a.dtype != graph::DType::f32) sum += steps(a.shape, out.shape) * (here && !out.after_loop ? b.loop : 1);
  }
  return sum * b.grid.count();
}

std::int64_t steps(const KernelGraph& g) {
  std::int64_t sum = 0;
  for (const graph::KernelOp& op : g.ops) {
    if (op.kind == OpKind::custom) sum += steps(*op.block);
    if (op.kind != OpKind::matmul) continue;
    const auto& a = g.tensors[static_cast<std::size_t>(op.inputs[0])];
    if (a.dtype != graph::DType::f32) sum += steps(a.shape, g.tensors[static_cast<std::size_t>(op.outputs[0])].shape);
  }
  return sum;
}

struct Row {
  int graphs = 0, too_few = 0;
  std::int64_t mma = 0, expected = 0, bytes = 0, wide = 0, wavefronts = 0, ideal = 0;
  std::string narrow;  // the graph of the least share, and what moves less than 16 bytes there
  double minimum = 2;
};

void add(Row& row, const run::RunResult& r, const KernelGraph& g) {
  std::map<std::string, std::int64_t> count;
  for (const auto& [name, n] : r.counters) count[name] = static_cast<std::int64_t>(n);
  const std::int64_t expected = steps(g);
  ++row.graphs;
  row.mma += count["mma"], row.expected += expected;
  if (count["mma"] < expected) {
    ++row.too_few;
    fmt::print("{}: {} mma; its matmuls total {}\n", r.graph, count["mma"], expected);
  }
  row.wavefronts += count["ldmatrix_wavefronts"], row.ideal += count["ldmatrix_wavefronts_ideal"];
  if (count["ldmatrix_wavefronts"] != count["ldmatrix_wavefronts_ideal"]) {
    fmt::print("{}: ldmatrix takes {} wavefronts; {} are possible\n", r.graph, count["ldmatrix_wavefronts"],
               count["ldmatrix_wavefronts_ideal"]);
  }
  std::int64_t bytes = 0, wide = 0;
  std::string narrow;
  for (const char* kind : {"global_load", "global_store", "cp_async"}) {
    for (const int width : {1, 2, 4, 8, 16}) {
      const std::int64_t moved = count[fmt::format("{}_{}", kind, width)] * width;
      bytes += moved;
      if (width == 16) wide += moved;
      if (width < 16 && moved) narrow += fmt::format(" {}_{}: {} bytes", kind, width, moved);
    }
  }
  row.bytes += bytes, row.wide += wide;
  const double share = bytes ? static_cast<double>(wide) / static_cast<double>(bytes) : 1;
  if (share < row.minimum) row.minimum = share, row.narrow = fmt::format("{} {:.1f}%{}", r.graph, share * 100, narrow);
}

int run(const std::vector<std::string>& files, const std::string& target) {
  std::map<std::string, Row> rows;
  std::map<std::string, std::vector<json::Loaded>> loaded;
  bool good = !files.empty();
  const auto take = [&](const run::RunResult& r) {
    if (r.status != run::Status::correct || r.on != "emulator") {
      fmt::print("{}: {} on {} {}\n", r.graph, run::name(r.status), r.on, r.reason);
      good = false;
      return;
    }
    auto& graphs = loaded[r.file];
    if (graphs.empty()) graphs = json::load_each(r.file);
    add(rows[std::filesystem::path(r.file).stem().string()], r, graphs.at(static_cast<std::size_t>(r.index)).graph);
  };
  for (const std::string& file : files) {
    if (file.ends_with(".jsonl")) {
      std::ifstream in(file);
      if (!in) fail("{}: cannot be read", file);
      for (std::string line; std::getline(in, line);) take(run::parse_result(line));
    } else {
      const std::vector<KernelGraph> graphs = json::load(file);
      if (graphs.empty()) fail("{}: holds no graph", file);
      run::RunResult r = run::run(graphs[0], {.target = target}, toolchain::Cache::standard());
      r.file = file;
      take(r);
    }
  }
  fmt::print("{:<16} {:>6} {:>11} {:>11} {:>9} {:>9} {:>19}  {}\n", "file", "graphs", "mma", "needed", "16-byte",
             "least", "ldmatrix : ideal", "narrowest");
  for (const auto& [name, r] : rows) {
    const double share = r.bytes ? static_cast<double>(r.wide) / static_cast<double>(r.bytes) : 1;
    fmt::print("{:<16} {:>6} {:>11} {:>11} {:>8.2f}% {:>8.2f}% {:>9} : {:<9} {}\n", name, r.graphs, r.mma, r.expected,
               share * 100, r.minimum * 100, r.wavefronts, r.ideal, r.minimum < 1 ? r.narrow : "");
    good = good && r.too_few == 0 && share >= 0.95 && r.wavefronts == r.ideal;
  }
  fmt::print("{}\n", good ? "All as they should be." : "NOT as they should be.");
  return good ? 0 : 1;
}

}  // namespace
}  // namespace zellige::counters

int main(int argc, char** argv) {
  std::vector<std::string> files;
  std::string target = "sm_80";
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--target" && i + 1 < argc) {
      target = argv[++i];
    } else {
      files.emplace_back(argv[i]);
    }
  }
  try {
    if (files.empty()) zellige::fail("counters: name graph files, or the .jsonl of zellige run --json");
    return zellige::counters::run(files, target);
  } catch (const zellige::Error& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 2;
  }
}
