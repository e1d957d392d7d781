#include "plan/swizzle.hpp"

#include <algorithm>
#include <bit>

#include "kernel/evaluated_layout.hpp"
#include "kernel/leaves.hpp"
#include "kernel/operand_loads.hpp"
#include "kernel/widened.hpp"
#include "plan/group.hpp"
#include "plan/swizzle_search.hpp"
#include "selection/layouts.hpp"
#include "selection/matrix_stores.hpp"
#include "target/pipe.hpp"

namespace zellige::plan {
namespace {

constexpr int max_instances = 12;  // warp-wide accesses per task: the others repeat the same pattern

/// Returns (row, column) of the coordinate `at` in the buffer. A coordinate beyond the buffer is limited to
/// the last one in its dimension.
std::pair<int, int> cell(const kernel::SmemTensor& buffer, const graph::Shape& at) {
  std::int64_t row = 0;
  for (int d = 0; d < buffer.rank(); ++d)
    if (d != buffer.inner) row = row * buffer.padded[d] + std::min(at[d], buffer.padded[d] - 1);
  return {static_cast<int>(row), static_cast<int>(std::min(at[buffer.inner], buffer.padded[buffer.inner] - 1))};
}

/// Returns whether a coordinate is within the buffer. It is outside if the buffer is one operand of a concatenation
/// and the coordinate is in another operand. A dimension of extent 1 accepts every coordinate.
bool reaches(const kernel::SmemTensor& buffer, const graph::Shape& at) {
  bool inside = at.size() == buffer.padded.size();
  for (int d = 0; inside && d < buffer.rank(); ++d) inside = at[d] < buffer.padded[d] || buffer.padded[d] == 1;
  return inside;
}

/// Appends to `to` the accesses to the buffer by a task that is a copy or a loop nest.
void append_swept(const kernel::Kernel& kernel, const selection::WorkItem& t, const kernel::SmemTensor& buffer,
                  std::vector<AccessPattern>& to) {
  const kernel::Context& c = kernel.layout_of(t);
  const bool product =
      t.kind == kernel::WorkKind::reduce && kernel.program.nodes[t.node].kind == tile::NodeKind::matmul;
  const bool sums = t.kind == kernel::WorkKind::finish;
  for (int side = 0; side < (product ? 2 : 1); ++side) {
    // An operand, or what is evaluated inline for it, may not read the buffer.
    if (product && std::ranges::count(kernel::leaves(kernel.program, kernel.program.nodes[t.node].in[side], {}),
                                      buffer.node, &kernel::Leaf::node) == 0)
      continue;
    AccessPattern p;
    p.name = std::string(kernel::name(t.kind));
    p.bytes = (sums ? 1 : buffer.access_width(c.inner(), c.vector())) * graph::whole_bytes(buffer.dtype);
    p.instances.reserve(max_instances);
    const kernel::UseAccess add = [&](int, const kernel::WarpAccess& access) {
      std::vector<std::pair<int, int>>& lanes = p.instances.emplace_back();
      lanes.reserve(access.size());
      const auto lane = [&](const graph::Shape& at) {
        lanes.push_back(reaches(buffer, at) ? cell(buffer, at) : std::make_pair(-1, 0));
      };
      for (const graph::Shape& at : access) product && !at.empty() ? lane(kernel::factor(at, side)) : lane(at);
    };
    kernel::for_each_access(c, add, max_instances, sums ? kernel::Visits::sums : kernel::Visits::items);
    to.push_back(std::move(p));
  }
}

/// Returns the matrices by which warps store their accumulators in the buffer (stmatrix).
AccessPattern stored_matrices(const kernel::Kernel& kernel, const selection::WorkItem& t,
                              const kernel::SmemTensor& buffer) {
  AccessPattern p;
  p.bytes = t.copy.row->c.alignment, p.matrix = true, p.name = std::string(kernel::name(t.kind));
  const kernel::UseAccess add = [&](int, const kernel::WarpAccess& rows) {
    std::vector<std::pair<int, int>>& lanes = p.instances.emplace_back();
    for (const graph::Shape& at : rows) lanes.push_back(cell(buffer, at));
  };
  selection::for_each_matrix(kernel.layout_of(t), *t.copy.row, add, max_instances);
  return p;
}

/// Returns the ordinary loads of operand A (side 0) or B (side 1) of a matmul by one warp: in the first
/// two steps over K, for the warp's first two tiles.
AccessPattern ordinary_loads(const kernel::MatmulChoice& m, int side, const kernel::SmemTensor& buffer) {
  const std::int64_t extent = side == 0 ? m.m : m.n, tile = side == 0 ? m.row->m : m.row->n;
  AccessPattern p;
  p.name = "loads of a product";
  p.weight = m.row->cycles;  // shared-memory reads limit such a matmul
  graph::Shape at(buffer.rank(), 0);
  for (std::int64_t x = 0; x < std::min(extent, 2 * tile); x += tile)
    for (std::int64_t k = 0; k < std::min<std::int64_t>(m.k, std::int64_t{2} * m.row->k); k += m.row->k)
      for (const kernel::OperandLoad& load : kernel::operand_loads(m, side, buffer.along_k(side), x, extent, k)) {
        p.bytes = load.bytes;
        for (const std::vector<kernel::OperandLoad::At>& lanes : kernel::together(load)) {
          std::vector<std::pair<int, int>> cells;
          cells.reserve(lanes.size());
          for (const kernel::OperandLoad::At& lane : lanes) {
            at[buffer.k_dimension(side)] = lane.k, at[buffer.other_dimension(side)] = lane.x;
            cells.push_back(cell(buffer, at));
          }
          p.instances.push_back(std::move(cells));
        }
      }
  return p;
}

/// Returns the accesses by which ldmatrix reads an operand of matmul `m` from the buffer. Rows of the matrices run
/// along the buffer's contiguous dimension, for A and for B.
AccessPattern fragments(const kernel::MatmulChoice& m, const kernel::SmemTensor& buffer) {
  const Instruction& load = *m.load;
  const int rows = kernel::matrix_rows(load), columns = kernel::matrix_columns(load, *m.row);
  AccessPattern p;
  p.bytes = load.a.alignment, p.matrix = true, p.weight = load.cycles, p.name = "ldmatrix";
  const int across = buffer.inner == buffer.rank() - 1 ? buffer.rank() - 2 : buffer.rank() - 1;
  graph::Shape at(buffer.rank(), 0);
  for (std::int64_t r = 0; r < std::min<std::int64_t>(buffer.padded[across], 32); r += rows)
    for (std::int64_t c = 0; c < std::min<std::int64_t>(buffer.padded[buffer.inner], 64); c += columns) {
      std::vector<std::pair<int, int>> lanes;
      lanes.reserve(rows);
      for (int lane = 0; lane < rows; ++lane) {
        at[across] = std::min(r + lane, buffer.padded[across] - 1);
        at[buffer.inner] = c;
        lanes.push_back(cell(buffer, at));
      }
      p.instances.push_back(std::move(lanes));
    }
  return p;
}

/// Returns the loads by which a matmul that widens its B in registers reads A (side 0), or the bytes of B: the four lanes of
/// a row or column have neighbours along K, `words` times 8 elements each.
AccessPattern widened_loads(const kernel::SmemTensor& buffer, int side, int words) {
  const int bytes = side == 0 ? 16 : 4 * words, elements = side == 0 ? 8 * words : 4 * words;  // of a load; of a lane
  const int lanes = 128 / bytes;  // whose loads are served together
  AccessPattern p;
  p.name = "loads of a product", p.bytes = bytes;
  graph::Shape at(buffer.rank(), 0);
  const int along = buffer.k_dimension(side), across = buffer.other_dimension(side);
  for (std::int64_t k = 0; k < std::min<std::int64_t>(buffer.padded[along], 256); k += 4 * elements)
    for (int first = 0; first < 32; first += lanes) {
      std::vector<std::pair<int, int>> cells;
      for (int lane = first; lane < first + lanes; ++lane) {
        at[across] = std::min<std::int64_t>(lane / 4, buffer.padded[across] - 1);
        at[along] = k + lane % 4 * elements;
        cells.push_back(cell(buffer, at));
      }
      p.instances.push_back(std::move(cells));
    }
  return p;
}

/// Appends to `to` the loads by which a matmul reads the buffer: ldmatrix, or ordinary loads.
void append_operand(const kernel::Kernel& kernel, const selection::WorkItem& t, const kernel::SmemTensor& buffer,
                    std::vector<AccessPattern>& to) {
  const kernel::MatmulChoice& m = t.matmul;
  const std::vector<int>& in = kernel.program.nodes[t.node].in;
  if (const auto widened = kernel::widened_operand(kernel.program, t.node, m); widened && widened->side == 1) {
    const int words = kernel::widened_words(*widened, m);
    if (buffer.node == in[0]) to.push_back(widened_loads(buffer, 0, words));
    if (buffer.node == widened->bytes) to.push_back(widened_loads(buffer, 1, words));
    return;
  }
  for (int side = 0; side < 2; ++side) {
    if (in[side] != buffer.node) continue;
    if (m.by_matrices(buffer.along_k(side))) return to.push_back(fragments(m, buffer));
    to.push_back(ordinary_loads(m, side, buffer));
  }
}

/// Returns the accesses of all tasks of the kernel to the buffer, a few warp-wide instances of each.
std::vector<AccessPattern> patterns(const kernel::Kernel& kernel, const selection::Tasks& tasks, int index) {
  const kernel::SmemTensor& buffer = kernel.tensors[index];
  std::vector<AccessPattern> result;
  for (const selection::WorkItem& t : tasks) {
    const bool reads = std::ranges::find(t.reads, index, &kernel::Access::tensor) != t.reads.end();
    const bool writes = t.tensor == index && t.kind != kernel::WorkKind::to_global;
    if (!reads && !writes) continue;
    if (t.kind == kernel::WorkKind::mma)
      append_operand(kernel, t, buffer, result);
    else if (t.copy.by_matrices())
      result.push_back(stored_matrices(kernel, t, buffer));
    else
      append_swept(kernel, t, buffer, result);
  }
  return result;
}

/// Chooses strides, swizzle and sizes of one buffer.
class BufferArrangement {
 public:
  BufferArrangement(kernel::Kernel& kernel, const selection::Tasks& tasks, const target::Target& target, int b)
      : plan_(kernel), tasks_(tasks), target_(target), index_(b), buffer_(kernel.tensors[b]) {}

