/* Zellige from any language: graphs become programs, programs run on the caller's memory. A C ABI that grows and does not change:
 * functions are added, structures carry their size, and no exception crosses it.
 *
 *   zellige_graph* graph;
 *   zellige_program* program;
 *   if (zellige_graph_from_json(text, "mlp", &graph)) fail(zellige_last_error());
 *   zellige_options options = {sizeof options};                          // the rest 0: chosen for this machine
 *   if (zellige_program_new(graph, &options, &program)) fail(zellige_last_error());
 *   if (zellige_program_launch(program, inputs, outputs, NULL, stream)) fail(zellige_last_error());
 *
 * Handles may be used from any thread; a program is launched from several at once. Texts are UTF-8 and end in zero; one that a
 * function gives through a `char**` is the caller's, who ends it with zellige_text_free.
 *
 * No argument crashes a function. Handles are looked up in a table: one that is NULL, freed or of another kind is refused, and what is
 * freed while it runs ends when it has run. Addresses that are NULL, misaligned, unmapped, read-only where something is written, or
 * unknown to CUDA where a GPU's are wanted are refused before anything is read or written. What remains the caller's: a stream, a
 * watch and the functions of an exchange table must be valid, and nobody may unmap memory while a function uses it. */
#ifndef ZELLIGE_API_H
#define ZELLIGE_API_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define ZELLIGE_EXPORT
#else
#define ZELLIGE_EXPORT __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Of this header; zellige_api_version() tells the library's, which serves every header of its number or an earlier one. */
#define ZELLIGE_API_VERSION 6
ZELLIGE_EXPORT int zellige_api_version(void);
ZELLIGE_EXPORT const char* zellige_version(void);

typedef enum zellige_status {
  ZELLIGE_OK = 0,
  ZELLIGE_REFUSED = 1, /* the input or the machine is at fault */
  ZELLIGE_FAILED = 2   /* Zellige is */
} zellige_status;

/* What the calling thread's last function that did not succeed says: one sentence; "" before the first. Functions without a status tell
 * by -1 or NaN that they did not; those that free have this sentence alone, and NULL is nothing to free. */
ZELLIGE_EXPORT const char* zellige_last_error(void);
ZELLIGE_EXPORT void zellige_text_free(char* text);

/* ---- Tensors: laid out as DLPack's DLTensor, so that one is passed on as it is. ---- */

typedef struct zellige_tensor {
  void* data;
  int32_t device_type; /* 1: the host; 2: CUDA; 3: the host, pinned */
  int32_t device_id;
  int32_t rank;
  uint8_t dtype_code; /* 0 int, 2 float, 4 bfloat16, 10 float8_e4m3fn, 12 float8_e5m2 */
  uint8_t dtype_bits;
  uint16_t dtype_lanes;   /* 1 */
  const int64_t* shape;   /* outermost first */
  const int64_t* strides; /* in elements; NULL: row-major */
  uint64_t byte_offset;
} zellige_tensor;

/* What a program takes or gives. The pointers live as long as their graph or program. */
typedef struct zellige_tensor_info {
  const char* name;
  const char* dtype; /* f16, bf16, f32, e4m3, e5m2, int8, int32 */
  int32_t rank;
  const int64_t* shape;
  const int64_t* strides; /* in elements; NULL: not chosen yet */
  int64_t bytes;          /* from the first element to the last */
  int32_t alignment;      /* of the memory, in bytes */
  int32_t memory;         /* output: the input whose memory it is, which is then given again; -1: its own */
  int32_t constant;       /* input: no earlier work on the stream writes it */
} zellige_tensor_info;

/* ---- Graphs ---- */

typedef struct zellige_graph zellige_graph;

/* One graph in Zellige's JSON form, or the first of a list. `name` serves where the text has none. */
ZELLIGE_EXPORT zellige_status zellige_graph_from_json(const char* text, const char* name,
                                                      zellige_graph** graph);
