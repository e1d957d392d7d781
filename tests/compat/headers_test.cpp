// CUTLASS's and CuTe's headers for Hopper with nvcc: a unit that uses all of them compiles without a warning;
// missing features are refused in one sentence. Skipped without nvcc.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <regex>
#include <sstream>
#include <vector>

#include "command.hpp"

namespace {

bool have_nvcc() { return run("nvcc --version").status == 0; }

/// Compiles the CUDA file `unit` with nvcc and these options, and returns its PTX. Without the file's PTX the test fails
/// with nvcc's output, and the result is empty.
std::string ptx_of(std::string const& unit, std::string const& options = "-gencode arch=compute_90a,code=sm_90a") {
  std::string const ptx = testing::TempDir() + std::filesystem::path(unit).stem().string() + ".compat.ptx";
  CommandResult const result = run("nvcc" + flags + options + " --ptx -o " + ptx + " " + unit);
  EXPECT_EQ(result.status, 0) << result.text;
  std::stringstream text;
  if (result.status == 0) text << std::ifstream(ptx).rdbuf();
  return text.str();
}

TEST(CompatHeaders, AHopperKernelInCutlasssWordsCompiles) {
  if (!have_nvcc()) GTEST_SKIP() << "no nvcc";
  std::string const object = testing::TempDir() + "zellige_compat_hopper.o";
  CommandResult const result =
      run("nvcc" + flags + "-gencode arch=compute_90a,code=sm_90a -c -Werror all-warnings -o " + object +
          " " ZELLIGE_SOURCE_DIR "/tests/compat/hopper.cu");
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.text, "");
}

