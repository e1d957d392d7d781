// The proofs of iterations and of the values in stages, against a run of the ring: loops that copy a tile before the
// product that reads it, with random numbers of stages, distances, bounds and lags.
#include <gtest/gtest.h>

#include <algorithm>

#include "../all_cases.hpp"
#include "graph/error.hpp"
#include "random/rng.hpp"
#include "schedules.hpp"
#include "verify/proofs.hpp"

namespace zellige::plan {
namespace {

using random_graphs::Rng;

constexpr int ring = 0, sums = 1, copied = 0, product = 2;

/// Returns a product over a loop: its operands are loaded in each iteration, and its sum is stored after the loop.
tile::TileProgram products(std::int64_t loop) {
  tile::TileProgram p;
  p.name = "k", p.block = {128, 1, 1}, p.loop = loop;
  const tile::TileView each{{{}, {.loop = true, .tile = 64, .extent = 64 * loop}}};
  p.add({.kind = tile::NodeKind::load, .shape = {64, 64}, .dtype = graph::DType::f16, .view = each, .name = "A"});
  p.add({.kind = tile::NodeKind::load, .shape = {64, 64}, .dtype = graph::DType::f16, .view = each, .name = "B"});
  p.add({.kind = tile::NodeKind::matmul, .in = {0, 1}, .shape = {64, 64}, .carried = true});
  p.add({.kind = tile::NodeKind::store, .in = {2}, .shape = {64, 64}, .view = tile::TileView{{{}, {}}}, .name = "C"});
  return p;
}

kernel::Step of(kernel::Step step, kernel::WorkKind kind, int node) {
  step.work = {.kind = kind, .node = node};
  return step;
}
kernel::Step copy(int lag, int distance) {
  return of(load("copy", {.tensor = 0, .lag = lag}, ring, distance), kernel::WorkKind::copy_in, copied);
}
kernel::Step multiply(int lag) {
  return of(wgmma("mma", {{.tensor = 0, .lag = lag}}, sums), kernel::WorkKind::mma, product);
}
kernel::Step loop_from(std::int64_t from, std::int64_t to, kernel::Loop::Kind kind, std::vector<kernel::Step> body) {
  return {.is = kernel::Loop{.kind = kind, .trip_count = to, .from = from, .body = std::move(body)}};
}

/// Loops of which some copy tiles, and some multiply them.
struct Part {
  std::int64_t from = 0, to = 0;
  bool prologue = false, copies = false, multiplies = false;
  int lag = 0, distance = 0,
      reads = 0;  // of the copy: its stage, and the iteration that it copies; of the product: its tile
};
struct Case {
  int stages = 2;
  std::int64_t loop = 1;
  std::vector<Part> parts, consumer;  // a consumer's parts acquire the stages that the first role fills
  std::int64_t tiles[2] = {0, 0};     // of the output that a block takes, by role; 0: no loop over them
  bool two_roles() const { return !consumer.empty(); }
};

/// Returns a kernel whose steps are all ordered, by waits and barriers: nothing but values may be wrong.
kernel::Kernel kernel(const Case& c) {
  kernel::Kernel k{.program = products(c.loop), .threads = c.two_roles() ? 256 : 128};
  k.tensors = {tensor("sA", 0, 8192 * c.stages, c.stages)};
  const auto by = c.two_roles() ? kernel::Synchronisation::mbarrier_bytes : kernel::Synchronisation::cp_async_group;
  const int last = c.two_roles() ? 1 : 0;
  k.channels = {{.name = "ring", .tensor = 0, .stages = c.stages, .producer = 0, .consumers = {last}, .by = by},
                {.name = "sums", .producer = last, .consumers = {last}, .by = kernel::Synchronisation::commit_group}};
  const auto steps = [&](const std::vector<Part>& parts) {
    std::vector<kernel::Step> all;
    for (const Part& part : parts) {
      std::vector<kernel::Step> body;
      const auto add = [&](std::initializer_list<kernel::Step> more) { body.insert(body.end(), more); };
      if (part.copies && c.two_roles()) add({acquire(ring), copy(part.lag, part.distance)});
      if (part.copies && !c.two_roles())
        add({copy(part.lag, part.distance), commit(ring), wait_group(0, ring), fence(), barrier()});
      if (part.multiplies && c.two_roles()) add({acquire(ring)});
      if (part.multiplies) add({multiply(part.reads), commit(sums), wait_group(0, sums)});
      if (part.multiplies) add({c.two_roles() ? release(ring) : barrier()});
      if (part.from < part.to)
        all.push_back(
            loop_from(part.from, part.to, part.prologue ? kernel::Loop::prologue : kernel::Loop::iterations, body));
    }
    return all;
  };
  const auto of_tiles = [&](std::vector<kernel::Step> all, std::int64_t tiles) {
    if (tiles == 0) return all;
    kernel::Step over = loop_from(0, tiles, kernel::Loop::tiles, std::move(all));
    kernel::as<kernel::Loop>(over)->each = c.loop;
    return std::vector<kernel::Step>{std::move(over)};
  };
  k.agents = {{.name = "first", .warps = 4, .steps = of_tiles(steps(c.parts), c.tiles[0])}};
  if (c.two_roles())
    k.agents.push_back({.name = "second", .warps = 4, .steps = of_tiles(steps(c.consumer), c.tiles[1])});
  return k;
}

/// A run of the loops, the second role's after those of the first.
struct Run {
  explicit Run(const Case& of) : c(of), stages(static_cast<std::size_t>(of.stages), -1) {}

