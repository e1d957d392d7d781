#include "cuda/ptx_machine.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "emulate/calls.hpp"
#include "zellige/atom/bfloat16.hpp"
#include "zellige/atom/float8.hpp"

namespace zellige::cuda {

using emulate::Block;
using emulate::Fiber;
using emulate::Finding;
using emulate::Place;
using emulate::Site;

namespace {

using Special = std::uint64_t (*)(Fiber&);
using emulate::dim3;

std::uint64_t nanoseconds(Fiber&) {
  return std::uint64_t(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}
/// Where a block is in its cluster, and the cluster in the grid.
struct ClusterPlace {
  dim3 block, cluster, clusters;
};
ClusterPlace cluster_place(const Fiber& f) {
  const dim3 n = f.cluster_size;
  return {{f.block.x % n.x, f.block.y % n.y, f.block.z % n.z},
          {f.block.x / n.x, f.block.y / n.y, f.block.z / n.z},
          {f.grid.x / n.x, f.grid.y / n.y, f.grid.z / n.z}};
}

struct SpecialRegister {
  std::string_view name;
  Special value;
};
constexpr auto special_registers = std::to_array<SpecialRegister>({
    {"tid.x", [](Fiber& f) -> std::uint64_t { return f.thread.x; }},
    {"tid.y", [](Fiber& f) -> std::uint64_t { return f.thread.y; }},
    {"tid.z", [](Fiber& f) -> std::uint64_t { return f.thread.z; }},
    {"ntid.x", [](Fiber& f) -> std::uint64_t { return f.block_size.x; }},
    {"ntid.y", [](Fiber& f) -> std::uint64_t { return f.block_size.y; }},
    {"ntid.z", [](Fiber& f) -> std::uint64_t { return f.block_size.z; }},
    {"ctaid.x", [](Fiber& f) -> std::uint64_t { return f.block.x; }},
    {"ctaid.y", [](Fiber& f) -> std::uint64_t { return f.block.y; }},
    {"ctaid.z", [](Fiber& f) -> std::uint64_t { return f.block.z; }},
    {"nctaid.x", [](Fiber& f) -> std::uint64_t { return f.grid.x; }},
    {"nctaid.y", [](Fiber& f) -> std::uint64_t { return f.grid.y; }},
    {"nctaid.z", [](Fiber& f) -> std::uint64_t { return f.grid.z; }},
    {"laneid", [](Fiber& f) -> std::uint64_t { return f.index % 32; }},
    {"warpid", [](Fiber& f) -> std::uint64_t { return f.index / 32; }},
    {"nwarpid", [](Fiber& f) -> std::uint64_t { return f.home->warp_count(); }},
    {"smid", [](Fiber& f) -> std::uint64_t { return f.home->linear % 2; }},
    {"nsmid", [](Fiber&) -> std::uint64_t { return 2; }},
    {"gridid", [](Fiber&) -> std::uint64_t { return session().launch; }},
    {"lanemask_eq", [](Fiber& f) -> std::uint64_t { return 1u << f.lane; }},
    {"lanemask_lt", [](Fiber& f) -> std::uint64_t { return (1u << f.lane) - 1; }},
    {"lanemask_le", [](Fiber& f) -> std::uint64_t { return (2u << f.lane) - 1; }},
    {"lanemask_gt", [](Fiber& f) -> std::uint64_t { return std::uint32_t(~((2u << f.lane) - 1)); }},
    {"lanemask_ge", [](Fiber& f) -> std::uint64_t { return std::uint32_t(~((1u << f.lane) - 1)); }},
    {"clock", nanoseconds},
    {"clock_hi", [](Fiber& f) -> std::uint64_t { return nanoseconds(f) >> 32; }},
    {"clock64", nanoseconds},
    {"globaltimer", nanoseconds},
    {"globaltimer_lo", nanoseconds},
    {"globaltimer_hi", [](Fiber& f) -> std::uint64_t { return nanoseconds(f) >> 32; }},
    {"cluster_ctarank", [](Fiber& f) -> std::uint64_t { return f.home->rank; }},
    {"cluster_nctarank", [](Fiber& f) -> std::uint64_t { return f.home->cluster.size(); }},
    {"cluster_ctaid.x", [](Fiber& f) -> std::uint64_t { return cluster_place(f).block.x; }},
    {"cluster_ctaid.y", [](Fiber& f) -> std::uint64_t { return cluster_place(f).block.y; }},
    {"cluster_ctaid.z", [](Fiber& f) -> std::uint64_t { return cluster_place(f).block.z; }},
    {"cluster_nctaid.x", [](Fiber& f) -> std::uint64_t { return f.cluster_size.x; }},
    {"cluster_nctaid.y", [](Fiber& f) -> std::uint64_t { return f.cluster_size.y; }},
    {"cluster_nctaid.z", [](Fiber& f) -> std::uint64_t { return f.cluster_size.z; }},
    {"clusterid.x", [](Fiber& f) -> std::uint64_t { return cluster_place(f).cluster.x; }},
    {"clusterid.y", [](Fiber& f) -> std::uint64_t { return cluster_place(f).cluster.y; }},
    {"clusterid.z", [](Fiber& f) -> std::uint64_t { return cluster_place(f).cluster.z; }},
    {"nclusterid.x", [](Fiber& f) -> std::uint64_t { return cluster_place(f).clusters.x; }},
    {"nclusterid.y", [](Fiber& f) -> std::uint64_t { return cluster_place(f).clusters.y; }},
    {"nclusterid.z", [](Fiber& f) -> std::uint64_t { return cluster_place(f).clusters.z; }},
    {"is_explicit_cluster", [](Fiber& f) -> std::uint64_t { return f.home->cluster.size() > 1; }},
    {"dynamic_smem_size", [](Fiber&) -> std::uint64_t { return session().dynamic_bytes; }},
    {"total_smem_size", [](Fiber& f) -> std::uint64_t { return f.home->shared_bytes; }},
    {"WARP_SZ", [](Fiber&) -> std::uint64_t { return 32; }},
});

const SpecialRegister* find_special(std::string_view name) {
  const auto found = std::ranges::find(special_registers, name, &SpecialRegister::name);
  return found == special_registers.end() ? nullptr : &*found;
}

// Returns whether a word of an instruction is among those that its row allows.
bool is_allowed(std::string_view word, std::string_view allowed) {
  if (ptx_type(word).kind != PtxType::Kind::none) return true;
  for (std::size_t at = 0; (at = allowed.find(word, at)) != allowed.npos; ++at) {
    const bool begins = at == 0 || allowed[at - 1] == ' ';
    const bool ends = at + word.size() == allowed.size() || allowed[at + word.size()] == ' ';
    if (begins && ends) return true;
  }
  return false;
}

std::span<const std::span<const PtxRow>> all_rows() {
  static const std::array<std::span<const PtxRow>, 7> all = {
      ptx_arithmetic(), ptx_bits(), ptx_conversions(), ptx_memory(), ptx_warps(), ptx_matrices(), ptx_asynchronous()};
  return all;
}

// Returns whether an instruction needs nothing but its operands.
bool runs_on_host(const PtxInstruction& i) {
  for (const auto& rows : {ptx_arithmetic(), ptx_bits()})
    for (const PtxRow& row : rows)
      if (row.run == i.run) return i.words[0] != "bra" && i.words[0] != "trap";
  return i.words[0] == "cvt";
}
// Ends the process: the program executes device code on the host.
[[noreturn]] void refuse_on_host(const std::string& what, Site site) {
  session().report_host("inline PTX", site, fmt::format("at \1: the host executes {}", what));
  std::exit(1);
}

// Returns the statement with these words, which is parsed once.
const PtxStatement& parsed(const std::string& text) {
  static std::mutex mutex;
  static std::unordered_map<std::string, std::unique_ptr<PtxStatement>> all;
  const std::lock_guard lock(mutex);
  std::unique_ptr<PtxStatement>& s = all[text];
  if (!s) s = parse_ptx(text);
  return *s;
}

// Returns the statement with the operands that are parts of words: strings, and numbers.
std::string paste(std::string_view text, const std::vector<unsigned>& pasted, const PtxOperand* operands,
                  unsigned count) {
  std::string out;
  std::size_t next = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool here = next < pasted.size() && text[i] == '%' &&
                      text.substr(i + 1).starts_with(std::to_string(pasted[next])) && i > 0 &&
                      (std::isalnum(static_cast<unsigned char>(text[i - 1])) || text[i - 1] == '_');
    if (!here) {
      out += text[i];
      continue;
    }
    const unsigned k = pasted[next++];
    if (k < count) out += operands[k].text ? operands[k].text : std::to_string(std::int64_t(operands[k].value));
    i += std::to_string(k).size();
  }
  return out;
}

/// What is known of a statement of the program.
struct KnownStatement {
  bool read = false;
  const PtxStatement* only = nullptr;  // if no operand is a part of a word
  std::vector<unsigned> pasted;
  std::map<std::vector<std::uint64_t>, const PtxStatement*> variants;  // by what those operands are
};

const PtxStatement& parsed(const char* text, const PtxOperand* operands, unsigned count) {
  thread_local std::unordered_map<const char*, KnownStatement> known;
  KnownStatement& here = known[text];
  if (here.only) return *here.only;
  if (!std::exchange(here.read, true)) here.pasted = pasted_operands(text);
  if (here.pasted.empty()) return *(here.only = &parsed(text));
  std::vector<std::uint64_t> key;
  for (const unsigned k : here.pasted)
    if (k < count)
      key.push_back(operands[k].text ? reinterpret_cast<std::uintptr_t>(operands[k].text) : operands[k].value);
  const PtxStatement*& variant = here.variants[key];
  if (!variant) variant = &parsed(paste(text, here.pasted, operands, count));
  return *variant;
}

}  // namespace

bool is_ptx_special(std::string_view name) { return find_special(name) != nullptr; }
std::uint64_t ptx_special_value(Fiber& f, std::string_view name) { return find_special(name)->value(f); }

PtxFunction ptx_function(const std::vector<std::string_view>& words) {
  const PtxRow* best = nullptr;
  std::size_t best_words = 0;
  std::string name;
  for (std::size_t n = 0; n < words.size(); ++n) {
    name += (n ? "." : "") + std::string(words[n]);
    for (const auto& rows : all_rows())
      for (const PtxRow& row : rows)
        if (row.name == name) best = &row, best_words = n + 1;
  }
  if (!best) return nullptr;
  if (best->words != "*")
    for (std::size_t n = best_words; n < words.size(); ++n)
      if (!is_allowed(words[n], best->words)) return nullptr;
  return best->run;
}

std::uint64_t PtxMachine::read(const PtxValue& v) {
  std::uint64_t x = 0;
  switch (v.kind) {
    case PtxValue::Kind::slot: {
      const PtxOperand& o = operands[v.index];
      if (!known[v.index] && o.result && o.reads) {
        emulate::check_registers(f, o.result, o.bytes, false, site);
        std::memcpy(&slots[v.index], o.result, std::min<std::size_t>(8, o.bytes));
      } else if (!known[v.index] && !o.result) {
        slots[v.index] = o.value;
      }
      known[v.index] = true;
      x = slots[v.index];
      break;
    }
    case PtxValue::Kind::variable:
      x = variables[v.index];
      break;
    case PtxValue::Kind::number:
    case PtxValue::Kind::real:
      x = v.number;
      break;
    case PtxValue::Kind::special:
      x = ptx_special_value(f, v.name);
      break;
    default:
      break;
  }
  return v.negated ? x ^ 1 : x;
}

std::uint64_t PtxMachine::read(const PtxInstruction& i, unsigned operand) {
  if (operand >= i.operands.size()) refuse(i, "with so few operands");
  return read(i.operands[operand]);
}

double PtxMachine::read_float(const PtxValue& v, PtxType t, unsigned at) {
  const std::uint64_t x = read(v);
  if (v.kind == PtxValue::Kind::real) return std::bit_cast<double>(x);
  return ptx_widen(t, ptx_low(x >> (at * t.bits), t.bits));
}

void PtxMachine::write(const PtxValue& v, std::uint64_t x) {
  if (v.kind == PtxValue::Kind::variable) variables[v.index] = x;
  if (v.kind != PtxValue::Kind::slot) return;
  const PtxOperand& o = operands[v.index];
  slots[v.index] = x;
  known[v.index] = true;
  if (!o.result) return;
  if (!f.home)
    ;  // the host's variables are not watched
  else if (!f.home->fiber_at(reinterpret_cast<std::uintptr_t>(o.result)))
    access_memory(f, static_cast<const unsigned char*>(o.result), o.bytes, true, site);
  else
    emulate::check_registers(f, o.result, o.bytes, true, site);
  std::memcpy(o.result, &x, std::min<std::size_t>(8, o.bytes));
}

void PtxMachine::write_pair(const PtxValue& v, std::uint64_t value, bool predicate) {
  if (v.kind != PtxValue::Kind::group) return write(v, value);
  write(v.parts[0], value);
  write(v.parts[1], predicate);
}

void PtxMachine::refuse(const PtxInstruction& i, std::string_view why) {
  if (!f.home) refuse_on_host(i.name, site);
  f.home->stop(f, Finding::Kind::instruction, nullptr, site, "at \1, the emulator does not run {} {}", i.name, why);
}

unsigned char* PtxMachine::address(const PtxValue& v, bool of_shared) {
  const bool whole = v.kind == PtxValue::Kind::address;
  const std::uint64_t at = read(whole ? v.parts[0] : v) + (whole ? read(v.parts[1]) : 0);
  if (of_shared && at < std::uint64_t(1) << 32) return static_cast<unsigned char*>(shared_pointer_of(f, unsigned(at)));
  return reinterpret_cast<unsigned char*>(at);
}

Place PtxMachine::place(unsigned char* p, const char* verb) {
  const Place at = place_of(f, p, site);
  if (!at.region) refuse_address(f, p, verb, site);
  return at;
}

Place PtxMachine::own_place(const PtxValue& v, unsigned& rank) {
  unsigned char* p = address(v, true);
  rank = f.home->rank;
  emulate::Cluster& cluster = f.home->cluster;
  for (unsigned r = 0; r < cluster.size(); ++r) {
    const Block& there = cluster.block(r);
    if (r == f.home->rank || p < there.memory || p >= there.memory + there.shared_bytes) continue;
    rank = r;
    p = f.home->memory + (p - there.memory);
  }
  return place(p, "uses");
}

void execute_ptx(const char* statement, const PtxOperand* operands, unsigned count, Site site) {
  thread_local Fiber host;  // a function of host and device may convert numbers on the host, too
  Fiber& f = inside_kernel ? emulate::fiber(emulate::self()) : host;
  const PtxStatement& s = parsed(statement, operands, count);
  if (!f.home && (!s.error.empty() || s.variables > PtxMachine::max_registers || count > PtxMachine::max_registers))
    refuse_on_host(s.error, site);
  if (!s.error.empty())
    f.home->stop(f, Finding::Kind::instruction, nullptr, site, "at \1, the emulator does not run {}", s.error);
  if (s.variables > PtxMachine::max_registers || count > PtxMachine::max_registers)
    f.home->stop(f, Finding::Kind::instruction, nullptr, site,
                 "at \1, a statement of PTX with {} operands and {} registers; the emulator has room for {}", count,
                 s.variables, PtxMachine::max_registers);
  f.called_from = site;
  PtxMachine m{f, site, operands, count};
  for (; m.next < s.code.size();) {
    const PtxInstruction& i = s.code[m.next++];
    if (i.guard.kind != PtxValue::Kind::none && !m.read_predicate(i.guard)) continue;
    if (!f.home && !runs_on_host(i)) refuse_on_host(i.name, site);
    i.run(m, i);
  }
  f.called_from = {};
}

double ptx_widen(PtxType t, std::uint64_t bits) {
  switch (t.kind) {
    case PtxType::Kind::real:
      return t.bits == 64   ? std::bit_cast<double>(bits)
             : t.bits == 32 ? double(std::bit_cast<float>(std::uint32_t(bits)))
                            : double(float(half_t::bitcast(std::uint16_t(bits))));
    case PtxType::Kind::brain:
      return float(bfloat16_t::bitcast(std::uint16_t(bits)));
    case PtxType::Kind::e4m3:
      return float(float_e4m3_t::bitcast(std::uint8_t(bits)));
    case PtxType::Kind::e5m2:
      return float(float_e5m2_t::bitcast(std::uint8_t(bits)));
    default:
      return std::bit_cast<float>(std::uint32_t(bits));
  }
}

std::uint64_t ptx_round(PtxType t, double x) {
  switch (t.kind) {
    case PtxType::Kind::real:
      return t.bits == 64   ? std::bit_cast<std::uint64_t>(x)
             : t.bits == 32 ? std::bit_cast<std::uint32_t>(float(x))
                            : half_t(float(x)).bits;
    case PtxType::Kind::brain:
      return bfloat16_t(float(x)).bits;
    case PtxType::Kind::e4m3:
      return float_e4m3_t(float(x)).bits;
    case PtxType::Kind::e5m2:
      return float_e5m2_t(float(x)).bits;
    default: {  // tf32: to nearest, ties away from zero
      const std::uint32_t b = std::bit_cast<std::uint32_t>(float(x));
      return (b & 0x7f800000u) == 0x7f800000u ? b : (b + 0x1000u) & 0xffffe000u;
    }
  }
}

}  // namespace zellige::cuda
