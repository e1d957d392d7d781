#include "verify/verify_instructions.hpp"

#include <algorithm>
#include <array>
#include <zellige/atom/make_tma_descriptor.hpp>
#include <zellige/layout/algebra/swizzle.hpp>

#include "graph/error.hpp"
#include "kernel/copy_width.hpp"
#include "kernel/leaves.hpp"
#include "kernel/tensor_map.hpp"
#include "target/instructions.hpp"
#include "target/swizzles.hpp"
#include "verify/verify_limits.hpp"

namespace zellige::plan {
namespace {

using Kind = Instruction::Kind;

/// Throws Rejected with the kernel, the work and a reason.
struct Wrong {
  const Kernel& kernel;
  const Work& work;
  template <class... T>
  [[noreturn]] void operator()(fmt::format_string<T...> why, T&&... with) const {
    reject("{}: '{} %{}' {}", kernel.name(), name(work.kind), work.node, fmt::format(why, std::forward<T>(with)...));
  }
};

std::string_view name(const Instruction* row) { return row ? row->name : "ordinary accesses"; }

/// Throws Rejected unless the instruction of a matmul multiplies what its operands have.
void check_product(const Kernel& k, const Work& w) {
  const Wrong wrong{k, w};
  const MatmulChoice& m = w.matmul;
  const Node& n = k.program.nodes[w.node];
  if (m.load && m.load->kind != Kind::matrix_load)
    wrong("loads its operands by {}, which loads no matrices", m.load->name);
  if (!m.row) {
    if (m.load) wrong("loads its operands by {} for no instruction", m.load->name);
    return;
  }
  if (m.row->kind != Kind::mma) wrong("is by {}, which multiplies no matrices", m.row->name);
  const std::array<const Instruction::Operand*, 2> operands{&m.row->a, &m.row->b};
  for (std::size_t side = 0; side < 2; ++side) {
    const std::string_view type = target::multiplied_as(k.program.nodes[n.in[side]].dtype, n.tf32);
    if (operands[side]->type != type)
      wrong("is by {}, which multiplies {}; its operand %{} is {}", m.row->name, operands[side]->type, n.in[side],
            type);
  }
  if (std::string_view(m.row->c.type) != graph::name(DType::f32))
    wrong("is by {}, which adds up {}; accumulators are f32", m.row->name, m.row->c.type);
  if (const target::Proxy proxy = m.proxy(); (proxy == target::Proxy::async) != m.asynchronous())
    wrong("is by {}, which no step can wait for", m.row->name);
  if (m.asynchronous() && k.has_fragments(w.node) != m.chained())
    wrong("is by {}, and its operand A lies in {}", m.row->name, m.chained() ? "shared memory" : "registers");
}

/// Throws Rejected unless a copy's instruction moves data as the work does, in a tile of these dimensions.
void check_copy(const Kernel& k, const Step& step, const Work& w, const target::Target& target) {
  const Wrong wrong{k, w};
  const CopyChoice& copy = w.copy;
  const Instruction* row = copy.row;
  const Copy* starts = as<Copy>(step);
  const bool load = w.kind == WorkKind::copy_in, tma = copy.by_tensor_map();
  if (w.kind == WorkKind::to_shared) {
    if (row && !copy.by_matrices()) wrong("stores by {}, which stores no matrices", row->name);
    return;
  }
  if (row && (w.kind == WorkKind::fetch || (!tma && !(load && copy.async()))))
    wrong("is by {}, which makes no such copy", row->name);
  if ((row != nullptr) != (starts != nullptr)) wrong("is by {}, and its step is a {}", name(row), plan::name(step));
  if (load && starts && tma != is_tma_load(k, step))
    wrong("is by {}, and {}", name(row),
          tma ? "no channel of mbarriers counts its bytes" : "a channel of mbarriers waits for its bytes");
  if (!tma) return;
  if (w.buffer < 0) wrong("is by {} and names no tensor in shared memory", row->name);
  const Instruction::Space shared = load && starts->multicast ? Space::dsmem : Space::smem;
  const std::size_t dimensions = k.program.nodes[w.node].shape.size();
  const Instruction* right =
      target::find_tma(target, load ? Space::gmem : shared, load ? shared : Space::gmem, dimensions);
  if (row != right)
    wrong("is by {}; a tile of {} dimensions {} is copied by {}", row->name, dimensions,
          load && starts->multicast ? "to all ranks"
          : load                    ? "to shared memory"
                                    : "to global memory",
          name(right));
}

/// Throws Rejected unless each access to global memory by a copy, or in place, is aligned to its width.
void check_width(const Kernel& k, const Program& program, const target::Target& target, const Work& w) {
  const Wrong wrong{k, w};
  const Node& n = k.program.nodes[w.node];
  const CopyChoice& copy = w.copy;
  if (copy.by_tensor_map()) return;
  if (copy.bytes > target.access_bytes || (copy.bytes & (copy.bytes - 1)) != 0)
    wrong("has accesses of {} bytes; an access has a power of 2, at most {}", copy.bytes, target.access_bytes);
  if (copy.vector <= 1) return;
  const graph::KernelTensor& tensor = program.tensors[n.tensor];
  const int inner = k.layout_of(w).inner();
  if (copy.anywhere) {
    if (w.kind == WorkKind::to_global || tensor.strides[inner] != 1 || graph::whole_bytes(n.dtype) > 2)
      wrong("reads {} elements anywhere; only loads do, of 2 bytes at most that are contiguous", copy.vector);
    return;
  }
  // What is stored across a tensor's lines is stored element by element.
  const bool several = n.shape[inner] > 1 && (w.kind != WorkKind::to_global || tensor.strides[inner] == 1);
  if (several && !is_aligned(program, n, inner, copy.vector))
    wrong(
        "accesses {} elements of {} at a time along dimension {}: with the strides {} and its tiles they are not "
        "aligned",
        copy.vector, tensor.name, inner, graph::to_string(tensor.strides));
}

/// Returns whether any work may read the load in place in the vectors of which the kernel says so.
bool is_aligned_in_place(const Kernel& k, const Program& program, const target::Target& target, const GmemTensor& g) {
  const Node& n = k.program.nodes[g.node];
  bool aligned = g.vector * graph::whole_bytes(n.dtype) <= target.access_bytes && (g.vector & (g.vector - 1)) == 0;
  for (int d = 0; d < n.view.rank() && g.vector > 1; ++d)
    if (program.tensors[n.tensor].strides[d] == 1 && n.shape[d] > 1)
      aligned = aligned && is_aligned(program, n, d, g.vector);
  return aligned;
}

/// Throws Rejected unless the work may read its loads in global memory in vectors as wide as the kernel says.
void check_in_place(const Kernel& k, const Program& program, const target::Target& target, const Work& w) {
  for (const int load : read_in_place(k, w)) {
    const Node& n = k.program.nodes[load];
    const graph::KernelTensor& tensor = program.tensors[n.tensor];
    const int inner = k.layout_of(w).inner(), vector = std::min(k.in_place(load)->vector, k.layout_of(w).vector());
    const int bytes = vector * graph::whole_bytes(n.dtype);
    if (inner >= n.view.rank() || tensor.strides[inner] != 1 || n.shape[inner] == 1 || vector == 1) continue;
    if (bytes > target.access_bytes || (vector & (vector - 1)) != 0)
      Wrong{k, w}("reads %{} in_place in vectors of {} elements, {} bytes; an access has a power of 2, at most {}",
                  load, vector, bytes, target.access_bytes);
    if (!is_aligned(program, n, inner, vector))
      Wrong{k, w}(
          "reads %{} in_place in vectors of {} elements of {}: with the strides {} and its tiles they are not aligned",
          load, vector, tensor.name, graph::to_string(tensor.strides));
  }
}

/// Returns the description of the tensor map that the driver encodes; nullopt if TMA knows no such elements.
std::optional<TmaTensor> described(const TensorMap& map, const std::string& name) {
  TmaTensor t;
  t.name = name.c_str();
  if (map.dtype != DType::f16 && map.dtype != DType::bf16 && map.dtype != DType::f32) return {};
  t.element = map.dtype == DType::f32 ? TmaElement::f32 : TmaElement::f16;
  t.rank = static_cast<int>(map.extent.size());
  for (std::size_t d = 0; d < map.extent.size(); ++d)
    t.extent[d] = map.extent[d], t.stride[d] = map.stride[d], t.box[d] = map.box[d];
  t.swizzle = target::swizzle_of(map.swizzle_bytes);
  return t;
}

/// Throws Rejected unless TMA can copy the tile, and writes and reads it in shared memory as the tensor's layout says: box
/// after box, each with its lines one after another, in which the hardware's swizzle exchanges chunks.
void check_tensor_map(const Kernel& k, const Program& program, const Work& w) {
  const Wrong wrong{k, w};
  const Node& n = k.program.nodes[w.node];
  const graph::KernelTensor& tensor = program.tensors[n.tensor];
  const SmemTensor& b = k.tensors[w.buffer];
  if (std::string why = no_tensor_map(n, tensor, b.inner); !why.empty()) wrong("is by TMA: {}", why);
  if (b.shape != n.shape || b.dtype != n.dtype)
    wrong("copies {} {} by TMA between {} and {} {} of {}", graph::name(n.dtype), to_string(n.shape), tensor.name,
          graph::name(b.dtype), to_string(b.shape), b.name);
  const int size = graph::whole_bytes(b.dtype);
  if (w.part >= static_cast<int>(n.shape.size()) ||
      (w.part >= 0 && (w.part == b.inner ? b.boxes() : n.shape[w.part]) % k.ranks != 0))
    wrong("is divided along dimension {} of {}, which {} ranks do not divide", w.part, to_string(n.shape), k.ranks);
  const TensorMap map = tensor_map(k, program, w.node);
  const auto encoded = described(map, tensor.name);
  if (!encoded) wrong("is by TMA, which copies no {}", graph::name(map.dtype));
  if (const std::string error = tma_descriptor_error(*encoded, 0); !error.empty()) wrong("is by TMA: {}", error);
  const std::int64_t line = b.swizzled() ? b.span() : b.box() * size;
  if (b.swizzled()) {
    const algebra::Bits bits = algebra::bits_of(values::View(b.layout)[0]);
    if (size << bits.base != chunk_bytes || bits.shift != 3)
      wrong("is by TMA, whose swizzle exchanges chunks of {} bytes by the rows of 128; {} has Sw<{},{},{}>",
            chunk_bytes, b.name, bits.bits, bits.base, bits.shift);
  }
  std::int64_t step = line / size;
  const auto require = [&](int d, std::int64_t found, std::int64_t extent) {
    if (extent > 1 && found != step)
      wrong("is by TMA, which leaves neighbours along dimension {} of {} {} elements apart; its layout has {}", d,
            b.name, step, found);
    step *= extent;
  };
  for (const int d : inner_first(n.shape, b.inner))
    if (d != b.inner) require(d, b.stride(d), n.shape[d]);
  if (b.boxes() > 1) require(b.inner, b.tile()[b.inner][1].root().d.v, b.boxes());
  if (b.box() * b.boxes() < n.shape[b.inner])
    wrong("copies {} boxes of {} elements; a line has {}", b.boxes(), b.box(), n.shape[b.inner]);
}

/// Throws Rejected unless tiles that the hardware swizzles begin where its pattern does.
void check_swizzled(const Kernel& k, const SmemTensor& b, const char* by) {
  const std::int64_t unit = b.span() > chunk_bytes ? 8 * b.span() : chunk_bytes;
  const std::int64_t stage = b.stages > 1 ? b.stage_step : 0;
  if (b.offset % unit != 0 || stage % unit != 0)
    reject("{}: {}, which {}, lies at byte {} with stages of {} bytes; a swizzle of {} bytes takes multiples of {}",
           k.name(), b.name, by, b.offset, b.stage_step, b.span(), unit);
}

/// Throws Rejected unless the mbarriers of the channels lie apart, aligned and within the block's memory.
void check_mbarriers(const Kernel& k) {
  constexpr std::int64_t bytes = 8;  // of an mbarrier, and its alignment
  for (std::size_t i = 0; i < k.channels.size(); ++i) {
    const Channel& c = k.channels[i];
    const std::int64_t size = barrier_bytes(c), end = c.offset + size;
    if (size == 0 || c.offset < 0) continue;  // not yet placed
    if (c.offset % bytes != 0)
      reject("{}: the mbarriers of channel {} lie at byte {}, not a multiple of {}", k.name(), c.name, c.offset, bytes);
    if (end > k.shared_bytes)
      reject("{}: the mbarriers of channel {} lie in bytes [{}, {}); the block has {} of shared memory", k.name(),
             c.name, c.offset, end, k.shared_bytes);
    for (std::size_t j = 0; j < i; ++j)
      if (const Channel& o = k.channels[j]; c.offset < o.offset + barrier_bytes(o) && o.offset < end)
        reject(
            "{}: the mbarriers of channel {} lie in bytes [{}, {}), those of channel {} in [{}, {}); they may not "
            "overlap",
            k.name(), c.name, c.offset, end, o.name, o.offset, o.offset + barrier_bytes(o));
  }
}

/// Throws Rejected unless the launch has whole clusters, and as many blocks as multiprocessors can hold.
void check_launch(const Kernel& k, const target::Target& t) {
  const std::int64_t blocks = k.blocks > 0 ? k.blocks : k.program.grid.x;
  if (blocks % k.ranks != 0)
    reject("{}: has {} blocks along x; clusters of {} do not divide them", k.name(), blocks, k.ranks);
  if (blocks > t.grid_x)
    does_not_fit("{}: has {} blocks; a grid on {} has at most {}", k.name(), blocks, t.name, t.grid_x);
  if (k.together < 0 || k.together > t.blocks_per_multiprocessor ||
      std::int64_t{k.together} * k.threads > t.threads_per_multiprocessor)
    reject("{}: a multiprocessor of {} does not hold {} blocks of {} threads; it has {} blocks and {} threads at most",
           k.name(), t.name, k.together, k.threads, t.blocks_per_multiprocessor, t.threads_per_multiprocessor);
  if (k.split_k && k.ranks == 1)
    reject("{}: is split_k and has 1 rank; the loop is divided between 2 at least", k.name());
  if (k.program.block.z > t.block_z)
    does_not_fit("{}: a block has {} threads along z; {} allows {}", k.name(), k.program.block.z, t.name, t.block_z);
}

}  // namespace

void verify_instructions(const Kernel& k, const Program& program, const target::Target& target) {
  check_launch(k, target);
  check_mbarriers(k);
  for (const RmemTensor& r : k.rmem)
    for (const Instruction* row : {r.layout.row, r.layout.of})
      if (row && row->kind != Kind::mma)
        reject("{}: a layout is that of {}, which multiplies no matrices", k.name(), row->name);
  const bool in_place =
      std::ranges::all_of(k.gmem, [&](const GmemTensor& g) { return is_aligned_in_place(k, program, target, g); });
  std::vector<bool> copied(k.program.nodes.size(), false);  // by TMA, and checked
  for (const Agent& agent : k.agents)
    walk(agent.steps, [&](const Step& step, const Position&) {
      const Work& w = step.work;
      if (w.node < 0) return;
      const bool copies = is_global_load(w.kind) || w.kind == WorkKind::to_global;
      if (w.kind == WorkKind::mma) check_product(k, w);
      if (w.kind == WorkKind::mma && !as<Start>(step) && (as<Mma>(step) != nullptr) != w.matmul.asynchronous())
        Wrong{k, w}("is by {}, and its step is a {}", name(w.matmul.row), name(step));
      if (!in_place) check_in_place(k, program, target, w);
      if (copies || w.kind == WorkKind::to_shared) check_copy(k, step, w, target);
      if (copies) check_width(k, program, target, w);
      if (copies && w.copy.by_tensor_map() && !copied[w.node]) {
        check_tensor_map(k, program, w), check_swizzled(k, k.tensors[w.buffer], "TMA copies");
        copied[w.node] = true;
      }
      if (as<Mma>(step) && w.kind == WorkKind::mma)
        for (const Access& a : step.reads) check_swizzled(k, k.tensors[a.tensor], "wgmma reads");
    });
}

}  // namespace zellige::plan
