#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "kernel/leaves.hpp"
#include "kernel/tensor_map.hpp"
#include "kernel/widened.hpp"
#include "selection/warpgroups.hpp"
#include "verify/proofs.hpp"
#include "verify/register_proof.hpp"
#include "verify/rejected.hpp"
#include "verify/verify_limits.hpp"

namespace zellige::verify {
namespace {

using kernel::At;

/// What a set of registers holds (accumulators, a loop state, A fragments or partial results): the work that left it.
struct RegisterValue {
  const Work* work = nullptr;
  bool carried = false;  // a loop state, declared before the loop
};

/// What an iteration leaves for pipelined matmuls of the next one.
struct LeftByIteration {
  std::map<int, RegisterValue> fragments;  // by node
  std::set<int> rescaled;                  // matmuls whose accumulators have been rescaled but not yet added to
  std::set<int> loaded;                    // operands whose bytes have been loaded, and of which none has been made yet
};

/// A kernel, and what its works have left in registers so far.
struct RegisterFlow {
  explicit RegisterFlow(const Kernel& k) : kernel(k), p(k.program), sections(p), proof(k) {
    for (const Work& work : kernel::works(kernel))
      if (work.tensor >= 0 && work.kind != WorkKind::to_global) writers[work.tensor].push_back(work);
  }
  const Kernel& kernel;
  const TileProgram& p;
  tile::Sections sections;
  RegisterProof proof;
  std::map<int, std::vector<Work>> writers;         // buffer -> works
  std::map<int, RegisterValue> accumulators, sums;  // by node
  LeftByIteration now, before;                      // of this iteration, and of the preceding one
  std::set<int> updated;                            // states updated in this iteration
  bool whole = false;                               // the accumulators include the other blocks' parts of K
};

/// The asynchronous products (wgmma) of one warp role that may be in flight.
struct ProductsInFlight {
  const Kernel& kernel;
  const Agent& agent;
  std::vector<int> started = {};                 // matmuls that no commit has closed in a group
  std::vector<std::vector<int>> in_flight = {};  // those in groups that nothing has waited for

  /// Executes a step: a commit closes the group of the products that were started, and a wait ends all groups but the
  /// last ones.
  void synchronise(const Step& step) {
    const Commit* commit = as<Commit>(step);
    const WaitGroup* wait = as<WaitGroup>(step);
    const auto is_product = [](const Step& s) { return as<Mma>(s); };
    if ((!commit && !wait) || !find_step(agent.steps, is_product)) return;
    if (groups_of(kernel, agent, step) != Groups::wgmma) return;
    if (commit)
      in_flight.push_back(std::exchange(started, {}));
    else if (const auto pending = static_cast<std::size_t>(wait->pending); in_flight.size() > pending)
      in_flight.erase(in_flight.begin(), in_flight.end() - static_cast<std::ptrdiff_t>(pending));
  }

  /// Rejects the work of a step, which touches the accumulators of a matmul, or its operand in registers, while it may
  /// be in flight.
  void waited_for(const Step& step, const std::function<bool(int)>& touched) const {
    if (as<Mma>(step)) return;  // products of one agent are done in order
    std::vector<int> all = started;
    for (const std::vector<int>& group : in_flight) all.insert(all.end(), group.begin(), group.end());
    for (const int node : all)
      if (touched(node))
        reject(kernel, step.work, "touches registers of 'mma %{}', which no wait_group before it in {} has waited for",
               node, agent.name);
  }
};

/// Proves that the work of one step finds what it reads.
struct OperandProof {
  RegisterFlow& f;
  const ProductsInFlight& products;
  const Section section;  // in which the step is
  const Step& step;
  std::set<std::pair<int, At>> seen = {};  // what read() has checked

  /// Rejects the work unless a `start` step has declared the state of `node` in the registers in which the work has it.
  void state(const std::map<int, RegisterValue>& found, int node) {
    const auto at = found.find(node);
    if (at == found.end())
      reject(f.kernel, step.work, "adds to a state of %{} that nothing declares before the loop", node);
    products.waited_for(step, [&](int product) { return product == node; });
    f.proof.agree(*at->second.work, step.work, node, true);
  }

