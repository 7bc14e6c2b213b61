//===- ReadLimits.h - limits on the size of a model -----------------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_MODEL_READLIMITS_H
#define PCC_PASSES_1_IMPORT_ONNX_MODEL_READLIMITS_H

#include <cstddef>
#include <cstdint>

namespace pcc::onnx {

/// Limits for the reader of a model file. A model that exceeds a limit is an
/// error, so that a malformed or malicious file cannot exhaust memory or the
/// stack.
struct ReadLimits {
  /// Largest nesting depth of protobuf messages. Also limits how deep function
  /// calls may be nested: function A calls B, B calls C, and so on.
  int depth = 100;
  /// Largest number of protobuf messages in a model file. This number also
  /// limits the memory for the copies of nodes that the inlining of functions
  /// creates: by an estimate, the copies may need at most 16 * `messages`
  /// bytes.
  uint64_t messages = 1 << 24;
  /// Largest number of functions of a model.
  size_t functions = 10000;
  /// Largest rank (number of dims) of a tensor or of a value's shape.
  size_t rank = 1024;
};

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_MODEL_READLIMITS_H