ZELLIGE_EXPORT void zellige_graph_free(zellige_graph* graph);
ZELLIGE_EXPORT zellige_status zellige_graph_json(const zellige_graph* graph, char** text);
/* -1 where `graph` is no graph. */
ZELLIGE_EXPORT int zellige_graph_inputs(const zellige_graph* graph);
ZELLIGE_EXPORT int zellige_graph_outputs(const zellige_graph* graph);
ZELLIGE_EXPORT zellige_status zellige_graph_input(const zellige_graph* graph, int index,
                                                  zellige_tensor_info* info);
ZELLIGE_EXPORT zellige_status zellige_graph_output(const zellige_graph* graph, int index,
                                                   zellige_tensor_info* info);

/* ---- Programs ---- */

typedef struct zellige_program zellige_program;

typedef enum zellige_on {
  ZELLIGE_ON_AUTO = 0,     /* wherever its arguments lie: on a GPU, or on the host by the emulator */
  ZELLIGE_ON_GPU = 1,      /* compiled for the GPU at once; refused where there is none */
  ZELLIGE_ON_EMULATOR = 2, /* its kernels on the CPU, every access checked; needs a C++ compiler */
  ZELLIGE_ON_REFERENCE = 3 /* what the graph means, in float64, without kernels */
} zellige_on;

typedef struct zellige_options {
  size_t size; /* of this structure, as the caller knows it */
  int32_t on;
  int32_t tune;                 /* on a GPU: so many tilings are measured, and the fastest is taken */
  const char* target;           /* sm_80, sm_86, sm_89, sm_90a; NULL: the GPU's, else sm_80 */
  const char* tiling;           /* given, chosen, or a manifest's text; NULL: the target's way */
  const char* const* constants; /* names of inputs that no earlier work on the stream writes */
  int32_t constant_count;
  int32_t workers; /* threads of the emulator, at most 1024; 0: one a core */
  int32_t
      as_given; /* 1: kernels as the graph's operators stand; 0: what fuses is fused (docs/explanation/fusion.md) */
  /* Called on the caller's thread while groups of operators are looked for: of a phase, how much is done of what is known to come.
   * 0 ends the search: the best of what is planned by then is taken. NULL: nobody watches. Since version 5. */
  int32_t (*watch)(void* watcher, const char* phase, int64_t done, int64_t of);
  void* watcher;
} zellige_options;

ZELLIGE_EXPORT zellige_status zellige_program_new(const zellige_graph* graph, const zellige_options* options,
                                                  zellige_program** program);
/* A program that was compiled before: the text of NAME.manifest.json, what messages call it, and NAME.cubin's bytes, as `zellige
 * transpile --emit cubin` writes them. It needs neither a compiler nor NVRTC, and runs on GPUs alone. What does not belong together,
 * by the manifest's hashes and by what the cubin's kernels take, is refused. Since version 2. */
ZELLIGE_EXPORT zellige_status zellige_program_load(const char* manifest, const char* name, const void* cubin,
                                                   size_t bytes, zellige_program** program);
/* A manifest that was written by hand (docs/reference/manifest.md) with the hashes that zellige_program_load compares: the cubin's and its own.
 * `sealed` is ended by zellige_text_free. Since version 4. */
ZELLIGE_EXPORT zellige_status zellige_manifest_seal(const char* manifest, const char* name, const void* cubin,
                                                    size_t bytes, char** sealed);
/* CUDA text, which may include Zellige's headers, as a cubin by NVRTC; kept in the cache by its content. `cubin` is ended by
 * zellige_text_free. Since version 2. */
ZELLIGE_EXPORT zellige_status zellige_cubin(const char* source, const char* target, char** cubin,
                                            size_t* bytes);
ZELLIGE_EXPORT void zellige_program_free(zellige_program* program);

typedef enum zellige_text {
  ZELLIGE_SOURCE = 0,     /* the CUDA text, which includes <zellige/block.hpp> */
  ZELLIGE_STANDALONE = 1, /* the same with Zellige's headers in it */
  ZELLIGE_MANIFEST = 2,   /* docs/reference/manifest.md */
  ZELLIGE_PLAN = 3,       /* what each pass decided, in words */
  ZELLIGE_PRICE = 4,      /* what each kernel is expected to take, in words */
  ZELLIGE_GRAPH = 5,      /* the graph that the kernels compute, in JSON: as it was tiled */
  ZELLIGE_TARGET = 6,
  /* A line each. Limits that the search for groups of operators met; and, once it was launched, what was done when it was compiled for
   * the GPU and changes no result: compiled again without cache hints. Since version 3. */
  ZELLIGE_NOTES = 7,
  /* What the proof said of plans that it rejected while others were searched for, a line each: Zellige's own faults, which the program
   * does not share. "" where there were none. Since version 4. */
  ZELLIGE_REJECTED = 8
} zellige_text;
ZELLIGE_EXPORT zellige_status zellige_program_text(const zellige_program* program, zellige_text which,
                                                   char** text);
