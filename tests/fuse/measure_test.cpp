// Rewriting ends: the measure of a level falls with each application, one that does not lower it is taken back and
// reported, and the watch ends it. And rules that look through a step see whether others see it rounded.
#include "rewrite/measure.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "fuse/fuse.hpp"
#include "graph/builder.hpp"
#include "graph/infer.hpp"
#include "rewrite/rewrite.hpp"
#include "rules/table.hpp"
#include "run/run.hpp"

namespace zellige::fuse {
namespace {

using graph::Builder;
using graph::DType;
using graph::TensorHandle;

std::string kinds(const graph::KernelGraph& g) {
  std::string all;
  for (const graph::KernelOp& op : g.ops) all += (all.empty() ? "" : " ") + std::string(graph::name(op.kind));
  return all;
}

/// A graph of one input, with these results.
template <class Body>
graph::KernelGraph of(DType dtype, const Body& body, graph::Shape shape = {4, 8}) {
  Builder b("g");
  body(b, b.input("x", std::move(shape), dtype));
  return b.build();
}

std::string normal_form(graph::KernelGraph g, std::vector<std::string> told = {}) {
  std::vector<std::string> faults;
  rewrite::rewrite(rules::Level::normal, g, {}, faults);
  graph::validate(g);
  EXPECT_EQ(faults, told);
  return kinds(g);
}

TEST(Measure, FallsToAGraphOnceAndNotToALargeOne) {
  const graph::KernelGraph one = of(DType::f32, [](Builder&b, TensorHandle x) { b.output(exp(x), "y"); }),
                           two = of(DType::f32, [](Builder&b, TensorHandle x) { b.output(exp(-x), "y"); });
  rewrite::Measure left(one);
  EXPECT_FALSE(left.falls_to(one));
  EXPECT_TRUE(left.falls_to(two));
  EXPECT_FALSE(left.falls_to(two));
  EXPECT_FALSE(left.falls_to(of(DType::f32, [&](Builder& b, TensorHandle x) {
    for (std::size_t i = 0; i <= left.max_operators(); ++i) x = exp(x);
    b.output(x, "y");
  })));
}

TEST(Measure, IsOfGraphsWhateverTheNumbersAndNamesOfTheirTensors) {
  graph::KernelGraph g = of(DType::f32, [](Builder& b, TensorHandle x) { b.output(exp(-x), "y"); });
  rewrite::Measure left(g);
  std::swap(g.tensors[1], g.tensors[2]);
  for (graph::KernelOp& op : g.ops)
    for (std::vector<int>* list : {&op.inputs, &op.outputs})
      for (int& t : *list) t = t == 0 ? 0 : 3 - t;
  g.outputs = {1};
  g.tensors[2].name = "another";
  EXPECT_FALSE(left.falls_to(g));
}

TEST(Rules, ThatUndoEachOtherAreAFault) {
  const rules::RewriteRule<int> table[] = {
      {rules::Level::normal, "up", "it is even", [](int& i) { return i % 2 == 0 && (++i, true); }},
      {rules::Level::normal, "down", "it is odd", [](int& i) { return i % 2 != 0 && (--i, true); }},
  };
  int form = 0;
  try {
    rules::rewrite(table, rules::Level::normal, form);
    ADD_FAILURE() << "no fault";
  } catch (const Fault& e) {
    EXPECT_STREQ(e.what(), "rules of the level normal undo each other: up was applied after 10000 others");
  }
}

std::optional<int> doubled(const int& i) { return i < 100 ? std::optional(2 * i) : std::nullopt; }
std::optional<int> odd(const int& i) { return i == 1 ? std::optional(3) : std::nullopt; }

TEST(Rules, WhoseResultIsNotTakenLeaveTheFormToTheNext) {
  const rules::RewriteRule<int> table[] = {{rules::Level::normal, "doubled", "", doubled},
                                           {rules::Level::normal, "odd", "", odd}};
  const auto taken = [](const auto&, int, int made) { return made % 2 != 0; };
  int form = 1, asked = 0;
  EXPECT_TRUE(rules::rewrite_if(table, rules::Level::normal, form, taken, [&] { return ++asked < 10; }));
  EXPECT_EQ(std::pair(form, asked), std::pair(3, 1));
  int all = 1;
  EXPECT_TRUE(rules::rewrite_if(
      table, rules::Level::normal, all, [](const auto&...) { return true; }, [&] { return all < 5; }));
  EXPECT_EQ(all, 8);
}

TEST(Rules, EndWhereTheWatchEndsThem) {
  graph::KernelGraph g =
      of(DType::f32, [](Builder& b, TensorHandle x) { b.output(square(pow(x / 8.0, 2.0)) * -1.0, "y"); });
  std::vector<std::string> faults;
  int calls = 0;
  EXPECT_TRUE(rewrite::rewrite(
      rules::Level::normal, g, [&](const rewrite::Progress& p) { return ++calls, p.phase != "rules applied"; },
      faults));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(kinds(g), "div square square mul_scalar");
}

// Both orders, with one, both or none of them an output.
TEST(Rules, OfSoftmaxBesideItsLogarithmEnd) {
  for (const bool first : {false, true})
    for (const bool also : {false, true}) {
      const graph::KernelGraph g = of(DType::f32, [&](Builder& b, TensorHandle x) {
        const TensorHandle p = first ? softmax(x, 1) : log_softmax(x, 1), q = first ? log_softmax(x, 1) : softmax(x, 1);
        if (also) b.output(p, "p");
        b.output(q, "q");
        b.output(p * q, "y");
      });
      EXPECT_EQ(normal_form(g), "log_softmax exp mul") << first << also;
    }
}

TEST(Rules, ComputeOnceWhatIsAnOutputAndComputedBefore) {
  EXPECT_EQ(normal_form(of(DType::f32,
                           [](Builder& b, TensorHandle x) {
                             b.output(sin(exp(x)), "s");
                             b.output(exp(x), "e");
                             b.output(exp(x), "again");
                             b.output(cos(exp(x)), "c");
                           })),
            "exp sin exp cos");
  // 0 and -0 are not the same number.
  EXPECT_EQ(normal_form(of(DType::f32, [](Builder& b, TensorHandle x) { b.output(x / 0.0 + x / -0.0, "y"); })),
            "div div add");
}

/// Marks a tensor as an output, with a name of its own.
TensorHandle seen(Builder& b, TensorHandle t, const std::string& of, const char* name) {
  return b.output(t, of + "_" + name);
}

using Shown = void (*)(Builder&, const std::string& of, TensorHandle);
struct Step {
  const char* name;
  Shown body;                   // has the step and the result as outputs
  const char *narrow, *in_f32;  // the normal form in 16 bits and in float32
};
constexpr Step shown[] = {
    {"silu_of_sigmoid",
     [](Builder& b, const std::string& of, TensorHandle x) { seen(b, x * seen(b, sigmoid(x), of, "s"), of, "y"); },
     "sigmoid mul", "sigmoid silu"},
    {"silu_of_exp",
     [](Builder& b, const std::string& of, TensorHandle x) { seen(b, x / (seen(b, exp(-x), of, "e") + 1.0), of, "y"); },
     "neg exp add div", "neg exp silu"},
    {"sigmoid_of_exp",
     [](Builder& b, const std::string& of, TensorHandle x) {
       seen(b, pow(seen(b, exp(-x) + 1.0, of, "e"), -1.0), of, "y");
     },
     "neg exp add pow", "neg exp add sigmoid"},
    {"gelu_of_tanh",
     [](Builder& b, const std::string& of, TensorHandle x) {
       const TensorHandle cube = seen(b, square(x) * x, of, "cube");
       const TensorHandle one = tanh((x + cube * 0.044715) * 0.7978845608028654) + 1.0, half = x * 0.5;
       seen(b, one * half, of, "y");
     },
     "square mul mul_scalar add mul_scalar tanh add mul_scalar mul", "square mul gelu_tanh"},
    {"softmax_of_logsumexp",
     [](Builder& b, const std::string& of, TensorHandle x) {
       seen(b, exp(x - seen(b, logsumexp(x, 1, true), of, "l")), of, "y");
     },
     "logsumexp sub exp", "logsumexp sub exp"},
    {"two_factors",
     [](Builder& b, const std::string& of, TensorHandle x) { seen(b, seen(b, x * 0.3, of, "t") * 0.5, of, "y"); },
     "mul_scalar mul_scalar", "mul_scalar mul_scalar"},
};

TEST(Rules, SeeWhereAStepIsSeenRounded) {
  for (const Step& s : shown)
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
      const graph::KernelGraph g = of(dtype, [&](Builder& b, TensorHandle x) { s.body(b, "of", x); });
      EXPECT_EQ(normal_form(g), dtype == DType::f32 ? s.in_f32 : s.narrow) << s.name << " " << graph::name(dtype);
    }
}

// One program for each dtype, of all steps, each on an input of its own.
TEST(Rules, AreRightWhereAStepIsSeenRounded) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    Builder b("shown");
    for (const Step& s : shown) s.body(b, s.name, b.input(fmt::format("x_{}", s.name), {64, 256}, dtype));
    const run::RunResult r =
        run::run(b.build(), {.on = run::Machine::emulator, .compile = {.fuse = true}}, toolchain::Cache::standard());
    EXPECT_EQ(r.status, run::Status::correct) << graph::name(dtype) << ": " << run::summary(r);
  }
}

}  // namespace
}  // namespace zellige::fuse
