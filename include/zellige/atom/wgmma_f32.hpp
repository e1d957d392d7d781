// Contains the inline PTX of wgmma with float accumulators (see wgmma.hpp). Inline PTX needs a literal operand list, so
// there is one specialization per number of accumulator registers. N, types and signs are passed as strings.
#pragma once

#include <zellige/atom/config.hpp>

namespace zellige::detail {

template <int Registers>
struct wgmma_f32;

// clang-format off
#define ZELLIGE_WGMMA_F32_L4 "%0, %1, %2, %3"
#define ZELLIGE_WGMMA_F32_O4 "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
#define ZELLIGE_WGMMA_F32_L8 ZELLIGE_WGMMA_F32_L4 ", %4, %5, %6, %7"
#define ZELLIGE_WGMMA_F32_O8 ZELLIGE_WGMMA_F32_O4, "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
#define ZELLIGE_WGMMA_F32_L12 ZELLIGE_WGMMA_F32_L8 ", %8, %9, %10, %11"
#define ZELLIGE_WGMMA_F32_O12 ZELLIGE_WGMMA_F32_O8, "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11])
#define ZELLIGE_WGMMA_F32_L16 ZELLIGE_WGMMA_F32_L12 ", %12, %13, %14, %15"
#define ZELLIGE_WGMMA_F32_O16 ZELLIGE_WGMMA_F32_O12, "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
#define ZELLIGE_WGMMA_F32_L20 ZELLIGE_WGMMA_F32_L16 ", %16, %17, %18, %19"
#define ZELLIGE_WGMMA_F32_O20 ZELLIGE_WGMMA_F32_O16, "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19])
#define ZELLIGE_WGMMA_F32_L24 ZELLIGE_WGMMA_F32_L20 ", %20, %21, %22, %23"
#define ZELLIGE_WGMMA_F32_O24 ZELLIGE_WGMMA_F32_O20, "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23])
#define ZELLIGE_WGMMA_F32_L28 ZELLIGE_WGMMA_F32_L24 ", %24, %25, %26, %27"
#define ZELLIGE_WGMMA_F32_O28 ZELLIGE_WGMMA_F32_O24, "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27])
#define ZELLIGE_WGMMA_F32_L32 ZELLIGE_WGMMA_F32_L28 ", %28, %29, %30, %31"
#define ZELLIGE_WGMMA_F32_O32 ZELLIGE_WGMMA_F32_O28, "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
#define ZELLIGE_WGMMA_F32_L36 ZELLIGE_WGMMA_F32_L32 ", %32, %33, %34, %35"
#define ZELLIGE_WGMMA_F32_O36 ZELLIGE_WGMMA_F32_O32, "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35])
#define ZELLIGE_WGMMA_F32_L40 ZELLIGE_WGMMA_F32_L36 ", %36, %37, %38, %39"
#define ZELLIGE_WGMMA_F32_O40 ZELLIGE_WGMMA_F32_O36, "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39])
#define ZELLIGE_WGMMA_F32_L44 ZELLIGE_WGMMA_F32_L40 ", %40, %41, %42, %43"
#define ZELLIGE_WGMMA_F32_O44 ZELLIGE_WGMMA_F32_O40, "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43])
#define ZELLIGE_WGMMA_F32_L48 ZELLIGE_WGMMA_F32_L44 ", %44, %45, %46, %47"
#define ZELLIGE_WGMMA_F32_O48 ZELLIGE_WGMMA_F32_O44, "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47])
#define ZELLIGE_WGMMA_F32_L52 ZELLIGE_WGMMA_F32_L48 ", %48, %49, %50, %51"
#define ZELLIGE_WGMMA_F32_O52 ZELLIGE_WGMMA_F32_O48, "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51])
#define ZELLIGE_WGMMA_F32_L56 ZELLIGE_WGMMA_F32_L52 ", %52, %53, %54, %55"
#define ZELLIGE_WGMMA_F32_O56 ZELLIGE_WGMMA_F32_O52, "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55])
#define ZELLIGE_WGMMA_F32_L60 ZELLIGE_WGMMA_F32_L56 ", %56, %57, %58, %59"
#define ZELLIGE_WGMMA_F32_O60 ZELLIGE_WGMMA_F32_O56, "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59])
#define ZELLIGE_WGMMA_F32_L64 ZELLIGE_WGMMA_F32_L60 ", %60, %61, %62, %63"
#define ZELLIGE_WGMMA_F32_O64 ZELLIGE_WGMMA_F32_O60, "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
#define ZELLIGE_WGMMA_F32_L68 ZELLIGE_WGMMA_F32_L64 ", %64, %65, %66, %67"
#define ZELLIGE_WGMMA_F32_O68 ZELLIGE_WGMMA_F32_O64, "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67])
#define ZELLIGE_WGMMA_F32_L72 ZELLIGE_WGMMA_F32_L68 ", %68, %69, %70, %71"
#define ZELLIGE_WGMMA_F32_O72 ZELLIGE_WGMMA_F32_O68, "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71])
#define ZELLIGE_WGMMA_F32_L76 ZELLIGE_WGMMA_F32_L72 ", %72, %73, %74, %75"
#define ZELLIGE_WGMMA_F32_O76 ZELLIGE_WGMMA_F32_O72, "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75])
#define ZELLIGE_WGMMA_F32_L80 ZELLIGE_WGMMA_F32_L76 ", %76, %77, %78, %79"
#define ZELLIGE_WGMMA_F32_O80 ZELLIGE_WGMMA_F32_O76, "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79])
#define ZELLIGE_WGMMA_F32_L84 ZELLIGE_WGMMA_F32_L80 ", %80, %81, %82, %83"
#define ZELLIGE_WGMMA_F32_O84 ZELLIGE_WGMMA_F32_O80, "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83])
#define ZELLIGE_WGMMA_F32_L88 ZELLIGE_WGMMA_F32_L84 ", %84, %85, %86, %87"
#define ZELLIGE_WGMMA_F32_O88 ZELLIGE_WGMMA_F32_O84, "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87])
#define ZELLIGE_WGMMA_F32_L92 ZELLIGE_WGMMA_F32_L88 ", %88, %89, %90, %91"
#define ZELLIGE_WGMMA_F32_O92 ZELLIGE_WGMMA_F32_O88, "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91])
#define ZELLIGE_WGMMA_F32_L96 ZELLIGE_WGMMA_F32_L92 ", %92, %93, %94, %95"
#define ZELLIGE_WGMMA_F32_O96 ZELLIGE_WGMMA_F32_O92, "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95])
#define ZELLIGE_WGMMA_F32_L100 ZELLIGE_WGMMA_F32_L96 ", %96, %97, %98, %99"
#define ZELLIGE_WGMMA_F32_O100 ZELLIGE_WGMMA_F32_O96, "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99])
#define ZELLIGE_WGMMA_F32_L104 ZELLIGE_WGMMA_F32_L100 ", %100, %101, %102, %103"
#define ZELLIGE_WGMMA_F32_O104 ZELLIGE_WGMMA_F32_O100, "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103])
#define ZELLIGE_WGMMA_F32_L108 ZELLIGE_WGMMA_F32_L104 ", %104, %105, %106, %107"
#define ZELLIGE_WGMMA_F32_O108 ZELLIGE_WGMMA_F32_O104, "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107])
#define ZELLIGE_WGMMA_F32_L112 ZELLIGE_WGMMA_F32_L108 ", %108, %109, %110, %111"
#define ZELLIGE_WGMMA_F32_O112 ZELLIGE_WGMMA_F32_O108, "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111])
#define ZELLIGE_WGMMA_F32_L116 ZELLIGE_WGMMA_F32_L112 ", %112, %113, %114, %115"
#define ZELLIGE_WGMMA_F32_O116 ZELLIGE_WGMMA_F32_O112, "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115])
#define ZELLIGE_WGMMA_F32_L120 ZELLIGE_WGMMA_F32_L116 ", %116, %117, %118, %119"
#define ZELLIGE_WGMMA_F32_O120 ZELLIGE_WGMMA_F32_O116, "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119])
#define ZELLIGE_WGMMA_F32_L124 ZELLIGE_WGMMA_F32_L120 ", %120, %121, %122, %123"
#define ZELLIGE_WGMMA_F32_O124 ZELLIGE_WGMMA_F32_O120, "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123])
#define ZELLIGE_WGMMA_F32_L128 ZELLIGE_WGMMA_F32_L124 ", %124, %125, %126, %127"
#define ZELLIGE_WGMMA_F32_O128 ZELLIGE_WGMMA_F32_O124, "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])
// Defines the PTX for n accumulator registers. r0, r1, ... are the numbers of the PTX operands after the
// accumulators, `list` the accumulators' operands as a string.
#define ZELLIGE_WGMMA_F32(n, r0, r1, r2, r3, r4, r5, r6, r7, r8, list, ...)                                        \
  template <>                                                                                                \
  struct wgmma_f32<n> {                                                                                    \
    template <class D, class N, class Type, class Tail>                                                      \
    ZELLIGE_CALL static void ss(D (&d)[n], uint64_t a, uint64_t b, int accumulate) {                         \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #r2 ", 0;\nwgmma.mma_async.sync.aligned.m64n%" #r3   \
                   "k%" #r4 " {" list "}, %" #r0 ", %" #r1 ", p%" #r5 ";\n}"                                \
                   : __VA_ARGS__                                                                             \
                   : "l"(a), "l"(b), "r"(accumulate), "C"(N::text), "C"(Type::text), "C"(Tail::text));       \
    }                                                                                                        \
    template <class D, class N, class Type, class Tail>                                                      \
    ZELLIGE_CALL static void rs(D (&d)[n], const uint32_t (&a)[4], uint64_t b, int accumulate) {             \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #r5 ", 0;\nwgmma.mma_async.sync.aligned.m64n%" #r6   \
                   "k%" #r7 " {" list "}, {%" #r0 ", %" #r1 ", %" #r2 ", %" #r3 "}, %" #r4 ", p%" #r8 ";\n}" \
                   : __VA_ARGS__                                                                             \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate), "C"(N::text),      \
                     "C"(Type::text), "C"(Tail::text));                                                      \
    }                                                                                                        \
  };