// A product of our own in tensor memory, by CuTe's names alone.
TEST(CompatHeaders, AKernelForSm100Compiles) {
  if (!have_nvcc()) GTEST_SKIP() << "no nvcc";
  std::string const ptx = ptx_of(ZELLIGE_SOURCE_DIR "/tests/compat/blackwell.cu",
                                 "-Werror all-warnings -gencode arch=compute_100a,code=sm_100a");
  for (char const* mnemonic :
       {"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32", "tcgen05.mma.cta_group::1.kind::f16 [",
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one", "tcgen05.ld.sync.aligned.32x32b.x32.b32 {",
        "tcgen05.wait::ld.sync.aligned;", "tcgen05.relinquish_alloc_permit", "tcgen05.dealloc"})
    EXPECT_NE(ptx.find(mnemonic), std::string::npos) << mnemonic;
}

// A product with scales of blocks, which tcgen05.cp copies to tensor memory.
TEST(CompatHeaders, AKernelWithScalesForSm100Compiles) {
  if (!have_nvcc()) GTEST_SKIP() << "no nvcc";
  std::string const ptx = ptx_of(ZELLIGE_SOURCE_DIR "/tests/compat/blackwell_scaled.cu",
                                 "-Werror all-warnings -gencode arch=compute_100a,code=sm_100a");
  auto const count = [&](std::string const& what) {
    int n = 0;
    for (std::size_t at = 0; (at = ptx.find(what, at)) != std::string::npos; ++at) ++n;
    return n;
  };
  EXPECT_EQ(count("tcgen05.cp.cta_group::1.32x128b.warpx4 ["), 2);
  EXPECT_EQ(count("tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale ["), 4);
}

// The tutorials of CuTe for Blackwell; 04 and 05 multiply by pairs of CTAs. They are foreign: an environment variable says
// where they are.
TEST(CompatHeaders, BlackwellsTutorialsCompile) {
  char const* const folder = std::getenv("ZELLIGE_CUTE_TUTORIALS");
  if (folder == nullptr || !have_nvcc())
    GTEST_SKIP()
        << "ZELLIGE_CUTE_TUTORIALS is not set: it names the folder examples/cute/tutorial of CUTLASS's sources; "
           "or there is no nvcc";
  std::string const path = std::string(folder) + "/blackwell/", sources = std::string(folder) + "/../../../";
  // With our headers alone, and with CUTLASS's after them, whose headers of SM100 are then used.
  for (std::string const after : {std::string(), " -I " + sources + "include -I " + sources + "tools/util/include "})
    for (std::string const name : {"01_mma_sm100.cu", "02_mma_tma_sm100.cu", "03_mma_tma_multicast_sm100.cu",
                                   "04_mma_tma_2sm_sm100.cu", "05_mma_tma_epi_sm100.cu"}) {
      bool const pairs = name[1] >= '4';
      std::string const ptx =
          ptx_of(path + name, "-DCUTLASS_ARCH_MMA_SM100_SUPPORTED --expt-relaxed-constexpr " + after + " -I " + path +
                                  " -gencode arch=compute_100a,code=sm_100a");
      EXPECT_NE(ptx.find(pairs ? "tcgen05.mma.cta_group::2.kind::f16 [" : "tcgen05.mma.cta_group::1.kind::f16 ["),
                std::string::npos)
          << name << after;
      EXPECT_EQ(std::regex_search(ptx, std::regex(R"(cp\.async\.bulk\.tensor\.2d\.[a-z0-9_:.]*cta_group::2)")), pairs)
          << name << after;
    }
}

// Every call of members.cu is in the PTX: the comment after the call gives the mnemonic and the count.
TEST(CompatHeaders, OperationsAreCalledByTheirStaticFunctions) {
  if (!have_nvcc()) GTEST_SKIP() << "no nvcc";
  std::string const unit = ZELLIGE_SOURCE_DIR "/tests/compat/members.cu";
  std::string const text = ptx_of(unit);
  ASSERT_NE(text, "");
  std::stringstream source;
  source << std::ifstream(unit).rdbuf();
  std::string const calls = source.str();
  std::regex const wanted(R"(; +// ([a-z]\S*\.\S*)\n)");
  int found = 0;
  for (std::sregex_iterator i(calls.begin(), calls.end(), wanted), end; i != end; ++i, ++found)
    EXPECT_NE(text.find((*i)[1].str()), std::string::npos) << "no " << (*i)[1] << " in the PTX";
  EXPECT_GE(found, 25);
}

// With AutoCopyAsync a cooperative copy is by cp.async, in CuTe's widths, if the threads share the elements equally.
// Else, and with other policies, it is complete on return.
TEST(CompatHeaders, CooperativeCopiesAreAsynchronousIfAskedFor) {
  if (!have_nvcc()) GTEST_SKIP() << "no nvcc";
  std::string const unit = file_of("cooperative.cu", R"(#include <cute/tensor.hpp>
using namespace cute;
template <int elements, int bits, class Policy>
__global__ void copied(float* from, float* to) {
  __shared__ alignas(16) float memory[elements];
  Tensor shared = make_tensor(make_smem_ptr(memory), Layout<Int<elements>>{});
  cooperative_copy<128, bits>(threadIdx.x, make_tensor(make_gmem_ptr(from), Layout<Int<elements>>{}), shared, Policy{});
  cp_async_fence();
  cp_async_wait<0>();
  __syncthreads();
  to[threadIdx.x] = memory[threadIdx.x ^ 5];
}
template __global__ void copied<1024, 128, AutoCopyAsync>(float*, float*);  // 2 cp.async.cg
template __global__ void copied<1024, 32, AutoCopyAsync>(float*, float*);   // 8 cp.async.ca
template __global__ void copied<1000, 128, AutoCopyAsync>(float*, float*);
template __global__ void copied<1024, 128, DefaultCopy>(float*, float*);
)");
  std::stringstream text(ptx_of(unit, "-arch=sm_80"));
  ASSERT_NE(text.str(), "");
  std::vector<std::pair<int, int>> found;  // cp.async of .cg and .ca of each kernel
  for (std::string line; std::getline(text, line);) {
    if (line.find(".entry") != std::string::npos) found.emplace_back();
    if (line.find("cp.async.cg.shared.global") != std::string::npos) ++found.back().first;
    if (line.find("cp.async.ca.shared.global") != std::string::npos) ++found.back().second;
  }
  EXPECT_EQ(found, (std::vector<std::pair<int, int>>{{2, 0}, {0, 8}, {0, 0}, {0, 0}}));
}

// The threads that copy a tile of 192 x 64 spread over its modes, of 8, 8, 3 and 8 vectors, as with CuTe's headers: each
// computes one swizzled address, and the other 11 are that and a constant. The way back needs no other address.
TEST(CompatHeaders, AThreadOfACooperativeCopyComputesOneSwizzledAddress) {
  if (!have_nvcc()) GTEST_SKIP() << "no nvcc";
  std::string const unit = file_of("spread.cu", R"(#include <cute/tensor.hpp>
using namespace cute;
using Global = Layout<Shape<_192, _64>>;
using Shared = decltype(composition(Swizzle<3, 3, 3>{}, Layout<Shape<Shape<_64, _3>, Shape<_8, _8>>,
                                                               Stride<Stride<_1, _512>, Stride<_64, Int<1536>>>>{}));
__global__ void spread(half_t* from, half_t* to) {
  extern __shared__ half_t memory[];
  Tensor shared = make_tensor(make_smem_ptr(memory), Shared{});
  cooperative_copy<128, 128>(threadIdx.x, make_tensor(make_gmem_ptr(from), Global{}), shared);
  __syncthreads();
  cooperative_copy<128, 128>(threadIdx.x, shared, make_tensor(make_gmem_ptr(to), Global{}));
}
)");
  std::string const text = ptx_of(unit, "-arch=sm_80");
  ASSERT_NE(text, "");
  auto const count = [&](std::string const& what) {
    int n = 0;
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++n;
    return n;
  };
  EXPECT_EQ(count("xor.b32"), 1) << text;
  EXPECT_EQ(count("st.shared.v4"), 12) << text;
  EXPECT_EQ(count("st.global.v4"), 12) << text;
}

// A TMA copy out of a tensor whose extents come at run time into a static one: one load a stage, and no loop.
TEST(CompatHeaders, TmaCopiesAreUnrolledOverTheStaticTensor) {
  if (!have_nvcc()) GTEST_SKIP() << "no nvcc";
  std::string const unit = file_of("unrolled.cu", R"(#include <cute/tensor.hpp>
using namespace cute;
using Stages = decltype(tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_64, _64, _5>{}));
using Global = decltype(make_tensor(make_gmem_ptr((half_t*)nullptr), make_layout(make_shape(1, 1), LayoutRight{})));
using Tma = decltype(make_tma_copy(SM90_TMA_LOAD{}, Global{}, Stages{}(_, _, 0)));
__global__ void unrolled(CUTE_GRID_CONSTANT Tma const tma, int m, int n, uint64_t* full, half_t* to) {
  Tensor tiles = local_tile(tma.get_tma_tensor(make_shape(m, n)), Shape<_64, _64>{}, make_coord(0, _));
  Tensor stages = make_tensor(make_smem_ptr(to), Stages{});
  auto [from, into] = tma_partition(tma, group_modes<0, 2>(stages), group_modes<0, 2>(tiles));
  copy(tma.with(*full), from, into);
}
)");
  std::string const text = ptx_of(unit);
  ASSERT_NE(text, "");
  int loads = 0;
  for (std::size_t at = 0; (at = text.find("cp.async.bulk.tensor", at)) != std::string::npos; ++at) ++loads;
  EXPECT_EQ(loads, 5);
  EXPECT_EQ(text.find("bra"), std::string::npos) << text;
}

