#include "run/check.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>

#include "reference/judge.hpp"
#include "reference/omit_roundings.hpp"
#include "reference/parallel.hpp"

namespace zellige::run {
namespace {

/// A tensor that is compared with the reference: its index in the manifest, its index in the graph, and its place in
/// memory in the graph's shape.
struct Stored {
  int index = -1, tensor = -1;
  manifest::TensorPlace place;
};

// Returns the tensors of the graph that the program stores, to compare them with the reference. Throws Fault
// if an output is not among them.
std::vector<Stored> stored_tensors(const graph::KernelGraph& g, const manifest::Manifest& m) {
  std::vector<Stored> all;
  std::vector<bool> seen(g.tensors.size(), false);
  for (std::size_t i = 0; i < m.tensors.size(); ++i) {
    const int at = graph_tensor(g, m.tensors[i]);
    if (m.tensors[i].role == manifest::Role::input || at < 0) continue;
    std::optional<manifest::TensorPlace> place = seen_as(m.tensors[i], g.tensors[at].shape);
    if (!place) continue;  // an intermediate in a shape that the graph's does not divide
    seen[at] = true;
    place->name = g.tensors[at].name;
    all.push_back({static_cast<int>(i), at, *std::move(place)});
  }
  for (const int output : g.outputs) {
    // An output that is also an input, or listed twice, is stored once.
    const bool input = std::ranges::find(g.inputs, output) != g.inputs.end();
    if (seen[output] || input) continue;
    fault("manifest of {}: says nothing of the output {}", m.name, g.tensors[output].name);
  }
  return all;
}

/// Returns the graph `g` without the roundings that the program omits. The rounding of a tensor stays if the
/// tensor is in `stored` (the tensors that the program stores) with the graph's dtype.
graph::KernelGraph without_roundings(const graph::KernelGraph& g, const std::vector<Stored>& stored) {
  std::vector<bool> as_declared(g.tensors.size(), false);
  for (const Stored& s : stored) as_declared[s.tensor] = s.place.dtype == g.tensors[s.tensor].dtype;
  return reference::omit_roundings(g, as_declared);
}

Status status_of(const reference::Comparison& c) {
  return c.correct ? Status::correct : c.explained ? Status::borderline : Status::wrong;
}

/// Records a verdict on the tensor named `tensor`: sets the status of the result `r` to `status` and its reason to the
/// message `what`, if `status` is worse than the current status. Of several equally bad tensors, the first one is kept.
void blame(const graph::KernelGraph& g, Status status, const std::string& tensor, const std::string& what,
           RunResult& r) {
  if (status == Status::correct || r.status == Status::wrong || (status == r.status && !r.reason.empty())) return;
  r.status = status;
  r.reason = fmt::format("{}: tensor {}: {}", g.name, tensor, what);
}

/// Reports in `one` and `r` how many elements of a tensor no kernel has written. Such elements hold poison, a NaN with
/// all bits set. They are counted separately, because the comparison accepts any NaN where a NaN is expected.
void check_written(const graph::KernelGraph& g, const manifest::TensorPlace& t, const Bytes& bytes, TensorResult& one,
                   RunResult& r) {
  const std::int64_t left = unwritten(t, bytes);
  if (left == 0) return;
  one.fault = fmt::format("{} of its {} elements were never written", left, graph::size(t.shape));
  blame(g, Status::wrong, t.name, one.fault, r);
}

// Returns a report with the tensor's name, role, dtype and shape, to which the results of the comparison are added.
TensorResult result_of(const manifest::TensorPlace& t) {
  return {.name = t.name,
          .output = t.role == manifest::Role::output,
          .dtype = std::string(graph::name(t.dtype)),
          .shape = t.shape};
}

/// Combines the comparisons of the tiles of one tensor. A tile in which only the norm of the errors exceeds the
/// tolerance is judged by the norm over all tiles, because one of its few elements may dominate its own norm.
struct TileErrors {
  double worst = 0, of_error = 0;
  std::int64_t out_of_tolerance = 0;
  reference::Norms norms;
  bool finite = false;  // some expected element is finite
  // The worst status among the tiles of a tensor, with a message.
  struct Fault {
    Status status = Status::correct;
    std::int64_t first = -1;  // first tile with that status; -1: none
    std::string text;

