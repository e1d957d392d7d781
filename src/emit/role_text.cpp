#include <algorithm>

#include "emit/kernel_text.hpp"
#include "graph/error.hpp"
#include "kernel/tensor_map.hpp"
#include "kernel/widened.hpp"
#include "selection/tile_schedule.hpp"
#include "target/pipe.hpp"
#include "verify/verify_limits.hpp"

namespace zellige::emit {

using kernel::Synchronisation;
using target::function;

namespace {

bool by_mbarriers(const kernel::Channel& c) { return c.by == Synchronisation::mbarrier_bytes; }

/// Returns the name of the variant of function `call` that has a cache hint: "tma_load_hint_2d" for "tma_load_2d".
std::string hinted(std::string call) { return call.insert(call.rfind('_'), "_hint"); }

/// Returns the tensors that the producer of a channel fills, in the order in which it fills them, without duplicates.
std::vector<int> carried(const kernel::Kernel& s, int channel) {
  std::vector<int> tensors;
  kernel::walk(s.agents[s.channels[channel].producer].steps,
               [&](const kernel::Step& step, const kernel::StepPosition&) {
                 if (kernel::as<kernel::Copy>(step) && kernel::channel_of(step) == channel)
                   for (const kernel::Access& a : step.writes)
                     if (std::ranges::find(tensors, a.tensor) == tensors.end()) tensors.push_back(a.tensor);
               });
  return tensors;
}

}  // namespace

std::string KernelText::ring(int channel) const {
  int before = 0;
  for (int c = 0; c < channel; ++c) before += by_mbarriers(plan_.channels[c]);
  return before ? fmt::format("ring{}", before) : "ring";
}

std::optional<KernelText::InRing> KernelText::in_ring(int buffer) const {
  const kernel::Kernel& s = plan_;
  for (int c = 0; c < static_cast<int>(s.channels.size()); ++c) {
    if (!by_mbarriers(s.channels[c])) continue;
    const std::vector<int> all = carried(s, c);
    const auto at = std::ranges::find(all, buffer);
    if (at != all.end()) return InRing{c, static_cast<int>(at - all.begin())};
  }
  return {};
}

/// Returns the name of the TMA descriptor of a load or store. Each has one of its own: they may need different boxes.
std::string KernelText::map_name(int node) const {
  const int tensor = block_.nodes[node].tensor;
  const std::string& name = program_.tensors[tensor].name;
  for (int other = 0; other < node; ++other)
    if (block_.nodes[other].tensor == tensor && plan_.uses_tma(other))
      return names_.map(fmt::format("{}#{}", name, node));
  return names_.map(name);
}

/// Emits the declarations of the shared-memory rings, and of the buffers by which the blocks of a cluster
/// exchange partial results (split-K).
void KernelText::rings() {
  const kernel::Kernel& s = plan_;
  for (int c = 0; c < static_cast<int>(s.channels.size()); ++c) {
    const kernel::Channel& channel = s.channels[c];
    if (kernel::is_exchange(channel)) {
      const SmemTensor& b = plan_.tensors[channel.tensor];
      const Work& sends =
          *kernel::find_work(plan_, [](const Work& w) { return w.kind == kernel::WorkKind::to_cluster; });
      out_.line("const auto exchange = Exchange<{}, {}>::at({}, {}, \"{}\");", s.cluster,
                fragment_type(plan_.layout_of(sends)), b.offset, channel.offset, in_literal(b.name));
    }
    if (!by_mbarriers(channel)) continue;
    std::string bytes, offsets, names;
    for (int t : carried(s, c)) {
      const char* comma = bytes.empty() ? "" : ", ";
      bytes += fmt::format("{}{}", comma, s.tensors[t].bytes() / channel.stages);
      offsets += fmt::format("{}{}", comma, s.tensors[t].offset);
      names += fmt::format("{}\"{}\"", comma, in_literal(s.tensors[t].name));
    }
    if (carried(s, c).size() > 1) offsets = fmt::format("{{{}}}", offsets);
    out_.line("const auto {} = Ring<{}, Tiles<{}>{}>::at({}, {}, {{{}}});", ring(c), channel.stages, bytes,
              kernel::cluster_of(s, c) > 1 ? fmt::format(", {}", kernel::cluster_of(s, c)) : "", offsets,
              channel.offset, names);
  }
}

/// Emits the kernel's setup, the code of every warp role, and the teardown.
void KernelText::roles() {
  rings();
  const kernel::Kernel& s = plan_;
  const auto all = std::ranges::find_if(s.setup, [](const kernel::Step& step) {
    return !kernel::as<kernel::MbarrierInit>(step) && !kernel::as<kernel::FenceInit>(step);
  });
  if (!columns_.none())
    out_.line("TensorProducts<{}, {}, {}> products({});", columns_.groups, columns_.count, columns_.together,
              kernel::shared_bytes_of_channels(s));
  out_.open("if (threadIdx.x == 0) {{");
  for (const Parameter& p : parameters(plan_, program_))
    if (p.node >= 0) out_.line("prefetch_tma_descriptor({});", map_name(p.node));
  const std::vector<kernel::Step> of_one(s.setup.begin(), all), of_all(all, s.setup.end());
  run(of_one);
  out_.close();
  run(of_all);
  for (std::size_t a = 0; a < s.agents.size(); ++a) {
    const kernel::Agent& agent = s.agents[a];
    agent_ = static_cast<int>(a);
    const std::string role = fmt::format("{}<{}, {}>([&] {{", kernel::issuers(s, agent) == 1 ? "producer" : "consumer",
                                         agent.warps, agent.registers);
    out_.open("{}{}", a == 0 ? "roles(" : "", role);
    // A producer has the next stage of a ring to fill; a consumer the next to acquire, the next to release, and the one
    // that it reads.
    for (int c = 0; c < static_cast<int>(s.channels.size()); ++c) {
      if (!by_mbarriers(s.channels[c])) continue;
      if (s.channels[c].producer == agent_) out_.line("auto {0}_next = {0}.first_empty();", ring(c));
      if (kernel::consumes(s.channels[c], agent_))
        out_.line("auto {0}_next = {0}.first(), {0}_used = {0}.first(), {0}_at = {0}.first();", ring(c));
    }
    const bool multiplies = !columns_.none() && kernel::issuers(s, agent) != 1;
    if (multiplies) out_.line("products.find();");
    run(agent.steps);
    if (a == 0) end_exchange_of_ranks();
    if (multiplies) {
      if (!loaded_) fault("{}: no step after the loop waits for its products in tensor memory", s.name());
      out_.line("products.free();");
    }
    out_.close(a + 1 == s.agents.size() ? "}));" : "}),");
  }
  run(s.teardown);
}

/// Emits the loop of a persistent block over its output tiles, in the order of tile_schedule.hpp. Emits no
/// loop if each block has one tile.
void KernelText::tiles(const kernel::Loop& begin) {
  const selection::TileSchedule walk = selection::tile_schedule(plan_);
  const graph::Dim3& grid = block_.grid;
  const int cluster = plan_.cluster,
            rows = cluster / plan_.parts_of_loop();                         // blocks of a cluster with different tiles
  const std::string of = cluster > 1 ? fmt::format(" / {}", cluster) : "";  // tiles are counted per cluster
  const bool several = begin.trip_count > 1;
  if (walk.longer >= 0) {
    std::int64_t below = 1;
    for (int a = 0; a < walk.longer; ++a) below *= grid[a];
    out_.open("for (int pair = blockIdx.x, turn = 0; pair < {}; pair += turn * gridDim.x, turn ^= 1) {{",
              grid.count() / 2);
    out_.line("const int tile = LongAndShort{{{}, {}}}(pair, turn);", below, grid[walk.longer]);
  } else if (several) {
    out_.line("#pragma unroll 1");
    out_.open("for (int tile = blockIdx.x{}; tile < {}; tile += gridDim.x{}) {{", of, grid.count() / rows, of);
  } else if (walk.rows > 0 || grid.count() > 1) {
    out_.line("const int tile = blockIdx.x{};", of);
  }
  if (walk.rows > 0) {
    out_.line("const TileOrder::Place place = TileOrder{{{}, {}, {}}}(tile);", walk.rows / rows, walk.columns,
              std::max<std::int64_t>(1, walk.group / rows));
    const std::string row = rows > 1 ? fmt::format("place.row * {} + block_rank", rows) : "place.row";
    if (walk.row_axis == walk.column_axis) {
      out_.line("const int b{} = {} * {} + place.column;", "xyz"[walk.row_axis], rows > 1 ? "(" + row + ")" : row,
                walk.columns);
    } else {
      out_.line("const int b{} = {};", "xyz"[walk.row_axis], row);
      out_.line("const int b{} = place.column;", "xyz"[walk.column_axis]);
    }
  } else {
    std::int64_t below = 1;
    for (int a = 0; a < 3; ++a) {
      const Index at = digit(Index::named("tile"), below, grid[a], below * grid[a] == grid.count());
      if (grid[a] > 1) out_.line("const int b{} = {};", "xyz"[a], at);
      below *= grid[a];
    }
  }
  declare_first_iteration();
  run(begin.body);
  if (several) out_.close();
}

/// Emits the code of a synchronisation step, such as a barrier, or the acquire or release of a stage.
void KernelText::handover(const kernel::Step& step, const kernel::Sync& sync) {
  const kernel::Kernel& s = plan_;
  const auto groups = [&]() -> const target::Handover& {
    return target::handover(verify::completion(verify::groups_of(s, s.agents[agent_], step)));
  };
  const auto exchanges = [&](int c) { return kernel::is_exchange(s.channels[c]); };
  const auto of_products = [&] {
    return !columns_.none() && &groups() == &target::handover(Instruction::Completion::commit_group);
  };
  const kernel::overloaded print{
      [&](const kernel::Commit&) {
        out_.line("{}();", of_products() ? "products.commit" : function(*groups().commit));
      },
      [&](const kernel::WaitGroup& wait) {
        out_.line("{}<{}>();", of_products() ? "products.wait" : function(*groups().wait), wait.pending);
        if (!of_products() || !kernel::loads_columns(wait, loops_ > 0)) return;
        loaded_ = true;
        for (const auto& [node, column] : columns_.first) out_.line("products.load<{}>(acc{});", column, node);
      },
      [&](const kernel::Barrier& barrier) {
        if (barrier.waits && barrier.id == 0) return out_.line("__syncthreads();");
        out_.line("named_barrier_{}({}, {});", barrier.waits ? "sync" : "arrive", barrier.id, barrier.threads);
      },
      [&](const kernel::Acquire& of) {
        if (exchanges(of.channel)) return out_.line("exchange.wait();");
        const std::string name = ring(of.channel);
        if (s.channels[of.channel].producer == agent_) {
          out_.line("const auto {0}_at = {0}_next++;", name);
          return out_.line("const auto {0}_full = {0}.acquire({0}_at);", name);
        }
        out_.line("{0}_at = {0}_next++;", name);
        out_.line("{0}.wait({0}_at);", name);
      },
      [&](const kernel::Release& of) {
        if (exchanges(of.channel)) return out_.line("exchange.release(block_rank);");
        out_.line("{0}.release({0}_used++);", ring(of.channel));
      },
      [&](const kernel::MbarrierInit& of) {
        out_.line("{}.init({});", exchanges(of.channel) ? "exchange" : ring(of.channel), of.arrivals);
      },
      [&](const kernel::Drain& of) {
        out_.line("{0}.drain({0}_next);  // until then others arrive at this block's barriers", ring(of.channel));
      },
      [&](const kernel::FenceInit&) { out_.line("fence_mbarrier_init();"); },
      [&](const kernel::FenceProxy&) {
        out_.line("{}();", function(*target::fence(target::Proxy::generic, target::Proxy::async)));
      },
      [&](const kernel::WarpBarrier&) { out_.line("__syncwarp();"); },
      [&](const kernel::ClusterBarrier&) {
        out_.line("cluster_sync();{}", step.what.empty() ? "" : "  // " + step.what);
      },
      [&](const kernel::GriddepWait&) { out_.line("griddep_wait();"); },
      [&](const kernel::GriddepLaunchDependents&) { out_.line("griddep_launch_dependents();"); }};
  std::visit(print, sync);
}

std::string KernelText::ring_tile(int buffer) const {
  const std::optional<InRing> at = in_ring(buffer);
  if (!at) fail("{}: no ring carries {}", block_.name, plan_.tensors[buffer].name);
  return fmt::format("{0}.tile({0}_at, {1})", ring(at->channel), at->tile);
}

/// Emits a TMA copy of a tile, box by box, between global and shared memory. One thread issues it.
void KernelText::box(const kernel::Step& step, const kernel::Copy& copy) {
  const Work& work = step.work;
  const Node& n = block_.nodes[work.node];
  const SmemTensor& b = plan_.tensors[work.tensor];
  const bool load = work.kind == kernel::WorkKind::copy_in;
  const std::string call = function(*work.copy.row), map = map_name(work.node);
  const std::int64_t boxes = kernel::boxes_of_block(plan_, work);
  const CountedLoop j = counted("j", boxes);
  const Index block_rank = work.part >= 0 ? Index::named("block_rank") : 0;
  const bool by_spans = work.part == b.inner;
  const Index span = by_spans ? block_rank * boxes + j.at : j.at;  // number of the current box in the tile
  // With split-K a block's part of K is a range of complete loop iterations.
  Index iteration = iteration_;
  if (plan_.split_k && n.view.iterates())
    iteration = iteration + Index::named("block_rank") * plan_.iterations_per_block();
  std::string at;
  for (int d : kernel::inner_first(n.shape, b.inner)) {
    Index start = global_start(n, d, iteration);
    if (d == b.inner) start = start + span * b.box();
    if (d == work.part && !by_spans) start = start + block_rank * (n.shape[d] / plan_.cluster);
    at += fmt::format(", {}", start);
  }
  out_.line("// {} {}: {} box{}{}", printable(n.name), graph::to_string(n.shape), boxes, boxes == 1 ? "" : "es",
            copy.multicast          ? fmt::format(" of each of {} blocks, to all", plan_.cluster)
            : load || work.part < 0 ? ""
                                    : fmt::format(" of each of {} blocks", plan_.cluster));
  if (load) {
    const Index offset =
        span * (b.stage_bytes() / b.boxes()) + (by_spans ? Index(0) : block_rank * (b.stage_bytes() / plan_.cluster));
    const bool once = selection::passes_once(plan_, step);
    out_.line("{}{}({}{}, {}, {}_full{}{}{});", j.head, once ? hinted(call) : call, ring_tile(work.tensor),
              offset == Index(0) ? "" : fmt::format(" + {}", offset), map, ring(copy.channel),
              copy.multicast ? fmt::format(", {}", (1 << plan_.cluster) - 1) : "",
              once ? ", CacheHint::evict_first" : "", at);
    return;
  }
  std::vector<Index> from(n.shape.size());
  if (work.part >= 0 && !by_spans) from[work.part] = block_rank * (n.shape[work.part] / plan_.cluster);
  from[b.inner] = span * b.box();
  const Condition within = in_slices(work);
  out_.open("if (tid == 0{}{}) {{", within.empty() ? "" : " && ", text(within));
  out_.line("{}{}({}, {}({}){});", j.head, call, map, tile(work.tensor), fmt::join(from, ", "), at);
  out_.close();
}

/// Emits a matmul by wgmma. The first wgmma overwrites the accumulators if `peeled` is true, as in a first
/// iteration that is emitted before the loop, or if the matmul does not accumulate over the loop.
void KernelText::issue(const Work& work, bool peeled) {
  const Node& n = block_.nodes[work.node];
  const kernel::MatmulChoice& m = work.matmul;
  const Instruction& row = *m.row;
  const auto column = columns_.first.find(work.node);
  const bool in_columns = column != columns_.first.end();
  const int together = in_columns ? columns_.together : 1, rows = row.m * together;  // of an instruction
  const auto operand = [&](int side) {
    const int buffer = plan_.tensor_of(n.in[side]);
    const SmemTensor& b = plan_.tensors[buffer];
    const std::int64_t across = side == 0 ? m.m : m.columns();
    const bool along_k = b.along_k(side);
    std::string tile = ring_tile(buffer);
    // The first row of this warpgroup, or of the warpgroups that multiply together: rows of K are contiguous, or one span contains
    // all of K.
    if (side == 0 && m.m > rows)
      tile += fmt::format(" + warp / {} * {}", kernel::warps_of(row) * together,
                          (along_k ? rows : together * m.k) * b.span());
    return along_k ? fmt::format("k_major<{}>({})", across, tile)
                   : fmt::format("mn_major<{}, {}>({})", side == 0 ? rows : across, m.k, tile);
  };
  out_.line("// {} {} {} x {}: {}x{}x{} {} m{}n{}k{}{}",
            n.name.empty() ? fmt::format("%{}", work.node) : printable(n.name), n.carried ? "+=" : "=",
            printable(block_.nodes[n.in[0]].name), printable(block_.nodes[n.in[1]].name), m.m, m.columns(), m.k,
            in_columns ? "in tensor memory" : "on wgmma", rows, row.n, row.k, peeled ? ", the first" : "");
  if (const auto widened = kernel::widened_operand(block_, work.node, m))
    return out_.line("issue_widened<{}, {}{}>(acc{}, rows{}, {}, lane, [&] {{ load{}(at_most(++next{}, {})); }}{});",
                     widened->scale >= 0, widened->zero >= 0, widened->added ? ", true" : "", work.node, work.node,
                     operand(1), work.node, work.node, plan_.iterations_per_block() - 1, peeled ? ", false" : "");
  if (!n.carried) registers(work.node, plan_.layout_of(work));
  out_.line("{}<{}, {}{}>(acc{}, {}, {}{});", in_columns ? "products.issue" : "issue_wgmma",
            type_name(block_.nodes[n.in[1]].dtype), tile::ceil_div(m.k, row.k),
            in_columns ? fmt::format(", {}", column->second) : "", work.node,
            row.a.space == Instruction::Space::rmem ? fmt::format("op{}", n.in[0]) : operand(0), operand(1),
            n.carried && !peeled ? "" : ", false");
}

}  // namespace zellige::emit
