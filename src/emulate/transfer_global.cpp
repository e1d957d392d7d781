// Checks and carries out the asynchronous proxy's accesses to global memory: the reads of loads, and the
// writes of stores and reductions.
#include <cstring>
#include <mutex>

#include "emulate/transfer.hpp"
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
  const std::lock_guard lock(reductions());
  switch (e) {
    case Element::u8:
      return combine<std::uint8_t>(r, to, from, bytes);
    case Element::u16:
      return combine<std::uint16_t>(r, to, from, bytes);
    case Element::u32:
      return combine<std::uint32_t>(r, to, from, bytes);
    case Element::s32:
      return combine<std::int32_t>(r, to, from, bytes);
    case Element::u64:
      return combine<std::uint64_t>(r, to, from, bytes);
    case Element::s64:
      return combine<std::int64_t>(r, to, from, bytes);
    case Element::f16:
      return combine<half_t>(r, to, from, bytes);
    case Element::bf16:
      return combine<bfloat16_t>(r, to, from, bytes);
    case Element::f64:
      return combine<double>(r, to, from, bytes);
    default:
      return combine<float>(r, to, from, bytes);
  }
}

}  // namespace

namespace transfer {

void read_global(Fiber& f, const Region& r, std::size_t at, std::size_t bytes, Site site) {
  Block& b = *f.home;
  const auto& state = *static_cast<const GlobalState*>(r.shadow);
  const auto from = std::ptrdiff_t(at);
  // make_tma_descriptor has rejected maps that exceed the tensor.
  if (at > r.bytes || bytes > r.bytes - at) return;
  if (!b.known(f).time[b.cluster.previous]) b.early(f, r, from, from + std::ptrdiff_t(bytes), false, site);
  if (state.flags && std::memchr(state.flags + at, 0, bytes))
    b.clash(f, f.index, r, from, from + std::ptrdiff_t(bytes), "copies", site,
            {state.padded ? Clash::What::padding : Clash::What::unwritten});
  if (!state.races) return;
  const Place p{r.begin + at, &r};
  if (Clash c = state.races->read(at, unsigned(bytes), b.actor(f, site.address), std::uint32_t(b.linear)))
    b.clash_of_global(f, p, unsigned(bytes), false, site, c);
}

void write_global(Fiber& f, const Region& r, std::size_t at, std::size_t bytes, Site site) {
  Block& b = *f.home;
  const auto& state = *static_cast<const GlobalState*>(r.shadow);
  if (state.flags) std::memset(state.flags + at, 1, bytes);
  if (!b.known(f).time[b.cluster.previous]) b.early(f, r, std::ptrdiff_t(at), std::ptrdiff_t(at + bytes), true, site);
  if (!state.races) return;
  const Place p{r.begin + at, &r};
  if (Clash c = state.races->write(at, unsigned(bytes), b.actor(f, site.address), std::uint32_t(b.linear)))
    b.clash_of_global(f, p, unsigned(bytes), true, site, c);
}

}  // namespace transfer

// Reductions may occur in any order among themselves. They are therefore recorded as reads, so that only an ordinary
// write is a race with a reduction.
void Block::finish_stores(Fiber& f, std::uint32_t groups) {
  InFlight& mine = *f.in_flight;
  std::size_t done = 0;
  for (; done < mine.stores.size() && mine.stores[done].group <= groups; ++done) {
    const StoreInFlight& s = mine.stores[done];
    const Region& r = *s.region;
    if (!r.writable) {
      report(f, Finding::Kind::read_only, r.name, s.site,
             fmt::format("{}: {} stores to it at \1; the launch only reads it", r.name, who(f.index)));
      continue;
    }
    for (const StoreInFlight::Piece& piece : s.pieces) {
      if (piece.to > r.bytes || piece.bytes > r.bytes - piece.to) {
        report(f, Finding::Kind::out_of_bounds, r.name, s.site,
               fmt::format("on global tensor {}: the store by TMA that {} issued at \1 writes bytes {}..{}, "
                           "in whole chunks of 16; the tensor has {}",
                           r.name, who(f.index), piece.to, piece.to + piece.bytes, r.bytes));
        continue;
      }
      if (s.reduction == Reduction::none) {
        transfer::write_global(f, r, piece.to, piece.bytes, s.site);
        std::memcpy(r.begin + piece.to, s.data.data() + piece.from, piece.bytes);
      } else {
        transfer::read_global(f, r, piece.to, piece.bytes, s.site);
        reduce(s.reduction, s.element, r.begin + piece.to, s.data.data() + piece.from, piece.bytes);
      }
    }
  }
  mine.stores.erase(mine.stores.begin(), mine.stores.begin() + std::ptrdiff_t(done));
}

}  // namespace zellige::emulate
