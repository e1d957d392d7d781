#include <algorithm>
#include <set>

#include "generate.hpp"
#include "graph/collective.hpp"

namespace zellige::random_graphs {
namespace {

bool prime(std::int64_t n) {
  for (std::int64_t d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return n > 1;
}

bool any_prime(const Shape& shape) { return std::any_of(shape.begin(), shape.end(), prime); }

}  // namespace

void Coverage::add(const graph::KernelGraph& g) {
  ++graphs;
  bool matmul = false, loop = false, primes = false, strides = false, chain = false, tail = false, reread = false;
  for (const auto& t : g.tensors) {
    primes = primes || any_prime(t.shape);
    strides = strides || (!t.strides.empty() && t.strides != graph::row_major(t.shape));
  }
  ++dtypes[std::string(graph::name(g.tensors[g.inputs.at(0)].dtype))];
  for (const auto& op : g.ops) {
    ++kernel_operators[std::string(graph::name(op.kind))];
    matmul = matmul || op.kind == OpKind::matmul;
    if (!op.block) continue;
    loop = loop || op.block->loop > 1;
    ++threads[op.block->block.count() % 32 == 0 ? "a multiple of 32" : "not a multiple of 32"];
    ++ranks[std::to_string(op.block->tensors.at(0).shape.size())];
    for (const auto& t : op.block->tensors) primes = primes || any_prime(t.shape);
    std::map<int, std::set<int>> readers;  // of a block tensor: which products read it, as it is or through maps
    std::map<int, std::set<int>>
        sources;  // of a block tensor: loads and products that it is an elementwise function of
    std::set<int> products;
    for (const auto& inner : op.block->ops) {
      for (int out : inner.outputs) {
        auto& mine = sources[out];
        const bool product = inner.kind == OpKind::matmul;
        if (product || inner.kind == OpKind::input)
          mine.insert(out);
        else
          for (int in : inner.inputs) mine.insert(sources[in].begin(), sources[in].end());
        if (!product) continue;
        products.insert(out);
        for (int in : inner.inputs)
          for (int from : sources[in]) reread = reread || !readers[from].insert(out).second || readers[from].size() > 1;
        for (int from : sources[inner.inputs[0]]) chain = chain || products.count(from);
        tail = tail || op.block->tensors[inner.inputs[0]].shape.back() % 16 != 0;
      }
      ++block_operators[std::string(graph::name(inner.kind))];
      matmul = matmul || inner.kind == OpKind::matmul;
    }
  }
  chains += chain, with_tail += tail, with_reread += reread;
  with_matmul += matmul, with_prime += primes, with_loop += loop, with_strides += strides;
}

std::string Coverage::table() const {
  std::string text = fmt::format(
      "{} graphs: {} with a matmul, {} with a prime dimension, {} with a loop, {} with strides that "
      "are not row-major\n",
      graphs, with_matmul, with_prime, with_loop, with_strides);
  text += fmt::format(
      "products in a block: {} graphs with one whose left operand is made of another's result, {} with a K "
      "that 16 "
      "does not divide, {} with a value that several products read\n",
      chains, with_tail, with_reread);
  const auto list = [&](const char* what, const std::map<std::string, int>& counts) {
    text += fmt::format("{}:", what);
    for (const auto& [name, n] : counts) text += fmt::format(" {} {}", name, n);
    text += "\n";
  };
  list("dtypes", dtypes);
  list("threads of a block", threads);
  list("rank of a custom operator's first tile", ranks);
  list("kernel-level operators", kernel_operators);
  list("block-level operators", block_operators);
  return text;
}

std::string Coverage::shortfall() const {
  std::string text;
  const auto half = [&](const char* what, int n) {
    if (2 * n < graphs) text += fmt::format("only {} of {} graphs have {}; ", n, graphs, what);
  };
  half("a matmul", with_matmul);
  half("a prime dimension", with_prime);
  half("a loop", with_loop);
  half("strides that are not row-major", with_strides);
  const auto tenth = [&](const char* what, int n) {
    if (10 * n < graphs) text += fmt::format("only {} of {} graphs have {}; ", n, graphs, what);
  };
  tenth("a chain of products", chains);
  tenth("a K tail", with_tail);
  tenth("a value that several products read", with_reread);
  for (const OpKind kind : graph::all_ops()) {
    if (graph::is_collective(kind)) continue;  // tests/ranks/ranks.hpp draws them
    const std::string name(graph::name(kind));
    const auto count = [&](const std::map<std::string, int>& of, const char* level) {
      const auto found = of.find(name);
      const int n = found == of.end() ? 0 : found->second;
      if (n * 2000LL < 40LL * graphs) text += fmt::format("{} at the {} level is there {} times; ", name, level, n);
    };
    if (graph::info(kind).kernel) count(kernel_operators, "kernel");
    if (graph::info(kind).block) count(block_operators, "block");
  }
  return text;
}

}  // namespace zellige::random_graphs
