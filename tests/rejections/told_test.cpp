// Reports of rejected plans: on stderr and in --json from the command line, as a string from the C ABI.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <zellige/api.h>

#include <cstdlib>

#include "cli/command.hpp"
#include "system/files.hpp"

namespace {

using Told = Command;

constexpr bool stops =
#ifdef NDEBUG
    false;
#else
    true;
#endif

const std::string examples = std::string(ZELLIGE_SOURCE_DIR) + "/examples/";
constexpr const char* dropped =
    "1 of Zellige's own plans rejected by the proof and dropped, the result is of another plan: "
    "attention_k0: a rejection was injected";
constexpr const char* failed =
    "Zellige's own plan is wrong, rejected by the proof: attention_k0: a rejection was injected";

/// Selects the plans rejected by processes started during its lifetime.
struct Rejecting {
  explicit Rejecting(const char* which) { setenv("ZELLIGE_INJECTED", which, 1); }
  ~Rejecting() { unsetenv("ZELLIGE_INJECTED"); }
};

TEST_F(Told, TheOnlyPlanFailsARun) {
  const Rejecting all("all");
  const auto f = run({"run", examples + "attention.json", "--as-given", "--on", "emulator", "--json", path("out")});
  EXPECT_EQ(f.status, 1) << f.output;
  EXPECT_NE(f.output.find(std::string("failed")), std::string::npos) << f.output;
  EXPECT_NE(f.output.find(failed), std::string::npos) << f.output;
  const std::string json = zellige::system::read_whole(path("out"));
  EXPECT_NE(json.find(R"("status":"failed")"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("rejected":["attention_k0: a rejection was injected"])"), std::string::npos) << json;
}

TEST_F(Told, TheOnlyPlanFailsACompilation) {
  const Rejecting all("all");
  for (const char* command : {"transpile", "optimize"}) {
    const auto f = run({command, examples + "attention.json", "-o", path("out")});
    EXPECT_EQ(f.status, 1) << f.output;
    EXPECT_EQ(f.output, std::string("zellige: ") + failed + "\n");
  }
}

TEST_F(Told, AnotherPlanRuns) {
  if (stops) GTEST_SKIP() << "this build stops at the first rejection";
  const Rejecting first("1");
  const auto f = run({"run", examples + "attention.json", "--as-given", "--tiling", "chosen", "--on", "emulator",
                      "--json", path("out")});
  EXPECT_EQ(f.status, 0) << f.output;
  EXPECT_NE(f.output.find(std::string("zellige: attention: ") + dropped + "\n"), std::string::npos) << f.output;
  const std::string json = zellige::system::read_whole(path("out"));
  EXPECT_NE(json.find(R"("status":"correct")"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("rejected":["attention_k0: a rejection was injected"])"), std::string::npos) << json;
}

TEST_F(Told, NoRejectionIsAnEmptyList) {
  const auto f = run({"run", examples + "attention.json", "--on", "reference", "--json", path("out")});
  EXPECT_EQ(f.status, 0) << f.output;
  EXPECT_NE(zellige::system::read_whole(path("out")).find(R"("rejected":[])"), std::string::npos);
}

/// The functions of the library with the modified verifier.
struct Library {
  void* handle = dlopen(ZELLIGE_INJECTED_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  ~Library() { dlclose(handle); }
  template <class F>
  F* get(const char* name) const {
    return reinterpret_cast<F*>(dlsym(handle, name));
  }
};

TEST_F(Told, ByTheAbi) {
  const Library library;
  ASSERT_NE(library.handle, nullptr) << dlerror();
  const auto make = library.get<decltype(zellige_program_new)>("zellige_program_new");
  const auto text = library.get<decltype(zellige_program_text)>("zellige_program_text");
  const std::string json = zellige::system::read_whole(examples + "attention.json");
  zellige_graph* graph = nullptr;
  ASSERT_EQ(
      library.get<decltype(zellige_graph_from_json)>("zellige_graph_from_json")(json.c_str(), "attention", &graph),
      ZELLIGE_OK);
  zellige_options options{};
  options.size = sizeof options, options.target = "sm_90a", options.tiling = "chosen", options.as_given = 1;
  zellige_program* program = nullptr;
  {
    const Rejecting all("all");
    EXPECT_EQ(make(graph, &options, &program), ZELLIGE_FAILED);
    EXPECT_STREQ(library.get<decltype(zellige_last_error)>("zellige_last_error")(), failed);
  }
  if (!stops) {
    const Rejecting first("1");
    ASSERT_EQ(make(graph, &options, &program), ZELLIGE_OK);
    char* rejected = nullptr;
    ASSERT_EQ(text(program, ZELLIGE_REJECTED, &rejected), ZELLIGE_OK);
    EXPECT_STREQ(rejected, "attention_k0: a rejection was injected");
    library.get<decltype(zellige_text_free)>("zellige_text_free")(rejected);
    library.get<decltype(zellige_program_free)>("zellige_program_free")(program);
  }
  library.get<decltype(zellige_graph_free)>("zellige_graph_free")(graph);
}

}  // namespace
