/* The C ABI of Zellige, for any language: graphs are compiled to programs, and programs run on the caller's
 * memory. The ABI grows and does not change: functions are added, structures carry their size, and no
 * exception crosses it.
 *
 *   zellige_graph* graph;
 *   zellige_program* program;
 *   if (zellige_graph_from_json(text, "mlp", &graph)) fail(zellige_last_error());
 *   zellige_options options = {sizeof options};                          // the rest 0: defaults
 *   if (zellige_program_new(graph, &options, &program)) fail(zellige_last_error());
 *   if (zellige_program_launch(program, inputs, outputs, NULL, stream)) fail(zellige_last_error());
 *
 * Handles may be used from any thread; several threads may launch one program at once. Strings are UTF-8 and
 * zero-terminated; a string that a function returns through a `char**` belongs to the caller, who frees it
 * with zellige_text_free. A child process that is forked while a thread is in a call refuses all calls: locks
 * of that thread are never released in it.
 *
 * No argument crashes a function. Handles are looked up in a table: one that is NULL, freed or of another
 * type is refused; a program that is freed while it runs is destroyed after the run. Addresses are refused
 * before any access if they are NULL, misaligned, unmapped, read-only but to be written, or unknown to CUDA
 * where a GPU's address is needed. The caller guarantees the rest: a stream, a watch and the functions of an
 * exchange table must be valid, and no memory may be unmapped while a function uses it. */
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

/* The version of this header. zellige_api_version() returns the library's; a library serves all headers of
 * its own or an earlier version. */
#define ZELLIGE_API_VERSION 11
ZELLIGE_EXPORT int zellige_api_version(void);
ZELLIGE_EXPORT const char* zellige_version(void);

typedef enum zellige_status {
  ZELLIGE_OK = 0,
  ZELLIGE_REFUSED = 1,  /* the input or the machine is at fault */
  ZELLIGE_FAILED = 2,   /* an internal error of Zellige */
  ZELLIGE_EXHAUSTED = 3 /* the machine has no memory, files or threads left: a later call may succeed */
} zellige_status;

/* The message of the calling thread's last failed function, one sentence; "" before the first failure.
 * Functions without a status return -1 or NaN on failure; functions that free report a failure only here, and
 * freeing NULL is not one. */
ZELLIGE_EXPORT const char* zellige_last_error(void);
ZELLIGE_EXPORT void zellige_text_free(char* text);

/* ---- Tensors: the same layout as DLPack's DLTensor, so that one can be passed unchanged. ---- */

typedef struct zellige_tensor {
  void* data;
  int32_t device_type; /* 1: the host; 2: CUDA; 3: the host, pinned */
  int32_t device_id;
  int32_t rank;
  uint8_t
      dtype_code; /* 0 int, 2 float, 4 bfloat16, 10 float8_e4m3fn, 12 float8_e5m2; 1 (8 bits): bytes of int4, uint4, e2m1, e8m0 */
  uint8_t dtype_bits;
  uint16_t dtype_lanes;   /* 1 */
  const int64_t* shape;   /* outermost first */
  const int64_t* strides; /* in elements; NULL: row-major */
  uint64_t byte_offset;
} zellige_tensor;

/* An input or output of a program or graph. The pointers are valid as long as the graph or program. */
typedef struct zellige_tensor_info {
  const char* name;
  const char* dtype; /* a name of docs/reference/dtypes.md, such as f16 */
  int32_t rank;
  const int64_t* shape;   /* -1: an extent of a program that is known at launch only; of a graph, the largest */
  const int64_t* strides; /* in elements; NULL: not yet assigned; -1: known at launch only */
  int64_t bytes;          /* from the first element to the last; for the largest sizes */
  int32_t alignment;      /* required of the address, in bytes */
  int32_t memory;         /* output: the index of the input that it aliases, which must be passed again; -1: none */
  int32_t constant;       /* input: no earlier work on the stream writes it */
} zellige_tensor_info;

/* ---- Graphs ---- */

typedef struct zellige_graph zellige_graph;

