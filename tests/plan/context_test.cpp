// Thread-value layouts: evaluated, they equal explicit loops, and every element has exactly one thread.
#include "kernel/context.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <zellige/layout/runtime.hpp>
#include <zellige/layout/text.hpp>

#include "kernel/evaluated_layout.hpp"
#include "kernel/fragments.hpp"
#include "random_plans.hpp"
#include "target/instructions.hpp"

namespace zellige::plan {
namespace {

std::string layouts(const kernel::Context& c) { return to_text(c.share) + " in " + to_text(c.tile); }

using Register = std::pair<int, int>;  // thread, value

std::map<Register, graph::Shape> registers(const kernel::Context& c) {
  std::map<Register, graph::Shape> all;
  kernel::for_each(kernel::EvaluatedLayout(c), 0, [&](int thread, int value, const graph::Shape& at) {
    if (!at.empty()) all[{thread, value}] = at;
  });
  return all;
}

int draw(std::mt19937& random, int maximum) { return static_cast<int>(random() % static_cast<unsigned>(maximum)) + 1; }

// Accumulators of mma.sync and of wgmma, and blocked layouts: many pairs are equal, most are not.
TEST(Contexts, WithEqualModesHaveEqualElements) {
  const target::Target target = target::find("sm_90a");
  std::mt19937 random(20261127);
  const auto drawn = [&]() {
    const std::int64_t columns = 16 * draw(random, 4);
    if (random() % 3 == 0) return kernel::blocked_layout({64, columns}, 1, 1 << (random() % 3), 32 << (random() % 2));
    const bool wide = random() % 2 == 0;
    const Instruction* row =
        wide ? target::find_warpgroup_mma(target, "f16", "f16", "f32", static_cast<int>(columns), false)
             : target::find_instruction(target, "SM80_16x8x16_F32F16F16F32_TN");
    return kernel::accumulators({64, columns}, {.b = 1, .m = 4, .n = wide || random() % 2 ? 1 : 2, .k = 1}, *row);
  };
  int equal_count = 0, of_two_rows = 0, other = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    const kernel::Context a = drawn(), b = drawn();
    const bool equal = registers(a) == registers(b);
    if (kernel::have_equal_modes(a, b)) {
      ASSERT_TRUE(equal) << layouts(a) << " and " << layouts(b);
      ++equal_count, of_two_rows += a.row != b.row;
    } else {
      other += !equal;
    }
  }
  EXPECT_GT(equal_count, 100);
  EXPECT_GT(of_two_rows, 20);
  EXPECT_GT(other, 500);
}

// Chunk by chunk, each to the next thread; a line's last chunk may be passed.
TEST(Contexts, BlockedLayoutsGiveChunksToThreadsRoundRobin) {
  std::mt19937 random(1);
  int passing = 0;
  for (int trial = 0; trial < 400; ++trial) {
    graph::Shape domain(static_cast<std::size_t>(draw(random, 4)));
    for (auto& e : domain) e = draw(random, 12);
    std::vector<int> order(domain.size());
    for (std::size_t d = 0; d < order.size(); ++d) order[d] = static_cast<int>(d);
    std::shuffle(order.begin(), order.end(), random);
    const int vector = 1 << (random() % 4), threads = draw(random, 100);
    graph::Shape chunks = domain;
    chunks[order[0]] = (chunks[order[0]] + vector - 1) / vector;
    passing += domain[order[0]] % vector != 0;
    std::map<Register, graph::Shape> expected;
    for (std::int64_t chunk = 0; chunk < graph::size(chunks); ++chunk) {
      graph::Shape at(domain.size());
      std::int64_t rest = chunk;
      for (int d : order) at[d] = rest % chunks[d], rest /= chunks[d];
      at[order[0]] *= vector;
      for (int v = 0; v < vector; ++v, ++at[order[0]]) expected[{chunk % threads, chunk / threads * vector + v}] = at;
    }
    const kernel::Context c = kernel::blocked_layout(domain, order, vector, threads);
    ASSERT_EQ(registers(c), expected) << kernel::print(c) << " " << layouts(c);
    EXPECT_EQ(c.vector(), vector);
    EXPECT_EQ(c.inner(), order[0]);
    EXPECT_EQ(c.threads(), threads);
    EXPECT_EQ(c.holders(), 1);
    EXPECT_EQ(c.steps(0), tile::ceil_div(graph::size(chunks), threads));
    EXPECT_EQ(c.items(0), graph::size(chunks) * vector);
    const std::vector<int> owner = kernel::owners(c, domain);
    for (std::size_t i = 0; i < owner.size(); ++i) ASSERT_GE(owner[i], 0) << kernel::print(c) << ": element " << i;
  }
  EXPECT_GE(passing, 50);
}

// Every summand once, by the threads of its sum, the first of whose lanes stores it.
TEST(Contexts, SummandsAreTakenOnce) {
  std::mt19937 random(2);
  int split = 0, strided = 0;
  for (int trial = 0; trial < 300; ++trial) {
    kernel::Summation s;
    s.vector = 1 << (random() % 3);
    s.lanes = 1 << (random() % 6);
    s.splits = s.lanes == 32 ? draw(random, 4) : 1;
    s.to = s.vector == 1 ? draw(random, 3) : 1;
    s.length = static_cast<std::int64_t>(s.vector) * s.splits * draw(random, 20);
    s.groups = draw(random, 256 / (s.lanes * s.splits) + 1);
    const int rank = draw(random, 3);
    s.dim = s.vector > 1 ? rank - 1 : draw(random, rank) - 1;
    for (int d = 0; d < rank; ++d) s.sums.push_back(d == s.dim ? s.to : draw(random, 7));
    s.domain = s.sums, s.domain[s.dim] = s.to * s.length;
    const kernel::Context c = kernel::summands(s);
    EXPECT_EQ(c.lanes(), s.lanes);
    EXPECT_EQ(c.parts(), s.splits);
    split += s.splits > 1, strided += s.to > 1;
    std::map<graph::Shape, int> taken;
    const kernel::EvaluatedLayout layout(c);
    kernel::for_each(layout, [&](int thread, int value, const graph::Shape& at) {
      if (at.empty()) return;
      ++taken[at];
      graph::Shape sum = at, found;
      sum[s.dim] %= s.to;
      layout.find_sum(thread, value, 0, found);
      EXPECT_EQ(found, sum) << layouts(c);
      EXPECT_EQ(kernel::linear(sum, s.sums) % s.groups, thread / (s.lanes * s.splits)) << layouts(c);
      layout.find_sum(thread / s.lanes * s.lanes, value, 0, found);
      EXPECT_EQ(found, sum) << layouts(c);
    });
    EXPECT_EQ(static_cast<std::int64_t>(taken.size()), graph::size(s.domain)) << layouts(c);
    for (const auto& [at, times] : taken) ASSERT_EQ(times, 1) << layouts(c) << " " << graph::to_string(at);
  }
  EXPECT_GE(split, 10);
  EXPECT_GE(strided, 10);
}

// The layout library's result for the same layouts.
TEST(Contexts, AreLayoutsOfTheLibrary) {
  int contexts = 0;
  std::mt19937 random(3);
  for_each_kernel([&](const std::string& name, const kernel::Kernel& k, const Plan&) {
    for (const kernel::RmemTensor& tile : k.rmem) {
      const kernel::Context& c = tile.layout;
      ++contexts;
      const kernel::EvaluatedLayout layout(c);
      for (int trial = 0; trial < 20; ++trial) {
        const int thread = draw(random, layout.threads()) - 1, value = draw(random, layout.values()) - 1,
                  repeat = draw(random, layout.repeats()) - 1;
        const Value item = evaluate(Op::layout_call, "share", {c.share, tuple_value({thread, value, repeat})});
        std::vector<long long> items(static_cast<std::size_t>(c.axes()), 0);
        for (int a = 0; a < std::min(item.rank(), c.axes()); ++a)
          if (item.is_tuple()) items[static_cast<std::size_t>(a)] = item[a].root().s.v;
        bool all = true;
        for (int a = 0; a < c.axes(); ++a) all = all && items[static_cast<std::size_t>(a)] < size(c.tile[a]);
        graph::Shape expected;
        if (all) {
          expected.assign(c.domain.size(), 0);
          const Value at = evaluate(Op::layout_call, "tile", {c.tile, tuple_value(items)});
          for (int d = 0; at.is_tuple() && d < at.rank(); ++d) expected[static_cast<std::size_t>(d)] = at[d].root().s.v;
        }
        ASSERT_EQ(layout.at(thread, value, repeat), expected)
            << name << ": " << layouts(c) << " of " << thread << ", " << value << ", " << repeat;
      }
    }
  });
  EXPECT_GE(contexts, 200);
}

// Every element of the domain is owned, by the same number of threads; each warp's access has all lanes.
TEST(Contexts, CoverTheirDomain) {
  for_each_kernel([](const std::string& name, const kernel::Kernel& k, const Plan&) {
    for (const kernel::RmemTensor& tile : k.rmem) {
      const kernel::Context& c = tile.layout;
      std::map<graph::Shape, int> holder_counts;
      std::size_t at_all = 0;
      kernel::for_each(kernel::EvaluatedLayout(c), [&](int, int, const graph::Shape& at) {
        if (kernel::inside(at, c.domain)) ++holder_counts[at], ++at_all;
      });
      ASSERT_EQ(static_cast<std::int64_t>(holder_counts.size()), graph::size(c.domain)) << name << ": " << layouts(c);
      EXPECT_EQ(at_all, holder_counts.size() * static_cast<std::size_t>(c.holders())) << name << ": " << layouts(c);
      std::set<graph::Shape> started;
      kernel::for_each_access(c, [&](int, const kernel::WarpAccess& lanes) {
        for (graph::Shape at : lanes)
          for (int v = 0; !at.empty() && v < c.vector(); ++v, ++at[c.inner()])
            if (kernel::inside(at, c.domain)) started.insert(at);
      });
      EXPECT_EQ(started.size(), holder_counts.size()) << name << ": " << layouts(c);
    }
  });
}

TEST(Contexts, AreWritten) {
  EXPECT_EQ(layouts(kernel::blocked_layout({16, 256}, 1, 8, 128)),
            "(128,(8,4),1):(8@0,(1@0,1024@0),_0) in ((8,32,16)):((1@1,8@1,1@0))");
  EXPECT_EQ(kernel::EvaluatedLayout(kernel::blocked_layout({16, 256}, 1, 8, 128)).at(33, 9), (graph::Shape{5, 9}));
}

}  // namespace
}  // namespace zellige::plan
