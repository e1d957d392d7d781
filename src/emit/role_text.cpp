#include <algorithm>

#include "emit/nest_text.hpp"
#include "emit/parameters.hpp"
#include "emit/steps_text.hpp"
#include "emit/tensor_index.hpp"
#include "graph/error.hpp"
#include "kernel/tensor_map.hpp"
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

/// Returns whether a step of `steps`, outside of loops over iterations, waits for products in tensor memory: their accumulators are
/// loaded after it.
bool loads_products(const kernel::Kernel& s, const kernel::Agent& agent, const std::vector<kernel::Step>& steps) {
  return std::ranges::any_of(steps, [&](const kernel::Step& step) {
    if (const kernel::Loop* loop = kernel::as<kernel::Loop>(step))
      return (loop->kind == kernel::Loop::tiles || loop->kind == kernel::Loop::slices) &&
             loads_products(s, agent, loop->body);
    const kernel::WaitGroup* wait = kernel::as<kernel::WaitGroup>(step);
    return wait && kernel::loads_columns(*wait, false) && verify::groups_of(s, agent, step) == verify::Groups::wgmma;
  });
}

std::string ring(const KernelText& k, int channel) {
  int before = 0;
  for (int c = 0; c < channel; ++c) before += by_mbarriers(k.plan.channels[c]);
  return before ? fmt::format("ring{}", before) : "ring";
}

/// Emits the declarations of the shared-memory rings, and of the buffers by which the blocks of a cluster
/// exchange partial results (split-K).
void rings(const KernelText& k) {
  const kernel::Kernel& s = k.plan;
  for (int c = 0; c < static_cast<int>(s.channels.size()); ++c) {
    const kernel::Channel& channel = s.channels[c];
    if (kernel::is_exchange(channel)) {
      const SmemTensor& b = k.plan.tensors[channel.tensor];
      const Work& sends =
          *kernel::find_work(k.plan, [](const Work& w) { return w.kind == kernel::WorkKind::to_cluster; });
      k.out.line("const auto exchange = Exchange<{}, {}>::at({}, {}, \"{}\");", s.cluster,
                 fragment_type(k.plan.layout_of(sends)), b.offset, channel.offset, in_literal(b.name));
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
    k.out.line("const auto {} = Ring<{}, Tiles<{}>{}>::at({}, {}, {{{}}});", ring(k, c), channel.stages, bytes,
               kernel::cluster_of(s, c) > 1 ? fmt::format(", {}", kernel::cluster_of(s, c)) : "", offsets,
               channel.offset, names);
  }
}

}  // namespace

std::optional<InRing> in_ring(const KernelText& k, int buffer) {
  const kernel::Kernel& s = k.plan;
  for (int c = 0; c < static_cast<int>(s.channels.size()); ++c) {
    if (!by_mbarriers(s.channels[c])) continue;
    const std::vector<int> all = carried(s, c);
    const auto at = std::ranges::find(all, buffer);
    if (at != all.end()) return InRing{c, static_cast<int>(at - all.begin())};
  }
  return {};
}

Index ring_stage(const KernelText& k, int channel) { return Index::named(ring(k, channel) + "_at.index"); }

std::string ring_tile(const KernelText& k, int buffer) {
  const std::optional<InRing> at = in_ring(k, buffer);
  if (!at) fail("{}: no ring carries {}", k.block.name, k.plan.tensors[buffer].name);
  return fmt::format("{0}.tile({0}_at, {1})", ring(k, at->channel), at->tile);
}

/// Returns the name of the TMA descriptor of a load or store. Each has one of its own: they may need different boxes.
std::string map_name(const KernelText& k, int node) {
  const int tensor = k.block.nodes[node].tensor;
  const std::string& name = k.program.tensors[tensor].name;
  for (int other = 0; other < node; ++other)
    if (k.block.nodes[other].tensor == tensor && k.plan.uses_tma(other))
      return k.names.map(fmt::format("{}#{}", name, node));
  return k.names.map(name);
}

