#include "emit/kernel_text.hpp"

#include <algorithm>

namespace zellige::emit {

using plan::ContextKind;
using plan::NodeKind;
using plan::OpKind;
using plan::Section;
using plan::TaskKind;

namespace {
constexpr double lowest = -3.4028234663852886e38;
}

KernelText::KernelText(const plan::KernelPlan& plan, const plan::Program& program, Names& names, Text& out)
    : plan_(plan),
      program_(program),
      block_(plan.program),
      names_(names),
      out_(out),
      uses_(plan.program.nodes.size(), 0) {
  std::set<std::string> taken;
  for (const Buffer& b : plan.buffers) {
    std::string name = b.name;
    for (int i = 2; !taken.insert(name).second; ++i) name = fmt::format("{}_{}", b.name, i);
    tiles_.push_back(names.shared(name));
  }
  for (const Node& n : block_.nodes)
    for (int in : n.in) ++uses_[in];
}

void KernelText::emit() {
  signature();
  declarations();
  states();
  if (looped()) loop();
  section_ = Section::after;
  if (looped() && plan_.after_barrier) barrier();
  straight(plan_.after);
  out_.close();
}

void KernelText::signature() {
  std::string parameters;
  std::set<int> reads, writes;
  for (const Node& n : block_.nodes) {
    if (n.kind == NodeKind::load) reads.insert(n.tensor);
    if (n.kind == NodeKind::store) writes.insert(n.tensor);
  }
  for (int t : reads)
    if (!writes.count(t))
      parameters +=
          fmt::format("{}gmem<const {}> {}", parameters.empty() ? "" : ", ",
                      type_name(program_.tensors[t].dtype), names_.pointer(program_.tensors[t].name));
  for (int t : writes)
    parameters += fmt::format("{}gmem<{}> {}", parameters.empty() ? "" : ", ",
                              type_name(program_.tensors[t].dtype), names_.pointer(program_.tensors[t].name));
  out_.line("// Grid {} x {} x {}, {} bytes of shared memory{}.", block_.grid.x, block_.grid.y, block_.grid.z,
            plan_.shared_bytes,
            looped() ? fmt::format(", {} iterations, {} stage{}", block_.loop, plan_.stages,
                                   plan_.stages > 1 ? "s" : "")
                     : "");
  out_.open("extern \"C\" __global__ void __launch_bounds__({}) {}({}) {{", threads(), block_.name,
            parameters);
}

std::string KernelText::thread_index() const {
  std::string text = "threadIdx.x";
  if (block_.block.y > 1) text += fmt::format(" + {} * threadIdx.y", block_.block.x);
  if (block_.block.z > 1) text += fmt::format(" + {} * threadIdx.z", block_.block.x * block_.block.y);
  return text;
}

void KernelText::declarations() {
  out_.line("const int tid = {};", thread_index());
  out_.line("[[maybe_unused]] const int warp = tid / 32, lane = tid % 32;");
  std::set<int> axes, tensors;
  for (const Node& n : block_.nodes) {
    if (n.kind != NodeKind::load && n.kind != NodeKind::store) continue;
    for (const plan::Split& s : n.splits)
      if (s.axis >= 0) axes.insert(s.axis);
    tensors.insert(n.tensor);
  }
  for (int a : axes) out_.line("const int b{} = blockIdx.{};", "xyz"[a], "xyz"[a]);
  for (int t : tensors) {
    const auto& tensor = program_.tensors[t];
    out_.line("const auto {} = global_tile{}({}, {});", global(t), plan_.wide.count(t) ? "<long long>" : "",
              names_.pointer(tensor.name), layout_text(tensor.shape, tensor.strides));
  }
  for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
    const Buffer& b = plan_.buffers[i];
    const std::string kind = b.stages > 1     ? fmt::format("ring<{}, {}>", type_name(b.dtype), b.stages)
                             : b.partials > 1 ? fmt::format("sums<{}, {}>", type_name(b.dtype), b.partials)
                                              : fmt::format("tile<{}>", type_name(b.dtype));
    out_.line("const auto {} = shared_{}(\"{}\", {}, {}, {});", tiles_[i], kind, printable(b.name), b.offset,
              b.bytes / graph::bytes(b.dtype), buffer_layout(b));
  }
}