/* Parses one graph in Zellige's JSON form, or the first of a list. `name` is used if the JSON has none. */
ZELLIGE_EXPORT zellige_status zellige_graph_from_json(const char* text, const char* name, zellige_graph** graph);
ZELLIGE_EXPORT void zellige_graph_free(zellige_graph* graph);
ZELLIGE_EXPORT zellige_status zellige_graph_json(const zellige_graph* graph, char** text);
/* The next two return -1 if `graph` is not a graph. */
ZELLIGE_EXPORT int zellige_graph_inputs(const zellige_graph* graph);
ZELLIGE_EXPORT int zellige_graph_outputs(const zellige_graph* graph);
ZELLIGE_EXPORT zellige_status zellige_graph_input(const zellige_graph* graph, int index, zellige_tensor_info* info);
ZELLIGE_EXPORT zellige_status zellige_graph_output(const zellige_graph* graph, int index, zellige_tensor_info* info);
/* Sets `sizes` to the values of the graph's sizes, in its order, at which inputs have these shapes, one of rank ranks[i] each; NULL: a
 * shape that is not known. Refused as zellige_program_find_sizes refuses. Since version 8. */
ZELLIGE_EXPORT zellige_status zellige_graph_find_sizes(const zellige_graph* graph, const int64_t* const* shapes,
                                                       const int* ranks, int input_count, int64_t* sizes,
                                                       int size_count);

/* ---- Programs ---- */

typedef struct zellige_program zellige_program;

typedef enum zellige_on {
  ZELLIGE_ON_AUTO = 0,     /* where the arguments are: on a GPU, or on the host by the emulator */
  ZELLIGE_ON_GPU = 1,      /* compiled for the GPU at once; refused if there is no GPU */
  ZELLIGE_ON_EMULATOR = 2, /* its kernels on the CPU, every access checked; needs a C++ compiler */
  ZELLIGE_ON_REFERENCE = 3 /* evaluates the graph in float64, without kernels */
} zellige_on;

typedef struct zellige_options {
  size_t size; /* of this structure in the caller's version */
  int32_t on;
  int32_t tune;                 /* on a GPU: measures this many tilings and takes the fastest */
  const char* target;           /* such as sm_90a; NULL: the GPU's, else sm_80 */
  const char* tiling;           /* given, chosen, or a manifest's contents; NULL: the target's default */
  const char* const* constants; /* names of inputs that no earlier work on the stream writes */
  int32_t constant_count;
  int32_t workers;  /* threads of the emulator, at most 1024; 0: one per core */
  int32_t as_given; /* 1: operators are not fused; 0: they are (docs/explanation/fusion.md) */
  /* Called on the caller's thread during the search for fusion groups with a phase, the work done and the
   * work known so far. Returning 0 ends the search, which takes the best plan found by then. NULL: no
   * callback. Since version 5. */
  int32_t (*watch)(void* watcher, const char* phase, int64_t done, int64_t of);
  void* watcher;
  /* 1: the program is taken from the user's cache if this build of the library has planned an equal graph with
   * equal options before, in any process, and kept there if not. What describes the plan in words is then
   * planned when it is asked for. 0: it is planned. Since version 7. */
  int32_t keep;
  /* What computes collectives of a graph over ranks: 0, what is expected to take less time; 1, NCCL; 2, kernels that read or
   * write the memory of the other GPUs, where there is one. Since version 10. Which kernels: 3, those that add all parts on each
   * rank; 4, those that add a share for all ranks; 5, those of the products before or after (docs/explanation/ranks.md). Since
   * version 11. The same on all ranks. */
  int32_t collectives;
} zellige_options;

ZELLIGE_EXPORT zellige_status zellige_program_new(const zellige_graph* graph, const zellige_options* options,
                                                  zellige_program** program);
/* Loads a compiled program: the contents of NAME.manifest.json, the name for messages, and the bytes of
 * NAME.cubin, as `zellige transpile --emit cubin` writes them. Needs neither a compiler nor NVRTC, and runs
 * on GPUs only. Refused if the manifest and the cubin do not match, by the manifest's hashes and the kernels'
 * parameters. Since version 2. */
