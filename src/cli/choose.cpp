#include "cli/choose.hpp"

#include "graph/error.hpp"

namespace zellige::cli {
namespace {

constexpr int most_counted = 1000;
constexpr std::size_t most_bytes = std::size_t{8} << 20;

std::string graphs(int n) { return fmt::format("{} graph{}", n, n == 1 ? "" : "s"); }

}  // namespace

void out_of_range(const std::string& file, int index, int count) {
  fail("{}: --index {} is out of range; the file holds {}, counted from 0", file, index, graphs(count));
}

void pass_over(graph::Candidates& from, const std::string& file, int index) {
  for (int i = 0; i < index; ++i) {
    if (!from.skip()) out_of_range(file, index, i);
  }
}

graph::Loaded choose(const std::string& file, int index) {
  graph::Candidates from(file);
  pass_over(from, file, index);
  std::optional<graph::Loaded> one = from.next();
  if (!one) out_of_range(file, index, index);
  return std::move(*one);
}

std::string how_many(graph::Candidates& rest) {
  while (rest.count() <= most_counted && rest.bytes_read() <= most_bytes) {
    if (!rest.skip()) return graphs(rest.count());
  }
  return fmt::format("more than {}", graphs(rest.count() - 1));
}

}  // namespace zellige::cli
