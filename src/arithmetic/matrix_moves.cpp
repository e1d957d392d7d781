#include "arithmetic/matrix_moves.hpp"

#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "zellige/atom/matrix_move_reference.hpp"

namespace zellige::arithmetic {

namespace {

// Where elements of 16 bits come from, by destination: `bytes` adjacent bytes (2 or 4) of thread `thread`'s source from byte
// `from` on.
struct ElementMove {
  std::uint8_t to_thread, to, thread, from, bytes;
};

struct MatrixMoves {
  std::vector<ElementMove> all;
  std::vector<std::uint8_t> sources, destinations;  // the threads that have them
};

// Returns the moves of an instruction; none if it is of another kind.
MatrixMoves make_moves(const Instruction& row) {
  MatrixMoves moves;
  if (row.body != reference::move_bits) return moves;
  constexpr int unit = 16;
  ElementMove whole[256] = {};  // by element: its source
  const reference::Offsets<32> from_threads(row.a.layout.threads), to_threads(row.c.layout.threads);
  const reference::Offsets<8> from(row.a.layout.values, unit), to(row.c.layout.values, unit);
  for (int t = 0; t < from_threads.count; ++t) {
    moves.sources.push_back(std::uint8_t(t));
    for (int i = 0; i < from.count; ++i)
      whole[(from_threads.at[t] + from.at[i]) / unit] = {0, 0, std::uint8_t(t), std::uint8_t(2 * i), 2};
  }
  for (int t = 0; t < to_threads.count; ++t) {
    moves.destinations.push_back(std::uint8_t(t));
    for (int i = 0; i < to.count; ++i) {
      ElementMove move = whole[(to_threads.at[t] + to.at[i]) / unit];
      move.to_thread = std::uint8_t(t), move.to = std::uint8_t(2 * i);
      ElementMove* const last = i % 2 == 1 ? &moves.all.back() : nullptr;
      if (last && last->bytes == 2 && last->thread == move.thread && last->from + 2 == move.from)
        last->bytes = 4;
      else
        moves.all.push_back(move);
    }
  }
  return moves;
}

const MatrixMoves& moves_of(const Instruction& row) {
  static thread_local std::unordered_map<const Instruction*, MatrixMoves> known;
  static thread_local const Instruction* last = nullptr;
  static thread_local const MatrixMoves* its = nullptr;
  if (last != &row) {
    const auto [found, fresh] = known.try_emplace(&row);
    if (fresh) found->second = make_moves(row);
    last = &row, its = &found->second;
  }
  return *its;
}

}  // namespace

bool move_matrices(const Instruction& row, const BodyOperands& operands) {
  const MatrixMoves& moves = moves_of(row);
  if (moves.all.empty()) return false;
  for (const std::uint8_t t : moves.sources)
    if (!operands.a[t]) return false;
  for (const std::uint8_t t : moves.destinations)
    if (!operands.d[t]) return false;
  for (const ElementMove& move : moves.all) {
    const auto* const from = static_cast<const unsigned char*>(operands.a[move.thread]) + move.from;
    auto* const to = static_cast<unsigned char*>(operands.d[move.to_thread]) + move.to;
    if (move.bytes == 4)
      std::memcpy(to, from, 4);
    else
      std::memcpy(to, from, 2);
  }
  return true;
}

}  // namespace zellige::arithmetic
