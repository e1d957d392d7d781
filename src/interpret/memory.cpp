#include "interpret/memory.hpp"

#include <algorithm>

#include "graph/dtype.hpp"

namespace zellige::interpret {
int Memory::owner(int tensor) const {
  const int base = program_.memory_of(tensor), shared = program_.tensors[base].memory;
  return shared >= 0 ? program_.memory_of(shared) : base;
}

Memory::Memory(const tile::TilePrograms& p, const std::vector<reference::Array>& inputs)
    : program_(p), memories_(p.tensors.size()) {
  std::vector<std::int64_t> spans(p.tensors.size(), 0);
  for (int t = 0; t < static_cast<int>(p.tensors.size()); ++t)
    if (!p.tensors[t].strides.empty() && !p.windows(t))
      spans[owner(t)] = std::max(spans[owner(t)], graph::span(p.tensors[t].shape, p.tensors[t].strides));
  for (std::size_t t = 0; t < spans.size(); ++t)
    memories_[t] = {std::vector<double>(spans[t], std::numeric_limits<double>::quiet_NaN()),
                    std::vector<LastStore>(spans[t])};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const int t = p.inputs[i];
    const std::int64_t count = graph::size(p.shape(t));
    for (std::int64_t e = 0; e < count; ++e)
      memories_[owner(t)].values[offset(t, graph::coordinates(e, p.shape(t)))] = inputs[i].values[e];
  }
}

std::int64_t Memory::offset(int tensor, const graph::Shape& at) const {
  const graph::Shape starts = program_.starts(tensor);
  const graph::Strides& strides = program_.tensors[tensor].strides;
  std::int64_t all = 0;
  for (std::size_t d = 0; d < at.size(); ++d) all += (starts[d] + at[d]) * strides[d];
  return all;
}

void Memory::check(int tensor, const Places& places) const {
  std::int64_t first = 0, last = 0;
  for (const std::vector<std::int64_t>& of : places.of) {
    std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = Places::outside;
    for (const std::int64_t at : of)
      if (at != Places::outside) low = std::min(low, at), high = std::max(high, at);
    if (high == Places::outside) return;  // nothing of the tile exists
    first += low, last += high;
  }
  const auto count = static_cast<std::int64_t>(memories_[owner(tensor)].values.size());
  if (first < 0 || last >= count)
    fail("tensor {} has {} elements, and a tile of it reaches from element {} to {}", program_.tensors[tensor].name,
         count, first, last);
}

void Memory::load(int tensor, const Places& places, double* to) const {
  const graph::DType stored = program_.tensors[owner(tensor)].dtype;
  if (graph::is_weight_only(stored) && stored != program_.tensors[tensor].dtype) return load_bytes(tensor, places, to);
  check(tensor, places);
  const double* from = memories_[owner(tensor)].values.data();
  std::fill_n(to, places.size(), 0.0);
  places.each([&](std::int64_t element, std::int64_t at) { to[element] = from[at]; });
}

void Memory::load_windows(const tile::Windows& windows, int tensor, const Places& places, double* to) const {
  const std::vector<double>& from = memories_[owner(tensor)].values;
  graph::Shape shape, at;
  for (const auto& of : places.of) shape.push_back(static_cast<std::int64_t>(of.size()));
  for (std::int64_t element = 0; element < graph::size(shape); ++element) {
    at = graph::coordinates(element, shape);
    bool exists = true;
    for (std::size_t d = 0; d < at.size(); ++d) {
      at[d] = places.of[d][static_cast<std::size_t>(at[d])];
      exists = exists && at[d] != Places::outside;
    }
    const std::optional<std::int64_t> place = exists ? windows.place(at) : std::nullopt;
    if (place && (*place < 0 || *place >= static_cast<std::int64_t>(from.size())))
      fail("tensor {} has {} elements, and windows of it show element {}", program_.tensors[tensor].name, from.size(),
           *place);
    to[element] = place ? from[static_cast<std::size_t>(*place)] : 0;
  }
}

void Memory::load_bytes(int tensor, const Places& places, double* to) const {
  const graph::DType stored = program_.tensors[owner(tensor)].dtype;
  const std::vector<double>& from = memories_[owner(tensor)].values;
  const int width = graph::bits(stored), per = 8 / width;
  std::fill_n(to, places.size(), 0.0);
  places.each([&](std::int64_t element, std::int64_t at) {
    std::uint32_t byte = 0;
    for (int j = 0; j < per; ++j) {
      const auto e = static_cast<std::size_t>(at * per + j);
      if (e >= from.size()) fail("tensor {} ends before byte {}", program_.tensors[tensor].name, at);
      byte |= graph::to_bits(stored, from[e]) << (j * width);
    }
    to[element] = graph::from_bits(graph::DType::int8, byte);
  });
}

void Memory::store(int tensor, const Places& places, const double* from, LastStore by) {
  check(tensor, places);
  Elements& to = memories_[owner(tensor)];
  places.each([&](std::int64_t element, std::int64_t at) { to.values[at] = from[element], to.writers[at] = by; });
}

reference::Array Memory::values(int tensor) const {
  reference::Array all = reference::make_array(program_.shape(tensor));
  const Elements& from = memories_[owner(tensor)];
  for (std::size_t e = 0; e < all.values.size(); ++e)
    all.values[e] = from.values[offset(tensor, graph::coordinates(static_cast<std::int64_t>(e), all.shape))];
  return all;
}

LastStore Memory::writer(int tensor, const graph::Shape& at) const {
  return memories_[owner(tensor)].writers[offset(tensor, at)];
}

}  // namespace zellige::interpret
