// Carries out the asynchronous proxy's writes to global memory: stores and reductions.
#include <mutex>

#include "emulate/calls.hpp"
#include "zellige/atom/bfloat16.hpp"
#include "zellige/atom/half.hpp"

namespace zellige::emulate {

namespace {

// Returns the mutex that makes reductions atomic: several blocks may update the same element.
std::mutex& reductions() {
  static std::mutex m;
  return m;
}

template <class T>
T combine(Reduction r, T a, T b) {
  if (r == Reduction::min) return b < a ? b : a;
  if (r == Reduction::max) return a < b ? b : a;
  return static_cast<T>(a + b);
}

// Applies a reduction to `bytes` bytes of elements of type T: each element at `to` is combined with the one at `from`.
template <class T>
void combine(Reduction r, unsigned char* to, const unsigned char* from, std::size_t bytes) {
  for (std::size_t i = 0; i + sizeof(T) <= bytes; i += sizeof(T)) {
    T a, b;
    std::memcpy(static_cast<void*>(&a), to + i, sizeof(T));
    std::memcpy(static_cast<void*>(&b), from + i, sizeof(T));
    if constexpr (std::is_same_v<T, half_t> || std::is_same_v<T, bfloat16_t>)
      a = T(combine<float>(r, a, b));
    else
      a = combine<T>(r, a, b);
    std::memcpy(to + i, static_cast<const void*>(&a), sizeof(T));
  }
}

void reduce(Reduction r, Element e, unsigned char* to, const unsigned char* from, std::size_t bytes) {
  // In the order of the enumeration, which ends with `tf32_ftz`.
  static constexpr void (*of[])(Reduction, unsigned char*, const unsigned char*, std::size_t) = {
      combine<std::uint8_t>,  combine<std::uint16_t>, combine<std::uint32_t>, combine<std::int32_t>,
      combine<std::uint64_t>, combine<std::int64_t>,  combine<half_t>,        combine<float>,
      combine<double>,        combine<bfloat16_t>,    combine<float>,         combine<float>,
      combine<float>};
  static_assert(std::size(of) == std::size_t(Element::tf32_ftz) + 1);
  const std::lock_guard lock(reductions());
  of[std::size_t(e)](r, to, from, bytes);
}

}  // namespace

// Reductions may occur in any order among themselves. They are therefore recorded as reads, so that only an ordinary
// write is a race with a reduction.
void Block::finish_stores(Fiber& f, std::uint32_t groups) {
  InFlight& mine = *f.in_flight;
  std::size_t done = 0;
  for (; done < mine.stores.size() && mine.stores[done].group <= groups; ++done) {
    const StoreInFlight& s = mine.stores[done];
    const Region& r = *s.region;
    if (!r.writable) {
      report(f, Finding::Kind::read_only, r.name, s.site, "{}: {} stores to it at \1; the launch only reads it", r.name,
             who(f.index));
      continue;
    }
    for (const StoreInFlight::Piece& piece : s.pieces) {
      if (piece.to > r.bytes || piece.bytes > r.bytes - piece.to) {
        report(f, Finding::Kind::out_of_bounds, r.name, s.site,
               "on global tensor {}: the store by TMA that {} issued at \1 writes bytes {}..{}, in whole chunks of 16; "
               "the tensor has {}",
               r.name, who(f.index), piece.to, piece.to + piece.bytes, r.bytes);
        continue;
      }
      const Place to{r.begin + piece.to, &r};
      if (s.reduction == Reduction::none) {
        check_global<true>(f, to, piece.bytes, "writes", s.site);
        std::memcpy(to.p, s.data.data() + piece.from, piece.bytes);
      } else {
        check_global<false>(f, to, piece.bytes, "copies", s.site);
        reduce(s.reduction, s.element, to.p, s.data.data() + piece.from, piece.bytes);
      }
    }
  }
  mine.stores.erase(mine.stores.begin(), mine.stores.begin() + std::ptrdiff_t(done));
}

}  // namespace zellige::emulate