  const Case& c;
  std::vector<std::int64_t> stages;  // the value in each: the iteration, counted on from tile to tile
  std::vector<std::int64_t> fills;   // what the producer has copied, in order
  std::size_t acquired = 0;
  std::vector<int> copies, products;  // of each iteration of a tile
  bool right = true;

  void require(bool holds) { right = right && holds; }
  std::size_t stage(std::int64_t i) const { return static_cast<std::size_t>((i % c.stages + c.stages) % c.stages); }
  void once(std::vector<int>& times, std::int64_t iteration) {
    require(iteration >= 0 && iteration < c.loop && ++times[static_cast<std::size_t>(iteration)] == 1);
  }

  /// Runs an iteration of a tile whose first one is number `base`.
  void iteration(const Part& part, std::int64_t i, std::int64_t base) {
    if (part.copies && !(part.distance > 0 && i + part.distance >= c.loop)) {
      once(copies, i + part.distance);
      const std::size_t into = stage(base + i + part.lag);
      require(!c.two_roles() || into == fills.size() % stages.size());  // the ring gives its stages in order
      fills.push_back(base + i + part.distance), stages[into] = fills.back();
    }
    if (!part.multiplies) return;
    once(products, i + part.reads);
    const std::int64_t wanted = base + i + part.reads;
    if (!c.two_roles()) return require(stages[stage(wanted)] == wanted);
    require(acquired < fills.size() && stage(wanted) == acquired % stages.size() && fills[acquired] == wanted);
    ++acquired;
  }

