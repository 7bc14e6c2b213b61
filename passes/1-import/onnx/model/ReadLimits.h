//===- ReadLimits.h - limits on the size of a model -----------------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_MODEL_READLIMITS_H
#define PCC_PASSES_1_IMPORT_ONNX_MODEL_READLIMITS_H

#include <cstddef>
#include <cstdint>

namespace pcc::onnx {

/// Limits on a model file. A model that exceeds one is refused with an error,
/// so that a malformed or malicious file cannot exhaust memory or the stack.
struct ReadLimits {
  /// Largest nesting depth of messages, and of function calls within functions.
  /// A subgraph is three message levels below its enclosing graph: node,
  /// attribute, graph. Calls and subgraphs together may nest twice as deep.
  int depth = 100;
  /// Largest number of messages in the file. Also the largest amount of data
  /// that the inlining of functions may create, in units of about 16 bytes.
  uint64_t messages = 1 << 24;
  /// Largest number of functions of a model.
  size_t functions = 10000;
  /// Largest rank of a tensor or of a value's shape.
  size_t rank = 1024;
};

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_MODEL_READLIMITS_H
