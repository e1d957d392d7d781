#include "toolchain/machine_code.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "graph/error.hpp"
#include "manifest/manifest.hpp"
#include "manifest/variants.hpp"
#include "target/target.hpp"

namespace zellige::toolchain {
namespace {

/// The encoding of an instruction with a descriptor operand: the lowest 12 bits of its 128 bits, the position
/// of the register number in bits, and an offset that is added to the number.
struct DescriptorForm {
  std::string_view name;
  unsigned opcode;
  int bit;
  int add = 0;
};

// The LDGSTS with add 1 has a uniform register as part of its shared memory address, and the descriptor
// starts at the register after it.
constexpr std::array forms = {
    DescriptorForm{"LD", 0x980, 32},        DescriptorForm{"LDG", 0x981, 32},      DescriptorForm{"ST", 0x985, 64},
    DescriptorForm{"STG", 0x986, 64},       DescriptorForm{"RED", 0x98e, 64},      DescriptorForm{"ATOMG", 0x9a3, 64},
    DescriptorForm{"REDG", 0x9a6, 64},      DescriptorForm{"ATOMG", 0x9a8, 64},    DescriptorForm{"LDGSTS", 0xfae, 64},
    DescriptorForm{"LDGSTS", 0xdae, 64, 1}, DescriptorForm{"UTMALDG", 0x3b4, 40},  DescriptorForm{"UTMALDG", 0x5b4, 40},
    DescriptorForm{"UTMASTG", 0x3b5, 40},   DescriptorForm{"UTMAREDG", 0x3b6, 40}, DescriptorForm{"UBLKCP", 0x3ba, 40},
    DescriptorForm{"UBLKRED", 0x3bb, 40},   DescriptorForm{"UBLKPF", 0x3bc, 40},
};
constexpr int no_register = 63;  // URZ: no descriptor
constexpr std::size_t instruction_bytes = 16;

// Returns the value of type T at byte `at` of `bytes`. Throws Error if it exceeds them.
template <class T>
T read(std::string_view bytes, std::uint64_t at) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T))
    fail("cubin: its headers name byte {}, and it has {}", at + sizeof(T), bytes.size());
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

struct ElfSection {
  std::string_view name, bytes;
};

/// Returns the sections of a 64-bit ELF file. Throws Error if a section exceeds the file.
std::vector<ElfSection> sections(std::string_view elf) {
  if (!elf.starts_with("\177ELF\2")) fail("cubin: expected a 64-bit ELF file, found {} other bytes", elf.size());
  const auto table = read<std::uint64_t>(elf, 0x28);
  const auto each = read<std::uint16_t>(elf, 0x3a), count = read<std::uint16_t>(elf, 0x3c),
             names = read<std::uint16_t>(elf, 0x3e);
  constexpr std::uint32_t without_bytes = 8;  // SHT_NOBITS
  std::vector<ElfSection> all;
  std::vector<std::uint32_t> name_at;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = table + i * each;
    ElfSection& s = all.emplace_back();
    name_at.push_back(read<std::uint32_t>(elf, at));
    const auto type = read<std::uint32_t>(elf, at + 4);
    const auto offset = read<std::uint64_t>(elf, at + 0x18), size = read<std::uint64_t>(elf, at + 0x20);
    if (type == without_bytes) continue;
    if (offset > elf.size() || size > elf.size() - offset)
      fail("cubin: section {} ends at byte {}, and the file has {}", i, offset + size, elf.size());
    s.bytes = elf.substr(offset, size);
  }
  if (names >= all.size()) fail("cubin: has {} sections, and their names lie in section {}", count, names);
  const std::string_view text = all[names].bytes;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string_view from = text.substr(std::min<std::size_t>(name_at[i], text.size()));
    all[i].name = from.substr(0, from.find('\0'));
  }
  return all;
}

constexpr std::string_view code_section = ".text.";  // prefix of the name of a kernel's code section

/// Sets the properties of kernel `k` from the attributes in its section .nv.info.NAME. Each attribute has a
/// byte with its format, a byte with its number, and 16 bits of data. If the format is 4, these 16 bits are
/// the size in bytes of further data that follows.
void read_attributes(std::string_view info, KernelInterface& k) {
  constexpr int counted = 4;
  constexpr int max_threads = 0x05, parameter = 0x17, cta_per_cluster = 0x3d;
  for (std::uint64_t at = 0; at < info.size();) {
    const int format = read<std::uint8_t>(info, at), number = read<std::uint8_t>(info, at + 1);
    const auto value = read<std::uint16_t>(info, at + 2);
    at += 4;
    if (format != counted) continue;
    if (value > info.size() - at)
      fail("cubin: an attribute of kernel {} ends at byte {}, and they have {}", k.name, at + value, info.size());
    const std::string_view bytes = info.substr(at, value);
    at += value;
    const auto words = [&] {
      return std::array{read<std::uint32_t>(bytes, 0), read<std::uint32_t>(bytes, 4), read<std::uint32_t>(bytes, 8)};
    };
    if (number == parameter) {
      // The data: an index, the parameter's ordinal and offset, and its size above 18 bits of flags.
      const std::size_t ordinal = read<std::uint16_t>(bytes, 4);
      if (ordinal >= k.parameter_bytes.size()) k.parameter_bytes.resize(ordinal + 1);
      k.parameter_bytes[ordinal] = read<std::uint32_t>(bytes, 8) >> 18;
    } else if (number == max_threads) {
      const auto [x, y, z] = words();
      k.max_threads = std::int64_t{x} * y * z;
    } else if (number == cta_per_cluster) {
      const auto [x, y, z] = words();
      k.cluster = {static_cast<int>(x), static_cast<int>(y), static_cast<int>(z)};
    }
  }
}