  void role(const std::vector<Part>& parts, std::int64_t tiles) {
    for (std::int64_t t = 0; t < std::max<std::int64_t>(tiles, 1); ++t) {
      copies.assign(static_cast<std::size_t>(c.loop), 0), products = copies;
      for (const Part& part : parts)
        for (std::int64_t i = part.from; i < part.to; ++i) iteration(part, i, t * c.loop);
      const auto all = [](const std::vector<int>& times) {
        return std::ranges::all_of(times, [](int n) { return n == 1; });
      };
      require((&parts == &c.consumer || all(copies)) && (c.two_roles() && &parts == &c.parts ? true : all(products)));
    }
  }
};

/// Returns whether all tiles are copied and multiplied once, each by a product that finds the tile of its own iteration in its stage.
bool runs(const Case& c) {
  Run run(c);
  run.role(c.parts, c.tiles[0]);
  if (c.two_roles()) run.role(c.consumer, c.tiles[1]);
  return run.right && (!c.two_roles() || run.acquired == run.fills.size());
}

/// Returns a ring that is right: with what is copied before the loop and in it, prefetched, or with a role that copies
/// for another one.
Case drawn(Rng& rng) {
  Case c;
  c.stages = static_cast<int>(rng.between(2, 5)), c.loop = rng.chance(30) ? rng.between(17, 60) : rng.between(2, 12);
  const int reads = static_cast<int>(rng.below(2));  // 1: the first product is taken out of the loop
  const Part first{.to = 1, .multiplies = true}, rest{.to = c.loop - reads, .multiplies = true, .reads = reads};
  if (rng.chance(40)) {
    c.parts = {{.to = c.loop, .copies = true}};
    if (reads > 0) c.consumer = {first};
    c.consumer.push_back(rest);
    // verify() runs the number that makes every stage a first one, stages + 2; verify_coverage() compares the roles'
    // numbers.
    if (rng.chance(40)) c.tiles[0] = c.tiles[1] = rng.between(1, c.stages + 1);
    return c;
  }
  const auto distance = static_cast<int>(rng.below(std::min<std::int64_t>(c.stages, c.loop)));
  if (distance > 0) c.parts = {{.to = distance, .prologue = true, .copies = true}};
  c.parts.push_back({.to = c.loop, .copies = true, .multiplies = true, .lag = distance, .distance = distance});
  return c;
}

/// Changes one number.
void change(Rng& rng, Case& c) {
  std::vector<Part>& parts = c.two_roles() && rng.chance(60) ? c.consumer : c.parts;
  Part& part = parts[static_cast<std::size_t>(rng.below(std::ssize(parts)))];
  const int by = rng.chance(50) ? 1 : rng.chance(70) ? -1 : c.stages;
  if (c.tiles[0] > 0 && rng.chance(15)) {
    std::int64_t& tiles = c.tiles[rng.below(2)];
    tiles = std::max<std::int64_t>(tiles + (rng.chance(50) ? 1 : -1), 0);
    return;
  }
  switch (rng.below(6)) {
    case 0:
      part.from = std::max<std::int64_t>(part.from + by, 0);
      return;
    case 1:
      part.to = std::max<std::int64_t>(part.to + by, 1);
      return;
    case 2:
      part.lag += by;
      return;
    case 3:
      if (!part.prologue) part.distance = std::max(part.distance + by, 0);
      return;
    case 4:
      part.reads += by;
      return;
    default:
      part.lag += by, part.distance = std::max(part.distance + by, 0);
  }
}

std::string text(const Case& c) {
  std::string all = fmt::format("{} iterations, {} stages, {} and {} tiles", c.loop, c.stages, c.tiles[0], c.tiles[1]);
  for (const auto* role : {&c.parts, &c.consumer})
    for (const Part& p : *role)
      all += fmt::format("; {}{} to {}{}{}", role == &c.consumer ? "consumer " : "", p.from, p.to,
                         p.copies ? fmt::format(" copies into i+{} the tile i+{}", p.lag, p.distance) : "",
                         p.multiplies ? fmt::format(" multiplies i+{}", p.reads) : "");
  return all;
}

/// Returns what the proofs say; "" if they accept.
std::string proved(const kernel::Kernel& k) {
  const std::string message = verdict(k);
  if (message != "") return message;
  try {
    verify::verify_iterations(k);
  } catch (const Rejected& e) {
    return e.what();
  }
  return "";
}

TEST(Rings, AreAcceptedIfEachProductFindsTheTileOfItsIteration) {
  Rng rng(1);
  int right = 0, wrong = 0;
  for (int i = 0, n = test::all_cases() ? 40'000 : 3'000; i < n && !HasFailure(); ++i) {
    Case c = drawn(rng);
    const bool changed = rng.chance(60);
    if (changed) change(rng, c);
    const bool runs_right = runs(c);
    const std::string message = proved(kernel(c)), which = fmt::format("draw {}: {}", i, text(c));
    if (!changed) EXPECT_TRUE(runs_right) << which;
    EXPECT_EQ(message == "", runs_right) << which << "\n" << message;
    (runs_right ? right : wrong) += 1;
  }
  EXPECT_GT(right, 1000);
  EXPECT_GT(wrong, 800);
}

}  // namespace
}  // namespace zellige::plan
