// Carries out the writes of TMA and bulk stores to global memory. They begin when the store is issued, and are complete
// for the issuing thread at its wait; until then every access to their bytes is a race.
#include <mutex>

#include "emulate/calls.hpp"
#include "zellige/atom/bfloat16.hpp"
#include "zellige/atom/half.hpp"

namespace zellige::emulate {

using Kind = Finding::Kind;

namespace {

std::mutex reductions;  // makes them atomic: several blocks may update the same element

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
  const std::lock_guard lock(reductions);
  of[std::size_t(e)](r, to, from, bytes);
}

// Returns true if the piece of a store lies within its tensor.
bool inside(const StoreInFlight::Piece& piece, const Region& r) {
  return piece.to <= r.bytes && piece.bytes <= r.bytes - piece.to;
}

}  // namespace

// Reductions may occur in any order among themselves; they are additions to the shadow memory.
void begin_store(Fiber& f, const StoreInFlight& s) {
  Block& b = *f.home;
  const Region& r = *s.region;
  const auto& state = *static_cast<const GlobalState*>(r.shadow);
  if (!r.writable) {
    b.report(f, Kind::read_only, r.name, s.site, "{}: {} stores to it at \1; the launch only reads it", r.name,
             b.who(f.index));
    return;
  }
  const bool adds = s.reduction != Reduction::none;
  const char* verb = adds ? "adds asynchronously to" : "stores asynchronously to";
  const shadow::Actor a = b.actor(f, s.site.address);
  for (const StoreInFlight::Piece& piece : s.pieces) {
    if (!inside(piece, r)) {
      b.report(f, Kind::out_of_bounds, r.name, {s.site, Finding::Missing::bounds_check},
               "on global tensor {}: the store by TMA that {} issued at \1 writes bytes {}..{}, in whole chunks of 16; "
               "the tensor has {}",
               r.name, b.who(f.index), piece.to, piece.to + piece.bytes, r.bytes);
      continue;
    }
    const Place at{r.begin + piece.to, &r};
    if (adds && state.flags && std::memchr(state.flags + piece.to, 0, piece.bytes))
      clash(f, f.index, at, piece.bytes, verb, s.site,
            {state.padded ? shadow::Clash::What::padding : shadow::Clash::What::unwritten});
    if (!known(f).time[b.cluster.previous]) early(f, at, piece.bytes, true, s.site);
    if (!state.races) continue;
    const auto block = std::uint32_t(b.linear);
    shadow::Clash c = adds ? state.races->add(piece.to, piece.bytes, a, block, s.op)
                           : state.races->write(piece.to, piece.bytes, a, block, shadow::AccessProxy::async);
    if (!c && !b.cluster.global_reads.empty()) c = b.cluster.global_reads.write(at.p, piece.bytes, a, b.cluster.ops);
    if (c) clash_of_global(f, at, piece.bytes, verb, s.site, c, adds);
  }
}

void finish_stores(Fiber& f, std::uint32_t groups) {
  const Block& b = *f.home;
  InFlight& mine = *f.in_flight;
  std::size_t done = 0;
  for (; done < mine.stores.size() && mine.stores[done].group <= groups; ++done) {
    const StoreInFlight& s = mine.stores[done];
    const Region& r = *s.region;
    if (!r.writable) continue;
    const auto& state = *static_cast<const GlobalState*>(r.shadow);
    const bool adds = s.reduction != Reduction::none;
    const shadow::Actor a = b.actor(f, s.site.address);
    for (const StoreInFlight::Piece& piece : s.pieces) {
      if (!inside(piece, r)) continue;
      unsigned char* const to = r.begin + piece.to;
      if (state.flags) std::memset(state.flags + piece.to, 1, piece.bytes);
      if (adds)
        reduce(s.reduction, s.element, to, s.data.data() + piece.from, piece.bytes);
      else
        std::memcpy(to, s.data.data() + piece.from, piece.bytes);
      if (!state.races) continue;
      if (adds)
        state.races->land_add(piece.to, piece.bytes, a, std::uint32_t(b.linear), s.op);
      else
        state.races->land(piece.to, piece.bytes, a, std::uint32_t(b.linear));
    }
  }
  mine.stores.erase(mine.stores.begin(), mine.stores.begin() + std::ptrdiff_t(done));
}

}  // namespace zellige::emulate
