//===- TrainedWeights.h - export of trained weights -----------------------===//

#ifndef PCC_RUNTIME_CHECKPOINT_TRAINEDWEIGHTS_H
#define PCC_RUNTIME_CHECKPOINT_TRAINEDWEIGHTS_H

#include "runtime/checkpoint/CheckpointReader.h"

#include <span>
#include <string>
#include <vector>

namespace pcc::runtime {

/// A weight (initializer) of the model that was trained, with the type and
/// shape that the model stores.
struct TrainedWeight {
  std::string name;
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape = {};
  /// Trained parameters that were made from the weight: one, or several
  /// disjoint slices of it.
  std::vector<const SavedTensor *> parameters = {};
};

/// The trained weights of one checkpoint, as `pcc checkpoint export` writes
/// them. The transforms between the model's weights and the trained parameters
/// are reversed.
class TrainedWeights {
public:
  /// Opens the newest complete checkpoint in `directory`, or `directory` itself
  /// if it is a checkpoint. Returns exit code 10 if there is no checkpoint, 11
  /// if all are damaged.
  static Status open(const std::string &directory, TrainedWeights &weights);

  /// Returns the path of the opened checkpoint.
  const std::string &folder() const { return path; }
  /// Returns notes about damaged checkpoints that were skipped.
  const std::vector<std::string> &notes() const { return passedOver; }
  /// Returns the path of the trained model; may be empty.
  const std::string &model() const { return checkpoint.manifest().model; }
  /// Returns the trained weights, ordered by name.
  const std::vector<TrainedWeight> &list() const { return weights; }

  /// Replaces the trained elements of a weight in `stored`, the dense bytes of
  /// the whole weight. Elements that were not trained stay unchanged. Returns
  /// exit code 11 if the checkpoint is damaged.
  Status change(const TrainedWeight &weight, std::span<std::byte> stored);

  /// Writes all weights to the safetensors file `file`, with only one weight in
  /// memory at a time. The file appears complete or not at all. Returns exit
  /// code 6 if only a slice of some weight was trained, since the remaining
  /// elements are known only to the model.
  Status writeSafetensors(const std::string &file);

private:
  /// Fills `weights` from the manifest.
  Status listWeights();
  /// Writes all weights to a file that does not have its final name yet.
  Status writeAll(const std::string &file);

  CheckpointReader checkpoint;
  std::string path;
  std::vector<std::string> passedOver;
  std::vector<TrainedWeight> weights;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_TRAINEDWEIGHTS_H
