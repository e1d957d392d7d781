// PTX's instructions on bits, moves between registers, control, conversions of numbers (cvt) and of addresses.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <span>

#include "cuda/ptx_machine.hpp"
#include "emulate/calls.hpp"

namespace zellige::cuda {

namespace {

std::uint64_t bits_of(PtxMachine& m, const PtxInstruction& i, unsigned operand) {
  return ptx_low(m.read(i, operand), i.type.bits);
}
void give(PtxMachine& m, const PtxInstruction& i, std::uint64_t x) { m.write(i.operands[0], ptx_low(x, i.type.bits)); }

template <class F>
void run_logic(PtxMachine& m, const PtxInstruction& i, F compute) {
  give(m, i, compute(bits_of(m, i, 1), i.operands.size() > 2 ? bits_of(m, i, 2) : 0));
}
void run_and(PtxMachine& m, const PtxInstruction& i) {
  run_logic(m, i, [](std::uint64_t a, std::uint64_t b) { return a & b; });
}
void run_or(PtxMachine& m, const PtxInstruction& i) {
  run_logic(m, i, [](std::uint64_t a, std::uint64_t b) { return a | b; });
}
void run_xor(PtxMachine& m, const PtxInstruction& i) {
  run_logic(m, i, [](std::uint64_t a, std::uint64_t b) { return a ^ b; });
}
void run_not(PtxMachine& m, const PtxInstruction& i) {
  run_logic(m, i, [](std::uint64_t a, std::uint64_t) { return ~a; });
}
void run_shl(PtxMachine& m, const PtxInstruction& i) {
  const std::uint64_t by = ptx_low(m.read(i, 2), 32);
  give(m, i, by >= i.type.bits ? 0 : bits_of(m, i, 1) << by);
}
void run_shr(PtxMachine& m, const PtxInstruction& i) {
  const std::uint64_t by = std::min<std::uint64_t>(ptx_low(m.read(i, 2), 32), i.type.bits), a = bits_of(m, i, 1);
  if (i.type.is_signed())
    give(m, i, std::uint64_t(ptx_signed(a, i.type.bits) >> std::min<std::uint64_t>(by, i.type.bits - 1u)));
  else
    give(m, i, by >= i.type.bits ? 0 : a >> by);
}
// The funnel shift of 64 bits, of which a is the low half.
void run_shf(PtxMachine& m, const PtxInstruction& i) {
  const std::uint64_t both = bits_of(m, i, 1) | bits_of(m, i, 2) << 32, c = ptx_low(m.read(i, 3), 32);
  const unsigned by = i.has("wrap") ? unsigned(c % 32) : unsigned(std::min<std::uint64_t>(c, 32));
  if (i.has("l"))
    give(m, i, by == 32 ? both : (both << by) >> 32);
  else
    give(m, i, both >> by);
}

void run_lop3(PtxMachine& m, const PtxInstruction& i) {
  const std::uint64_t a = m.read(i, 1), b = m.read(i, 2), c = m.read(i, 3), table = m.read(i, 4);
  std::uint64_t x = 0;
  for (unsigned k = 0; k < 8; ++k)
    if (table >> k & 1) x |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
  give(m, i, x);
}
void run_prmt(PtxMachine& m, const PtxInstruction& i) {
  const std::uint64_t both = bits_of(m, i, 1) | bits_of(m, i, 2) << 32, selector = m.read(i, 3);
  std::uint64_t x = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const unsigned choice = selector >> (4 * k) & 15;
    std::uint64_t byte = both >> (8 * (choice & 7)) & 255;
    if (choice & 8) byte = byte & 128 ? 255 : 0;
    x |= byte << (8 * k);
  }
  give(m, i, x);
}
void run_bfe(PtxMachine& m, const PtxInstruction& i) {
  const unsigned from = m.read(i, 2) & 255, length = m.read(i, 3) & 255, bits = i.type.bits;
  const std::uint64_t a = bits_of(m, i, 1);
  std::uint64_t x = from >= bits ? 0 : ptx_low(a >> from, std::min(length, 64u));
  const unsigned sign = std::min(from + length, bits) - 1;
  if (i.type.is_signed() && length && length < 64 && (a >> std::min(sign, 63u) & 1)) x |= ~std::uint64_t(0) << length;
  give(m, i, x);
}
void run_bfi(PtxMachine& m, const PtxInstruction& i) {
  const unsigned from = m.read(i, 3) & 255, length = m.read(i, 4) & 255;
  if (from >= i.type.bits) return give(m, i, m.read(i, 2));
  const std::uint64_t mask = ptx_low(~std::uint64_t(0), std::min(length, 64u)) << from;
  give(m, i, (m.read(i, 2) & ~mask) | (m.read(i, 1) << from & mask));
}
void run_popc(PtxMachine& m, const PtxInstruction& i) {
  m.write(i.operands[0], std::uint64_t(std::popcount(bits_of(m, i, 1))));
}
void run_clz(PtxMachine& m, const PtxInstruction& i) {
  m.write(i.operands[0], std::uint64_t(std::countl_zero(bits_of(m, i, 1))) - (64u - i.type.bits));
}
void run_bfind(PtxMachine& m, const PtxInstruction& i) {
  std::uint64_t a = bits_of(m, i, 1);
  if (i.type.is_signed() && ptx_signed(a, i.type.bits) < 0) a = ptx_low(~a, i.type.bits);
  const int at = 63 - std::countl_zero(a);
  m.write(i.operands[0], a == 0 ? 0xffffffffu : unsigned(i.has("shiftamt") ? int(i.type.bits) - 1 - at : at));
}
void run_brev(PtxMachine& m, const PtxInstruction& i) {
  const std::uint64_t a = bits_of(m, i, 1);
  std::uint64_t x = 0;
  for (unsigned k = 0; k < i.type.bits; ++k) x |= (a >> k & 1) << (i.type.bits - 1 - k);
  give(m, i, x);
}
// dp4a.atype.btype: the sum of four products of bytes.
void run_dp4a(PtxMachine& m, const PtxInstruction& i) {
  const std::uint64_t a = m.read(i, 1), b = m.read(i, 2);
  std::int64_t sum = ptx_signed(m.read(i, 3), 32);
  for (unsigned k = 0; k < 32; k += 8) {
    const std::uint64_t x = a >> k & 255, y = b >> k & 255;
    sum += (i.source.is_signed() ? ptx_signed(x, 8) : std::int64_t(x)) *
           (i.type.is_signed() ? ptx_signed(y, 8) : std::int64_t(y));
  }
  m.write(i.operands[0], ptx_low(std::uint64_t(sum), 32));
}

// mov, also between a register and the parts that a group names.
void run_mov(PtxMachine& m, const PtxInstruction& i) {
  const PtxValue &to = i.operands[0], &from = i.operands[1];
  if (from.kind == PtxValue::Kind::group) {
    const unsigned part = i.type.bits / unsigned(from.parts.size());
    std::uint64_t x = 0;
    for (std::size_t k = 0; k < from.parts.size(); ++k) x |= ptx_low(m.read(from.parts[k]), part) << (k * part);
    return m.write(to, x);
  }
  std::uint64_t x = m.read(from);
  if (to.kind == PtxValue::Kind::group) {
    const unsigned part = i.type.bits / unsigned(to.parts.size());
    for (std::size_t k = 0; k < to.parts.size(); ++k) m.write(to.parts[k], ptx_low(x >> (k * part), part));
    return;
  }
  if (from.kind == PtxValue::Kind::real) x = ptx_round(i.type, std::bit_cast<double>(x));
  m.write(to, ptx_low(x, i.type.kind == PtxType::Kind::predicate ? 1 : i.type.bits));
}

void run_bra(PtxMachine& m, const PtxInstruction& i) {
  m.f.home->check_time(m.f, m.site);
  m.next = i.target;
}
void run_trap(PtxMachine& m, const PtxInstruction&) {
  m.f.home->stop(m.f, emulate::Finding::Kind::crash, nullptr, m.site, "of {}: it reaches trap at \1",
                 m.f.home->who(m.f.index));
}
void run_nothing(PtxMachine&, const PtxInstruction&) {}

constexpr auto bit_rows = std::to_array<PtxRow>({
    {"and", run_and, ""},
    {"or", run_or, ""},
    {"xor", run_xor, ""},
    {"not", run_not, ""},
    {"shl", run_shl, ""},
    {"shr", run_shr, ""},
    {"shf", run_shf, "l r wrap clamp"},
    {"lop3", run_lop3, ""},
    {"prmt", run_prmt, ""},
    {"bfe", run_bfe, ""},
    {"bfi", run_bfi, ""},
    {"popc", run_popc, ""},
    {"clz", run_clz, ""},
    {"bfind", run_bfind, "shiftamt"},
    {"brev", run_brev, ""},
    {"dp4a", run_dp4a, ""},
    {"mov", run_mov, ""},
    {"bra", run_bra, "uni"},
    {"trap", run_trap, ""},
    {"nanosleep", run_nothing, ""},
    {"brkpt", run_nothing, ""},
    {"pmevent", run_nothing, ""},
});

double rounded_to_integer(const PtxInstruction& i, double x) {
  if (i.has("rzi")) return std::trunc(x);
  if (i.has("rmi")) return std::floor(x);
  if (i.has("rpi")) return std::ceil(x);
  return std::nearbyint(x);
}

// Converts a floating-point number to an integer, the nearest that the type has.
std::uint64_t integer_of(const PtxInstruction& i, double x) {
  const PtxType t = i.type;
  if (std::isnan(x)) return t.bits == 64 ? std::uint64_t(1) << 63 : 0;
  x = rounded_to_integer(i, x);
  const double high = std::ldexp(1.0, t.is_signed() ? t.bits - 1 : t.bits), low = t.is_signed() ? -high : 0;
  if (x >= high) return t.is_signed() ? (std::uint64_t(1) << (t.bits - 1)) - 1 : ~std::uint64_t(0);
  if (x <= low) return t.is_signed() ? std::uint64_t(1) << (t.bits - 1) : 0;
  return x < 0 ? std::uint64_t(std::int64_t(x)) : std::uint64_t(x);
}
std::uint64_t narrowed(const PtxInstruction& i, std::uint64_t bits) {
  const PtxType from = i.source, to = i.type;
  const std::uint64_t low = ptx_low(bits, from.bits);
  if (!i.has("sat")) return from.is_signed() ? std::uint64_t(ptx_signed(low, from.bits)) : low;
  const __int128 x = from.is_signed() ? __int128(ptx_signed(low, from.bits)) : __int128(low);
  const __int128 maximum = (__int128(1) << (to.is_signed() ? to.bits - 1 : to.bits)) - 1;
  const __int128 minimum = to.is_signed() ? -maximum - 1 : 0;
  return std::uint64_t(std::clamp(x, minimum, maximum));
}
// Converts a number to a floating-point number.
std::uint64_t float_of(const PtxInstruction& i, double x) {
  if (i.has("rni") || i.has("rzi") || i.has("rmi") || i.has("rpi")) x = rounded_to_integer(i, x);
  if (i.has("relu") && !(x > 0) && !std::isnan(x)) x = 0;
  if (i.has("sat")) x = std::isnan(x) ? 0 : std::fmin(std::fmax(x, 0), 1);
  if (i.has("rz") && i.type.bits == 32 && std::fabs(double(float(x))) > std::fabs(x))
    x = std::nextafter(float(x), 0.0f);
  return ptx_round(i.type, x);
}

void run_cvt(PtxMachine& m, const PtxInstruction& i) {
  const PtxType from = i.source, to = i.type;
  if (i.operands.size() < 2) m.refuse(i, "with so few operands");
  std::uint64_t x = 0;
  if (to.count == 2 && from.count == 1) {  // two numbers: the second operand becomes the low half
    x = ptx_low(float_of(i, m.read_float(i.operands[2], from)), to.bits) |
        ptx_low(float_of(i, m.read_float(i.operands[1], from)), to.bits) << to.bits;
  } else if (from.is_float()) {
    for (unsigned at = 0; at < from.count; ++at) {
      const double number = m.read_float(i.operands[1], from, at);
      x |= ptx_low(to.is_float() ? float_of(i, number) : integer_of(i, number), to.bits) << (at * to.bits);
    }
  } else if (to.is_float()) {
    const std::uint64_t low = ptx_low(m.read(i.operands[1]), from.bits);
    if (to.bits == 32)  // rounded once
      x = std::bit_cast<std::uint32_t>(from.is_signed() ? float(ptx_signed(low, from.bits)) : float(low));
    else
      x = ptx_round(to, from.is_signed() ? double(ptx_signed(low, from.bits)) : double(low));
  } else {
    x = narrowed(i, m.read(i.operands[1]));
    const unsigned wide = i.operands[0].kind == PtxValue::Kind::slot ? 64 : to.bits;
    m.write(i.operands[0], to.is_signed() ? ptx_low(std::uint64_t(ptx_signed(x, to.bits)), wide) : ptx_low(x, to.bits));
    return;
  }
  m.write(i.operands[0], ptx_low(x, to.bits * to.count));
}

// cvta.to.shared, cvta.shared: addresses of shared memory are offsets in the block's. Others are what they are.
void run_cvta(PtxMachine& m, const PtxInstruction& i) {
  const bool shared = i.has("shared") || i.has("shared::cta") || i.has("shared::cluster");
  std::uint64_t x = m.read(i, 1);
  if (shared && i.has("to"))
    x = shared_address_of(m.f, reinterpret_cast<const void*>(x), m.site);
  else if (shared)
    x = reinterpret_cast<std::uint64_t>(shared_pointer_of(m.f, unsigned(x)));
  m.write(i.operands[0], x);
}
void run_isspacep(PtxMachine& m, const PtxInstruction& i) {
  const auto* p = reinterpret_cast<const void*>(m.read(i, 1));
  const bool local = m.f.home->fiber_at(reinterpret_cast<std::uintptr_t>(p)) != nullptr;
  const emulate::Place at = local ? emulate::Place{} : place_of(m.f, p, m.site);
  const bool shared = at.region && at.region->space == emulate::Space::shared;
  m.write(i.operands[0], i.has("local")    ? local
                         : i.has("global") ? at.region && !shared
                         : i.has("const")  ? false
                                           : shared);
}
// mapa: the same place in another block of the cluster, as an address of shared memory or a generic one.
void run_mapa(PtxMachine& m, const PtxInstruction& i) {
  const bool shared = i.has("shared::cluster");
  const auto* p = static_cast<const unsigned char*>(shared ? shared_pointer_of(m.f, unsigned(m.read(i, 1)))
                                                           : reinterpret_cast<const void*>(m.read(i, 1)));
  void* const there = shared_in_block(m.f, p, unsigned(m.read(i, 2)), m.site);
  m.write(i.operands[0], shared ? shared_address_of(m.f, there, m.site) : reinterpret_cast<std::uint64_t>(there));
}
void run_getctarank(PtxMachine& m, const PtxInstruction& i) {
  const bool shared = i.has("shared::cluster");
  const std::uint64_t x = m.read(i, 1);
  const unsigned address = shared ? unsigned(x) : shared_address_of(m.f, reinterpret_cast<const void*>(x), m.site);
  m.write(i.operands[0], address >> 24 ? (address >> 24) - 1 : m.f.home->rank);
}

constexpr auto conversion_rows = std::to_array<PtxRow>({
    {"cvt", run_cvt, "rn rna rz rni rzi rmi rpi ftz sat relu satfinite"},
    {"cvt.pack", nullptr, ""},
    {"cvta", run_cvta, "to shared shared::cta shared::cluster global const local param"},
    {"isspacep", run_isspacep, "shared shared::cta shared::cluster global local const"},
    {"mapa", run_mapa, "shared::cluster"},
    {"getctarank", run_getctarank, "shared::cluster"},
});

}  // namespace

std::span<const PtxRow> ptx_bits() { return bit_rows; }
std::span<const PtxRow> ptx_conversions() { return conversion_rows; }

}  // namespace zellige::cuda