// A thread index is known not to be negative: coordinates of a partition that stay inside the tile for every thread are
// compared with its extents by nothing.
TEST(CompatHeaders, ComparisonsThatEveryThreadPassesAreDropped) {
  if (!have_nvcc()) GTEST_SKIP() << "no nvcc";
  std::string const unit = file_of("inside.cu", R"(#include <cute/tensor.hpp>
using namespace cute;
using Whole = Shape<_64, _64>;
__global__ void inside(double* out) {
  auto const mma = make_tiled_mma(SM80_8x8x4_F64F64F64F64_TN{}, Layout<Shape<_2, _2>>{}, Tile<_16, _16, _16>{});
  auto const mine = mma.get_slice(threadIdx.x);
  Tensor c = mine.partition_C(make_tensor(make_gmem_ptr(out), Layout<Whole>{}));
  Tensor at = mine.partition_C(make_identity_tensor(Whole{}));
  CUTE_UNROLL
  for (int i = 0; i < size(c); ++i)
    if (elem_less(at(i), Whole{})) c(i) = 1;
}
)");
  std::string const text = ptx_of(unit, "-arch=sm_80");
  ASSERT_NE(text, "");
  EXPECT_EQ(text.find("setp"), std::string::npos) << text;
}

// A lambda that multiplies: nvcc inlines it after it has ordered the lambda's additions, as with CuTe's headers, so the limit
// is computed from the argument n as written. A shorter lambda is inlined before that, and k - column is hoisted out of
// the loop. An attention kernel was 3% slower so.
TEST(CompatHeaders, ALambdaThatMultipliesIsInlinedAsLateAsWithCute) {
  if (!have_nvcc()) GTEST_SKIP() << "no nvcc";
  std::string const unit = file_of("lambda.cu", R"(#include <cute/tensor.hpp>
using namespace cute;
__global__ void masked(float* out, int k, int first, int last) {
  extern __shared__ half_t memory[];
  Tensor tile = make_tensor(make_smem_ptr(memory), tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_128, _64>{}));
  auto mma = make_tiled_mma(SM90_64x128x16_F32F16F16_SS<GMMA::Major::K, GMMA::Major::K>());
  auto mine = mma.get_slice(threadIdx.x);
  Tensor a = mine.partition_fragment_A(tile);
  Tensor b = mine.partition_fragment_B(tile);
  int const column = threadIdx.x % 4 * 2;
  auto step = [&](int n, auto masks) {
    Tensor accum = partition_fragment_C(mma, Shape<_128, _128>{});
    warpgroup_fence_operand(accum);
    warpgroup_arrive();
    gemm(mma, a, b, accum);
    warpgroup_commit_batch();
    warpgroup_wait<0>();
    warpgroup_fence_operand(accum);
    int const limit = k - n * 128 - column;
    CUTE_UNROLL
    for (int i = 0; i < size(accum); ++i)
      if (!masks || i < limit) out[i + n * 64] += accum(i);
  };
  int n = last;
  for (; n > first; --n) step(n, true_type{});
  for (; n > 0; --n) step(n, false_type{});
}
)");
  std::string const text = ptx_of(unit);
  ASSERT_NE(text, "");
  std::size_t const wait = text.find("wgmma.wait_group"), compare = text.find("setp", wait);
  ASSERT_NE(compare, std::string::npos);
  int differences = 0;
  for (std::size_t at = wait; (at = text.find("sub.s32", at)) < compare; ++at) ++differences;
  EXPECT_EQ(differences, 2) << text.substr(wait, compare - wait);
}

