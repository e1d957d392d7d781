// Declares the functions of libnccl.so.2 that communicator.cpp calls, after NCCL's ABI, with opaque pointers for
// communicators. A build needs no NCCL.
#pragma once
#include <cstddef>

#include "graph/graph.hpp"
#include "system/library.hpp"

namespace zellige::ranks {

/// ncclUniqueId.
struct NcclId {
  char bytes[128] = {};
};

/// Returns $ZELLIGE_NCCL, or the machine's libnccl.so.2. Throws Error if there is none.
system::Library nccl_library();

/// NCCL's functions. All that return an int return an ncclResult_t.
struct Nccl {
  system::Library library = nccl_library();
  int (*version)(int*) = library["ncclGetVersion"];
  const char* (*error_string)(int) = library["ncclGetErrorString"];
  int (*unique_id)(NcclId*) = library["ncclGetUniqueId"];
  int (*init)(void** comm, int ranks, NcclId, int rank) = library["ncclCommInitRank"];
  int (*destroy)(void* comm) = library["ncclCommDestroy"];
  int (*abort)(void* comm) = library["ncclCommAbort"];
  int (*count)(void* comm, int*) = library["ncclCommCount"];
  int (*user_rank)(void* comm, int*) = library["ncclCommUserRank"];
  int (*async_error)(void* comm, int*) = library["ncclCommGetAsyncError"];
  int (*all_reduce)(const void*, void*, std::size_t, int type, int op, void* comm,
                    void* stream) = library["ncclAllReduce"];
  int (*all_gather)(const void*, void*, std::size_t, int type, void* comm, void* stream) = library["ncclAllGather"];
  int (*reduce_scatter)(const void*, void*, std::size_t received, int type, int op, void* comm,
                        void* stream) = library["ncclReduceScatter"];
  int (*broadcast)(const void*, void*, std::size_t, int type, int root, void* comm,
                   void* stream) = library["ncclBroadcast"];
  int (*send)(const void*, std::size_t, int type, int to, void* comm, void* stream) = library["ncclSend"];
  int (*receive)(void*, std::size_t, int type, int from, void* comm, void* stream) = library["ncclRecv"];
  int (*group_start)() = library["ncclGroupStart"];
  int (*group_end)() = library["ncclGroupEnd"];
};

/// Returns NCCL's functions. Loads NCCL on the first call; throws Error if there is none.
const Nccl& nccl();

/// Returns the ncclDataType_t of a dtype. Those that NCCL lacks, of one byte, are moved as uint8.
int nccl_type(graph::DType);

}  // namespace zellige::ranks
