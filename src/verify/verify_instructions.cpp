#include <algorithm>
#include <zellige/atom/make_tma_descriptor.hpp>

#include "kernel/tensor_columns.hpp"
#include "kernel/tensor_map.hpp"
#include "kernel/widened.hpp"
#include "selection/copies.hpp"
#include "selection/layouts.hpp"
#include "target/instructions.hpp"
#include "target/pipe.hpp"
#include "target/products.hpp"
#include "verify/proofs.hpp"
#include "verify/register_proof.hpp"
#include "verify/rejected.hpp"

namespace zellige::verify {
namespace {

std::string_view name(const Instruction* row) { return row ? row->name : "ordinary accesses"; }

/// Throws Rejected unless a matmul is by the instruction that multiplies elements of its operands' types in that number
/// of columns, and its operands are loaded as that one takes them.
void check_product(const Kernel& k, const target::Target& target, const Work& w) {
  const kernel::MatmulChoice& m = w.matmul;
  const Node& n = k.program.nodes[w.node];
  const bool by_matrices = m.pipe() == target::Pipe::tensor && !m.asynchronous();
  const Instruction* load = by_matrices ? target::find_matrix_load(target) : nullptr;
  if (m.load != load)
    reject(k, w, "loads operands by {}; {} takes them by {}", name(m.load), m.row ? m.row->name : "no instruction",
           name(load));
  if (!m.row) return;
  const DType types[] = {k.program.nodes[n.in[0]].dtype, k.program.nodes[n.in[1]].dtype};
  if (m.pipe() == target::Pipe::fma) {
    if (types[0] != DType::f32 || types[1] != DType::f32)
      reject(k, w, "multiplies {} and {} by {}, which takes f32", graph::name(types[0]), graph::name(types[1]),
             m.row->name);
    return;
  }
  const std::string_view a = target::multiplied_as(types[0], n.tf32), b = target::multiplied_as(types[1], n.tf32);
  const std::string_view sums = graph::name(DType::f32);
  const bool widens = m.asynchronous() && kernel::widened_operand(k.program, w.node, m).has_value(),
             chain = !widens && kernel::find_work(k, [](const Work&other) { return other.matmul.chained(); }),
             in_registers = widens || k.has_fragments(w.node);
  const std::int64_t columns = chain ? tile::ceil_div(m.n, 16) * 16 : m.columns();
  const bool cut = !n.carried && n.to_dtype != DType::f32;
  const Instruction* right = m.asynchronous()
                                 ? target::find_warpgroup_mma(target, a, b, sums, columns, in_registers, cut)
                                 : target::find_mma(target, a, b, sums);
  if (m.row == right) return;
  reject(k, w, "multiplies {} in {} by {} in {} columns by {}; the instruction for them is {}", a,
         in_registers ? "registers" : "shared memory", b, columns, m.row->name, right ? right->name : "none");
}

/// Throws Rejected unless a copy is by ordinary accesses, or by an instruction that the target has for it.
void check_copy(const Kernel& k, const target::Target& target, const Work& w) {
  const Instruction* row = w.copy.row;
  if (!row) return;
  if (w.kind == WorkKind::to_shared) {
    if (!w.copy.by_matrices()) reject(k, w, "stores by {}, which stores no matrices", row->name);
    return;
  }
  if (w.kind == WorkKind::fetch) reject(k, w, "loads registers by {}", row->name);
  if (w.tensor < 0) reject(k, w, "copies by {}, and names no tensor in shared memory", row->name);
  const bool load = w.kind == WorkKind::copy_in;
  const kernel::Space from = load ? kernel::Space::gmem : kernel::Space::smem;
  const kernel::Space to = !load ? kernel::Space::gmem : w.part >= 0 ? kernel::Space::dsmem : kernel::Space::smem;
  const Instruction* tma = target::find_tma(target, from, to, k.program.nodes[w.node].shape.size());
  if (row == tma) return;
  const std::vector<const Instruction*> by_group = target::async_copies(target);
  if (!load || std::ranges::find(by_group, row) == by_group.end())
    reject(k, w, "copies by {}; the instruction for it is {}", row->name,
           tma    ? tma->name
           : load ? "one of cp.async"
                  : "none");
  if (w.copy.bytes * 8 != row->c.bits)
    reject(k, w, "copies {} bytes at a time by {}, which copies {}", w.copy.bytes, row->name, row->c.bits / 8);
}

/// Throws Rejected unless the accesses of a copy are as wide as the vectors of its layout, run along one line of the tensor and of the
/// buffer, and are aligned.
void check_width(const Kernel& k, const TilePrograms& program, const target::Target& target, const Work& w) {
  const kernel::CopyChoice& copy = w.copy;
  const Node& n = k.program.nodes[w.node];
  const KernelTensor& tensor = program.tensors[n.tensor];
  const Context& c = k.layout_of(w);
  const bool direct = w.tensor < 0 && w.kind == WorkKind::to_global;
  const bool several = copy.vector > 1 && !direct;
  const int size = graph::whole_bytes(n.dtype), inner = c.inner(), along = selection::innermost(program, n);
  if (copy.vector < 1 || copy.bytes != copy.vector * size)
    reject(k, w, "copies {} elements in accesses of {} bytes; an element has {}", copy.vector, copy.bytes, size);
  if (!direct && copy.vector != c.vector())
    reject(k, w, "copies {} elements at a time, over a layout of vectors of {}", copy.vector, c.vector());
  if (several && w.tensor >= 0 && k.tensors[w.tensor].inner != inner)
    reject(k, w, "copies {} neighbours along dimension {}; those of {} are along {}", copy.vector, inner,
           k.tensors[w.tensor].name, k.tensors[w.tensor].inner);
  if (several && along != inner)
    reject(k, w, "copies {} neighbours along dimension {}; those of {} are along {}", copy.vector, inner, tensor.name,
           along);
  if (copy.anywhere || w.kind == WorkKind::fetch) {
    if (copy.bytes != target.access_bytes || size > 2 || tensor.strides[along] != 1 || n.shape[along] < copy.vector ||
        copy.row)
      reject(k, w, "reads {} bytes anywhere; that takes words of {} of contiguous lines, of elements of 1 or 2 bytes",
             copy.bytes, target.access_bytes);
    return;
  }
  const int wide = selection::widest_copy(program, n, target).vector;
  if (wide % copy.vector != 0)
    reject(k, w, "copies {} elements at a time; the tiles of {} are aligned to {}", copy.vector, tensor.name, wide);
  if (several && !copy.row && w.kind == WorkKind::copy_in &&
      (n.shape[inner] % copy.vector != 0 || n.view.straddles_end(inner, copy.vector)))
    reject(k, w, "copies {} elements at a time, which the end of a line of {} parts", copy.vector, tensor.name);
  if (w.kind == WorkKind::to_global && n.view.straddles_end(inner, copy.vector) && !direct)
    reject(k, w, "stores {} elements at a time, which the end of {} parts", copy.vector, tensor.name);
}

/// Throws Rejected unless the tile of a load that works read in global memory is aligned to the vectors in which they do.
void check_in_place(const Kernel& k, const TilePrograms& program, const target::Target& target,
                    const kernel::GmemTensor& g) {
  const Node& n = k.program.nodes[g.node];
  const int vector = n.kind == NodeKind::load ? selection::widest_copy(program, n, target).vector : 0;
  if (n.kind != NodeKind::load || g.vector < 1 || vector % g.vector != 0)
    reject(k, "%{} is read in_place in vectors of {}; its tiles are aligned to {}", g.node, g.vector, vector);
}

/// Returns the description of the tensor map that the driver encodes; nullopt if TMA knows no such elements.
std::optional<TmaTensor> described(const kernel::TensorMap& map, const std::string& name) {
  TmaTensor t;
  t.name = name.c_str();
  const bool of_8_bits = graph::bits(map.dtype) == 8;
  if (!of_8_bits && map.dtype != DType::f16 && map.dtype != DType::bf16 && map.dtype != DType::f32) return {};
  t.element = of_8_bits ? TmaElement::u8 : map.dtype == DType::f32 ? TmaElement::f32 : TmaElement::f16;
  t.rank = static_cast<int>(map.extent.size());
  for (std::size_t d = 0; d < map.extent.size(); ++d)
    t.extent[d] = map.extent[d], t.stride[d] = map.stride[d], t.box[d] = map.box[d];
  t.swizzle = target::swizzle_of(map.swizzle_bytes);
  return t;
}

/// Throws Rejected unless TMA can copy the tile. That it lies in shared memory as TMA's boxes do, verify_buffers() proves.
void check_tensor_map(const Kernel& k, const TilePrograms& program, const Work& w) {
  const Node& n = k.program.nodes[w.node];
  const KernelTensor& tensor = program.tensors[n.tensor];
  const SmemTensor& b = k.tensors[w.tensor];
  // Bytes that threads widen have spans as long as their lines.
  const bool bytes = n.kind == NodeKind::load && !b.matmul_operand;
  const std::int64_t span = bytes ? b.span() : kernel::span_bytes;
  if (std::string why = kernel::no_tensor_map(n, program.minimally_aligned(n.tensor), b.inner, span); !why.empty())
    reject(k, w, "is by TMA: {}", why);
  if (b.shape != n.shape || b.dtype != n.dtype)
    reject(k, w, "copies {} {} by TMA between {} and {} {} of {}", graph::name(n.dtype), to_string(n.shape),
           tensor.name, graph::name(b.dtype), to_string(b.shape), b.name);
  if (w.part >= static_cast<int>(n.shape.size()) ||
      (w.part >= 0 && (w.part == b.inner ? b.boxes() : n.shape[w.part]) % k.cluster != 0))
    reject(k, w, "is divided along dimension {} of {}, which {} blocks do not divide", w.part, to_string(n.shape),
           k.cluster);
  const kernel::TensorMap map = kernel::tensor_map(k, program, w.node);
  const auto encoded = described(map, tensor.name);
  if (!encoded) reject(k, w, "is by TMA, which copies no {}", graph::name(map.dtype));
  if (const std::string error = tma_descriptor_error(*encoded, 0); !error.empty()) reject(k, w, "is by TMA: {}", error);
}

/// Throws Rejected unless the mbarriers of the channels are disjoint, aligned and within the block's memory.
void check_mbarriers(const Kernel& k) {
  constexpr std::int64_t bytes = 8;  // of an mbarrier, and its alignment
  const std::int64_t available = kernel::shared_bytes_of_channels(k);
  for (std::size_t i = 0; i < k.channels.size(); ++i) {
    const Channel& c = k.channels[i];
    const std::int64_t size = kernel::barrier_bytes(c), end = c.offset + size;
    if (size == 0 || c.offset < 0) continue;  // not yet placed
    if (c.offset % bytes != 0)
      reject(k, "the mbarriers of channel {} lie at byte {}, not a multiple of {}", c.name, c.offset, bytes);
    if (end > available)
      reject(k, "the mbarriers of channel {} lie in bytes [{}, {}); the block has {} of shared memory{}", c.name,
             c.offset, end, k.shared_bytes,
             available < k.shared_bytes
                 ? fmt::format(", the last {} for products in tensor memory", k.shared_bytes - available)
                 : "");
    for (std::size_t j = 0; j < i; ++j)
      if (const Channel& o = k.channels[j]; c.offset < o.offset + kernel::barrier_bytes(o) && o.offset < end)
        reject(
            k,
            "the mbarriers of channel {} lie in bytes [{}, {}), those of channel {} in [{}, {}); they may not overlap",
            c.name, c.offset, end, o.name, o.offset, o.offset + kernel::barrier_bytes(o));
  }
}

/// Throws Rejected unless sets of columns have room in tensor memory, and all products in it go into them, if there are such.
void check_sets(const Kernel& k) {
  const kernel::TensorColumns columns = kernel::tensor_columns(k);
  for (const Channel& c : k.channels) {
    if (!kernel::in_columns(c)) continue;
    if (columns.none()) reject(k, "channel {} has sets of columns, and nothing multiplies into them", c.name);
    if (c.stages * columns.count > target::tensor_memory_columns)
      reject(k, "channel {} has {} sets of {} columns; tensor memory has {}", c.name, c.stages, columns.count,
             target::tensor_memory_columns);
    for (const Agent& agent : k.agents)
      walk(agent.steps, [&](const Step& step, const StepPosition&) {
        const Mma* mma = as<Mma>(step);
        if (mma && &k.channels[mma->channel] != &c)
          reject(k, step.work, "multiplies into registers, or into columns of its own; others go through channel {}",
                 c.name);
      });
  }
}

/// Throws Rejected or DoesNotFit unless the target has grids of this number of blocks, and multiprocessors that hold
/// them.
void check_launch(const Kernel& k, const target::Target& t) {
  if (k.blocks > t.grid_x)
    does_not_fit("{}: has {} blocks; a grid on {} has at most {}", k.name(), k.blocks, t.name, t.grid_x);
  if (k.together < 0 || k.together > t.blocks_per_multiprocessor ||
      std::int64_t{k.together} * k.threads > t.threads_per_multiprocessor)
    reject(k, "a multiprocessor of {} does not hold {} blocks of {} threads; it has {} blocks and {} threads at most",
           t.name, k.together, k.threads, t.blocks_per_multiprocessor, t.threads_per_multiprocessor);
  if (k.program.block.z > t.block_z)
    does_not_fit("{}: a block has {} threads along z; {} allows {}", k.name(), k.program.block.z, t.name, t.block_z);
}

}  // namespace

void verify_instructions(const Kernel& k, const TilePrograms& program, const target::Target& target) {
  check_launch(k, target);
  check_mbarriers(k);
  check_sets(k);
  for (const kernel::GmemTensor& g : k.gmem) check_in_place(k, program, target, g);
  for (const Work& w : kernel::works(k)) {
    if (w.kind == WorkKind::mma) check_product(k, target, w);
    check_copy(k, target, w);
    if (!kernel::is_global_load(w.kind) && w.kind != WorkKind::to_global) continue;
    w.copy.by_tensor_map() ? check_tensor_map(k, program, w) : check_width(k, program, target, w);
  }
}

}  // namespace zellige::verify