ZELLIGE_EXPORT zellige_status zellige_program_load(const char* manifest, const char* name, const void* cubin,
                                                   size_t bytes, zellige_program** program);
/* Adds to a hand-edited manifest (docs/reference/manifest.md) the hashes that zellige_program_load compares:
 * the cubin's and the manifest's. Free `sealed` with zellige_text_free. Since version 4. */
ZELLIGE_EXPORT zellige_status zellige_manifest_seal(const char* manifest, const char* name, const void* cubin,
                                                    size_t bytes, char** sealed);
/* Compiles CUDA source code, which may include Zellige's headers, to a cubin with NVRTC; cached by content.
 * Free `cubin` with zellige_text_free. Since version 2. */
ZELLIGE_EXPORT zellige_status zellige_cubin(const char* source, const char* target, char** cubin, size_t* bytes);
ZELLIGE_EXPORT void zellige_program_free(zellige_program* program);

typedef enum zellige_text {
  ZELLIGE_SOURCE = 0,     /* the CUDA source code, which includes <zellige/block.hpp> */
  ZELLIGE_STANDALONE = 1, /* the same with Zellige's headers inlined */
  ZELLIGE_MANIFEST = 2,   /* docs/reference/manifest.md */
  ZELLIGE_PLAN = 3,       /* the decisions of each pass, as text: docs/reference/kernel-ir.md */
  ZELLIGE_PRICE = 4,      /* the estimated time of each kernel, in words */
  ZELLIGE_GRAPH = 5,      /* the graph that the kernels compute, in JSON, with its tiling */
  ZELLIGE_TARGET = 6,
  /* One line per note: limits that the search for fusion groups reached and, after the first launch, measures
   * of the GPU compilation that do not change results (recompiled without cache hints). Since version 3. */
  ZELLIGE_NOTES = 7,
  /* One line per plan that the verifier rejected during the search, with its reason: an internal error of
   * Zellige that does not affect the program. "" if there was none. Since version 4. */
  ZELLIGE_REJECTED = 8,
  /* A page of HTML that says why the kernels are as they are, as `zellige explain` writes it. Plans the graph again. Since
   * version 9. */
  ZELLIGE_PAGE = 9
} zellige_text;
ZELLIGE_EXPORT zellige_status zellige_program_text(const zellige_program* program, zellige_text which, char** text);
/* The next four return -1 or NaN if `program` is not a program. Estimated time in microseconds: */
ZELLIGE_EXPORT double zellige_program_price(const zellige_program* program);
ZELLIGE_EXPORT int64_t zellige_program_workspace(const zellige_program* program); /* bytes; for the largest sizes */
ZELLIGE_EXPORT int zellige_program_inputs(const zellige_program* program);
ZELLIGE_EXPORT int zellige_program_outputs(const zellige_program* program);
ZELLIGE_EXPORT zellige_status zellige_program_input(const zellige_program* program, int index,
                                                    zellige_tensor_info* info);
ZELLIGE_EXPORT zellige_status zellige_program_output(const zellige_program* program, int index,
                                                     zellige_tensor_info* info);

/* A size that is known at launch only, such as a number of rows: a multiple of `multiple` from `min` to `max`. The pointer is
 * valid as long as the program. Since version 8. */
typedef struct zellige_size_info {
  const char* name;
  int64_t min, max, multiple;
} zellige_size_info;
/* How many sizes the program has, in the order in which zellige_program_launch_sizes takes them; 0 if all its shapes are
 * constants; -1 if `program` is not a program. Since version 8. */
ZELLIGE_EXPORT int zellige_program_sizes(const zellige_program* program);
ZELLIGE_EXPORT zellige_status zellige_program_size(const zellige_program* program, int index, zellige_size_info* info);
/* Sets `sizes` to those that the shapes of the inputs have. Refused, with both values and where each came from, if inputs
 * disagree, or if a size is out of its range or no input has it. Since version 8. */
ZELLIGE_EXPORT zellige_status zellige_program_find_sizes(const zellige_program* program, const zellige_tensor* inputs,
                                                         int input_count, int64_t* sizes, int size_count);
