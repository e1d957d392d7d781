// Attention over the pages of a cache, through a table of each sequence's pages: right for any tables and lengths, in kernels that read the
// pages where they are, and not those beyond a sequence's length.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>

#include "emulate_graph.hpp"
#include "graph/builder.hpp"
#include "ir/ir.hpp"
#include "run/compile.hpp"

namespace zellige::run {
namespace {

using graph::Builder, graph::DType, graph::TensorHandle;

/// A cache (pages, page, heads, depth), or (pages, heads, page, depth) with `heads_first`, of sequences of at most `max_pages` pages.
struct Paged {
  const char *name, *target;
  std::int64_t batch, heads, group, queries, page, max_pages, pages, depth;
  bool causal = false, heads_first = false, flat = false;
  DType dtype = DType::f16;
  std::int64_t keys() const { return page * max_pages; }
};

/// What torch writes: the pages of a sequence, in the order of its table, are its keys. With `flat` they are gathered as rows of a matrix.
TensorHandle keys_of(TensorHandle cache, TensorHandle table, const Paged& a) {
  TensorHandle found = cache;
  if (a.flat) {
    found = gather(reshape(cache, {a.pages, a.page * a.heads * a.depth}), reshape(table, {a.batch * a.max_pages}));
    found = reshape(found, a.heads_first ? graph::Shape{a.batch, a.max_pages, a.heads, a.page, a.depth}
                                         : graph::Shape{a.batch, a.max_pages, a.page, a.heads, a.depth});
  } else {
    found = gather(cache, table);
  }
  if (a.heads_first) return reshape(permute(found, {0, 2, 1, 3, 4}), {a.batch, a.heads, a.keys(), a.depth});
  return permute(reshape(found, {a.batch, a.keys(), a.heads, a.depth}), {0, 2, 1, 3});
}

graph::KernelGraph graph_of(const Paged& a) {
  Builder b(a.name);
  const graph::Shape cache =
      a.heads_first ? graph::Shape{a.pages, a.heads, a.page, a.depth} : graph::Shape{a.pages, a.page, a.heads, a.depth};
  const TensorHandle q = b.input("q", {a.batch, a.heads, a.group * a.queries, a.depth}, a.dtype),
                     k = b.input("k", cache, a.dtype), v = b.input("v", cache, a.dtype),
                     table = b.input("table", {a.batch, a.max_pages}, DType::int32),
                     lengths = b.input("lengths", {a.batch, 1, 1, 1}, DType::int32);
  graph::Kept kept;
  if (a.causal) kept.tril = a.keys() - a.queries;
  const TensorHandle scores = matmul(q, permute(keys_of(k, table, a), {0, 1, 3, 2})) * (1.0 / 64);
  b.output(matmul(safe_softmax(mask(scores, lengths, kept), 3), keys_of(v, table, a)), "y");
  return b.build();
}

/// The inputs with these lengths, and a random table. Entries of pages beyond a sequence's length are `beyond`.
std::vector<reference::Array> inputs_of(const graph::KernelGraph& g, const Paged& a,
                                        const std::vector<std::int64_t>& lengths, std::mt19937& random,
                                        std::int64_t beyond) {
  std::vector<reference::Array> inputs;
  for (const int t : g.inputs) inputs.push_back(integers(g.tensors[t].shape, t));
  for (std::int64_t s = 0; s < a.batch; ++s) {
    const std::int64_t length = lengths[static_cast<std::size_t>(s)];
    inputs[4].values[static_cast<std::size_t>(s)] = static_cast<double>(length);
    for (std::int64_t p = 0; p < a.max_pages; ++p)
      inputs[3].values[static_cast<std::size_t>(s * a.max_pages + p)] = static_cast<double>(
          p * a.page < length ? std::uniform_int_distribution<std::int64_t>(0, a.pages - 1)(random) : beyond);
  }
  return inputs;
}

struct PagedRun {
  std::vector<double> y;
  std::uint64_t bytes = 0, kernels = 0;
};

PagedRun ran_in_pages(const graph::KernelGraph& g, const emit::EmittedProgram& p,
                      const std::vector<reference::Array>& inputs, const toolchain::Cache& cache) {
  std::vector<Bytes> storage;
  for (const manifest::TensorPlace& t : p.manifest.tensors)
    storage.push_back(t.role == manifest::Role::input ? pack(t, inputs.at(static_cast<std::size_t>(t.position)).values)
                                                      : poisoned(t));
  const EmulatedRun run = run_emulated(p, storage, cache, 2);
  for (const auto& f : run.findings) ADD_FAILURE() << g.name << ": " << f.message;
  PagedRun r;
  r.kernels = run.kernels.size();
  for (const EmulatedKernel& k : run.kernels) r.bytes += k.counters[emulate::Counter::cp_async_source_bytes];
  for (std::size_t t = 0; t < storage.size(); ++t)
    if (p.manifest.tensors[t].role == manifest::Role::output) r.y = unpack(p.manifest.tensors[t], storage[t]);
  return r;
}

/// The graph in float32, in which the reference rounds nothing between operators; kernels of 16 bits do not, either.
graph::KernelGraph exact(Paged a) {
  a.dtype = DType::f32;
  return graph_of(a);
}

/// Returns the greatest difference from the reference, whose table has page 0 in place of entries that name none.
double worst_of(const graph::KernelGraph& g, std::vector<reference::Array> inputs, const PagedRun& r,
                std::int64_t pages) {
  for (double& page : inputs[3].values)
    if (page < 0 || page >= static_cast<double>(pages)) page = 0;
  const std::vector<double> right = reference::run_reference(g, inputs)[0].values;
  EXPECT_EQ(r.y.size(), right.size());
  double worst = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    const double off = std::fabs(r.y[i] - right[i]) / (1 + std::fabs(right[i]));
    if (!(off <= worst)) worst = std::isnan(off) ? std::numeric_limits<double>::infinity() : off;
  }
  return worst;
}

TEST(Pages, AreReadWhereTheyAre) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  std::mt19937 random(6003);
  for (const Paged& a : {Paged{"decode", "sm_80", 3, 2, 4, 1, 16, 12, 29, 64},
                         Paged{"heads_first", "sm_80", 2, 2, 8, 1, 128, 3, 5, 64, false, true},
                         Paged{"prefill", "sm_90a", 2, 2, 1, 64, 32, 8, 19, 64, true},
                         Paged{"flat", "sm_90a", 2, 2, 4, 1, 24, 9, 17, 64, false, false, true},
                         Paged{"flat_heads", "sm_80", 2, 2, 4, 1, 64, 4, 9, 128, false, true, true, DType::bf16}}) {
    const graph::KernelGraph g = graph_of(a);
    SCOPED_TRACE(fmt::format("{} on {}", a.name, a.target));
    const emit::EmittedProgram p = compile(g, target::find(a.target), {.fuse = true}).program;
    const std::string text = ir::print(p);
    EXPECT_NE(text.find(fmt::format(" page {} page_step {}", a.page, a.heads_first ? a.heads * a.page : a.page)),
              std::string::npos)
        << text;
    EXPECT_EQ(ir::print(ir::compile(text, "printed.ir").program), text);
    const auto run = [&](const std::vector<std::int64_t>& lengths, std::int64_t beyond) {
      const std::vector<reference::Array> inputs = inputs_of(g, a, lengths, random, beyond);
      const PagedRun r = ran_in_pages(g, p, inputs, cache);
      EXPECT_LE(r.kernels, 2u) << text;
      EXPECT_LE(worst_of(exact(a), inputs, r, a.pages), 0.02) << fmt::format("{}", fmt::join(lengths, ", "));
      return r.bytes;
    };
    const auto each = static_cast<std::size_t>(a.batch);
    std::uint64_t all = 0;
    for (const std::int64_t length : {std::int64_t{0}, std::int64_t{1}, a.page, a.page + 1, a.keys()})
      all = run(std::vector(each, length), length % 2 == 0 ? -1 : a.pages);
    std::vector<std::int64_t> drawn;
    for (std::size_t i = 0; i < each; ++i)
      drawn.push_back(std::uniform_int_distribution<std::int64_t>(0, a.keys())(random));
    EXPECT_LE(run(drawn, 1 << 30), all);
    if (text.find(" lengths %") != std::string::npos) EXPECT_LT(run(std::vector(each, std::int64_t{1}), 0), all);
  }
}