  /// Rejects the work unless it can evaluate node x. `at` says at which coordinates a thread needs x: those of its own
  /// elements, those of its elements' rows, those of the same elements in the other matrix of a pair, or elsewhere.
  void read(int x, At at) {
    if (!seen.insert({x, at}).second) return;
    const Node& n = f.p.nodes[x];
    if (n.kind == NodeKind::map && f.kernel.rmem_of(x) >= 0 && step.work.node != x) return leaf(x, at);
    switch (n.kind) {
      case NodeKind::map:
        for (int in : n.in) read(in, kernel::narrowed(at, f.p.nodes[in].shape, n.shape));
        return;
      case NodeKind::rotate:
        for (bool itself : {true, false}) read(n.in[0], kernel::rotated(at, n, itself));
        for (int table : {n.in[1], n.in[2]}) read(table, At::elsewhere);
        return;
      case NodeKind::slice:
      case NodeKind::concat:
      case NodeKind::unpack:
      case NodeKind::repeat:
      case NodeKind::permute:
        for (int in : n.in) read(in, At::elsewhere);
        return;
      default:
        return leaf(x, at);
    }
  }

  /// The same for the coordinates at which an operator of the tile that the work evaluates reads x.
  void read_narrowed(int x) {
    read(x, kernel::narrowed(At::own, f.p.nodes[x].shape, f.kernel.layout_of(step.work).domain));
  }

  /// Rejects the work unless the value of node x is in a buffer that it may read; `own` is as in buffer().
  void stored(int x, bool own) const {
    const int b = f.kernel.tensor_of(x);
    if (b < 0) reject(f.kernel, step.work, "reads %{}, which lies neither in its registers nor in shared memory", x);
    buffer(b, own);
  }

  /// Rejects the work unless another work writes buffer b, and it may read b: either there is a barrier before it, or
  /// each thread reads only elements that the same thread wrote. `own` says whether a thread reads exactly the
  /// coordinates of its own elements in the work's thread-value layout.
  void buffer(int b, bool own) const {
    const auto w = f.writers.find(b);
    if (w == f.writers.end()) reject(f.kernel, step.work, "reads {}, which no step writes", f.kernel.tensors[b].name);
    const auto read = std::ranges::find(step.reads, b, &Access::tensor);
    if (read == step.reads.end())
      reject(f.kernel, step.work, "reads {}, and its step does not say so", f.kernel.tensors[b].name);
    if (read->same_thread)
      for (const Work& writer : w->second) f.proof.same_thread(step.work, writer, b, own);
  }

  /// Returns the work that left the value of node x in registers for this one. Rejects this one if there is none, or if
  /// x is a loop state that has not been updated in this iteration.
  const Work& left(int x) const {
    const auto found = f.accumulators.find(x);
    const int root = f.p.nodes[x].kind == NodeKind::running_diff ? f.p.nodes[x].in[0] : x;
    const bool stale = section == Section::inside && found != f.accumulators.end() && found->second.carried &&
                       f.p.nodes[x].kind != NodeKind::matmul && !f.updated.count(root);
    if (found == f.accumulators.end() || stale)
      reject(f.kernel, step.work, "reads %{} in registers, where no step before it in this section leaves it", x);
    products.waited_for(step, [&](int product) { return product == x; });
    return *found->second.work;
  }