/// Emits the kernel's setup, the code of every warp role, and the teardown.
void roles(const KernelText& k) {
  rings(k);
  const kernel::Kernel& s = k.plan;
  const auto all = std::ranges::find_if(s.setup, [](const kernel::Step& step) {
    return !kernel::as<kernel::MbarrierInit>(step) && !kernel::as<kernel::FenceInit>(step);
  });
  const std::int64_t after_channels = kernel::shared_bytes_of_channels(s);
  for (const kernel::Channel& c : s.channels)
    if (kernel::in_columns(c))
      k.out.line("ProductSets<{}, {}, {}, {}> products({}, {});", k.columns.groups, k.columns.count, k.columns.together,
                 k.columns.sets, c.offset, after_channels);
  if (!k.columns.none() && k.columns.sets == 0)
    k.out.line("TensorProducts<{}, {}, {}> products({});", k.columns.groups, k.columns.count, k.columns.together,
               after_channels);
  k.out.open("if (threadIdx.x == 0) {{");
  for (const Parameter& p : parameters(k.plan, k.program))
    if (p.node >= 0) k.out.line("prefetch_tma_descriptor({});", map_name(k, p.node));
  const std::vector<kernel::Step> of_one(s.setup.begin(), all), of_all(all, s.setup.end());
  run(k, StepPlace(), of_one);
  k.out.close();
  run(k, StepPlace(), of_all);
  for (std::size_t a = 0; a < s.agents.size(); ++a) {
    const kernel::Agent& agent = s.agents[a];
    const StepPlace place{.agent = static_cast<int>(a)};
    const std::string role = fmt::format("{}<{}, {}>([&] {{", kernel::issuers(s, agent) == 1 ? "producer" : "consumer",
                                         agent.warps, agent.registers);
    k.out.open("{}{}", a == 0 ? "roles(" : "", role);
    // A producer has the next stage of a ring to fill; a consumer the next to acquire, the next to release, and the one
    // that it reads. Sets of columns likewise.
    for (int c = 0; c < static_cast<int>(s.channels.size()); ++c) {
      if (kernel::in_columns(s.channels[c]) && s.channels[c].producer == place.agent)
        k.out.line("auto set_at = products.first_empty();");
      if (kernel::in_columns(s.channels[c]) && kernel::consumes(s.channels[c], place.agent))
        k.out.line("auto set_at = products.first();");
      if (!by_mbarriers(s.channels[c])) continue;
      if (s.channels[c].producer == place.agent) k.out.line("auto {0}_next = {0}.first_empty();", ring(k, c));
      if (kernel::consumes(s.channels[c], place.agent))
        k.out.line("auto {0}_next = {0}.first(), {0}_used = {0}.first(), {0}_at = {0}.first();", ring(k, c));
    }
    const bool loads = !k.columns.none() && kernel::issuers(s, agent) != 1;
    if (loads || kernel::multiplies_into(s, agent) >= 0) k.out.line("products.find();");
    run(k, place, agent.steps);
    if (a == 0) end_exchange_of_ranks(k);
    if (loads) {
      if (k.columns.sets == 0 && !loads_products(s, agent, agent.steps))
        fault("{}: no step after the loop waits for its products in tensor memory", s.name());
      k.out.line("products.free();");
    }
    k.out.close(a + 1 == s.agents.size() ? "}));" : "}),");
  }
  run(k, StepPlace(), s.teardown);
}