void KernelText::states() {
  if (!looped()) return;
  const auto registers = [&](int node, const Context& c, const std::string& start) {
    const std::string name = fmt::format("acc{}", node);
    const Loop i = counted("i", steps(c)), v = counted("v", c.vector);
    out_.line("Vec<float, {}> {}[{}];", c.vector, name, steps(c));
    out_.line("{}{}{}[{}][{}] = {};", i.head, v.head, name, i.at, v.at, start);
  };
  for (const Task& t : plan_.tasks) {
    const Node& n = block_.nodes[t.node];
    const Context* c = t.context >= 0 ? &plan_.contexts[t.context] : nullptr;
    if (t.kind == TaskKind::mma && n.carried) {
      out_.line("{} acc{};", fragment_type(*c), t.node);
      out_.line("acc{}.clear();", t.node);
    } else if (t.kind == TaskKind::accumulate) {
      const bool max = n.kind == NodeKind::running_max || n.op == OpKind::accum_max;
      const std::string start = max ? float_literal(lowest) : "0.0f";
      if (t.buffer >= 0) {
        const plan::Shape chunks = chunks_of(*c);
        const Share s = share("int", "i", "c", Index::named("tid"), graph::size(chunks), threads(), " 1");
        const std::vector<Index> at = coordinate("int", s.item, chunks, c->order, c->inner, c->vector);
        for (int v = 0; v < c->vector; ++v)
          out_.line("write<1>({}({}), Vec<float, 1>{{{}}});", tile(t.buffer),
                    fmt::join(neighbour(at, c->inner, v), ", "), start);
        close(s);
      } else if (c->kind == ContextKind::fragment) {
        out_.line("{} acc{};", fragment_type(*c), t.node);
        out_.line("acc{}.fill({});", t.node, start);
      } else {
        registers(t.node, *c, start);
        for (int i : block_.consumers(t.node))
          if (block_.nodes[i].kind == NodeKind::running_diff) registers(i, *c, "0.0f");
      }
    } else if (t.kind == TaskKind::reduce && n.carried) {
      sum_declaration(t);
    }
  }
}

void KernelText::sum_declaration(const Task& t) {
  const Node& n = block_.nodes[t.node];
  const Context& c = plan_.contexts[t.context];
  const bool max = n.kind == NodeKind::reduce && n.op == OpKind::reduction_max;
  const char* start = max ? "-1.0f / 0.0f" : "0.0f";
  if (c.kind == ContextKind::fragment) {
    const std::string type = fragment_type(c);
    out_.line("Vec<float, {}::lines> sum{};", type, t.node);
    out_.line("for (int i = 0; i < {}::lines; ++i) sum{}[i] = {};", type, t.node, start);
    return;
  }
  const int groups = warps() * 32 / (c.lanes * c.splits);
  const std::int64_t count = (graph::size(c.domain) + groups - 1) / groups;
  const Loop i = counted("i", count);
  out_.line("Vec<float, {}> sum{};", count, t.node);
  out_.line("{}sum{}[{}] = {};", i.head, t.node, i.at, start);
}

