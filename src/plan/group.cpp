#include "plan/group.hpp"

#include <algorithm>
#include <set>

#include "kernel/leaves.hpp"
#include "kernel/sliced.hpp"
#include "kernel/tensor_map.hpp"
#include "kernel/widened.hpp"
#include "plan/dependence.hpp"
#include "plan/same_thread.hpp"
#include "selection/layouts.hpp"
#include "selection/row_registers.hpp"
#include "selection/warpgroups.hpp"
#include "target/instructions.hpp"

namespace zellige::plan {
namespace {

constexpr std::int64_t max_state_registers = 64;  // per thread; larger loop states are in shared memory

/// Returns the last dimension.
int last(const graph::Shape& s) { return static_cast<int>(s.size()) - 1; }

/// The tasks of one kernel while they are made, and what they are made from.
struct Grouping {
  kernel::Kernel& kernel;  // to which layouts and buffers are added
  const selection::Selection& selected;
  const tile::TilePrograms& whole;
  const target::Target& target;
  selection::Loads loads;  // whether loaded tiles may be in shared memory
  const tile::TileProgram& program = kernel.program;
  tile::Sections sections{program};              // of the program's nodes
  int rows = -1;                                 // the layout of the kernel's rows in registers; -1: none
  selection::Tasks tasks = {};                   // so far
  std::map<int, int> producer = {};              // node with its value in registers -> the task that computes it
  std::map<int, std::vector<int>> writers = {};  // buffer -> the tasks that write it
  struct Read {
    int task, value;
    bool in_registers;
  };
  std::vector<Read> reads = {};                         // of values by tasks
  std::vector<std::pair<int, int>> buffer_reads = {};   // (task, buffer)
  std::map<int, selection::LoadReads> load_reads = {};  // load -> the tasks that read its tile

  const tile::Node& node(int i) const { return program.nodes[i]; }
  const kernel::Context& layout(int context) const { return kernel.rmem[context].layout; }
  const graph::KernelTensor& tensor(const tile::Node& n) const { return whole.tensors[n.tensor]; }
  bool tensor_core(int i) const { return node(i).kind == tile::NodeKind::matmul && selected.matmuls.at(i).row; }
  bool is_operand(int i) const {
    return std::ranges::any_of(program.consumers(i), [&](int reader) { return tensor_core(reader); });
  }

  /// Adds a buffer for node `id`, and returns its index.
  int add_buffer(int id, graph::DType dtype, const graph::Shape& shape, const graph::Shape& padded, int partials,
                 int inner, std::string suffix = "") {
    kernel::SmemTensor b;
    b.name = (node(id).name.empty() ? fmt::format("t{}", id) : node(id).name) + suffix;
    if (std::ranges::count(kernel.tensors, b.name, &kernel::SmemTensor::name) > 0) b.name += fmt::format("_{}", id);
    b.node = id, b.dtype = dtype, b.shape = shape, b.padded = padded, b.partials = partials, b.inner = inner;
    kernel.tensors.push_back(std::move(b));
    return static_cast<int>(kernel.tensors.size()) - 1;
  }

  /// Adds a task, and returns its index.
  int add(kernel::WorkKind kind, int id, int context, int buffer = -1, kernel::CopyChoice copy = {}) {
    selection::WorkItem t;
    t.kind = kind, t.node = id, t.context = context, t.tensor = buffer, t.copy = copy;
    t.constant = kernel.programmatic && kernel::is_global_load(kind) && reads_constant(node(id), whole);
    tasks.push_back(std::move(t));
    return static_cast<int>(tasks.size()) - 1;
  }

  /// Notes that threads hold the value of node `i` in registers, in the layout with index `context`.
  void keep(int i, int context) { kernel.rmem[context].nodes.push_back(i); }

