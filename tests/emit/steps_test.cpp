// All synchronisation comes from steps: the barriers, waits, arrivals, fences and initialisations in a
// kernel's code are those of its schedule, in its order.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include "../loaded.hpp"
#include "../unfused.hpp"
#include "emit/emit.hpp"
#include "fuse/fuse.hpp"
#include "graph/error.hpp"
#include "ir/ir.hpp"
#include "json/json.hpp"
#include "kernel/launches.hpp"
#include "plan/graphs.hpp"
#include "target/instructions.hpp"
#include "verify/verify_limits.hpp"

namespace zellige::emit {
namespace {

/// The synchronising calls in the code, one per line, without their arguments except numbers.
std::string calls_of(const std::string& text) {
  static const std::regex call(
      R"((__syncthreads|__syncwarp|cluster_sync|named_barrier_sync|named_barrier_arrive|cp_async_commit|cp_async_wait<\d+>|wgmma_commit|wgmma_wait<\d+>|tma_store_commit|tma_store_wait\w*<\d+>|fence_\w+|wgmma_fence|griddep_\w+|mbarrier_\w+|cluster_\w+|(?:ring\d*|exchange)\.(?:init|acquire|wait|wait_empty|release|drain))\((\d*(?:, \d+)?))");
  std::string calls;
  for (std::sregex_iterator at(text.begin(), text.end(), call), end; at != end; ++at) {
    if ((*at)[1] == "cluster_ctarank") continue;
    calls += (*at)[1].str() + "(" + (*at)[2].str() + ")\n";
  }
  return calls;
}

/// The name in the code of each synchronising step.
class Calls {
 public:
  explicit Calls(const kernel::Kernel& s) : s_(s) {}

  std::string str() {
    for (const kernel::Step& step : s_.setup) add(s_.agents[0], step);
    for (const kernel::Agent& agent : s_.agents)
      kernel::walk(agent.steps, [&](const kernel::Step& step, const kernel::StepPosition&) { add(agent, step); });
    for (const kernel::Step& step : s_.teardown) add(s_.agents[0], step);
    return calls_;
  }

 private:
  std::string channel(int index) const {
    if (s_.channels[index].by == kernel::Synchronisation::mbarrier_cluster) return "exchange";
    int before = 0;
    for (int c = 0; c < index; ++c) before += s_.channels[c].by == kernel::Synchronisation::mbarrier_bytes;
    return before ? fmt::format("ring{}", before) : "ring";
  }
  bool fills(const kernel::Agent& agent, int channel) const {
    const kernel::Channel& c = s_.channels[channel];
    return c.by == kernel::Synchronisation::mbarrier_bytes && &s_.agents[c.producer] == &agent;
  }
  std::string call_of(const kernel::Agent& agent, const kernel::Step& step) const {
    const auto groups = [&] { return static_cast<int>(verify::groups_of(s_, agent, step)); };
    using Call = std::string;
    return kernel::match(
        step,
        [&](const kernel::MbarrierInit& of) { return fmt::format("{}.init({})", channel(of.channel), of.arrivals); },
        [](const kernel::FenceInit&) -> Call { return "fence_mbarrier_init()"; },
        [](const kernel::WarpBarrier&) -> Call { return "__syncwarp()"; },
        [](const kernel::ClusterBarrier&) -> Call { return "cluster_sync()"; },
        [](const kernel::Barrier& at) {
          if (!at.waits) return fmt::format("named_barrier_arrive({}, {})", at.id, at.threads);
          return at.id == 0 ? "__syncthreads()" : fmt::format("named_barrier_sync({}, {})", at.id, at.threads);
        },
        [&](const kernel::Commit&) -> Call {
          return std::array{"cp_async_commit()", "wgmma_commit()", "tma_store_commit()"}.at(groups());
        },
        [&](const kernel::WaitGroup& wait) {
          return fmt::format("{}<{}>()", std::array{"cp_async_wait", "wgmma_wait", "tma_store_wait_read"}.at(groups()),
                             wait.pending);
        },
        [&](const kernel::Acquire& of) {
          return channel(of.channel) + (fills(agent, of.channel) ? ".acquire()" : ".wait()");
        },
        [&](const kernel::Release& of) { return channel(of.channel) + ".release()"; },
        [&](const kernel::Drain& of) { return channel(of.channel) + ".drain()"; },
        [](const kernel::FenceProxy&) -> Call { return "fence_proxy_async_shared()"; },
        [](const kernel::GriddepWait&) -> Call { return "griddep_wait()"; },
        [](const kernel::GriddepLaunchDependents&) -> Call { return "griddep_launch_dependents()"; },
        [](const kernel::OneOf<kernel::Copy, kernel::Mma, kernel::Compute, kernel::Start, kernel::Loop> auto&) -> Call {
          return "";
        });
  }
  void add(const kernel::Agent& agent, const kernel::Step& step) {
    if (const std::string call = call_of(agent, step); !call.empty()) calls_ += call + "\n";
  }

