#include "plan/swizzle_search.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <span>

#include "graph/error.hpp"
#include "target/target.hpp"

namespace zellige::plan {
namespace {

using i64 = std::int64_t;
constexpr int bank_row = target::bank_row_bytes;
constexpr i64 max_lanes = 2'000'000;  // lanes evaluated before the search ends with its best result so far

// Returns the offset that CuTe's Swizzle<B,M,S> maps x to; x itself if B is 0.
i64 xored(i64 x, int B, int M, int S) { return B == 0 ? x : x ^ ((x & (((i64{1} << B) - 1) << (M + S))) >> S); }
int log2_of(i64 power) { return std::countr_zero(static_cast<std::uint64_t>(power)); }

std::string described(const std::vector<AccessPattern>& accesses, int a) {
  return accesses[a].name.empty() ? fmt::format("access {}", a) : accesses[a].name;
}

// Throws Error if the tensor is invalid (for example, rows longer than its row stride) or an access is (for
// example, one that is misaligned or outside the tensor).
void check(const Footprint& t, const std::vector<AccessPattern>& accesses) {
  if (t.rows < 1 || t.columns < 1) fail("swizzle: a tensor of {}x{}; both must be positive", t.rows, t.columns);
  if (t.row_stride < t.columns)
    fail("swizzle: a row stride of {} with {} columns; the stride must not be less", t.row_stride, t.columns);
  if (t.element_bytes < 1 || t.element_bytes > 16 || !std::has_single_bit(unsigned(t.element_bytes)))
    fail("swizzle: elements of {} bytes; 1, 2, 4, 8 or 16 are possible", t.element_bytes);
  if (t.chunk < 1 || !std::has_single_bit(unsigned(t.chunk)) || t.row_stride % t.chunk)
    fail(
        "swizzle: a chunk of {} elements with a row stride of {}; a power of two that divides the stride is "
        "needed",
        t.chunk, t.row_stride);
  for (int a = 0; a < static_cast<int>(accesses.size()); ++a) {
    const AccessPattern& p = accesses[a];
    if (p.bytes < t.element_bytes || p.bytes > 16 || !std::has_single_bit(unsigned(p.bytes)))
      fail(
          "swizzle: {} takes {} bytes per lane of elements of {}; a power of two between those and 16 is "
          "needed",
          described(accesses, a), p.bytes, t.element_bytes);
    if (p.matrix && p.bytes != 16)
      fail("swizzle: {} moves matrices with {} bytes per lane; ldmatrix and stmatrix take rows of 16",
           described(accesses, a), p.bytes);
    if (!(p.weight > 0)) fail("swizzle: {} has weight {}; more than 0 is needed", described(accesses, a), p.weight);
    const i64 width = p.bytes / t.element_bytes;
    for (const auto& lanes : p.instances)
      for (const auto& [row, column] : lanes) {
        if (row < 0) continue;
        if (row >= t.rows || column < 0 || column + width > t.row_stride)
          fail("swizzle: {} reaches ({}, {}) and {} elements on, outside {} rows of {}", described(accesses, a), row,
               column, width, t.rows, t.row_stride);
        if ((row * t.row_stride + column) % width)
          fail("swizzle: {} takes {} bytes at ({}, {}), offset {} elements; a multiple of {} is needed",
               described(accesses, a), p.bytes, row, column, row * t.row_stride + column, width);
      }
  }
}

// A warp-wide access: a pattern of lanes relative to (row, column), with the number of its occurrences.
struct Instance {
  int access, pattern;
  i64 row, column;
  i64 count;  // number of occurrences
};

// The bank conflicts of one warp-wide access: total wavefronts, and the most wavefronts of any phase.
struct Verdict {
  i64 wavefronts = 0;
  int degree = 0;
};

// The bank conflicts of all accesses under one candidate. `worst` is the access with the highest degree.
struct Score {
  double weighted = 0;
  i64 wavefronts = 0;
  int degree = 0, worst = -1;
};

// Evaluates the bank conflicts of candidate layouts. Equal accesses are evaluated once, also if one is a
// translate of the other.
class Evaluator {
 public:
  /// Aligned runs of `step` elements stay contiguous in every candidate.
  Evaluator(const Footprint& tensor, const std::vector<AccessPattern>& accesses, i64 step)
      : t_(tensor), accesses_(accesses) {
    using Lanes = std::vector<std::pair<int, int>>;
    std::map<std::pair<int, Lanes>, int> patterns, seen;
    for (int a = 0; a < static_cast<int>(accesses.size()); ++a)
      for (const Lanes& lanes : accesses[a].instances) {
        const auto first = std::ranges::find_if(lanes, [](const auto& l) { return l.first >= 0; });
        if (first == lanes.end()) continue;
        const auto [at, fresh] = seen.try_emplace({a, lanes}, static_cast<int>(instances_.size()));
        if (!fresh) {
          ++instances_[at->second].count;
          continue;
        }
        Lanes relative = lanes;
        for (auto& [row, column] : relative)
          if (row >= 0)
            row -= first->first, column -= first->second;
          else
            row = off, column = 0;
        const int pattern = patterns.try_emplace({a, relative}, static_cast<int>(patterns_.size())).first->second;
        if (pattern == static_cast<int>(patterns_.size())) patterns_.push_back(relative);
        instances_.push_back({a, pattern, first->first, first->second, 1});
      }
    cache_.resize(std::bit_ceil(instances_.size() * 2 + 1));
    for (const Instance& i : instances_) {
      const auto& lanes = patterns_[i.pattern];
      const int per_phase = std::min(32, bank_row / accesses[i.access].bytes);
      for (std::size_t first = 0; first < lanes.size(); first += per_phase) {
        const int minimum = min_wavefronts(i, first, std::min(lanes.size(), first + per_phase), step);
        ideal_ += i.count * (minimum > 0);
        minimum_ += accesses[i.access].weight * static_cast<double>(minimum * i.count);
      }
    }
  }

