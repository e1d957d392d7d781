// Faults in kernels that the planner makes for tensor memory: in the calls of their source, and in the headers that it includes,
// block/tensor_memory.hpp and block/product_sets.hpp. One program of each form has all of them; an environment variable says which one
// runs.
#include <cstdlib>
#include <span>

#include "emulate_graph.hpp"
#include "graph/builder.hpp"
#include "toolchain/headers.hpp"

namespace zellige::run {
namespace {

using Kind = emulate::Finding::Kind;

/// A statement or an expression of the source, and what it becomes. What is found has this kind and these words.
struct PlannedFault {
  const char *was, *is;
  Kind kind;
  const char* words;
  int occurrence = 0;  // of `was` in the source
};

constexpr const char *allocates = "columns.allocate(allocated, address);",
                     *initialises = "mbarrier_init(committed_ + i, 1);", *fence_after = "tcgen05_after_thread_sync();",
                     *fence_before = "tcgen05_before_thread_sync();",
                     *commits = "tcgen05_commit(committed_ + (set() * slots + count_ % slots));",
                     *waits = "mbarrier_wait(committed_ + (set() * slots + last % slots), last / slots & 1);",
                     *frees = "TMEM::Allocator1Sm().free(columns, allocated);";
// The barriers of load() and free() are not among them: the planner's own barrier after the loop orders the same.
const PlannedFault faults[] = {
    {allocates, "", Kind::uninitialised_read, "columns"},
    {allocates, "columns.allocate(allocated / 2, address);", Kind::out_of_bounds, "is not allocated"},
    {"columns.release_allocation_lock();", "columns.release_allocation_lock(), columns.allocate(32, address);",
     Kind::instruction, "given up its permit"},
    {initialises, "", Kind::uninitialised_read, "mbarrier committed"},
    {initialises, "mbarrier_init(committed_ + i, 2);", Kind::deadlock, "mbarrier committed"},
    {"accumulate && (fresh_ & bit(Column)) == 0", "true", Kind::uninitialised_read, "accumulates by tcgen05.mma"},
    {fence_after, "", Kind::fence, "no tcgen05_after_thread_sync follows", 1},
    {"(set() * times + i) * columns", "((set() * times + i + 1) * columns)", Kind::out_of_bounds, "is not allocated"},
    {commits, "", Kind::deadlock, "mbarrier committed"},
    {commits, "tcgen05_commit(committed_ + (set() * slots + (count_ + 1) % slots));", Kind::deadlock,
     "mbarrier committed"},
    {"threadIdx.x % set_threads == 0", "threadIdx.x % 128 == 0", Kind::instruction, "more arrivals"},
    {waits, "", Kind::race, "no wait at an mbarrier of its tcgen05_commit"},
    {"count_ - 1 - Pending", "(count_ - 2 - Pending)", Kind::race, "no wait at an mbarrier of its tcgen05_commit"},
    {waits, "mbarrier_wait(committed_ + (set() * slots + last % slots), ~(last / slots) & 1);", Kind::race,
     "no wait at an mbarrier of its tcgen05_commit"},
    {fence_after, "", Kind::fence, "no tcgen05_after_thread_sync follows", 2},
    {"threadIdx.x / 32 % 4 * 32", "0u", Kind::out_of_bounds, "may access lanes"},
    {"tmem_load_wait();", "", Kind::race, "no tmem_load_wait follows it"},
    {fence_before, "", Kind::fence, "is followed by no tcgen05_before_thread_sync"},
    {frees, "", Kind::departed, "are allocated"},
    {frees, "TMEM::Allocator1Sm().free(columns, 32);", Kind::instruction, "are no allocation"},
    {"products.find();", "", Kind::out_of_bounds, ""},
    {"products.commit();", "", Kind::race, "tcgen05.mma"},
    {"products.free();", "", Kind::departed, "are allocated"},
};

constexpr const char* own_set = "s.index * Columns";
// Of a role that multiplies into sets of columns.
const PlannedFault faults_of_sets[] = {
    {allocates, "", Kind::uninitialised_read, "columns"},
    {"this->init_barriers(1, consumers);", "", Kind::uninitialised_read, "mbarrier"},
    {"this->init_barriers(1, consumers);", "this->init_barriers(1, consumers + 1);", Kind::deadlock,
     "empty accumulators"},
    {"this->init_barriers(1, consumers);", "this->init_barriers(2, consumers);", Kind::deadlock, "full accumulators"},
    {"this->wait_empty(s);", "", Kind::race, ""},
    {"fresh_ |= Products::bit(Column);", "", Kind::uninitialised_read, "accumulates by tcgen05.mma"},
    {own_set, "0", Kind::race, ""},
    {own_set, "((s.index ^ 1) * Columns)", Kind::race, "", 1},
    {"i * columns", "((i + 2) * columns)", Kind::out_of_bounds, "writes by tcgen05.mma"},
    {"tcgen05_commit(barrier);", "", Kind::deadlock, "mbarrier"},
    {fence_after, "", Kind::fence, "no tcgen05_after_thread_sync follows", 4},
    {fence_after, "", Kind::fence, "no tcgen05_after_thread_sync follows", 5},
    {fence_before, "", Kind::fence, "is followed by no tcgen05_before_thread_sync", 2},
    {"threadIdx.x / 32 % 4 * 32", "0u", Kind::out_of_bounds, "may access lanes"},
    {"tmem_load_wait();", "", Kind::race, "no tmem_load_wait follows it"},
    {"mbarrier_arrive(this->empty + s.index);", "", Kind::deadlock, "empty accumulators"},
    {frees, "", Kind::departed, "are allocated"},
    {"products.find();", "", Kind::out_of_bounds, ""},
    {"products.find();", "", Kind::instruction, "operand D at lane 65535", 1},
    {"products.wait(set_at);", "", Kind::out_of_bounds, "has been freed"},
    {"products.release(set_at++);", "++set_at;", Kind::deadlock, "empty accumulators"},
    {"products.release(set_at++);", "products.release(set_at), products.release(set_at++);", Kind::instruction,
     "more arrivals"},
    {"products.acquire(set_at);", "", Kind::race, ""},
    {"products.clear<0>();", "", Kind::uninitialised_read, "accumulates by tcgen05.mma"},
    {"products.commit(ring.empty_barrier(ring_used++));", "++ring_used;", Kind::deadlock, "empty"},
    {"products.commit(ring.empty_barrier(ring_used++));", "mbarrier_arrive(ring.empty_barrier(ring_used++));",
     Kind::race, "tcgen05.mma"},
    {"products.commit(products.full_barrier(set_at++));", "++set_at;", Kind::deadlock, "full accumulators"},
    {"products.commit(products.full_barrier(set_at++));", "mbarrier_arrive(products.full_barrier(set_at++));",
     Kind::race, "no wait at an mbarrier of its tcgen05_commit"},
    {"products.free();", "", Kind::departed, "are allocated"},
};

std::size_t place(const std::string& text, const PlannedFault& f) {
  std::size_t at = text.find(f.was);
  for (int i = 0; i < f.occurrence && at != text.npos; ++i) at = text.find(f.was, at + 1);
  return at;
}

/// Replaces the inclusion of a header by the header itself. Returns whether the source has it.
bool put_header(std::string& source, std::string_view path) {
  constexpr std::string_view once = "#pragma once";
  const std::string include = fmt::format("#include <{}>\n", path);
  std::string header{toolchain::find_header(path)->text};
  header.erase(0, header.find(once) + once.size());
  const std::size_t at = source.find(include);
  if (at != source.npos) source.replace(at, include.size(), header);
  return at != source.npos;
}

/// Returns the program's source with its headers in it, and each fault under a condition.
std::string with_faults(std::string source, std::span<const PlannedFault> faults) {
  const bool sets = source.find("ProductSets<") != source.npos;
  if (sets != (faults.data() == faults_of_sets)) return "";
  // What is in both is in the source once.
  constexpr std::string_view first = "#include <zellige/block/tensor_memory.hpp>\n";
  if (const std::size_t at = source.find(first); sets && at != source.npos) source.erase(at, first.size());
  if (sets && !put_header(source, "zellige/block/product_sets.hpp")) return "";
  if (!put_header(source, "zellige/block/tensor_memory.hpp")) return "";
  std::map<std::size_t, std::string> changed;  // by place, from the last one
  for (std::size_t i = 0; i < std::size(faults); ++i) {
    const PlannedFault& f = faults[i];
    const std::size_t where = place(source, f);
    if (where == source.npos) return fmt::format("no {}", f.was);
    std::string& now = changed.emplace(where, f.was).first->second;
    const bool statement = std::string_view(f.was).ends_with(';');
    now = statement ? fmt::format("if (zellige_fault == {}) {{ {} }} else {{ {} }}", i, f.is, now)
                    : fmt::format("(zellige_fault == {} ? ({}) : ({}))", i, f.is, now);
  }
  for (auto c = changed.rbegin(); c != changed.rend(); ++c) {
    const auto same = [&](const PlannedFault& f) { return place(source, f) == c->first; };
    source.replace(c->first, std::string_view(std::ranges::find_if(faults, same)->was).size(), c->second);
  }
  return "#include <cstdlib>\ninline const int zellige_fault = std::atoi(std::getenv(\"ZELLIGE_FAULT\"));\n" + source;
}

/// C = A B of `tiles` tiles, whose rows begin at odd elements.
graph::KernelGraph product_of(std::int64_t tiles) {
  graph::Builder b("product_of_tiles");
  const std::int64_t n = 128 * tiles;
  const auto A = b.input("A", {128, 320}), B = b.input("B", {320, n}, graph::DType::f16, {1, 320});
  b.output(b.custom({.grid = {tiles}, .block = {256}, .loop = 5},
                    [&](graph::BlockBuilder& t) {
                      t.store(accum(matmul(t.load(A, {.loop = 1}), t.load(B, {.x = 1, .loop = 0}))), {.x = 1});
                    })[0],
           "C", {n + 1, 1});
  return b.build();
}

struct Faulty {
  emit::EmittedProgram program;
  std::string source;
  std::vector<Bytes> inputs;

