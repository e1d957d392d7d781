#include "plan/loop_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>

namespace zellige::plan {
namespace {

using GroupSet = std::uint32_t;  // of groups of products, one bit each

/// The parts of a loop while they are made.
class PartsOfLoop {
 public:
  PartsOfLoop(const kernel::Kernel& kernel, const selection::Tasks& tasks, const selection::PhasedTasks& phases,
              int sets)
      : kernel_(kernel), tasks_(tasks), of_tasks_(tasks.size()) {
    result_.sets = sets;
    result_.graph.items.reserve(8), result_.parts.reserve(8), result_.graph.dependences.reserve(16);
    for (const selection::Phase& phase : phases.inside) inside_.insert(inside_.end(), phase.begin(), phase.end());
    for (int t : inside_) of_tasks_[t].inside = true;
    group_products();
    for (int t : inside_)
      if (!product(t)) computation(t);
    result_.counter = result_.groups;  // the first computation, if there is one
    for (int g = 0; g < result_.groups; ++g) {
      if (!result_.graph.items[g].asynchronous() || sets > 0) continue;  // whoever multiplies releases at once
      result_.graph.items.push_back({.name = fmt::format("release {}", g), .role = LoopParts::consumer, .cycles = 0});
      result_.parts.push_back({.ring = g});
      depend(g, last(), 0);
    }
    if (computations_.empty()) result_.counter = last();
    connect();
    for (int g = 0; g < result_.groups; ++g) copies(g, phases.copied_each);
    result_.times = schedule::modulo_schedule(result_.graph);
  }

  LoopParts take() { return std::move(result_); }

 private:
  /// What is found of a task.
  struct Found {
    bool inside = false;
    int item = -1;
    // Groups of products that it waits for: of its own iteration, and of the one before.
    GroupSet own = 0, earlier = 0;
  };

  bool separate() const { return result_.sets > 0; }
  bool product(int t) const { return tasks_[t].kind == kernel::WorkKind::mma; }
  int last() const { return static_cast<int>(result_.parts.size()) - 1; }
  /// Returns the tasks of the loop on which a task depends within an iteration.
  std::vector<int> before(int t) const {
    std::vector<int> all = tasks_[t].after_same;
    all.insert(all.end(), tasks_[t].after.begin(), tasks_[t].after.end());
    std::erase_if(all, [&](int w) { return !of_tasks_[w].inside; });
    return all;
  }

  /// Adds an item for each group of products that wait for the same ones. Finds what each task waits for.
  void group_products() {
    std::map<GroupSet, int> groups;
    for (int t : inside_) {
      Found& found = of_tasks_[t];
      for (int w : before(t)) {
        found.own |= of_tasks_[w].own;
        if (product(w)) found.own |= 1u << of_tasks_[w].item;
      }
      if (!product(t)) continue;
      const auto [group, added] = groups.try_emplace(found.own, result_.groups);
      found.item = group->second;
      if (added) {
        const Instruction& row = *tasks_[t].matmul.row;
        result_.graph.items.push_back({.name = fmt::format("products {}", result_.groups),
                                       .role = separate() ? LoopParts::multiplier : LoopParts::consumer,
                                       .by = separate() ? kernel::Completion::mbarrier_bytes : row.completion,
                                       .unit = 0,
                                       .cycles = 0});
        result_.parts.push_back({.products = result_.groups, .ring = result_.groups, .acquires = true});
        ++result_.groups;
      }
      result_.graph.items[found.item].cycles += cycles_of(tasks_[t].matmul);
      result_.parts[found.item].tasks.push_back(t);
    }
    for (int t : inside_)
      if (product(t))
        for (int w : before(t))
          if (!product(w)) of_tasks_[w].earlier |= 1u << of_tasks_[t].item;  // it writes what the product reads
  }

