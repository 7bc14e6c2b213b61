//===- WeightOrigin.h - derivation of a parameter from a weight -----------===//

#ifndef PCC_RUNTIME_CHECKPOINT_WEIGHTORIGIN_H
#define PCC_RUNTIME_CHECKPOINT_WEIGHTORIGIN_H

#include "runtime/program/Program.h"

#include <span>
#include <string>
#include <variant>
#include <vector>

namespace pcc::runtime {

/// One transform of a weight.
using WeightStep = std::variant<program::TransposeT, program::SliceT,
                                program::ReshapeT, program::CastT>;

/// Derivation of a parameter from a weight (initializer) of the model.
/// Compilation may transpose, slice, reshape or cast a weight when it is
/// loaded; an export must reverse that.
struct WeightOrigin {
  /// Name of the weight in the model; empty if the parameter has no weight in
  /// the model.
  std::string initializer = {};
  /// Type of the weight in the model.
  ElementType type = ElementType::F32;
  /// Shape of the weight in the model.
  std::vector<int64_t> shape = {};
  /// Transforms that lead from the weight to the parameter, in order.
  std::vector<WeightStep> steps = {};
};

/// Returns the derivation of a program's parameter.
WeightOrigin originOf(const program::ParameterT &parameter);

/// Checks that the transforms are valid and lead to a parameter of this type
/// and shape. Returns what is wrong, or null.
const char *findOriginFault(const WeightOrigin &origin, ElementType type,
                            std::span<const int64_t> shape);

/// Reverses the transforms: writes the elements of a parameter (whole, dense,
/// row-major) to their positions in `stored`, the bytes of the model's weight.
/// Elements that a slice left out keep their values. `origin` must have passed
/// findOriginFault().
void writeBack(const WeightOrigin &origin, std::span<const std::byte> parameter,
               std::span<std::byte> stored);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_WEIGHTORIGIN_H
