#include "manifest/launch_sizes.hpp"

#include <algorithm>
#include <cstring>

#include "graph/error.hpp"
#include "manifest/variants.hpp"
#include "tile/found_sizes.hpp"

namespace zellige::manifest {
namespace {

/// Returns a number of the manifest that is no scalar.
std::int64_t& number(Manifest& m, const SizedField& f) {
  const auto tensor = [&]() -> TensorPlace& { return m.tensors[static_cast<std::size_t>(f.of)]; };
  const auto map = [&]() -> kernel::TensorMap& {
    return m.kernels[static_cast<std::size_t>(f.of)].maps.at(f.argument);
  };
  const auto at = static_cast<std::size_t>(f.at);
  switch (f.kind) {
    case SizedField::buffer_size:
      return m.buffer_size;
    case SizedField::extent:
      return tensor().shape[at];
    case SizedField::stride:
      return tensor().strides[at];
    case SizedField::bytes:
      return tensor().bytes;
    case SizedField::offset:
      return tensor().offset;
    case SizedField::map_extent:
      return map().extent[at];
    case SizedField::map_stride:
      return map().stride[at];
    default: {
      graph::Dim3& grid = m.kernels[static_cast<std::size_t>(f.of)].grid;
      return f.at == 0 ? grid.x : f.at == 1 ? grid.y : grid.z;
    }
  }
}

}  // namespace

std::vector<std::int64_t> largest(const tile::SizeList& sizes) {
  std::vector<std::int64_t> all;
  for (const tile::Size& s : sizes) all.push_back(s.high);
  return all;
}

void check_sizes(const Manifest& m, std::span<const std::int64_t> values) {
  if (values.size() != m.sizes.size())
    fail("program {}: expected {} size{}, found {}", m.name, m.sizes.size(), m.sizes.size() == 1 ? "" : "s",
         values.size());
  for (std::size_t i = 0; i < values.size(); ++i) tile::check_value({"program", m.name, m.sizes}, i, values[i]);
  for (const SizeRelation& r : m.relations)
    if (const std::int64_t left = r.left.at(values), right = r.right.at(values); left != right)
      fail("program {}: expected {} = {}, found {} and {}", m.name, r.left.text(m.sizes), r.right.text(m.sizes), left,
           right);
}

void set_sizes(Manifest& launch, const Manifest& of, std::span<const std::int64_t> values) {
  check_sizes(of, values);
  if (const Manifest& variant = variant_at(of, values); &variant != &of)
    return set_sizes(launch, variant, values_in(of, variant, values));
  for (const auto& [field, expression] : of.sized) {
    std::int64_t value = expression.at(values);
    if (field.kind == SizedField::bytes) value = std::max<std::int64_t>(value, 0);  // a tensor without elements
    if (value < 0) fail("program {}: {} is {} at these sizes", of.name, expression.text(of.sizes), value);
    if (field.kind != SizedField::scalar) {
      number(launch, field) = value;
    } else {
      std::string& bytes = launch.kernels[static_cast<std::size_t>(field.of)].constants.at(field.argument);
      std::memcpy(bytes.data(), &value, bytes.size());  // little-endian
    }
  }
}

Manifest at_sizes(const Manifest& m, std::span<const std::int64_t> values) {
  check_sizes(m, values);
  const Manifest& of = variant_at(m, values);
  Manifest launch{.name = m.name,
                  .target = of.target,
                  .tensors = of.tensors,
                  .kernels = of.kernels,
                  .buffer_size = of.buffer_size,
                  .tiling = of.tiling,
                  .decomposed = of.decomposed,
                  .artefacts = m.artefacts,
                  .zellige = m.zellige,
                  .nvrtc = m.nvrtc};
  set_sizes(launch, m, values);
  return launch;
}

std::string bytes_of(std::int64_t value, std::size_t bytes) {
  std::string text(bytes, '\0');
  std::memcpy(text.data(), &value, bytes);
  return text;
}

}  // namespace zellige::manifest