 private:
  /// Rejects the work unless it can read the value of node x, which it does not compute itself. The value must be in
  /// the thread's registers, in a buffer in shared memory, or in global memory. `at` is as in read().
  void leaf(int x, At at) {
    const Node& n = f.p.nodes[x];
    if (f.kernel.split_k && n.carried && section == Section::after && !f.whole)
      reject(f.kernel, step.work, "reads accumulators %{} of a slice of K, before those of the other {} came", x,
             f.kernel.cluster == 2 ? "block" : "blocks");
    // A load that another work holds in registers is read from there.
    const bool in_registers = f.kernel.rmem_of(x) >= 0 && step.work.node != x;
    if (f.kernel.in_place(x) && !in_registers) return;
    if (const int c = f.kernel.rmem_of(x); c >= 0 && n.kind != NodeKind::round && f.sections.complete(x) == section) {
      if (c == step.work.context && at == At::own && n.shape == f.kernel.layout_of(step.work).domain)
        return f.proof.agree(left(x), step.work, x, false);
      if (c == step.work.context && at == At::pair && n.shape == f.kernel.layout_of(step.work).domain &&
          kernel::whole_pairs(f.kernel.layout_of(step.work)))
        return f.proof.in_pairs(left(x), step.work, x);
      if ((at == At::own || at == At::row) && kernel::lines_of(f.kernel.rmem[c].layout, f.kernel.layout_of(step.work)))
        return f.proof.in_lines(left(x), step.work, x);
    }
    stored(x, at == At::own);
  }
};

/// Rejects a matmul unless its warps and accumulators are those selected.
void check_selected(const Kernel& kernel, const Work& t) {
  const Context& c = kernel.layout_of(t);
  const kernel::MatmulChoice& choice = t.matmul;
  const kernel::WarpLayout w = c.row ? kernel::warps(c) : kernel::WarpLayout{}, &selected = choice.warps;
  if (w != selected)
    reject(kernel, t, "runs under warps {}x{}x{}x{}, {}x{}x{}x{} were selected (batch, M, N, K)", w.b, w.m, w.n, w.k,
           selected.b, selected.m, selected.n, selected.k);
  if (c.domain != kernel.program.nodes[t.node].shape)
    reject(kernel, t, "has accumulators of {}; its product is {}", to_string(c.domain),
           to_string(kernel.program.nodes[t.node].shape));
  const bool side_by_side = c.row && choice.row && choice.columns() != choice.n &&
                            selection::leaves_as(*choice.row, *c.row, kernel.program.nodes[t.node].shape, w);
  if (!c.row || !choice.row || (!kernel::equivalent(*c.row, *choice.row) && !side_by_side))
    reject(kernel, t, "leaves its accumulators as {} does, {} was selected", c.row ? c.row->name : "no instruction",
           choice.row ? choice.row->name : "no instruction");
  if (w.count() * 32 > kernel.program.threads())
    reject(kernel, t, "runs under {} warps of 32 threads; the block has {} threads", w.count(),
           kernel.program.threads());
}

/// Rejects the matmul of a step unless its warps, accumulators, operands and rescaling are those selected; records its
/// result.
void multiply(RegisterFlow& f, OperandProof& operands, const Step& step) {
  const Work& t = step.work;
  const Node& n = f.p.nodes[t.node];
  const Mma* mma = as<Mma>(step);
  const bool pipelined = mma && mma->pipelined;  // it uses what the preceding iteration left
  LeftByIteration& given = pipelined ? f.before : f.now;
  check_selected(f.kernel, t);
  f.proof.covers(t);
  if (f.kernel.has_fragments(t.node)) {
    const auto found = given.fragments.find(n.in[0]);
    if (found == given.fragments.end())
      reject(f.kernel, t, "takes %{} as fragments, which no step before it in {} leaves in registers", n.in[0],
             pipelined ? "the iteration before" : "this section");
    if (found->second.work->part != kernel::makes_operand && kernel::widened_operand(f.p, t.node, t.matmul))
      reject(f.kernel, t, "takes %{} as fragments, which part {} of its work makes, and no other", n.in[0],
             kernel::makes_operand);
    f.proof.chained(t, *found->second.work);
    if (pipelined) given.fragments.erase(found);
    operands.stored(n.in[1], false);
  } else {
    const auto widened = kernel::widened_operand(f.p, t.node, t.matmul);
    for (int side = 0; side < 2; ++side)
      if (widened && widened->side == side)
        operands.read(f.p.nodes[widened->round].in[0], At::elsewhere);
      else
        operands.stored(n.in[side], false);  // elements of other threads
  }
  if (kernel::rescaled_by(n) >= 0 && given.rescaled.erase(t.node) == 0)
    reject(f.kernel, t, "adds to accumulators that no step before it in {} has multiplied by %{}",
           pipelined ? "the iteration before" : "this iteration", kernel::rescaled_by(n));
  if (n.carried) return operands.state(f.accumulators, t.node);
  f.accumulators[t.node] = {&t, false};
}

/// Rejects the work of a step, which puts a matmul's operand into fragments, unless those before were multiplied. A part that only loads bytes
/// may run before.
void put_fragments(RegisterFlow& f, OperandProof& operands, const Step& step) {
  const int operand = step.work.node;
  if (step.work.part != kernel::makes_operand) operands.read(f.p.nodes[operand].in[0], At::own);
  if (step.work.part == kernel::loads_bytes) {  // into registers that no product reads
    f.now.loaded.insert(operand);
    return;
  }
  if (step.work.part == kernel::makes_operand && f.now.loaded.erase(operand) == 0)
    reject(f.kernel, step.work, "widens bytes of %{} that no step before it in this iteration has loaded", operand);
  operands.products.waited_for(step, [&](int product) { return f.p.nodes[product].in[0] == operand; });
  // A pipelined matmul runs one iteration after its operands were computed.
  const auto takes_pipelined = [&](const Step& s) {
    const Mma* mma = as<Mma>(s);
    return mma && mma->pipelined && s.work.node >= 0 && f.p.nodes[s.work.node].in[0] == operand;
  };
  if (f.before.fragments.contains(operand) && find_step(f.kernel, takes_pipelined))
    reject(f.kernel, step.work, "puts %{} where that of the iteration before has not been multiplied yet", operand);
  f.now.fragments[operand] = {&step.work, false};
}

/// Rejects work t, which stores an operator's result, such as a matmul's accumulators, from registers to shared
/// memory, unless the registers contain that operator's values, and the buffer has room for the partial results.
void check_stored(RegisterFlow& f, OperandProof& operands, const Work& t) {
  const Node& n = f.p.nodes[t.node];
  if (n.kind == NodeKind::round || n.kind == NodeKind::store) return operands.read(n.in[0], At::own);
  f.proof.agree(operands.left(t.node), t, t.node, true);
  const Context& c = f.kernel.layout_of(t);
  const SmemTensor& b = f.kernel.tensors[t.tensor];
  const int parts = c.replicated() ? 1 : c.holders();
  if (b.partials != parts)
    reject(f.kernel, t, "stores {} partial results into {}, which has room for {}", parts, b.name, b.partials);
}

/// Rejects a store by the blocks of a cluster unless the part of each is the columns whose partial results it adds up.
void check_columns(const Kernel& kernel, const Work& t) {
  if (t.part < 0)
    reject(kernel, t, "stores all columns of a tile of which this block has partial results of its own part");
  const Shape& shape = kernel.program.nodes[t.node].shape;
  const int last = static_cast<int>(shape.size()) - 1;
  const SmemTensor* b = t.tensor < 0 ? nullptr : &kernel.tensors[t.tensor];
  if (!b || t.part != last || shape[last] % kernel.cluster != 0 ||
      (b->inner == last && kernel::boxes_of_block(kernel, t) * b->box() * kernel.cluster != shape[last]))
    reject(kernel, t, "stores parts of a tile that are not the {} columns of each of {} blocks",
           shape[last] / kernel.cluster, kernel.cluster);
}

/// Rejects work t, which adds up partial results across lanes, unless earlier work left them and each is added once.
void add_partials(RegisterFlow& f, const Work& t) {
  const auto found = f.sums.find(t.node);
  if (found == f.sums.end())
    reject(f.kernel, t, "adds up partial results that no step before it in this section leaves");
  f.proof.sums(t, *found->second.work);
  if (t.tensor < 0) f.accumulators[t.node] = {&t, false};
}

/// Checks the operands of a step's work, and records where its result is. `section` is that of the step.
void execute(RegisterFlow& f, const ProductsInFlight& products, Section section, const Step& step) {
  const Work& t = step.work;
  const Node& n = f.p.nodes[t.node];
  if (t.tensor >= 0 && t.kind != WorkKind::to_global && std::ranges::count(step.writes, t.tensor, &Access::tensor) == 0)
    reject(f.kernel, t, "writes {}, and its step does not say so", f.kernel.tensors[t.tensor].name);
  if (const Section due = kernel::section_of(t, f.sections); !kernel::is_global_load(t.kind) && due != section)
    reject(f.kernel, t, "belongs {} the loop and runs {}", tile::name(due), tile::name(section));
  OperandProof operands{f, products, section, step};
  switch (t.kind) {
    case WorkKind::copy_in:
      return;
    case WorkKind::mma:
      return multiply(f, operands, step);
    case WorkKind::to_operand:
      return put_fragments(f, operands, step);
    case WorkKind::to_shared:
      check_stored(f, operands, t);
      if (t.copy.row) f.proof.in_matrices(t);
      return;
    case WorkKind::to_global:
      if (f.kernel.split_k) check_columns(f.kernel, t);
      return t.tensor < 0 ? operands.read(n.in[0], At::own) : operands.buffer(t.tensor, true);
    case WorkKind::accumulate:
      for (int in : n.in) operands.read_narrowed(in);
      if (t.tensor < 0) operands.state(f.accumulators, t.node);
      f.updated.insert(t.node);
      return;
    case WorkKind::to_lines:
    case WorkKind::to_registers:
      operands.read(t.node, At::own);
      [[fallthrough]];
    case WorkKind::fetch:
      f.accumulators[t.node] = {&t, false};
      return;
    case WorkKind::rescale:
      operands.read_narrowed(kernel::rescaled_by(n));
      operands.state(f.accumulators, t.node);
      if (!f.now.rescaled.insert(t.node).second)
        reject(f.kernel, t, "multiplies its accumulators a second time before the product is added");
      return;
    case WorkKind::reduce:
      for (int in : n.in)  // a matmul's operands are read elsewhere
        operands.read(in, n.kind == NodeKind::reduce ? At::own : At::elsewhere);
      if (n.carried) return operands.state(f.sums, t.node);
      f.sums[t.node] = {&t, false};
      return;
    case WorkKind::finish:
      return add_partials(f, t);
    case WorkKind::to_cluster:
    case WorkKind::from_cluster:
      operands.state(f.accumulators, t.node);
      if (t.kind == WorkKind::to_cluster) return;
      operands.buffer(step.reads.front().tensor, true);
      f.proof.in_columns(t, f.kernel.cluster);
      f.whole = true;
      return;
  }
}

/// Executes the works of one warp role in order, two iterations of each loop, and follows which left what in registers.
class RoleFlow {
 public:
  RoleFlow(RegisterFlow& flow, const Agent& agent) : f_(flow), products_{flow.kernel, agent} {}