/// Emits the loop of a persistent block over its output tiles, in the order of tile_schedule.hpp. Emits no
/// loop if each block has one tile.
void tiles(const KernelText& k, const StepPlace& place, const kernel::Loop& begin) {
  const selection::TileSchedule walk = selection::tile_schedule(k.plan);
  const graph::Dim3& grid = k.block.grid;
  const int cluster = k.plan.cluster,
            rows = cluster / k.plan.parts_of_loop();                        // blocks of a cluster with different tiles
  const std::string of = cluster > 1 ? fmt::format(" / {}", cluster) : "";  // tiles are counted per cluster
  const bool several = begin.trip_count > 1;
  if (walk.longer >= 0) {
    std::int64_t below = 1;
    for (int a = 0; a < walk.longer; ++a) below *= grid[a];
    k.out.open("for (int pair = blockIdx.x, turn = 0; pair < {}; pair += turn * gridDim.x, turn ^= 1) {{",
               grid.count() / 2);
    k.out.line("const int tile = LongAndShort{{{}, {}}}(pair, turn);", below, grid[walk.longer]);
  } else if (several) {
    k.out.line("#pragma unroll 1");
    k.out.open("for (int tile = blockIdx.x{}; tile < {}; tile += gridDim.x{}) {{", of, grid.count() / rows, of);
  } else if (walk.rows > 0 || grid.count() > 1) {
    k.out.line("const int tile = blockIdx.x{};", of);
  }
  if (kernel::multiplies_into(k.plan, k.plan.agents[place.agent]) >= 0) {  // it needs no coordinates
    run(k, place, begin.body);
    return k.out.close();
  }
  if (walk.rows > 0) {
    k.out.line("const TileOrder::Place place = TileOrder{{{}, {}, {}}}(tile);", walk.rows / rows, walk.columns,
               std::max<std::int64_t>(1, walk.group / rows));
    const std::string row = rows > 1 ? fmt::format("place.row * {} + block_rank", rows) : "place.row";
    if (walk.row_axis == walk.column_axis) {
      k.out.line("const int b{} = {} * {} + place.column;", "xyz"[walk.row_axis], rows > 1 ? "(" + row + ")" : row,
                 walk.columns);
    } else {
      k.out.line("const int b{} = {};", "xyz"[walk.row_axis], row);
      k.out.line("const int b{} = place.column;", "xyz"[walk.column_axis]);
    }
  } else {
    std::int64_t below = 1;
    for (int a = 0; a < 3; ++a) {
      const Index at = digit(Index::named("tile"), below, grid[a], below * grid[a] == grid.count());
      if (grid[a] > 1) k.out.line("const int b{} = {};", "xyz"[a], at);
      below *= grid[a];
    }
  }
  declare_first_iteration(k);
  run(k, place, begin.body);
  if (several) k.out.close();
}

/// Emits the wait for the next set of columns: until it is empty, if the role multiplies into it, else until it is full, and the loads of
/// its accumulators.
void acquire_set(const KernelText& k, bool multiplies) {
  if (multiplies) return k.out.line("products.acquire(set_at);");
  k.out.line("products.wait(set_at);");
  for (const auto& [node, column] : k.columns.first) {
    registers(k, node, k.plan.layout_of(*k.plan.product_of(node)));
    k.out.line("products.load<{0}>(acc{1}, set_at);", column, node);
  }
}

/// Emits the release of a stage of a ring, or of a set of columns. Of a role that multiplies into sets its products arrive.
void release_stage(const KernelText& k, int channel, bool multiplies) {
  if (kernel::in_columns(k.plan.channels[channel]))
    return multiplies ? k.out.line("products.commit(products.full_barrier(set_at++));")
                      : k.out.line("products.release(set_at++);");
  const int cluster = kernel::cluster_of(k.plan, channel);
  if (!multiplies) return k.out.line("{0}.release({0}_used++);", ring(k, channel));
  k.out.line("products.commit({0}.empty_barrier({0}_used++){1});", ring(k, channel),
             cluster > 1 ? fmt::format(", {}", (1 << cluster) - 1) : "");
}