  // Returns a lower bound of the weighted wavefronts of all candidates.
  double minimum() const { return minimum_; }
  // Returns the number of wavefronts that all accesses would take without bank conflicts.
  i64 ideal() const { return ideal_; }
  // Returns true if the search must stop, because it has evaluated the addresses of more than two million lanes
  // (max_lanes).
  bool spent() const { return lanes_ > max_lanes; }

  // Sets `out` to the score of candidate `c`. Returns false, with an incomplete score, as soon as the
  // weighted wavefronts reach `limit`.
  bool score(const SwizzleChoice& c, double limit, Score& out) {
    out = {};
    ++generation_;
    // Moving an access by a multiple of the xor's period only rotates the banks, so accesses that differ by
    // such a move share one evaluation.
    const i64 period = c.B ? i64{1} << (c.B + c.M + c.S) : bank_row / t_.element_bytes;
    for (const Instance& i : instances_) {
      const i64 offset = i.row * (t_.row_stride + c.shift) + i.column;
      const Verdict v = look_up(i, offset & (period - 1), c);
      out.wavefronts += v.wavefronts * i.count;
      out.weighted += accesses_[i.access].weight * static_cast<double>(v.wavefronts * i.count);
      if (v.degree > out.degree) out.degree = v.degree, out.worst = i.access;
      if (out.weighted >= limit) return false;
    }
    return true;
  }

 private:
  static constexpr int off = -(1 << 30);  // the row of an inactive lane; no relative row is this low

  struct Entry {
    unsigned generation = 0;
    int pattern = 0;
    i64 phase = 0;
    Verdict verdict;
  };