/* Sets `shape` and `strides`, which have as many entries as the rank of output `index`, and its bytes, to what they are at these
 * sizes. Since version 8. */
ZELLIGE_EXPORT zellige_status zellige_program_output_sizes(const zellige_program* program, int index,
                                                           const int64_t* sizes, int size_count, int64_t* shape,
                                                           int64_t* strides, int64_t* bytes);
/* The bytes of the workspace of a launch with these sizes; -1 if one is out of its range. Since version 8. */
ZELLIGE_EXPORT int64_t zellige_program_workspace_sizes(const zellige_program* program, const int64_t* sizes,
                                                       int size_count);

/* Compares every tensor with what the program expects, then runs it; sizes are those of the tensors' shapes. Tensors on a GPU: asynchronously on
 * `stream`, without copying or allocating tensors. Tensors on the host: on the emulator; returns when the run
 * has ended. */
ZELLIGE_EXPORT zellige_status zellige_program_call(zellige_program* program, const zellige_tensor* inputs,
                                                   int input_count, const zellige_tensor* outputs, int output_count,
                                                   void* stream);

/* The same for Python objects, through their framework's table of C functions (DLPack's DLPackExchangeAPI,
 * version 1), whose current stream is used if `stream` is NULL. The caller holds the interpreter's lock; if
 * an object cannot be read, the Python exception is set. */
ZELLIGE_EXPORT zellige_status zellige_program_call_objects(zellige_program* program, const void* exchange,
                                                           void* const* inputs, int input_count, void* const* outputs,
                                                           int output_count, void* stream);

/* The same for addresses that kernels of the current context can access, one per input and output. Checks
 * their alignment and, with cuPointerGetAttributes, that their allocations hold the whole tensors.
 * `workspace` is aligned to 256; NULL: the program's own, one per stream. May be captured in a CUDA graph:
 * the modules and memory that the graph uses then stay loaded until the process ends, even if the program is
 * freed. */
ZELLIGE_EXPORT zellige_status zellige_program_launch(zellige_program* program, void* const* inputs,
                                                     void* const* outputs, void* workspace, void* stream);

/* The same for a program with sizes, whose values are `sizes`: addresses say nothing of them. zellige_program_launch refuses such
 * a program. The program's own workspaces are as large as the largest sizes need. Since version 8. */
ZELLIGE_EXPORT zellige_status zellige_program_launch_sizes(zellige_program* program, const int64_t* sizes,
                                                           int size_count, void* const* inputs, void* const* outputs,
                                                           void* workspace, void* stream);

/* Compiles now what the first launch would compile, for the GPU of the current context or, without one, the
 * default device. Threads of the caller may compile several programs in parallel. Since version 6. */
ZELLIGE_EXPORT zellige_status zellige_program_compile(zellige_program* program);

/* Measures one evaluation in microseconds on the default device ($ZELLIGE_DEVICE, else 0): random inputs,
 * cold L2 (rotated buffers), median of 15 rounds. */
ZELLIGE_EXPORT zellige_status zellige_program_time(const zellige_program* program, double* us);

/* Sets `why_not` to "" if a GPU and CUDA's compiler are available, else to the reason. `target`: the GPU's.
 * Either may be NULL. */
ZELLIGE_EXPORT zellige_status zellige_gpu(char** target, char** why_not);

/* ---- Graphs over ranks: docs/how-to/run-on-several-gpus.md. Since version 10. ---- */

/* One rank of a job, with its connections to the others. Nothing waits for ever: a rank that others do not join, or that has lost
 * one, ends with a sentence after $ZELLIGE_RANKS_TIMEOUT seconds (120). Where `on` is asked for, it is ZELLIGE_ON_GPU,
 * ZELLIGE_ON_EMULATOR, or ZELLIGE_ON_AUTO: on the GPU if the machine has one. */
typedef struct zellige_ranks zellige_ranks;

