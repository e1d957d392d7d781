// Runs a launch: checks its configuration, and distributes its clusters to worker threads.
#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>

#include "emulate/cluster.hpp"
#include "graph/error.hpp"

namespace zellige::emulate {

namespace {

// The clusters of finished launches, which are kept because allocating stacks and shadow memory is expensive.
std::mutex kept_mutex;
std::vector<std::unique_ptr<Cluster>> kept;

std::unique_ptr<Cluster> take_cluster() {
  std::lock_guard lock(kept_mutex);
  if (kept.empty()) kept.push_back(std::make_unique<Cluster>());
  std::unique_ptr<Cluster> cluster = std::move(kept.back());
  kept.pop_back();
  return cluster;
}

// Throws Error if the launch's grid, block, cluster or shared memory is not valid.
void check(const LaunchConfig& config) {
  const dim3 &g = config.grid, &b = config.block;
  const std::uint64_t threads = std::uint64_t(b.x) * b.y * b.z, blocks = std::uint64_t(g.x) * g.y * g.z;
  if (threads == 0 || threads > 1024 || b.x > 1024 || b.y > 1024)
    fail("emulator: a block of {}x{}x{} threads; there must be 1 to 1024", b.x, b.y, b.z);
  if (blocks == 0 || blocks >= (1u << 28))
    fail("emulator: a grid of {}x{}x{} blocks; there must be 1 to {}", g.x, g.y, g.z, (1u << 28) - 1);
  if (config.shared_bytes > (1u << 20))
    fail("emulator: {} bytes of shared memory for a block; no GPU has more than {}", config.shared_bytes, 1u << 20);
  if (config.writes.size() != config.arguments.size())
    fail("emulator: {} arguments, but {} entries say which are written", config.arguments.size(), config.writes.size());
  const dim3& c = config.cluster;
  if (config.shared_memory && c.x * c.y * c.z != 1)
    fail(
        "emulator: the kernel declares its shared memory, which is one block's; the launch has clusters of {}x{}x{} "
        "blocks",
        c.x, c.y, c.z);
  const std::uint64_t cluster = std::uint64_t(c.x) * c.y * c.z;
  if (cluster == 0 || cluster > 16)
    fail("emulator: a cluster of {}x{}x{} blocks; there must be 1 to 16", c.x, c.y, c.z);
  if (g.x % c.x || g.y % c.y || g.z % c.z)
    fail("emulator: a grid of {}x{}x{} blocks is not a whole number of clusters of {}x{}x{}", g.x, g.y, g.z, c.x, c.y,
         c.z);
  if (const std::uint64_t ranks = config.ranks.size(); ranks > 0) {
    if (cluster != 1)
      fail("emulator: a launch of {} ranks has clusters of {} blocks; there must be none", ranks, cluster);
    if (ranks * ((threads + 31) / 32) > shadow::max_warps)
      fail("emulator: blocks of {} threads on {} ranks have {} warps; the emulator follows up to {}", threads, ranks,
           ranks * ((threads + 31) / 32), shadow::max_warps);
    for (const auto& of_rank : config.ranks)
      if (of_rank.size() != config.ranks[0].size())
        fail("emulator: rank 0 has {} parameters, another one {}", config.ranks[0].size(), of_rank.size());
  }
  if (cluster * ((threads + 31) / 32) > shadow::max_warps)
    fail("emulator: a cluster of {} blocks of {} threads has {} warps; the emulator follows up to {}", cluster, threads,
         cluster * ((threads + 31) / 32), shadow::max_warps);
}

// The arguments of a launch: the regions of its tensors, and shadow memory for the buffers that it writes.
// Throws Error if they are inconsistent.
struct LaunchMemory {
  std::deque<Region> regions;
  std::deque<GlobalState> states;
  std::deque<shadow::GlobalShadow> shadows;
  std::deque<std::vector<unsigned char>> bytes;
  std::vector<Argument> arguments;