// wgmma is sm_90a's: in a unit for other GPUs too, sm_90 among them, a call traps there.
TEST(CompatHeaders, WarpgroupProductsCompileForGpusWithoutThem) {
  if (!have_nvcc()) GTEST_SKIP() << "no nvcc";
  std::string const unit = file_of("others.cu", R"(#include <cute/tensor.hpp>
using namespace cute;
__global__ void multiply(float* out) {
  extern __shared__ half_t memory[];
  Tensor tile = make_tensor(make_smem_ptr(memory), tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_64, _64>{}));
  auto mma = make_tiled_mma(SM90_64x64x16_F32F16F16_SS<GMMA::Major::K, GMMA::Major::K>());
  auto mine = mma.get_slice(threadIdx.x);
  Tensor accum = partition_fragment_C(mma, Shape<_64, _64>{});
  warpgroup_arrive();
  gemm(mma, mine.partition_fragment_A(tile), mine.partition_fragment_B(tile), accum);
  warpgroup_commit_batch();
  warpgroup_wait<0>();
  out[threadIdx.x] = accum(0);
}
int main() { multiply<<<1, 128>>>(nullptr); }
)");
  // One compilation for all three, which keeps the PTX of each.
  std::string const kept = testing::TempDir() + "zellige_compat_others";
  std::filesystem::create_directories(kept);
  std::string targets;
  for (std::string const architecture : {"90a", "90", "80"})
    targets += " -gencode arch=compute_" + architecture + ",code=sm_" + architecture;
  CommandResult const result = run("nvcc" + flags + targets + " --keep --keep-dir " + kept + " -c -o " + kept + ".o " +
                                   unit + " && nvcc -o " + kept + ".out " + kept + ".o");
  EXPECT_EQ(result.status, 0) << result.text;
  for (auto const& [architecture, found] : {std::pair{"90a", true}, std::pair{"90", false}, std::pair{"80", false}}) {
    std::ifstream ptx(kept + "/zellige_compat_others.compute_" + architecture + ".ptx");
    std::stringstream text;
    text << ptx.rdbuf();
    EXPECT_NE(text.str().find(".entry"), std::string::npos) << architecture << ": no kernel";
    EXPECT_EQ(text.str().find("wgmma.mma_async") != std::string::npos, found) << architecture << text.str();
  }
}

