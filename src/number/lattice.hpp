// Computes a normal form of nested maxima and minima: a maximum of minima of members, which are values x, y,
// ..., each identified by a 64-bit key. Minima that can never exceed another one are omitted. Expressions
// that are equal by the laws of max and min (associative, commutative, idempotent, absorptive, distributive)
// have the same normal form. If it is known that x <= y for two members, that is used, too. Finite fields
// (field.hpp) use the normal form to decide whether two maxima are equal.
//
//   const Lattice x{{{5}}}, y{{{7}}};              // the members with keys 5 and 7
//   Lattice m = join({x, y}, order);               // max(x, y); order: which members are known to be ordered
//   dual(m, negated, order)                        // -max(x, y) = min(-x, -y); negated(5): the key of -x
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace zellige::number {

/// A maximum of clauses, each of which is the minimum of its members. A member is a value, identified by a 64-bit key
/// (in a finite field, the value modulo the field's prime p). Clauses and their members are sorted.
struct Lattice {
  using Clause = std::vector<std::uint64_t>;
  std::vector<Clause> clauses;

  bool operator==(const Lattice&) const = default;
};

/// What is known of the order of members. Of two members neither of which is a constant, nothing is known.
struct KnownOrder {
  std::function<bool(std::uint64_t)> constant;  // whether the member is a constant
  // less_equal(a, b): whether a <= b is certain for members a and b if both are numbers.
  std::function<bool(std::uint64_t, std::uint64_t)> less_equal;
};

/// Returns the normal form of the maximum of all maxima in the list, each of which is given as a normal form.
Lattice join(const std::vector<Lattice>&, const KnownOrder&);
/// Returns the normal form of the negative of a maximum. That is the minimum of the maxima of the negated
/// members, multiplied out to a maximum of minima. negated(m) returns the key of -m. Returns nullopt if the
/// result would have too many clauses.
std::optional<Lattice> dual(const Lattice&, const std::function<std::uint64_t(std::uint64_t)>& negated,
                            const KnownOrder&);
/// Returns the keys of all numbers that occur in the maximum of minima, sorted, without duplicates.
std::vector<std::uint64_t> members(const Lattice&);

}  // namespace zellige::number
