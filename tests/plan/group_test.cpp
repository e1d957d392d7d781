// Grouping: live values are computed once, a step reads what it declares, and "same thread" is true thread by
// thread.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "../unfused.hpp"
#include "random_plans.hpp"
#include "steps_of.hpp"
#include "touches.hpp"
#include "verify/proofs.hpp"

namespace zellige::plan {
namespace {

std::vector<bool> live(const tile::TileProgram& p) {
  std::vector<bool> result(p.nodes.size(), false);
  for (std::size_t i = p.nodes.size(); i-- > 0;) {
    if (p.nodes[i].kind == tile::NodeKind::store) result[i] = true;
    if (result[i])
      for (int in : p.nodes[i].in) result[in] = true;
  }
  return result;
}

TEST(Group, DoesEveryLiveRootOnce) {
  for_each_kernel([](const std::string& name, const kernel::Kernel& k, const Plan&) {
    const std::vector<bool> alive = live(k.program);
    std::map<int, std::map<kernel::WorkKind, int>> tasks;
    for (const kernel::Work& t : kernel::works(k)) ++tasks[t.node][t.kind];
    for (std::size_t i = 0; i < k.program.nodes.size(); ++i) {
      const tile::Node& n = k.program.nodes[i];
      auto& mine = tasks[static_cast<int>(i)];
      const auto count = [&](kernel::WorkKind kind) { return mine[kind]; };
      const std::string where = fmt::format("{} %{} {}", name, i, zellige::tile::name(n.kind));
      if (!alive[i]) {
        for (const auto& [kind, times] : mine) EXPECT_EQ(times, 0) << where << " is dead, but has work";
        continue;
      }
      switch (n.kind) {
        case tile::NodeKind::load: {
          EXPECT_EQ(count(kernel::WorkKind::copy_in) + count(kernel::WorkKind::fetch),
                    k.in_place(static_cast<int>(i)) ? 0 : 1)
              << where;
          break;
        }
        case tile::NodeKind::matmul: {
          const bool mma = k.product_of(static_cast<int>(i))->kind == kernel::WorkKind::mma;
          EXPECT_EQ(count(kernel::WorkKind::mma), mma ? 1 : 0) << where;
          EXPECT_EQ(count(kernel::WorkKind::rescale), n.in.size() > 2 ? 1 : 0) << where;
          EXPECT_EQ(count(kernel::WorkKind::reduce), mma ? 0 : 1) << where;
          EXPECT_EQ(count(kernel::WorkKind::finish), mma ? 0 : 1) << where;
          break;
        }
        case tile::NodeKind::reduce:
          EXPECT_EQ(count(kernel::WorkKind::reduce), 1) << where;
          EXPECT_EQ(count(kernel::WorkKind::finish), 1) << where;
          break;
        case tile::NodeKind::round:
          EXPECT_EQ(count(kernel::WorkKind::to_shared) + count(kernel::WorkKind::to_operand), 1) << where;
          break;
        case tile::NodeKind::accumulate:
        case tile::NodeKind::running_max:
          EXPECT_EQ(count(kernel::WorkKind::accumulate), 1) << where;
          break;
        case tile::NodeKind::store:
          EXPECT_EQ(count(kernel::WorkKind::to_global), 1) << where;
          break;
        case tile::NodeKind::map:
          if (k.rmem_of(static_cast<int>(i)) >= 0) {
            EXPECT_EQ(count(kernel::WorkKind::to_lines) + count(kernel::WorkKind::to_registers), 1) << where;
            break;
          }
          [[fallthrough]];
        case tile::NodeKind::slice:
        case tile::NodeKind::concat:
          EXPECT_TRUE(mine.empty()) << where << " is evaluated where it is read";
          break;
        case tile::NodeKind::running_diff:
          break;
      }
      for (const auto& [kind, times] : mine) EXPECT_LE(times, 1) << where << ": " << zellige::kernel::name(kind);
    }
  });
}

/// The work that writes each buffer.
std::vector<kernel::Work> writers(const kernel::Kernel& k) {
  std::vector<kernel::Work> result(k.tensors.size());
  for (const kernel::Work& work : kernel::works(k))
    if (work.tensor >= 0 && work.kind != kernel::WorkKind::to_global) {
      EXPECT_EQ(result[work.tensor].node, -1) << "two works write " << k.tensors[work.tensor].name;
      result[work.tensor] = work;
    }
  return result;
}

std::string describe(const kernel::Work& work) { return fmt::format("{} %{}", kernel::name(work.kind), work.node); }

TEST(Group, StepsReadWhatTheySay) {
  for_each_kernel([](const std::string& name, const kernel::Kernel& k, const Plan&) {
    const std::vector<kernel::Work> writer = writers(k);
    for (const kernel::Step* step : steps_of(k)) {
      std::set<int> read, declared;
      for_each_read(k, step->work, [&](const Touch& r) { read.insert(r.buffer); });
      for (const kernel::Access& a : step->reads) declared.insert(a.tensor);
      for (int b : read) {
        EXPECT_TRUE(declared.contains(b)) << name << ": " << describe(step->work) << " reads " << k.tensors[b].name;
        ASSERT_GE(writer[b].node, 0) << name << ": nobody writes " << k.tensors[b].name;
      }
      // A slice of a concatenation may need only some of its parts.
      const auto sliced = [](const tile::Node& n) { return n.kind == tile::NodeKind::slice; };
      if (std::any_of(k.program.nodes.begin(), k.program.nodes.end(), sliced)) continue;
      for (int b : declared)
        EXPECT_TRUE(read.contains(b)) << name << ": " << describe(step->work) << " reads nothing of "
                                      << k.tensors[b].name;
    }
  });
}

TEST(Group, SameThreadsAreTheSame) {
  int edges = 0;
  for_each_kernel([&](const std::string& name, const kernel::Kernel& k, const Plan&) {
    const std::vector<kernel::Work> writer = writers(k);
    for (const kernel::Step* step : steps_of(k))
      for (const kernel::Access& a : step->reads) {
        if (!a.same_thread) continue;
        ++edges;
        std::map<std::pair<graph::Shape, int>, int> wrote;
        for_each_write(k, writer[a.tensor], [&](const Touch& w) { wrote[{w.at, w.partial}] = w.thread; });
        int strangers = 0;
        for_each_read(k, step->work, [&](const Touch& r) {
          if (r.buffer == a.tensor && wrote.at({r.at, r.partial}) != r.thread && strangers++ == 0)
            ADD_FAILURE() << name << ": thread " << r.thread << " of " << describe(step->work) << " reads "
                          << graph::to_string(r.at) << " of " << k.tensors[a.tensor].name << ", which thread "
                          << wrote.at({r.at, r.partial}) << " writes";
        });
      }
  });
  EXPECT_GE(edges, 10);
}

// The verifier does not take grouping's word: where another thread reads what was written, "same thread" is refused.
TEST(Group, FalseClaimsOfSameThreadsAreRefused) {
  int claims = 0;
  for_each_kernel([&](const std::string& name, const kernel::Kernel& good, const Plan&) {
    const std::vector<kernel::Work> writer = writers(good);
    for (const kernel::Step* step : steps_of(good))
      for (std::size_t i = 0; i < step->reads.size(); ++i) {
        const int b = step->reads[i].tensor;
        if (step->reads[i].same_thread) continue;
        std::map<std::pair<graph::Shape, int>, int> wrote;
        for_each_write(good, writer[b], [&](const Touch& w) { wrote[{w.at, w.partial}] = w.thread; });
        bool strangers = false;
        for_each_read(good, step->work, [&](const Touch& r) {
          strangers = strangers || (r.buffer == b && wrote.at({r.at, r.partial}) != r.thread);
        });
        if (!strangers) continue;
        kernel::Kernel bad = good;
        change(bad, step->work, [&](kernel::Step& s) {
          if (!kernel::as<kernel::Start>(s)) s.reads[i].same_thread = true;
        });
        EXPECT_THROW(verify::verify_registers(bad), Error)
            << name << ": " << describe(step->work) << " reads " << good.tensors[b].name;
        ++claims;
      }
  });
  EXPECT_GE(claims, 100);
}

// A step reads and writes no other buffers than it says, because the proof of barriers knows no others.
TEST(Group, UnsaidAccessesAreRefused) {
  int reads = 0, writes = 0;
  for_each_kernel([&](const std::string& name, const kernel::Kernel& good, const Plan&) {
    const auto refused_without = [&](const kernel::Work& work, std::vector<kernel::Access> kernel::Step::*list) {
      kernel::Kernel bad = good;
      change(bad, work, [&](kernel::Step& s) {
        if (!kernel::as<kernel::Start>(s)) (s.*list).erase((s.*list).begin());
      });
      EXPECT_THROW(verify::verify_registers(bad), Error) << name << ": " << describe(work);
    };
    for (const kernel::Step* step : steps_of(good)) {
      if (!step->writes.empty()) refused_without(step->work, &kernel::Step::writes), ++writes;
      std::set<int> read;
      for_each_read(good, step->work, [&](const Touch& r) { read.insert(r.buffer); });
      const bool own_sums =
          step->work.kind == kernel::WorkKind::finish || step->work.kind == kernel::WorkKind::accumulate;
      if (own_sums || step->reads.empty() || !read.contains(step->reads.front().tensor)) continue;
      refused_without(step->work, &kernel::Step::reads), ++reads;
    }
  });
  EXPECT_GE(reads, 100);
  EXPECT_GE(writes, 100);
}

// A barrier that nobody owes costs time: where every reader holds what it reads, no barrier is owed.
TEST(Group, BlockedLayoutsOfOneLayoutShareTheirThreads) {
  const Plan plan = test::make_plan(golden_graphs()[10].graph(), target::find("sm_80"));
  ASSERT_EQ(golden_graphs()[10].name, "same_threads");
  const auto all = steps_of(plan.kernels[0]);
  EXPECT_TRUE(std::ranges::any_of(all, [](const kernel::Step* step) {
    return std::ranges::count(step->reads, true, &kernel::Access::same_thread) > 0;
  }));
}

// mma.sync takes K in steps of 16 bytes, ldmatrix rows of 16 bytes, outer products 4 of K or of a line: what lies between a
// tile's edge and those is stored, as zeros.
TEST(Group, OperandsAreWholeStepsOfTheProduct) {
  int ragged = 0;
  for_each_kernel([&](const std::string& name, const kernel::Kernel& k, const Plan&) {
    for (const kernel::Work& w : kernel::works(k))
      for (int side = 0; w.kind == kernel::WorkKind::mma && side < 2; ++side) {
        const int stored = k.tensor_of(k.program.nodes[w.node].in[side]);
        if (stored < 0) continue;  // in registers
        const kernel::SmemTensor& b = k.tensors[stored];
        const std::size_t along_k = b.shape.size() - 1 - side;
        EXPECT_TRUE(b.matmul_operand) << name << " " << b.name;
        const std::int64_t unit = w.matmul.pipe() == target::Pipe::fma ? 4 : 128 / std::max(16, w.matmul.row->a.bits);
        const auto whole = [&](std::int64_t n) { return (n + unit - 1) / unit * unit; };
        EXPECT_EQ(b.padded[along_k], whole(b.shape[along_k])) << name << " " << b.name;
        EXPECT_EQ(b.padded[b.inner], whole(b.shape[b.inner])) << name << " " << b.name;
        ragged += b.padded != b.shape;
      }
  });
  EXPECT_GE(ragged, 20);
}

TEST(Group, EveryElementOfABufferHasOneWriter) {
  for_each_kernel([](const std::string& name, const kernel::Kernel& k, const Plan&) {
    const std::vector<kernel::Work> writer = writers(k);
    for (std::size_t b = 0; b < k.tensors.size(); ++b) {
      const kernel::SmemTensor& buffer = k.tensors[b];
      ASSERT_GE(writer[b].node, 0) << name << ": nobody writes " << buffer.name;
      std::map<std::pair<graph::Shape, int>, int> count;
      for_each_write(k, writer[b], [&](const Touch& w) {
        bool inside = true;
        for (std::size_t d = 0; d < w.at.size(); ++d) inside = inside && w.at[d] < buffer.padded[d];
        if (inside) ++count[{w.at, w.partial}];
        EXPECT_TRUE(w.thread >= 0 && w.thread < k.program.threads()) << name << " " << buffer.name;
      });
      EXPECT_EQ(static_cast<std::int64_t>(count.size()), graph::size(buffer.padded) * buffer.partials)
          << name << " " << buffer.name;
      for (const auto& [at, times] : count)
        if (times != 1) {
          ADD_FAILURE() << name << ": " << times << " threads write " << graph::to_string(at.first) << " of "
                        << buffer.name;
          break;
        }
    }
  });
}

}  // namespace
}  // namespace zellige::plan