  /// Adds a tile of this layout to Kernel::rmem, where each layout is once. Returns its index there.
  int add_context(kernel::Context c) {
    const auto same = std::ranges::find(kernel.rmem, c, &kernel::RmemTensor::layout);
    const auto index = static_cast<int>(same - kernel.rmem.begin());
    if (same == kernel.rmem.end()) kernel.rmem.push_back({std::move(c)});
    return index;
  }
  /// Adds the blocked layout of a tile of shape `domain` with vectors of `vector` elements along dimension `inner`, and
  /// returns its index. Halves `vector` until it divides the length of a row.
  int add_blocked(const graph::Shape& domain, int inner, int vector) {
    while (vector > 1 && domain[inner] % vector != 0) vector /= 2;
    return add_context(kernel::blocked_layout(domain, inner, vector, program.threads()));
  }
  /// Adds a blocked layout for a tile of float32 values, and returns its index. The layout has the widest vectors along
  /// the last dimension that leave no thread idle.
  int add_default_blocked(const graph::Shape& domain) {
    int vector = kernel::max_elements_per_step;
    while (vector > 1 && graph::size(domain) / vector < program.threads()) vector /= 2;
    return add_blocked(domain, last(domain), vector);
  }

  /// Returns the index of the thread-value layout of a value from which `x` is computed and which is in registers where
  /// node `reader` is evaluated. Prefers layouts of accumulators and of their row statistics. Returns -1 if there is none.
  int registers(int x, int reader) const {
    int best = -1, maximum = 0;
    const std::vector<kernel::Leaf> all = kernel::leaves(program, x, node(x).shape);
    const bool pairs = std::ranges::any_of(all, [](const kernel::Leaf& leaf) { return leaf.at == kernel::At::pair; });
    for (const kernel::Leaf& leaf : all) {
      const int c = kernel.rmem_of(leaf.node);
      if (c < 0 || !leaf.identity() || sections.complete(leaf.node) != sections.of(reader)) continue;
      if (pairs && !kernel::whole_pairs(layout(c))) continue;
      const int rank = layout(c).row || layout(c).replicated() ? 2 : 1;
      if (rank > maximum) maximum = rank, best = c;
    }
    return best;
  }
  /// Returns whether the threads of a task have `leaf`, an input of the task's expression, in registers where they
  /// need it: in the task's own layout, or as one value per row.
  bool in_registers(const kernel::Leaf& leaf, const selection::WorkItem& task) const {
    const int evaluated = kernel.rmem_of(leaf.node);
    if (evaluated < 0 || leaf.at == kernel::At::elsewhere ||
        sections.complete(leaf.node) != kernel::section_of(task, sections))
      return false;
    const kernel::Context& c = layout(task.context);
    if (evaluated == task.context)
      return leaf.identity() ||
             (leaf.at == kernel::At::pair && node(leaf.node).shape == c.domain && kernel::whole_pairs(c));
    return leaf.at != kernel::At::pair && kernel::lines_of(layout(evaluated), c);
  }
  /// Adds a task that evaluates node `i`, a load or a map, once into registers, in the layout with index `context`.
  void hold(int i, int context, kernel::WorkKind kind = kernel::WorkKind::to_registers) {
    const int t = add(kind, i, context);
    evaluate(t, i, true);
    keep(i, context), producer[i] = t;
  }

  /// Adds a buffer for node `i`, and a task that writes the node's value to it from registers. Does nothing if the
  /// node has a buffer.
  void spill(int i) {
    if (kernel.tensor_of(i) >= 0) return;
    const tile::Node& n = node(i);
    const int c = kernel.rmem_of(i);
    const int partials = layout(c).replicated() ? 1 : layout(c).holders();
    const int b = add_buffer(i, tile::kept_in(n.dtype), n.shape, n.shape, partials, last(n.shape));
    const int t = add(kernel::WorkKind::to_shared, i, c, b);
    reads.push_back({t, i, true});
    writers[b] = {t};
  }

