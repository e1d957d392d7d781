#include "reference/structure.hpp"

#include <bit>

namespace zellige::graph {
namespace {

/// Encodes integers in bytes, seven bits per byte, lowest first. Small numbers of either sign take one byte.
class Bytes {
 public:
  void put(std::int64_t x) {
    auto rest = static_cast<std::uint64_t>(x) << 1 ^ (x < 0 ? ~std::uint64_t{0} : 0);
    for (; rest >= 0x80; rest >>= 7) text_.push_back(static_cast<char>(rest | 0x80));
    text_.push_back(static_cast<char>(rest));
  }
  void put(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    for (int i = 0; i < 64; i += 8) text_.push_back(static_cast<char>(bits >> i));
  }
  void put(const std::optional<std::int64_t>& x) {
    put(std::int64_t{x.has_value()});
    if (x) put(*x);
  }
  template <class Number>
  void put(const std::vector<Number>& list) {
    put(std::ssize(list));
    for (const Number x : list) put(std::int64_t{x});
  }
  void put(const Dim3& d) { put(d.x), put(d.y), put(d.z); }
  std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

/// Appends the serialized attributes of an operator.
void put(Bytes& to, const Attributes& a) {
  to.put(a.scalar), to.put(a.lo), to.put(a.hi), to.put(a.eps), to.put(a.value);
  to.put(std::int64_t{a.dim}), to.put(a.to), to.put(a.start), to.put(a.end);
  to.put(a.sizes);
  to.put(std::int64_t{a.keepdim} | std::int64_t{a.tf32} << 1 | std::int64_t{a.saturate} << 2);
  to.put(static_cast<std::int64_t>(a.dtype));
  to.put(a.kept.tril), to.put(a.kept.triu), to.put(a.kept.length);
}

/// Appends what operators of both levels have.
void put_common(Bytes& to, const auto& op) {
  to.put(static_cast<std::int64_t>(op.kind));
  to.put(op.inputs), to.put(op.outputs);
  put(to, op.attributes);
}

/// Appends a serialized block graph, without the names of its tensors.
void put(Bytes& to, const BlockGraph& b) {
  to.put(b.grid), to.put(b.block), to.put(b.loop);
  to.put(std::ssize(b.tensors));
  for (const BlockTensor& t : b.tensors) {
    to.put(static_cast<std::int64_t>(t.dtype) << 1 | std::int64_t{t.after_loop});
    to.put(t.shape);
  }
  to.put(std::ssize(b.ops));
  for (const BlockOp& op : b.ops) {
    put_common(to, op);
    to.put(std::int64_t{op.kernel_tensor}), to.put(std::int64_t{op.loop_dim});
    for (int dim : op.map) to.put(std::int64_t{dim});
  }
}

}  // namespace

std::string structure(const KernelGraph& g) {
  Bytes to;
  to.put(std::ssize(g.tensors));
  for (const KernelTensor& t : g.tensors) {
    to.put(static_cast<std::int64_t>(t.dtype) << 1 | std::int64_t{t.constant});
    to.put(t.shape), to.put(t.strides);
    to.put(std::int64_t{t.memory});
  }
  to.put(std::ssize(g.ops));
  for (const KernelOp& op : g.ops) {
    put_common(to, op);
    to.put(std::int64_t{op.block != nullptr});
    if (op.block) put(to, *op.block);
  }
  to.put(g.inputs), to.put(g.outputs);
  return std::move(to).text();
}

}  // namespace zellige::graph
