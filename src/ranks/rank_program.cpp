#include "ranks/rank_program.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "graph/collective.hpp"
#include "graph/infer.hpp"
#include "json/json_text.hpp"
#include "manifest/launch_sizes.hpp"
#include "manifest/variants.hpp"
#include "ranks/emulated_symmetric.hpp"
#include "ranks/flat_collectives.hpp"
#include "ranks/over_ranks.hpp"
#include "ranks/rank_engine.hpp"
#include "ranks/symmetric_steps.hpp"
#include "ranks/tails.hpp"
#include "reference/evaluate.hpp"
#include "run/timing.hpp"
#include "system/elapsed.hpp"

namespace zellige::ranks {
namespace {

using graph::KernelGraph, graph::KernelOp, graph::OpKind;
using run::Bytes, run::Collectives, run::Compiled, run::CompileOptions, run::EmulatedRun, run::pack, run::poisoned,
    run::run_emulated, run::Stream, run::Timing, run::unpack;

/// Returns elements [first, first + count) of an array along a dimension.
reference::Array part(const reference::Array& x, std::int64_t dim, std::int64_t first, std::int64_t count) {
  reference::Array y;
  y.shape = x.shape, y.shape[dim] = count;
  const std::int64_t inner = graph::size({x.shape.begin() + dim + 1, x.shape.end()});
  const std::int64_t outer = graph::size(x.shape) / x.shape[dim] / inner;
  for (std::int64_t o = 0; o < outer; ++o) {
    const auto from = x.values.begin() + (o * x.shape[dim] + first) * inner;
    y.values.insert(y.values.end(), from, from + count * inner);
  }
  return y;
}

/// Returns the arrays one after another along a dimension.
reference::Array joined(const std::vector<reference::Array>& all, std::int64_t dim) {
  reference::Array y;
  y.shape = all[0].shape, y.shape[dim] *= static_cast<std::int64_t>(all.size());
  const std::int64_t line = graph::size({all[0].shape.begin() + dim, all[0].shape.end()});
  for (std::int64_t o = 0; o < graph::size(all[0].shape) / line; ++o)
    for (const reference::Array& x : all)
      y.values.insert(y.values.end(), x.values.begin() + o * line, x.values.begin() + (o + 1) * line);
  return y;
}

/// Returns the sum or maximum of the ranks' arrays in the order of ranks: in float32, or in int32, which wraps.
reference::Array reduced(const std::vector<reference::Array>& all, bool sum, bool integers) {
  reference::Array y = all[0];
  for (std::size_t r = 1; r < all.size(); ++r)
    for (std::size_t i = 0; i < y.values.size(); ++i) {
      double& to = y.values[i];
      const double x = all[r].values[i];
      if (!sum)
        to = to != to || x != x ? std::numeric_limits<double>::quiet_NaN() : std::max(to, x);
      else if (integers)
        to = static_cast<std::int32_t>(
            static_cast<std::uint32_t>(static_cast<std::int64_t>(to) + static_cast<std::int64_t>(x)));
      else
        to = static_cast<float>(to) + static_cast<float>(x);
    }
  return y;
}

/// Returns the results of a collective, by rank.
std::vector<reference::Array> results(const KernelOp& op, const std::vector<reference::Array>& x, bool integers) {
  const auto ranks = static_cast<std::int64_t>(x.size());
  const auto each = [&](const auto& of_rank) {
    std::vector<reference::Array> all;
    for (std::int64_t r = 0; r < ranks; ++r) all.push_back(of_rank(r));
    return all;
  };
  const auto part_of = [&](const reference::Array& whole, std::int64_t dim, std::int64_t r) {
    const std::int64_t count = whole.shape[dim] / ranks;
    return part(whole, dim, r * count, count);
  };
  if (op.kind == OpKind::all_gather) return std::vector(x.size(), joined(x, op.attributes.dim));
  if (op.kind == OpKind::broadcast) return std::vector(x.size(), x[op.attributes.start]);
  if (op.kind == OpKind::all_to_all)
    return each([&](std::int64_t r) {
      std::vector<reference::Array> parts;
      for (const reference::Array& from : x) parts.push_back(part_of(from, op.attributes.sizes[0], r));
      return joined(parts, op.attributes.sizes[1]);
    });
  const reference::Array all = reduced(x, op.kind != OpKind::all_reduce_max, integers);
  if (op.kind != OpKind::reduce_scatter) return std::vector(x.size(), all);
  return each([&](std::int64_t r) { return part_of(all, op.attributes.dim, r); });
}

manifest::TensorPlace place_in(const KernelGraph& g, int t) {
  const auto at = [&](const std::vector<int>& list) {
    const auto found = std::ranges::find(list, t);
    return found == list.end() ? -1 : static_cast<int>(found - list.begin());
  };
  const int input = at(g.inputs), output = at(g.outputs);
  const manifest::Role role = input >= 0    ? manifest::Role::input
                              : output >= 0 ? manifest::Role::output
                                            : manifest::Role::intermediate;
  return place_of_rank(g.tensors[t], role, std::max(input, output));
}

/// The memory of all ranks, and the list of what they stored.
class Memories {
 public:
  Memories(const KernelGraph& g, const KernelGraph& over, const reference::InputChoice& inputs)
      : g_(g), bytes(g.ranks, std::vector<Bytes>(g.tensors.size())) {
    run.manifest.name = g.name;
    for (int r = 0; r < g.ranks; ++r)
      for (std::size_t i = 0; i < g.inputs.size(); ++i) {
        const manifest::TensorPlace place = place_in(g, g.inputs[i]);
        const int position = r * static_cast<int>(g.inputs.size()) + static_cast<int>(i);
        bytes[r][g.inputs[i]] = pack(place, [&](std::int64_t row, double* to) {
          reference::input_row(over, inputs, position, row, 0, place.shape.back(), to);
        });
      }
  }

