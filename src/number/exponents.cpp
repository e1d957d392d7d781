#include "number/exponents.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "number/modular.hpp"

namespace zellige::number {
namespace {

using Factors = std::map<std::int64_t, int>;                             // prime to exponent
using Exponents = std::map<std::int64_t, std::vector<int>>;              // by prime, of each value
using OwnPrimes = std::map<std::pair<int, std::int64_t>, std::int64_t>;  // by part and given prime: what replaces it

/// Returns the prime factors of n, with their exponents.
Factors factors(std::int64_t n) {
  Factors f;
  for (std::int64_t d = 2; d * d <= n; ++d)
    for (; n % d == 0; n /= d) ++f[d];
  if (n > 1) ++f[n];
  return f;
}

/// Returns the exponent of the prime, or 0 if the prime is no factor.
int exponent(const Factors& f, std::int64_t prime) {
  const auto at = f.find(prime);
  return at == f.end() ? 0 : at->second;
}

/// Returns small exponents of one prime, one per value, with which all products of the system and the inequalities hold.
/// Starts with the least allowed exponents `x`, and raises one after another until the equations hold. None exceeds its
/// given exponent, because the given exponents are a solution.
std::vector<int> small_exponents(const Products& system, std::vector<int> x, const std::vector<int>& given,
                                 const std::vector<Products::Inequality>& inequalities, std::uint64_t seed) {
  std::vector<std::uint64_t> preference(x.size());
  for (const Products::Product& p : system.products)
    for (int f : p.factors) preference[f] += 16;  // prefer values in few products
  for (const Products::Inequality& o : inequalities)
    if (!system.distinct.empty()) preference[o.less] += 256;  // and those that raise no others
  for (std::size_t i = 0; i < x.size(); ++i) preference[i] += draw(seed, i) % (seed == 0 ? 1 : 32);
  const auto sum = [&](const Products::Product& p) {
    return std::accumulate(p.factors.begin(), p.factors.end(), 0, [&](int n, int f) { return n + x[f]; });
  };
  // Raises every exponent that an inequality requires to be greater than another one and that is not. If there is
  // none, raises one exponent of a product whose equation does not hold. Returns false if nothing was raised.
  const auto step = [&] {
    bool risen = false;
    for (const Products::Inequality& o : inequalities)
      if (x[o.more] <= x[o.less]) x[o.more] = x[o.less] + 1, risen = true;
    if (risen) return true;
    for (const Products::Product& p : system.products)
      if (sum(p) > x[p.whole]) return x[p.whole] = sum(p), true;
    for (const Products::Product& p : system.products) {
      if (sum(p) == x[p.whole]) continue;
      int best = -1;
      for (int f : p.factors)
        if (x[f] < given[f] && (best < 0 || preference[f] < preference[best])) best = f;
      if (best < 0) return false;  // cannot happen: the given exponents are a solution
      ++x[best];
      return true;
    }
    return false;
  };
  while (step()) continue;
  return x;
}

/// Returns, for each value, the least index among the values that products connect with it, directly or through
/// other values. Connected values (a part of the system) have the same result.
std::vector<int> connected(const Products& system) {
  std::vector<int> smallest(system.values.size());
  std::iota(smallest.begin(), smallest.end(), 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (const Products::Product& p : system.products) {
      int m = smallest[p.whole];
      for (int f : p.factors) m = std::min(m, smallest[f]);
      const auto lower = [&](int i) { changed |= smallest[i] != m, smallest[i] = m; };
      lower(p.whole);
      for (int f : p.factors) lower(f);
    }
  }
  return smallest;
}

/// Returns the least prime above n.
std::int64_t prime_after(std::int64_t n) {
  do ++n;
  while (!is_prime(static_cast<std::uint64_t>(n)));
  return n;
}

/// Chooses, for each part of the system that has a value in system.apart, primes that no other part gets, so that
/// values of different parts differ. A part is a set of values that products connect; part[i] is the part of value i.
/// Returns a map from (part, given prime) to the prime that replaces it. A given prime has no entry if it divides a
/// fixed value of the part. Parts with small values get the smallest primes. `exponents` has, for each given prime, its
/// exponent in each shrunk value. Primes in `kept_primes` (factors of fixed values) are not used as replacements.
OwnPrimes own_primes(const Products& system, const std::vector<int>& part, const std::set<std::int64_t>& kept_primes,
                     const Exponents& exponents) {
  std::vector<int> distinct = system.distinct;
  std::ranges::stable_sort(distinct, {}, [&](int i) { return system.values[i]; });
  OwnPrimes own;
  std::int64_t next = 2;
  for (int i : distinct)
    for (const auto& [prime, x] : exponents) {
      bool occurs = false, kept = false;
      for (std::size_t j = 0; j < part.size(); ++j) {
        if (part[j] != part[i] || x[j] == 0) continue;
        occurs = true, kept = kept || system.fixed[j];
      }
      if (!occurs || kept || own.count({part[i], prime})) continue;
      while (kept_primes.count(next)) next = prime_after(next);
      own[{part[i], prime}] = next;
      next = prime_after(next);
    }
  return own;
}

/// Returns whether no value becomes too large if the primes in `own`, the result of own_primes(), replace the given
/// ones: each must be at most 4096 or at most its given value. Much larger values could overflow. The other arguments
/// are those of own_primes().
bool fits(const Products& system, const std::vector<int>& part, const Exponents& exponents, const OwnPrimes& own) {
  for (std::size_t i = 0; i < part.size(); ++i) {
    double value = 1;
    for (const auto& [prime, x] : exponents) {
      const auto at = own.find({part[i], prime});
      value *= std::pow(static_cast<double>(at == own.end() ? prime : at->second), x[i]);
    }
    if (value > std::max(4096.0, static_cast<double>(system.values[i]))) return false;
  }
  return true;
}

}  // namespace

std::vector<std::int64_t> shrink_values(const Products& system) {
  const std::size_t n = system.values.size();
  std::vector<Factors> all;
  std::set<std::int64_t> primes, kept_primes;
  for (std::size_t i = 0; i < n; ++i) {
    all.push_back(factors(system.values[i]));
    for (const auto& [prime, e] : all[i]) {
      primes.insert(prime);
      if (system.fixed[i]) kept_primes.insert(prime);
    }
  }
  const std::vector<int> part = connected(system);
  Exponents exponents;  // by prime
  for (std::int64_t prime : primes) {
    std::vector<int> given(n), minimum(n);
    for (std::size_t i = 0; i < n; ++i) {
      given[i] = exponent(all[i], prime);
      minimum[i] = system.fixed[i] ? given[i] : !all[i].empty() && all[i].begin()->first == prime ? 1 : 0;
    }
    std::vector<Products::Inequality> inequalities;
    for (const Products::Inequality& o : system.inequalities) {
      if (!system.distinct.empty() && part[o.less] != part[o.more]) continue;
      const auto differs = std::ranges::find_if(
          primes, [&](std::int64_t p) { return exponent(all[o.less], p) != exponent(all[o.more], p); });
      if (differs == primes.end() || *differs != prime) continue;
      inequalities.push_back(given[o.less] < given[o.more] ? o : Products::Inequality{o.more, o.less});
    }
    std::vector<int> best;
    int min_sum = 0;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      std::vector<int> x = small_exponents(system, minimum, given, inequalities, seed);
      const int sum = std::accumulate(x.begin(), x.end(), 0);
      if (best.empty() || sum < min_sum) best = std::move(x), min_sum = sum;
    }
    exponents[prime] = std::move(best);
  }
  // Makes values small: in ascending order the primes are replaced by 2, 3, 5, 2, 3, 5, and so on, which makes no prime larger. Factors
  // of fixed values are replaced by themselves, but count in this sequence.
  constexpr std::int64_t small[] = {2, 3, 5};
  std::map<std::int64_t, std::int64_t> usual;
  for (std::int64_t prime : primes)
    usual[prime] = kept_primes.count(prime) ? prime : std::min(prime, small[usual.size() % 3]);
  auto own = own_primes(system, part, kept_primes, exponents);
  if (!fits(system, part, exponents, own)) own.clear();
  std::vector<std::int64_t> result(n, 1);
  for (const auto& [prime, x] : exponents)
    for (std::size_t i = 0; i < n; ++i) {
      const auto at = own.find({part[i], prime});
      for (int e = 0; e < x[i]; ++e) result[i] *= at == own.end() ? usual.at(prime) : at->second;
    }
  return result;
}

}  // namespace zellige::number