// Returns parameter sizes in words, for messages.
std::string sizes(const std::vector<std::int64_t>& bytes) {
  return bytes.empty() ? "no parameters" : fmt::format("parameters of {} bytes", fmt::join(bytes, ", "));
}

// Throws Error if the kernel `found` in the cubin differs from its entry `k` in the manifest.
void check_kernel(const manifest::Manifest& m, const manifest::KernelLaunch& k, const KernelInterface& found) {
  const auto differs = [&](const std::string& declared, const std::string& has) {
    fail("program {}, kernel {}: expected {}, as its manifest says, found {} in the cubin", m.name, k.name, declared,
         has);
  };
  if (const auto declared = manifest::parameter_bytes(k); declared != found.parameter_bytes)
    differs(sizes(declared), sizes(found.parameter_bytes));
  const std::int64_t threads = k.block.x * k.block.y * k.block.z;
  if (found.max_threads && threads > *found.max_threads)
    differs(fmt::format("blocks of {} threads", threads), fmt::format("at most {}", *found.max_threads));
  if (found.cluster && *found.cluster != std::array{k.cluster, 1, 1})
    differs(fmt::format("clusters of ({}, 1, 1) blocks", k.cluster),
            fmt::format("({})", fmt::join(*found.cluster, ", ")));
}

}  // namespace

std::vector<Descriptor> descriptors(std::string_view cubin) {
  std::vector<Descriptor> found;
  for (const ElfSection& s : sections(cubin)) {
    if (!s.name.starts_with(code_section)) continue;
    for (std::size_t at = 0; at + instruction_bytes <= s.bytes.size(); at += instruction_bytes) {
      const auto form = std::ranges::find(forms, read<std::uint16_t>(s.bytes, at) & 0xfffu, &DescriptorForm::opcode);
      if (form == forms.end()) continue;
      const int number = s.bytes[at + static_cast<std::size_t>(form->bit / 8)] & 63;
      if (number == no_register) continue;
      found.push_back({std::string(s.name.substr(code_section.size())), static_cast<std::int64_t>(at), form->name,
                       number + form->add});
    }
  }
  return found;
}

std::vector<KernelInterface> kernel_interfaces(std::string_view cubin) {
  const std::vector<ElfSection> all = sections(cubin);
  std::vector<KernelInterface> kernels;
  for (const ElfSection& s : all) {
    if (!s.name.starts_with(code_section)) continue;
    KernelInterface& k = kernels.emplace_back();
    k.name = s.name.substr(code_section.size());
    const auto info = std::ranges::find(all, ".nv.info." + k.name, &ElfSection::name);
    if (info != all.end()) read_attributes(info->bytes, k);
  }
  return kernels;
}

std::optional<int> compute_capability(std::string_view cubin) {
  const auto form = read<std::uint8_t>(cubin, 8);  // ABI version: 7 up to CUDA 12, 8 from CUDA 13 on
  const auto flags = read<std::uint32_t>(cubin, 0x30);
  if (form == 7) return flags & 0xff;
  if (form == 8) return flags >> 8 & 0xff;
  return std::nullopt;
}

std::vector<Descriptor> odd_descriptors(std::string_view cubin) {
  std::vector<Descriptor> found = descriptors(cubin);
  std::erase_if(found, [](const Descriptor& d) { return d.uniform_register % 2 == 0; });
  return found;
}

std::string to_string(const Descriptor& d) {
  return fmt::format("kernel {}: the {} at byte {:#x} takes its descriptor from UR{}", d.kernel, d.instruction,
                     d.offset, d.uniform_register);
}

std::string cubin_name(const manifest::Manifest& m) { return m.name + ".cubin"; }

void require_interfaces(const manifest::Manifest& m, std::string_view cubin) {
  std::vector<KernelInterface> kernels;
  try {
    kernels = kernel_interfaces(cubin);
  } catch (const Error& e) {
    fail("program {}: its machine code cannot be read: {}", m.name, e.what());
  }
  const int wanted = target::find(m.target).compute_capability;
  if (const auto found = compute_capability(cubin); found && *found != wanted)
    fail("program {}: expected machine code for {}, as its manifest says, found it for sm_{}", m.name, m.target,
         *found);
  for (const manifest::Manifest* of : manifest::programs_of(m))
    for (const manifest::KernelLaunch& k : of->kernels) {
      const auto at = std::ranges::find(kernels, k.name, &KernelInterface::name);
      if (at == kernels.end()) {
        std::vector<std::string> names;
        for (const KernelInterface& other : kernels) names.push_back(other.name);
        fail("program {}: expected a kernel {}, as its manifest says, found {} in the cubin", m.name, k.name,
             names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
      }
      check_kernel(m, k, *at);
    }
}

void require_belongs(const manifest::Manifest& m, std::string_view cubin) {
  const manifest::Artefact found = manifest::artefact(cubin_name(m), cubin);
  const auto declared = std::ranges::find(m.artefacts, found.file, &manifest::Artefact::file);
  if (declared == m.artefacts.end())
    fail(
        "program {}: its manifest names no {}, so none belongs to it; `zellige transpile GRAPH --target {} --emit "
        "cubin` writes both",
        m.name, found.file, m.target);
  if (*declared != found)
    fail(
        "program {}: expected {} of {} bytes with the hash {}, as its manifest says, found {} bytes with the hash {}: "
        "the two were not written together, or the cubin was changed",
        m.name, found.file, declared->bytes, declared->hash, found.bytes, found.hash);
  require_interfaces(m, cubin);
}

}  // namespace zellige::toolchain
