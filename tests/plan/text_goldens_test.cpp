// The kernels of two examples, whole: what a reader of the emitted text sees.
#include <gtest/gtest.h>

#include "emit/emit.hpp"
#include "golden.hpp"
#include "graphs.hpp"

namespace zellige::plan {
namespace {

TEST(EmittedText, Lora) {
  expect_golden("lora.cu", emit::transpile(example("lora"), target::find("sm_80")).source);
}

TEST(EmittedText, Attention) {
  expect_golden("attention.cu", emit::transpile(example("attention"), target::find("sm_80")).source);
}

}  // namespace
}  // namespace zellige::plan