TEST(Pages, DrawnOnesAreRight) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  std::mt19937 random(6005);
  const auto from = [&](std::vector<std::int64_t> of) {
    return of[std::uniform_int_distribution<std::size_t>(0, of.size() - 1)(random)];
  };
  const auto to = [&](std::int64_t max) { return std::uniform_int_distribution<std::int64_t>(1, max)(random); };
  double worst = 0;
  int read = 0;
  for (int i = 0; i < (std::getenv("ZELLIGE_ALL") ? 40 : 2); ++i) {
    Paged a{"drawn", from({0, 1}) ? "sm_80" : "sm_90a", to(4), to(3), to(8), from({1, 1, to(48)}), 0, to(9), to(20), 0};
    a.page = from({16, 24, 32, 48, 64, 128}), a.depth = from({32, 64, 96, 128});
    a.heads_first = from({0, 1}), a.flat = from({0, 1}), a.dtype = from({0, 1}) ? DType::f16 : DType::bf16;
    a.causal = a.group == 1 && a.queries <= a.keys() && from({0, 1});
    const graph::KernelGraph g = graph_of(a);
    SCOPED_TRACE(fmt::format("draw {} on {}: {} sequences, {} heads of {} x {} queries, {} pages of {}, depth {}{}{}{}",
                             i, a.target, a.batch, a.heads, a.group, a.queries, a.max_pages, a.page, a.depth,
                             a.causal ? ", causal" : "", a.heads_first ? ", heads first" : "", a.flat ? ", flat" : ""));
    const emit::EmittedProgram p = compile(g, target::find(a.target), {.fuse = true}).program;
    read += ir::print(p).find(" page_step ") != std::string::npos;
    std::vector<std::int64_t> lengths;
    for (std::int64_t s = 0; s < a.batch; ++s)
      lengths.push_back(from({0, 1, a.page, std::min(a.page + 1, a.keys()), a.keys(), to(a.keys())}));
    const std::vector<reference::Array> inputs = inputs_of(g, a, lengths, random, from({-1, 0, a.pages}));
    const double off = worst_of(exact(a), inputs, ran_in_pages(g, p, inputs, cache), a.pages);
    EXPECT_LE(off, 0.02);
    worst = std::max(worst, off);
  }
  RecordProperty("worst", std::to_string(worst));
  RecordProperty("read_in_pages", read);
}

