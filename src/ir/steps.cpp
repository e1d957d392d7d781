// Describes steps: what each is, what it does with which value, and what it accesses.
#include "ir/sections.hpp"

namespace zellige::ir {
namespace {

/// sA[(i+3) mod 4]: the stage of the third iteration from now; a tensor of one stage has no brackets.
template <class Io>
void access(Io& io, kernel::Access& a, const kernel::Kernel& k, const KernelNames& names) {
  io.named(names.smem, a.tensor);
  io.require(static_cast<std::size_t>(a.tensor) < k.tensors.size(), "the tensor is declared after the steps");
  int stages = k.tensors.at(static_cast<std::size_t>(a.tensor)).stages;
  if (const int all = stages; io.mark("[", stages > 1 || a.lag != 0)) {
    if (io.mark("(i", a.lag != 0))
      io.offset(a.lag), io.must(")");
    else
      io.must("i");
    io.word("mod"), io.value(stages), io.require(stages == all, fmt::format("the tensor has {} stages", all));
    io.must("]");
  }
  io.flag("own", a.same_thread);
}

/// How a tile is copied.
template <class Io>
void copy(Io& io, kernel::CopyChoice& c) {
  io.word("vector"), io.value(c.vector);
  io.word("bytes"), io.value(c.bytes);
  if (io.when("by", c.row != nullptr)) io.value(c.row);
  io.flag("anywhere", c.anywhere);
}

/// How a matmul is computed.
template <class Io>
void matmul(Io& io, kernel::MatmulChoice& m) {
  std::vector<int> warps{m.warps.b, m.warps.m, m.warps.n, m.warps.k};
  std::vector<std::int64_t> size{m.batch, m.m, m.n, m.k};
  io.value(warps);
  io.word("size"), io.value(size);
  io.require(warps.size() == 4 && size.size() == 4, "warps and size have four numbers each: batch, M, N and K");
  if constexpr (Io::reads) {
    m.warps = {warps[0], warps[1], warps[2], warps[3]};
    m.batch = size[0], m.m = size[1], m.n = size[2], m.k = size[3];
  }
  if (io.when("by", m.row != nullptr)) io.value(m.row);
  if (io.when("loads", m.load != nullptr)) io.value(m.load);
}

/// What it does with which value.
template <class Io>
void work(Io& io, kernel::Work& w, kernel::Kernel& k, const KernelNames& names) {
  const std::size_t nodes = k.program.nodes.size();
  io.value(w.kind);
  io.ref('%', w.node, nodes);
  if (io.when("over", w.context >= 0)) io.ref('t', w.context, k.rmem.size());
  if (io.when("tensor", w.tensor >= 0)) io.named(names.smem, w.tensor);
  io.fact("part", w.part, -1);
  if (w.kind == kernel::WorkKind::mma)
    io.word("warps"), io.shared_facts(&k.program.nodes, w.node, [&] { matmul(io, w.matmul); });
  else if (kernel::is_global_load(w.kind) || w.kind == kernel::WorkKind::to_global)
    io.shared_facts(&k.program.nodes, w.node, [&] { copy(io, w.copy); });
  else if (w.kind == kernel::WorkKind::to_shared && io.when("by", w.copy.row != nullptr))
    io.value(w.copy.row);
}

template <class Io>
void loop(Io& io, kernel::Loop& l) {
  constexpr std::int64_t max_count = std::int64_t{1} << 31;
  io.value(l.kind);
  io.word("from"), io.value(l.from);
  io.word("to"), io.value(l.trip_count);
  io.require(std::max(l.from, l.trip_count) <= max_count && std::min(l.from, l.trip_count) >= -max_count,
             fmt::format("a loop has {} iterations at most, found {}", max_count, l.trip_count));
  io.flag("bounded", l.bounded);
  io.flag("whole", l.whole);
  io.fact("each", l.each, std::int64_t{0});
}

template <class Io>
void is(Io& io, kernel::Step& step, const Ids& channels) {
  const auto through = [&](int& channel) {
    if (io.when("through", channel >= 0)) io.named(channels, channel);
  };
  const auto acquired = [&](int& channel) {
    if (io.when("acquired", channel >= 0)) io.named(channels, channel);
  };
  kernel::match(
      step,
      [&](kernel::Copy& c) {
        through(c.channel), io.fact("ahead", c.guard_lag, 0), io.flag("multicast", c.multicast);
        acquired(c.acquired_channel);
      },
      [&](kernel::Mma& m) { through(m.channel), io.flag("peeled", m.peeled), io.flag("pipelined", m.pipelined); },
      [&](kernel::Compute& c) {
        through(c.channel), io.fact("ahead", c.guard_lag, 0), io.flag("to_cluster", c.to_cluster);
      },
      [&](kernel::Commit& c) { through(c.channel); },
      [&](kernel::WaitGroup& w) { io.word("pending"), io.value(w.pending), through(w.channel); },
      [&](kernel::Barrier& b) { io.value(b.id), io.fact("threads", b.threads, 0); },
      [&](kernel::OneOf<kernel::Acquire, kernel::Drain> auto& of) { through(of.channel); },
      [&](kernel::Release& r) { through(r.channel), acquired(r.acquired_channel); },
      [&](kernel::MbarrierInit& m) { through(m.channel), io.fact("arrivals", m.arrivals, 0); },
      [](kernel::OneOf<kernel::Start, kernel::FenceInit, kernel::FenceProxy, kernel::GriddepWait,
                       kernel::GriddepLaunchDependents, kernel::WarpBarrier, kernel::ClusterBarrier> auto&) {},
      [&](kernel::Loop& l) { loop(io, l); });
}

}  // namespace

template <class Io>
void steps(Io& io, kernel::Kernel& k, std::vector<kernel::Step>& all, std::vector<Position>& at,
           const KernelNames& names) {
  constexpr std::size_t max_steps = 10'000;
  io.each("", all, [&](kernel::Step& step) {
    at.push_back(io.here());
    if constexpr (Io::reads)
      if (at.size() > max_steps)
        io.fail(at.back(), fmt::format("this is step {}; {} of a role may be read", at.size(), max_steps));
    io.kind(step), io.text(step.what);
    is(io, step, names.channels);
    if (io.when("do", step.work.node >= 0)) work(io, step.work, k, names);
    const auto accesses = [&](kernel::Access& a) { access(io, a, k, names); };
    io.some("reads", step.reads, accesses), io.some("writes", step.writes, accesses);
    io.fact("global", step.global, kernel::Global::nothing);
    if (kernel::Loop* l = kernel::as<kernel::Loop>(step)) io.deeper([&] { steps(io, k, l->body, at, names); });
  });
}
template void steps(Writer&, kernel::Kernel&, std::vector<kernel::Step>&, std::vector<Position>&, const KernelNames&);
template void steps(Reader&, kernel::Kernel&, std::vector<kernel::Step>&, std::vector<Position>&, const KernelNames&);

}  // namespace zellige::ir