  /// Runs one program on one rank.
  void kernels(const RankStep& step, int r, const toolchain::Cache& cache, int workers) {
    const manifest::Manifest& m = step.program->manifest;
    const Segment& s = step.segment;
    std::vector<Bytes> storage;
    for (const manifest::TensorPlace& t : m.tensors)
      storage.push_back(t.role == manifest::Role::input ? bytes[r][s.inputs.at(t.position)] : poisoned(t));
    EmulatedRun e = run_emulated(*step.program, storage, cache, workers);
    if (!e.library.cached) run.compile_ms += e.library.compile_ms;
    run.run_ms += e.run_ms;
    run.complete = run.complete && e.complete;
    std::ranges::move(e.kernels, std::back_inserter(run.kernels));
    for (emulate::Finding& f : e.findings) {
      f.message = fmt::format("rank {}: {}", r, f.message);
      run.findings.push_back(std::move(f));
    }
    for (std::size_t i = 0; i < m.tensors.size(); ++i) {
      const manifest::TensorPlace& t = m.tensors[i];
      if (t.role == manifest::Role::output) bytes[r][s.outputs.at(t.position)] = storage[i];
      if (t.role == manifest::Role::intermediate) stored(t, r, storage[i]);
    }
  }

  /// Adds what all ranks together ran.
  void add(EmulatedRun e) {
    if (!e.library.cached) run.compile_ms += e.library.compile_ms;
    run.run_ms += e.run_ms, run.complete = run.complete && e.complete;
    std::ranges::move(e.kernels, std::back_inserter(run.kernels));
    std::ranges::move(e.findings, std::back_inserter(run.findings));
  }

  /// Adds the tensors that the ranks store between and after segments to the list.
  RanksRun take() {
    for (int r = 0; r < g_.ranks; ++r)
      for (std::size_t t = 0; t < g_.tensors.size(); ++t) {
        if (bytes[r][t].empty()) continue;
        manifest::TensorPlace place = place_in(g_, static_cast<int>(t));
        const std::size_t of_rank = place.role == manifest::Role::input ? g_.inputs.size() : g_.outputs.size();
        if (place.position >= 0) place.position += r * static_cast<int>(of_rank);
        stored(std::move(place), r, std::move(bytes[r][t]));
      }
    return std::move(run);
  }

 private:
  void stored(manifest::TensorPlace place, int r, Bytes data) {
    place.name = name_of_rank(place.name, r);
    run.manifest.tensors.push_back(std::move(place));
    run.storage.push_back(std::move(data));
  }

  const KernelGraph& g_;