  /// Sets the buffer's layout, sizes in elements and bytes, and swizzle_reason, and adds a note if a conflict remains.
  void run(Swizzles swizzles) {
    const auto by_tma = [&](const selection::WorkItem& t) { return t.tensor == index_ && t.copy.by_tensor_map(); };
    if (std::ranges::any_of(tasks_, by_tma)) return in_spans(widens() ? of_line() : target::widest(admissible()));
    const int size = graph::whole_bytes(buffer_.dtype), chunk = target_.access_bytes / size;
    graph::Strides strides = selection::padded_strides(buffer_.padded, buffer_.inner, chunk);
    const std::int64_t rows = rows_of_tile(), pitch = pitch_of(strides, rows, chunk);
    SwizzleChoice choice;
    const bool several = rows > 1 && buffer_.padded[buffer_.inner] > 1;
    if (several && swizzles == Swizzles::automatic) {
      const Footprint tile{rows, buffer_.padded[buffer_.inner], pitch, size, chunk};
      choice = choose_swizzle(tile, patterns(plan_, tasks_, index_), {.may_xor = buffer_.partials == 1 && !in_parts()});
      buffer_.swizzle_reason = choice.reason;
      if (choice.degree > 1) plan_.notes.push_back(fmt::format("{}: {}", buffer_.name, choice.reason));
    }
    if (several) set_pitch(strides, pitch + choice.shift);
    buffer_.layout = kernel::swizzled(choice.B, choice.M, choice.S, kernel::strided(buffer_.padded, strides));
    // A last chunk may exceed the last element.
    buffer_.part_step = tile::ceil_div(rows * (pitch + choice.shift), chunk) * chunk * size;
    buffer_.stage_step = tile::ceil_div(buffer_.stage_bytes(), 128) * 128;
  }