  /// Executes the steps. Throws Rejected if a work reads registers that do not contain the values that it expects.
  void run() {
    const std::vector<Step>& steps = products_.agent.steps;
    const bool loops = find_step(steps, [](const Step& s) {
      const Loop* loop = as<Loop>(s);
      return loop && loop->kind == Loop::iterations;
    });
    section_ = loops ? Section::before : Section::after;
    run(steps);
    next_iteration();
    for (const int product : loaded_) f_.accumulators.erase(product);
  }

 private:
  /// Records that a `start` step has declared the registers of a loop state, of accumulators or of partial results.
  void declare(const Work& t) {
    if (t.kind == WorkKind::mma) f_.accumulators[t.node] = {&t, true};
    if (t.kind == WorkKind::reduce) f_.sums[t.node] = {&t, f_.p.nodes[t.node].carried};
    if (t.kind != WorkKind::accumulate || t.tensor >= 0) return;
    f_.accumulators[t.node] = {&t, true};
    for (int reader : f_.p.consumers(t.node))
      if (f_.p.nodes[reader].kind == NodeKind::running_diff) f_.accumulators[reader] = {&t, true};
  }

  /// Called at the start and end of an iteration. Forgets the contents of all registers except loop states.
  void forget() {
    f_.updated.clear();
    for (auto* found : {&f_.accumulators, &f_.sums})
      std::erase_if(*found, [](const auto& entry) { return !entry.second.carried; });
  }