void KernelText::loop() {
  const int lag = plan_.stages - 1;
  const auto& copies = plan_.loop_copies;
  for (int t : plan_.before.front()) copy_in(t, "", "it");
  const bool invariant = !plan_.before.front().empty();
  if (copies.empty()) {
    if (invariant) out_.line("cp_async_commit();"), out_.line("cp_async_wait<0>();");
    if (plan_.before_barrier) barrier();
  } else if (plan_.stages == 1 && invariant) {
    out_.line("cp_async_commit();");
  } else if (lag > 0) {
    out_.line("#pragma unroll");
    out_.open("for (int it = 0; it < {}; ++it) {{", lag);
    for (int t : copies) copy_in(t, "it", "it");
    out_.line("cp_async_commit();");
    out_.close();
  }
  if (lag > 0) out_.line("int stage = 0, next = {};", lag);
  out_.line("#pragma unroll 1");
  out_.open("for (int it = 0; it < {}; ++it) {{", block_.loop);
  if (!copies.empty()) {
    if (plan_.stages > 1) {
      out_.line("cp_async_wait<{}>();", lag - 1);
      if (plan_.top_barrier) barrier();
      out_.open("if (it + {} < {}) {{", lag, block_.loop);
      out_.line("const int ahead = it + {};", lag);
      for (int t : copies) copy_in(t, "next", "ahead");
      out_.close();
      out_.line("cp_async_commit();");
    } else {
      if (plan_.top_barrier) barrier();
      for (int t : copies) copy_in(t, "", "it");
      out_.line("cp_async_commit();");
      out_.line("cp_async_wait<0>();");
      if (plan_.top_barrier) barrier();
    }
  } else if (plan_.top_barrier) {
    barrier();
  }
  section_ = Section::inside;
  for (std::size_t i = 0; i < plan_.inside.size(); ++i) {
    if (i > 0) barrier();
    phase(plan_.inside[i]);
  }
  if (lag > 0) {
    out_.line("stage = stage + 1 == {} ? 0 : stage + 1;", plan_.stages);
    out_.line("next = next + 1 == {} ? 0 : next + 1;", plan_.stages);
  }
  out_.close();
}

bool KernelText::needs_wait(int t) const {
  for (int w : plan_.tasks[t].after_same)
    if (plan_.tasks[w].kind == TaskKind::copy_in) return true;
  return false;
}

void KernelText::straight(const std::vector<std::vector<int>>& phases) {
  bool pending = false;
  const auto wait = [&] {
    if (pending) out_.line("cp_async_commit();"), out_.line("cp_async_wait<0>();");
    pending = false;
  };
  for (std::size_t i = 0; i < phases.size(); ++i) {
    if (i > 0) wait(), barrier();
    std::vector<int> rest;
    for (int t : phases[i]) {
      if (plan_.tasks[t].kind == TaskKind::copy_in) {
        copy_in(t, "", "it");
        pending = pending || plan_.copies.at(plan_.tasks[t].node).async;
      } else {
        if (needs_wait(t)) wait();
        rest.push_back(t);
      }
    }
    phase(rest);
  }
}

void KernelText::phase(const std::vector<int>& tasks) {
  const auto in_nest = [&](const Task& t) {
    const ContextKind kind = plan_.contexts[t.context].kind;
    if (t.kind == TaskKind::to_global && t.buffer >= 0) return false;
    return kind != ContextKind::lanes &&
           (t.kind == TaskKind::to_shared || t.kind == TaskKind::to_operand ||
            t.kind == TaskKind::to_global || t.kind == TaskKind::accumulate || t.kind == TaskKind::reduce);
  };
  const auto declare = [&](const Task& t) {
    if (t.kind == TaskKind::reduce && !block_.nodes[t.node].carried) sum_declaration(t);
  };
  // The tasks right behind task i that share its loop nest; i moves to the last of them.
  const auto gather = [&](std::size_t& i, std::vector<int>& together) {
    const int context = plan_.tasks[tasks[i]].context;
    while (i + 1 < tasks.size() && plan_.tasks[tasks[i + 1]].context == context &&
           in_nest(plan_.tasks[tasks[i + 1]])) {
      declare(plan_.tasks[tasks[++i]]);
      together.push_back(tasks[i]);
    }
  };
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Task& t = plan_.tasks[tasks[i]];
    declare(t);
    if (in_nest(t)) {
      std::vector<int> together{tasks[i]};
      gather(i, together);
      nest(together);
      continue;
    }
    if (t.kind == TaskKind::mma && plan_.contexts[t.context].slices > 1) {
      std::vector<int> together;
      gather(i, together);
      out_.line("#pragma unroll 1");
      out_.open("for (int slice = 0; slice < {}; ++slice) {{", plan_.contexts[t.context].slices);
      mma(t);
      nest(together);
      out_.close();
      continue;
    }
    switch (t.kind) {
      case TaskKind::mma:
        mma(t);
        break;
      case TaskKind::reduce:
        lanes_nest(t);
        break;
      case TaskKind::finish:
        finish(t);
        break;
      case TaskKind::to_global:
        staged_store(t);
        break;
      default:
        break;
    }
  }
}

}  // namespace zellige::emit
