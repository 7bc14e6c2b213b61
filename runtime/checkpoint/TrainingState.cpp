//===- TrainingState.cpp - what a training run has to remember ------------===//

#include "runtime/checkpoint/TrainingState.h"

namespace pcc::runtime {

StateTensor stateTensorOf(const program::ParameterT &parameter, void *data) {
  StateTensor tensor;
  tensor.name = parameter.name;
  tensor.type = typeOf(parameter.type);
  tensor.shape = parameter.shape;
  tensor.layout = layoutOf(*parameter.layout);
  tensor.data = data;
  // Only what an optimizer keeps begins with one value everywhere.
  tensor.isState = parameter.filled;
  tensor.stateOf = parameter.state_of;
  tensor.trained = parameter.trainable && !parameter.filled;
  if (!tensor.isState)
    tensor.origin = originOf(parameter);
  return tensor;
}

} // namespace pcc::runtime
