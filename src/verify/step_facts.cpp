#include <algorithm>

#include "kernel/evaluated_layout.hpp"
#include "kernel/leaves.hpp"
#include "kernel/sliced.hpp"
#include "kernel/widened.hpp"
#include "selection/tile_schedule.hpp"
#include "target/products.hpp"
#include "verify/proofs.hpp"
#include "verify/rejected.hpp"

namespace zellige::verify {
namespace {

/// Proves the facts of one step.
class Facts {
 public:
  Facts(const Kernel& k, const TilePrograms& program, const Step& step, const Loop* over)
      : k_(k), program_(program), step_(step), w_(step.work), n_(k.program.nodes[w_.node]), over_(over) {}

  void check() const {
    if (as<Start>(step_)) return writes();
    kind();
    channel();
    writes();
    reads();
    stages();
    global();
    part();
  }

 private:
  bool copies() const { return kernel::is_global_load(w_.kind) || w_.kind == WorkKind::to_global; }
  /// Returns how the instruction of the work completes.
  Completion completion() const {
    const Instruction* row = w_.kind == WorkKind::mma ? w_.matmul.row : copies() ? w_.copy.row : nullptr;
    return row ? row->completion : Completion::at_once;
  }

  void kind() const {
    const bool later = completion() != Completion::at_once;
    const std::string_view right = later && copies() ? "copy" : later ? "async_work" : "work";
    if (kernel::name(step_) != right)
      reject(k_, w_, "is a step of the kind {}; what it does is {}", kernel::name(step_), right);
    if (const Compute* compute = as<Compute>(step_);
        compute && compute->to_cluster != (w_.kind == WorkKind::to_cluster))
      reject(k_, w_, "{} to_cluster; what is sent to other blocks alone is so",
             compute->to_cluster ? "says" : "does not say");
    if (const Copy* copy = as<Copy>(step_); copy && copy->multicast != (w_.kind == WorkKind::copy_in && w_.part >= 0))
      reject(k_, w_, "{} multicast; a load of a block's part alone is so", copy->multicast ? "says" : "does not say");
    // What is widened for a product is multiplied in the same iteration.
    const bool chain = w_.matmul.chained() && !kernel::widened_operand(k_.program, w_.node, w_.matmul);
    if (const Mma* mma = as<Mma>(step_); mma && mma->pipelined != chain)
      reject(k_, w_, "{} pipelined; a product whose A is made of another one alone is so",
             mma->pipelined ? "says" : "does not say");
    if (kernel::acquired_channel_of(step_) != kernel::channel_of(step_))
      reject(k_, w_, "names an acquired channel besides its own");
  }

  void channel() const {
    const int channel = kernel::channel_of(step_);
    const Completion by = completion();
    const bool named = by == Completion::mbarrier_bytes || as<Mma>(step_);
    if (channel < 0 && named)
      reject(k_, w_, "completes by {}, and names no channel", kernel::name(kernel::synchronisation(by)));
    if (channel < 0 || as<Compute>(step_)) return;
    const Channel& c = k_.channels[channel];
    if (kernel::in_columns(c) && w_.matmul.row && target::in_tensor_memory(*w_.matmul.row)) return;
    if (c.by != kernel::synchronisation(by))
      reject(k_, w_, "goes through channel {} by {}; it completes by {}", c.name, kernel::name(c.by),
             kernel::name(kernel::synchronisation(by)));
  }

  void writes() const {
    const bool writes =
        w_.tensor >= 0 && w_.kind != WorkKind::to_global && (!as<Start>(step_) || w_.kind == WorkKind::accumulate);
    const bool right = writes ? step_.writes.size() == 1 && step_.writes[0].tensor == w_.tensor : step_.writes.empty();
    const bool others =
        w_.copy.by_tensor_map() || w_.kind == WorkKind::to_cluster;  // no thread writes its own elements
    if (right && writes && others && step_.writes[0].same_thread)
      reject(k_, w_, "writes {} for other threads, and says that each writes its own", k_.tensors[w_.tensor].name);
    if (right) return;
    std::string names;
    for (const Access& a : step_.writes) names += (names.empty() ? "" : " and ") + k_.tensors[a.tensor].name;
    reject(k_, w_, "says that it writes {}; it writes {}", names.empty() ? "nothing" : names,
           writes ? k_.tensors[w_.tensor].name : "no tensor in shared memory");
  }

