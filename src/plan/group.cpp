#include "plan/group.hpp"

#include <algorithm>
#include <set>

#include "kernel/carry.hpp"
#include "kernel/leaves.hpp"
#include "kernel/row_blocked_layout.hpp"
#include "kernel/sliced.hpp"
#include "kernel/tensor_map.hpp"
#include "plan/contexts.hpp"
#include "plan/dependence.hpp"
#include "plan/same_thread.hpp"
#include "selection/copies.hpp"
#include "selection/layouts.hpp"
#include "selection/row_registers.hpp"
#include "selection/warpgroups.hpp"
#include "target/instructions.hpp"

namespace zellige::plan {
namespace {

constexpr std::int64_t max_state_registers = 64;  // per thread; larger loop states are in shared memory

/// Creates the tasks, layouts and buffers of one kernel; see group().
class Grouping {
 public:
  Grouping(kernel::Kernel& plan, const selection::Selection& selected, const tile::TilePrograms& whole,
           const target::Target& target, selection::Loads loads)
      : plan_(plan),
        selected_(selected),
        program_(plan.program),
        sections_(program_),
        whole_(whole),
        target_(target),
        loads_(loads),
        same_thread_(plan, tasks_) {}

  selection::Tasks run() {
    live_ = program_.needed();
    if (const std::optional<selection::RowRegisters> rows = selection::rows_in_registers(plan_, whole_, target_))
      rows_ = add_context(plan_, rows->layout), row_values_ = rows->row_values;
    for (int i : row_values_)
      if (node(i).kind == tile::NodeKind::load) hold(i, rows_);  // before all else, so that they are in flight together
    for (int i = 0; i < size(); ++i)
      if (live_[i] && plan_.rmem_of(i) < 0) row_values_.contains(i) ? hold(i, rows_) : place(i);
    place_loads();
    connect();
    return std::move(tasks_);
  }

 private:
  int size() const { return static_cast<int>(program_.nodes.size()); }
  const tile::Node& node(int i) const { return program_.nodes[i]; }
  const graph::KernelTensor& tensor(const tile::Node& n) const { return whole_.tensors[n.tensor]; }

  bool tensor_core(int i) const { return node(i).kind == tile::NodeKind::matmul && selected_.matmuls.at(i).row; }

  int buffer(int id, graph::DType dtype, const graph::Shape& shape, const graph::Shape& padded, int partials, int inner,
             std::string suffix = "") {
    kernel::SmemTensor b;
    b.name = (node(id).name.empty() ? fmt::format("t{}", id) : node(id).name) + suffix;
    if (std::ranges::count(plan_.tensors, b.name, &kernel::SmemTensor::name) > 0) b.name += fmt::format("_{}", id);
    b.node = id, b.dtype = dtype, b.shape = shape, b.padded = padded, b.partials = partials, b.inner = inner;
    plan_.tensors.push_back(std::move(b));
    return static_cast<int>(plan_.tensors.size()) - 1;
  }

  int task(kernel::WorkKind kind, int id, int context, int buffer = -1, kernel::CopyChoice copy = {}) {
    selection::Task t;
    t.kind = kind, t.node = id, t.context = context, t.buffer = buffer, t.copy = copy;
    t.constant = plan_.programmatic && kernel::is_global_load(kind) && reads_constant(node(id), whole_);
    tasks_.push_back(std::move(t));
    return static_cast<int>(tasks_.size()) - 1;
  }

  /// Notes that threads hold the value of node `i` in registers, in the layout with index `context`.
  void keep(int i, int context) { plan_.rmem[context].nodes.push_back(i); }

  /// Returns register_context() of `x` for node `reader`.
  int registers(int x, int reader) const { return register_context(plan_, sections_, x, node(x).shape, reader); }

  static int last(const graph::Shape& s) { return static_cast<int>(s.size()) - 1; }

