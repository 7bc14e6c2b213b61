//===- ReadLimits.h - bounds on what a file may ask for -------------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_MODEL_READLIMITS_H
#define PCC_PASSES_1_IMPORT_ONNX_MODEL_READLIMITS_H

#include <cstddef>
#include <cstdint>

namespace pcc::onnx {

/// Bounds on what a file may ask for; beyond them it is refused.
struct ReadLimits {
  /// Nested messages (a subgraph is three levels below its graph), and calls of
  /// functions within functions.
  int depth = 100;
  /// Messages in the file, and nodes and attribute elements after inlining.
  uint64_t messages = 1 << 24;
  size_t functions = 10000;
  size_t rank = 1024;
};

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_MODEL_READLIMITS_H