/* This process's rank in the job of torchrun or mpirun, on the GPU of its local rank or $ZELLIGE_DEVICE. Waits for the others. */
ZELLIGE_EXPORT zellige_status zellige_ranks_of_environment(int32_t on, zellige_ranks** ranks);
/* Sets ranks[0] to ranks[count - 1] to ranks of this process, for a thread each: on GPU 0 to count - 1, or all on the emulator. */
ZELLIGE_EXPORT zellige_status zellige_ranks_of_threads(int32_t on, int32_t count, zellige_ranks** ranks);
/* The rank of the caller's ncclComm_t, which must outlive `ranks`, on the GPU of the current context. */
ZELLIGE_EXPORT zellige_status zellige_ranks_of_nccl(void* comm, zellige_ranks** ranks);
/* Rank `rank` of `count`, which pass each other bytes by a function of the caller: it copies `bytes` bytes of each rank to `all`, in
 * their order, and returns 0 if it could. On the GPU of the current context. The function must be valid as long as `ranks`. */
typedef int (*zellige_gather)(void* with, const void* mine, void* all, size_t bytes);
ZELLIGE_EXPORT zellige_status zellige_ranks_of_gather(int32_t on, int32_t rank, int32_t count, zellige_gather gather,
                                                      void* with, zellige_ranks** ranks);
ZELLIGE_EXPORT void zellige_ranks_free(zellige_ranks* ranks);
/* The next three return -1 if `ranks` is none. The device is the GPU's index; -2: the emulator. */
ZELLIGE_EXPORT int zellige_ranks_rank(const zellige_ranks* ranks);
ZELLIGE_EXPORT int zellige_ranks_count(const zellige_ranks* ranks);
ZELLIGE_EXPORT int zellige_ranks_device(const zellige_ranks* ranks);

/* What one rank runs: kernels, and collectives between them or in them. */
typedef struct zellige_rank_program zellige_rank_program;

/* All ranks must call it, with equal graphs and options: a rank that differs is named on each. `on` and `tune` of the options are
 * not used. */
ZELLIGE_EXPORT zellige_status zellige_rank_program_new(const zellige_graph* graph, zellige_ranks* ranks,
                                                       const zellige_options* options, zellige_rank_program** program);
ZELLIGE_EXPORT void zellige_rank_program_free(zellige_rank_program* program);
/* Runs this rank on tensors of its own, in the order of the graph's inputs and outputs (zellige_graph_input). On a GPU: asynchronously
 * on `stream`, as zellige_program_launch does; may be captured in a CUDA graph, which must not outlive the program. Launches of a
 * program on several streams must not overlap. On the emulator: addresses of the host; returns when the run has ended. All
 * ranks must launch their programs in the same order. */
ZELLIGE_EXPORT zellige_status zellige_rank_program_launch(zellige_rank_program* program, void* const* inputs,
                                                          void* const* outputs, void* stream);
/* Waits for the stream. Refused if a rank has died, with its number where ranks know each other (not those of an ncclComm_t), or
 * if the time is up; the GPU's work of this process may then never end. */
ZELLIGE_EXPORT zellige_status zellige_rank_program_wait(zellige_rank_program* program, void* stream);
/* ZELLIGE_MANIFEST: the steps in JSON (docs/how-to/run-on-several-gpus.md). ZELLIGE_SOURCE: the CUDA source code of all steps. ZELLIGE_TARGET.
 * ZELLIGE_NOTES: one line per note: how many collectives there are, what computes them, and why. */
ZELLIGE_EXPORT zellige_status zellige_rank_program_text(const zellige_rank_program* program, zellige_text which,
                                                        char** text);

/* ---- The user's cache ---- */

/* Text that a caller keeps from process to process: what its own analysis of a model decided. The entries are
 * of this build of the library and take 64 MB at most; the oldest are deleted. `zellige cache` lists and
 * clears them. `text` becomes NULL if nothing is kept under the key, or if the entry is damaged. Keeping fails
 * silently if the folder cannot be written. Since version 7. */
ZELLIGE_EXPORT zellige_status zellige_kept(const char* key, char** text);
ZELLIGE_EXPORT zellige_status zellige_keep(const char* key, const char* text);