/// Emits the code of a synchronisation step, such as a barrier, or the acquire or release of a stage.
void handover(const KernelText& k, const StepPlace& place, const kernel::Step& step, const kernel::Sync& sync) {
  const kernel::Kernel& s = k.plan;
  const auto groups = [&]() -> const target::Handover& {
    return target::handover(verify::completion(verify::groups_of(s, s.agents[place.agent], step)));
  };
  const auto exchanges = [&](int c) { return kernel::is_exchange(s.channels[c]); };
  const bool multiplies = kernel::multiplies_into(s, s.agents[place.agent]) >= 0;  // for other roles
  const auto of_products = [&] {
    return !k.columns.none() && &groups() == &target::handover(Instruction::Completion::commit_group);
  };
  const kernel::overloaded print{
      [&](const kernel::Commit&) {
        k.out.line("{}();", of_products() ? "products.commit" : function(*groups().commit));
      },
      [&](const kernel::WaitGroup& wait) {
        k.out.line("{}<{}>();", of_products() ? "products.wait" : function(*groups().wait), wait.pending);
        if (!of_products() || !kernel::loads_columns(wait, place.in_loop)) return;
        for (const auto& [node, column] : k.columns.first) k.out.line("products.load<{}>(acc{});", column, node);
      },
      [&](const kernel::Barrier& barrier) {
        if (barrier.waits && barrier.id == 0) return k.out.line("__syncthreads();");
        k.out.line("named_barrier_{}({}, {});", barrier.waits ? "sync" : "arrive", barrier.id, barrier.threads);
      },
      [&](const kernel::Acquire& of) {
        if (exchanges(of.channel)) return k.out.line("exchange.wait();");
        if (kernel::in_columns(s.channels[of.channel])) return acquire_set(k, multiplies);
        const std::string name = ring(k, of.channel);
        if (s.channels[of.channel].producer == place.agent) {
          k.out.line("const auto {0}_at = {0}_next++;", name);
          return k.out.line("const auto {0}_full = {0}.acquire({0}_at);", name);
        }
        k.out.line("{0}_at = {0}_next++;", name);
        k.out.line("{0}.wait({0}_at);", name);
      },
      [&](const kernel::Release& of) {
        if (exchanges(of.channel)) return k.out.line("exchange.release(block_rank);");
        release_stage(k, of.channel, multiplies);
      },
      [&](const kernel::MbarrierInit& of) {
        k.out.line("{}.init({});",
                   exchanges(of.channel)                        ? "exchange"
                   : kernel::in_columns(s.channels[of.channel]) ? "products"
                                                                : ring(k, of.channel),
                   of.arrivals);
      },
      [&](const kernel::Drain& of) {
        k.out.line("{0}.drain({0}_next);  // until then others arrive at this block's barriers", ring(k, of.channel));
      },
      [&](const kernel::FenceInit&) { k.out.line("fence_mbarrier_init();"); },
      [&](const kernel::FenceProxy&) {
        k.out.line("{}();", function(*target::fence(target::Proxy::generic, target::Proxy::async)));
      },
      [&](const kernel::WarpBarrier&) { k.out.line("__syncwarp();"); },
      [&](const kernel::ClusterBarrier&) {
        k.out.line("cluster_sync();{}", step.what.empty() ? "" : "  // " + step.what);
      },
      [&](const kernel::GriddepWait&) { k.out.line("griddep_wait();"); },
      [&](const kernel::GriddepLaunchDependents&) { k.out.line("griddep_launch_dependents();"); }};
  std::visit(print, sync);
}

/// Emits a TMA copy of a tile, box by box, between global and shared memory. One thread issues it.
void box(const KernelText& k, const StepPlace& place, const kernel::Step& step, const kernel::Copy& copy) {
  const Work& work = step.work;
  const Node& n = k.block.nodes[work.node];
  const SmemTensor& b = k.plan.tensors[work.tensor];
  const bool load = work.kind == kernel::WorkKind::copy_in;
  const std::string call = function(*work.copy.row), map = map_name(k, work.node);
  const std::int64_t boxes = kernel::boxes_of_block(k.plan, work);
  const CountedLoop j = counted("j", boxes);
  const Index block_rank = work.part >= 0 ? Index::named("block_rank") : 0;
  const bool by_spans = work.part == b.inner;
  const Index span = by_spans ? block_rank * boxes + j.at : j.at;  // number of the current box in the tile
  // With split-K a block's part of K is a range of complete loop iterations.
  Index iteration = place.iteration;
  if (k.plan.split_k && n.view.iterates())
    iteration = iteration + Index::named("block_rank") * k.plan.iterations_per_block();
  std::string at;
  for (int d : kernel::inner_first(n.shape, b.inner)) {
    Index start = global_start(k, n, d, iteration);
    if (d == b.inner) start = start + span * b.box();
    if (d == work.part && !by_spans) start = start + block_rank * (n.shape[d] / k.plan.cluster);
    at += fmt::format(", {}", start);
  }
  k.out.line("// {} {}: {} box{}{}", printable(n.name), graph::to_string(n.shape), boxes, boxes == 1 ? "" : "es",
             copy.multicast          ? fmt::format(" of each of {} blocks, to all", k.plan.cluster)
             : load || work.part < 0 ? ""
                                     : fmt::format(" of each of {} blocks", k.plan.cluster));
  if (load) {
    const Index offset =
        span * (b.stage_bytes() / b.boxes()) + (by_spans ? Index(0) : block_rank * (b.stage_bytes() / k.plan.cluster));
    const bool once = selection::passes_once(k.plan, step);
    k.out.line("{}{}({}{}, {}, {}_full{}{}{});", j.head, once ? hinted(call) : call, ring_tile(k, work.tensor),
               offset == Index(0) ? "" : fmt::format(" + {}", offset), map, ring(k, copy.channel),
               copy.multicast ? fmt::format(", {}", (1 << k.plan.cluster) - 1) : "",
               once ? ", CacheHint::evict_first" : "", at);
    return;
  }
  std::vector<Index> from(n.shape.size());
  if (work.part >= 0 && !by_spans) from[work.part] = block_rank * (n.shape[work.part] / k.plan.cluster);
  from[b.inner] = span * b.box();
  const Condition within = in_slices(k, work);
  k.out.open("if (tid == 0{}{}) {{", within.empty() ? "" : " && ", text(within));
  k.out.line("{}{}({}, {}({}){});", j.head, call, map, k.tile(work.tensor), fmt::join(from, ", "), at);
  k.out.close();
}