  const kernel::Kernel& s_;
  std::string calls_;
};

/// The code of the kernel or, in a launch of several programs, of the program's function.
std::string body_of(const std::string& source, const std::string& name) {
  const std::size_t begin = source.find(" " + name + "("), end = source.find("\n}\n", begin);
  return begin == source.npos ? "" : source.substr(begin, end - begin);
}

/// Calls without a row in the target, replaced by one name: rings, other blocks and cluster barriers use
/// several.
std::string without_row(const std::string& calls, const target::Target& target) {
  const auto named = [](std::string_view call) { return call.substr(0, call.find_first_of("<(")); };
  std::set<std::string_view> rows{"__syncwarp", "cluster_sync"};
  for (const Instruction* row : target::instructions_of(target)) rows.insert(named(row->call));
  std::string missing;
  std::istringstream lines(calls);
  for (std::string line; std::getline(lines, line);)
    if (line.find('.') == line.npos && !rows.contains(named(line))) missing += line + "\n";
  return missing;
}

/// For every launch of one program; returns their number. Kernels that differ only in names share code.
int compare(const graph::KernelGraph& g, const target::Target& target, std::set<std::string_view>& met,
            const plan::PlanOptions& options = {}) {
  const EmittedProgram p = test::transpile(g, target, options);
  int compared = 0;
  const std::vector<kernel::LaunchGroup> launches = kernel::launches(p.plan.kernels);
  for (std::size_t k = 0; k < launches.size(); ++k) {
    if (launches[k].count() > 1) continue;
    const kernel::Kernel& s = p.plan.kernels[launches[k].first];
    const std::string name = p.manifest.kernels[k].name, text = body_of(p.source, name);
    EXPECT_NE(text, "") << name;
    EXPECT_EQ(calls_of(text), Calls(s).str()) << name << " for " << target.name << "\n" << ir::print(p);
    EXPECT_EQ(without_row(calls_of(text), target), "") << name << " for " << target.name;
    for (const auto* list : {&s.setup, &s.teardown})
      for (const kernel::Step& step : *list) met.insert(kernel::name(step));
    for (const kernel::Agent& agent : s.agents)
      kernel::walk(agent.steps,
                   [&](const kernel::Step& step, const kernel::StepPosition&) { met.insert(kernel::name(step)); });
    ++compared;
  }
  return compared;
}

std::vector<json::Loaded> examples() {
  std::vector<json::Loaded> graphs;
  for (const auto& entry : std::filesystem::directory_iterator(ZELLIGE_SOURCE_DIR "/examples"))
    if (entry.path().extension() == ".json")
      for (json::Loaded& l : json::load_each(entry.path().string())) graphs.push_back(std::move(l));
  return graphs;
}

// In every way in which the planner makes agents, rings and clusters: the graphs of its goldens, and the examples, fused and with constants.
TEST(Steps, AreAllThatOrdersThreads) {
  std::set<std::string_view> met;  // the steps, by name
  int compared = 0;
  std::vector<plan::PlanOptions> options(1);
  for (const plan::BlockAssignment& way : plan::ways_of_blocks) options.push_back({.blocks = {way}});
  for (const char* target : {"sm_80", "sm_90a"}) {
    for (const plan::GoldenGraph& g : plan::golden_graphs())
      for (const plan::PlanOptions& option : options) {
        if (&option != &options[0] && !g.name.starts_with("hopper_")) continue;
        try {
          compared += compare(g.graph(), target::find(target), met, option);
        } catch (const Fault&) {
          throw;
        } catch (const Error&) {  // it asks for more than the target has, or no block of it can go that way
        }
      }
    for (json::Loaded& l : examples()) {
      compared += compare(fuse::optimize(l.graph, target::find(target)).graph, target::find(target), met);
      for (const int input : l.graph.inputs) l.graph.tensors[input].constant = true;
      compared += compare(l.graph, target::find(target), met);
    }
  }
  EXPECT_GE(compared, 100);
  // All but arrive, which is of ping-pong: the planner does not use it.
  EXPECT_EQ(met.size(), std::variant_size_v<decltype(kernel::Step::is)> - 1 + std::variant_size_v<kernel::Sync>)
      << fmt::format("{}", fmt::join(met, ", "));
  EXPECT_FALSE(met.contains("arrive"));
}

TEST(Steps, ThatAreMissingAreSeen) {
  EXPECT_EQ(
      calls_of("  ring1.init(8);\n  fence_mbarrier_init();\n  named_barrier_sync(1, 256);\n  ring.wait(ring_at);\n"
               "  wgmma_wait<1>();\n  const auto x = ring.tile(ring_at, 1);\n  exchange.release(block_rank);\n"),
      "ring1.init(8)\nfence_mbarrier_init()\nnamed_barrier_sync(1, 256)\nring.wait()\nwgmma_wait<1>()\n"
      "exchange.release()\n");
  EXPECT_EQ(calls_of("if (x) __syncthreads();"), "__syncthreads()\n");
  EXPECT_EQ(without_row("ring.wait()\n__syncthreads()\nwgmma_wait<1>()\n", target::find("sm_80")), "wgmma_wait<1>()\n");
}

}  // namespace
}  // namespace zellige::emit
