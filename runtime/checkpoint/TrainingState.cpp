//===- TrainingState.cpp - the training state that checkpoints save -------===//

#include "runtime/checkpoint/TrainingState.h"

namespace pcc::runtime {

StateTensor stateTensorOf(const program::ParameterT &parameter,
                          const Mesh &mesh, void *data) {
  StateTensor tensor;
  tensor.name = parameter.name;
  tensor.type = typeOf(parameter.type);
  tensor.shape = parameter.shape;
  tensor.layout = layoutOf(*parameter.layout, mesh);
  tensor.data = data;
  // `filled` means that all elements of the tensor start with the same
  // constant, such as 0. Only optimizer state starts with a constant.
  // Parameters of the model start with values from a file, or with random
  // values. A tensor with `filled` is therefore optimizer state.
  tensor.isState = parameter.filled;
  tensor.stateOf = parameter.state_of;
  tensor.trained = parameter.trainable && !parameter.filled;
  if (!tensor.isState)
    tensor.origin = originOf(parameter);
  return tensor;
}

} // namespace pcc::runtime
