//===- TrainedWeights.h - the weights of a checkpoint as the model's ------===//

#ifndef PCC_RUNTIME_CHECKPOINT_TRAINEDWEIGHTS_H
#define PCC_RUNTIME_CHECKPOINT_TRAINEDWEIGHTS_H

#include "runtime/checkpoint/CheckpointReader.h"

#include <span>
#include <string>
#include <vector>

namespace pcc::runtime {

/// An initializer of the model that has been trained, in the form in which the
/// model stores it.
struct TrainedWeight {
  std::string name;
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape = {};
  /// The trained parameters that came from it: one, or slices of it.
  std::vector<const SavedTensor *> parameters = {};
};

/// What `pcc checkpoint export` writes.
class TrainedWeights {
public:
  /// Opens the newest complete checkpoint in `directory`, or the one that it
  /// is. Exit codes as in loadCheckpoint.
  static Status open(const std::string &directory, TrainedWeights &weights);

  /// The checkpoint that was taken.
  const std::string &folder() const { return path; }
  /// Damaged checkpoints that were passed over.
  const std::vector<std::string> &notes() const { return passedOver; }
  /// The path of the model that was trained; may be empty.
  const std::string &model() const { return checkpoint.manifest().model; }
  const std::vector<TrainedWeight> &list() const { return weights; }

  /// Writes what was trained of `weight` to its places in `stored`, the
  /// initializer's bytes.
  Status change(const TrainedWeight &weight, std::span<std::byte> stored);

  /// Writes all weights to a safetensors file, one at a time. Exit code 6 for a
  /// weight of which only a part was trained: the rest is in the model.
  Status writeSafetensors(const std::string &file);

private:
  Status listWeights();
  Status writeAll(const std::string &file);

  CheckpointReader checkpoint;
  std::string path;
  std::vector<std::string> passedOver;
  std::vector<TrainedWeight> weights;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_TRAINEDWEIGHTS_H
