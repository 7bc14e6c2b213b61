//===- TrainingState.h - the training state that checkpoints save ---------===//

#ifndef PCC_RUNTIME_CHECKPOINT_TRAININGSTATE_H
#define PCC_RUNTIME_CHECKPOINT_TRAININGSTATE_H

#include "runtime/checkpoint/WeightOrigin.h"
#include "runtime/program/Layout.h"
#include "runtime/tensor/ElementType.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pcc::runtime {

/// One tensor of the training state (a parameter or optimizer state), and this
/// rank's shard of it.
struct StateTensor {
  /// Name of the tensor. It is unique within the training state, and equal
  /// under every plan (shardings and stages) of the model.
  std::string name;
  ElementType type = ElementType::F32;
  /// Global shape.
  std::vector<int64_t> shape = {};
  /// Layout of the tensor over the ranks, which determines the global indices
  /// of the shard. It does not depend on the microbatch.
  Layout layout = {};
  /// Elements of the rank's shard: dense, row-major, padding included.
  /// Borrowed.
  void *data = nullptr;
  /// Whether the tensor is a parameter of the model that the optimizer updates.
  bool trained = false;
  /// Whether the tensor is state of the optimizer, such as a moment, rather
  /// than a parameter.
  bool isState = false;
  /// Name of the parameter to which the optimizer state belongs. Empty for a
  /// parameter, and for state of the training as a whole, such as a step
  /// counter.
  std::string stateOf = {};
  /// Weight of the model from which this tensor is derived, and the transforms
  /// (such as a transpose) that derive it. Empty for optimizer state.
  WeightOrigin origin = {};
};

/// Returns the state tensor for `parameter`, which is a trained weight or
/// optimizer state. `data`, this rank's shard, is borrowed.
StateTensor stateTensorOf(const program::ParameterT &parameter,
                          const Mesh &mesh, void *data);

/// Progress of a training run between two steps.
struct TrainingPosition {
  /// Number of completed steps.
  int64_t step = 0;
  /// Index of the next training sample, counted over the whole run. It does not
  /// depend on the number of samples per step.
  int64_t samples = 0;
  /// Counter of a random generator. Checkpoints save and restore the counter,
  /// but the runtime does not use it.
  uint64_t randomCounter = 0;
  bool operator==(const TrainingPosition &) const = default;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_TRAININGSTATE_H