  explicit LaunchMemory(const LaunchConfig& config) {
    std::vector<LaunchParameter> parameters = config.parameters;
    if (!parameters.empty() && !config.arguments.empty())
      fail("emulator: the launch gives both `arguments` and `parameters`; one of them says it all");
    for (std::size_t i = 0; i < config.arguments.size(); ++i) {
      if (!config.arguments[i]) fail("emulator: argument {} of the launch is missing", i);
      parameters.emplace_back(*config.arguments[i], config.writes[i]);
    }
    for (const auto& of_rank : config.ranks) parameters.insert(parameters.end(), of_rank.begin(), of_rank.end());
    std::map<Buffer*, GlobalState*> known;
    for (const LaunchParameter& p : parameters) {
      Argument& argument = arguments.emplace_back();
      if (p.buffer) {
        GlobalState*& state = known[p.buffer];
        if (!state) {
          state = &states.emplace_back();
          state->flags = p.buffer->flags();
          state->padded = p.buffer->padded();
        }
        if (p.writes && !state->races) state->races = &shadows.emplace_back(p.buffer->bytes());
        regions.push_back({p.buffer->name().c_str(), p.buffer->data(), p.buffer->bytes(), Space::global, p.writes, 0,
                           state, p.constant});
        argument.region = &regions.back();
      }
      if (p.bytes.empty()) continue;
      bytes.push_back(p.bytes);
      argument.bytes = bytes.back().data();
      argument.size = bytes.back().size();
      if (p.buffer && !p.address) bind_map(bytes.back(), *argument.region, arguments.size() - 1);
    }
  }