// Headers of unsupported instructions are CUTLASS's own if it follows on the include path, else empty.
TEST(CompatHeaders, HeadersOfOtherArchitecturesFallThrough) {
  for (std::string const header : {"cute/arch/mma_sm100_umma.hpp", "cute/arch/tmem_allocator_sm100.hpp",
                                   "cute/atom/mma_traits_sm120.hpp", "cute/arch/mma_sm90_gmma_sparse.hpp"}) {
    std::string const unit =
        file_of("other.cpp", "#include <" + header + ">\n#ifdef BEHIND\nint behind = 1;\n#endif\nint main() {}\n");
    CommandResult const alone = run(ZELLIGE_CXX + flags + "-fsyntax-only " + unit);
    EXPECT_EQ(alone.status, 0) << header << ": " << alone.text;
    std::filesystem::path const root = std::filesystem::path(testing::TempDir()) / "zellige_compat_behind";
    std::filesystem::create_directories((root / header).parent_path());
    std::ofstream(root / header) << "#error CUTLASS's own " << header << "\n";
    CommandResult const after = run(ZELLIGE_CXX + flags + "-I " + root.string() + " -fsyntax-only " + unit);
    EXPECT_NE(after.text.find("CUTLASS's own " + header), std::string::npos) << header << ": " << after.text;
    std::filesystem::remove_all(root);
  }
}

// cute/tensor.hpp includes the names of SM100 and SM120 of the CUTLASS that follows on the path; here it has
// one line per header.
TEST(CompatHeaders, TensorsIncludeTheNamesOfSm100) {
  std::filesystem::path const root = std::filesystem::path(testing::TempDir()) / "zellige_compat_sm100";
  std::filesystem::create_directories(root / "cute/atom");
  std::string uses;
  for (std::string const header : {"mma_traits_sm100", "copy_traits_sm100", "copy_traits_sm100_tma", "mma_traits_sm120",
                                   "mma_traits_sm120_sparse"}) {
    std::ofstream(root / "cute/atom" / (header + ".hpp"))
        << "#pragma once\n#include <cute/tensor_impl.hpp>\nnamespace cute { struct in_" << header
        << " { Layout<_4> layout; }; }\n";
    uses += "cute::in_" + header + " of_" + header + ";\n";
  }
  std::string const after = "-I " + root.string() + " ";
  for (std::string const first : {"cute/tensor.hpp", "cute/algorithm/copy.hpp", "cute/atom/mma_traits_sm100.hpp"}) {
    CommandResult const result =
        run(ZELLIGE_CXX + flags + after + "-fsyntax-only " +
            file_of("names.cpp", "#include <" + first + ">\n#include <cute/tensor.hpp>\n" + uses));
    EXPECT_EQ(result.status, 0) << first << ": " << result.text;
  }
  std::string const unit = file_of("names.cpp", "#include <cute/tensor.hpp>\n" + uses);
  for (std::string const& without : {std::string(), after + "-DZELLIGE_CUTE_WITHOUT_SM100 "}) {
    CommandResult const result = run(ZELLIGE_CXX + flags + without + "-fsyntax-only " + unit);
    EXPECT_NE(result.status, 0) << without;
    EXPECT_NE(result.text.find("in_copy_traits_sm100_tma"), std::string::npos) << result.text;
  }
  std::filesystem::remove_all(root);
}