  /// Records which values task `t` reads in order to evaluate value `x`. If `anew`, `x` is computed even if it is in
  /// registers. If one of the values is in registers in a layout that `t` cannot read, adds a task that writes it to
  /// shared memory.
  void evaluate(int t, int x, bool anew = false) {
    const selection::WorkItem task = tasks[t];  // a copy, since spill() adds tasks
    const tile::Node& n = node(task.node);
    const bool product = task.kind == kernel::WorkKind::reduce && n.kind == tile::NodeKind::matmul;
    // Shape of the coordinates at which the task evaluates its expression: the shape of `x`; for an accumulate node the
    // shape of its result, because `x` may be a factor with one number per row; empty for a matmul by dot products.
    const graph::Shape domain = product                                     ? graph::Shape{}
                                : task.kind == kernel::WorkKind::accumulate ? n.shape
                                                                            : node(x).shape;
    const bool evaluated = !anew && node(x).kind == tile::NodeKind::map && kernel.rmem_of(x) >= 0;
    const std::vector<kernel::Leaf> own{{x, kernel::narrowed(kernel::At::own, node(x).shape, domain)}};
    for (const kernel::Leaf& leaf : evaluated ? own : kernel::leaves(program, x, domain, &kernel)) {
      if (node(leaf.node).kind == tile::NodeKind::load && !producer.count(leaf.node)) {
        load_reads[leaf.node].push_back({t, leaf.identity()});
      } else if (in_registers(leaf, task)) {
        reads.push_back({t, leaf.node, true});
      } else {
        if (kernel.rmem_of(leaf.node) >= 0) spill(leaf.node);
        reads.push_back({t, leaf.node, false});
      }
    }
  }

