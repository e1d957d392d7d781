// Computes how many passes (wavefronts) one warp's access to shared memory takes, that is, its bank
// conflicts.
//
// In a pass the 32 banks deliver 4 bytes each. An access of up to 4 bytes per lane is one phase of 32 lanes,
// 8 bytes two phases of 16 lanes, 16 bytes four of 8 lanes. Two phases of a load are merged if their lanes
// read equal addresses in pairs: all lanes i and i ^ 1, or all lanes i and i ^ 2 (docs/reference/banks.md has
// measured counts). Lanes of a phase that access the same word share a pass; every further word in the same
// bank costs a further pass.
//
// 32 lanes, all of them active (null), access 4 bytes each:
//
//   std::uint32_t at[32];                                // a column of a 32 x 32 float tile
//   for (int l = 0; l < 32; ++l) at[l] = 128 * l;
//   wavefronts(at, nullptr, 32, 4);                      // 32
#pragma once
#include <cstdint>

namespace zellige::emulate {

/// Returns the number of lanes whose accesses to shared memory, of `bytes` bytes each, the hardware serves
/// together: 32 for up to 4 bytes, 16 for 8 bytes, 8 for 16 bytes.
constexpr int lanes_per_phase(int bytes) { return bytes <= 4 ? 32 : 128 / bytes; }

namespace detail {

// Returns the number of passes (in which each bank delivers 4 bytes) for the accesses of the active lanes in
// [first, last): the largest number of different words that they access in one bank. A word is `unit` aligned
// bytes; one of 8 or 16 bytes occupies 2 or 4 adjacent banks.
constexpr unsigned conflicting_phase(const std::uint32_t* byte_addresses, const bool* active, int first, int last,
                                     unsigned unit) {
  const unsigned columns = 128 / unit;
  unsigned depth[32] = {}, worst = 0;
  for (int l = first; l < last; ++l) {
    if (active && !active[l]) continue;
    const std::uint32_t u = byte_addresses[l] / unit;
    bool known = false;
    for (int k = first; k < l && !known; ++k) known = (!active || active[k]) && byte_addresses[k] / unit == u;
    if (known) continue;
    const unsigned d = ++depth[u % columns];
    if (d > worst) worst = d;
  }
  return worst;
}

// Returns true if the active lanes in [first, last) read equal addresses in pairs: all lanes i and i ^ 1, or
// all lanes i and i ^ 2. The hardware then serves two groups of lanes, which it otherwise serves one after the
// other, together.
constexpr bool agree_in_pairs(const std::uint32_t* byte_addresses, const bool* active, int first, int last) {
  for (int mask = 1; mask <= 2; ++mask) {
    bool agree = true;
    for (int l = first; l < last && agree; ++l) {
      const bool both = !active || (active[l] && active[l ^ mask]);
      agree = !both || byte_addresses[l] == byte_addresses[l ^ mask];
    }
    if (agree) return true;
  }
  return false;
}

}  // namespace detail

/// Returns the number of passes (wavefronts, in which each bank delivers 4 bytes) of a shared-memory access by
/// `lanes` lanes of `bytes` (1, 2, 4, 8 or 16) bytes each. byte_addresses[lane] must be a multiple of `bytes`;
/// null `active` means that all lanes are active. `load` is true for ld.shared, which takes fewer passes if
/// pairs of lanes read equal addresses, and false for stores, ldmatrix and stmatrix.
constexpr unsigned wavefronts(const std::uint32_t* byte_addresses, const bool* active, int lanes, int bytes,
                              bool load = false) {
  const unsigned unit =
      // an aligned unit is never split between words, so units can represent words
      bytes < 4 ? 4 : unsigned(bytes);
  const unsigned columns = 128 / unit;
  unsigned total = 0;
  for (int first = 0, phase = 0; first < lanes; first += phase) {
    phase = lanes_per_phase(bytes);
    if (load && phase < 32 && first % (2 * phase) == 0 && first + 2 * phase <= lanes &&
        detail::agree_in_pairs(byte_addresses, active, first, first + 2 * phase))
      phase *= 2;
    const int last = first + phase < lanes ? first + phase : lanes;
    std::uint32_t used = 0, in_column[32];
    if (__builtin_is_constant_evaluated())
      for (std::uint32_t& u : in_column) u = 0;
    bool conflict = false;
    for (int l = first; l < last && !conflict; ++l) {
      if (active && !active[l]) continue;
      const std::uint32_t u = byte_addresses[l] / unit, c = u % columns;
      conflict = (used >> c & 1) && in_column[c] != u;
      used |= 1u << c;
      in_column[c] = u;
    }
    total += conflict ? detail::conflicting_phase(byte_addresses, active, first, last, unit) : used != 0;
  }
  return total;
}

/// Returns the number of passes that a shared-memory access of `bytes` bytes per lane takes without bank
/// conflicts: one for each group of lanes_per_phase(bytes) lanes in which a lane is active.
constexpr unsigned ideal_wavefronts(const bool* active, int lanes, int bytes) {
  const int phase = lanes_per_phase(bytes);
  unsigned total = 0;
  for (int first = 0; first < lanes; first += phase) {
    bool any = false;
    for (int l = first; l < first + phase && l < lanes; ++l) any = any || !active || active[l];
    total += any;
  }
  return total;
}

}  // namespace zellige::emulate
