#include "run/storage.hpp"

#include <algorithm>
#include <cstring>

#include "graph/dtype.hpp"

namespace zellige::run {
namespace {

// Calls visit(row-major index, element offset) for every element.
template <class Visit>
void each(const emit::TensorPlace& t, Visit visit) {
  const std::int64_t count = graph::size(t.shape);
  graph::Shape at(t.shape.size(), 0);
  std::int64_t offset = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    visit(i, offset);
    for (std::size_t d = at.size(); d-- > 0;) {
      offset += t.strides[d];
      if (++at[d] < t.shape[d]) break;
      offset -= t.strides[d] * t.shape[d];
      at[d] = 0;
    }
  }
}

struct Lifetime {
  int first = -1, last = -1;  // kernels
};

Lifetime lifetime(const emit::Manifest& m, int tensor) {
  Lifetime life;
  for (int k = 0; k < static_cast<int>(m.kernels.size()); ++k) {
    const std::vector<int>& used = m.kernels[k].tensors;
    if (std::find(used.begin(), used.end(), tensor) == used.end()) continue;
    if (life.first < 0) life.first = k;
    life.last = k;
  }
  return life;
}

}  // namespace

Bytes poisoned(const emit::TensorPlace& t) {
  return Bytes(static_cast<std::size_t>(t.bytes), std::byte{0xff});
}

Bytes pack(const emit::TensorPlace& t, const std::vector<double>& values) {
  if (static_cast<std::int64_t>(values.size()) != graph::size(t.shape)) {
    fail("tensor {}: {} values given; its shape {} has {}", t.name, values.size(), graph::to_string(t.shape),
         graph::size(t.shape));
  }
  Bytes bytes = poisoned(t);
  const int width = graph::bytes(t.dtype);
  each(t, [&](std::int64_t i, std::int64_t offset) {
    const std::uint32_t bits = graph::to_bits(t.dtype, values[static_cast<std::size_t>(i)]);
    std::memcpy(bytes.data() + offset * width, &bits, static_cast<std::size_t>(width));  // little-endian
  });
  return bytes;
}

std::vector<double> unpack(const emit::TensorPlace& t, const Bytes& bytes) {
  std::vector<double> values(static_cast<std::size_t>(graph::size(t.shape)));
  const int width = graph::bytes(t.dtype);
  each(t, [&](std::int64_t i, std::int64_t offset) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, bytes.data() + offset * width, static_cast<std::size_t>(width));
    values[static_cast<std::size_t>(i)] = graph::from_bits(t.dtype, bits);
  });
  return values;
}

int graph_tensor(const graph::KernelGraph& g, const emit::TensorPlace& t) {
  if (t.role == emit::Role::input) return g.inputs.at(static_cast<std::size_t>(t.position));
  if (t.role == emit::Role::output) return g.outputs.at(static_cast<std::size_t>(t.position));
  for (std::size_t i = 0; i < g.tensors.size(); ++i) {
    if (g.tensors[i].name == t.name && g.tensors[i].shape == t.shape) return static_cast<int>(i);
  }
  return -1;
}

void check(const emit::Manifest& m) {
  for (const emit::TensorPlace& t : m.tensors) {
    if (t.strides.size() != t.shape.size()) {
      fault("manifest of {}: tensor {} has {} strides for its shape {}", m.name, t.name, t.strides.size(),
            graph::to_string(t.shape));
    }
    std::int64_t last = 0;
    for (std::size_t d = 0; d < t.shape.size(); ++d) last += (t.shape[d] - 1) * t.strides[d];
    const std::int64_t needed = graph::size(t.shape) == 0 ? 0 : (last + 1) * graph::bytes(t.dtype);
    if (t.bytes < needed) {
      fault("manifest of {}: tensor {} has {} bytes; its shape and strides need {}", m.name, t.name, t.bytes,
            needed);
    }
    if (t.role == emit::Role::intermediate &&
        (t.offset < 0 || t.offset % 256 || t.offset + t.bytes > m.buffer_size)) {
      fault("manifest of {}: tensor {} lies at {} and has {} bytes, in a workspace of {}", m.name, t.name,
            t.offset, t.bytes, m.buffer_size);
    }
  }
  const int count = static_cast<int>(m.tensors.size());
  for (const emit::KernelLaunch& k : m.kernels) {
    for (const int t : k.tensors) {
      if (t < 0 || t >= count)
        fault("manifest of {}: kernel {} names tensor {} of {}", m.name, k.name, t, count);
    }
    if (k.writes.size() != k.tensors.size()) {
      fault("manifest of {}: kernel {} takes {} tensors and says of {} whether it writes them", m.name,
            k.name, k.tensors.size(), k.writes.size());
    }
  }
  for (int a = 0; a < count; ++a) {
    for (int b = 0; b < a; ++b) {
      const emit::TensorPlace &x = m.tensors[a], &y = m.tensors[b];
      if (x.role != emit::Role::intermediate || y.role != emit::Role::intermediate) continue;
      const Lifetime p = lifetime(m, a), q = lifetime(m, b);
      const bool alive = p.first <= q.last && q.first <= p.last;
      if (alive && x.offset < y.offset + y.bytes && y.offset < x.offset + x.bytes) {
        fault(
            "manifest of {}: tensors {} and {} share bytes of the workspace (at {} and {}) and are needed at "
            "once",
            m.name, y.name, x.name, y.offset, x.offset);
      }
    }
  }
}

}  // namespace zellige::run
