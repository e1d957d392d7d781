#include "run/storage.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "fuse/assemble.hpp"
#include "graph/dtype.hpp"
#include "graph/error.hpp"
#include "graph/view.hpp"
#include "reference/parallel.hpp"
#include "target/pipe.hpp"

namespace zellige::run {
namespace {

// Returns the number of elements of a row along the last dimension.
std::int64_t row_length(const manifest::TensorPlace& t) { return t.shape.empty() ? 1 : t.shape.back(); }
// Returns the stride along the last dimension, in elements.
std::int64_t row_step(const manifest::TensorPlace& t) { return t.strides.empty() ? 1 : t.strides.back(); }

/// Returns the bits of x in a binary format of 16 bits with numbers of `mantissa` stored bits; those of a number that is not
/// normal there come from graph::to_bits, which is slower.
template <graph::DType dtype>
std::uint16_t short_bits(double x) {
  constexpr graph::Format f = graph::format(dtype);
  constexpr int drop = 52 - f.mantissa;
  constexpr auto low = std::bit_cast<std::uint64_t>(f.min_normal), high = std::bit_cast<std::uint64_t>(f.greatest);
  constexpr std::uint64_t below = (low >> drop) - (std::uint64_t{1} << f.mantissa);  // the smallest exponent is 1
  const auto all = std::bit_cast<std::uint64_t>(x), magnitude = all & ~std::uint64_t{0} >> 1;
  if (magnitude - low > high - low) return static_cast<std::uint16_t>(graph::to_bits(dtype, x));
  const std::uint64_t half = (std::uint64_t{1} << (drop - 1)) - 1;
  return static_cast<std::uint16_t>(all >> 63 << 15 | (((magnitude + half + (magnitude >> drop & 1)) >> drop) - below));
}

/// The elements of a tensor's memory by their offsets in elements: in whole bytes, or several in a byte.
struct StoredElements {
  explicit StoredElements(graph::DType dtype) : dtype(dtype), bits(graph::bits(dtype)) {}
  void put(std::byte* to, std::int64_t offset, double value) const {
    const std::uint64_t x = graph::to_bits(dtype, value);
    if (bits >= 8) {
      std::memcpy(to + offset * (bits / 8), &x, static_cast<std::size_t>(bits / 8));  // little-endian
      return;
    }
    const auto shift = static_cast<int>(offset * bits % 8);
    std::byte& byte = to[offset * bits / 8];
    byte = (byte & ~(std::byte((1 << bits) - 1) << shift)) | (std::byte(x) << shift);
  }
  /// Puts a row of values, `step` elements apart, from an offset on.
  void put_row(std::byte* to, std::int64_t offset, std::int64_t step, const std::vector<double>& values) const {
    const auto all = [&](auto bits_of) {
      std::byte* at = to + offset * static_cast<std::int64_t>(sizeof(bits_of(0.0)));
      for (const double v : values) {
        const auto x = bits_of(v);
        std::memcpy(at, &x, sizeof(x));
        at += step * static_cast<std::int64_t>(sizeof(x));
      }
    };
    if (dtype == graph::DType::f16) return all([](double x) { return short_bits<graph::DType::f16>(x); });
    if (dtype == graph::DType::bf16) return all([](double x) { return short_bits<graph::DType::bf16>(x); });
    if (dtype == graph::DType::f32) return all([](double x) { return static_cast<float>(x); });
    for (const double v : values) put(to, std::exchange(offset, offset + step), v);
  }
  double get(const std::byte* from, std::int64_t offset) const {
    std::uint64_t x = 0;
    if (bits >= 8)
      std::memcpy(&x, from + offset * (bits / 8), static_cast<std::size_t>(bits / 8));
    else
      x = std::to_integer<std::uint64_t>(from[offset * bits / 8]) >> (offset * bits % 8) & ((1u << bits) - 1);
    return graph::from_bits(dtype, x);
  }
  graph::DType dtype;
  int bits;
};

// Calls visit(row, offset, buffer) for every row of a tensor along the last dimension, in several threads.
// `offset`: of the row's first element, in elements; `buffer`: space for the row's values.
template <class Visit>
void each_row(const manifest::TensorPlace& t, const Visit& visit) {
  const std::size_t rank = t.shape.size();
  const std::int64_t n = row_length(t), rows = graph::size(t.shape) / n;
  const std::int64_t chunk = std::max<std::int64_t>(1, (1 << 16) / n);
  const int threads = graph::bits(t.dtype) < 8 ? 1 : reference::hardware_threads();  // rows may share a byte
  reference::parallel_for((rows + chunk - 1) / chunk, threads, [&](std::int64_t c, int) {
    std::vector<double> values(n);
    for (std::int64_t row = c * chunk; row < std::min(rows, (c + 1) * chunk); ++row) {
      std::int64_t rest = row, offset = 0;
      for (std::size_t d = std::max<std::size_t>(rank, 1) - 1; d-- > 0;) {
        offset += rest % t.shape[d] * t.strides[d];
        rest /= t.shape[d];
      }
      visit(row, offset, values);
    }
  });
}

/// The bytes of the workspace that an intermediate tensor has, and the first and the last kernel that use it; -1: none.
struct WorkspacePart {
  std::size_t tensor;
  std::int64_t begin, end;
  int first = -1, last = -1;
};

// Throws Fault if two intermediates share bytes of the workspace while both are needed.
void check_workspace(const manifest::Manifest& m) {
  std::vector<WorkspacePart> parts;
  for (std::size_t t = 0; t < m.tensors.size(); ++t)
    if (const manifest::TensorPlace& x = m.tensors[t]; x.role == manifest::Role::intermediate)
      parts.push_back({t, x.offset, x.offset + std::max<std::int64_t>(x.bytes, 1)});
  std::vector<WorkspacePart*> of(m.tensors.size(), nullptr);
  for (WorkspacePart& part : parts) of[part.tensor] = &part;
  for (int k = 0; k < static_cast<int>(m.kernels.size()); ++k)
    for (const int t : m.kernels[k].tensors)
      if (t >= 0 && of[t]) of[t]->first = of[t]->first < 0 ? k : of[t]->first, of[t]->last = k;
  std::ranges::sort(parts, {}, &WorkspacePart::begin);
  for (auto a = parts.begin(); a != parts.end(); ++a)
    for (auto b = std::next(a); b != parts.end() && b->begin < a->end; ++b) {
      if (a->last < b->first || b->last < a->first) continue;
      const auto [first, second] = std::minmax(a->tensor, b->tensor);
      fault("manifest of {}: tensors {} and {} share bytes of the workspace (at {} and {}) and are needed at once",
            m.name, m.tensors[first].name, m.tensors[second].name, m.tensors[first].offset, m.tensors[second].offset);
    }
}

TmaElement element(graph::DType dtype) {
  constexpr std::pair<graph::DType, TmaElement> known[] = {{graph::DType::f16, TmaElement::f16},
                                                           {graph::DType::bf16, TmaElement::bf16},
                                                           {graph::DType::f32, TmaElement::f32}};
  if (graph::bits(dtype) <= 8) return TmaElement::u8;  // two numbers of 4 bits are a byte
  for (const auto& [type, element] : known)
    if (type == dtype) return element;
  fail("tensor map: TMA has no element type for {}", graph::name(dtype));
}

}  // namespace

Bytes poisoned(const manifest::TensorPlace& t) { return Bytes(static_cast<std::size_t>(t.bytes), std::byte{0xff}); }

Bytes pack(const manifest::TensorPlace& t, const std::vector<double>& values) {
  if (static_cast<std::int64_t>(values.size()) != graph::size(t.shape))
    fail("tensor {}: {} values given; its shape {} has {}", t.name, values.size(), graph::to_string(t.shape),
         graph::size(t.shape));
  const std::int64_t n = row_length(t);
  return pack(
      t, [&](std::int64_t row, double* to) { std::copy(values.data() + row * n, values.data() + (row + 1) * n, to); });
}

Bytes pack(const manifest::TensorPlace& t, const std::function<void(std::int64_t, double*)>& row_values) {
  Bytes bytes = poisoned(t);
  const StoredElements elements(t.dtype);
  each_row(t, [&](std::int64_t row, std::int64_t offset, std::vector<double>& values) {
    row_values(row, values.data());
    elements.put_row(bytes.data(), offset, row_step(t), values);
  });
  return bytes;
}

void each_element(const manifest::TensorPlace& t, const std::function<void(std::size_t, std::size_t)>& visit) {
  if (graph::bits(t.dtype) < 8) {  // no element is outside of its bytes
    visit(0, static_cast<std::size_t>(graph::bytes_of(graph::span(t.shape, t.strides), t.dtype)));
    return;
  }
  const auto width = static_cast<std::size_t>(graph::whole_bytes(t.dtype));
  std::size_t from = 0, bytes = 0;  // the contiguous elements so far
  graph::Shape at(t.shape.size(), 0);
  std::int64_t offset = 0;  // of the element at `at`
  for (std::int64_t left = graph::size(t.shape); left > 0; --left) {
    const std::size_t here = static_cast<std::size_t>(offset) * width;
    if (bytes && here != from + bytes) visit(from, std::exchange(bytes, 0));
    if (!bytes) from = here;
    bytes += width;
    for (std::size_t d = at.size(); d-- > 0;) {
      offset += t.strides[d];
      if (++at[d] < t.shape[d]) break;
      offset -= t.strides[d] * t.shape[d];
      at[d] = 0;
    }
  }
  if (bytes) visit(from, bytes);
}

std::int64_t unwritten(const manifest::TensorPlace& t, const Bytes& bytes) {
  if (graph::is_integer(t.dtype) || graph::is_weight_only(t.dtype)) return 0;  // -1 has the same bits
  const int width = graph::whole_bytes(t.dtype);
  std::atomic<std::int64_t> count{0};
  each_row(t, [&](std::int64_t, std::int64_t offset, const std::vector<double>& values) {
    std::int64_t left = 0;
    for (std::size_t i = 0; i < values.size(); ++i, offset += row_step(t)) {
      // for dtypes of fewer bytes, only the lower bits are overwritten
      std::uint64_t bits = ~std::uint64_t{0};
      std::memcpy(&bits, bytes.data() + offset * width, static_cast<std::size_t>(width));
      left += bits == ~std::uint64_t{0};
    }
    if (left) count += left;
  });
  return count;
}

std::vector<double> unpack(const manifest::TensorPlace& t, const Bytes& bytes) {
  return unpack(t, bytes, reference::whole(t.shape)).values;
}

reference::Array unpack(const manifest::TensorPlace& t, const Bytes& bytes, const reference::TensorRegion& r) {
  reference::Array array = reference::make_array(r.extent);
  const StoredElements elements(t.dtype);
  manifest::TensorPlace part = t;
  part.shape = r.extent;
  std::int64_t origin = 0;
  for (std::size_t d = 0; d < t.shape.size(); ++d) origin += r.origin[d] * t.strides[d];
  each_row(part, [&](std::int64_t row, std::int64_t offset, std::vector<double>& values) {
    double* to = array.values.data() + row * static_cast<std::int64_t>(values.size());
    offset += origin;
    for (std::size_t i = 0; i < values.size(); ++i) {
      to[i] = elements.get(bytes.data(), offset);
      offset += row_step(t);
    }
  });
  return array;
}

int graph_tensor(const graph::KernelGraph& g, const manifest::TensorPlace& t) {
  if (t.role == manifest::Role::input) return g.inputs.at(t.position);
  if (t.role == manifest::Role::output) return g.outputs.at(t.position);
  const auto named = [&](std::string_view name) {
    for (std::size_t i = 0; i < g.tensors.size(); ++i)
      if (g.tensors[i].name == name && graph::size(g.tensors[i].shape) == graph::size(t.shape))
        return static_cast<int>(i);
    return -1;
  };
  const std::string_view declared = fuse::declared_name(t.name);
  const int same = named(t.name);
  return same >= 0 || declared.empty() ? same : named(declared);
}

std::optional<manifest::TensorPlace> seen_as(manifest::TensorPlace t, const graph::Shape& shape) {
  const auto seen = graph::viewed(graph::OpKind::reshape, {.sizes = shape}, t.shape, t.strides, shape);
  if (!seen) return std::nullopt;
  t.shape = shape, t.strides = seen->steps;
  return t;
}

std::vector<Bytes> starting_storage(const graph::KernelGraph& g, const manifest::Manifest& m,
                                    const reference::InputChoice& choice) {
  std::vector<Bytes> storage;
  for (const manifest::TensorPlace& t : m.tensors) {
    if (t.role != manifest::Role::input) {
      storage.push_back(poisoned(t));
      continue;
    }
    const graph::KernelTensor& input = g.tensors[graph_tensor(g, t)];
    if (input.shape != t.shape || input.dtype != t.dtype)
      fault("manifest of {}: input {} is {} {}; the graph's is {} {}", m.name, t.name, graph::name(t.dtype),
            graph::to_string(t.shape), graph::name(input.dtype), graph::to_string(input.shape));
    storage.push_back(pack(t, [&](std::int64_t row, double* to) {
      reference::input_row(g, choice, t.position, row, 0, t.shape.back(), to);
    }));
  }
  return storage;
}

void check(const manifest::Manifest& m) {
  for (const manifest::TensorPlace& t : m.tensors) {
    if (t.strides.size() != t.shape.size())
      fault("manifest of {}: tensor {} has {} strides for its shape {}", m.name, t.name, t.strides.size(),
            graph::to_string(t.shape));
    const std::int64_t needed =
        graph::size(t.shape) == 0 ? 0 : graph::bytes_of(graph::span(t.shape, t.strides), t.dtype);
    if (t.bytes < needed)
      fault("manifest of {}: tensor {} has {} bytes; its shape and strides need {}", m.name, t.name, t.bytes, needed);
    if (t.role == manifest::Role::intermediate &&
        (t.offset < 0 || t.offset % 256 || t.offset + t.bytes > m.buffer_size))
      fault("manifest of {}: tensor {} lies at {} and has {} bytes, in a workspace of {}", m.name, t.name, t.offset,
            t.bytes, m.buffer_size);
  }
  const int count = static_cast<int>(m.tensors.size());
  for (const manifest::KernelLaunch& k : m.kernels) {
    for (std::size_t i = 0; i < k.tensors.size(); ++i) {
      const int t = k.tensors[i];
      if (t >= count || (t < 0 && !k.constants.contains(static_cast<int>(i))))
        fault("manifest of {}: kernel {} names tensor {} of {}", m.name, k.name, t, count);
    }
    if (k.writes.size() != k.tensors.size())
      fault("manifest of {}: kernel {} takes {} tensors and says of {} whether it writes them", m.name, k.name,
            k.tensors.size(), k.writes.size());
  }
  check_workspace(m);
  for (const manifest::Manifest& v : m.variants) check(v);
}

TmaTensor tma_tensor(const kernel::TensorMap& map, const std::string& name) {
  TmaTensor t;
  t.name = name.c_str();
  t.element = element(map.dtype);
  t.rank = static_cast<int>(map.extent.size());
  for (std::size_t d = 0; d < map.extent.size(); ++d)
    t.extent[d] = map.extent[d], t.stride[d] = map.stride[d], t.box[d] = map.box[d];
  t.swizzle = target::swizzle_of(map.swizzle_bytes);
  return t;
}

}  // namespace zellige::run
