// Defines uint128_t: a 128-bit unsigned integer, the type of the widest vector access.
#pragma once
#include <zellige/layout/config.hpp>

namespace zellige {

/// A 128-bit unsigned integer of two 64-bit halves, with bitwise operations, shifts, addition and
/// subtraction.
struct alignas(16) uint128_t {
  unsigned long long lo = 0, hi = 0;

  constexpr uint128_t() = default;
  ZELLIGE_HOST_DEVICE constexpr uint128_t(unsigned long long low, unsigned long long high = 0) : lo(low), hi(high) {}
  ZELLIGE_HOST_DEVICE constexpr explicit operator unsigned long long() const { return lo; }
  ZELLIGE_HOST_DEVICE constexpr explicit operator bool() const { return (lo | hi) != 0; }

  ZELLIGE_HOST_DEVICE friend constexpr bool operator==(uint128_t const& a, uint128_t const& b) {
    return a.lo == b.lo && a.hi == b.hi;
  }
  ZELLIGE_HOST_DEVICE friend constexpr bool operator<(uint128_t const& a, uint128_t const& b) {
    return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo);
  }
  ZELLIGE_HOST_DEVICE friend constexpr uint128_t operator+(uint128_t const& a, uint128_t const& b) {
    unsigned long long const low = a.lo + b.lo;
    return {low, a.hi + b.hi + (low < a.lo)};
  }
  ZELLIGE_HOST_DEVICE friend constexpr uint128_t operator-(uint128_t const& a, uint128_t const& b) {
    return {a.lo - b.lo, a.hi - b.hi - (a.lo < b.lo)};
  }
  ZELLIGE_HOST_DEVICE friend constexpr uint128_t operator&(uint128_t const& a, uint128_t const& b) {
    return {a.lo & b.lo, a.hi & b.hi};
  }
  ZELLIGE_HOST_DEVICE friend constexpr uint128_t operator|(uint128_t const& a, uint128_t const& b) {
    return {a.lo | b.lo, a.hi | b.hi};
  }
  ZELLIGE_HOST_DEVICE friend constexpr uint128_t operator^(uint128_t const& a, uint128_t const& b) {
    return {a.lo ^ b.lo, a.hi ^ b.hi};
  }
  ZELLIGE_HOST_DEVICE friend constexpr uint128_t operator<<(uint128_t const& a, int n) {
    return n == 0 ? a : n < 64 ? uint128_t{a.lo << n, a.hi << n | a.lo >> (64 - n)} : uint128_t{0, a.lo << (n - 64)};
  }
  ZELLIGE_HOST_DEVICE friend constexpr uint128_t operator>>(uint128_t const& a, int n) {
    return n == 0 ? a : n < 64 ? uint128_t{a.lo >> n | a.hi << (64 - n), a.hi >> n} : uint128_t{a.hi >> (n - 64)};
  }
};

}  // namespace zellige