// The number types are those of the CUTLASS that follows on the path: here one with a single header for each
// of them.
struct Number {
  char const* ours;
  char const* theirs;
  std::vector<char const*> names;
};
TEST(CompatHeaders, NumberTypesAreThoseOfTheCutlassAfterIt) {
  Number const numbers[] = {{"zellige/atom/half.hpp", "cutlass/half.h", {"half_t"}},
                            {"zellige/atom/bfloat16.hpp", "cutlass/bfloat16.h", {"bfloat16_t"}},
                            {"zellige/atom/tfloat32.hpp", "cutlass/tfloat32.h", {"tfloat32_t"}},
                            {"zellige/atom/float8.hpp", "cutlass/float8.h", {"float_e4m3_t", "float_e5m2_t"}},
                            {"zellige/numeric/uint128.hpp", "cutlass/uint128.h", {"uint128_t"}}};
  for (Number const& n : numbers) {
    std::filesystem::path const root = std::filesystem::path(testing::TempDir()) / "zellige_compat_numbers";
    std::filesystem::create_directories(root / "cutlass");
    std::ofstream theirs(root / n.theirs);
    std::string checks;
    for (std::string const name : n.names) {
      theirs << "namespace cutlass { struct " << name << " { float theirs; }; }\n";
      checks += "static_assert(sizeof(zellige::" + name + "::theirs) == 4);\n";
    }
    theirs.close();
    std::string const unit = file_of("number.cpp", "#include <" + std::string(n.ours) + ">\n" + checks);
    CommandResult const combined = run(ZELLIGE_CXX + flags + "-I " + root.string() + " -fsyntax-only " + unit);
    EXPECT_EQ(combined.status, 0) << n.ours << ": " << combined.text;
    CommandResult const alone = run(ZELLIGE_CXX + flags + "-fsyntax-only " + unit);
    EXPECT_NE(alone.status, 0) << n.ours << " without a CUTLASS after it has members of CUTLASS's";
    std::filesystem::remove_all(root);
  }
}