  // Returns a lower bound, over all candidates, of the wavefronts of one phase (lanes `first` to `end`) of
  // access `i`. Every candidate keeps each aligned run of `step` elements contiguous, so that the 128 bytes of
  // the banks hold only c = 128 / (bytes per run) runs next to each other. If lanes read words at the same offset
  // within r different runs, at least r / c of these words are in the same bank.
  int min_wavefronts(const Instance& i, std::size_t first, std::size_t end, i64 step) const {
    const auto& lanes = patterns_[i.pattern];
    const i64 unit = std::max(4, accesses_[i.access].bytes), run = step * t_.element_bytes;
    const bool bound = t_.row_stride % step == 0 && run >= unit;  // otherwise there is no bound
    struct Request {
      i64 offset, row, run;  // in the run, in words; of the run
      auto operator<=>(const Request&) const = default;
    };
    std::array<Request, 32> requests;
    std::size_t count = 0;
    for (std::size_t lane = first; lane < end; ++lane)
      if (const auto& [row, column] = lanes[lane]; row != off) {
        const i64 at = i.column + column;
        requests[count++] = {at % step * t_.element_bytes / unit, i.row + row, at / step};
      }
    if (count == 0 || !bound) return count > 0;
    const auto all = std::span(requests).first(count);
    std::ranges::sort(all);
    const i64 choices = std::max<i64>(1, bank_row / run);
    i64 minimum = 1, runs = 1;  // of the requests so far at one offset, how many runs
    for (std::size_t r = 1; r < count; ++r) {
      if (all[r] == all[r - 1]) continue;
      runs = all[r].offset == all[r - 1].offset ? runs + 1 : 1;
      minimum = std::max(minimum, (runs + choices - 1) / choices);
    }
    return static_cast<int>(minimum);
  }

  // Returns the bank conflicts of access `i` under candidate `c`, from the cache if they are known. The
  // swizzle's xor is periodic; `phase` is the access's offset modulo the period.
  Verdict look_up(const Instance& i, i64 phase, const SwizzleChoice& c) {
    std::size_t h = (static_cast<std::size_t>(phase) * 1000003u + i.pattern) * 0x9e3779b97f4a7c15u;
    for (h ^= h >> 32;; ++h) {
      Entry& e = cache_[h & (cache_.size() - 1)];
      if (e.generation == generation_ && (e.phase != phase || e.pattern != i.pattern)) continue;
      if (e.generation != generation_) e = {generation_, i.pattern, phase, evaluate(i, c)};
      return e.verdict;
    }
  }

  // Returns the bank conflicts of access `i` under candidate `c`. For aligned accesses the result is that of
  // evaluate() in banks.hpp. Instead of single banks, this function counts groups of adjacent banks, each of
  // which serves the bytes of one lane (at least a 4-byte word).
  Verdict evaluate(const Instance& i, const SwizzleChoice& c) {
    const int bytes = accesses_[i.access].bytes, unit = std::max(4, bytes), groups = bank_row / unit;
    const int per_phase = std::min(32, bank_row / bytes), shift = log2_of(unit);
    const auto& lanes = patterns_[i.pattern];
    const i64 stride = t_.row_stride + c.shift;
    Verdict v;
    lanes_ += static_cast<i64>(lanes.size());
    for (std::size_t first = 0; first < lanes.size(); first += per_phase) {
      std::fill_n(load_, groups, 0);
      int worst = 0;
      for (std::size_t lane = first; lane < std::min(lanes.size(), first + per_phase); ++lane) {
        if (lanes[lane].first == off) continue;
        const i64 offset = (i.row + lanes[lane].first) * stride + i.column + lanes[lane].second;
        const i64 word = (xored(offset, c.B, c.M, c.S) * t_.element_bytes) >> shift;
        const int group = static_cast<int>(word & (groups - 1));
        i64* words = words_[group];
        int k = 0;
        while (k < load_[group] && words[k] != word) ++k;
        if (k == load_[group]) words[load_[group]++] = word, worst = std::max(worst, k + 1);
      }
      v.wavefronts += worst;
      v.degree = std::max(v.degree, worst);
    }
    return v;
  }