TEST(Pages, KernelsThatReadOtherRowsAreRefused) {
  const Paged a{"decode", "sm_80", 3, 2, 4, 1, 16, 12, 29, 64};
  const std::string text = ir::print(compile(graph_of(a), target::find(a.target), {.fuse = true}).program),
                    right = " page 16 page_step 16 ";
  for (const auto& [wrong, why] :
       {std::pair{" page 32 page_step 16 ",
                  "decode_k0: k_1x2x64x464 reads pages of 32 rows, which begin every 16 rows: loads read pages of 1 "
                  "row or more, none in another"},
        {" page 8 page_step 8 ",
         "decode_k0: k_1x2x64x464 reads rows 0 to 192 of a sequence, and table_3x1x1x12 numbers 12 pages of 8 rows"},
        {" page 16 page_step 20 ",
         "decode_k0: load k_1x2x64x464 reads pages of 16 rows, one every 20 rows, of dimension 3, which has 464 "
         "rows"}}) {
    std::string other = text;
    other.replace(other.find(right), right.size(), wrong);
    const auto error = refused([&] { ir::compile(other, "other.ir"); });
    ASSERT_TRUE(error) << wrong;
    EXPECT_NE(std::string(error->what()).find(why), std::string::npos) << error->what();
  }
}

TEST(Pages, AnEntryThatNamesNoneIsRefused) {
  const Paged a{"decode", "sm_80", 3, 2, 4, 1, 16, 12, 29, 64};
  const graph::KernelGraph g = graph_of(a);
  std::mt19937 random(6004);
  std::vector<reference::Array> inputs = inputs_of(g, a, {5, 192, 17}, random, 0);
  inputs[3].values[13] = 29;
  const auto error = refused([&] { reference::run_reference(g, inputs); });
  ASSERT_TRUE(error);
  EXPECT_STREQ(error->what(), "gather: expected row indices from 0 to 28, found 29 at (1, 1)");
}

/// Sequences of one tensor: rows by a table of n[b, i] = begin of b + i, at most the last one.
TEST(Pages, SequencesOfOneTensorAreReadByTheirRows) {
  constexpr std::int64_t batch = 3, heads = 2, max_rows = 96, depth = 64;
  const std::vector<std::int64_t> begins{0, 40, 136, 137};  // cu_seqlens: of 40, 96 and 1 rows
  Builder b("ragged");
  const std::int64_t total = begins.back();
  const TensorHandle q = b.input("q", {total, heads, depth}), k = b.input("k", {total, heads, depth}),
                     v = b.input("v", {total, heads, depth}), rows = b.input("rows", {batch, max_rows}, DType::int32),
                     lengths = b.input("lengths", {batch, 1, 1, 1}, DType::int32),
                     back = b.input("back", {total}, DType::int32);
  const auto heads_of = [&](TensorHandle x) { return permute(gather(x, rows), {0, 2, 1, 3}); };
  const TensorHandle scores = matmul(heads_of(q), permute(gather(k, rows), {0, 2, 3, 1})) * 0.125;
  const TensorHandle y = matmul(softmax(mask(scores, lengths, {.tril = 0}), 3), heads_of(v));
  b.output(gather(reshape(permute(y, {0, 2, 1, 3}), {batch * max_rows, heads, depth}), back), "y");
  const graph::KernelGraph g = b.build();
  std::vector<reference::Array> inputs;
  for (const int t : g.inputs) inputs.push_back(integers(g.tensors[t].shape, t));
  for (std::int64_t s = 0; s < batch; ++s) {
    const std::int64_t length = begins[s + 1] - begins[s];
    inputs[4].values[s] = static_cast<double>(length);
    for (std::int64_t i = 0; i < max_rows; ++i)
      inputs[3].values[s * max_rows + i] = static_cast<double>(std::min(begins[s] + i, total - 1));
    for (std::int64_t i = 0; i < length; ++i) inputs[5].values[begins[s] + i] = static_cast<double>(s * max_rows + i);
  }
  for (const char* target : {"sm_80", "sm_90a"}) {
    const toolchain::Cache cache = toolchain::Cache::temporary();
    const emit::EmittedProgram p = compile(g, target::find(target), {.fuse = true}).program;
    EXPECT_NE(ir::print(p).find(" page 1 page_step 1 "), std::string::npos) << ir::print(p);
    EXPECT_LE(worst_of(g, inputs, ran_in_pages(g, p, inputs, cache), total), 0.02) << target;
  }
}

}  // namespace
}  // namespace zellige::run
