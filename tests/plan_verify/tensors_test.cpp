// The proof that kernels write each element of device memory once, and read what is written, against a list of all elements:
// random programs whose kernels store parts of an output, by itself or by views of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "../all_cases.hpp"
#include "graph/error.hpp"
#include "random/rng.hpp"
#include "verify/boxes.hpp"
#include "verify/proofs.hpp"

namespace zellige::plan {
namespace {

using random_graphs::Rng;

constexpr int input = 0, output = 1, line = 4;

/// Returns a program of an input and an output, with views of the output: some of its rows and columns, its transpose, and all
/// elements in a line.
tile::TilePrograms tensors(Rng& rng) {
  tile::TilePrograms p;
  p.name = "p", p.inputs = {input}, p.outputs = {output};
  const graph::Shape shape{rng.between(1, 6), rng.between(1, 6)};
  const graph::Strides strides{shape[1], 1};
  p.tensors = {{.shape = shape, .strides = strides, .name = "X"}, {.shape = shape, .strides = strides, .name = "Y"}};
  const auto view = [&](graph::Shape ends, graph::Strides by, graph::Shape starts) {
    graph::Shape seen = ends;
    for (std::size_t d = 0; d < seen.size(); ++d) seen[d] -= starts[d];
    p.views[static_cast<int>(p.tensors.size())] = {.base = output, .shape = seen, .starts = starts, .value = output};
    p.tensors.push_back({.shape = std::move(ends), .strides = std::move(by), .name = "V"});
  };
  const graph::Shape starts{rng.below(shape[0]), rng.below(shape[1])};
  view({rng.between(starts[0] + 1, shape[0]), rng.between(starts[1] + 1, shape[1])}, strides, starts);
  view({shape[1], shape[0]}, {1, shape[1]}, {0, 0});
  if (rng.chance(30)) view({shape[0] * shape[1]}, {1}, {0});
  return p;
}

tile::Node access(tile::NodeKind kind, int tensor, const verify::CoordinateBox& box, const char* name) {
  tile::Node n{.kind = kind, .tensor = tensor, .name = name};
  for (std::size_t d = 0; d < box.low.size(); ++d) {
    const std::int64_t extent = box.high[d] - box.low[d];
    n.view.cuts.push_back({.tile = extent, .extent = extent, .offset = box.low[d]});
    n.shape.push_back(extent);
  }
  return n;
}

/// Returns the addresses of the elements that a load or store accesses.
std::set<std::int64_t> addresses(const tile::TilePrograms& p, const tile::Node& n) {
  std::vector<std::int64_t> all{0};
  for (int d = 0; d < n.view.rank(); ++d) {
    std::vector<std::int64_t> next;
    for (std::int64_t at = n.view.origin(d); at < n.view.end(d); ++at)
      for (const std::int64_t a : all) next.push_back(a + at * p.tensors[n.tensor].strides[d]);
    all = std::move(next);
  }
  return {all.begin(), all.end()};
}

/// Returns a tensor with these elements of tensor `of`, and them there: the output or a view of it; `of` if they are no box there.
std::pair<int, verify::CoordinateBox> seen(Rng& rng, const tile::TilePrograms& p, const verify::CoordinateBox& box,
                                           int of = output) {
  const auto tensor = static_cast<int>(rng.between(output, static_cast<std::int64_t>(p.tensors.size()) - 1));
  const auto there = verify::in_base(box, p.tensors[of], p.tensors[tensor]);
  bool inside = there.has_value() && (tensor < line || rng.chance(30));
  for (std::size_t d = 0; inside && d < there->low.size(); ++d) inside = there->low[d] >= p.starts(tensor)[d];
  return inside ? std::pair(tensor, *there) : std::pair(of, box);
}

verify::CoordinateBox part(Rng& rng, verify::CoordinateBox of) {
  for (std::size_t d = 0; d < of.low.size(); ++d) {
    of.low[d] = rng.between(of.low[d], of.high[d] - 1);
    of.high[d] = rng.between(of.low[d] + 1, of.high[d]);
  }
  return of;
}

/// Returns a program whose kernels store all of the output in parts; then some change a part of it.
tile::TilePrograms drawn_programs(Rng& rng) {
  tile::TilePrograms p = tensors(rng);
  const int in = p.tensors.size() > line && rng.chance(50) ? line : output;  // whose parts
  std::vector<verify::CoordinateBox> parts{verify::whole(p.tensors[in].shape)};
  for (std::int64_t cuts = rng.below(5); cuts > 0; --cuts) {
    verify::CoordinateBox& of = parts[static_cast<std::size_t>(rng.below(std::ssize(parts)))];
    const auto d = static_cast<std::size_t>(rng.below(std::ssize(of.low)));
    if (of.high[d] - of.low[d] < 2) continue;
    verify::CoordinateBox rest = of;
    of.high[d] = rest.low[d] = rng.between(of.low[d] + 1, of.high[d] - 1);
    parts.push_back(rest);
  }
  const auto kernel = [&](const std::vector<verify::CoordinateBox>& boxes, int of, bool reads) {
    tile::TileProgram& k = p.kernels.emplace_back();
    k.name = fmt::format("k{}", p.kernels.size() - 1);
    const auto [from, box] = seen(rng, p, part(rng, verify::whole(p.tensors[output].shape)));
    k.add(access(tile::NodeKind::load, reads ? from : input, box, "L"));
    for (const verify::CoordinateBox& b : boxes) {
      const auto [tensor, there] = seen(rng, p, b, of);
      tile::Node store = access(tile::NodeKind::store, tensor, there, "S");
      store.in = {0};
      k.add(std::move(store));
    }
  };
  rng.shuffle(parts);
  while (!parts.empty()) {
    const auto n = static_cast<std::ptrdiff_t>(rng.between(1, std::min<std::int64_t>(2, std::ssize(parts))));
    kernel({parts.end() - n, parts.end()}, in, rng.chance(10));
    parts.erase(parts.end() - n, parts.end());
  }
  while (rng.chance(40)) kernel({part(rng, verify::whole(p.tensors[in].shape))}, in, rng.chance(60));
  return p;
}

/// Changes one store.
void change(Rng& rng, tile::TilePrograms& p) {
  tile::TileProgram& k = p.kernels[static_cast<std::size_t>(rng.below(std::ssize(p.kernels)))];
  tile::Node& n = k.nodes[1];
  tile::Cut& c = n.view.cuts[static_cast<std::size_t>(rng.below(n.view.rank()))];
  switch (rng.below(4)) {
    case 0:
      k.nodes.erase(k.nodes.begin() + 1);
      return;
    case 1:
      k.nodes.push_back(k.nodes[1]);
      return;
    case 2:
      if (c.extent > 1) --c.extent;
      return;
    default:
      if (c.offset > 0) --c.offset;
  }
}

/// Returns what is wrong with the program, element by element; "" if nothing is.
std::string fault(const tile::TilePrograms& p) {
  std::set<std::int64_t> written;
  const std::size_t all = static_cast<std::size_t>(graph::size(p.tensors[output].shape));
  for (const tile::TileProgram& k : p.kernels) {
    const bool changes = written.size() == all;
    std::set<std::int64_t> read, stored;
    const tile::Node& load = k.nodes[0];
    if (load.tensor != input && k.nodes.size() > 1) read = addresses(p, load);
    if (!std::ranges::includes(written, read)) return k.name + " reads what is not written";
    for (const tile::Node& n : k.nodes) {
      if (n.kind != tile::NodeKind::store) continue;
      for (const std::int64_t a : addresses(p, n)) {
        if (read.contains(a)) return k.name + " reads what it writes";
        if (!stored.insert(a).second || (!changes && written.contains(a))) return k.name + " writes an element again";
      }
    }
    written.merge(stored);
  }
  return written.size() == all ? "" : "a part is not written";
}

std::string verdict(const tile::TilePrograms& p) {
  try {
    verify::verify_tensors(p);
  } catch (const Rejected& e) {
    return e.what();
  }
  return "";
}

TEST(Tensors, AreAcceptedIfEachElementIsWrittenOnceAndBeforeItIsRead) {
  Rng rng(1);
  int right = 0, wrong = 0, undecided = 0;
  for (int i = 0, n = test::all_cases() ? 100'000 : 8'000; i < n && !HasFailure(); ++i) {
    tile::TilePrograms p = drawn_programs(rng);
    if (rng.chance(50)) change(rng, p);
    const std::string why = fault(p), message = verdict(p);
    if (why != "") EXPECT_NE(message, "") << "draw " << i << ": " << why;
    // Ranges of the line that begin and end within rows are not compared with boxes of rows.
    bool ranges = false;
    for (const tile::TileProgram& k : p.kernels)
      for (const tile::Node& of : k.nodes) ranges = ranges || of.tensor == line;
    if (why == "" && !ranges) EXPECT_EQ(message, "") << "draw " << i;
    (why == "" ? right : wrong) += 1, undecided += why == "" && message != "" ? 1 : 0;
  }
  EXPECT_GT(right, 2000);
  EXPECT_GT(wrong, 2000);
  EXPECT_LT(undecided, right / 20);
}

}  // namespace
}  // namespace zellige::plan
