#include "interpret/memory.hpp"

#include <algorithm>

namespace zellige::plan {
namespace {

constexpr int nodes_of_a_kernel = 1 << 16;  // a Writer as one number

int number(const Writer& w) { return 1 + w.kernel * nodes_of_a_kernel + w.node; }
Writer writer_of(int number) {
  return number == 0 ? Writer{} : Writer{(number - 1) / nodes_of_a_kernel, (number - 1) % nodes_of_a_kernel};
}

}  // namespace

std::int64_t elements_to_end(const graph::KernelTensor& t) {
  std::int64_t last = 0;
  for (std::size_t d = 0; d < t.shape.size(); ++d) last += (t.shape[d] - 1) * t.strides[d];
  return last + 1;
}

int Memory::owner(int tensor) const {
  const int base = program_.memory_of(tensor), shared = program_.tensors[base].memory;
  return shared >= 0 ? program_.memory_of(shared) : base;
}

Memory::Memory(const Program& p, const std::vector<graph::Array>& inputs) : program_(p), memories_(p.tensors.size()) {
  std::vector<std::int64_t> spans(p.tensors.size(), 0);
  for (int t = 0; t < static_cast<int>(p.tensors.size()); ++t)
    if (!p.tensors[t].strides.empty()) spans[owner(t)] = std::max(spans[owner(t)], elements_to_end(p.tensors[t]));
  for (std::size_t t = 0; t < spans.size(); ++t)
    memories_[t] = {std::vector<double>(spans[t], std::numeric_limits<double>::quiet_NaN()),
                    std::vector<int>(spans[t], 0)};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const int t = p.inputs[i];
    const std::int64_t count = graph::size(p.shape(t));
    for (std::int64_t e = 0; e < count; ++e)
      memories_[owner(t)].values[offset(t, graph::coordinates(e, p.shape(t)))] = inputs[i].values[e];
  }
}

std::int64_t Memory::offset(int tensor, const Shape& at) const {
  const Shape starts = program_.starts(tensor);
  const Strides& strides = program_.tensors[tensor].strides;
  std::int64_t all = 0;
  for (std::size_t d = 0; d < at.size(); ++d) all += (starts[d] + at[d]) * strides[d];
  return all;
}

void Memory::check(int tensor, const Places& places) const {
  std::int64_t first = 0, last = 0;
  for (const std::vector<std::int64_t>& of : places.of) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max(), most = Places::outside;
    for (const std::int64_t at : of)
      if (at != Places::outside) least = std::min(least, at), most = std::max(most, at);
    if (most == Places::outside) return;  // nothing of the tile exists
    first += least, last += most;
  }
  const auto count = static_cast<std::int64_t>(memories_[owner(tensor)].values.size());
  if (first < 0 || last >= count)
    fail("tensor {} has {} elements, and a tile of it reaches from element {} to {}", program_.tensors[tensor].name,
         count, first, last);
}

void Memory::load(int tensor, const Places& places, double* to) const {
  check(tensor, places);
  const double* from = memories_[owner(tensor)].values.data();
  const std::vector<std::int64_t>& along = places.of.back();
  std::int64_t rows = 1, start = 0;
  for (std::size_t d = 0; d + 1 < places.of.size(); ++d) rows *= static_cast<std::int64_t>(places.of[d].size());
  for (std::int64_t row = 0; row < rows; ++row, to += along.size()) {
    const bool exists = places.row(row, start);
    for (std::size_t i = 0; i < along.size(); ++i)
      to[i] = exists && along[i] != Places::outside ? from[start + along[i]] : 0;
  }
}

void Memory::store(int tensor, const Places& places, const double* from, Writer by) {
  check(tensor, places);
  Elements& to = memories_[owner(tensor)];
  const std::vector<std::int64_t>& along = places.of.back();
  std::int64_t rows = 1, start = 0;
  for (std::size_t d = 0; d + 1 < places.of.size(); ++d) rows *= static_cast<std::int64_t>(places.of[d].size());
  for (std::int64_t row = 0; row < rows; ++row, from += along.size()) {
    if (!places.row(row, start)) continue;
    for (std::size_t i = 0; i < along.size(); ++i)
      if (along[i] != Places::outside) to.values[start + along[i]] = from[i], to.writers[start + along[i]] = number(by);
  }
}

graph::Array Memory::values(int tensor) const {
  graph::Array all = graph::make_array(program_.shape(tensor));
  const Elements& from = memories_[owner(tensor)];
  for (std::size_t e = 0; e < all.values.size(); ++e)
    all.values[e] = from.values[offset(tensor, graph::coordinates(static_cast<std::int64_t>(e), all.shape))];
  return all;
}

Writer Memory::writer(int tensor, const Shape& at) const {
  return writer_of(memories_[owner(tensor)].writers[offset(tensor, at)]);
}

}  // namespace zellige::plan
