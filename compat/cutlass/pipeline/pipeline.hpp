// CUTLASS's header for pipelines; includes those of SM90.
#pragma once
#if __has_include_next(<cutlass/pipeline/pipeline.hpp>)
#include_next <cutlass/pipeline/pipeline.hpp>
#else
#include <cutlass/pipeline/sm90_pipeline.hpp>
#endif
