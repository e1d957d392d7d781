#include <algorithm>
#include <bit>
#include <zellige/layout/algebra/swizzle.hpp>
#include <zellige/layout/text.hpp>

#include "kernel/evaluated_layout.hpp"
#include "kernel/operand_loads.hpp"
#include "kernel/tensor_columns.hpp"
#include "target/pipe.hpp"
#include "verify/proofs.hpp"
#include "verify/rejected.hpp"

namespace zellige::verify {
namespace {

/// Returns true if a matmul reads the value of `b` that no step does: its result is not used, and nothing follows from it.
bool is_read_by_unused(const Kernel& k, const SmemTensor& b) {
  return std::ranges::any_of(k.program.consumers(b.node), [&](int reader) {
    return k.program.nodes[reader].kind == NodeKind::matmul && !k.product_of(reader);
  });
}

/// Returns the shape of a tile with the padding that the matmuls read by whose instructions it is multiplied, and whether
/// there are such.
std::pair<Shape, bool> padded(const Kernel& k, const SmemTensor& b) {
  const TileProgram& p = k.program;
  const int last = static_cast<int>(b.shape.size()) - 1;
  Shape all = b.shape;
  bool multiplied = false;
  for (const int reader : p.consumers(b.node)) {
    const Work* product = k.product_of(reader);
    if (!product || product->kind != WorkKind::mma || !product->matmul.row) continue;
    const int unit = kernel::operand_unit(product->matmul);
    for (int side = 0; side < 2; ++side) {
      if (p.nodes[reader].in[side] != b.node) continue;
      multiplied = true;
      for (const int d : {side == 0 ? last : last - 1, b.inner}) all[d] = tile::ceil_div(all[d], unit) * unit;
    }
  }
  return {all, multiplied};
}

/// Returns the swizzles (bit i: SwizzleMode i) that all instructions admit which address tensor `t` as a tile, TMA and wgmma;
/// nullopt: none addresses it so.
std::optional<unsigned> admitted(const Kernel& k, const std::vector<Work>& all, int t) {
  unsigned modes = ~0u;
  bool any = false;
  for (const Work& w : all) {
    if (w.tensor == t && w.copy.by_tensor_map()) {
      const Instruction::Operand& tile = kernel::is_global_load(w.kind) ? w.copy.row->c : w.copy.row->a;
      any = true;
      if (tile.space != kernel::Space::dsmem) modes &= tile.swizzles;  // a multicast has those of TMA, all
    }
    if (w.kind != WorkKind::mma || w.matmul.proxy() != target::Proxy::async) continue;
    const std::vector<int>& in = k.program.nodes[w.node].in;
    for (int side = 0; side < 2; ++side) {
      const Instruction::Operand& tile = side == 0 ? w.matmul.row->a : w.matmul.row->b;
      if (tile.space != kernel::Space::rmem && k.tensor_of(in[side]) == t) any = true, modes &= tile.swizzles;
    }
  }
  return any ? std::optional(modes) : std::nullopt;
}

/// Rejects the layout of a tensor that TMA fills or reads unless it is that of TMA's boxes with one of the swizzles `admitted`:
/// spans as long as the swizzle's lines, the first span of all rows, then the second span of all rows, and so on.
void check_spans(const Kernel& k, const SmemTensor& b, unsigned admitted) {
  const int size = graph::whole_bytes(b.dtype), chunk = b.chunk(), rank = static_cast<int>(b.padded.size());
  const std::int64_t span = b.span(), line = span / size, rows = graph::size(b.padded) / b.padded[b.inner],
                     boxes = tile::ceil_div(b.padded[b.inner], line);
  const int mode = std::bit_width(static_cast<std::uint64_t>(span / kernel::chunk_bytes)) - 1;
  if (mode > 3 || (admitted >> mode & 1) == 0)
    reject(k, "{} has a swizzle of spans of {} bytes, which the instructions that address it do not have", b.name,
           span);
  if (b.offset % (8 * span) != 0)
    reject(k, "{} lies at byte {}; a swizzle of spans of {} bytes repeats every {}", b.name, b.offset, span, 8 * span);
  Strides strides(b.padded.size(), 1);
  std::int64_t pitch = line;
  for (int d = rank - 1; d >= 0; --d)
    if (d != b.inner) strides[d] = pitch, pitch *= b.padded[d];
  Value tile = empty(ValueKind::layout);
  for (int d = 0; d < rank; ++d)
    tile.add(d == b.inner && b.shape[d] != line ? kernel::strided({line, boxes}, {1, rows * line})
                                                : kernel::strided({b.padded[d]}, {strides[d]})[0]);
  const Value right = kernel::swizzled(mode, std::countr_zero(static_cast<unsigned>(chunk)), 3, tile);
  if (to_text(b.layout) != to_text(right))
    reject(k, "{} does not lie as TMA copies it: in spans of {} bytes of {} rows", b.name, span, rows);
  const std::int64_t part = boxes * rows * line * size, stage = tile::ceil_div(part, 8 * span) * 8 * span;
  if (b.part_step != part || b.stage_step != stage)
    reject(k, "{} has parts {} and stages {} bytes apart; its spans take {} and {}", b.name, b.part_step, b.stage_step,
           part, stage);
}

/// Rejects the layout of a tensor that threads write and read unless it has a mode of its padded extent for each dimension.
void check_modes(const Kernel& k, const SmemTensor& b) {
  const values::View tile = b.tile();
  for (int d = 0; d < tile.rank(); ++d)
    if (!tile[d].is_leaf() || tile[d].root().s.v != b.padded[d])
      reject(k, "{} has a layout whose mode {} is no mode of {} elements", b.name, d, b.padded[d]);
}

/// Rejects what blocks of a cluster send each other unless there is room for the accumulators of all other blocks.
void check_exchanged(const Kernel& k, const SmemTensor& b) {
  const Work* sends = kernel::find_work(k, [](const Work& w) { return w.kind == WorkKind::to_cluster; });
  if (!sends) reject(k, "{} holds no value, and no rank sends another one what it has", b.name);
  const Context& c = k.layout_of(*sends);
  const std::int64_t bytes = (k.cluster - 1) * (c.values() / k.cluster) * c.threads() * graph::whole_bytes(DType::f32);
  if (b.dtype != DType::f32 || b.stages != 1 || b.partials != 1 || b.stage_bytes() != bytes)
    reject(k, "{} has {} bytes of {}; what {} blocks send each other takes {} of f32", b.name, b.stage_bytes(),
           graph::name(b.dtype), k.cluster, bytes);
}

void check(const Kernel& k, const SmemTensor& b) {
  const bool staged = find_step(k, [&](const Step& s) {
    return s.work.kind == WorkKind::copy_in && s.work.node >= 0 && &k.tensors[s.work.tensor] == &b;
  });
  if (b.stages > 1 && !staged) reject(k, "{} has {} stages, and no copy fills them", b.name, b.stages);
  if (b.node < 0) return check_exchanged(k, b);
  const Node& n = k.program.nodes[b.node];
  const bool operand = n.kind == NodeKind::load || n.kind == NodeKind::round;
  const bool narrow = operand || n.kind == NodeKind::store;
  const DType dtype = narrow ? n.dtype : tile::kept_in(n.dtype);
  if (b.dtype != dtype)
    reject(k, "{} has elements of {}; %{} is stored as {}", b.name, graph::name(b.dtype), b.node, graph::name(dtype));
  if (b.shape != n.shape)
    reject(k, "{} is a tile of {}; %{} is one of {}", b.name, to_string(b.shape), b.node, to_string(n.shape));
  if (operand && !is_read_by_unused(k, b)) {
    const auto [right, multiplied] = padded(k, b);
    if (b.padded != right)
      reject(k, "{} is padded to {}; the instructions that read it take {}", b.name, to_string(b.padded),
             to_string(right));
    if (b.matmul_operand != multiplied)
      reject(k, "{} {} an operand of products, and %{} {}", b.name,
             b.matmul_operand ? "is said to be" : "is not said to be", b.node, multiplied ? "is one" : "is none");
  } else if (!operand && (b.padded != b.shape || b.matmul_operand)) {
    reject(k, "{} is padded to {}, or an operand of products; %{} is none", b.name, to_string(b.padded), b.node);
  }
  if (b.partials > 1 && narrow) reject(k, "{} has {} partial results; %{} has none", b.name, b.partials, b.node);
}

/// Returns the number of neighbours along the lines of a buffer that provably are adjacent and stay in one aligned
/// chunk of 16 bytes, if the first is at a multiple of that number: the strides of the layout's other modes are whole
/// chunks, and its swizzle exchanges whole chunks. 1 is inconclusive.
std::int64_t elements_in_line(const SmemTensor& b) {
  const std::int64_t chunk = b.chunk();
  const auto whole = [&](const values::View mode) { return mode.root().d.v % chunk == 0; };
  const values::View tile = b.tile();
  for (int d = 0; d < tile.rank(); ++d) {
    const values::View mode = tile[d];
    const values::View first = mode.is_leaf() ? mode : mode[0];
    if (d == b.inner ? first.root().d.v != 1 : !whole(first)) return 1;
    if (mode.is_leaf()) continue;
    if (d == b.inner && first.root().s.v % chunk != 0) return 1;
    for (int i = 1; i < mode.rank(); ++i)
      if (!whole(mode[i])) return 1;
  }
  if (!b.swizzled()) return chunk;
  return (std::int64_t{1} << algebra::bits_of(values::View(b.layout)[0]).base) % chunk == 0 ? chunk : 1;
}

/// Throws Rejected if an element of a buffer lies outside the buffer's memory, if two elements have the same address,
/// or if a vector is not aligned.
void check_buffer(const Kernel& kernel, const SmemTensor& b) {
  const std::int64_t size = graph::whole_bytes(b.dtype), elements = b.stage_bytes() / size, chunk = b.chunk();
  // Elements that are checked at once.
  const std::int64_t step = b.padded[b.inner] > 1 ? elements_in_line(b) : 1;
  std::vector<bool> taken(tile::ceil_div(elements, step), false);
  Shape at(b.padded.size(), 0);
  const auto next = [&] {  // along the lines
    if ((at[b.inner] += step) < b.padded[b.inner]) return;
    at[b.inner] = 0;
    for (int d = static_cast<int>(at.size()) - 1; d >= 0; --d) {
      if (d == b.inner) continue;
      if (++at[d] < b.padded[d]) return;
      at[d] = 0;
    }
  };
  const std::int64_t starts = graph::size(b.padded) / b.padded[b.inner] * tile::ceil_div(b.padded[b.inner], step);
  std::int64_t before = 0;  // the previous element's byte
  for (std::int64_t part = 0; part < b.partials; ++part)
    for (std::int64_t left = starts; left > 0; --left, next()) {
      const std::int64_t byte = b.address(at, part), offset = (byte - b.offset) / size;
      const std::int64_t last = offset + std::min(step, b.padded[b.inner] - at[b.inner]) - 1;
      if (offset < 0 || last >= elements)
        reject(kernel, "element {} of {} lies at {}, its buffer has {} elements", to_string(at), b.name, offset,
               elements);
      if (taken[offset / step])
        reject(kernel, "element {} of {} lies at {}, where another element is", to_string(at), b.name, offset);
      taken[offset / step] = true;
      const bool begins = at[b.inner] % chunk == 0;
      if (b.padded[b.inner] > 1 && (begins ? (byte | b.stage_step) % kernel::chunk_bytes != 0 : byte != before + size))
        reject(kernel, "element {} of {} lies at byte {}: vectors are not adjacent and aligned", to_string(at), b.name,
               byte);
      before = byte;
    }
  const std::int64_t need = (b.stages - 1) * b.stage_step + b.stage_bytes();
  const std::int64_t available = kernel::shared_bytes_of_channels(kernel);
  if (need > b.bytes() || b.offset < 0 || b.offset + need > available)
    reject(kernel, "{} needs {} bytes from {}; {} of {} were given", b.name, need, b.offset, b.bytes(), available);
}

/// Throws Rejected if an access to shared memory by the copy `t` does not start at a multiple of the access width.
void check_alignment(const Kernel& kernel, const Work& t) {
  const SmemTensor& b = kernel.tensors[t.tensor];
  const kernel::CopyChoice& copy = t.copy;
  if (copy.vector == 1) return;
  const auto check = [&](int, int, const Shape& at) {
    if (at.empty()) return;
    const std::int64_t byte = b.address(at);
    if (byte % copy.bytes != 0)
      reject(kernel, "a copy of {} bytes into {} {} starts at byte {}, not a multiple of it", copy.bytes, b.name,
             to_string(at), byte);
  };
  kernel::for_each(kernel::EvaluatedLayout(kernel.layout_of(t)), check, copy.vector);
}

/// Throws Rejected if work `t`, which writes a matmul operand to its buffer, does not also write its padding's zeros.
void check_padding(const Kernel& kernel, const Work& t) {
  const SmemTensor& b = kernel.tensors[t.tensor];
  const Context& c = kernel.layout_of(t);
  if (c.row ? kernel::covers(c, b.padded) : c.domain == b.padded) return;
  reject(kernel, "a product reads {} with its padding, {}, and who writes it reaches {} alone", b.name,
         to_string(b.padded), to_string(c.domain));
}

}  // namespace

void verify_buffers(const Kernel& k) {
  const std::vector<Work> all = kernel::works(k);
  if (all.empty()) return;  // a schedule alone, of steps that do nothing with a value
  for (std::size_t t = 0; t < k.tensors.size(); ++t) {
    const SmemTensor& b = k.tensors[t];
    check(k, b);
    const std::optional<unsigned> modes = admitted(k, all, static_cast<int>(t));
    modes ? check_spans(k, b, *modes) : check_modes(k, b);
  }
}

void verify_bounds(const Kernel& kernel) {
  for (const SmemTensor& b : kernel.tensors) check_buffer(kernel, b);
  for (const Work& t : kernel::works(kernel)) {
    if (t.kind == WorkKind::copy_in) check_alignment(kernel, t);
    if (t.kind == WorkKind::to_shared && kernel.tensors[t.tensor].matmul_operand) check_padding(kernel, t);
  }
}

}  // namespace zellige::verify
