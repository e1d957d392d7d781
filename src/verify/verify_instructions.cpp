#include "verify/verify_instructions.hpp"

#include <algorithm>
#include <zellige/atom/make_tma_descriptor.hpp>

#include "graph/error.hpp"
#include "kernel/tensor_map.hpp"
#include "selection/copies.hpp"
#include "selection/layouts.hpp"
#include "target/instructions.hpp"
#include "target/pipe.hpp"
#include "verify/register_proof.hpp"

namespace zellige::verify {
namespace {

/// Throws Rejected with the kernel, the work and a reason.
struct Wrong {
  const kernel::Kernel& kernel;
  const kernel::Work& work;
  template <class... T>
  [[noreturn]] void operator()(fmt::format_string<T...> why, T&&... with) const {
    reject("{}: {} {}", kernel.name(), describe(work), fmt::format(why, std::forward<T>(with)...));
  }
};

std::string_view name(const Instruction* row) { return row ? row->name : "ordinary accesses"; }

/// Throws Rejected unless a matmul is by the instruction that multiplies elements of its operands' types in that number
/// of columns, and its operands are loaded as that one takes them.
void check_product(const kernel::Kernel& k, const target::Target& target, const kernel::Work& w) {
  const Wrong wrong{k, w};
  const kernel::MatmulChoice& m = w.matmul;
  const tile::Node& n = k.program.nodes[w.node];
  const bool by_matrices = m.pipe() == target::Pipe::tensor && !m.asynchronous();
  const Instruction* load = by_matrices ? target::find_matrix_load(target) : nullptr;
  if (m.load != load)
    wrong("loads operands by {}; {} takes them by {}", name(m.load), m.row ? m.row->name : "no instruction",
          name(load));
  if (!m.row) return;
  const graph::DType types[] = {k.program.nodes[n.in[0]].dtype, k.program.nodes[n.in[1]].dtype};
  if (m.pipe() == target::Pipe::fma) {
    if (types[0] != graph::DType::f32 || types[1] != graph::DType::f32)
      wrong("multiplies {} and {} by {}, which takes f32", graph::name(types[0]), graph::name(types[1]), m.row->name);
    return;
  }
  const std::string_view a = target::multiplied_as(types[0], n.tf32), b = target::multiplied_as(types[1], n.tf32);
  const std::string_view sums = graph::name(graph::DType::f32);
  const bool chain = kernel::find_work(k, [](const kernel::Work&other) { return other.matmul.chained(); }),
             in_registers = k.has_fragments(w.node);
  const std::int64_t columns = chain ? tile::ceil_div(m.n, 16) * 16 : m.columns();
  const Instruction* right = m.asynchronous() ? target::find_warpgroup_mma(target, a, b, sums, columns, in_registers)
                                              : target::find_mma(target, a, b, sums);
  if (m.row == right) return;
  wrong("multiplies {} in {} by {} in {} columns by {}; the instruction for them is {}", a,
        in_registers ? "registers" : "shared memory", b, columns, m.row->name, right ? right->name : "none");
}

/// Throws Rejected unless a copy is by ordinary accesses, or by an instruction that the target has for it.
void check_copy(const kernel::Kernel& k, const target::Target& target, const kernel::Work& w) {
  const Wrong wrong{k, w};
  const Instruction* row = w.copy.row;
  if (!row) return;
  if (w.kind == kernel::WorkKind::to_shared) {
    if (!w.copy.by_matrices()) wrong("stores by {}, which stores no matrices", row->name);
    return;
  }
  if (w.kind == kernel::WorkKind::fetch) wrong("loads registers by {}", row->name);
  if (w.tensor < 0) wrong("copies by {}, and names no tensor in shared memory", row->name);
  const bool load = w.kind == kernel::WorkKind::copy_in;
  const kernel::Space from = load ? kernel::Space::gmem : kernel::Space::smem;
  const kernel::Space to = !load ? kernel::Space::gmem : w.part >= 0 ? kernel::Space::dsmem : kernel::Space::smem;
  const Instruction* tma = target::find_tma(target, from, to, k.program.nodes[w.node].shape.size());
  if (row == tma) return;
  const std::vector<const Instruction*> by_group = target::async_copies(target);
  if (!load || std::ranges::find(by_group, row) == by_group.end())
    wrong("copies by {}; the instruction for it is {}", row->name, tma ? tma->name : load ? "one of cp.async" : "none");
  if (w.copy.bytes * 8 != row->c.bits)
    wrong("copies {} bytes at a time by {}, which copies {}", w.copy.bytes, row->name, row->c.bits / 8);
}

/// Throws Rejected unless the accesses of a copy are as wide as the vectors of its layout, run along one line of the tensor and of the
/// buffer, and are aligned.
void check_width(const kernel::Kernel& k, const tile::TilePrograms& program, const target::Target& target,
                 const kernel::Work& w) {
  const Wrong wrong{k, w};
  const kernel::CopyChoice& copy = w.copy;
  const tile::Node& n = k.program.nodes[w.node];
  const graph::KernelTensor& tensor = program.tensors[n.tensor];
  const kernel::Context& c = k.layout_of(w);
  const bool direct = w.tensor < 0 && w.kind == kernel::WorkKind::to_global;
  const bool several = copy.vector > 1 && !direct;
  const int size = graph::whole_bytes(n.dtype), inner = c.inner(), along = selection::innermost(program, n);
  if (copy.vector < 1 || copy.bytes != copy.vector * size)
    wrong("copies {} elements in accesses of {} bytes; an element has {}", copy.vector, copy.bytes, size);
  if (!direct && copy.vector != c.vector())
    wrong("copies {} elements at a time, over a layout of vectors of {}", copy.vector, c.vector());
  if (several && w.tensor >= 0 && k.tensors[w.tensor].inner != inner)
    wrong("copies {} neighbours along dimension {}; those of {} are along {}", copy.vector, inner,
          k.tensors[w.tensor].name, k.tensors[w.tensor].inner);
  if (several && along != inner)
    wrong("copies {} neighbours along dimension {}; those of {} are along {}", copy.vector, inner, tensor.name, along);
  if (copy.anywhere || w.kind == kernel::WorkKind::fetch) {
    if (copy.bytes != target.access_bytes || size > 2 || tensor.strides[along] != 1 || n.shape[along] < copy.vector ||
        copy.row)
      wrong("reads {} bytes anywhere; that takes words of {} of contiguous lines, of elements of 1 or 2 bytes",
            copy.bytes, target.access_bytes);
    return;
  }
  const int wide = selection::widest_copy(program, n, target).vector;
  if (wide % copy.vector != 0)
    wrong("copies {} elements at a time; the tiles of {} are aligned to {}", copy.vector, tensor.name, wide);
  if (several && !copy.row && w.kind == kernel::WorkKind::copy_in &&
      (n.shape[inner] % copy.vector != 0 || n.view.straddles_end(inner, copy.vector)))
    wrong("copies {} elements at a time, which the end of a line of {} parts", copy.vector, tensor.name);
  if (w.kind == kernel::WorkKind::to_global && n.view.straddles_end(inner, copy.vector) && !direct)
    wrong("stores {} elements at a time, which the end of {} parts", copy.vector, tensor.name);
}

/// Throws Rejected unless the tile of a load that works read in global memory is aligned to the vectors in which they do.
void check_in_place(const kernel::Kernel& k, const tile::TilePrograms& program, const target::Target& target,
                    const kernel::GmemTensor& g) {
  const tile::Node& n = k.program.nodes[g.node];
  const int vector = n.kind == tile::NodeKind::load ? selection::widest_copy(program, n, target).vector : 0;
  if (n.kind != tile::NodeKind::load || g.vector < 1 || vector % g.vector != 0)
    reject("{}: %{} is read in_place in vectors of {}; its tiles are aligned to {}", k.name(), g.node, g.vector,
           vector);
}

/// Returns the description of the tensor map that the driver encodes; nullopt if TMA knows no such elements.
std::optional<TmaTensor> described(const kernel::TensorMap& map, const std::string& name) {
  TmaTensor t;
  t.name = name.c_str();
  if (map.dtype != graph::DType::f16 && map.dtype != graph::DType::bf16 && map.dtype != graph::DType::f32) return {};
  t.element = map.dtype == graph::DType::f32 ? TmaElement::f32 : TmaElement::f16;
  t.rank = static_cast<int>(map.extent.size());
  for (std::size_t d = 0; d < map.extent.size(); ++d)
    t.extent[d] = map.extent[d], t.stride[d] = map.stride[d], t.box[d] = map.box[d];
  t.swizzle = target::swizzle_of(map.swizzle_bytes);
  return t;
}

/// Throws Rejected unless TMA can copy the tile. That it lies in shared memory as TMA's boxes do, verify_buffers() proves.
void check_tensor_map(const kernel::Kernel& k, const tile::TilePrograms& program, const kernel::Work& w) {
  const Wrong wrong{k, w};
  const tile::Node& n = k.program.nodes[w.node];
  const graph::KernelTensor& tensor = program.tensors[n.tensor];
  const kernel::SmemTensor& b = k.tensors[w.tensor];
  if (std::string why = kernel::no_tensor_map(n, tensor, b.inner); !why.empty()) wrong("is by TMA: {}", why);
  if (b.shape != n.shape || b.dtype != n.dtype)
    wrong("copies {} {} by TMA between {} and {} {} of {}", graph::name(n.dtype), graph::to_string(n.shape),
          tensor.name, graph::name(b.dtype), graph::to_string(b.shape), b.name);
  if (w.part >= static_cast<int>(n.shape.size()) ||
      (w.part >= 0 && (w.part == b.inner ? b.boxes() : n.shape[w.part]) % k.ranks != 0))
    wrong("is divided along dimension {} of {}, which {} ranks do not divide", w.part, graph::to_string(n.shape),
          k.ranks);
  const kernel::TensorMap map = kernel::tensor_map(k, program, w.node);
  const auto encoded = described(map, tensor.name);
  if (!encoded) wrong("is by TMA, which copies no {}", graph::name(map.dtype));
  if (const std::string error = tma_descriptor_error(*encoded, 0); !error.empty()) wrong("is by TMA: {}", error);
}

/// Throws Rejected unless the mbarriers of the channels are disjoint, aligned and within the block's memory.
void check_mbarriers(const kernel::Kernel& k) {
  constexpr std::int64_t bytes = 8;  // of an mbarrier, and its alignment
  for (std::size_t i = 0; i < k.channels.size(); ++i) {
    const kernel::Channel& c = k.channels[i];
    const std::int64_t size = kernel::barrier_bytes(c), end = c.offset + size;
    if (size == 0 || c.offset < 0) continue;  // not yet placed
    if (c.offset % bytes != 0)
      reject("{}: the mbarriers of channel {} lie at byte {}, not a multiple of {}", k.name(), c.name, c.offset, bytes);
    if (end > k.shared_bytes)
      reject("{}: the mbarriers of channel {} lie in bytes [{}, {}); the block has {} of shared memory", k.name(),
             c.name, c.offset, end, k.shared_bytes);
    for (std::size_t j = 0; j < i; ++j)
      if (const kernel::Channel& o = k.channels[j]; c.offset < o.offset + kernel::barrier_bytes(o) && o.offset < end)
        reject(
            "{}: the mbarriers of channel {} lie in bytes [{}, {}), those of channel {} in [{}, {}); they may not "
            "overlap",
            k.name(), c.name, c.offset, end, o.name, o.offset, o.offset + kernel::barrier_bytes(o));
  }
}

/// Throws Rejected or DoesNotFit unless the target has grids of this number of blocks, and multiprocessors that hold
/// them.
void check_launch(const kernel::Kernel& k, const target::Target& t) {
  if (k.blocks > t.grid_x)
    does_not_fit("{}: has {} blocks; a grid on {} has at most {}", k.name(), k.blocks, t.name, t.grid_x);
  if (k.together < 0 || k.together > t.blocks_per_multiprocessor ||
      std::int64_t{k.together} * k.threads > t.threads_per_multiprocessor)
    reject("{}: a multiprocessor of {} does not hold {} blocks of {} threads; it has {} blocks and {} threads at most",
           k.name(), t.name, k.together, k.threads, t.blocks_per_multiprocessor, t.threads_per_multiprocessor);
  if (k.program.block.z > t.block_z)
    does_not_fit("{}: a block has {} threads along z; {} allows {}", k.name(), k.program.block.z, t.name, t.block_z);
}

}  // namespace

void verify_instructions(const kernel::Kernel& k, const tile::TilePrograms& program, const target::Target& target) {
  check_launch(k, target);
  check_mbarriers(k);
  for (const kernel::GmemTensor& g : k.gmem) check_in_place(k, program, target, g);
  for (const kernel::Work& w : kernel::works(k)) {
    if (w.kind == kernel::WorkKind::mma) check_product(k, target, w);
    check_copy(k, target, w);
    if (!kernel::is_global_load(w.kind) && w.kind != kernel::WorkKind::to_global) continue;
    w.copy.by_tensor_map() ? check_tensor_map(k, program, w) : check_width(k, program, target, w);
  }
}

}  // namespace zellige::verify
