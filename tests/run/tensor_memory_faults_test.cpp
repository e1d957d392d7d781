// Faults in kernels that the planner makes for tensor memory: in the calls of their source, and in block/tensor_memory.hpp, which
// it includes. One program has all of them; an environment variable says which one runs.
#include <cstdlib>

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

constexpr const char *allocates = "columns.allocate(allocated, address_);",
                     *initialises = "mbarrier_init(committed_ + i, 1);", *fence_after = "tcgen05_after_thread_sync();",
                     *fence_before = "tcgen05_before_thread_sync();",
                     *commits = "tcgen05_commit(committed_ + (set() * slots + count_ % slots));",
                     *waits = "mbarrier_wait(committed_ + (set() * slots + last % slots), last / slots & 1);",
                     *frees = "TMEM::Allocator1Sm().free(columns_, allocated);";
// The barriers of load() and free() are not among them: the planner's own barrier after the loop orders the same.
const PlannedFault faults[] = {
    {allocates, "", Kind::uninitialised_read, "columns"},
    {allocates, "columns.allocate(allocated / 2, address_);", Kind::out_of_bounds, "is not allocated"},
    {"columns.release_allocation_lock();", "columns.release_allocation_lock(), columns.allocate(32, address_);",
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
    {fence_before, "", Kind::fence, "is followed by no tcgen05_before_thread_sync", 1},
    {frees, "", Kind::departed, "are allocated"},
    {frees, "TMEM::Allocator1Sm().free(columns_, 32);", Kind::instruction, "are no allocation"},
    {"products.find();", "", Kind::out_of_bounds, ""},
    {"products.commit();", "", Kind::race, "tcgen05.mma"},
    {"products.free();", "", Kind::departed, "are allocated"},
};

std::size_t place(const std::string& text, const PlannedFault& f) {
  std::size_t at = text.find(f.was);
  for (int i = 0; i < f.occurrence && at != text.npos; ++i) at = text.find(f.was, at + 1);
  return at;
}

/// Returns the program's source with its header in it, and each fault under a condition.
std::string with_faults(std::string source) {
  constexpr std::string_view path = "zellige/block/tensor_memory.hpp", once = "#pragma once";
  const std::string include = fmt::format("#include <{}>\n", path);
  std::string header{toolchain::find_header(path)->text};
  header.erase(0, header.find(once) + once.size());
  const std::size_t at = source.find(include);
  if (at == source.npos) return "";
  source.replace(at, include.size(), header);
  std::map<std::size_t, std::string> changed;  // by place, from the last one
  for (std::size_t i = 0; i < std::size(faults); ++i) {
    const PlannedFault& f = faults[i];
    const std::size_t where = place(source, f);
    if (where == source.npos) return "";
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

/// C = A B, whose rows begin at odd elements.
graph::KernelGraph two_tiles() {
  graph::Builder b("two_tiles");
  const auto A = b.input("A", {128, 320}), B = b.input("B", {320, 256}, graph::DType::f16, {1, 320});
  b.output(b.custom({.grid = {2}, .block = {256}, .loop = 5},
                    [&](graph::BlockBuilder& t) {
                      t.store(accum(matmul(t.load(A, {.loop = 1}), t.load(B, {.x = 1, .loop = 0}))), {.x = 1});
                    })[0],
           "C", {257, 1});
  return b.build();
}

struct Faulty {
  emit::EmittedProgram program;
  std::string source;
  std::vector<Bytes> inputs;

  /// Two warpgroups compute two tiles of 128 x 128 in one persistent block.
  Faulty() {
    target::Target one = target::find("sm_100a");
    one.multiprocessors = 1;
    const graph::KernelGraph g = two_tiles();
    program = test::transpile(g, one, {{plan::Blocks::persistent}});
    source = with_faults(program.source);
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

TEST(TensorMemoryFaults, EachIsFoundInAPlannedKernel) {
  const Faulty faulty;
  ASSERT_NE(faulty.source, "") << faulty.program.source;
  EXPECT_EQ(messages(faulty.run(-1)), "");
  for (int i = 0; i < int(std::size(faults)); ++i) {
    const EmulatedRun r = faulty.run(i);
    const bool found = std::ranges::any_of(r.findings, [&](const emulate::Finding& f) {
      return f.kind == faults[i].kind && f.message.find(faults[i].words) != f.message.npos;
    });
    EXPECT_TRUE(found) << "fault " << i << ": " << faults[i].was << " -> " << faults[i].is << "\n" << messages(r);
  }
}

}  // namespace
}  // namespace zellige::run
