// PTX's accesses to memory: ld and st with their qualifiers, atom and red.
#include <array>
#include <cmath>
#include <cstring>
#include <span>

#include "cuda/ptx_machine.hpp"
#include "emulate/atomics.hpp"
#include "emulate/calls.hpp"

namespace zellige::cuda {

using emulate::Finding;
using emulate::Place;
using emulate::Space;

namespace {

bool of_shared(const PtxInstruction& i) { return i.has("shared") || i.has("shared::cta") || i.has("shared::cluster"); }
bool is_relaxed(const PtxInstruction& i) {
  return i.has("volatile") || i.has("relaxed") || i.has("acquire") || i.has("release");
}

// Checks an access of an instruction to memory; returns whether it may be made.
bool check_ptx_access(PtxMachine& m, const PtxInstruction& i, unsigned char* p, unsigned bytes, bool writes) {
  if (m.f.home->fiber_at(reinterpret_cast<std::uintptr_t>(p))) return true;  // a local variable
  const Place at = place_of(m.f, p, m.site);
  if (!at.region) return access_memory(m.f, p, bytes, writes, m.site), true;
  const bool global = at.region->space == Space::global;
  if (i.has("global") && !global)
    m.f.home->stop(m.f, Finding::Kind::instruction, at.region->name, m.site,
                   "at \1, {}: {} gets an address of shared memory", m.f.home->who(m.f.index), i.name);
  if (is_relaxed(i) && global && bytes <= 8) {
    if (writes && i.has("release")) emulate::thread_fence(m.f, i.has("cta"));
    if (!emulate::admit_access(m.f, at, bytes, writes, m.site)) return false;
    emulate::relaxed_access(m.f, at, bytes, writes, m.site);
    return true;
  }
  const bool valid = emulate::check_access(m.f, at, bytes, writes, m.site);
  if (is_relaxed(i) && !writes) emulate::spin(m.f, p, m.site);
  return valid;
}

// Returns the number of values of an operand that is one register or a group; refuses more than 16 bytes.
unsigned values_of(PtxMachine& m, const PtxInstruction& i, const PtxValue& v) {
  const unsigned count = v.kind == PtxValue::Kind::group ? unsigned(v.parts.size()) : 1;
  if (count * i.type.bytes() > 16) m.refuse(i, "of more than 16 bytes");
  return count;
}

void run_ld(PtxMachine& m, const PtxInstruction& i) {
  if (i.operands.size() < 2) m.refuse(i, "with so few operands");
  unsigned char* const p = m.address(i.operands[1], of_shared(i));
  const PtxValue& to = i.operands[0];
  const unsigned count = values_of(m, i, to), size = i.type.bytes();
  alignas(16) unsigned char bytes[16];
  std::memset(bytes, 255, sizeof(bytes));
  if (check_ptx_access(m, i, p, count * size, false)) std::memcpy(bytes, p, count * size);
  for (unsigned k = 0; k < count; ++k) {
    std::uint64_t x = 0;
    std::memcpy(&x, bytes + k * size, size);
    if (i.type.is_signed()) x = std::uint64_t(ptx_signed(x, i.type.bits));
    m.write(to.kind == PtxValue::Kind::group ? to.parts[k] : to, x);
  }
}

void run_st(PtxMachine& m, const PtxInstruction& i) {
  if (i.operands.size() < 2) m.refuse(i, "with so few operands");
  unsigned char* const p = m.address(i.operands[0], of_shared(i));
  const PtxValue& from = i.operands[1];
  const unsigned count = values_of(m, i, from), size = i.type.bytes();
  alignas(16) unsigned char bytes[16];
  for (unsigned k = 0; k < count; ++k) {
    const PtxValue& part = from.kind == PtxValue::Kind::group ? from.parts[k] : from;
    std::uint64_t x = m.read(part);
    if (part.kind == PtxValue::Kind::real) x = ptx_round(i.type, std::bit_cast<double>(x));
    std::memcpy(bytes + k * size, &x, size);
  }
  if (check_ptx_access(m, i, p, count * size, true)) std::memcpy(p, bytes, count * size);
}

/// An atomic operation on one number.
struct PtxAtomic {
  const PtxInstruction* i;
  std::uint64_t b, c, old;
};

std::uint64_t changed_integer(const PtxAtomic& a, std::uint64_t old) {
  const PtxInstruction& i = *a.i;
  const unsigned bits = i.type.bits;
  const bool less =
      i.type.is_signed() ? ptx_signed(a.b, bits) < ptx_signed(old, bits) : ptx_low(a.b, bits) < ptx_low(old, bits);
  if (i.has("add")) return old + a.b;
  if (i.has("min")) return less ? a.b : old;
  if (i.has("max")) return less ? old : a.b;
  if (i.has("and")) return old & a.b;
  if (i.has("or")) return old | a.b;
  if (i.has("xor")) return old ^ a.b;
  if (i.has("exch")) return a.b;
  if (i.has("cas")) return old == ptx_low(a.b, bits) ? a.c : old;
  if (i.has("inc")) return old >= ptx_low(a.b, bits) ? 0 : old + 1;
  return old == 0 || old > ptx_low(a.b, bits) ? a.b : old - 1;
}
std::uint64_t changed_float(const PtxAtomic& a, std::uint64_t old) {
  const PtxType t = a.i->type;
  std::uint64_t x = 0;
  for (unsigned at = 0; at < t.count; ++at) {
    const double p = ptx_widen(t, ptx_low(old >> (at * t.bits), t.bits));
    const double q = ptx_widen(t, ptx_low(a.b >> (at * t.bits), t.bits));
    const double y = a.i->has("add") ? p + q : a.i->has("min") ? std::fmin(p, q) : std::fmax(p, q);
    x |= ptx_low(ptx_round(t, y), t.bits) << (at * t.bits);
  }
  return x;
}
void change_atomic(void* value, void* with) {
  auto& a = *static_cast<PtxAtomic*>(with);
  const unsigned bytes = a.i->type.bytes();
  a.old = 0;
  std::memcpy(&a.old, value, bytes);
  const bool moves = a.i->has("exch") || a.i->has("cas");
  const std::uint64_t x = a.i->type.is_float() && !moves ? changed_float(a, a.old) : changed_integer(a, a.old);
  std::memcpy(value, &x, bytes);
}

// atom d, [a], b{, c}; red [a], b.
void run_atomic(PtxMachine& m, const PtxInstruction& i) {
  const unsigned first = i.words[0] == "atom" ? 1 : 0;
  if (i.operands.size() < first + 2 || i.type.bits > 64) m.refuse(i, "with these operands");
  unsigned char* p = m.address(i.operands[first], of_shared(i));
  if (i.has("release") || i.has("acq_rel")) emulate::thread_fence(m.f, i.has("cta"));
  const PtxValue& b = i.operands[first + 1];
  const unsigned count = b.kind == PtxValue::Kind::group ? unsigned(b.parts.size()) : 1;
  for (unsigned k = 0; k < count; ++k, p += i.type.bytes()) {
    PtxAtomic a{&i, m.read(b.kind == PtxValue::Kind::group ? b.parts[k] : b),
                i.operands.size() > first + 2 && i.has("cas") ? m.read(i, first + 2) : 0, 0};
    emulate::atomic(m.f, m.place(p, "updates"), i.type.bytes(), change_atomic, &a, m.site);
    if (!first) continue;
    const PtxValue& to = i.operands[0];
    m.write(to.kind == PtxValue::Kind::group ? to.parts[k] : to, a.old);
  }
}

void run_prefetch(PtxMachine&, const PtxInstruction&) {}
void run_createpolicy(PtxMachine& m, const PtxInstruction& i) { m.write(i.operands[0], 0); }

constexpr std::string_view access_words =
    "weak volatile relaxed acquire release cta cluster gpu sys global shared shared::cta shared::cluster local const "
    "param param::entry ca cg cs lu cv wb wt nc v2 v4 L1::no_allocate L1::evict_normal L1::evict_unchanged "
    "L1::evict_first L1::evict_last L2::evict_first L2::evict_last L2::evict_normal L2::cache_hint L2::64B L2::128B "
    "L2::256B";
constexpr std::string_view atomic_words =
    "relaxed acquire release acq_rel cta cluster gpu sys global shared shared::cta shared::cluster add min max and or "
    "xor exch cas inc dec noftz v2 v4 v8 L2::cache_hint";
constexpr auto memory_rows = std::to_array<PtxRow>({
    {"ld", run_ld, access_words},
    {"st", run_st, access_words},
    {"atom", run_atomic, atomic_words},
    {"red", run_atomic, atomic_words},
    {"red.async", nullptr, ""},
    {"prefetch", run_prefetch, "*"},
    {"prefetchu", run_prefetch, "*"},
    {"createpolicy", run_createpolicy, "*"},
    {"discard", nullptr, ""},
});

}  // namespace

std::span<const PtxRow> ptx_memory() { return memory_rows; }

}  // namespace zellige::cuda
