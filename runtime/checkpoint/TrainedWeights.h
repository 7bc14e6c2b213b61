//===- TrainedWeights.h - export of trained weights -----------------------===//

#ifndef PCC_RUNTIME_CHECKPOINT_TRAINEDWEIGHTS_H
#define PCC_RUNTIME_CHECKPOINT_TRAINEDWEIGHTS_H

#include "runtime/checkpoint/CheckpointReader.h"

#include <span>
#include <string>
#include <vector>

namespace pcc::runtime {

/// Trained weight (ONNX initializer) of the model. `name`, `type` and `shape`
/// are those of the weight in the model's file. The training run changed
/// parameters: tensors that pcc had computed from the weight by transforms. For
/// example, the weight has shape 4x8, and the parameter is the transposed
/// weight of shape 8x4.
///
/// If a checkpoint does not name the weight of a parameter, the parameter is
/// treated as a weight. `name`, `type` and `shape` are then those of the
/// parameter.
struct TrainedWeight {
  std::string name;
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape = {};
  /// Parameters that pcc has computed from the weight. A parameter is a tensor
  /// that the training run has changed. Usually, one parameter contains the
  /// whole weight. If pcc has sliced the weight, several parameters each
  /// contain a slice. For example, one parameter contains rows 0 to 3 of the
  /// weight, and another parameter contains rows 4 to 7. No two slices overlap.
  std::vector<const SavedTensor *> parameters = {};
};

/// Reads the trained weights from one checkpoint. The command
/// `pcc checkpoint export` uses this class.
///
/// A checkpoint does not contain the weights themselves. The checkpoint
/// contains parameters: tensors that pcc has computed from the weights by
/// transposes, slices, reshapes and casts. The class inverts these transforms.
/// For example, a weight has type f32 and shape 4x8 in the model's file. The
/// checkpoint contains the transposed weight, of type bf16 and shape 8x4. The
/// class converts this tensor back to type f32 and shape 4x8.
class TrainedWeights {
public:
  /// Opens the newest complete checkpoint in `directory`; `directory` may also
  /// be a checkpoint itself. Returns exit code 10 if there is no checkpoint, 11
  /// if all are damaged.
  static Status open(const std::string &directory, TrainedWeights &weights);

  /// Returns the path of the opened checkpoint.
  const std::string &folder() const { return path; }
  /// Returns one message for each damaged checkpoint that open() skipped.
  const std::vector<std::string> &notes() const { return passedOver; }
  /// Returns the path of the file of the model that was trained. The checkpoint
  /// contains this path. The result is empty if the path was unknown when the
  /// checkpoint was saved.
  const std::string &model() const { return checkpoint.manifest().model; }
  /// Returns the trained weights, ordered by name.
  const std::vector<TrainedWeight> &list() const { return weights; }

  /// Copies the trained values of `weight` from the checkpoint that open() has
  /// opened to `stored`. `stored` is the memory of the whole weight. It is
  /// dense and row-major, and its elements have the type `weight.type`.
  /// Elements that were not trained stay unchanged. For example, only rows 0 to
  /// 9 of the 20 rows of a weight were trained. The function overwrites rows 0
  /// to 9 in `stored`, and does not write to rows 10 to 19. Returns an error
  /// with exit code 11 if the checkpoint is damaged.
  Status change(const TrainedWeight &weight, std::span<std::byte> stored);

  /// Reads all trained weights from the checkpoint that open() has opened, and
  /// writes them to a new file in safetensors format. `file` is the path of the
  /// new file. Reads and writes one weight after another, so that the weights
  /// need not fit in memory together. Writes to a temporary file, and renames
  /// the temporary file to `file` at the end, so `file` is never incomplete.
  ///
  /// Returns exit code 6 if a weight was trained only in part. For example, the
  /// training changed 10 of 20 rows of the weight. The opened checkpoint then
  /// does not contain the other 10 rows.
  Status writeSafetensors(const std::string &file);

private:
  /// Fills `weights` with one entry per trained weight of the model: the weight
  /// and the parameters that were derived from it.
  Status listWeights();
  /// Writes all trained weights, in safetensors format, to the file with path
  /// `file`. writeSafetensors() passes a temporary path, and later renames the
  /// file.
  Status writeAll(const std::string &file);

  CheckpointReader checkpoint;
  std::string path;
  std::vector<std::string> passedOver;
  std::vector<TrainedWeight> weights;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_TRAINEDWEIGHTS_H