ZELLIGE_WGMMA_F32(4, 4, 5, 6, 7, 8, 9, 10, 11, 12, ZELLIGE_WGMMA_F32_L4, ZELLIGE_WGMMA_F32_O4)
ZELLIGE_WGMMA_F32(8, 8, 9, 10, 11, 12, 13, 14, 15, 16, ZELLIGE_WGMMA_F32_L8, ZELLIGE_WGMMA_F32_O8)
ZELLIGE_WGMMA_F32(12, 12, 13, 14, 15, 16, 17, 18, 19, 20, ZELLIGE_WGMMA_F32_L12, ZELLIGE_WGMMA_F32_O12)
ZELLIGE_WGMMA_F32(16, 16, 17, 18, 19, 20, 21, 22, 23, 24, ZELLIGE_WGMMA_F32_L16, ZELLIGE_WGMMA_F32_O16)
ZELLIGE_WGMMA_F32(20, 20, 21, 22, 23, 24, 25, 26, 27, 28, ZELLIGE_WGMMA_F32_L20, ZELLIGE_WGMMA_F32_O20)
ZELLIGE_WGMMA_F32(24, 24, 25, 26, 27, 28, 29, 30, 31, 32, ZELLIGE_WGMMA_F32_L24, ZELLIGE_WGMMA_F32_O24)
ZELLIGE_WGMMA_F32(28, 28, 29, 30, 31, 32, 33, 34, 35, 36, ZELLIGE_WGMMA_F32_L28, ZELLIGE_WGMMA_F32_O28)
ZELLIGE_WGMMA_F32(32, 32, 33, 34, 35, 36, 37, 38, 39, 40, ZELLIGE_WGMMA_F32_L32, ZELLIGE_WGMMA_F32_O32)
ZELLIGE_WGMMA_F32(36, 36, 37, 38, 39, 40, 41, 42, 43, 44, ZELLIGE_WGMMA_F32_L36, ZELLIGE_WGMMA_F32_O36)
ZELLIGE_WGMMA_F32(40, 40, 41, 42, 43, 44, 45, 46, 47, 48, ZELLIGE_WGMMA_F32_L40, ZELLIGE_WGMMA_F32_O40)
ZELLIGE_WGMMA_F32(44, 44, 45, 46, 47, 48, 49, 50, 51, 52, ZELLIGE_WGMMA_F32_L44, ZELLIGE_WGMMA_F32_O44)
ZELLIGE_WGMMA_F32(48, 48, 49, 50, 51, 52, 53, 54, 55, 56, ZELLIGE_WGMMA_F32_L48, ZELLIGE_WGMMA_F32_O48)
ZELLIGE_WGMMA_F32(52, 52, 53, 54, 55, 56, 57, 58, 59, 60, ZELLIGE_WGMMA_F32_L52, ZELLIGE_WGMMA_F32_O52)
ZELLIGE_WGMMA_F32(56, 56, 57, 58, 59, 60, 61, 62, 63, 64, ZELLIGE_WGMMA_F32_L56, ZELLIGE_WGMMA_F32_O56)
ZELLIGE_WGMMA_F32(60, 60, 61, 62, 63, 64, 65, 66, 67, 68, ZELLIGE_WGMMA_F32_L60, ZELLIGE_WGMMA_F32_O60)
ZELLIGE_WGMMA_F32(64, 64, 65, 66, 67, 68, 69, 70, 71, 72, ZELLIGE_WGMMA_F32_L64, ZELLIGE_WGMMA_F32_O64)
ZELLIGE_WGMMA_F32(68, 68, 69, 70, 71, 72, 73, 74, 75, 76, ZELLIGE_WGMMA_F32_L68, ZELLIGE_WGMMA_F32_O68)
ZELLIGE_WGMMA_F32(72, 72, 73, 74, 75, 76, 77, 78, 79, 80, ZELLIGE_WGMMA_F32_L72, ZELLIGE_WGMMA_F32_O72)
ZELLIGE_WGMMA_F32(76, 76, 77, 78, 79, 80, 81, 82, 83, 84, ZELLIGE_WGMMA_F32_L76, ZELLIGE_WGMMA_F32_O76)
ZELLIGE_WGMMA_F32(80, 80, 81, 82, 83, 84, 85, 86, 87, 88, ZELLIGE_WGMMA_F32_L80, ZELLIGE_WGMMA_F32_O80)
ZELLIGE_WGMMA_F32(84, 84, 85, 86, 87, 88, 89, 90, 91, 92, ZELLIGE_WGMMA_F32_L84, ZELLIGE_WGMMA_F32_O84)
ZELLIGE_WGMMA_F32(88, 88, 89, 90, 91, 92, 93, 94, 95, 96, ZELLIGE_WGMMA_F32_L88, ZELLIGE_WGMMA_F32_O88)
ZELLIGE_WGMMA_F32(92, 92, 93, 94, 95, 96, 97, 98, 99, 100, ZELLIGE_WGMMA_F32_L92, ZELLIGE_WGMMA_F32_O92)
ZELLIGE_WGMMA_F32(96, 96, 97, 98, 99, 100, 101, 102, 103, 104, ZELLIGE_WGMMA_F32_L96, ZELLIGE_WGMMA_F32_O96)
ZELLIGE_WGMMA_F32(100, 100, 101, 102, 103, 104, 105, 106, 107, 108, ZELLIGE_WGMMA_F32_L100, ZELLIGE_WGMMA_F32_O100)
ZELLIGE_WGMMA_F32(104, 104, 105, 106, 107, 108, 109, 110, 111, 112, ZELLIGE_WGMMA_F32_L104, ZELLIGE_WGMMA_F32_O104)
ZELLIGE_WGMMA_F32(108, 108, 109, 110, 111, 112, 113, 114, 115, 116, ZELLIGE_WGMMA_F32_L108, ZELLIGE_WGMMA_F32_O108)
ZELLIGE_WGMMA_F32(112, 112, 113, 114, 115, 116, 117, 118, 119, 120, ZELLIGE_WGMMA_F32_L112, ZELLIGE_WGMMA_F32_O112)
ZELLIGE_WGMMA_F32(116, 116, 117, 118, 119, 120, 121, 122, 123, 124, ZELLIGE_WGMMA_F32_L116, ZELLIGE_WGMMA_F32_O116)
ZELLIGE_WGMMA_F32(120, 120, 121, 122, 123, 124, 125, 126, 127, 128, ZELLIGE_WGMMA_F32_L120, ZELLIGE_WGMMA_F32_O120)
ZELLIGE_WGMMA_F32(124, 124, 125, 126, 127, 128, 129, 130, 131, 132, ZELLIGE_WGMMA_F32_L124, ZELLIGE_WGMMA_F32_O124)
ZELLIGE_WGMMA_F32(128, 128, 129, 130, 131, 132, 133, 134, 135, 136, ZELLIGE_WGMMA_F32_L128, ZELLIGE_WGMMA_F32_O128)
#undef ZELLIGE_WGMMA_F32
// clang-format on

}  // namespace zellige::detail