  /// Ends an iteration. The A fragments and rescaled accumulators of this iteration become those of the preceding
  /// one, which pipelined matmuls use. Throws Rejected if accumulators were rescaled in the preceding iteration, and
  /// no matmul has added a product to them since then.
  void next_iteration() {
    for (int product : f_.before.rescaled)
      reject(f_.p, "%{}'s accumulators are multiplied, and no product is added to them before the next iteration ends",
             product);
    f_.before = std::exchange(f_.now, {});
  }

  void run(const std::vector<Step>& steps) {
    for (const Step& step : steps)
      kernel::match(
          step, [&](const Start&) { declare(step.work); }, [&](const Loop& loop) { run(loop); },
          [&](const Mma& mma) {
            if (step.work.node < 0) return;
            execute(f_, products_, mma.peeled ? Section::inside : section_, step);
            products_.started.push_back(step.work.node);
          },
          [&](const OneOf<Copy, Compute> auto&) {
            if (step.work.node >= 0) execute(f_, products_, section_, step);
          },
          [&](const Sync&) {
            if (const Acquire* of = as<Acquire>(step); of && kernel::in_columns(f_.kernel.channels[of->channel]))
              load(of->channel);
            products_.synchronise(step);
          });
  }

  /// Records that the accumulators of the products of a channel in tensor memory are loaded, if another role multiplies into it.
  void load(int channel) {
    if (kernel::multiplies_into(f_.kernel, products_.agent) == channel) return;
    if (section_ == Section::inside)
      reject(f_.p, "{} loads the accumulators of channel {} in a loop over iterations; they are complete after it",
             products_.agent.name, f_.kernel.channels[channel].name);
    for (const Agent& other : f_.kernel.agents)
      walk(other.steps, [&](const Step& step, const StepPosition&) {
        const Mma* mma = as<Mma>(step);
        if (!mma || mma->channel != channel || step.work.node < 0) return;
        f_.accumulators[step.work.node] = {&step.work, true};
        loaded_.insert(step.work.node);
      });
  }