  const Footprint& t_;
  const std::vector<AccessPattern>& accesses_;
  std::vector<std::vector<std::pair<int, int>>> patterns_;
  std::vector<Instance> instances_;
  std::vector<Entry> cache_;
  unsigned generation_ = 0;
  double minimum_ = 0;
  i64 ideal_ = 0, lanes_ = 0;
  int load_[32];
  i64 words_[32][32];
};

// Returns whether the candidate's xor keeps every element inside the footprint. An xor permutes each aligned
// block of 2^(B+M) elements, so only an incomplete last block can exceed the footprint.
bool fits_inside(const Footprint& t, const SwizzleChoice& c) {
  const i64 stride = t.row_stride + c.shift, size = t.rows * stride, block = i64{1} << (c.B + c.M);
  for (i64 x = size / block * block; x < size; ++x)
    if (x % stride < t.row_stride && xored(x, c.B, c.M, c.S) >= size)
      return false;  // padding after a row has no elements
  return true;
}

// Returns the candidate as a string for SwizzleChoice::reason: "Swizzle<3,3,3> and rows 8 elements longer".
std::string named(const SwizzleChoice& c) {
  const std::string bits = c.B ? fmt::format("Swizzle<{},{},{}>", c.B, c.M, c.S) : "";
  const std::string pad = c.shift ? fmt::format("rows {} elements longer", c.shift) : "";
  return bits.empty() && pad.empty() ? "no swizzle" : bits + (bits.empty() || pad.empty() ? "" : " and ") + pad;
}

}  // namespace

SwizzleChoice choose_swizzle(const Footprint& tensor, const std::vector<AccessPattern>& accesses,
                             const SwizzleLimits& limits) {
  check(tensor, accesses);
  i64 step = tensor.chunk;  // number of elements that must stay contiguous
  for (const AccessPattern& p : accesses) step = std::max<i64>(step, p.bytes / tensor.element_bytes);
  Evaluator evaluator(tensor, accesses, step);
  SwizzleChoice best;
  best.elements = tensor.rows * tensor.row_stride;
  Score best_score;
  evaluator.score(best, 1e300, best_score);

  const int lowest = log2_of(step), bank_bits = log2_of(bank_row / tensor.element_bytes);
  auto attempt = [&](SwizzleChoice c) {
    Score score;
    if (c.B && !fits_inside(tensor, c)) return;
    if (evaluator.score(c, best_score.weighted, score)) best = c, best_score = score;
  };
  auto done = [&] { return best_score.weighted <= evaluator.minimum() || evaluator.spent(); };
  // Candidates with less memory come first. A later candidate must be strictly better, so that ties keep
  // the one with less memory.
  const i64 shifts = limits.may_shift && tensor.rows > 1 ? std::max<i64>(1, bank_row / tensor.element_bytes / step) : 1;
  for (i64 i = 0; i < shifts && !done(); ++i) {
    SwizzleChoice c;
    c.shift = i * step;
    c.elements = tensor.rows * (tensor.row_stride + c.shift);
    if (i > 0) attempt(c);
    if (!limits.may_xor) continue;
    const int bits = std::bit_width(static_cast<std::uint64_t>(c.elements - 1));
    for (c.B = 1; c.B <= bank_bits - lowest; ++c.B)
      for (c.M = lowest; c.M + c.B <= bank_bits; ++c.M)
        for (c.S = c.B; c.M + c.S < bits && !done(); ++c.S) attempt(c);
  }

  best.wavefronts = best_score.wavefronts;
  best.ideal = evaluator.ideal();
  best.degree = best_score.degree;
  if (best.degree <= 1) {
    best.reason = fmt::format("{}: all accesses are conflict-free", named(best));
  } else {
    best.worst_access = best_score.worst;
    best.reason =
        fmt::format("{}: {} keeps a conflict of degree {}, {} wavefronts of an ideal {} in all; {}", named(best),
                    described(accesses, best.worst_access), best.degree, best.wavefronts, best.ideal,
                    best_score.weighted <= evaluator.minimum() ? "no arrangement of its chunks has fewer"
                    : evaluator.spent()                        ? "the search was cut short"
                                                               : "no candidate has fewer");
  }
  return best;
}

}  // namespace zellige::plan