  /// Adds a computation to the item of those that wait for the same products.
  void computation(int t) {
    Found& found = of_tasks_[t];
    for (int w : before(t)) found.earlier |= of_tasks_[w].earlier;
    const auto [known, added] = computations_.try_emplace({found.own, found.earlier}, last() + 1);
    found.item = known->second;
    if (added) {
      result_.graph.items.push_back(
          {.name = fmt::format("work {}", computations_.size()), .role = LoopParts::consumer, .cycles = 1});
      const GroupSet awaited = found.earlier ? found.earlier : found.own;
      result_.parts.push_back({.products = static_cast<int>(std::bit_width(awaited)) - 1});
    }
    result_.graph.items[found.item].cycles += kernel_.layout_of(tasks_[t]).values();
    result_.parts[found.item].tasks.push_back(t);
  }

  void depend(int from, int to, int distance) {
    const auto same = [&](const schedule::LoopDependence& d) {
      return d.from == from && d.to == to && d.distance == distance;
    };
    if (from != to && std::ranges::none_of(result_.graph.dependences, same))
      result_.graph.dependences.push_back({from, to, distance});
  }

  bool carried(int t) const { return kernel_.program.nodes[tasks_[t].node].carried; }
  /// Returns whether a computation works on values in the layout of accumulators that group `g` writes anew in each iteration: they
  /// take turns in the same registers.
  bool shares_registers(int t, int g) const {
    return std::ranges::any_of(result_.parts[g].tasks,
                               [&](int p) { return !carried(p) && tasks_[p].context == tasks_[t].context; });
  }

  /// Adds the dependences between products and computations. There is one set of registers for each value, so the next
  /// iteration writes it after it has been read; the accumulators of a product over the loop are read after the loop.
  void connect() {
    for (int t : inside_) {
      for (int w : before(t)) {
        depend(of_tasks_[w].item, of_tasks_[t].item, 0);
        if (!product(w) || !carried(w)) depend(of_tasks_[t].item, of_tasks_[w].item, 1);
      }
      for (int g = 0; g < result_.groups; ++g) {
        const bool own = of_tasks_[t].own >> g & 1, earlier = of_tasks_[t].earlier >> g & 1;
        if (own) depend(g, of_tasks_[t].item, 0);
        if (own && !product(t) && shares_registers(t, g)) depend(of_tasks_[t].item, g, 1);
        if (earlier && !product(t)) depend(g, of_tasks_[t].item, 1);
      }
    }
  }

  /// Adds the producer's copies of the tiles that group `g` of products reads. Those that no product reads are the first
  /// group's.
  void copies(int g, const std::vector<int>& streamed) {
    const auto reads = [&](int of, int copy) {
      return std::ranges::any_of(result_.parts[of].tasks, [&](int t) { return reads_tile(t, copy); });
    };
    LoopPart part{.ring = g};
    for (int t : streamed) {
      int reader = 0;
      for (int other = 0; other < result_.groups; ++other)
        if (reads(other, t)) reader = other;
      if (reader == g) part.tasks.push_back(t);
    }
    if (part.tasks.empty()) return;
    const Instruction& row = *tasks_[part.tasks.front()].copy.row;
    result_.graph.items.push_back({.name = fmt::format("copies {}", g),
                                   .role = LoopParts::producer,
                                   .by = row.completion,
                                   .cycles = row.cycles,
                                   .latency = row.latency.value_or(0)});
    result_.parts.push_back(std::move(part));
    depend(last(), g, 0);
    widened_from(last(), g);
  }

  /// Adds the dependences of the computations that read tiles of the copies `from` before the products of group `g` do: what loads the
  /// bytes of their operand. The first of them acquires the stage.
  void widened_from(int from, int g) {
    for (int t : inside_) {
      if (product(t) || tasks_[t].kind != kernel::WorkKind::to_operand || of_tasks_[t].own != 0) continue;
      const auto reads = [&](int copy) { return reads_tile(t, copy); };
      if (std::ranges::none_of(result_.parts[from].tasks, reads)) continue;
      LoopPart& part = result_.parts[of_tasks_[t].item];
      depend(from, of_tasks_[t].item, 0);
      depend(of_tasks_[t].item, g, 0);
      part.ring = g, part.acquires = true, result_.parts[g].acquires = false;
    }
  }