  void reads() const {
    const bool all_stored = w_.kind == WorkKind::to_global && w_.tensor >= 0;
    const int from = all_stored ? w_.tensor : w_.kind == WorkKind::from_cluster ? exchanged() : -1;
    if (from >= 0 && (step_.reads.size() != 1 || step_.reads[0].tensor != from))
      reject(k_, w_, "reads {} alone, and says otherwise", k_.tensors[from].name);
    if (from >= 0 && w_.copy.by_tensor_map() && step_.reads[0].same_thread)
      reject(k_, w_, "reads {} by one thread, and says that each reads its own", k_.tensors[from].name);
    if (kernel::is_global_load(w_.kind) && !step_.reads.empty())
      reject(k_, w_, "says that it reads shared memory, and loads global memory");
  }
  int exchanged() const {
    for (const Channel& c : k_.channels)
      if (kernel::is_exchange(c)) return c.tensor;
    reject(k_, w_, "adds what no channel exchanges");
  }

  /// The stages that the emitter gives a tile: `next` for a prefetch, otherwise that of the iteration.
  void stages() const {
    const int all = k_.stages(), guard_lag = kernel::guard_lag_of(step_);
    const bool tma = w_.kind == WorkKind::copy_in && w_.copy.by_tensor_map();
    for (const bool writing : {false, true})
      for (const Access& a : writing ? step_.writes : step_.reads) {
        const SmemTensor& t = k_.tensors[a.tensor];
        if (t.stages == 1 && !as<Mma>(step_)) {
          if (a.lag != guard_lag)
            reject(k_, w_, "accesses {} for the iteration {} later, and runs {} ahead", t.name, a.lag, guard_lag);
          continue;
        }
        if (t.stages > 1 && t.stages != all)
          reject(k_, w_, "accesses {} of {} stages; others have {}", t.name, t.stages, all);
        if (as<Mma>(step_)) {
          if (a.lag != step_.reads.front().lag) reject(k_, w_, "multiplies tiles of different iterations");
          continue;
        }
        if (a.lag != (writing ? guard_lag : 0))
          reject(k_, w_, "accesses {} for the iteration {} later; it runs {} ahead", t.name, a.lag, guard_lag);
        if (writing && w_.kind != WorkKind::copy_in) reject(k_, w_, "writes a stage of {}; copies alone do", t.name);
        if (tma || k_.warp_specialized()) continue;
        if (guard_lag > 0 && guard_lag != all - 1)
          reject(k_, w_, "runs {} iterations ahead; the stage that is free is {} ahead", guard_lag, all - 1);
        if (guard_lag == 0 && writing && over_ && over_->trip_count > all)
          reject(k_, w_, "fills stage {} of {}, which has {}", over_->trip_count - 1, t.name, t.stages);
        if (!writing && over_ && over_->from != 0)
          reject(k_, w_, "reads stage 0 of {} in iteration {}", t.name, over_->from);
        if (!writing && !over_) reject(k_, w_, "reads a stage of {}, and is in no loop", t.name);
      }
    const Mma* mma = as<Mma>(step_);
    if (!mma || step_.reads.empty()) return;
    const int lag = step_.reads.front().lag;
    const bool carried = n_.carried;
    if (mma->pipelined ? lag != -1 : !carried ? lag != 0 : lag < 0)
      reject(k_, w_, "multiplies the tiles of the iteration {} later; it is done for that of {}", lag,
             mma->pipelined ? "the one before" : "its own");
  }

  bool constant(const Node& load) const {
    return load.kind == NodeKind::load && tile::number_of(load) < 0 &&
           program_.tensors[program_.memory_of(load.tensor)].constant;
  }
  void global() const {
    if (step_.global == Global::anything) return;  // claims the most
    const std::set<int> in_place = k_.gmem.empty() ? std::set<int>{} : kernel::read_in_place(k_, w_);
    const bool accesses = copies() || !in_place.empty();
    if (accesses && step_.global == Global::nothing)
      reject(k_, w_, "accesses global memory, and says not which: global anything");
    const bool all_constant = w_.kind != WorkKind::to_global && (!copies() || constant(n_)) &&
                              std::ranges::all_of(in_place, [&](int i) { return constant(k_.program.nodes[i]); });
    if (step_.global == Global::constants && !all_constant)
      reject(k_, w_, "says that it reads constants; it accesses what other kernels write");
  }