  // Writes a pointer to `region`, the map's tensor, into a TMA map. Throws Error if `bytes` are not a TMA map
  // made for the emulator. `index`: the argument's index, for the message.
  static void bind_map(std::vector<unsigned char>& bytes, const Region& region, std::size_t index) {
    TmaMap map;
    if (bytes.size() >= sizeof(map)) std::memcpy(&map, bytes.data(), sizeof(map));
    if (map.magic != TmaMap::mark)
      fail("emulator: argument {} is not a TMA descriptor that was made for the emulator", index);
    map.region = &region;
    std::memcpy(bytes.data(), &map, sizeof(map));
  }
};

// Stores in the launch what the entry function of the kernel's library reports.
void run_grid(Launch& launch, void (*body)(const Launch&), const std::size_t* sizes, unsigned parameters) {
  auto& grid = static_cast<LaunchState&>(launch);
  grid.body = body;
  grid.parameters = parameters;
  grid.sizes = sizes;
}

// Throws Error if the launch's arguments are not what the kernel takes.
void check_parameters(const LaunchState& grid) {
  if (!grid.body) fail("emulator: the entry of the emitted source has started no kernel");
  if (grid.parameters != grid.argument_count)
    fail("emulator: the kernel takes {} {}, the launch gives {}", grid.parameters,
         grid.config->parameters.empty() ? "tensors" : "parameters", grid.argument_count);
  for (std::size_t i = 0; i < grid.argument_count; ++i) {
    const Argument& a = grid.arguments[i];
    if (grid.sizes[i] == 0 && !(a.region && !a.bytes))
      fail("emulator: parameter {} of the kernel is a pointer, the launch gives {} bytes", i, a.size);
    if (grid.sizes[i] != 0 && a.size != grid.sizes[i])
      fail("emulator: parameter {} of the kernel has {} bytes, the launch gives {}", i, grid.sizes[i],
           a.bytes ? fmt::format("{}", a.size) : "a tensor");
  }
}

// Returns the launch with the arguments of each rank, which follow one another.
std::vector<LaunchState> by_rank(const LaunchState& grid, unsigned ranks) {
  std::vector<LaunchState> all(ranks, grid);
  for (unsigned r = 0; r < ranks; ++r) all[r].arguments += r * grid.argument_count;
  return all;
}

// Returns the costs of instructions by source line, kind and width.
std::vector<LineCost> by_line(const AccessCosts& costs, const std::string& source_file) {
  std::vector<std::uintptr_t> addresses;
  for (const auto& [place, cost] : costs) addresses.push_back(place.site);
  const LineTable lines = costs.empty() ? LineTable{} : find_lines(addresses);
  constexpr Counter kinds[] = {Counter::global_load_sectors,    Counter::global_store_sectors,
                               Counter::shared_load_wavefronts, Counter::shared_store_wavefronts,
                               Counter::cp_async_wavefronts,    Counter::cp_async_sectors};
  std::map<std::tuple<std::string, std::ptrdiff_t, std::uint8_t>, LineCost> sums;
  for (const auto& [place, cost] : costs) {
    const std::string line = spell(lines, {place.site}, source_file);
    const auto kind = std::ranges::find(kinds, place.cost) - kinds;
    LineCost& sum = sums[{line, kind, place.width}];
    sum.line = line;
    sum.shared = kind >= 2 && kind <= 4;
    sum.writes = kind == 1 || kind == 3 || kind == 4;
    sum.width = place.width;
    sum.executions += cost.executions, sum.cost += cost.cost, sum.ideal += cost.ideal;
  }
  std::vector<LineCost> all;
  for (auto& [key, sum] : sums) all.push_back(std::move(sum));
  return all;
}

}  // namespace

namespace {

// Counts a worker as busy.
struct BusyWorker {
  explicit BusyWorker(std::atomic<int>& of) : busy(of) { ++busy; }
  BusyWorker(const BusyWorker&) = delete;
  ~BusyWorker() { --busy; }
  std::atomic<int>& busy;
};

// Runs clusters until none is left; returns whether all of them ended.
bool run_blocks(Cluster& cluster, std::atomic<std::uint64_t>& next, std::atomic<int>& busy, std::uint64_t blocks,
                void (*progress)(std::uint64_t, std::uint64_t)) {
  bool complete = true;
  for (std::uint64_t b; !interrupted && (b = next.fetch_add(1, std::memory_order_relaxed)) < blocks;) {
    {
      const BusyWorker running(busy);
      complete &= cluster.run(b);
    }
    if (progress) progress(std::min(next.load(std::memory_order_relaxed), blocks), blocks);
  }
  return complete && !interrupted;
}

}  // namespace

void interrupt() { interrupted = true; }
bool is_interrupted() { return interrupted; }

EmulationReport run(void (*entry)(Launch&), const LaunchConfig& config) {
  check(config);
  LaunchMemory memory(config);
  LaunchState grid;
  grid.config = &config, grid.run = run_grid;
  grid.arguments = memory.arguments.data();
  const unsigned ranks = std::max(1u, unsigned(config.ranks.size()));
  grid.argument_count = unsigned(memory.arguments.size()) / ranks;
  entry(grid);
  check_parameters(grid);
  const std::vector<LaunchState> of_rank = by_rank(grid, ranks);
  if (ranks > 1) grid.ranks = of_rank.data();

  const dim3& c = config.cluster;
  grid.clusters = std::uint64_t(config.grid.x) * config.grid.y * config.grid.z / (c.x * c.y * c.z);
  unsigned workers = config.workers > 0 ? unsigned(config.workers) : std::max(1u, std::thread::hardware_concurrency());
  workers = unsigned(std::min<std::uint64_t>(workers, grid.clusters));

  std::atomic<std::uint64_t> next{0};
  std::atomic<int> busy{0};
  grid.next = &next, grid.busy = workers > 1 ? &busy : nullptr;
  std::mutex mutex;
  EmulationReport report;
  std::vector<RawFinding> raw;
  AccessCosts costs;
  std::exception_ptr error;
  const std::thread::id caller = std::this_thread::get_id();
  auto work = [&] {
    try {
      std::unique_ptr<Cluster> block = take_cluster();
      block->prepare(grid);
      const auto progress = std::this_thread::get_id() == caller ? config.progress : nullptr;
      const bool complete = run_blocks(*block, next, busy, grid.clusters, progress);
      std::lock_guard lock(mutex);
      report.counters += block->counters, report.complete &= complete;
      for (const auto& [place, cost] : block->costs) {
        AccessCost& sum = costs[place];
        sum.executions += cost.executions, sum.cost += cost.cost, sum.ideal += cost.ideal;
      }
      for (RawFinding& f : block->findings.raw()) raw.push_back(std::move(f));
      std::lock_guard keeping(kept_mutex);
      kept.push_back(std::move(block));
    } catch (...) {
      std::lock_guard lock(mutex);
      error = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  others.reserve(workers);
  try {
    for (unsigned w = 1; w < workers; ++w) others.emplace_back(work);
  } catch (const std::system_error&) {  // no more host threads are available; those that exist share the work
  }
  work();
  for (std::thread& t : others) t.join();
  if (error) std::rethrow_exception(error);
  report.findings = resolve(std::move(raw), config.source_file);
  report.costs = by_line(costs, config.source_file);
  return report;
}

}  // namespace zellige::emulate