 private:
  /// Returns the swizzles that all instructions admit which address the buffer as a tile: TMA, and wgmma by descriptors.
  unsigned admissible() const {
    unsigned all = ~0u;
    for (const selection::WorkItem& t : tasks_) {
      if (t.tensor == index_ && t.copy.by_tensor_map())
        all &= (kernel::is_global_load(t.kind) ? t.copy.row->c : t.copy.row->a).swizzles & within_part(t);
      if (t.kind != kernel::WorkKind::mma || t.matmul.proxy() != target::Proxy::async) continue;
      const std::vector<int>& in = plan_.program.nodes[t.node].in;
      for (int side = 0; side < 2; ++side)
        if (in[side] == buffer_.node) all &= (side == 0 ? t.matmul.row->a : t.matmul.row->b).swizzles;
    }
    return all;
  }

  /// Returns whether the buffer has weights of 4 or 8 bits that threads widen into registers.
  bool widens() const {
    const auto of_buffer = [&](const selection::WorkItem& t) {
      const auto w = t.kind == kernel::WorkKind::mma && t.matmul.asynchronous()
                         ? kernel::widened_operand(plan_.program, t.node, t.matmul)
                         : std::nullopt;
      return w && w->bytes == buffer_.node;
    };
    return std::ranges::any_of(tasks_, of_buffer);
  }
  /// Returns the swizzle whose spans are the buffer's lines.
  SwizzleMode of_line() const {
    const std::int64_t line = graph::bytes_of(buffer_.padded[buffer_.inner], buffer_.dtype);
    return SwizzleMode(std::countr_zero(static_cast<std::uint64_t>(line)) -
                       std::countr_zero(swizzle_span(SwizzleMode::none)));
  }

