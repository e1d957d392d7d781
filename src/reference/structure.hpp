// Serializes a kernel graph without its names, as a key for caches: two graphs give equal bytes if they
// differ in names only.
//
//   structure(a) == structure(b)  // same tensors, operators, attributes and block graphs
//
// Any graph is accepted, even if it is incomplete or invalid. The bytes are never parsed.
#pragma once
#include <bit>

#include "graph/graph.hpp"

namespace zellige::reference {

/// Encodes integers in bytes, seven bits per byte, lowest first. Small numbers of either sign take one byte.
class IntegerBytes {
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
  void put(const graph::Dim3& d) { put(d.x, d.y, d.z); }
  template <class... Several>
  requires(sizeof...(Several) > 1) void put(const Several&... all) { (put(all), ...); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};
/// Appends the serialized attributes of an operator.
void put(IntegerBytes&, const graph::Attributes&);

/// Returns the graph as a string of bytes. Strings are equal if and only if the graphs are, except for names.
std::string structure(const graph::KernelGraph&);

}  // namespace zellige::reference