 public:
  std::vector<std::vector<Bytes>> bytes;  // by rank and tensor; empty: not there yet
  RanksRun run;
};

/// Returns whether an output of the graph, or a segment after number `i`, reads a tensor.
bool needed_after(const KernelGraph& g, const std::vector<Segment>& all, std::size_t i, int tensor) {
  bool needed = std::ranges::find(g.outputs, tensor) != g.outputs.end();
  for (++i; i < all.size(); ++i) needed = needed || std::ranges::find(all[i].inputs, tensor) != all[i].inputs.end();
  return needed;
}

/// Compiles the segments of a graph.
class SegmentCompiler {
 public:
  SegmentCompiler(KernelGraph g, const target::Target& target, const CompileOptions& options,
                  const std::optional<toolchain::Cache>& cache, Collectives how)
      : p_{.graph = std::move(g)},
        all_(segments(p_.graph)),
        target_(target),
        options_(options),
        cache_(cache),
        how_(how) {}

  RankProgram run() {
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (all_[i].is_collective())
        i += collective(i);
      else
        i += kernels_of(i);
    return std::move(p_);
  }

 private:
  RankStep kernels(Segment s) {
    graph::validate(s.kernels);
    Compiled made = run::compile(s.kernels, target_, options_, cache_);
    p_.plan_ms += made.plan_ms;
    return {.segment = std::move(s), .program = std::move(made.program), .notes = std::move(made.fused.notes)};
  }

  /// Adds the step of the kernels at `i`, with the sum after them if it is fused with them. Returns how many further segments the step has.
  std::size_t kernels_of(std::size_t i) {
    RankStep separate = kernels(all_[i]);
    if (i + 1 < all_.size() && all_[i + 1].is_collective() && options_.fuse) {
      const Segment& sum = all_[i + 1];
      const SumBy by = way_of_sum(how_, target_, p_.graph, sum);
      const bool alone = !sum.inputs.empty() && !needed_after(p_.graph, all_, i + 1, sum.inputs[0]);
      // The tail of a sum goes into a kernel of its own, or into that of the sum; both have one kernel besides the product's.
      const bool asked =
          how_ == Collectives::fused || (how_ == Collectives::symmetric && tail_after(i + 1).tail.kernels.ops.empty());
      std::string why;
      if (asked && alone && by != SumBy::nccl)
        if (auto fused = fused_step(p_.graph, all_[i], sum, by, target_, options_, cache_, why);
            fused && (how_ == Collectives::fused || fused_gain_us(p_.graph, *fused, separate, sum, by, target_) > 0)) {
          fused->otherwise.push_back(std::move(separate)), fused->otherwise.push_back({.segment = sum});
          p_.steps.push_back(*std::move(fused));
          return 1;
        }
      why_separate_ = std::move(why);
    }
    p_.steps.push_back(std::move(separate));
    return 0;
  }

  /// Returns what follows a collective that is the last before kernels, cut in what may be taken along and the rest.
  TailCut tail_after(std::size_t i) const {
    if (i + 1 >= all_.size() || all_[i + 1].is_collective()) return {};
    const int result = all_[i].outputs[0];
    return cut_tail(p_.graph, all_[i + 1], result, needed_after(p_.graph, all_, i + 1, result));
  }

  /// Adds the step in which a kernel gathers the rows that its products read, if it is asked for and there is one. Returns the further segments
  /// that the step has; nullopt if there is no such step.
  std::optional<std::size_t> gather(std::size_t i, std::string& why) {
    const bool asked = how_ == Collectives::fused || how_ == Collectives::symmetric;
    const Segment& s = all_[i];
    if (!asked || !options_.fuse || p_.graph.sizes || s.collective.kind != OpKind::all_gather || p_.graph.ranks < 2)
      return std::nullopt;
    TailCut cut;
    if (i + 1 < all_.size() && !all_[i + 1].is_collective() && !needed_after(p_.graph, all_, i + 1, s.outputs[0]))
      cut = cut_product(p_.graph, all_[i + 1], s.outputs[0]);
    if (cut.tail.kernels.ops.empty()) {
      if (how_ == Collectives::fused) why = "no product alone reads it, as the first operand";
      return std::nullopt;
    }
    std::optional<RankStep> gathers = gather_step(p_.graph, s, cut.tail, target_, options_, cache_, why);
    if (!gathers) return std::nullopt;
    RankStep separate = kernels(std::move(cut.tail));
    if (how_ == Collectives::symmetric && gather_gain_us(p_.graph, *gathers, separate, s, target_) <= 0)
      return std::nullopt;
    gathers->otherwise.push_back({.segment = s}), gathers->otherwise.push_back(std::move(separate));
    p_.steps.push_back(*std::move(gathers));
    all_[i + 1] = std::move(cut.rest);
    return all_[i + 1].kernels.ops.empty() ? 1 : 0;
  }

