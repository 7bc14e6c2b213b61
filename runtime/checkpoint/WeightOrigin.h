//===- WeightOrigin.h - which weight of the model a tensor was ------------===//

#ifndef PCC_RUNTIME_CHECKPOINT_WEIGHTORIGIN_H
#define PCC_RUNTIME_CHECKPOINT_WEIGHTORIGIN_H

#include "runtime/program/Program.h"

#include <span>
#include <string>
#include <variant>
#include <vector>

namespace pcc::runtime {

using WeightStep = std::variant<program::TransposeT, program::SliceT,
                                program::ReshapeT, program::CastT>;

/// How a parameter came from an initializer of the model.
struct WeightOrigin {
  std::string initializer =
      {}; ///< its name in the model; empty: no initializer
  ElementType type = ElementType::F32; ///< as it is stored there
  std::vector<int64_t> shape = {};
  std::vector<WeightStep> steps = {}; ///< what leads to the parameter
};

WeightOrigin originOf(const program::ParameterT &parameter);

/// What is wrong with the origin of a parameter of this type and shape, or
/// null.
const char *findOriginFault(const WeightOrigin &origin, ElementType type,
                            std::span<const int64_t> shape);

/// Writes the elements of a parameter, dense and whole, to where they came from
/// in `stored`, the bytes of the initializer. Elements that a slice left out
/// stay as they are. The origin has no fault.
void writeBack(const WeightOrigin &origin, std::span<const std::byte> parameter,
               std::span<std::byte> stored);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_WEIGHTORIGIN_H