/* Of the next four, -1 or NaN where `program` is no program. Microseconds that it is expected to take: */
ZELLIGE_EXPORT double zellige_program_price(const zellige_program* program);
ZELLIGE_EXPORT int64_t zellige_program_workspace(const zellige_program* program); /* bytes */
ZELLIGE_EXPORT int zellige_program_inputs(const zellige_program* program);
ZELLIGE_EXPORT int zellige_program_outputs(const zellige_program* program);
ZELLIGE_EXPORT zellige_status zellige_program_input(const zellige_program* program, int index,
                                                    zellige_tensor_info* info);
ZELLIGE_EXPORT zellige_status zellige_program_output(const zellige_program* program, int index,
                                                     zellige_tensor_info* info);

/* Compares every tensor with what the program takes, then runs it: on the GPU's `stream` where they lie there, without a copy, an
 * allocation of theirs or a wait; on the emulator where they lie on the host, until it has ended. */
ZELLIGE_EXPORT zellige_status zellige_program_call(zellige_program* program, const zellige_tensor* inputs,
                                                   int input_count, const zellige_tensor* outputs,
                                                   int output_count, void* stream);

/* The same on objects of Python by their framework's table of C functions (DLPack's DLPackExchangeAPI, of version 1), whose current
 * stream it takes where `stream` is NULL. The caller holds the interpreter's lock; where an object cannot be read, Python's exception is
 * set. */
ZELLIGE_EXPORT zellige_status zellige_program_call_objects(zellige_program* program, const void* exchange,
                                                           void* const* inputs, int input_count,
                                                           void* const* outputs, int output_count,
                                                           void* stream);

/* The same on addresses that kernels of the current context can access, as many as the program takes. Looked at are their alignment and,
 * by cuPointerGetAttributes, that their allocations hold the whole tensors. `workspace` is aligned to 256; NULL: the program's own, one
 * for each stream. May be captured in a CUDA graph: what that uses stays loaded when the program is freed, until the process ends. */
ZELLIGE_EXPORT zellige_status zellige_program_launch(zellige_program* program, void* const* inputs,
                                                     void* const* outputs, void* workspace, void* stream);

/* Compiles now what the first launch would compile, for the GPU of the current context, else the standard device; several programs may be
 * compiled side by side by threads of the caller's. Since version 6. */
ZELLIGE_EXPORT zellige_status zellige_program_compile(zellige_program* program);

/* Microseconds of one evaluation, measured on the standard device ($ZELLIGE_DEVICE, else 0): on random inputs, rotated past the L2,
 * the median of 15 rounds. */
ZELLIGE_EXPORT zellige_status zellige_program_time(const zellige_program* program, double* us);

/* "" where a GPU and CUDA's compiler are here, else why not. `target`: the GPU's; either may be NULL. */
ZELLIGE_EXPORT zellige_status zellige_gpu(char** target, char** why_not);

/* ---- Layouts ---- */

/* Evaluates an expression as `zellige layout` does: composition((_4,_8):(_8,_1), _16:_2). */
ZELLIGE_EXPORT zellige_status zellige_layout(const char* expression, char** result);
/* The operations, one line for each name and each kind of operands: logical_divide(layout, tiler). */
ZELLIGE_EXPORT zellige_status zellige_layout_operations(char** list);
/* A picture of what an expression gives, as SVG: each element in its bank's colour, `element_bits` wide. */
ZELLIGE_EXPORT zellige_status zellige_layout_svg(const char* expression, int element_bits, char** svg);

#ifdef __cplusplus
}
#endif
#endif