  /// Returns the swizzles of which a block's part of the buffer, if task t has parts along its lines, is whole spans.
  unsigned within_part(const selection::WorkItem& t) const {
    if (t.part != buffer_.inner) return ~0u;
    const std::int64_t part = graph::bytes_of(buffer_.shape[buffer_.inner] / plan_.cluster, buffer_.dtype);
    unsigned all = 0;
    for (unsigned mode = 0; part % swizzle_span(SwizzleMode(mode)) == 0; ++mode) all |= 1u << mode;
    return all;
  }

  /// Sets the layout that TMA writes and wgmma reads with this swizzle: spans as long as its lines. The first span of all
  /// rows is followed by the second span of all rows, and so on.
  void in_spans(SwizzleMode mode) {
    const int size = graph::whole_bytes(buffer_.dtype), chunk = target_.access_bytes / size;
    const std::int64_t span = swizzle_span(mode), line = span / size;
    const std::int64_t rows = rows_of_tile(), boxes = tile::ceil_div(buffer_.padded[buffer_.inner], line);
    graph::Strides strides = selection::padded_strides(buffer_.padded, buffer_.inner, chunk);
    set_pitch(strides, line);
    Value tile = empty(ValueKind::layout);
    for (int d = 0; d < buffer_.rank(); ++d)
      tile.add(d == buffer_.inner && buffer_.shape[d] != line ? kernel::strided({line, boxes}, {1, rows * line})
                                                              : kernel::strided({buffer_.padded[d]}, {strides[d]})[0]);
    buffer_.layout = kernel::swizzled(static_cast<int>(mode), std::countr_zero(static_cast<unsigned>(chunk)), 3, tile);
    buffer_.swizzle_reason = fmt::format("spans of {} bytes, as TMA swizzles them", span);
    buffer_.part_step = boxes * rows * line * size;
    buffer_.stage_step = tile::ceil_div(buffer_.part_step, 8 * span) * 8 * span;
  }

  /// Returns the number of lines along the contiguous dimension.
  std::int64_t rows_of_tile() const { return graph::size(buffer_.padded) / buffer_.padded[buffer_.inner]; }

  /// Returns whether a matmul reads a part of the buffer that depends on the iteration (Node::window). Such a
  /// buffer gets no swizzle, because the effect of a swizzle's xor would depend on where the part begins.
  bool in_parts() const {
    return std::ranges::any_of(plan_.program.nodes,
                               [&](const tile::Node& n) { return n.window && n.in[0] == buffer_.node; });
  }

  /// Returns the row stride of the buffer, in elements: a multiple of `multiple`, unless rows have one
  /// element. `rows` is the number of rows, `strides` what padded_strides() returns for them.
  std::int64_t pitch_of(const graph::Strides& strides, std::int64_t rows, std::int64_t multiple) const {
    const std::int64_t inner = buffer_.padded[buffer_.inner];
    if (inner > 1) return tile::ceil_div(inner, multiple) * multiple;  // a single row too: copies move whole chunks
    std::int64_t maximum = 1;  // rows of one element: padded_strides may have padded one of them
    for (int d = 0; d < buffer_.rank(); ++d) maximum = std::max(maximum, strides[d] * buffer_.padded[d]);
    return tile::ceil_div(maximum, rows);
  }

  /// Sets the strides for rows of `pitch` elements; rows are the dimensions other than the
  /// contiguous one, in row-major order.
  void set_pitch(graph::Strides& strides, std::int64_t pitch) const {
    for (int d = buffer_.rank() - 1; d >= 0; --d)
      if (d != buffer_.inner) strides[d] = pitch, pitch *= buffer_.padded[d];
  }

  kernel::Kernel& plan_;
  const selection::Tasks& tasks_;
  const target::Target& target_;
  int index_;
  kernel::SmemTensor& buffer_;
};

}  // namespace

void arrange_parts(kernel::Kernel& kernel, const selection::Tasks& tasks, const target::Target& target) {
  for (const selection::WorkItem& t : tasks)
    if (t.part >= 0 && t.tensor >= 0) BufferArrangement(kernel, tasks, target, t.tensor).run(Swizzles::automatic);
}

void arrange_buffers(kernel::Kernel& kernel, const selection::Tasks& tasks, const target::Target& target,
                     Swizzles swizzles) {
  for (int b = 0; b < static_cast<int>(kernel.tensors.size()); ++b)
    BufferArrangement(kernel, tasks, target, b).run(swizzles);
}

}  // namespace zellige::plan
