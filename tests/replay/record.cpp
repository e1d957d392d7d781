#include "record.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>

#include "emit/emit.hpp"
#include "graph/error.hpp"
#include "heap.hpp"
#include "kernel/launches.hpp"
#include "predict/predict.hpp"
#include "run/compile.hpp"
#include "zellige/emulate/counter_names.hpp"

namespace zellige::replay {
namespace {

/// FNV-1a.
std::string hash(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (const unsigned char c : text) h = (h ^ c) * 0x100000001b3u;
  return fmt::format("{:016x}", h);
}

/// From the signature to the end of the body.
std::string_view kernel_of(std::string_view source, std::string_view name) {
  const std::size_t signature = source.find(fmt::format(" {}(", name), source.find("__global__"));
  if (signature == source.npos) fail("the source has no kernel {}", name);
  const std::size_t begin = source.rfind('\n', signature) + 1, end = source.find("\n}\n", begin);
  return source.substr(begin, end - begin);
}

/// For all programs of a launch; a counter that one of them does not predict is omitted.
predict::Counts counts_of(const plan::Plan& plan, const kernel::LaunchGroup& l) {
  predict::Counts sum = predict::predict(plan.kernels[l.first]);
  for (std::size_t k = l.first + 1; k < l.last; ++k) {
    const predict::Counts more = predict::predict(plan.kernels[k]);
    std::erase_if(sum, [&](const auto& count) { return !more.contains(count.first); });
    for (auto& [counter, n] : sum) n += more.at(counter);
  }
  return sum;
}

/// A count that is the least possible is not said twice: the emulator's names of those end in _ideal.
std::string listed(predict::Counts counts) {
  std::erase_if(counts, [&](const auto& ideal) {
    std::string_view name = emulate::name(ideal.first);
    if (!name.ends_with("_ideal")) return false;
    name.remove_suffix(std::string_view("_ideal").size());
    return std::ranges::any_of(
        counts, [&](const auto& c) { return emulate::name(c.first) == name && c.second == ideal.second; });
  });
  return predict::print(counts);
}

std::string kernels_of(const emit::EmittedProgram& p, Counters as) {
  std::string text;
  const std::vector<kernel::LaunchGroup> launches = kernel::launches(p.plan.kernels);
  for (std::size_t k = 0; k < launches.size(); ++k) {
    const manifest::KernelLaunch& launch = p.manifest.kernels[k];
    const predict::Counts counts = counts_of(p.plan, launches[k]);
    text += fmt::format("  {}: source {}, {:.9g} us, {} bytes, {}\n", launch.name,
                        hash(kernel_of(p.source, launch.name)), p.cost.kernels[k].us, launch.shared_bytes,
                        as == Counters::listed ? listed(counts) : "counters " + hash(predict::print(counts)));
  }
  return text;
}

}  // namespace

std::string_view name(Way way) { return way == Way::given ? "given" : "chosen"; }

std::string key(std::string_view graph, const target::Target& target, Way way) {
  return fmt::format("{} {} {}", graph, target.name, name(way));
}

std::string Record::str() const { return fmt::format("{}: source {}, work {}\n{}", key, source, work, kernels); }

Record record(const graph::KernelGraph& graph, std::string_view name, const target::Target& target, Way way,
              Counters as) {
  Record r;
  r.key = key(name, target, way);
  const std::uint64_t before = heap_blocks();
  try {
    const emit::EmittedProgram program =
        run::compile(
            graph, target,
            {.fuse = way == Way::automatic, .plan = run::tiling_options(way == Way::given ? "given" : "", target)})
            .program;
    r.work = heap_blocks() - before;
    r.source = hash(program.source), r.kernels = kernels_of(program, as);
  } catch (const Fault&) {
    throw;
  } catch (const Error& e) {
    r.work = heap_blocks() - before;
    r.source = "none", r.kernels = fmt::format("  refused: {}\n", e.what());
  }
  return r;
}

std::vector<Record> read(std::string_view text) {
  std::vector<Record> records;
  for (std::size_t at = 0, end; at < text.size(); at = end) {
    end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = text.substr(at, end - at);
    if (line.starts_with("  ")) {
      if (records.empty()) fail("a kernel without a graph: {}", line);
      records.back().kernels += line;
      continue;
    }
    constexpr std::string_view source = ": source ", work = ", work ";
    const std::size_t s = line.find(source), w = line.find(work);
    Record r;
    if (s == line.npos || w == line.npos) fail("expected KEY: source HASH, work N, found {}", line);
    r.key = line.substr(0, s), r.source = line.substr(s + source.size(), w - s - source.size());
    const std::string_view number = line.substr(w + work.size());
    if (std::from_chars(number.data(), number.data() + number.size(), r.work).ec != std::errc())
      fail("expected a number after 'work', found {}", number);
    records.push_back(std::move(r));
  }
  return records;
}

bool same_work(std::uint64_t a, std::uint64_t b) { return 50 * std::max(a, b) <= 51 * std::min(a, b); }

Golden::Golden(std::string path) : path_(std::move(path)) {
  std::ifstream file(path_, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  records_ = read(text);
}

const Record* Golden::find(std::string_view key) const {
  const auto found = std::ranges::find(records_, key, &Record::key);
  return found == records_.end() ? nullptr : &*found;
}

std::string Golden::compare(const Record& now) const {
  const Record* kept = find(now.key);
  if (!kept) return fmt::format("{}: {} has no such record", now.key, path_);
  if (kept->source == now.source && kept->kernels == now.kernels && same_work(kept->work, now.work)) return "";
  return fmt::format("kept: {}now:  {}", kept->str(), now.str());
}

void Golden::put(Record now) {
  if (const Record* kept = find(now.key)) {
    if (same_work(kept->work, now.work)) now.work = kept->work;
    records_[static_cast<std::size_t>(kept - records_.data())] = std::move(now);
  } else {
    records_.push_back(std::move(now));
  }
}

void Golden::keep(const std::vector<std::string>& keys) {
  std::vector<Record> ordered;
  for (const std::string& key : keys)
    if (const Record* kept = find(key)) ordered.push_back(*kept);
  records_ = std::move(ordered);
}

void Golden::write() const {
  std::ofstream file(path_, std::ios::binary);
  for (const Record& r : records_) file << r.str();
  if (!file.flush()) fail("cannot write {}", path_);
}

}  // namespace zellige::replay
