// What every generated translation unit of the static face includes: the library, and element types to print.
#pragma once
#include <iostream>
#include <sstream>
#include <zellige/layout/gmma_atoms.hpp>
#include <zellige/tensor/print.hpp>

using namespace zellige;

template <int bits>
struct element_of {};
using int1_t = element_of<1>;
using int2_t = element_of<2>;
using int4_t = element_of<4>;
using uint1_t = element_of<1>;
using uint2_t = element_of<2>;
using uint4_t = element_of<4>;
using uint128_t = element_of<128>;
using tfloat32_t = element_of<32>;
template <int bits>
struct zellige::sizeof_bits<element_of<bits>> : Int<bits> {};

/// A 16-bit float for the few exact values that the corpus prints.
template <int tag>
struct half_like {
  short quarters = 0;
  half_like() = default;
  half_like(float f) : quarters(short(f * 4)) {}
  operator float() const { return quarters / 4.f; }
};
using half_t = half_like<0>;
using bfloat16_t = half_like<1>;

inline void answer(char const* id, std::string const& text) {
  std::cout << id << '\t';
  for (char c : text) {
    if (c == '\n')
      std::cout << "\\n";
    else if (c == '\\')
      std::cout << "\\\\";
    else
      std::cout << c;
  }
  std::cout << '\n';
}
template <class F>
void record(char const* id, F f) {
  try {
    answer(id, "=" + f());
  } catch (std::exception const& e) {
    answer(id, std::string("!") + e.what());
  }
}
