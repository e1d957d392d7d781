// Statements of inline PTX, which the emulator parses and executes (src/cuda/ptx_statement.hpp). `zellige emulate` writes
//
//   asm volatile("add.u32 %0, %1, 1;" : "=r"(d) : "r"(a));
//
// as ::zellige::cuda::ptx("add.u32 %0, %1, 1;", {::zellige::cuda::ptx_result("=r", d), ::zellige::cuda::ptx_operand(a)});
#pragma once
#include <initializer_list>
#include <type_traits>

#include "zellige/cuda/intrinsics.hpp"

namespace zellige::cuda {

/// A result of the statement. constraint: "=r", or "+r" if the statement reads it, too.
template <class T>
ZELLIGE_DEVICE PtxOperand ptx_result(const char* constraint, T& variable) {
  static_assert(sizeof(T) <= 16, "an operand of inline PTX has at most 16 bytes");
  PtxOperand o;
  o.result = const_cast<void*>(static_cast<const volatile void*>(&variable));
  o.bytes = sizeof(T);
  o.reads = constraint[0] == '+';
  return o;
}
/// An operand that the statement only reads. Integers are extended by their sign.
template <class T>
ZELLIGE_DEVICE PtxOperand ptx_operand(T&& value) {
  using Value = std::decay_t<T>;
  PtxOperand o;
  const Value copy = value;
  if constexpr (std::is_integral_v<Value> || std::is_enum_v<Value>)
    o.value = static_cast<unsigned long long>(static_cast<long long>(copy));
  else
    __builtin_memcpy(&o.value, static_cast<const void*>(&copy), sizeof(Value));
  o.bytes = sizeof(Value);
  if constexpr (std::is_lvalue_reference_v<T> && sizeof(Value) == 4) o.variable = &value;
  return o;
}
/// An operand that is a part of the statement: "C"(s).
ZELLIGE_DEVICE PtxOperand ptx_text(const char* text) {
  PtxOperand o;
  o.text = text;
  return o;
}

ZELLIGE_DEVICE void ptx(const char* statement, std::initializer_list<PtxOperand> operands = {}) {
  host->ptx(statement, operands.begin(), static_cast<unsigned>(operands.size()));
}

}  // namespace zellige::cuda

/// The sum of c and of four products of bytes.
ZELLIGE_DEVICE int __dp4a(int a, int b, int c) {
  for (int k = 0; k < 32; k += 8) c += static_cast<signed char>(a >> k) * static_cast<signed char>(b >> k);
  return c;
}
ZELLIGE_DEVICE unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int k = 0; k < 32; k += 8) c += (a >> k & 255) * (b >> k & 255);
  return c;
}
