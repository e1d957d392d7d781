// Records of plans: the results of the planner and the emitter for a graph, one per line.
//
//   Record r = record(graph, "lora[0]", target, Way::given, Counters::listed);
//   r.key        // "lora[0] sm_80 given"
//   r.str()      // lora[0] sm_80 given: source 0123456789abcdef, work 48213
//                //   lora_k0: source fedcba9876543210, 4.25 us, 16384 bytes, mma 64, barrier 320
//
// The first source is the hash of the whole source code, the others of one kernel each; estimated times and
// counters are per launch. "work" is heap_blocks() of planning and emitting. Records are kept in files
// (Golden); works that differ by at most 2% are equal.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"
#include "target/target.hpp"

namespace zellige::replay {

/// How a graph becomes kernels: unfused, or fused and tiled by the command line's defaults.
enum class Way : std::uint8_t { given, automatic };
std::string_view name(Way);

/// The counters in a record: those that are not 0 or, if there are too many kernels for a reader, their hash.
enum class Counters : std::uint8_t { listed, hashed };

struct Record {
  std::string key, source, kernels;
  std::uint64_t work = 0;
  std::string str() const;
};

std::string key(std::string_view graph, const target::Target&, Way);
/// A graph that is refused has its error in place of kernels. Throws Fault where the proof rejects a plan.
Record record(const graph::KernelGraph&, std::string_view graph, const target::Target&, Way, Counters);
/// Throws Error if the string is not a record.
std::vector<Record> read(std::string_view text);

/// Blocks of the heap whose counts mean the same work.
bool same_work(std::uint64_t a, std::uint64_t b);

/// The records of one file, in its order.
class Golden {
 public:
  explicit Golden(std::string path);
  std::size_t size() const { return records_.size(); }
  /// The differences between the record and the kept one, in one paragraph; "" if there are none.
  std::string compare(const Record&) const;
  /// Puts the record in place of the kept one, whose work stays where it is the same; a new one becomes the last.
  void put(Record);
  /// Leaves out the records whose keys are not in the list, and orders the others as it has them.
  void keep(const std::vector<std::string>& keys);
  void write() const;

 private:
  const Record* find(std::string_view key) const;
  std::string path_;
  std::vector<Record> records_;
};

}  // namespace zellige::replay