  /// Returns whether task `t` reads the tile that task `copy` copies.
  bool reads_tile(int t, int copy) const {
    return std::ranges::find(tasks_[t].reads, tasks_[copy].tensor, &kernel::Access::tensor) != tasks_[t].reads.end();
  }

  const kernel::Kernel& kernel_;
  const selection::Tasks& tasks_;
  std::vector<int> inside_;
  std::vector<Found> of_tasks_;
  std::map<std::pair<GroupSet, GroupSet>, int> computations_;
  LoopParts result_;
};

/// Returns the graph of an agent that copies tiles for itself to this many stages.
schedule::LoopGraph block_graph(int stages) {
  schedule::LoopGraph graph;
  // Copies through registers are waited for as if each were a cp.async.
  graph.items = {{.name = "work"},
                 {.name = "copies", .by = kernel::Completion::copy_group, .early = stages > 1},
                 {.name = "wait"}};
  graph.dependences = {{BlockLoop::copies, BlockLoop::wait}, {BlockLoop::wait, BlockLoop::work}};
  // Who passes the wait of an iteration has read the stages of those before. A refill follows it at once: the barrier that
  // shows the one iteration's tiles also says that the other's have been read.
  if (stages == 1)
    graph.dependences.push_back({BlockLoop::work, BlockLoop::copies, 1});
  else
    graph.dependences.push_back({BlockLoop::wait, BlockLoop::copies, stages - 1});
  return graph;
}

/// Returns the body of the loop of an agent that copies tiles for itself to this many stages, or has no copies (0). It is the same for
/// all kernels.
const std::vector<schedule::LoopEntry>& block_body(int stages) {
  static std::map<int, std::vector<schedule::LoopEntry>> known{{0, {{{BlockLoop::work}}}}};
  static std::mutex one;
  const std::lock_guard lock(one);
  std::vector<schedule::LoopEntry>& body = known[stages];
  if (body.empty()) {
    const schedule::LoopGraph graph = block_graph(stages);
    body = schedule::every_iteration(
        graph, schedule::body_of(graph, schedule::modulo_schedule(graph), LoopParts::consumer, BlockLoop::work));
  }
  return body;
}

}  // namespace

BlockLoop block_loop(const kernel::Kernel& kernel, const selection::PhasedTasks& phases, bool cross) {
  const int count = static_cast<int>(phases.inside.size()), stages = kernel.stages();
  const bool copies = !phases.copied_each.empty();
  // If all tiles fit, each has a stage of its own, and that of an iteration beyond the end is never filled.
  const int more = stages == kernel.program.loop ? 1 : 0;
  BlockLoop loop{.body = block_body(copies ? stages + more : 0)};
  const auto place = [&](BlockLoop::Item item) {
    const auto same = [&](const schedule::LoopEntry& e) { return e.placed.item == item; };
    return static_cast<int>(std::ranges::find_if(loop.body, same) - loop.body.begin());
  };
  if (copies) loop.ahead = loop.body[place(BlockLoop::copies)].placed.ahead;
  const int first = place(BlockLoop::work), last = first + count - 1;  // work is the last item of the body
  std::vector<schedule::ThreadCrossing> crossings;
  crossings.reserve(count + 2);
  for (int phase = first; phase < last; ++phase) crossings.push_back({phase, phase + 1});
  if (count > 1) crossings.push_back({last, first});
  if (copies && (cross || count > 1)) {
    crossings.push_back({place(BlockLoop::wait), first});
    crossings.push_back({last, place(BlockLoop::copies)});
  }
  if (count > 0) loop.barriers = schedule::barriers_between(last + 1, crossings);
  return loop;
}

std::int64_t cycles_of(const kernel::MatmulChoice& m) {
  return m.row->cycles * tile::ceil_div(m.m, m.row->m) * tile::ceil_div(m.columns(), m.row->n) *
         tile::ceil_div(m.k, m.row->k) * m.products();
}

LoopParts loop_parts(const kernel::Kernel& kernel, const selection::Tasks& tasks, const selection::PhasedTasks& phases,
                     int sets) {
  return PartsOfLoop(kernel, tasks, phases, sets).take();
}

}  // namespace zellige::plan
