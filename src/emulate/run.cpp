#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

#include "emulate/block.hpp"
#include "graph/error.hpp"

namespace zellige::emulate {

namespace {

// Blocks, with their stacks and shadows, are kept from launch to launch.
class Pool {
 public:
  std::unique_ptr<Block> take() {
    std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<Block>();
    std::unique_ptr<Block> b = std::move(free_.back());
    free_.pop_back();
    return b;
  }
  void give(std::unique_ptr<Block> b) {
    std::lock_guard lock(mutex_);
    free_.push_back(std::move(b));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Block>> free_;
};

Pool& pool() {
  static Pool p;
  return p;
}

void check(const LaunchConfig& config) {
  const dim3 &g = config.grid, &b = config.block;
  const std::uint64_t threads = std::uint64_t(b.x) * b.y * b.z, blocks = std::uint64_t(g.x) * g.y * g.z;
  if (threads == 0 || threads > 1024 || b.x > 1024 || b.y > 1024)
    fail("emulator: a block of {}x{}x{} threads; there must be 1 to 1024", b.x, b.y, b.z);
  if (blocks == 0 || blocks >= (1u << 28))
    fail("emulator: a grid of {}x{}x{} blocks; there must be 1 to {}", g.x, g.y, g.z, (1u << 28) - 1);
  if (config.shared_bytes > (1u << 20))
    fail("emulator: {} bytes of shared memory for a block; no GPU has more than {}", config.shared_bytes,
         1u << 20);
  if (config.writes.size() != config.arguments.size())
    fail("emulator: {} arguments, but {} entries say which are written", config.arguments.size(),
         config.writes.size());
}

// The launch's arguments: their regions, and the shadows of the buffers that it writes.
struct Memory {
  std::deque<Region> regions;
  std::deque<GlobalState> states;
  std::deque<GlobalShadow> shadows;
  std::vector<const Region*> arguments;

  explicit Memory(const LaunchConfig& config) {
    std::map<Buffer*, GlobalState*> known;
    for (std::size_t i = 0; i < config.arguments.size(); ++i) {
      Buffer* buffer = config.arguments[i];
      if (!buffer) fail("emulator: argument {} of the launch is missing", i);
      GlobalState*& state = known[buffer];
      if (!state) {
        state = &states.emplace_back();
        state->flags = buffer->flags();
      }
      if (config.writes[i] && !state->races) state->races = &shadows.emplace_back(buffer->bytes());
      regions.push_back({buffer->name().c_str(), buffer->data(), buffer->bytes(), Space::global,
                         config.writes[i], 0, state});
      arguments.push_back(&regions.back());
    }
  }
};

struct Grid : LaunchState {
  unsigned parameters = 0;
};

void run_grid(Launch& launch, void (*body)(const Launch&), unsigned parameters) {
  auto& grid = static_cast<Grid&>(launch);
  grid.body = body;
  grid.parameters = parameters;
}

}  // namespace

Report run(void (*entry)(Launch&), const LaunchConfig& config) {
  check(config);
  Memory memory(config);
  Grid grid;
  grid.config = &config;
  grid.arguments = memory.arguments.data();
  grid.argument_count = unsigned(memory.arguments.size());
  grid.run = run_grid;
  entry(grid);
  if (!grid.body) fail("emulator: the entry of the emitted text has started no kernel");
  if (grid.parameters != config.arguments.size())
    fail("emulator: the kernel takes {} tensors, the launch gives {}", grid.parameters,
         config.arguments.size());

  const std::uint64_t blocks = std::uint64_t(config.grid.x) * config.grid.y * config.grid.z;
  unsigned workers =
      config.workers > 0 ? unsigned(config.workers) : std::max(1u, std::thread::hardware_concurrency());
  workers = unsigned(std::min<std::uint64_t>(workers, blocks));

  std::atomic<std::uint64_t> next{0};
  std::mutex mutex;
  Report report;
  std::vector<RawFinding> raw;
  std::exception_ptr error;
  auto work = [&] {
    try {
      std::unique_ptr<Block> block = pool().take();
      block->prepare(grid);
      bool complete = true;
      for (std::uint64_t b; (b = next.fetch_add(1, std::memory_order_relaxed)) < blocks;)
        complete &= block->run(b);
      std::lock_guard lock(mutex);
      report.counters += block->counters;
      report.complete &= complete;
      for (RawFinding& f : block->findings.raw()) raw.push_back(std::move(f));
      pool().give(std::move(block));
    } catch (...) {
      std::lock_guard lock(mutex);
      error = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  for (unsigned w = 1; w < workers; ++w) others.emplace_back(work);
  work();
  for (std::thread& t : others) t.join();
  if (error) std::rethrow_exception(error);
  report.findings = resolve(std::move(raw), config.source_file);
  return report;
}

}  // namespace zellige::emulate