  void place(int i) {
    const tile::Node& n = node(i);
    if (const int number = tile::number_of(n); number >= 0 && !plan_.in_place(number)) plan_.gmem.push_back({number});
    switch (n.kind) {
      case tile::NodeKind::matmul:
        return place_matmul(i);
      case tile::NodeKind::reduce:
        return place_reduce(i, n.in[0]);
      case tile::NodeKind::accumulate:
        return place_accumulate(i);
      case tile::NodeKind::running_max: {
        int c = registers(n.in[0], i);
        if (c < 0 || !plan_.rmem[c].layout.replicated()) c = add_default_blocked(plan_, n.shape, last(n.shape));
        keep(i, c);
        evaluate(task(kernel::WorkKind::accumulate, i, c), n.in[0]);
        producer_[i] = static_cast<int>(tasks_.size()) - 1;
        break;
      }
      case tile::NodeKind::running_diff:
        keep(i, plan_.rmem_of(n.in[0]));
        producer_[i] = producer_.at(n.in[0]);
        break;
      case tile::NodeKind::round:
        return place_round(i);
      case tile::NodeKind::store:
        return place_store(i);
      case tile::NodeKind::map:
        if (!place_precomputed(i)) place_factor(i);
        break;
      default:
        break;  // loads follow in place_loads(); other elementwise nodes are evaluated where they are read
    }
  }

  /// If the elementwise node `i` is between two chained wgmma matmuls and is kept in registers, adds a task that
  /// evaluates it into registers, and returns true. Otherwise returns false.
  bool place_precomputed(int i) {
    const int scores = selection::accumulators_to_keep_in(selected_, sections_, i);
    if (scores >= 0) hold(i, plan_.rmem_of(scores));
    return scores >= 0;
  }

  /// If node `i` is the factor that rescales a matmul's accumulators row by row, adds a task that evaluates it once
  /// per row. Otherwise does nothing.
  void place_factor(int i) {
    const bool factor =
        std::ranges::any_of(program_.consumers(i), [&](int reader) { return kernel::rescaled_by(node(reader)) == i; });
    const int c = factor ? registers(i, i) : -1;
    if (c >= 0 && plan_.rmem[c].layout.replicated()) hold(i, c, kernel::WorkKind::to_lines);
  }

  /// Adds a task that evaluates node `i`, a load or a map, once into registers, in the layout with index `context`.
  void hold(int i, int context, kernel::WorkKind kind = kernel::WorkKind::to_registers) {
    const int t = task(kind, i, context);
    evaluate(t, i, true);
    keep(i, context), producer_[i] = t;
  }

  void place_matmul(int i) {
    const tile::Node& n = node(i);
    if (!tensor_core(i)) return place_reduce(i, -1);
    const kernel::MatmulChoice& choice = selected_.matmuls.at(i);
    const Instruction* row = choice.row;
    if (choice.columns() != choice.n) {  // a batch in one wgmma: its matrices have the layout of mma.sync
      const std::string_view type = target::multiplied_as(node(n.in[0]).dtype, n.tf32);
      row = target::find_mma(target_, type, type, graph::name(graph::DType::f32));
    }
    for (const kernel::RmemTensor& other : plan_.rmem)
      if (other.layout.row && kernel::equivalent(*other.layout.row, *row)) row = other.layout.row;
    const int id = add_context(plan_, kernel::accumulators(n.shape, choice.warps, *row));
    const int factor = kernel::rescaled_by(n), rescale = factor < 0 ? -1 : task(kernel::WorkKind::rescale, i, id);
    if (rescale >= 0) evaluate(rescale, factor);
    const int mma = task(kernel::WorkKind::mma, i, id);
    tasks_[mma].matmul = choice;
    if (rescale >= 0) tasks_[mma].after_same.push_back(rescale);
    for (int side = 0; side < 2; ++side) {
      const int operand = n.in[side];
      if (node(operand).kind == tile::NodeKind::load)
        load_reads_[operand].push_back({mma, false});
      else
        reads_.push_back({mma, operand, true});
    }
    producer_[i] = mma;
    keep(i, id);
    if (choice.warps.k > 1) {
      spill(i);
      plan_.rmem[id].nodes.pop_back();  // each warp has only a partial sum: readers use the buffer
    }
  }