  /// Adds the step of the collective at `i`, with what follows if a kernel computes both. Returns how many further segments the step has.
  std::size_t collective(std::size_t i) {
    Segment& s = all_[i];
    std::string why;
    std::optional<RankStep> symmetric;
    if (const std::optional<std::size_t> taken = gather(i, why)) return *taken;
    TailCut cut;
    if (const SumBy by = way_of_sum(how_, target_, p_.graph, s); by != SumBy::nccl) {
      cut = p_.graph.sizes ? TailCut{} : tail_after(i);
      if (!cut.tail.kernels.ops.empty())
        symmetric = symmetric_step(p_.graph, {s, cut.tail, by}, target_, options_, cache_, why);
      if (!symmetric) cut.tail = {}, symmetric = symmetric_step(p_.graph, {s, {}, by}, target_, options_, cache_, why);
    }
    if (!symmetric) {
      p_.steps.push_back({.segment = std::move(s)});
      if (why.empty()) why = std::exchange(why_separate_, {});
      if (!why.empty()) p_.steps.back().notes.push_back(why);
      return 0;
    }
    symmetric->otherwise.push_back({.segment = std::move(s)});
    std::size_t taken = 0;
    if (!cut.tail.kernels.ops.empty()) {
      symmetric->otherwise.push_back(kernels(std::move(cut.tail)));
      all_[i + 1] = std::move(cut.rest);
      if (all_[i + 1].kernels.ops.empty()) taken = 1;
    }
    p_.steps.push_back(*std::move(symmetric));
    return taken;
  }

