// Describes a program: its head, its tilings, its tensors in device memory, and its kernels.
#include <optional>
#include <utility>

#include "ir/sections.hpp"

namespace zellige::ir {
namespace {

template <class Io>
void tiling(Io& io, retile::OpTiling& t) {
  io.word("operator"), io.value(t.op);
  if (io.when("tile", t.product.has_value())) {
    retile::MatmulTile p = t.product.value_or(retile::MatmulTile{});
    graph::Dim3 tile{p.m, p.n, p.k};
    io.value(tile);
    io.word("threads"), io.value(p.threads);
    io.flag("turned", p.swap_ab);
    p.m = tile.x, p.n = tile.y, p.k = tile.z;
    t.product = p;
  } else {
    io.word("grid"), io.value(t.grid);
    io.word("block"), io.value(t.block);
    io.word("loop"), io.value(t.loop);
  }
}

template <class Io>
void size(Io& io, tile::Size& s) {
  io.name(s.name);
  io.word("from"), io.value(s.low);
  io.word("to"), io.value(s.high), io.require(s.high < std::int64_t{1} << 31, "a size is below 2^31");
  io.fact("multiple", s.multiple, std::int64_t{1});
  io.require(s.multiple >= 1 && s.low >= 0 && s.low <= s.high && s.low % s.multiple == 0 && s.high % s.multiple == 0,
             "a size has multiples of a number from 1 on, the first not above the last");
}

/// A shape of constants and sizes, each of which knows its dimensions.
template <class Io>
void shape(Io& io, tile::TilePrograms& p, int tensor) {
  graph::Shape& shape = p.tensors[tensor].shape;
  std::vector<tile::SymbolicNumber> extents;
  for (std::size_t d = 0; d < shape.size(); ++d) extents.push_back(p.extent(tensor, static_cast<int>(d)));
  io.value(extents);
  constexpr std::size_t max_dimensions = 16;
  constexpr std::int64_t max_elements = std::int64_t{1} << 40;
  io.require(extents.size() <= max_dimensions,
             fmt::format("a tensor has {} dimensions; it may have {}", extents.size(), max_dimensions));
  if constexpr (Io::reads)
    for (std::int64_t left = max_elements; const tile::SymbolicNumber& n : extents) {
      io.require(n.high() <= left, fmt::format("a tensor has {} elements at most", max_elements));
      if (n.high() > 0) left /= n.high();
      io.require(n.is_constant() || n.low() >= 1, "an extent is 1 or more for all sizes");
      if (!n.is_constant()) p.sizes[size_of(p.sizes, n)].of.emplace_back(tensor, static_cast<int>(shape.size()));
      shape.push_back(n.high());
    }
}

/// Strides, constants or numbers.
template <class Io>
void strides(Io& io, tile::TilePrograms& p, int tensor) {
  graph::Strides& strides = p.tensors[tensor].strides;
  std::vector<tile::SymbolicNumber> numbers;
  for (std::size_t d = 0; d < strides.size(); ++d) numbers.push_back(p.stride(tensor, static_cast<int>(d)));
  io.value(numbers);
  if constexpr (Io::reads) {
    for (const tile::SymbolicNumber& n : numbers) strides.push_back(n.high());
    if (!std::ranges::all_of(numbers, &tile::SymbolicNumber::is_constant)) p.strides[tensor] = std::move(numbers);
  }
}

template <class Io>
void tensor(Io& io, tile::TilePrograms& p, int i, const Ids& gmem, graph::ExtentNames& extents) {
  graph::KernelTensor& t = p.tensors[i];
  io.value(t.dtype), shape(io, p, i);
  io.must(":"), strides(io, p, i);
  if (io.when("memory", t.memory >= 0)) io.named(gmem, t.memory);
  io.flag("constant", t.constant);
  const auto known = extents.find(t.name);
  const bool fits = known != extents.end() && known->second.size() == t.shape.size();
  if (!io.when("extents", fits)) return;
  std::vector<std::string> names = fits ? known->second : std::vector<std::string>();
  io.value(names), io.require(names.size() == t.shape.size(), "each dimension has one name");
  if constexpr (Io::reads) extents[t.name] = std::move(names);
}

template <class Io>
void windows(Io& io, std::optional<tile::Windows>& of) {
  if (!io.when("windows", of.has_value())) return;
  tile::Windows w = of.value_or(tile::Windows());
  const auto list = [&](std::string_view word, std::vector<std::int64_t>& all) { io.word(word), io.value(all); };
  io.word("of"), io.value(w.extents);
  list("strides", w.strides), list("starts", w.starts), list("origin", w.origin);
  std::vector<std::int64_t> counts, numbers;  // of digits by dimension; extent, dimension and step of each
  for (const auto& dim : w.digits) {
    counts.push_back(static_cast<std::int64_t>(dim.size()));
    for (const tile::WindowDigit& d : dim) numbers.insert(numbers.end(), {d.extent, std::int64_t{d.dim}, d.step});
  }
  list("digits", counts), list("each", numbers);
  if constexpr (Io::reads) {
    std::int64_t total = 0;
    for (const std::int64_t n : counts) io.require(n >= 0 && n <= 64, "a dimension has 0 to 64 digits"), total += n;
    io.require(std::cmp_equal(numbers.size(), 3 * total), "each digit has an extent, a dimension and a step");
    w.digits.clear();
    std::size_t at = 0;
    for (const std::int64_t n : counts) {
      w.digits.emplace_back();
      for (std::int64_t i = 0; i < n; ++i, at += 3)
        w.digits.back().push_back({numbers[at], static_cast<int>(numbers[at + 1]), numbers[at + 2]});
    }
    of = std::move(w);
  }
}

template <class Io>
void view(Io& io, std::pair<int, tile::TensorView>& view, const Ids& gmem) {
  tile::TensorView& v = view.second;
  io.named(gmem, view.first);
  io.word("of"), io.named(gmem, v.base);
  io.word("shape"), io.value(v.shape);
  std::vector<tile::SymbolicNumber> starts(v.starts.begin(), v.starts.end());
  for (const auto& [dim, size] : v.start_sizes) starts[dim] = tile::SymbolicNumber::of(io.sizes(), size);
  io.word("starts"), io.value(starts);
  if constexpr (Io::reads) {
    v.starts.clear();
    for (int d = 0; d < static_cast<int>(starts.size()); ++d) {
      v.starts.push_back(starts[d].high());
      if (!starts[d].is_constant()) v.start_sizes[d] = size_of(io.sizes(), starts[d]);
    }
  }
  if (io.when("value", v.value >= 0)) io.named(gmem, v.value);
  if (io.when("number", v.number >= 0)) io.named(gmem, v.number);
  windows(io, v.windows);
}

}  // namespace

template <class Io>
void program(Io& io, File& file) {
  tile::TilePrograms& p = file.plan.program;
  io.one("program", [&] {
    io.name(p.name), io.value(file.graph);
    io.word("for"), io.set_target(file.plan.target);
    io.flag("decomposed", file.decomposed);
  });
  io.each("range", file.range, [&](tile::Size& s) { size(io, s); });
  io.each("tiling", file.tiling, [&](retile::OpTiling& t) { tiling(io, t); });
  tile::SizeList given;  // what is computed of them follows
  std::ranges::copy_if(p.sizes, std::back_inserter(given), [](const tile::Size& s) { return !s.computed; });
  io.each("size", given, [&](tile::Size& s) { size(io, s); });
  if constexpr (Io::reads) p.sizes = std::move(given);
  io.set_sizes(p.sizes);
  const Ids gmem = io.ids("gmem", names_of(p.tensors), 'g');
  int i = 0;
  io.each("gmem", p.tensors, [&](graph::KernelTensor& t) {
    file.tensors.push_back(io.here());
    io.declare(gmem, static_cast<std::size_t>(i), t.name), tensor(io, p, i, gmem, file.extents);
    ++i;
  });
  io.set_extents(p.tensors, file.extents);
  std::vector<std::pair<int, tile::TensorView>> views(p.views.begin(), p.views.end());
  io.each("view", views, [&](auto& v) { view(io, v, gmem); });
  p.views.clear(), p.views.insert(views.begin(), views.end());
  const auto arguments = [&](std::string_view word, std::vector<int>& all) {
    io.each(word, all, [&](int& t) { io.named(gmem, t); });
  };
  arguments("input", p.inputs), arguments("output", p.outputs);
  io.each("note", p.notes, [&](std::string& note) { io.value(note); });
  std::size_t k = 0;
  file.positions.resize(std::max(file.positions.size(), file.plan.kernels.size()));
  io.each("kernel", file.plan.kernels, [&](kernel::Kernel& of) {
    file.positions.resize(std::max(file.positions.size(), ++k));
    kernel(io, of, file.positions[k - 1], gmem);
  });
}
template void program(Writer&, File&);
template void program(Reader&, File&);

}  // namespace zellige::ir
