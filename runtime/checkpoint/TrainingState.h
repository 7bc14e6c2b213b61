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

/// One tensor of the training state (a parameter or optimizer state), with the
/// shard of it that this rank holds.
struct StateTensor {
  /// Name of the tensor. It is unique within the training state and does not
  /// depend on the plan.
  std::string name;
  ElementType type = ElementType::F32;
  /// Global shape.
  std::vector<int64_t> shape = {};
  /// Layout of the rank's shard: the global indices that the shard has. The
  /// tensor is never divided by microbatch.
  Layout layout = {};
  /// Elements of the rank's shard: dense, row-major, padding included.
  /// Borrowed.
  void *data = nullptr;
  /// Whether this is a parameter of the model that the optimizer updates.
  bool trained = false;
  /// Whether this is state of the optimizer, such as a moment, rather than a
  /// parameter.
  bool isState = false;
  /// For optimizer state: the name of its parameter; empty if the state belongs
  /// to the training as a whole, such as a step counter.
  std::string stateOf = {};
  /// For a parameter: the weight of the model's file that it was derived from,
  /// with the transforms between them. Needed by `pcc checkpoint export`.
  WeightOrigin origin = {};
};

/// Returns the state tensor for a parameter that a training step writes: a
/// trained weight or optimizer state. `data` is the memory of this rank's
/// shard, and is borrowed.
StateTensor stateTensorOf(const program::ParameterT &parameter,
                          const Mesh &mesh, void *data);

/// Progress of a training run between two steps.
struct TrainingPosition {
  /// Number of completed steps.
  int64_t step = 0;
  /// Index of the next training sample, counted over the whole run. It does not
  /// depend on the number of samples per step.
  int64_t samples = 0;
  /// Counter of a random generator. A checkpoint stores it and a load restores
  /// it, but the runtime does not use it.
  uint64_t randomCounter = 0;
  bool operator==(const TrainingPosition &) const = default;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_TRAININGSTATE_H
