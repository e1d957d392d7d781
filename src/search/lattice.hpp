// A normal form of maxima and minima: a maximum of minima, none of which covers another. max and min are
// associative, commutative, idempotent, absorptive and distributive in it; the known order of two members is
// used.
//
//   Lattice m = join(single(x), single(y));       // max(x, y)
//   dual(m, negated)                              // -max(x, y) = min(-x, -y)
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace zellige::search {

/// Members are identified by their residues. A clause is a minimum; clauses and their members are sorted.
struct Lattice {
  using Clause = std::vector<std::uint64_t>;
  std::vector<Clause> clauses;

  bool operator==(const Lattice&) const = default;
};

/// The known order of the members; nothing is known of two that are not constants.
struct KnownOrder {
  std::function<bool(std::uint64_t)> constant;
  std::function<bool(std::uint64_t, std::uint64_t)> less_equal;  // wherever both are numbers
};

/// The maximum of all.
Lattice join(const std::vector<Lattice>&, const KnownOrder&);
/// The dual: a minimum of maxima of the negated members; nothing if it has too many clauses.
std::optional<Lattice> dual(const Lattice&, const std::function<std::uint64_t(std::uint64_t)>& negated,
                            const KnownOrder&);
/// All members, sorted, without duplicates.
std::vector<std::uint64_t> members(const Lattice&);

}  // namespace zellige::search
