// Pipelines: those of SM90.
#pragma once
#include <cutlass/pipeline/sm90_pipeline.hpp>
