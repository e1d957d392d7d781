// The program of docs/tutorials/first-graph.md: X W + (X A) B as one kernel, written to lora.cu.
#include <fstream>

#include "graph/builder.hpp"
#include "run/compile.hpp"

using namespace zellige;

int main() {
  graph::Builder b("lora");
  auto X = b.input("X", {16, 256}), W = b.input("W", {256, 4096});
  auto A = b.input("A", {256, 16}), B = b.input("B", {16, 4096});
  auto Y = b.custom({.grid = {64}, .block = {128}}, [&](graph::BlockBuilder& t) {
    auto x = t.load(X), w = t.load(W, {.x = 1}), a = t.load(A), r = t.load(B, {.x = 1});
    t.store(matmul(x, w) + matmul(matmul(x, a), r), {.x = 1});  // grid x splits dimension 1 of the output
  });
  b.output(Y.at(0), "Y");
  std::ofstream("lora.cu") << run::transpile(b.build(), target::find("sm_90a")).source;
}
