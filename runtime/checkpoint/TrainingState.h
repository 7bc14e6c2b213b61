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
  /// Name of the tensor. No other tensor of the training state has this name.
  /// The name does not depend on the division of the model over the ranks. A
  /// run with 4 ranks can therefore load a checkpoint of a run with 8 ranks.
  std::string name;
  ElementType type = ElementType::F32;
  /// Global shape.
  std::vector<int64_t> shape = {};
  /// Defines which elements of the tensor each rank holds. For example, two
  /// ranks divide a tensor of 192 columns. Rank 0 holds columns 0 to 95, and
  /// rank 1 holds columns 96 to 191.
  ///
  /// The class Layout can also describe a tensor that is divided over the
  /// microbatches, such as an input of the model. The layout of a tensor of the
  /// training state is never divided over the microbatches. A rank holds the
  /// same elements during all microbatches.
  Layout layout = {};
  /// Memory of this rank's shard. The elements are dense and row-major. The
  /// shard includes padding: unused elements that make the shards of all ranks
  /// equally large. This object does not own the memory.
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

/// Returns a description of one tensor that a training run changes. The tensor,
/// `parameter`, is a parameter of the model or optimizer state, such as a
/// moment of Adam. `mesh` is the mesh of the program. `data` is the memory of
/// this rank's shard. The result points to this memory, and does not own it.
StateTensor stateTensorOf(const program::ParameterT &parameter,
                          const Mesh &mesh, void *data);

/// Counts the steps and the samples that a training run has completed. A
/// checkpoint contains these numbers, so that a later run can continue with the
/// next step. The numbers describe a moment after one step and before the next
/// step. They therefore never include a part of a step.
struct TrainingPosition {
  /// Number of completed steps.
  int64_t step = 0;
  /// Number of samples that all completed steps have consumed. It is also the
  /// index of the first sample of the next step. For example, 3 steps of 8
  /// samples give 24. A run may resume with 4 samples per step. The next step
  /// then uses samples 24 to 27.
  int64_t samples = 0;
  /// Number that the manifest of a checkpoint contains under the key
  /// "random_counter". The manifest is the JSON file that describes the
  /// checkpoint. The number is reserved for a random generator, but the runtime
  /// does not use the number. A new run starts with 0. A resumed run keeps the
  /// number of the checkpoint from which it resumes.
  uint64_t randomCounter = 0;
  bool operator==(const TrainingPosition &) const = default;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_TRAININGSTATE_H