  RankProgram p_;
  std::vector<Segment> all_;
  const target::Target& target_;
  const CompileOptions& options_;
  const std::optional<toolchain::Cache>& cache_;
  Collectives how_;
  std::string why_separate_;  // why the next sum is not added in the kernel that makes its operand
};

}  // namespace

RankProgram compile_over_ranks(const KernelGraph& g, const target::Target& target, const CompileOptions& options,
                               const std::optional<toolchain::Cache>& cache, Collectives how) {
  return SegmentCompiler(flat_collectives(g), target, options, cache, how).run();
}

RankProgram at_values(RankProgram p, const graph::SizeValues& values) {
  p.graph = graph::at(p.graph, values);
  const auto set = [&](RankStep& step) {
    if (!step.program) return;
    std::vector<std::int64_t> all;
    for (const tile::Size& s : step.program->manifest.sizes) all.push_back(values.at(s.name));
    const manifest::Manifest& of = manifest::variant_at(step.program->manifest, all);
    const std::vector<std::int64_t> own = manifest::values_in(step.program->manifest, of, all);
    if (!step.program->variants.empty()) step.program = emit::alone(*step.program, of);
    step.program->manifest = manifest::at_sizes(step.program->manifest, own);
  };
  for (RankStep& step : p.steps) {
    set(step);
    std::ranges::for_each(step.otherwise, set);
  }
  return p;
}

std::string to_json(const RankProgram& p) {
  using json::Json;
  const auto names = [&](const std::vector<int>& tensors) {
    Json list = Json::array();
    for (int t : tensors) list.push_back(p.graph.tensors[t].name);
    return list;
  };
  Json j = {{"zellige_ranks", 1}, {"name", p.graph.name}, {"ranks", p.graph.ranks}};
  j["inputs"] = names(p.graph.inputs), j["outputs"] = names(p.graph.outputs);
  std::set<int> stored(p.graph.inputs.begin(), p.graph.inputs.end());
  Json steps = Json::array();
  for (const RankStep& step : p.steps) {
    const KernelOp& op = step.segment.collective;
    Json one = step.program ? Json{{"program", step.program->manifest.name + ".manifest.json"}}
                            : Json{{"collective", graph::name(op.kind)}};
    one["inputs"] = names(step.segment.inputs), one["outputs"] = names(step.segment.outputs);
    if (!step.program && op.kind == OpKind::broadcast) one["root"] = op.attributes.start;
    stored.insert(step.segment.outputs.begin(), step.segment.outputs.end());
    steps.push_back(std::move(one));
  }
  j["tensors"] = Json::array();
  for (int t : stored) {
    const manifest::TensorPlace place = place_in(p.graph, t);
    j["tensors"].push_back({{"name", place.name},
                            {"dtype", graph::name(place.dtype)},
                            {"shape", place.shape},
                            {"strides", place.strides},
                            {"bytes", place.bytes}});
    if (const int memory = p.graph.tensors[t].memory; memory >= 0)
      j["tensors"].back()["memory"] = p.graph.tensors[memory].name;
  }
  j["steps"] = std::move(steps);
  return j.dump(1) + "\n";
}

manifest::TensorPlace place_of_rank(const graph::KernelTensor& t, manifest::Role role, int position) {
  manifest::TensorPlace place{.name = t.name, .dtype = t.dtype, .shape = t.shape, .strides = t.strides};
  if (place.strides.empty()) place.strides = graph::row_major(t.shape);
  place.role = role, place.position = position;
  place.bytes = graph::bytes_of(graph::span(place.shape, place.strides), t.dtype);
  return place;
}

void collective_on_host(const KernelGraph& g, const KernelOp& op, std::vector<std::vector<Bytes>>& memory) {
  const int y = op.outputs[0];
  const manifest::TensorPlace to = place_in(g, y);
  if (op.kind == OpKind::rank) {
    for (std::size_t r = 0; r < memory.size(); ++r) memory[r][y] = pack(to, std::vector{static_cast<double>(r)});
    return;
  }
  const manifest::TensorPlace from = place_in(g, op.inputs[0]);
  std::vector<reference::Array> x;
  for (const std::vector<Bytes>& of_rank : memory) x.push_back({from.shape, unpack(from, of_rank[op.inputs[0]])});
  const std::vector<reference::Array> made = results(op, x, graph::is_integer(to.dtype));
  for (std::size_t r = 0; r < memory.size(); ++r) memory[r][y] = pack(to, made[r].values);
}

RanksRun run_rank_on_gpu(const RankProgram& p, const KernelGraph& over, const reference::InputChoice& inputs,
                         const RankFacts& facts, const toolchain::Cache& cache, Timing time) {
  Communicator ranks(rendezvous(require_job(p.graph.name, p.graph.ranks)));
  ranks.require_same(facts);
  const auto start = system::SteadyClock::now();
  RankEngine engine(p, ranks, kernels_on_gpu(cache));
  RanksRun run{.compile_ms = system::ms_since(start), .rank = ranks.rank()};
  run.manifest.name = p.graph.name;
  for (std::size_t i = 0; i < p.graph.inputs.size(); ++i) {
    const manifest::TensorPlace place = place_in(p.graph, p.graph.inputs[i]);
    const int position = run.rank * static_cast<int>(p.graph.inputs.size()) + static_cast<int>(i);
    engine.upload(p.graph.inputs[i], pack(place, [&](std::int64_t row, double* to) {
                    reference::input_row(over, inputs, position, row, 0, place.shape.back(), to);
                  }));
  }
  const auto launched = system::SteadyClock::now();
  Stream stream;
  engine.run(stream.handle());
  ranks.wait(stream.handle(), p.graph.name);
  run.run_ms = system::ms_since(launched);
  run.note = engine.fallback();
  for (int t = 0; t < static_cast<int>(p.graph.tensors.size()); ++t) {
    manifest::TensorPlace place = place_in(p.graph, t);
    if (place.role == manifest::Role::input || !engine.has(t)) continue;
    place.name = name_of_rank(place.name, run.rank);
    run.manifest.tensors.push_back(std::move(place));
    run.storage.push_back(engine.download(t));
  }
  if (time != Timing::off) run.times = {.how = time, .samples = time_ranks(engine, ranks, stream, p.graph.name)};
  return run;
}

RanksRun run_ranks_emulated(const RankProgram& p, const KernelGraph& over, const reference::InputChoice& inputs,
                            const toolchain::Cache& cache, int workers) {
  Memories all(p.graph, over, inputs);
  for (const RankStep& step : p.steps) {
    if (step.by_symmetric)
      all.add(EmulatedSymmetric(step, p.graph.ranks, cache).run(all.bytes));
    else if (!step.program)
      collective_on_host(p.graph, step.segment.collective, all.bytes);
    else
      for (int r = 0; r < p.graph.ranks && all.run.complete; ++r) all.kernels(step, r, cache, workers);
    if (!all.run.complete) break;
  }
  return all.take();
}

}  // namespace zellige::ranks
