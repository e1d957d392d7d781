// A normal form of nested maxima and minima: a maximum of minima, none of which is always at least another
// one. In it max and min are associative, commutative, idempotent, absorptive and distributive. If the order
// of two members is known, it is used. Finite fields (field.hpp) use it to decide whether two maxima are
// equal.
//
//   Lattice m = join(single(x), single(y));       // max(x, y)
//   dual(m, negated)                              // -max(x, y) = min(-x, -y)
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace zellige::search {

/// A maximum of clauses, each of which is the minimum of its members. A member is a number, identified by its
/// residue. Clauses and their members are sorted.
struct Lattice {
  using Clause = std::vector<std::uint64_t>;
  std::vector<Clause> clauses;

  bool operator==(const Lattice&) const = default;
};

/// What is known of the order of members. Of two members neither of which is a constant, nothing is known.
struct KnownOrder {
  std::function<bool(std::uint64_t)> constant;  // whether the member is a constant
  // Whether a <= b is certain wherever both are numbers.
  std::function<bool(std::uint64_t, std::uint64_t)> less_equal;
};

/// Returns the normal form of the maximum of all given maxima.
Lattice join(const std::vector<Lattice>&, const KnownOrder&);
/// Returns the normal form of the negative of a maximum, which is the minimum of the maxima of negated
/// members, multiplied out. `negated` returns the negative of a member. Returns nullopt if the result would
/// have too many clauses.
std::optional<Lattice> dual(const Lattice&, const std::function<std::uint64_t(std::uint64_t)>& negated,
                            const KnownOrder&);
/// Returns all members, sorted, without duplicates.
std::vector<std::uint64_t> members(const Lattice&);

}  // namespace zellige::search
