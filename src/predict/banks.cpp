#include "predict/banks.hpp"

#include <algorithm>

#include "graph/error.hpp"
#include "kernel/operand_loads.hpp"

namespace zellige::predict {

Wavefronts evaluate(const BankAccess& access, int banks, int bank_bytes) {
  const int bytes = access.bytes;
  if (bytes < 1 || bytes > 16 || (bytes & (bytes - 1)))
    fail("banks: an access of {} bytes per lane; 1, 2, 4, 8 or 16 are possible", bytes);
  if (banks < 1 || bank_bytes < 1) fail("banks: {} banks of {} bytes; both must be positive", banks, bank_bytes);
  const int lanes = static_cast<int>(access.address.size());
  const int per_phase = std::clamp(banks * bank_bytes / bytes, 1, 32);
  const auto agree = [&](int a, int b) {  // an inactive lane agrees with any
    return access.address[a] == access.address[b] || access.address[a] == -1 || access.address[b] == -1;
  };
  Wavefronts w;
  std::vector<std::int64_t> words;
  words.reserve(static_cast<std::size_t>(lanes) * (1 + (bytes - 1) / bank_bytes));
  std::vector<int> load(banks);
  for (int first = 0, phases = 1; first < lanes; first += phases * per_phase) {
    const bool two = access.load && per_phase < 32 && first % (2 * per_phase) == 0 && first + 2 * per_phase <= lanes &&
                     kernel::in_pairs(first, first + 2 * per_phase, agree);
    phases = two ? 2 : 1;
    words.clear();
    for (int lane = first; lane < std::min(lanes, first + phases * per_phase); ++lane) {
      const std::int64_t a = access.address[lane];
      if (a == -1) continue;
      if (a < 0 || a % bytes)
        fail(
            "banks: lane {} accesses {} bytes at address {}; a multiple of {}, or -1 for an inactive lane, "
            "is needed",
            lane, bytes, a, bytes);
      for (std::int64_t word = a / bank_bytes; word <= (a + bytes - 1) / bank_bytes; ++word) words.push_back(word);
    }
    std::ranges::sort(words);
    words.erase(std::unique(words.begin(), words.end()), words.end());
    std::ranges::fill(load, 0);
    for (std::int64_t word : words) ++load[word % banks];
    const int worst = *std::ranges::max_element(load);
    w.per_phase.push_back(worst);
    if (two) w.per_phase.push_back(0);
    w.total += worst;
    w.ideal += worst > 0;
    w.degree = std::max(w.degree, worst);
  }
  return w;
}

}  // namespace zellige::predict