  /// Adds a buffer for node `i`, and a task that writes the node's value to it from registers. Does nothing if the
  /// node has a buffer.
  void spill(int i) {
    if (plan_.tensor_of(i) >= 0) return;
    const tile::Node& n = node(i);
    const int c = plan_.rmem_of(i);
    const int partials = plan_.rmem[c].layout.replicated() ? 1 : plan_.rmem[c].layout.holders();
    const int b = buffer(i, tile::kept_in(n.dtype), n.shape, n.shape, partials, last(n.shape));
    const int t = task(kernel::WorkKind::to_shared, i, c, b);
    reads_.push_back({t, i, true});
    writers_[b] = {t};
  }

  void place_reduce(int i, int operand) {
    const tile::Node& n = node(i);
    if (operand >= 0) {
      const tile::Node& x = node(operand);
      const int c = rows_ >= 0 ? rows_ : n.dim == last(x.shape) && n.to == 1 ? registers(operand, i) : -1;
      if (c >= 0 && kernel::whole_lines(plan_.rmem[c].layout)) {
        producer_[i] = finish_reduce(i, operand, c, -1);
        return keep(i, add_context(plan_, kernel::lines(plan_.rmem[c].layout)));
      }
      if (c >= 0 && plan_.rmem[c].layout.row) return reduce_into_buffer(i, operand, c);
    }
    kernel::Summation s;
    s.sums = s.domain = n.shape;
    if (operand >= 0) {
      s.domain = node(operand).shape;
      s.dim = n.dim, s.to = n.to;
    } else {  // a matmul by scalar dot products: K is an additional dimension
      s.dim = static_cast<int>(n.shape.size());
      s.domain.push_back(selected_.matmuls.at(i).k);
    }
    s.length = s.domain[s.dim] / s.to;
    const int id = rows_ >= 0
                       ? rows_
                       : add_context(plan_, kernel::summands(kernel::spread(s, operand >= 0, program_.warps() * 32)));
    reduce_into_buffer(i, operand, id);
  }

  void reduce_into_buffer(int i, int operand, int context) {
    const tile::Node& n = node(i);
    const int parts = plan_.rmem[context].layout.parts();
    const int b = buffer(i, tile::kept_in(n.dtype), n.shape, n.shape, parts, last(n.shape));
    writers_[b] = {finish_reduce(i, operand, context, b)};
  }

  /// Adds the two tasks of a reduction over `context`, the second of which writes to buffer `b`, and returns that one.
  int finish_reduce(int i, int operand, int context, int b) {
    const int t = task(kernel::WorkKind::reduce, i, context);
    if (operand >= 0)
      evaluate(t, operand);
    else
      for (int in : node(i).in) evaluate(t, in);
    const int f = task(kernel::WorkKind::finish, i, context, b);
    tasks_[f].after_same.push_back(t);
    return f;
  }

  void place_accumulate(int i) {
    const tile::Node& n = node(i);
    int c = registers(n.in[0], i);
    const bool whole = graph::is_integer(n.dtype);  // a matmul's registers hold float32
    if (c < 0 || (plan_.rmem[c].layout.row && (whole || plan_.rmem[c].layout.holders() > 1)))
      c = add_default_blocked(plan_, n.shape, last(n.shape));
    const int t = task(kernel::WorkKind::accumulate, i, c);
    for (int in : n.in) evaluate(t, in);
    const kernel::Context& where = plan_.rmem[c].layout;
    if (!where.row && where.values() > max_state_registers) {
      const int b = buffer(i, tile::kept_in(n.dtype), n.shape, n.shape, 1, where.inner());
      tasks_[t].buffer = b;
      writers_[b] = {t};
      return;
    }
    keep(i, c);
    producer_[i] = t;
  }

