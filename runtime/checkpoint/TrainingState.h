//===- TrainingState.h - what a training run has to remember --------------===//

#ifndef PCC_RUNTIME_CHECKPOINT_TRAININGSTATE_H
#define PCC_RUNTIME_CHECKPOINT_TRAININGSTATE_H

#include "runtime/checkpoint/WeightOrigin.h"
#include "runtime/program/Layout.h"
#include "runtime/tensor/ElementType.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pcc::runtime {

/// A rank's piece of one tensor of the training state.
struct StateTensor {
  std::string name; ///< logical: the same whatever the plan, and unique
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape = {}; ///< global
  Layout layout = {};              ///< of `shape`; never along "mb"
  /// The local piece: dense, row-major, padding included. Borrowed.
  void *data = nullptr;
  /// A parameter that the optimizer changes.
  bool trained = false;
  /// Kept by the optimizer, and no parameter.
  bool isState = false;
  /// The parameter whose state it is; empty: of the training as a whole.
  std::string stateOf = {};
  /// Of a parameter; what `pcc checkpoint export` needs.
  WeightOrigin origin = {};
};

/// A parameter of a program that a step writes: a weight that is trained, or
/// what the optimizer keeps. `data` is the rank's piece.
StateTensor stateTensorOf(const program::ParameterT &parameter, void *data);

/// Where a run stands between two steps.
struct TrainingPosition {
  int64_t step = 0; ///< steps that are done
  /// Logical index of the next sample, whatever the size of steps.
  int64_t samples = 0;
  uint64_t randomCounter = 0;
  bool operator==(const TrainingPosition &) const = default;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_TRAININGSTATE_H