/* ---- Layouts ---- */

/* Evaluates an expression as `zellige layout` does: composition((_4,_8):(_8,_1), _16:_2). */
ZELLIGE_EXPORT zellige_status zellige_layout(const char* expression, char** result);
/* Lists the operations, one line per name and operand types: logical_divide(layout, tiler). */
ZELLIGE_EXPORT zellige_status zellige_layout_operations(char** list);
/* Draws the result of an expression as SVG: each element in the colour of its bank, `element_bits` wide. */
ZELLIGE_EXPORT zellige_status zellige_layout_svg(const char* expression, int element_bits, char** svg);

/* ---- Costs: which of two ways is taken ---- */

/* What a way to compute something costs, or what is saved; times in microseconds. Since version 8. */
typedef struct zellige_cost {
  size_t size;    /* of this structure in the caller's version */
  double us;      /* on the GPU */
  double host_us; /* of the host's thread */
  int64_t launches;
  int64_t workspace; /* bytes of intermediate tensors */
} zellige_cost;

/* The thresholds, with what each was set with, are in src/cost/pays.hpp, those of ZELLIGE_BETTER in src/target/costs.hpp. */
typedef enum zellige_relation {
  ZELLIGE_BETTER = 0, /* a total order of expected costs: the GPU's time and launches, then the host, the workspace */
  ZELLIGE_FASTER = 1, /* a takes less time in all: zellige_cost_time */
  ZELLIGE_FASTER_GPU_BOUND = 2, /* the same in work of which the GPU is the slower */
  ZELLIGE_CLEARLY_FASTER = 3,   /* a's time on the GPU was measured to be less by more than measurements vary */
  ZELLIGE_MAY_BE_FASTER = 4,    /* a's time on the GPU is expected: measured, it may be clearly less */
  ZELLIGE_WORTH_MEASURING = 5   /* both times are expected: a's is not so long that compiling it is in vain */
} zellige_relation;

/* 1 if `a` and `b` have the relation, 0 if not; -1 on failure. Since version 8, as the others below. */
ZELLIGE_EXPORT int zellige_cost_compare(zellige_relation relation, const zellige_cost* a, const zellige_cost* b);
/* How long work takes in all, while the host launches what the GPU computes; NaN on failure. */
ZELLIGE_EXPORT double zellige_cost_time(const zellige_cost* cost);
/* 1 if a graph takes less time with a part of it at `after` in place of `before`, 0 if not; -1 on failure. `whole`: the
 * graph with `after`. */
ZELLIGE_EXPORT int zellige_cost_pays(const zellige_cost* before, const zellige_cost* after, const zellige_cost* whole);
/* 1 if parts that save `saved` of a graph are worth what a call of the graph with parts costs more, `call`; 0 if not; -1 on
 * failure. `whole`: the graph without parts. */
ZELLIGE_EXPORT int zellige_cost_worth(const zellige_cost* saved, const zellige_cost* call, const zellige_cost* whole);

/* ---- What graphs consist of ---- */

/* Lists the operators of graphs in JSON: [{"name": "add", "family": "elementwise", "operands": 2, "optional": 0, "results": 1,
 * "scalar": "finite"}, ...]. family: elementwise, view, join, rows or other. operands: -1 for any number, of which the last
 * `optional` may be absent; the same of results. scalar: the numbers that may replace the last operand: none, finite or any.
 * Members may be added. Since version 8. */
ZELLIGE_EXPORT zellige_status zellige_operators(char** list);
/* Lists the dtypes in JSON, with DLPack's type code: [{"name": "f16", "code": 2, "bits": 16}, ...]. Since version 8. */
ZELLIGE_EXPORT zellige_status zellige_dtypes(char** list);
/* Lists the targets in JSON: [{"name": "sm_90a", "compute_capability": 90, "tuned": true}, ...]. tuned: the constants of its
 * expected times were measured on such a GPU. Members may be added. Since version 9. */
ZELLIGE_EXPORT zellige_status zellige_targets(char** list);

#ifdef __cplusplus
}
#endif
#endif
