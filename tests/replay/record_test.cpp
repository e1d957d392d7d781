// Records and their files: reading returns what was written, works are equal within 2%, and any other
// difference is reported.
#include "record.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "graph/error.hpp"
#include "heap.hpp"
#include "json/json.hpp"

namespace zellige::replay {
namespace {

Record lora(const char* target, Counters counters) {
  return record(json::load(ZELLIGE_SOURCE_DIR "/examples/lora.json").front(), "lora", target::find(target), Way::given,
                counters);
}

const std::string of_two =
    "a sm_80 given: source 0123456789abcdef, work 100\n"
    "  a_k0: source 00000000deadbeef, 1.5 us, 0 bytes, barrier 2\n"
    "  a_k1: source 00000000deadbeef, 2.5 us, 16 bytes, \n"
    "b sm_80 given: source none, work 7\n"
    "  refused: it is too large\n";

TEST(Record, HasEachKernelWithItsCostSharedMemoryAndCounters) {
  const Record r = lora("sm_80", Counters::listed);
  EXPECT_EQ(r.key, "lora sm_80 given");
  EXPECT_GT(r.work, 1000u);
  EXPECT_NE(r.kernels.find("_k0: source "), r.kernels.npos) << r.kernels;
  EXPECT_NE(r.kernels.find(" us, "), r.kernels.npos) << r.kernels;
  EXPECT_NE(r.kernels.find(" bytes, mma "), r.kernels.npos) << r.kernels;
  EXPECT_EQ(r.str(), read(r.str()).at(0).str());
}

TEST(Record, OfTheSameGraphIsTheSame) {
  lora("sm_90a", Counters::hashed);  // takes what a process makes once, too
  const Record r = lora("sm_90a", Counters::hashed), again = lora("sm_90a", Counters::hashed);
  EXPECT_EQ(r.source, again.source);
  EXPECT_EQ(r.kernels, again.kernels);
  EXPECT_TRUE(same_work(r.work, again.work)) << r.work << " and " << again.work;
}

TEST(Record, IsReadAsItWasWritten) {
  const std::vector<Record> records = read(of_two);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].str() + records[1].str(), of_two);
  EXPECT_EQ(records[1].kernels, "  refused: it is too large\n");
}

TEST(Record, ThatIsNoneIsRefused) {
  for (const auto& [text, message] : {std::pair{"  a_k0: source 1\n", "a kernel without a graph:   a_k0: source 1\n"},
                                      std::pair{"a sm_80\n", "expected KEY: source HASH, work N, found a sm_80\n"},
                                      std::pair{"a: source 1, work x\n", "expected a number after 'work', found x\n"}})
    try {
      read(text);
      ADD_FAILURE() << text;
    } catch (const Error& e) {
      EXPECT_STREQ(e.what(), message);
    }
}

TEST(Work, IsTheSameWithinTwoPercent) {
  EXPECT_TRUE(same_work(100, 102));
  EXPECT_TRUE(same_work(102, 100));
  EXPECT_FALSE(same_work(100, 103));
  EXPECT_FALSE(same_work(103, 100));
  EXPECT_FALSE(same_work(0, 1));
}

TEST(Work, CountsWhatIsTakenFromTheHeap) {
  const std::uint64_t before = heap_blocks();
  const std::vector<int> block(1000, 1);
  EXPECT_EQ(heap_blocks(), before + 1) << block.size();
}

struct Kept : testing::Test {
  std::string path = testing::TempDir() + "/golden.txt";
  Golden golden{path};
  Kept() {
    for (const Record& r : read(of_two)) golden.put(r);
  }
  Record a() const { return read(of_two).at(0); }
};

TEST_F(Kept, EveryDifferenceIsSeen) {
  EXPECT_EQ(golden.compare(a()), "");
  Record r = a();
  r.work = 102;
  EXPECT_EQ(golden.compare(r), "");
  r.work = 103;
  EXPECT_EQ(golden.compare(r), "kept: " + a().str() + "now:  " + r.str());
  r = a(), r.source[0] = 'f';
  EXPECT_NE(golden.compare(r), "");
  r = a(), r.kernels.replace(r.kernels.find("1.5 us"), 3, "1.6");
  EXPECT_NE(golden.compare(r), "");
  r = a(), r.key = "c sm_80 given";
  EXPECT_EQ(golden.compare(r), "c sm_80 given: " + path + " has no such record");
}

TEST_F(Kept, AnEqualWorkIsKept) {
  Record r = a();
  r.work = 102, r.source = "new";
  golden.put(r);
  r.work = 103;
  EXPECT_NE(golden.compare(r), "") << "the work kept is 100, however often it grew by less";
  r.work = 100;
  EXPECT_EQ(golden.compare(r), "");
}

TEST_F(Kept, TheFileHasTheOrderOfTheKeys) {
  golden.keep({"b sm_80 given", "a sm_80 given", "c sm_80 given"});
  golden.write();
  const Golden again(path);
  EXPECT_EQ(again.size(), 2u);
  EXPECT_EQ(again.compare(a()), "");
  golden.keep({"b sm_80 given"});
  EXPECT_NE(golden.compare(a()), "");
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace zellige::replay
