// Include cost: a light header does not include a heavy one, and device code no standard header.
#include <set>

#include "compiler.hpp"

namespace compile_test {
namespace {

/// The headers that a header includes, without itself; those of this project from "zellige/" on.
std::set<std::string> headers_of(std::string const& header) {
  Compiled const c = run(host + "-M", "includes.cpp", "#include <" + header + ">\n");
  EXPECT_EQ(c.status, 0) << c.output;
  std::set<std::string> found;
  std::istringstream words(c.output);
  for (std::string w; words >> w;) {
    if (w == "\\" || w.ends_with(".cpp") || w.ends_with(".o:")) continue;
    std::size_t const at = w.rfind("include/zellige/");
    found.insert(at == std::string::npos ? w : w.substr(at + 8));
  }
  return found;
}
std::string foreign(std::set<std::string> const& headers, std::initializer_list<char const*> allowed) {
  std::string found;
  for (std::string const& h : headers) {
    bool good = false;
    for (char const* a : allowed) good = good || h.find(a) != std::string::npos;
    if (!good) found += h + "\n";
  }
  return found;
}
bool has(std::set<std::string> const& headers, std::string const& end) {
  for (std::string const& h : headers) {
    if (h.ends_with(end)) return true;
  }
  return false;
}

TEST(Includes, LayoutDragsInNoTensor) {
  for (std::string const& h : headers_of("zellige/layout.hpp")) {
    EXPECT_EQ(h.find("zellige/tensor"), std::string::npos) << h;
    EXPECT_EQ(h.find("zellige/atom"), std::string::npos) << h;
  }
}
TEST(Includes, TensorDragsInNoInstruction) {
  for (std::string const& h : headers_of("zellige/tensor.hpp")) {
    EXPECT_EQ(h.find("zellige/atom"), std::string::npos) << h;
    EXPECT_EQ(h.find("zellige/block"), std::string::npos) << h;
    EXPECT_EQ(h.find("zellige/emulate"), std::string::npos) << h;
  }
}
TEST(Includes, NoStreamNoStringNoAlgorithm) {
  for (char const* header : {"zellige/layout.hpp", "zellige/tensor.hpp"}) {
    std::set<std::string> const all = headers_of(header);
    for (char const* heavy : {"/iostream", "/ostream", "/istream", "/string", "/vector", "/algorithm", "/tuple",
                              "/functional", "/memory", "/array"}) {
      EXPECT_FALSE(has(all, heavy)) << header << " includes " << heavy;
    }
  }
}
/// As seen by NVRTC, which has no standard library.
TEST(Includes, DeviceCodeHasNoStandardHeader) {
  for (char const* header : {"zellige/layout.hpp", "zellige/tensor.hpp"}) {
    std::string const text = "#define __CUDACC_RTC__ 1\n#include <" + std::string(header) + ">\n";
    Compiled const c = run(host + "-M", "device.cpp", text);
    EXPECT_EQ(c.status, 0) << c.output;
    std::set<std::string> found;
    std::istringstream words(c.output);
    for (std::string w; words >> w;) {
      if (w != "\\" && !w.ends_with(".o:") && !w.ends_with("device.cpp")) found.insert(w);
    }
    EXPECT_EQ(foreign(found, {"/zellige/", "stdc-predef.h"}), "") << header;
  }
}

}  // namespace
}  // namespace compile_test
