// Small graphs for the command line's tests, in Zellige's JSON.
#pragma once
#include <string>

// Three candidates: two that run, and one that is bad (its sum's shapes do not fit).
inline const std::string three_graphs = R"([
  {"zellige_graph": 1, "name": "scaled",
   "inputs": [{"name": "A", "dtype": "f16", "shape": [16, 16]}],
   "operators": [{"op": "exp", "inputs": ["A"], "outputs": ["Y"]}],
   "outputs": ["Y"]},
  {"zellige_graph": 1, "name": "product",
   "inputs": [{"name": "A", "dtype": "f16", "shape": [16, 16]}, {"name": "B", "dtype": "f16", "shape": [16, 8]}],
   "operators": [{"op": "matmul", "inputs": ["A", "B"], "outputs": ["Y"]}],
   "outputs": ["Y"]},
  {"zellige_graph": 1, "name": "misfit",
   "inputs": [{"name": "A", "dtype": "f16", "shape": [16, 16]}, {"name": "B", "dtype": "f16", "shape": [3, 8]}],
   "operators": [{"op": "add", "inputs": ["A", "B"], "outputs": ["Y"]}],
   "outputs": ["Y"]}
])";