  /// Returns the tasks, each with the tasks that must come before it and its reads of shared memory.
  selection::Tasks connected() {
    SameThread same_thread(kernel, tasks);
    const auto shared = [&](int t, int b) {
      selection::WorkItem& reader = tasks[t];
      auto read = std::ranges::find(reader.reads, b, &kernel::Access::tensor);
      if (read == reader.reads.end()) read = reader.reads.insert(read, {.tensor = b});
      for (int w : writers.at(b)) {
        if (w == t) continue;
        const bool same = same_thread(w, t, b);
        read->same_thread = read->same_thread || same;
        auto& list = same ? reader.after_same : reader.after;
        if (std::ranges::count(list, w) == 0) list.push_back(w);
      }
    };
    for (const auto& [t, b] : buffer_reads) shared(t, b);
    for (const auto& [t, value, in_registers] : reads)
      if (in_registers && producer.count(value))
        tasks[t].after_same.push_back(producer.at(value));
      else
        shared(t, kernel.tensor_of(value));
    for (int i = 0; i < static_cast<int>(tasks.size()); ++i) {
      auto& same = tasks[i].after_same;
      std::ranges::sort(same);
      same.erase(std::unique(same.begin(), same.end()), same.end());
      std::erase(same, i);
    }
    return std::move(tasks);
  }
};

/// Adds a task that evaluates the elementwise node `i` into registers, if it is between two chained wgmma matmuls and is
/// kept there, or if it is the factor that rescales a matmul's accumulators: that is evaluated once per row.
void place_map(Grouping& g, int i) {
  const int scores = selection::accumulators_to_keep_in(g.selected, g.sections, i);
  if (scores >= 0) return g.hold(i, g.kernel.rmem_of(scores));
  const bool factor =
      std::ranges::any_of(g.program.consumers(i), [&](int reader) { return kernel::rescaled_by(g.node(reader)) == i; });
  const int c = factor ? g.registers(i, i) : -1;
  if (c >= 0 && g.layout(c).replicated()) g.hold(i, c, kernel::WorkKind::to_lines);
}

/// Adds the two tasks of a reduction over `context`, the second of which writes to buffer `b`, and returns that one.
int finish_reduce(Grouping& g, int i, int operand, int context, int b) {
  const int t = g.add(kernel::WorkKind::reduce, i, context);
  if (operand >= 0)
    g.evaluate(t, operand);
  else
    for (int in : g.node(i).in) g.evaluate(t, in);
  const int f = g.add(kernel::WorkKind::finish, i, context, b);
  g.tasks[f].after_same.push_back(t);
  return f;
}

/// Adds the tasks of a reduction over `context` whose result is in shared memory.
void reduce_into_buffer(Grouping& g, int i, int operand, int context) {
  const tile::Node& n = g.node(i);
  const int parts = g.layout(context).parts();
  const int b = g.add_buffer(i, tile::kept_in(n.dtype), n.shape, n.shape, parts, last(n.shape));
  g.writers[b] = {finish_reduce(g, i, operand, context, b)};
}

/// Adds the tasks of node `i`: a reduction of `operand` or, if that is -1, a matmul by dot products.
void place_reduce(Grouping& g, int i, int operand) {
  const tile::Node& n = g.node(i);
  if (operand >= 0) {
    const tile::Node& x = g.node(operand);
    const int c = g.rows >= 0 ? g.rows : n.dim == last(x.shape) && n.to == 1 ? g.registers(operand, i) : -1;
    if (c >= 0 && kernel::whole_lines(g.layout(c))) {
      g.producer[i] = finish_reduce(g, i, operand, c, -1);
      return g.keep(i, g.add_context(kernel::lines(g.layout(c))));
    }
    if (c >= 0 && g.layout(c).row) return reduce_into_buffer(g, i, operand, c);
  }
  kernel::Summation s;
  s.sums = s.domain = n.shape;
  if (operand >= 0) {
    s.domain = g.node(operand).shape;
    s.dim = n.dim, s.to = n.to;
  } else {  // a matmul by scalar dot products: K is an additional dimension
    s.dim = static_cast<int>(n.shape.size());
    s.domain.push_back(g.selected.matmuls.at(i).k);
  }
  s.length = s.domain[s.dim] / s.to;
  const int id =
      g.rows >= 0 ? g.rows : g.add_context(kernel::summands(kernel::spread(s, operand >= 0, g.program.warps() * 32)));
  reduce_into_buffer(g, i, operand, id);
}

/// Adds the tasks of matmul `i`.
void place_matmul(Grouping& g, int i) {
  const tile::Node& n = g.node(i);
  if (!g.tensor_core(i)) return place_reduce(g, i, -1);
  const kernel::MatmulChoice& choice = g.selected.matmuls.at(i);
  const Instruction* row = choice.row;
  if (choice.columns() != choice.n) {  // a batch in one wgmma: its matrices have the layout of mma.sync
    const std::string_view type = target::multiplied_as(g.node(n.in[0]).dtype, n.tf32);
    row = target::find_mma(g.target, type, type, graph::name(graph::DType::f32));
  }
  for (const kernel::RmemTensor& other : g.kernel.rmem)
    if (other.layout.row && kernel::equivalent(*other.layout.row, *row)) row = other.layout.row;
  const int id = g.add_context(kernel::accumulators(n.shape, choice.warps, *row));
  const int factor = kernel::rescaled_by(n), rescale = factor < 0 ? -1 : g.add(kernel::WorkKind::rescale, i, id);
  if (rescale >= 0) g.evaluate(rescale, factor);
  const int mma = g.add(kernel::WorkKind::mma, i, id);
  g.tasks[mma].matmul = choice;
  if (rescale >= 0) g.tasks[mma].after_same.push_back(rescale);
  const auto widened = kernel::widened_operand(g.program, i, choice);
  for (int side = 0; side < 2; ++side) {
    const int operand = n.in[side];
    if (widened && side == widened->side && !choice.asynchronous())
      g.evaluate(mma, g.node(operand).in[0]);
    else if (g.node(operand).kind == tile::NodeKind::load)
      g.load_reads[operand].push_back({mma, false});
    else
      g.reads.push_back({mma, operand, true});
  }
  g.producer[i] = mma;
  g.keep(i, id);
  if (choice.warps.k > 1) {
    g.spill(i);
    g.kernel.rmem[id].nodes.pop_back();  // each warp has only a partial sum: readers use the buffer
  }
}

/// Adds the task of accumulate node `i`.
void place_accumulate(Grouping& g, int i) {
  const tile::Node& n = g.node(i);
  int c = g.registers(n.in[0], i);
  const bool whole = n.dtype != graph::DType::f32;  // a matmul's registers hold float32
  if (c < 0 || (g.layout(c).row && (whole || g.layout(c).holders() > 1))) c = g.add_default_blocked(n.shape);
  const int t = g.add(kernel::WorkKind::accumulate, i, c);
  for (int in : n.in) g.evaluate(t, in);
  const kernel::Context& where = g.layout(c);
  if (!where.row && where.values() > max_state_registers) {
    const int b = g.add_buffer(i, tile::kept_in(n.dtype), n.shape, n.shape, 1, where.inner());
    g.tasks[t].tensor = b;
    g.writers[b] = {t};
    return;
  }
  g.keep(i, c);
  g.producer[i] = t;
}

/// Adds the task that stores the matmul operand `i`, or leaves it in registers for a chained matmul or one whose weights it widens.
void place_round(Grouping& g, int i) {
  const tile::Node& n = g.node(i);
  const auto in_registers = [&](int context, bool widens = false) {
    const int loads = widens ? g.add(kernel::WorkKind::to_operand, i, context) : -1,
              t = g.add(kernel::WorkKind::to_operand, i, context);
    g.evaluate(widens ? loads : t, n.in[0]), g.keep(i, context), g.producer[i] = t;
    if (widens) g.tasks[loads].part = kernel::loads_bytes, g.tasks[t].part = kernel::makes_operand;
    if (widens) g.tasks[t].after_same.push_back(loads);
  };
  for (int reader : g.program.consumers(i))
    if (g.tensor_core(reader)) {
      const kernel::MatmulChoice& choice = g.selected.matmuls.at(reader);
      if (const auto w = kernel::widened_operand(g.program, reader, choice); !w || w->round != i) continue;
      if (choice.asynchronous()) in_registers(g.add_context(selection::widened_layout(n, choice, g.target)), true);
      return;  // otherwise the matmul's step widens it
    }
  int chained = -1;
  for (int reader : g.program.consumers(i))
    if (g.tensor_core(reader) && g.selected.fragments_from.contains(reader) && g.node(reader).in[0] == i)
      chained = reader;
  int c = g.registers(n.in[0], i);
  if (chained >= 0) return in_registers(g.kernel.rmem_of(g.selected.fragments_from.at(chained)));
  const graph::Shape padded = selection::operand_padding(g.selected, i);
  if (c < 0 || !g.layout(c).row || !kernel::covers(g.layout(c), padded))
    c = g.add_blocked(padded, n.inner, kernel::max_elements_per_step);
  const int b = g.add_buffer(i, n.dtype, n.shape, padded, 1, n.inner);
  g.kernel.tensors[b].matmul_operand = g.is_operand(i);
  const int t = g.add(kernel::WorkKind::to_shared, i, c, b);
  g.evaluate(t, n.in[0]);
  g.writers[b] = {t};
}

/// Adds the tasks of store `i`.
void place_store(Grouping& g, int i) {
  const tile::Node& n = g.node(i);
  const int inner = selection::innermost(g.whole, n);
  kernel::CopyChoice copy = selection::widest_copy(g.whole, n, g.target);
  while (copy.vector > 1 && (n.shape[inner] % copy.vector != 0 || n.view.straddles_end(inner, copy.vector)))
    copy.vector /= 2, copy.bytes /= 2;
  copy.row = nullptr;
  if (const std::optional<kernel::CopyChoice> wide =
          g.rows < 0 ? selection::fetched(g.kernel, g.tasks, g.whole, g.target, i) : std::nullopt) {
    const int load = n.in[0], in = g.add_blocked(n.shape, inner, wide->vector);
    g.keep(load, in);
    g.producer[load] = g.add(kernel::WorkKind::fetch, load, in, -1, *wide);
  }
  int c = g.rows >= 0 && n.shape == g.layout(g.rows).domain ? g.rows : g.registers(n.in[0], i);
  // Adjacent threads must store adjacent elements, and replicated rows do not; without shared memory they are stored nevertheless.
  if (c >= 0 && g.layout(c).replicated() && g.rows < 0) c = -1;
  // Accumulators whose pairs are not adjacent in memory, as with A and B swapped, would be stored one by one. So
  // they are, if memory sees no more than 2 bytes at a time either way.
  const auto lies_across = [&](const kernel::Context& accumulators) {
    return accumulators.inner() != inner && copy.bytes >= 4 &&
           n.shape[inner] * graph::whole_bytes(n.dtype) >= target::bank_row_bytes;
  };
  if (c >= 0 && g.layout(c).row && (copy.bytes >= 8 || lies_across(g.layout(c))) &&
      !selection::leaves_at_once(g.selected, n, g.layout(c), inner)) {
    // Accumulators are stored through shared memory in the storage type: global memory sees 16-byte chunks.
    if (g.selected.any(&kernel::MatmulChoice::proxy, target::Proxy::async) &&
        kernel::no_tensor_map(n, g.whole.minimally_aligned(n.tensor), inner).empty())
      copy.row = target::find_tma(g.target, kernel::Space::smem, kernel::Space::gmem, n.shape.size());
    std::vector<kernel::Work> ways_out;  // the stores that go through a buffer
    for (const selection::WorkItem& t : g.tasks)
      if (t.kind == kernel::WorkKind::to_global && t.tensor >= 0) ways_out.push_back(t);
    const kernel::Work* other = kernel::shared_way_out(g.kernel, ways_out, i, copy.row, inner);
    const int b = other ? other->tensor : g.add_buffer(i, n.dtype, n.shape, n.shape, 1, inner, "_out");
    if (!other || g.node(other->node).in != n.in) {
      const int t = g.add(kernel::WorkKind::to_shared, i, c, b);
      g.evaluate(t, n.in[0]);
      g.writers[b].push_back(t);
    }
    const int out = g.add(kernel::WorkKind::to_global, i, g.add_blocked(n.shape, inner, copy.vector), b, copy);
    g.buffer_reads.push_back({out, b});
    return;
  }
  const int where = c >= 0 ? c : g.add_context(selection::store_blocked_layout(g.program, n, inner, copy.vector));
  g.evaluate(g.add(kernel::WorkKind::to_global, i, where, -1, copy), n.in[0]);
}

/// Adds the tasks of node `i`, unless it is a load or is evaluated where it is read.
void place_node(Grouping& g, int i) {
  const tile::Node& n = g.node(i);
  if (const int number = tile::number_of(n); number >= 0 && !g.kernel.in_place(number))
    g.kernel.gmem.push_back({number});
  switch (n.kind) {
    case tile::NodeKind::matmul:
      return place_matmul(g, i);
    case tile::NodeKind::reduce:
      return place_reduce(g, i, n.in[0]);
    case tile::NodeKind::accumulate:
      return place_accumulate(g, i);
    case tile::NodeKind::running_max: {
      int c = g.registers(n.in[0], i);
      if (c < 0 || !g.layout(c).replicated()) c = g.add_default_blocked(n.shape);
      g.keep(i, c);
      g.evaluate(g.add(kernel::WorkKind::accumulate, i, c), n.in[0]);
      g.producer[i] = static_cast<int>(g.tasks.size()) - 1;
      break;
    }
    case tile::NodeKind::running_diff:
      g.keep(i, g.kernel.rmem_of(n.in[0]));
      g.producer[i] = g.producer.at(n.in[0]);
      break;
    case tile::NodeKind::round:
      return place_round(g, i);
    case tile::NodeKind::store:
      return place_store(g, i);
    case tile::NodeKind::map:
      return place_map(g, i);
    default:
      break;  // loads follow in place_loads(); other elementwise nodes are evaluated where they are read
  }
}

/// Returns whether several tasks read the tile of a load.
bool read_by_several(const selection::LoadReads& reads) {
  return std::ranges::any_of(reads, [&](const auto& read) { return read.first != reads.front().first; });
}

/// Decides which loaded tiles are copied into shared memory. If all of them need more than half of the shared memory of a block, only
/// those that several tasks read are copied, if these fit into that half. A norm of a long row copies the row, and reads its weights in place.
void place_loads(Grouping& g) {
  const std::int64_t half = g.target.shared_per_block / 2;
  std::int64_t total = 0, again = 0;  // bytes of the loaded tiles; of those that several tasks read
  for (const auto& [load, reads] : g.load_reads) {
    const std::int64_t bytes = graph::bytes_of(graph::size(g.node(load).shape), g.node(load).dtype);
    total += bytes;
    if (read_by_several(reads)) again += bytes;
  }
  const WidenedLoads widened = widened_loads(g.kernel, g.tasks, g.whole);
  for (const auto& [load, reads] : g.load_reads) {
    const bool too_big = total > half && (again > half || !read_by_several(reads));
    const tile::Node& n = g.node(load);
    const kernel::CopyChoice wide = selection::widest_copy(g.whole, n, g.target);
    const bool streamed = std::ranges::count(widened.bytes, load) > 0;
    const bool direct =
        g.rows >= 0 || std::ranges::count(widened.numbers, load) > 0 ||
        (!g.is_operand(load) && !streamed &&
         selection::read_in_place(g.kernel, g.selected, g.tasks, g.whole, g.target, load, reads, g.loads, too_big));
    if (direct || (tile::number_of(n) >= 0 && n.page == 0)) {
      std::erase_if(g.kernel.gmem, [of = load](const kernel::GmemTensor& t) { return t.node == of; });
      g.kernel.gmem.push_back({load, wide.vector});
      continue;
    }
    const graph::Shape padded = g.is_operand(load) ? selection::operand_padding(g.selected, load) : n.shape;
    kernel::CopyChoice copy = n.inner == selection::innermost(g.whole, n)
                                  ? selection::anywhere(wide, g.whole, n, g.target)
                                  : selection::single_copy(n.dtype, g.target);
    for (int reader : g.program.consumers(load))
      if (g.tensor_core(reader) && (g.selected.matmuls.at(reader).proxy() == target::Proxy::async ||
                                    (g.loads == selection::Loads::by_producer && g.node(reader).carried)))
        copy.row = target::find_tma(g.target, kernel::Space::gmem, kernel::Space::smem, n.shape.size());
    if (streamed) copy.row = target::find_tma(g.target, kernel::Space::gmem, kernel::Space::smem, n.shape.size());
    const int b = g.add_buffer(load, n.dtype, n.shape, padded, 1, n.inner);
    g.kernel.tensors[b].matmul_operand = g.is_operand(load);
    const int t =
        g.add(kernel::WorkKind::copy_in, load,
              g.add_context(selection::copy_context(g.tensor(n), padded, n.inner, copy, g.program.threads())), b, copy);
    g.writers[b] = {t};
    for (const auto& [reader, identity] : reads) g.reads.push_back({reader, load, false});
  }
}

}  // namespace

selection::Tasks group(kernel::Kernel& kernel, const selection::Selection& selected, const tile::TilePrograms& whole,
                       const target::Target& target, selection::Loads loads) {
  kernel.program = selected.program;
  kernel.programmatic = target::has_programmatic_launch(target);
  Grouping g{kernel, selected, whole, target, loads};
  const std::vector<bool> live = g.program.needed();
  std::set<int> row_values;  // values that are evaluated once in the layout of the rows
  if (const std::optional<selection::RowRegisters> rows = selection::rows_in_registers(kernel, whole, target))
    g.rows = g.add_context(rows->layout), row_values = rows->row_values;
  for (int i : row_values)
    if (g.node(i).kind == tile::NodeKind::load)
      g.hold(i, g.rows);  // before all else, so that they are in flight together
  for (int i = 0; i < static_cast<int>(g.program.nodes.size()); ++i)
    if (live[i] && kernel.rmem_of(i) < 0) row_values.contains(i) ? g.hold(i, g.rows) : place_node(g, i);
  place_loads(g);
  return g.connected();
}

}  // namespace zellige::plan
