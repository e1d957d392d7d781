// The operations that a text may name: under which names, and what they take. Everything that comes from
// outside goes through here before it reaches the algebra, which trusts its operands to be of the right kind.
//
//   fits({"composition", "c m", ...}, arguments)   whether they are a layout and a tiler
//
// A row's parameters are letters: c layout or composed layout, p plain layout, q layout of rank 3, s swizzle,
// t tensor, i number or tuple of numbers, y two numbers or more, n number, x coordinate (numbers and _), m
// tiler (a layout, a number, _, or a tuple of them), 3 three tilers, k mode index or count, f factor, b bits,
// v anything, w a word; ? may be absent, * any number of times.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include <zellige/layout/algebra/value.hpp>

namespace zellige::view {

/// An operand: its text, and the value it is unless it is a word such as half_t.
struct Argument {
  std::string text = {};
  Value value = nothing();
  std::string unreadable = {};  // why it is no value
  std::size_t at = 0;           // where it stands in a longer text
  bool is_word() const { return !unreadable.empty(); }
};

struct Operation {
  const char* name;        // as CuTe calls it
  const char* parameters;  // letters, blanks between
  const char* record;      // the operation's name in records, which `evaluate` knows
};

std::span<const Operation> operations();

/// "a layout", "a tuple of numbers", ...
std::string kind_name(const Value&);
/// "layout, tiler", for messages and the list of operations.
std::string parameters_text(const Operation&);
bool fits(const Operation&, std::span<const Argument>);

/// Why no row of that name fits, and the first operand that none admits (or how many there are).
struct Misfit {
  std::string why;
  std::size_t operand = 0;
};
Misfit misfit(std::string_view name, std::span<const Operation* const>, std::span<const Argument>);

/// "; did you mean size?" for a name that no row has, or "".
std::string near_operation(std::string_view name);
/// Rows by CuTe's name, and by the name in records.
std::vector<const Operation*> named(std::string_view name);
std::vector<const Operation*> recorded(std::string_view record);

}  // namespace zellige::view
