// Maxima and minima in a normal form: the greatest of some minima, none of which another one covers. In it max and min are
// associative, commutative and idempotent, absorb and distribute; what is known of the order of two members is used.
//
//   Lattice m = join(single(x), single(y));       // max(x, y)
//   dual(m, negated)                              // -max(x, y) = min(-x, -y)
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace zellige::search {

/// Members are called by their residues. A clause is a minimum; both clauses and their members are sorted.
struct Lattice {
  using Clause = std::vector<std::uint64_t>;
  std::vector<Clause> clauses;

  bool operator==(const Lattice&) const = default;
};

/// What is known of the members' order. Of two that are no constants nothing is.
struct KnownOrder {
  std::function<bool(std::uint64_t)> constant;
  std::function<bool(std::uint64_t, std::uint64_t)> at_most;  // wherever both are numbers
};

/// The greatest of all.
Lattice join(const std::vector<Lattice>&, const KnownOrder&);
/// The least of minus its members' greatest and so on; none where it has too many clauses.
std::optional<Lattice> dual(const Lattice&, const std::function<std::uint64_t(std::uint64_t)>& negated,
                            const KnownOrder&);
/// All members, sorted, each once.
std::vector<std::uint64_t> members(const Lattice&);

}  // namespace zellige::search