  /// Two warpgroups of one persistent block compute tiles of 128 x 128. With few registers they issue the products themselves.
  Faulty(std::int64_t tiles, bool few_registers, std::span<const PlannedFault> faults) {
    target::Target one = target::find("sm_100a");
    one.multiprocessors = 1;
    if (few_registers) one.registers_per_multiprocessor /= 2;
    const graph::KernelGraph g = product_of(tiles);
    program = test::transpile(g, one, {{plan::Blocks::persistent}});
    source = with_faults(program.source, faults);
    for (const manifest::TensorPlace& t : program.manifest.tensors)
      inputs.push_back(
          t.role == manifest::Role::input
              ? pack(t,
                     integers(g.tensors[static_cast<std::size_t>(g.inputs[static_cast<std::size_t>(t.position)])].shape,
                              t.position)
                         .values)
              : poisoned(t));
  }
  EmulatedRun run(int fault) const {
    static const toolchain::Cache cache = toolchain::Cache::temporary();
    setenv("ZELLIGE_FAULT", std::to_string(fault).c_str(), 1);
    std::vector<Bytes> storage = inputs;
    return run_emulated(source, program.manifest, storage, cache, 1);
  }
};

std::string messages(const EmulatedRun& r) {
  std::string all;
  for (const emulate::Finding& f : r.findings) all += fmt::format("{} {}\n", int(f.kind), f.message);
  return all;
}

void expect_found(const Faulty& faulty, std::span<const PlannedFault> faults) {
  ASSERT_GT(faulty.source.size(), 200u) << faulty.source << "\n" << faulty.program.source;
  EXPECT_EQ(messages(faulty.run(-1)), "");
  for (int i = 0; i < int(std::size(faults)); ++i) {
    const EmulatedRun r = faulty.run(i);
    const bool found = std::ranges::any_of(r.findings, [&](const emulate::Finding& f) {
      return f.kind == faults[i].kind && f.message.find(faults[i].words) != f.message.npos;
    });
    EXPECT_TRUE(found) << "fault " << i << ": " << faults[i].was << " -> " << faults[i].is << "\n" << messages(r);
  }
}

TEST(TensorMemoryFaults, EachIsFoundInAPlannedKernel) { expect_found({2, true, faults}, faults); }

TEST(TensorMemoryFaults, EachIsFoundWhereOneThreadMultipliesForOthers) {
  expect_found({3, false, faults_of_sets}, faults_of_sets);
}

}  // namespace
}  // namespace zellige::run