  /// Executes the body of a loop. The loop over iterations is executed twice, and everything but loop states
  /// is forgotten before each iteration. Other loops are executed once.
  void run(const Loop& loop) {
    if (loop.kind == Loop::iterations) {
      section_ = Section::inside;
      // A bounded loop may follow another one and run the iterations that the first one left.
      const bool trailing = loop.bounded && loop.from == loop.trip_count;
      const std::int64_t times = trailing ? 2 : std::min<std::int64_t>(2, loop.trip_count - loop.from);
      for (std::int64_t iteration = 0; iteration < times; ++iteration) {
        forget();
        run(loop.body);
        next_iteration();
      }
      forget();
      section_ = Section::after;
      return;
    }
    const std::map<int, RegisterValue> started = f_.sums;
    run(loop.body);
    // The next slice reuses the accumulators, and starts its own partial results.
    if (loop.kind == Loop::slices) {
      f_.accumulators.erase(loop.body.front().work.node);
      std::erase_if(f_.sums, [&](const auto& sum) { return !started.contains(sum.first); });
    }
  }

  RegisterFlow& f_;
  ProductsInFlight products_;
  Section section_ = Section::inside;
  std::set<int> loaded_;  // products whose accumulators it has loaded from tensor memory
};

}  // namespace

void verify_registers(const Kernel& kernel) {
  RegisterFlow flow(kernel);
  for (const Agent& agent : kernel.agents) RoleFlow(flow, agent).run();
}

}  // namespace zellige::verify