  bool is_operand(int i) const {
    return std::ranges::any_of(program_.consumers(i), [&](int reader) { return tensor_core(reader); });
  }

  void place_round(int i) {
    const tile::Node& n = node(i);
    int chained = -1;
    for (int reader : program_.consumers(i))
      if (tensor_core(reader) && selected_.fragments_from.contains(reader) && node(reader).in[0] == i) chained = reader;
    int c = registers(n.in[0], i);
    if (chained >= 0) {
      const int t = task(kernel::WorkKind::to_operand, i, plan_.rmem_of(selected_.fragments_from.at(chained)));
      evaluate(t, n.in[0]);
      keep(i, tasks_[t].context);
      producer_[i] = t;
      return;
    }
    const graph::Shape padded = selection::operand_padding(selected_, i);
    if (c < 0 || !plan_.rmem[c].layout.row || !kernel::covers(plan_.rmem[c].layout, padded))
      c = add_blocked(plan_, padded, n.inner, kernel::max_elements_per_step);
    const int b = buffer(i, n.dtype, n.shape, padded, 1, n.inner);
    plan_.tensors[b].matmul_operand = is_operand(i);
    const int t = task(kernel::WorkKind::to_shared, i, c, b);
    evaluate(t, n.in[0]);
    writers_[b] = {t};
  }

  void place_store(int i) {
    const tile::Node& n = node(i);
    const int inner = selection::innermost(whole_, n);
    kernel::CopyChoice copy = selection::widest_copy(whole_, n, target_);
    while (copy.vector > 1 && (n.shape[inner] % copy.vector != 0 || n.view.straddles_end(inner, copy.vector)))
      copy.vector /= 2, copy.bytes /= 2;
    copy.row = nullptr;
    if (const std::optional<kernel::CopyChoice> wide =
            rows_ < 0 ? selection::fetched(plan_, tasks_, whole_, target_, i) : std::nullopt) {
      const int load = n.in[0], in = add_blocked(plan_, n.shape, inner, wide->vector);
      keep(load, in);
      producer_[load] = task(kernel::WorkKind::fetch, load, in, -1, *wide);
    }
    int c = rows_ >= 0 && n.shape == plan_.rmem[rows_].layout.domain ? rows_ : registers(n.in[0], i);
    // Adjacent threads must store adjacent elements, and replicated rows do not. A kernel without shared memory
    // stores them nevertheless.
    if (c >= 0 && plan_.rmem[c].layout.replicated() && rows_ < 0) c = -1;
    // Accumulators whose pairs are not adjacent in memory, as with A and B swapped, would be stored one by one. So
    // they are, if memory sees no more than 2 bytes at a time either way.
    const auto lies_across = [&](const kernel::Context& accumulators) {
      return accumulators.inner() != inner && copy.bytes >= 4 &&
             n.shape[inner] * graph::whole_bytes(n.dtype) >= target::bank_row_bytes;
    };
    if (c >= 0 && plan_.rmem[c].layout.row && (copy.bytes >= 8 || lies_across(plan_.rmem[c].layout)) &&
        !selection::leaves_at_once(selected_, n, plan_.rmem[c].layout, inner)) {
      // Accumulators are stored through shared memory in the storage type: global memory sees 16-byte chunks.
      if (by_tensor_map(i, inner))
        copy.row = target::find_tma(target_, kernel::Space::smem, kernel::Space::gmem, n.shape.size());
      const kernel::Work* other = kernel::shared_way_out(plan_, ways_out_, i, copy.row, inner);
      const int b = other ? other->buffer : buffer(i, n.dtype, n.shape, n.shape, 1, inner, "_out");
      if (!other || node(other->node).in != n.in) {
        const int t = task(kernel::WorkKind::to_shared, i, c, b);
        evaluate(t, n.in[0]);
        writers_[b].push_back(t);
      }
      const int out = task(kernel::WorkKind::to_global, i, add_blocked(plan_, n.shape, inner, copy.vector), b, copy);
      buffer_reads_.push_back({out, b});
      ways_out_.push_back(tasks_[out]);
      return;
    }
    const int where = c >= 0 ? c : add_context(plan_, kernel::store_blocked_layout(program_, n, inner, copy.vector));
    evaluate(task(kernel::WorkKind::to_global, i, where, -1, copy), n.in[0]);
  }

