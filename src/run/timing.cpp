#include "run/timing.hpp"

#include <algorithm>
#include <memory>

#include "run/bound.hpp"

namespace zellige::run {
namespace {

constexpr int warm_up = 20, launches_when_hot = 200;  // numbers of evaluations for hot
constexpr int rounds = 15, few_rounds = 3;            // for rotated
constexpr double round_ms = 10;
constexpr int max_sets = 64;

/// A way of launching the program on all sets of inputs and outputs, captured in a CUDA graph.
struct TimedLaunch {
  std::vector<double>* into;  // receives the samples
  std::unique_ptr<CapturedGraph> graph;
  int repeats = 1;
};

// Returns the milliseconds that `repeats` launches of the graph take.
double replays_ms(Stream& stream, const CapturedGraph& graph, int repeats) {
  Event before, after;
  before.record(stream);
  for (int i = 0; i < repeats; ++i) graph.launch(stream);
  after.record(stream);
  stream.wait();
  return after.ms_since(before);
}

}  // namespace

std::string_view name(Timing t) {
  constexpr std::string_view names[] = {"off", "rotated", "hot"};
  return names[static_cast<int>(t)];
}

int sets_beyond_l2(std::int64_t bytes) {
  const std::int64_t beyond = 3 * static_cast<std::int64_t>(device().l2_bytes);
  return static_cast<int>(std::clamp<std::int64_t>(beyond / std::max<std::int64_t>(bytes, 1) + 1, 1, max_sets));
}

Times time_rotated(Stream& stream, const LoadedProgram& program, const std::vector<BoundProgram>& sets, bool brief) {
  Times times{.how = Timing::rotated, .sets = static_cast<int>(sets.size())};
  std::vector<TimedLaunch> ways;
  const auto add = [&](Overlap overlap, std::vector<double>& into) {
    auto graph = std::make_unique<CapturedGraph>(stream, [&] {
      for (const BoundProgram& set : sets) set.launch(stream.handle(), overlap);
    });
    ways.push_back({&into, std::move(graph)});
  };
  if (program.programmatic()) {
    add(Overlap::all, times.samples);
    if (!brief) add(Overlap::kernels, times.without_overlap), add(Overlap::none, times.ordered);
  } else {
    add(Overlap::none, times.samples);
  }
  for (TimedLaunch& way : ways) {
    replays_ms(stream, *way.graph, 1);  // the first launch of a graph is slower
    way.repeats = std::max(1, static_cast<int>(round_ms / std::max(replays_ms(stream, *way.graph, 1), 1e-3)));
  }
  for (int r = 0; r < (brief ? few_rounds : rounds); ++r) {
    for (const TimedLaunch& way : ways)
      way.into->push_back(1e3 * replays_ms(stream, *way.graph, way.repeats) / way.repeats / times.sets);
    std::ranges::reverse(ways);
  }
  return times;
}

Times time_hot(Stream& stream, const BoundProgram& program) {
  Times times{.how = Timing::hot};
  for (int i = 0; i < warm_up; ++i) program.launch(stream.handle(), Overlap::kernels);
  stream.wait();
  // Evaluations per batch. The stream is blocked while a batch is enqueued, so that no launch waits for the host.
  const int batch = std::clamp(400 / (program.kernels() + 2), 1, 50);
  while (static_cast<int>(times.samples.size()) < launches_when_hot) {
    const int n = std::min(batch, launches_when_hot - static_cast<int>(times.samples.size()));
    std::vector<Event> before(n), after(n);
    Gate gate(stream);
    for (int i = 0; i < n; ++i) {
      before[i].record(stream);
      program.launch(stream.handle(), Overlap::kernels);
      after[i].record(stream);
    }
    gate.open();
    stream.wait();
    for (int i = 0; i < n; ++i) times.samples.push_back(1e3 * after[i].ms_since(before[i]));
  }
  return times;
}

}  // namespace zellige::run
