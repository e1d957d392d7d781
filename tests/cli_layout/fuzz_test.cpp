// Slightly malformed expressions: the result is always a value or one Error, quickly.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "view/access.hpp"
#include "view/expression.hpp"
#include "view/layout_picture.hpp"

namespace zellige::view {
namespace {

const std::vector<std::string> seeds = {
    "logical_divide((8,8):(8,1), (2,2))",
    "Sw<3,3,3> o _0 o (_8,_64):(_64,_1)",
    "upcast<4>(composition(complement(_4:_2, _24), _6:_1))",
    "local_tile(identity((256,64)), (_64,_32), (1,_))",
    "tile_to_shape(Layout_K_SW128_Atom<half_t>{}, (_128,_64))",
    "slice(((1,_),_), ((2,4),8):((1,16),2))",
    "ArithTuple(0,_0) o (4,5):(_1@0,7@1@0)",
    "idx2crd(17, (4,(3,2)), (1,(4,12)))",
    "recast_layout<int4_t,half_t>((_8,_64):(_64,_1))",
    "raked_product((2,5):(5,1), (3,4):(1,3))(2)(_,1)",
    "left_inverse(Sw<2,3,3> o (_8,_32):(_32,_1))",
    "print_layout((4,4):(1,_4))",
    "counting_iter(42) o 8:2",
    "append<4>((2,(3,4),5), _1)",
    "tiled_mma_thrfrg(SM80_16x8x16_F32F16F16F32_TN, (_2,_2,_1):(_1,_2,_0), (_,_,_), A, (_64,_32))",
    "tma_copy(SM90_TMA_LOAD, half_t, (_128,_256):(_1,_128), (_128,_256):(_1,_128), (_128,_256), _1)",
};
const char* const pieces[] = {"(",
                              ")",
                              ",",
                              ":",
                              "_",
                              "0",
                              "-1",
                              "63",
                              "99999999999999999",
                              "@0",
                              " o ",
                              "Sw<0,0,0>",
                              "<2>",
                              "()",
                              "{",
                              "E<0,1>",
                              "smem_ptr[16b](unset)",
                              "composition",
                              "half_t",
                              "((((",
                              "ArithTuple"};

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}
  std::size_t below(std::size_t n) { return random_() % n; }
  std::string mutated(std::string s) {
    for (std::size_t i = 0, n = 1 + below(3); i < n; ++i) {
      const std::size_t at = below(s.size() + 1);
      switch (below(3)) {
        case 0:
          s.insert(at, pieces[below(std::size(pieces))]);
          break;
        case 1:
          s.erase(std::min(at, s.size()), 1 + below(4));
          break;
        default:
          s = s.substr(0, at) + seeds[below(seeds.size())].substr(below(8));
      }
    }
    return s;
  }

 private:
  std::mt19937 random_;
};

TEST(Fuzz, NearlyRightExpressionsAreEvaluatedOrRefused) {
  Mutator m(1);
  int evaluated = 0, refused = 0;
  for (int i = 0; i < 6000; ++i) {
    const std::string text = m.mutated(seeds[m.below(seeds.size())]);
    SCOPED_TRACE(text);
    try {
      const Result r = evaluate_expression(text);
      ++evaluated;
      PictureOptions o;
      o.colouring = static_cast<Colouring>(i % 3);
      if (r.value.is_layout() || r.value.is(ValueKind::composed)) svg(layout_picture(r.value, text, o));
    } catch (const Error& e) {
      ++refused;
      EXPECT_GT(std::string(e.what()).size(), 10u);
    }
  }
  EXPECT_GT(evaluated, 60);
  EXPECT_GT(refused, 3000);
}

TEST(Fuzz, AnyOperationOnAnyOperandsAnswers) {
  Mutator m(2);
  const char* const operands[] = {"4",
                                  "_0",
                                  "(4,8)",
                                  "(8,8):(8,1)",
                                  "4:0",
                                  "_1:_0",
                                  "Sw<2,3,3>",
                                  "_",
                                  "(_,3)",
                                  "((2,2),4)",
                                  "half_t",
                                  "()",
                                  "7@1@0",
                                  "(4:1,2:1)",
                                  "-3",
                                  "(2,3):(3,1)",
                                  "K",
                                  "SW128",
                                  "(1,(2,3))",
                                  "64",
                                  "Sw<2,3,3> o _0 o (_8,_32):(_32,_1)",
                                  "A",
                                  "ArithTuple(0,_0) o (4,5):(_1@0,_1@1)"};
  int results = 0;
  for (const Operation& o : operations()) {
    for (int i = 0; i < 40; ++i) {
      nlohmann::json record = {{"id", i}, {"op", o.id}, {"args", nlohmann::json::array()}};
      for (std::size_t n = m.below(5); n > 0; --n) record["args"].push_back(operands[m.below(std::size(operands))]);
      SCOPED_TRACE(record.dump());
      const auto answer = nlohmann::json::parse(answer_record(record.dump()).line);
      EXPECT_NE(answer.contains("result"), answer.contains("error"));
      results += answer.contains("result");
    }
  }
  EXPECT_GT(results, 100);
}

TEST(Fuzz, NearlyRightAccessesAreCountedOrRefused) {
  Mutator m(3);
  const std::vector<std::string> accesses = {"ldmatrix.x4.trans", "ld.shared.v4.b32 32:1", "st.shared.u16",
                                             "stmatrix.x2 (0,8,_)", "((4,8),(2,2)):((32,1),(16,8))"};
  const std::vector<std::string> layouts = {"(32,32):(32,1)", "Sw<3,3,3> o (64,64):(64,1)", "((8,2),64):((64,512),1)",
                                            "(16,16):(1,24)"};
  int counted = 0;
  for (int i = 0; i < 1500; ++i) {
    const std::string layout =
        m.below(3) ? layouts[m.below(layouts.size())] : m.mutated(layouts[m.below(layouts.size())]);
    const std::string access =
        m.below(2) ? accesses[m.below(accesses.size())] : m.mutated(accesses[m.below(accesses.size())]);
    SCOPED_TRACE(layout + " under " + access);
    try {
      const SharedLayout l(evaluate_expression(layout).value, m.below(2) ? 16 : 4);
      const WarpPattern a = parse_access(access, l);
      const Conflicts c = conflicts(a, l);
      EXPECT_GE(c.wavefronts, c.ideal);
      ++counted;
    } catch (const Error&) {
    }
  }
  EXPECT_GT(counted, 30);
}

}  // namespace
}  // namespace zellige::view
