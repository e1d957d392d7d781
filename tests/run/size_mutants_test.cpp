// Faults at one value of a size only: each is injected in a right program, at one, at one less and one more than a multiple of the
// tiles, and at the largest value, and found there by the emulator or by the result.
//
// In the source, each use of the size is called by a function that gives a wrong number at one value; which one, an environment
// variable says when the compiled library is loaded, so that a program is compiled once for all its faults.
#include <cstdlib>
#include <regex>

#include "size_families.hpp"

namespace zellige::run {
namespace {

/// The families whose sizes need not be multiples of the tiles, of few rows.
std::vector<Family> ragged() {
  std::vector<Family> all;
  for (Family f : families()) {
    if (f.size.multiple > 1 || f.size.name != "T") continue;
    f.size.high = f.tiling.empty() ? f.size.high : 128;
    all.push_back(std::move(f));
  }
  return all;
}

/// Returns the source in which use i of the size is injected(i, nT); sets `sites` to their number.
std::string injected(const std::string& source, int& sites) {
  const std::size_t host = source.find("#if defined(ZELLIGE_EMULATE)"), begin = source.find("using namespace zellige;");
  const std::string kernels = source.substr(begin, host - begin);
  std::string text = R"(#include <cstdio>
#include <cstdlib>
static int planted_of[3];  // the site, the value at which it is wrong, and by how much
static const bool planted_is_read = [] {
  const char* text = std::getenv("ZELLIGE_PLANTED_SIZE");
  return text && std::sscanf(text, "%d %d %d", &planted_of[0], &planted_of[1], &planted_of[2]) == 3;
}();
static int injected(int site, int n) {
  return planted_is_read && site == planted_of[0] && n == planted_of[1] ? n + planted_of[2] : n;
}
)";
  const std::regex use("(int )?\\bnT\\b");
  std::string rest;
  sites = 0;
  std::sregex_iterator at(kernels.begin(), kernels.end(), use), end;
  std::size_t from = 0;
  for (; at != end; ++at) {
    rest += kernels.substr(from, static_cast<std::size_t>(at->position()) - from);
    rest += (*at)[1].matched ? at->str() : fmt::format("injected({}, nT)", sites++);
    from = static_cast<std::size_t>(at->position() + at->length());
  }
  return source.substr(0, begin) + text + rest + kernels.substr(from) + source.substr(host);
}

/// Returns whether a run finds a fault: by a finding, an exception, or an output that is not `right`.
bool found(const std::string& source, const manifest::Manifest& m, const std::vector<reference::Array>& inputs,
           const Ran& right, const toolchain::Cache& cache) {
  std::vector<Bytes> storage;
  for (const manifest::TensorPlace& t : m.tensors)
    storage.push_back(t.role == manifest::Role::input ? pack(t, inputs.at(static_cast<std::size_t>(t.position)).values)
                                                      : poisoned(t));
  try {
    if (!run_emulated(source, m, storage, cache, 2).findings.empty()) return true;
  } catch (const std::exception&) {  // such as a descriptor that reaches beyond its tensor
    return true;
  }
  for (std::size_t t = 0; t < m.tensors.size(); ++t)
    if (m.tensors[t].role == manifest::Role::output && storage[t] != right.storage[t]) return true;
  return false;
}

/// One, one less and one more than a multiple of the tiles, and the largest value.
std::set<std::int64_t> places(const tile::Size& s) {
  std::set<std::int64_t> all{1, 15, 17, 63, s.high};
  std::erase_if(all, [&](std::int64_t n) { return n > s.high; });
  return all;
}

/// Returns what may be wrong at a value: one more than a multiple of the tiles is seen by no block.
std::vector<int> faults(const tile::Size& s, std::int64_t n) {
  return n == s.high ? std::vector{-1} : std::vector{-1, 1};
}

/// How many faults were injected, and which were not found.
struct Tally {
  int all = 0;
  std::vector<std::string> missed;
};

/// Faults in the source: each use is one too small or too large at one value.
void plant_in_source(const Family& f, const emit::EmittedProgram& p, const toolchain::Cache& cache, Tally& tally) {
  int sites = 0;
  const std::string source = injected(p.source, sites);
  for (const std::int64_t n : places(f.size)) {
    const std::vector<reference::Array> inputs = inputs_of(f.graph(n));
    const std::int64_t at[] = {n};
    const manifest::Manifest launch = manifest::at_sizes(p.manifest, at);
    unsetenv("ZELLIGE_PLANTED_SIZE");
    const Ran right = ran(source, launch, inputs, cache);
    for (int site = 0; site < sites; ++site)
      for (const int by : faults(f.size, n)) {
        setenv("ZELLIGE_PLANTED_SIZE", fmt::format("{} {} {}", site, n, by).c_str(), 1);
        ++tally.all;
        if (!found(source, launch, inputs, right, cache))
          tally.missed.push_back(fmt::format("{} on {}: use {} by {} at {}", f.name, f.target, site, by, n));
      }
  }
  unsetenv("ZELLIGE_PLANTED_SIZE");
}

/// Faults in the manifest: each number that a size decides is one too small or too large at one value.
void plant_in_manifest(const Family& f, const emit::EmittedProgram& p, const toolchain::Cache& cache, Tally& tally) {
  for (const std::int64_t n : places(f.size)) {
    const std::vector<reference::Array> inputs = inputs_of(f.graph(n));
    const std::int64_t at[] = {n};
    const manifest::Manifest launch = manifest::at_sizes(p.manifest, at);
    const Ran right = ran(p.source, launch, inputs, cache);
    for (const auto& [field, is] : p.manifest.sized)
      for (const int by : faults(f.size, n)) {
        using enum manifest::SizedField::Kind;
        if (field.kind != scalar && field.kind != map_extent && (field.kind != grid || by > 0)) continue;
        manifest::Manifest wrong = p.manifest;
        wrong.sized.at(field) = tile::SizeExpression(is.at(at) + by);
        ++tally.all;
        try {
          const manifest::Manifest injected = manifest::at_sizes(wrong, at);
          if (!found(p.source, injected, inputs, right, cache))
            tally.missed.push_back(fmt::format("{} on {}: {} of kind {} by {} at {}", f.name, f.target,
                                               is.text(p.manifest.sizes), static_cast<int>(field.kind), by, n));
        } catch (const Error&) {  // refused before the launch
        }
      }
  }
}

TEST(SizeMutants, AreFoundAtTheOneValueWhereTheyAreWrong) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  Tally tally;
  for (const Family& f : ragged()) {
    plan::PlanOptions o = options(f, false);
    const target::Target& target = target::find(f.target);
    o.sizes = {f.size};
    const emit::EmittedProgram p = test::transpile(f.graph(f.size.high), target, o);
    plant_in_source(f, p, cache, tally);
    plant_in_manifest(f, p, cache, tally);
  }
  EXPECT_GE(tally.all, 200);
  for (const std::string& m : tally.missed) ADD_FAILURE() << m << " was not found";
}

}  // namespace
}  // namespace zellige::run