/// Emits a matmul by wgmma. The first wgmma overwrites the accumulators if `peeled` is true, as in a first
/// iteration that is emitted before the loop, or if the matmul does not accumulate over the loop.
void issue(const KernelText& k, const Work& work, bool peeled) {
  const Node& n = k.block.nodes[work.node];
  const kernel::MatmulChoice& m = work.matmul;
  const Instruction& row = *m.row;
  const auto column = k.columns.first.find(work.node);
  const bool in_columns = column != k.columns.first.end();
  const int together = in_columns ? k.columns.together : 1, rows = row.m * together;  // of an instruction
  const bool for_others = in_columns && k.columns.sets > 0;  // one thread multiplies the rows of all warpgroups
  const auto operand = [&](int side) {
    const int buffer = k.plan.tensor_of(n.in[side]);
    const SmemTensor& b = k.plan.tensors[buffer];
    const std::int64_t across = side == 0 ? m.m : m.columns();
    const bool along_k = b.along_k(side);
    std::string tile = ring_tile(k, buffer);
    // The first row of this warpgroup, or of the warpgroups that multiply together: rows of K are contiguous, or one span contains
    // all of K.
    if (side == 0 && m.m > rows && !for_others)
      tile += fmt::format(" + warp / {} * {}", kernel::warps_of(row) * together,
                          (along_k ? rows : together * m.k) * b.span());
    return along_k ? fmt::format("k_major<{}>({})", across, tile)
                   : fmt::format("mn_major<{}, {}>({})", side == 0 ? rows : across, m.k, tile);
  };
  k.out.line("// {} {} {} x {}: {}x{}x{} {} m{}n{}k{}{}",
             n.name.empty() ? fmt::format("%{}", work.node) : printable(n.name), n.carried ? "+=" : "=",
             printable(k.block.nodes[n.in[0]].name), printable(k.block.nodes[n.in[1]].name), m.m, m.columns(), m.k,
             in_columns ? "in tensor memory" : "on wgmma", rows, row.n, row.k, peeled ? ", the first" : "");
  if (for_others)
    return k.out.line("products.issue<{}, {}, {}, {}>(set_at, {}, {});", type_name(k.block.nodes[n.in[1]].dtype),
                      tile::ceil_div(m.k, row.k), column->second, fragment_type(k.plan.layout_of(work)), operand(0),
                      operand(1));
  if (!n.carried) registers(k, work.node, k.plan.layout_of(work));
  k.out.line("{}<{}, {}{}>(acc{}, {}, {}{});", in_columns ? "products.issue" : "issue_wgmma",
             type_name(k.block.nodes[n.in[1]].dtype), tile::ceil_div(m.k, row.k),
             in_columns ? fmt::format(", {}", column->second) : "", work.node,
             row.a.space == Instruction::Space::rmem ? fmt::format("op{}", n.in[0]) : operand(0), operand(1),
             n.carried && !peeled ? "" : ", false");
}

}  // namespace zellige::emit