    // Sets the status and message to those of the tile with index `index`, if the tile's status `now` is
    // worse than the current status, or equally bad and the tile's index is smaller.
    void add(std::int64_t index, Status now, const reference::Comparison& c) {
      if (now == Status::correct || (status == Status::wrong && now == Status::borderline)) return;
      if (now == status && index > first) return;
      *this = {now, index, reference::to_string(c)};
    }
  };
  Fault of_elements, of_norms;  // of tiles with an element out of tolerance; of tiles where only the norm is

  // Adds the comparison of the tile with index `index` to the verdict on the tensor. Tiles may be added in any order.
  void add(std::int64_t index, const reference::Comparison& c, const reference::Array& expected) {
    norms += c.norms;
    if (!(c.worst <= worst)) worst = c.worst;  // the negated comparison propagates NaN
    if (!(c.of_error <= of_error)) of_error = c.of_error;
    out_of_tolerance += c.wrong;
    finite = finite || std::ranges::any_of(expected.values, [](double v) { return std::isfinite(v); });
    (c.wrong > 0 || c.limited ? of_elements : of_norms).add(index, status_of(c), c);
  }
  // Returns the verdict on the tensor: the worst status of the tiles that have an element out of tolerance.
  // If there is no such tile, but the norm of the errors over all tiles exceeds the tolerance of `dtype`,
  // returns the worst status of the tiles in which only the norm exceeds it.
  const Fault& fault(graph::DType dtype) const {
    const bool all = of_elements.status == Status::correct && !norms.within(reference::tolerance(dtype));
    return all ? of_norms : of_elements;
  }
};

/// Adds to `r` the result of the sample `s` of tensor `t`: of the comparison of its tiles, and what was never written.
void add_result(const graph::KernelGraph& g, const reference::Sample& s, const TileErrors& tiles,
                const manifest::TensorPlace& t, const Bytes& bytes, const reference::InputChoice& inputs,
                RunResult& r) {
  const auto count = static_cast<std::int64_t>(s.tiles.size());
  TensorResult one = result_of(t);
  const TileErrors::Fault& fault = tiles.fault(g.tensors[s.tensor].dtype);
  one.norm_error = tiles.norms.relative(), one.worst = tiles.worst, one.out_of_tolerance = tiles.out_of_tolerance;
  one.of_error = tiles.of_error, one.fault = fault.text;
  one.tiles = count, one.of_tiles = s.tiling.count(), one.tile = s.tiling.tile, one.staged = !s.known.empty();
  for (const int from : s.from) one.from.push_back(g.tensors[from].name);
  blame(g, fault.status, t.name, fault.text, r);
  check_written(g, t, bytes, one, r);
  const bool random = std::ranges::any_of(inputs.given, [](const auto& array) { return array == nullptr; });
  if (!tiles.finite && random && one.output && r.status == Status::correct) {
    r.status = Status::refused;
    r.reason = fmt::format("{}: tensor {}: nothing finite is expected in {} tiles of {}; there is nothing to compare",
                           g.name, t.name, count, one.of_tiles);
  }
  r.tensors.push_back(std::move(one));
}

}  // namespace

std::string_view name(Check c) {
  constexpr std::string_view names[] = {"full", "sampled", "none"};
  return names[static_cast<int>(c)];
}

Check standard_check(const graph::KernelGraph& g) {
  return reference::work(g) >= reference::sampled_from ? Check::sampled : Check::full;
}

void check_all(const graph::KernelGraph& g, const manifest::Manifest& m, const std::vector<Bytes>& storage,
               const reference::RandomInputs& inputs, RunResult& r) {
  const std::vector<Stored> stored = stored_tensors(g, m);
  const graph::KernelGraph exact = without_roundings(g, stored);
  const bool same_as_exact = reference::same_roundings(exact, g);
  const reference::Reference without = same_as_exact ? reference::Reference{} : reference::run(exact, inputs.arrays);
  reference::Judge judge(exact, inputs.arrays, same_as_exact ? inputs.reference : without, 0,
                         same_as_exact ? nullptr : &g, same_as_exact ? nullptr : &inputs.reference);
  for (const Stored& s : stored) {
    const manifest::TensorPlace& t = s.place;
    const Bytes& bytes = storage[s.index];
    const reference::Comparison c = judge.compare(s.tensor, {t.shape, unpack(t, bytes)}, g.tensors[s.tensor].dtype);
    TensorResult one = result_of(t);
    one.norm_error = c.norm_error, one.worst = c.worst, one.out_of_tolerance = c.wrong, one.of_error = c.of_error;
    one.fault = c.correct ? "" : reference::to_string(c);
    blame(g, status_of(c), t.name, one.fault, r);
    if (c.correct) check_written(g, t, bytes, one, r);
    r.tensors.push_back(std::move(one));
  }
}

void check_sample(const graph::KernelGraph& g, const manifest::Manifest& m, const std::vector<Bytes>& storage,
                  const reference::InputChoice& inputs, const SampledCheck& options, RunResult& r) {
  const std::vector<Stored> stored = stored_tensors(g, m);
  const graph::KernelGraph exact = without_roundings(g, stored);
  const bool same_as_exact = reference::same_roundings(exact, g);
  std::vector<int> tensors, input(g.tensors.size(), -1);
  std::vector<const Stored*> of(g.tensors.size(), nullptr);
  for (const Stored& s : stored) tensors.push_back(s.tensor), of[s.tensor] = &s;
  for (std::size_t i = 0; i < g.inputs.size(); ++i) input[g.inputs[i]] = static_cast<int>(i);
  const auto values = [&](const reference::RegionGraph::Part& p) {
    if (input[p.tensor] >= 0) return reference::input_part(g, inputs, input[p.tensor], p.region);
    const Stored& from = *of[p.tensor];
    return unpack(from.place, storage[from.index], p.region);
  };
  const int cores = options.threads > 0 ? options.threads : reference::hardware_threads();
  for (const reference::Sample& s : reference::sample(g, tensors, inputs.seed, options.limits)) {
    const manifest::TensorPlace& t = of[s.tensor]->place;
    const Bytes& bytes = storage[of[s.tensor]->index];
    const auto count = static_cast<std::int64_t>(s.tiles.size());
    // Estimated bytes that the check of one tile needs. Several tiles are checked at a time, within a quarter
    // of the machine's memory. A tile that needs more is checked alone, on all cores.
    const double one_tile = 6 * reference::bytes(reference::cut(g, s.tensor, s.tiling.at(0), s.known).graph);
    const int outer = static_cast<int>(std::clamp(reference::machine_memory() / 4 / one_tile, 1.0,
                                                  static_cast<double>(std::min<std::int64_t>(cores, count))));
    TileErrors tiles;
    std::mutex guard;
    std::atomic<std::int64_t> done{0};
    std::atomic<bool> wrong{false};
    reference::parallel_for(count, outer, [&](std::int64_t i, int) {
      const reference::TensorRegion region = s.tiling.at(s.tiles[i]);
      const reference::RegionGraph c = reference::cut(exact, s.tensor, region, s.known);
      std::vector<reference::Array> arrays;
      for (const reference::RegionGraph::Part& p : c.inputs) arrays.push_back(values(p));
      reference::ReferenceOptions how;
      how.threads = std::max(1, cores / outer);
      const reference::Reference reference = reference::run(c.graph, arrays, how);
      const graph::KernelGraph declared =
          same_as_exact ? graph::KernelGraph{} : reference::cut(g, s.tensor, region, s.known).graph;
      const reference::Reference rounded =
          same_as_exact ? reference::Reference{} : reference::run(declared, arrays, how);
      const int made = c.graph.outputs[0];
      const graph::DType dtype = g.tensors[s.tensor].dtype;
      const reference::Array found = unpack(t, bytes, region);
      // Once a tile is wrong, the tensor is wrong, and explaining the errors of other tiles is superfluous.
      reference::Comparison one =
          wrong ? reference::compare(found, reference.tensors[made], dtype, nullptr,
                                     same_as_exact ? nullptr : &rounded.tensors[made])
                : reference::Judge(c.graph, arrays, reference, how.threads, same_as_exact ? nullptr : &declared,
                                   same_as_exact ? nullptr : &rounded)
                      .compare(made, found, dtype);
      if ((one.wrong > 0 || one.limited) && status_of(one) == Status::wrong) wrong = true;
      for (std::size_t d = 0; d < one.at.size(); ++d) one.at[d] += region.origin[d];
      const std::lock_guard lock(guard);
      tiles.add(i, one, reference.tensors[made]);
      options.say(fmt::format("checking {}: {} of {} tiles", t.name, ++done, count));
    });
    add_result(g, s, tiles, t, bytes, inputs, r);
  }
}

}  // namespace zellige::run
