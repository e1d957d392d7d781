// The declared reads and writes of a nest are those found by touches.cpp by enumeration, and every access is
// one aligned piece.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "kernel/evaluated_layout.hpp"
#include "kernel/evaluation.hpp"
#include "predict/count_shared.hpp"
#include "random_plans.hpp"
#include "steps_of.hpp"
#include "touches.hpp"

namespace zellige::plan {
namespace {

using Element = std::tuple<int, int, int, graph::Shape>;  // thread, buffer, part, where

/// One that only one of them has.
std::string difference(const std::set<Element>& a, const std::set<Element>& b) {
  std::vector<Element> only;
  std::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(only));
  if (only.empty()) return "";
  const auto& [thread, buffer, part, at] = only.front();
  return fmt::format("{} elements, thread {}: part {} of buffer {} {}", only.size(), thread, part, buffer,
                     graph::to_string(at));
}

bool taken(const predict::SharedAccess& a, const graph::Shape& at) {
  for (const predict::AccessCondition& b : a.where)
    if ((b.at.of(at) < b.below) != b.holds) return false;
  return true;
}

/// Calls visit(thread, access, its first element) for all of a task's.
template <class Visit>
void for_each_access(const kernel::Kernel& k, const kernel::Context& c, const std::vector<predict::SharedAccess>& all,
                     Visit visit) {
  kernel::for_each(kernel::EvaluatedLayout(c), [&](int thread, int value, const graph::Shape& at) {
    if (at.empty() || value % c.vector() != 0) return;
    for (const predict::SharedAccess& a : all) {
      if (!taken(a, at) || (!a.load && c.replicated() && thread / c.lane_step() % c.holders() > 0)) continue;
      graph::Shape element;
      for (const kernel::TileCoordinate& p : a.at) element.push_back(p.of(at));
      visit(thread, a, element);
    }
  });
}

TEST(SharedAccess, IsWhatAStepTouches) {
  int nests = 0, branches = 0;
  for_each_kernel([&](const std::string& name, const kernel::Kernel& k, const Plan&) {
    for (const kernel::Step* step : steps_of(k)) {
      const kernel::Work& work = step->work;
      if (!kernel::in_nest(k, work) && work.kind != kernel::WorkKind::reduce) continue;
      const auto all = predict::nest_accesses(k, kernel::StepSpan(step, 1));
      if (!all) continue;  // depends on the block
      ++nests;
      std::set<Element> read, written, loaded, stored;
      for_each_read(k, work, [&](const Touch& r) { read.insert({r.thread, r.buffer, r.partial, r.at}); });
      for_each_write(k, work, [&](const Touch& w) {
        if (kernel::inside(w.at, k.tensors[w.buffer].padded)) written.insert({w.thread, w.buffer, w.partial, w.at});
      });
      const kernel::Context& c = k.layout_of(work);
      for_each_access(k, c, *all, [&](int thread, const predict::SharedAccess& a, graph::Shape at) {
        branches += !a.where.empty();
        const kernel::SmemTensor& b = k.tensors[a.buffer];
        const int part =
            a.part == predict::own_part ? thread / 32 / (kernel::warps(c).count() / kernel::warps(c).k) : a.part;
        for (int v = 0; v < a.bytes / graph::whole_bytes(b.dtype); ++v, ++at[b.inner])
          if (kernel::inside(at, b.padded)) (a.load ? loaded : stored).insert({thread, a.buffer, part, at});
      });
      EXPECT_EQ(difference(loaded, read), "") << name << ": reads of " << kernel::name(work.kind) << " %" << work.node;
      EXPECT_EQ(difference(stored, written), "")
          << name << ": writes of " << kernel::name(work.kind) << " %" << work.node;
    }
  });
  EXPECT_GE(nests, 200);
  EXPECT_GE(branches, 1000);
}

TEST(SharedAccess, IsOneAlignedPiece) {
  int wide = 0;
  for_each_kernel([&](const std::string& name, const kernel::Kernel& k, const Plan&) {
    for (const kernel::Step* step : steps_of(k)) {
      if (!kernel::in_nest(k, step->work)) continue;
      const auto all = predict::nest_accesses(k, kernel::StepSpan(step, 1));
      if (!all) continue;
      for_each_access(k, k.layout_of(step->work), *all, [&](int, const predict::SharedAccess& a, graph::Shape at) {
        const kernel::SmemTensor& b = k.tensors[a.buffer];
        const int size = graph::whole_bytes(b.dtype), part = a.part == predict::own_part ? 0 : a.part;
        wide += a.bytes > size;
        const std::int64_t first = place(b, 0, part, at);
        ASSERT_EQ(first % a.bytes, 0) << name << " " << b.name << graph::to_string(at) << " by " << a.bytes;
        for (int v = 0; v < a.bytes / size; ++v, ++at[b.inner])
          ASSERT_EQ(place(b, 0, part, at), first + v * size) << name << " " << b.name << graph::to_string(at);
      });
    }
  });
  EXPECT_GE(wide, 1000);
}

}  // namespace
}  // namespace zellige::plan
