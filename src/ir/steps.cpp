// Describes steps: what each is, what it does with which value, and what it accesses.
#include "ir/sections.hpp"

namespace zellige::ir {
namespace {

/// sA[(i+3) mod 4]: the stage of the third iteration from now; a tensor of one stage has no brackets.
template <class Io>
void access(Io& io, plan::Access& a, const plan::Kernel& k, const Names& names) {
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
void copy(Io& io, plan::CopyChoice& c) {
  io.word("vector"), io.value(c.vector);
  io.word("bytes"), io.value(c.bytes);
  if (io.when("by", c.row != nullptr)) io.value(c.row);
  io.flag("anywhere", c.anywhere);
}

/// How a matmul is computed.
template <class Io>
void matmul(Io& io, plan::MatmulChoice& m) {
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
void work(Io& io, plan::Work& w, plan::Kernel& k, const Names& names) {
  const std::size_t nodes = k.program.nodes.size();
  io.value(w.kind);
  io.ref('%', w.node, nodes);
  if (io.when("over", w.context >= 0)) io.ref('t', w.context, k.rmem.size());
  if (io.when("tensor", w.buffer >= 0)) io.named(names.smem, w.buffer);
  io.fact("part", w.part, -1);
  if (w.kind == plan::WorkKind::mma)
    io.word("warps"), io.shared_facts(&k.program.nodes, w.node, [&] { matmul(io, w.matmul); });
  else if (is_global_load(w.kind) || w.kind == plan::WorkKind::to_global)
    io.shared_facts(&k.program.nodes, w.node, [&] { copy(io, w.copy); });
  else if (w.kind == plan::WorkKind::to_shared && io.when("by", w.copy.row != nullptr))
    io.value(w.copy.row);
}

template <class Io>
void loop(Io& io, plan::Loop& l) {
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
void is(Io& io, plan::Step& step, const Ids& channels) {
  const auto through = [&](int& channel) {
    if (io.when("through", channel >= 0)) io.named(channels, channel);
  };
  const auto acquired = [&](int& channel) {
    if (io.when("acquired", channel >= 0)) io.named(channels, channel);
  };
  plan::match(
      step,
      [&](plan::Copy& c) {
        through(c.channel), io.fact("ahead", c.guard_lag, 0), io.flag("multicast", c.multicast);
        acquired(c.acquired_channel);
      },
      [&](plan::Mma& m) { through(m.channel), io.flag("peeled", m.peeled), io.flag("pipelined", m.pipelined); },
      [&](plan::Compute& c) {
        through(c.channel), io.fact("ahead", c.guard_lag, 0), io.flag("to_cluster", c.to_cluster);
      },
      [&](plan::Commit& c) { through(c.channel); },
      [&](plan::WaitGroup& w) { io.word("pending"), io.value(w.pending), through(w.channel); },
      [&](plan::Barrier& b) { io.value(b.id), io.fact("threads", b.threads, 0); },
      [&](plan::OneOf<plan::Acquire, plan::Drain> auto& of) { through(of.channel); },
      [&](plan::Release& r) { through(r.channel), acquired(r.acquired_channel); },
      [&](plan::MbarrierInit& m) { through(m.channel), io.fact("arrivals", m.arrivals, 0); },
      [](plan::OneOf<plan::Start, plan::FenceInit, plan::FenceProxy, plan::GriddepWait, plan::GriddepLaunchDependents,
                     plan::WarpBarrier, plan::ClusterBarrier> auto&) {},
      [&](plan::Loop& l) { loop(io, l); });
}

}  // namespace

template <class Io>
void steps(Io& io, plan::Kernel& k, std::vector<plan::Step>& all, std::vector<Position>& at, const Names& names) {
  constexpr std::size_t max_steps = 10'000;
  io.each("", all, [&](plan::Step& step) {
    at.push_back(io.here());
    if constexpr (Io::reads)
      if (at.size() > max_steps)
        io.fail(at.back(), fmt::format("this is step {}; {} of a role may be read", at.size(), max_steps));
    io.kind(step), io.text(step.what);
    is(io, step, names.channels);
    if (io.when("do", step.work.node >= 0)) work(io, step.work, k, names);
    const auto accesses = [&](plan::Access& a) { access(io, a, k, names); };
    io.some("reads", step.reads, accesses), io.some("writes", step.writes, accesses);
    io.fact("global", step.global, plan::Global::nothing);
    if (plan::Loop* l = plan::as<plan::Loop>(step)) io.deeper([&] { steps(io, k, l->body, at, names); });
  });
}
template void steps(Writer&, plan::Kernel&, std::vector<plan::Step>&, std::vector<Position>&, const Names&);
template void steps(Reader&, plan::Kernel&, std::vector<plan::Step>&, std::vector<Position>&, const Names&);

}  // namespace zellige::ir