  void part() const {
    if (w_.kind == WorkKind::to_operand && w_.part >= 0) {
      if (!kernel::widened_by(k_, w_) || (w_.part != kernel::loads_bytes && w_.part != kernel::makes_operand))
        reject(k_, w_, "is part {} of a work; part {} loads bytes of weights, part {} makes an operand of them",
               w_.part, kernel::loads_bytes, kernel::makes_operand);
      return;
    }
    if (w_.part < 0) {
      if (k_.split_k && w_.kind == WorkKind::to_global)
        reject(k_, w_, "stores all columns, of which this block has a part");
      return;
    }
    const bool stores = w_.kind == WorkKind::to_global;
    const int last = static_cast<int>(n_.shape.size()) - 1;
    if (k_.cluster == 1 || (stores ? !k_.split_k : w_.kind != WorkKind::copy_in || k_.split_k) || w_.part > last)
      reject(k_, w_, "copies a block's part of its tile; {} blocks {} tiles", k_.cluster,
             k_.split_k ? "add up" : "share");
    if (!w_.copy.by_tensor_map()) reject(k_, w_, "copies a block's part of its tile by other than TMA");
    if (stores) return;
    const SmemTensor& b = k_.tensors[w_.tensor];
    const bool spans = b.boxes() % k_.cluster == 0;
    if (spans ? w_.part != b.inner
              : w_.part != last || b.inner == last || b.boxes() != 1 ||
                    b.padded[last] % (std::int64_t{k_.cluster} * 8) != 0)
      reject(k_, w_, "loads each block's part along dimension {}; those of {} are along another", w_.part, b.name);
    const selection::TileSchedule order = selection::tile_schedule(k_);
    for (int d = 0; d < n_.view.rank(); ++d) {
      const Interval along = n_.view.along(d, k_.program);
      if (along.axis() < 0) continue;
      const bool column = along.axis() == order.column_axis &&
                          (order.row_axis != order.column_axis || order.columns % (along.run() * along.tiles()) == 0);
      if (!column) reject(k_, w_, "is loaded for all blocks, whose tiles of it differ along dimension {}", d);
    }
  }

  const Kernel& k_;
  const TilePrograms& program_;
  const Step& step_;
  const Work& w_;
  const Node& n_;
  const Loop* over_;
};

void check(const std::vector<Step>& steps, const Kernel& k, const TilePrograms& program, const Loop* over) {
  for (const Step& step : steps) {
    if (step.work.node >= 0) Facts(k, program, step, over).check();
    if (const Loop* loop = as<Loop>(step))
      check(loop->body, k, program, loop->kind == Loop::iterations || loop->kind == Loop::prologue ? loop : over);
  }
}

/// Returns whether a step says that its threads write what they wrote before in tensor `t`.
bool written_by_owners(const Kernel& k, int t) {
  return find_step(k, [&](const Step& s) {
    return std::ranges::any_of(s.writes, [&](const Access& a) { return a.tensor == t && a.same_thread; });
  });
}

/// Rejects tensors that several works write, unless each reader has the value of its own, and threads that are said to write only
/// what they wrote before do so.
void check_shared(const Kernel& k, const std::vector<Work>& all) {
  const auto same_value = [&](const Work& a, const Work& b) {
    return a.tensor == b.tensor && k.program.nodes[a.node].in == k.program.nodes[b.node].in;
  };
  const auto other_way = [&](const Work& w, WorkKind kind) {
    return std::ranges::any_of(all, [&](const Work& o) { return o.kind == kind && same_value(o, w); });
  };
  for (const Work& w : all) {
    if (w.tensor < 0) continue;
    const SmemTensor& b = k.tensors[w.tensor];
    if (w.kind == WorkKind::to_global) {
      if (!other_way(w, WorkKind::to_shared))
        reject(k, w, "stores what lies in {}, where no step puts its value", b.name);
      std::vector<Work> others;
      for (const Work& o : all)
        if (o.kind == WorkKind::to_global && o.tensor == w.tensor && o.node != w.node) others.push_back(o);
      if (!others.empty() && !kernel::shared_way_out(k, others, w.node, w.copy.row, b.inner))
        reject(k, w, "and others store different values through {}, and a block does several", b.name);
      continue;
    }
    if (k.program.nodes[w.node].kind == NodeKind::store && !other_way(w, WorkKind::to_global))
      reject(k, w, "puts a value into {} that nothing stores from there", b.name);
    for (const Work& o : all)
      if (o.tensor == w.tensor && o.kind != WorkKind::to_global && o.context != w.context &&
          written_by_owners(k, w.tensor) &&
          kernel::owners(k.layout_of(w), b.shape) != kernel::owners(k.layout_of(o), b.shape))
        reject(k, w, "and {} write {} in other threads, and say that each writes its own", describe(o), b.name);
  }
}

}  // namespace

void verify_step_facts(const Kernel& k, const TilePrograms& program) {
  for (const Agent& agent : k.agents) check(agent.steps, k, program, nullptr);
  check_shared(k, kernel::works(k));
}

}  // namespace zellige::verify
