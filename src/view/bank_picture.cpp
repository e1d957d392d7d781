#include <fmt/format.h>

#include <algorithm>
#include <zellige/emulate/wavefronts.hpp>

#include "view/picture.hpp"

namespace zellige::view {
namespace {

constexpr int banks = 32, bank_bytes = 4;

// Returns the character by which the picture shows a wavefront: "1" for wavefront 0, then "2" to "9" and "a"
// to "z", which also denotes all later wavefronts.
std::string sign(int wavefront) {
  return std::string(1, "123456789abcdefghijklmnopqrstuvwxyz"[std::min(wavefront, 34)]);
}

// Returns the grid, with a row per lane and a column per bank, for the lanes [first, last), which the
// hardware serves in phase `phase`. `wavefronts` is the number of wavefronts of this phase.
Grid phase_grid(const predict::BankAccess& a, int first, int last, int phase, int wavefronts) {
  Grid g{.rows = last - first,
         .columns = banks,
         .column_step = 8,
         .corner = "bank",
         .dense = true,
         .row_axis = "lane",
         .column_axis = "bank"};
  g.cells.resize(std::size_t(g.rows) * banks);
  g.title = fmt::format("phase {}, lanes {}-{}: {} wavefront{}", phase, first, last - 1, wavefronts,
                        wavefronts == 1 ? "" : "s");
  std::vector<std::int64_t> asked[banks];  // the words requested from each bank, in order
  for (int lane = first; lane < last; ++lane) {
    g.row_labels.push_back(fmt::format("{}", lane));
    const std::int64_t at = a.address[lane];
    if (at < 0) continue;
    for (std::int64_t word = at / bank_bytes; word <= (at + a.bytes - 1) / bank_bytes; ++word) {
      auto& words = asked[word % banks];
      const auto found = std::ranges::find(words, word);
      const int wave = static_cast<int>(found - words.begin());
      if (found == words.end()) words.push_back(word);
      GridCell& c = g.cells[std::size_t(lane - first) * banks + std::size_t(word % banks)];
      c.label = sign(wave);
      c.hover =
          fmt::format("lane {}: byte {}, word {} of bank {}, wavefront {}", lane, at, word, word % banks, wave + 1);
      c.colour = heat(wave, std::max(wavefronts, 2));
    }
  }
  return g;
}

}  // namespace

Picture bank_picture(const predict::BankAccess& a, const std::string& title) {
  Picture p{.title = title};
  const predict::Wavefronts w = predict::evaluate(a);
  const int lanes = static_cast<int>(a.address.size()), step = emulate::lanes_per_phase(a.bytes);
  auto active = [&](int first) {
    const int last = std::min(lanes, first + step);
    return std::any_of(a.address.begin() + first, a.address.begin() + last, [](auto at) { return at >= 0; });
  };
  for (int first = 0, phase = 0; first < lanes;) {
    // A phase that has lanes but no wavefronts of its own is merged with the preceding one and drawn with it.
    const int next = first + step;
    const bool two = next < lanes && w.per_phase[std::size_t(phase) + 1] == 0 && active(next);
    const int last = std::min(lanes, first + (two ? 2 : 1) * step);
    p.grids.push_back(phase_grid(a, first, last, phase, w.per_phase[phase]));
    first = last;
    phase += two ? 2 : 1;
  }
  return p;
}

}  // namespace zellige::view