  /// Returns whether TMA is used for the tile of the load or store `i`, whose rows run along `inner`: TMA loads operands
  /// of the kernel, and a tensor map for the tile exists.
  bool by_tensor_map(int i, int inner) const {
    return selected_.any(&kernel::MatmulChoice::proxy, target::Proxy::async) &&
           kernel::no_tensor_map(node(i), tensor(node(i)), inner).empty();
  }

  /// Records which values task `t` reads in order to evaluate value `x`. If `anew`, `x` is computed even if it is in
  /// registers. If one of the values is in registers in a layout that `t` cannot read, adds a task that writes it to
  /// shared memory.
  void evaluate(int t, int x, bool anew = false) {
    const selection::Task& task = tasks_[t];
    const tile::Node& n = node(task.node);
    const bool product = task.kind == kernel::WorkKind::reduce && n.kind == tile::NodeKind::matmul;
    // Shape of the coordinates at which the task evaluates its expression: the shape of `x`; for an accumulate node the
    // shape of its result, because `x` may be a factor with one number per row; empty for a matmul by dot products.
    const graph::Shape domain = product                                     ? graph::Shape{}
                                : task.kind == kernel::WorkKind::accumulate ? n.shape
                                                                            : node(x).shape;
    const bool evaluated = !anew && node(x).kind == tile::NodeKind::map && plan_.rmem_of(x) >= 0;
    const std::vector<kernel::Leaf> own{{x, kernel::narrowed(kernel::At::own, node(x).shape, domain)}};
    for (const kernel::Leaf& leaf : evaluated ? own : kernel::leaves(program_, x, domain, &plan_)) {
      if (node(leaf.node).kind == tile::NodeKind::load && !producer_.count(leaf.node)) {
        load_reads_[leaf.node].push_back({t, leaf.identity()});
      } else if (in_registers(plan_, sections_, leaf, task)) {
        reads_.push_back({t, leaf.node, true});
      } else {
        if (plan_.rmem_of(leaf.node) >= 0) spill(leaf.node);
        reads_.push_back({t, leaf.node, false});
      }
    }
  }

  /// Returns whether several tasks read the tile of a load.
  static bool read_by_several(const selection::LoadReads& reads) {
    return std::ranges::any_of(reads, [&](const auto& read) { return read.first != reads.front().first; });
  }

