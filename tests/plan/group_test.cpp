// Grouping: live values are computed once, a task reads what it declares, and `after_same` is true thread by
// thread.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "random_plans.hpp"
#include "touches.hpp"
#include "verify/verify_registers.hpp"

namespace zellige::plan {
namespace {

std::vector<bool> live(const BlockProgram& p) {
  std::vector<bool> result(p.nodes.size(), false);
  for (std::size_t i = p.nodes.size(); i-- > 0;) {
    if (p.nodes[i].kind == NodeKind::store) result[i] = true;
    if (result[i])
      for (int in : p.nodes[i].in) result[in] = true;
  }
  return result;
}

TEST(Group, DoesEveryLiveRootOnce) {
  for_each_kernel([](const std::string& name, const Kernel& k, const Plan&) {
    const std::vector<bool> alive = live(k.program);
    std::map<int, std::map<TaskKind, int>> tasks;
    for (const Task& t : k.tasks) ++tasks[t.node][t.kind];
    for (std::size_t i = 0; i < k.program.nodes.size(); ++i) {
      const Node& n = k.program.nodes[i];
      auto& mine = tasks[static_cast<int>(i)];
      const auto count = [&](TaskKind kind) { return mine[kind]; };
      const std::string where = fmt::format("{} %{} {}", name, i, zellige::plan::name(n.kind));
      if (!alive[i]) {
        for (const auto& [kind, times] : mine) EXPECT_EQ(times, 0) << where << " is dead, but has work";
        continue;
      }
      switch (n.kind) {
        case NodeKind::load: {
          const auto direct = k.direct.find(static_cast<int>(i));
          EXPECT_EQ(count(TaskKind::copy_in) + count(TaskKind::fetch),
                    direct != k.direct.end() && direct->second ? 0 : 1)
              << where;
          break;
        }
        case NodeKind::matmul: {
          const bool mma = k.matmuls.at(static_cast<int>(i)).row != nullptr;
          EXPECT_EQ(count(TaskKind::mma), mma ? 1 : 0) << where;
          EXPECT_EQ(count(TaskKind::rescale), n.in.size() > 2 ? 1 : 0) << where;
          EXPECT_EQ(count(TaskKind::reduce), mma ? 0 : 1) << where;
          EXPECT_EQ(count(TaskKind::finish), mma ? 0 : 1) << where;
          break;
        }
        case NodeKind::reduce:
          EXPECT_EQ(count(TaskKind::reduce), 1) << where;
          EXPECT_EQ(count(TaskKind::finish), 1) << where;
          break;
        case NodeKind::round:
          EXPECT_EQ(count(TaskKind::to_shared) + count(TaskKind::to_operand), 1) << where;
          break;
        case NodeKind::accumulate:
        case NodeKind::running_max:
          EXPECT_EQ(count(TaskKind::accumulate), 1) << where;
          break;
        case NodeKind::store:
          EXPECT_EQ(count(TaskKind::to_global), 1) << where;
          break;
        case NodeKind::map:
          if (k.context_of.count(static_cast<int>(i))) {
            EXPECT_EQ(count(TaskKind::to_lines) + count(TaskKind::to_registers), 1) << where;
            break;
          }
          [[fallthrough]];
        case NodeKind::slice:
        case NodeKind::concat:
          EXPECT_TRUE(mine.empty()) << where << " is evaluated where it is read";
          break;
        case NodeKind::running_diff:
          break;
      }
      for (const auto& [kind, times] : mine)
        EXPECT_LE(times, 1) << where << ": " << zellige::plan::name(kind);
    }
  });
}

/// The task that writes each buffer.
std::vector<int> writers(const Kernel& k) {
  std::vector<int> result(k.tensors.size(), -1);
  for (std::size_t t = 0; t < k.tasks.size(); ++t)
    if (k.tasks[t].buffer >= 0 && k.tasks[t].kind != TaskKind::to_global) {
      EXPECT_EQ(result[k.tasks[t].buffer], -1) << "two tasks write " << k.tensors[k.tasks[t].buffer].name;
      result[k.tasks[t].buffer] = static_cast<int>(t);
    }
  return result;
}

bool contains(const std::vector<int>& list, int x) {
  return std::find(list.begin(), list.end(), x) != list.end();
}

TEST(Group, TasksReadWhatTheySay) {
  for_each_kernel([](const std::string& name, const Kernel& k, const Plan&) {
    const std::vector<int> writer = writers(k);
    for (std::size_t t = 0; t < k.tasks.size(); ++t) {
      std::set<int> read;
      for_each_read(k, static_cast<int>(t), [&](const Touch& r) { read.insert(r.buffer); });
      const Task& task = k.tasks[t];
      for (int b : read) {
        EXPECT_TRUE(contains(task.reads, b) || task.buffer == b)
            << name << ": task " << t << " reads " << k.tensors[b].name;
        ASSERT_GE(writer[b], 0) << name << ": nobody writes " << k.tensors[b].name;
        EXPECT_TRUE(writer[b] == static_cast<int>(t) || contains(task.after, writer[b]) ||
                    contains(task.after_same, writer[b]))
            << name << ": task " << t << " does not wait for " << k.tensors[b].name;
      }
      for (int w : task.after)
        EXPECT_FALSE(contains(task.after_same, w)) << name << ": task " << t << " after " << w << " twice";
      // A slice of a concatenation may need only some of its parts.
      const auto sliced = [](const Node& n) { return n.kind == NodeKind::slice; };
      if (std::any_of(k.program.nodes.begin(), k.program.nodes.end(), sliced)) continue;
      for (int b : task.reads)
        EXPECT_TRUE(read.count(b)) << name << ": task " << t << " reads nothing of " << k.tensors[b].name;
    }
  });
}

TEST(Group, SameThreadsAreTheSame) {
  int edges = 0;
  for_each_kernel([&](const std::string& name, const Kernel& k, const Plan&) {
    const std::vector<int> writer = writers(k);
    for (std::size_t t = 0; t < k.tasks.size(); ++t)
      for (int b : k.tasks[t].reads) {
        if (!contains(k.tasks[t].after_same, writer[b])) continue;
        ++edges;
        std::map<std::pair<Shape, int>, int> wrote;
        for_each_write(k, writer[b], [&](const Touch& w) { wrote[{w.at, w.partial}] = w.thread; });
        int strangers = 0;
        for_each_read(k, static_cast<int>(t), [&](const Touch& r) {
          if (r.buffer == b && wrote.at({r.at, r.partial}) != r.thread && strangers++ == 0)
            ADD_FAILURE() << name << ": thread " << r.thread << " of task " << t << " reads "
                          << to_string(r.at) << " of " << k.tensors[b].name << ", which thread "
                          << wrote.at({r.at, r.partial}) << " writes";
        });
      }
  });
  EXPECT_GE(edges, 10);
}

// The verifier does not take grouping's word: where another thread reads what was written, "same thread" is refused.
TEST(Group, FalseClaimsOfSameThreadsAreRefused) {
  int claims = 0;
  for_each_kernel([&](const std::string& name, const Kernel& good, const Plan& plan) {
    const std::vector<int> writer = writers(good);
    for (std::size_t t = 0; t < good.tasks.size(); ++t)
      for (int b : good.tasks[t].reads) {
        if (!contains(good.tasks[t].after, writer[b])) continue;
        std::map<std::pair<Shape, int>, int> wrote;
        for_each_write(good, writer[b], [&](const Touch& w) { wrote[{w.at, w.partial}] = w.thread; });
        bool strangers = false;
        for_each_read(good, static_cast<int>(t), [&](const Touch& r) {
          strangers = strangers || (r.buffer == b && wrote.at({r.at, r.partial}) != r.thread);
        });
        if (!strangers) continue;
        Kernel bad = good;
        std::erase(bad.tasks[t].after, writer[b]);
        bad.tasks[t].after_same.push_back(writer[b]);
        EXPECT_THROW(verify_registers(bad), Error)
            << name << ": task " << t << " reads " << good.tensors[b].name;
        ++claims;
      }
  });
  EXPECT_GE(claims, 100);
}

// A barrier that nobody owes costs time: where every reader holds what it reads, the edge is not `after`.
TEST(Group, BlockedLayoutsOfOneLayoutShareTheirThreads) {
  const Plan plan = make_plan(golden_graphs()[10].graph(), target::find("sm_80"));
  ASSERT_EQ(golden_graphs()[10].name, "same_threads");
  int same = 0;
  for (const Task& t : plan.kernels[0].tasks) same += static_cast<int>(t.after_same.size());
  EXPECT_GE(same, 1);
}

// mma.sync takes K in steps of 8, ldmatrix rows of 8, outer products 4 of K or of a line: what lies between a tile's edge and those
// is stored, as zeros.
TEST(Group, OperandsAreWholeStepsOfTheProduct) {
  int ragged = 0;
  for_each_kernel([&](const std::string& name, const Kernel& k, const Plan&) {
    for (const auto& [node, m] : k.matmuls)
      for (int side = 0; m.row && side < 2; ++side) {
        const auto stored = k.buffer_of.find(k.program.nodes[node].in[side]);
        if (stored == k.buffer_of.end()) continue;  // a dead matmul's, or in registers
        const SmemTensor& b = k.tensors[stored->second];
        const std::size_t along_k = b.shape.size() - 1 - side;
        EXPECT_TRUE(b.matmul_operand) << name << " " << b.name;
        const std::int64_t unit = m.by_threads() ? 4 : 8;
        const auto whole = [&](std::int64_t n) { return (n + unit - 1) / unit * unit; };
        EXPECT_EQ(b.padded[along_k], whole(b.shape[along_k])) << name << " " << b.name;
        EXPECT_EQ(b.padded[b.inner], whole(b.shape[b.inner])) << name << " " << b.name;
        ragged += b.padded != b.shape;
      }
  });
  EXPECT_GE(ragged, 20);
}

TEST(Group, EveryElementOfABufferHasOneWriter) {
  for_each_kernel([](const std::string& name, const Kernel& k, const Plan&) {
    const std::vector<int> writer = writers(k);
    for (std::size_t b = 0; b < k.tensors.size(); ++b) {
      const SmemTensor& buffer = k.tensors[b];
      ASSERT_GE(writer[b], 0) << name << ": nobody writes " << buffer.name;
      std::map<std::pair<Shape, int>, int> count;
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
          ADD_FAILURE() << name << ": " << times << " threads write " << to_string(at.first) << " of "
                        << buffer.name;
          break;
        }
    }
  });
}

}  // namespace
}  // namespace zellige::plan