// Headers of traits include the pointer types of their instructions' operands; a copy that cannot cast is
// refused.
TEST(CompatHeaders, TraitsIncludeFlaggedAndSparsePointers) {
  for (std::string const header : {"cute/atom/mma_traits_sm90_gmma.hpp", "cute/arch/mma_sm90_gmma.hpp",
                                   "cute/atom/copy_traits_sm90_tma.hpp", "cute/atom/mma_traits_sm80.hpp"}) {
    CommandResult const result =
        run(ZELLIGE_CXX + flags + "-fsyntax-only " + file_of("pointers.cpp", "#include <" + header + ">\n" + R"(
static_assert(cute::smem_ptr_flag_bits<8>::value == 0 && cute::smem_sparse_ptr_flag_bits<2, 8>::value == 0);
static_assert(cute::is_sparse<cute::sparse_elem<2, uint8_t>>::value);
)"));
    EXPECT_EQ(result.status, 0) << header << ": " << result.text;
  }
}
// A user's strides need not be linear: what would compare or divide them is refused.
TEST(CompatHeaders, StridesOfAUserAreNotDividedUnlessTheySayHow) {
  for (std::string const call : {"right_inverse(l)", "upcast<4>(l)", "cosize(l)", "upcast<4>(outer)"}) {
    CommandResult const result =
        run(ZELLIGE_CXX + flags + "-fsyntax-only " + file_of("strides.cpp", R"(#include <cute/tensor.hpp>
struct LookedUp { int const* at; };
constexpr int operator*(int i, LookedUp const& s) { return s.at[i]; }
using namespace cute;
void f(int const* at) {
  auto outer = make_layout(Shape<_1, _1>{}, make_stride(LookedUp{at}, _1{}));
  ComposedLayout l{outer, make_arithmetic_tuple(0, 0), make_identity_layout(Shape<_8, _8>{})};
  )" + call + ";\n}\n"));
    EXPECT_NE(result.status, 0) << call;
    EXPECT_NE(result.text.find("strides_of_a_user_module_cannot_be_compared_or_divided"), std::string::npos)
        << call << ": " << result.text;
  }
}
TEST(CompatHeaders, CopiesOfElementsThatDoNotConvertAreRefused) {
  for (std::string const call :
       {"copy(a, b)", "copy(AutoVectorizingCopy{}, a, b)", "copy_if([](int) { return true; }, a, b)"}) {
    CommandResult const result =
        run(ZELLIGE_CXX + flags + "-fsyntax-only " + file_of("casts.cpp", R"(#include <cute/tensor.hpp>
struct Pixel { int x, y; };
using namespace cute;
void f(Pixel* from, float* to) {
  Tensor a = make_tensor(from, Layout<_4>{});
  Tensor b = make_tensor(to, Layout<_4>{});
  )" + call + ";\n}\n"));
    EXPECT_NE(result.status, 0) << call;
    EXPECT_NE(result.text.find("copy(src, dst): the elements of src convert to none of dst's"), std::string::npos)
        << call << ": " << result.text;
  }
}

// Each thread along K would store the sum of its part of K; its accumulators are taken, to be added by the caller.
TEST(CompatHeaders, CooperativeGemmDoesNotStorePartialSums) {
  for (bool const stored : {false, true}) {
    CommandResult const result = run(ZELLIGE_CXX + flags + "-fsyntax-only " +
                                     file_of("partial.cpp", R"(#include <cute/tensor.hpp>
using namespace cute;
void f(float* p) {
  auto const mma = make_tiled_mma(UniversalFMA<float>{}, Layout<Shape<_2, _2, _2>>{});
  Tensor ab = make_tensor(p, Layout<Shape<_8, _8>>{});
  Tensor c = make_tensor(p, Layout<Shape<_8, _8>>{});
  Tensor accum = mma.get_slice(0).partition_fragment_C(c);
  cooperative_gemm(0, mma, )" + std::string(stored ? "1.f, ab, ab, 0.f, c" : "ab, ab, accum") +
                                                                ");\n}\n"));
    EXPECT_EQ(result.status == 0, !stored) << result.text;
    EXPECT_EQ(result.text.find("cooperative_gemm: the threads along K hold partial results of the same elements") !=
                  std::string::npos,
              stored)
        << result.text;
  }
}

// A pipeline of no stages has nothing to acquire.
TEST(CompatHeaders, AStorePipelineOfNoStagesCannotBeAcquired) {
  if (!have_nvcc()) GTEST_SKIP() << "no nvcc";
  CommandResult const result = run("nvcc" + flags + "-gencode arch=compute_90a,code=sm_90a --cubin -o /dev/null " +
                                   file_of("stages.cu",
                                           "#include <cutlass/pipeline/sm90_pipeline.hpp>\n__global__ void f() {\n"
                                           "  cutlass::PipelineTmaStore<0> p;\n  p.producer_commit({});\n"
                                           "  p.producer_acquire({});\n}\n"));
  EXPECT_NE(result.status, 0);
  EXPECT_NE(result.text.find("PipelineTmaStore<0> has no stage to acquire"), std::string::npos) << result.text;
}

// nvcc 13's code generator lays out wrongly a class that ends in an empty member without an address of its
// own: the kernel would then look for its parameters where the host did not put them.
TEST(CompatHeaders, KernelParametersHaveTheSizeThatTheHostGivesThem) {
  if (!have_nvcc()) GTEST_SKIP() << "no nvcc";
  std::string const text = ptx_of(ZELLIGE_SOURCE_DIR "/tests/compat/parameters.cu",
                                  "-gencode arch=compute_90a,code=sm_90a -Werror all-warnings");
  ASSERT_NE(text, "");
  // takes<T, size>(T, int*): the size is the last argument in the mangled name.
  std::regex const entry(R"(\.entry _Z5takes\w*Li(\d+)EEvT_Pi\(\s*\.param [^\[\n]*\[(\d+)\])");
  int kernels = 0;
  for (std::sregex_iterator i(text.begin(), text.end(), entry), end; i != end; ++i, ++kernels)
    EXPECT_EQ((*i)[1], (*i)[2]) << i->str();
  EXPECT_EQ(kernels, 36);
}

}  // namespace
