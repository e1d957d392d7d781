// Handles that many threads create, use and free concurrently. Without the emulator, whose fibers
// ThreadSanitizer does not support, so that it can check everything:
//
//   cmake --preset tsan && cmake --build build-tsan --target test_api_threads && ctest --test-dir build-tsan -R api_threads
#include <array>
#include <atomic>
#include <random>
#include <thread>

#include "floats.hpp"
#include "launch.hpp"

namespace {

constexpr int threads = 4, rounds = 60;
constexpr const char *graph_freed = "graph: expected a live zellige_graph, found one that was freed",
                     *program_freed = "program: expected a live zellige_program, found one that was freed";

/// What came of all calls.
struct Tally {
  std::atomic<int> computed = 0, refused = 0;
};

zellige_graph* new_graph() {
  zellige_graph* made = nullptr;
  EXPECT_EQ(zellige_graph_from_json(scaled, "g", &made), ZELLIGE_OK) << zellige_last_error();
  return made;
}
zellige_options options_on(zellige_on on) {
  zellige_options options{};
  options.size = sizeof options, options.on = on, options.target = "sm_90a";
  return options;
}
/// NULL where the graph was freed meanwhile.
zellige_program* new_program(zellige_graph* graph, zellige_on on) {
  const zellige_options options = options_on(on);
  zellige_program* made = nullptr;
  if (zellige_program_new(graph, &options, &made)) EXPECT_STREQ(zellige_last_error(), graph_freed);
  return made;
}

/// A call computes, or is refused since the program was freed.
void call(zellige_program* program, float seed, Tally& tally) {
  Floats x, y;
  for (int i = 0; i < 32; ++i) x.values[i] = seed + static_cast<float>(i), y.values[i] = -1;
  const zellige_tensor in = x.tensor(), out = y.tensor();
  if (zellige_program_call(program, &in, 1, &out, 1, nullptr)) {
    EXPECT_STREQ(zellige_last_error(), program_freed);
    ++tally.refused;
    return;
  }
  for (int i = 0; i < 32; ++i) EXPECT_EQ(y.values[i], 3 * x.values[i]);
  ++tally.computed;
}
void launch(zellige_program* program, std::uintptr_t stream, Tally& tally) {
  void *in[] = {address(0x1000)}, *out[] = {address(0x2000)};
  if (zellige_program_launch(program, in, out, nullptr, address(stream))) {
    EXPECT_STREQ(zellige_last_error(), program_freed);
    ++tally.refused;
    return;
  }
  ++tally.computed;
}
void ask(zellige_program* program) {
  char* text = nullptr;
  if (zellige_program_text(program, ZELLIGE_MANIFEST, &text) == ZELLIGE_OK) {
    EXPECT_EQ(std::string(text).substr(0, 1), "{");
    zellige_text_free(text);
  } else {
    EXPECT_STREQ(zellige_last_error(), program_freed);
  }
  const int inputs = zellige_program_inputs(program);
  EXPECT_TRUE(inputs == 1 || inputs == -1) << inputs;
}

void at_once(const std::function<void(int)>& work) {
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) all.emplace_back(work, t);
  for (std::thread& t : all) t.join();
}

class Threads : public Launch {};

TEST_F(Threads, EachMakesRunsAndFreesItsOwn) {
  Tally tally;
  at_once([&](int t) {
    for (int i = 0; i < rounds / 4; ++i) {
      zellige_graph* const graph = new_graph();
      zellige_program* const program = new_program(graph, ZELLIGE_ON_REFERENCE);
      zellige_graph_free(graph);
      call(program, static_cast<float>(100 * t + i), tally);
      ask(program);
      zellige_program_free(program);
      call(program, 0, tally);
    }
  });
  EXPECT_EQ(tally.computed, threads * (rounds / 4));
  EXPECT_EQ(tally.refused, threads * (rounds / 4));
}

/// Handles that all threads see: one after another is replaced and its object freed while others use it.
void share(zellige_on on, const std::function<void(zellige_program*, std::mt19937&, Tally&)>& use) {
  std::array<std::atomic<zellige_program*>, 3> shared;
  zellige_graph* const graph = new_graph();
  for (auto& s : shared) s = new_program(graph, on);
  Tally tally;
  at_once([&](int t) {
    std::mt19937 random(static_cast<unsigned>(t));
    for (int i = 0; i < rounds; ++i) {
      auto& slot = shared[random() % shared.size()];
      if (random() % 6 == 0) {
        zellige_program* const old = slot.exchange(new_program(graph, on));
        zellige_program_free(old);
        if (random() % 2) zellige_program_free(old);
      } else {
        use(slot.load(), random, tally);
      }
      ask(slot.load());
    }
  });
  for (auto& s : shared) zellige_program_free(s);
  zellige_graph_free(graph);
  EXPECT_GT(tally.computed, 0);
}

TEST_F(Threads, AProgramIsFreedWhileItRunsOnTheHost) {
  share(ZELLIGE_ON_REFERENCE, [](zellige_program* p, std::mt19937& random, Tally& tally) {
    call(p, static_cast<float>(random() % 100), tally);
  });
}

TEST_F(Threads, AProgramIsFreedWhileItIsLaunched) {
  share(ZELLIGE_ON_GPU,
        [](zellige_program* p, std::mt19937& random, Tally& tally) { launch(p, 1 + random() % 3, tally); });
  EXPECT_EQ(gpu().modules_unloaded, gpu().modules_loaded);
}

TEST_F(Threads, AGraphIsFreedWhileProgramsAreMadeOfIt) {
  std::atomic<zellige_graph*> shared = new_graph();
  Tally tally;
  at_once([&](int t) {
    for (int i = 0; i < rounds / 4; ++i) {
      if (t == 0) {
        zellige_graph_free(shared.exchange(new_graph()));
      } else if (zellige_program* const made = new_program(shared, ZELLIGE_ON_REFERENCE)) {
        call(made, static_cast<float>(i), tally);
        zellige_program_free(made);
      }
    }
  });
  zellige_graph_free(shared);
  EXPECT_GT(tally.computed, 0);
}

TEST_F(Threads, OneHandleIsFreedByOneThreadAlone) {
  for (int i = 0; i < rounds; ++i) {
    zellige_graph* const graph = new_graph();
    char* text = nullptr;
    ASSERT_EQ(zellige_layout("4:1", &text), ZELLIGE_OK);
    std::atomic<int> graphs = 0;
    at_once([&](int) {
      char* none;
      zellige_layout(nullptr, &none);
      zellige_graph_free(graph);
      graphs += std::string(zellige_last_error()) != graph_freed;
      zellige_text_free(text);
    });
    EXPECT_EQ(graphs, 1);
  }
}

}  // namespace
