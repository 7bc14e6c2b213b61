//===- GatheredTensors.h - gathering of trained weights in host memory ----===//

#ifndef PCC_RUNTIME_CHECKPOINT_GATHEREDTENSORS_H
#define PCC_RUNTIME_CHECKPOINT_GATHEREDTENSORS_H

#include "runtime/checkpoint/TrainingState.h"
#include "runtime/comm/Communicator.h"

#include <cstddef>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace pcc::runtime {

/// Trained weight (ONNX initializer) with all of its elements. `type` and
/// `shape` are those of the weight in the model's file. `bytes` contains the
/// elements, dense and row-major. The optimizer updates a parameter, which may
/// be a transform of the weight. For example, the weight has shape 4x8, and the
/// parameter is the transpose. `shape` is then {4, 8}, and `bytes` contains the
/// transpose of the parameter.
///
/// A parameter that was not derived from a weight also has an object of this
/// type, with the type, the shape and the elements of the parameter.
struct GatheredWeight {
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape = {};
  std::vector<std::byte> bytes = {};
};

/// Assembles the whole trained weights in host memory from the shards of all
/// ranks. The Python bindings use this class. In the Python bindings, each rank
/// is a thread of the Python process. All ranks share one object of this class.
/// First every rank calls putTrained(), which copies the rank's shards to the
/// object. Then one thread calls weights().
class GatheredTensors {
public:
  /// Copies this rank's elements of the trained parameters into this object.
  /// All ranks are threads of one process and share this object. The object has
  /// memory for each whole parameter. If several ranks hold the same element,
  /// only one of these ranks copies the element. All ranks may therefore call
  /// this function at the same time.
  ///
  /// `tensors` lists this rank's shards of the training state. The function
  /// ignores all tensors that are not trained parameters, such as the state of
  /// the optimizer. `mesh` is the mesh of the program, and `at` has this rank's
  /// coordinates on the mesh. `world` is the communicator of all ranks. The
  /// function is collective: every rank of `world` must call it.
  Status putTrained(std::span<const StateTensor> tensors, const Mesh &mesh,
                    const Coordinates &at, World &world);

  /// Adds the whole trained weights to `named`, by their names in the model.
  /// Call this after all ranks have returned from putTrained(). Returns exit
  /// code 6 if only a slice of a weight was trained, because this object then
  /// lacks the other elements of the weight.
  Status weights(std::map<std::string, GatheredWeight> &named) const;

private:
  /// A whole tensor that the ranks assemble from their shards.
  struct Whole {
    /// Description of the whole tensor. Only the name, the type, the shape and
    /// the origin of the tensor are used. The members `tensor.data` and
    /// `tensor.layout` must not be used. The struct StateTensor also describes
    /// the shard of a rank, and `tensor` is a copy of the StateTensor object of
    /// one rank. `tensor.data` therefore points to the shard of this rank, and
    /// not to the whole tensor.
    StateTensor tensor;
    std::vector<std::byte> bytes;
  };

  /// Returns the memory of the whole tensor to which the shard `tensor`
  /// belongs. The first call for a tensor allocates the memory. Thread-safe.
  std::byte *memoryOf(const StateTensor &tensor);

  /// Mutex that memoryOf() locks while it uses the map `wholes`. The ranks are
  /// threads of one process and share this object. Several ranks may call
  /// memoryOf() at the same time, and each call may add an entry to `wholes`.
  std::mutex mutex;
  /// The tensors that the ranks assemble in this object. There is one entry per
  /// trained parameter. The key is the name of the parameter
  /// (StateTensor::name). The value contains all elements of the parameter, not
  /// only those of one shard.
  std::map<std::string, Whole> wholes;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_GATHEREDTENSORS_H
