//===- WeightOrigin.h - derivation of a parameter from a weight -----------===//

#ifndef PCC_RUNTIME_CHECKPOINT_WEIGHTORIGIN_H
#define PCC_RUNTIME_CHECKPOINT_WEIGHTORIGIN_H

#include "runtime/program/Program.h"

#include <span>
#include <string>
#include <variant>
#include <vector>

namespace pcc::runtime {

/// One transform that pcc applies to a weight when it loads the weight.
using WeightStep = std::variant<program::TransposeT, program::SliceT,
                                program::ReshapeT, program::CastT>;

/// Describes how a parameter of the program is derived from a weight (ONNX
/// initializer) of the model. `steps` lists the transforms: transposes, slices,
/// reshapes and casts. For example, the weight has shape 4x8, and `steps` has
/// one transpose. The parameter then has shape 8x4. After the training,
/// writeBack() applies the inverse transforms to the trained parameter. The
/// result has the shape and type of the weight, and can be stored in the
/// model's file.
struct WeightOrigin {
  /// Name of the weight in the model. Empty if this object describes no weight.
  /// For example, a moment of the optimizer is not derived from a weight.
  std::string initializer = {};
  /// Type of the weight in the model.
  ElementType type = ElementType::F32;
  /// Shape of the weight in the model.
  std::vector<int64_t> shape = {};
  /// Transforms that turn the weight into the parameter, in the order of
  /// application.
  std::vector<WeightStep> steps = {};
};

/// Returns how `parameter` is derived from a weight of the model.
WeightOrigin originOf(const program::ParameterT &parameter);

/// Checks whether a parameter can have been derived from a weight (ONNX
/// initializer) of the model. `origin` has the type and the shape of the
/// weight, and a list of transforms, such as a transpose. Each transform must
/// be valid, and the result must have type `type` and shape `shape`. For
/// example, the transpose of a weight of shape 4x8 must have shape 8x4.
///
/// Returns null if the derivation is correct, otherwise a description of the
/// fault.
const char *findOriginFault(const WeightOrigin &origin, ElementType type,
                            std::span<const int64_t> shape);

/// Copies the values of a trained parameter to the weight from which pcc
/// derived the parameter. Applies the inverses of the transforms in `origin`,
/// from the last to the first. `parameter` has all elements of the parameter.
/// `stored` has all elements of the weight, in the type and shape of the
/// weight. If a transform is a slice, the other elements of `stored` stay
/// unchanged.
///
/// The function does not check `origin`. The caller must first call
/// findOriginFault(), which must return null.
void writeBack(const WeightOrigin &origin, std::span<const std::byte> parameter,
               std::span<std::byte> stored);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_WEIGHTORIGIN_H