  /// Decides which loaded tiles are copied into shared memory. If all of them need more than half of the shared memory
  /// of a block, only those that several tasks read are copied, if these fit into that half, so that they are read
  /// once from global memory. A norm of a long row copies the row, and reads its weights in place.
  void place_loads() {
    const std::int64_t half = target_.shared_per_block / 2;
    std::int64_t total = 0, again = 0;  // bytes of the loaded tiles; of those that several tasks read
    for (const auto& [load, reads] : load_reads_) {
      const std::int64_t bytes = graph::bytes_of(graph::size(node(load).shape), node(load).dtype);
      total += bytes;
      if (read_by_several(reads)) again += bytes;
    }
    for (const auto& [load, reads] : load_reads_) {
      const bool too_big = total > half && (again > half || !read_by_several(reads));
      const tile::Node& n = node(load);
      const int gmem_inner = selection::innermost(whole_, n);
      const kernel::CopyChoice wide = selection::widest_copy(whole_, n, target_);
      const bool direct =
          rows_ >= 0 || (!is_operand(load) && selection::read_in_place(plan_, selected_, tasks_, whole_, target_, load,
                                                                       reads, loads_, too_big));
      if (direct || tile::number_of(n) >= 0) {
        std::erase_if(plan_.gmem, [of = load](const kernel::GmemTensor& t) { return t.node == of; });
        plan_.gmem.push_back({load, wide.vector});
        continue;
      }
      const graph::Shape padded = is_operand(load) ? selection::operand_padding(selected_, load) : n.shape;
      kernel::CopyChoice copy = n.inner == gmem_inner ? selection::anywhere(wide, whole_, n, target_)
                                                      : selection::single_copy(n.dtype, target_);
      for (int reader : program_.consumers(load))
        if (tensor_core(reader) && selected_.matmuls.at(reader).proxy() == target::Proxy::async)
          copy.row = target::find_tma(target_, kernel::Space::gmem, kernel::Space::smem, n.shape.size());
      const int b = buffer(load, n.dtype, n.shape, padded, 1, n.inner);
      plan_.tensors[b].matmul_operand = is_operand(load);
      const int t = task(
          kernel::WorkKind::copy_in, load,
          add_context(plan_, selection::copy_context(tensor(n), padded, n.inner, copy, program_.threads())), b, copy);
      writers_[b] = {t};
      for (const auto& [reader, identity] : reads) reads_.push_back({reader, load, false});
    }
  }

  void connect() {
    const auto shared = [&](int t, int b) {
      selection::Task& reader = tasks_[t];
      auto read = std::ranges::find(reader.reads, b, &kernel::Access::tensor);
      if (read == reader.reads.end()) read = reader.reads.insert(read, {.tensor = b});
      for (int w : writers_.at(b)) {
        if (w == t) continue;
        const bool same = same_thread_(w, t, b);
        read->same_thread = read->same_thread || same;
        auto& list = same ? reader.after_same : reader.after;
        if (std::ranges::count(list, w) == 0) list.push_back(w);
      }
    };
    for (const auto& [t, b] : buffer_reads_) shared(t, b);
    for (const auto& [t, value, in_registers] : reads_)
      if (in_registers && producer_.count(value))
        tasks_[t].after_same.push_back(producer_.at(value));
      else
        shared(t, plan_.tensor_of(value));
    for (int i = 0; i < static_cast<int>(tasks_.size()); ++i) {
      auto& same = tasks_[i].after_same;
      std::ranges::sort(same);
      same.erase(std::unique(same.begin(), same.end()), same.end());
      std::erase(same, i);
    }
  }

  struct Read {
    int task, value;
    bool in_registers;
  };

  kernel::Kernel& plan_;
  const selection::Selection& selected_;
  const tile::TileProgram& program_;
  tile::Sections sections_;
  const tile::TilePrograms& whole_;
  const target::Target& target_;
  selection::Loads loads_;
  selection::Tasks tasks_;
  std::vector<bool> live_;
  int rows_ = -1;                            // the layout of the kernel's rows in registers; -1: none
  std::set<int> row_values_;                 // values that are evaluated once in that layout
  std::map<int, int> producer_;              // node with its value in registers -> the task that computes it
  std::map<int, std::vector<int>> writers_;  // buffer -> the tasks that write it
  std::vector<Read> reads_;
  std::vector<std::pair<int, int>> buffer_reads_;  // (task, buffer)
  std::vector<kernel::Work> ways_out_;             // the stores that go through a buffer
  std::map<int, selection::LoadReads> load_reads_;
  SameThread same_thread_;
};

}  // namespace

selection::Tasks group(kernel::Kernel& plan, const selection::Selection& selected, const tile::TilePrograms& whole,
                       const target::Target& target, selection::Loads loads) {
  plan.program = selected.program;
  plan.programmatic = target::has_programmatic_launch(target);
  return Grouping(plan, selected, whole, target, loads).run();
}

}  // namespace zellige::plan
