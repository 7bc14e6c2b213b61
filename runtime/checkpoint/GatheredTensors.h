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

/// A whole weight in the type and shape in which the model stores it, dense and
/// row-major.
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
  /// Copies this rank's shards of the trained weights into whole tensors in
  /// shared memory. All ranks must call. Calls may overlap in time, because no
  /// two ranks copy the same element.
  Status putTrained(std::span<const StateTensor> tensors, const Mesh &mesh,
                    const Coordinates &at, World &world);

  /// Adds the whole trained weights to `named`, by their names in the model.
  /// Call this after all ranks have returned from putTrained(). Returns exit
  /// code 6 if only a slice of a weight was trained.
  Status weights(std::map<std::string, GatheredWeight> &named) const;

private:
  /// A whole tensor that the ranks assemble from their shards.
  struct Whole {
    /// Name, type and shape of the tensor. `data` and `layout` belong to the
    /// shard of a single rank and must not be used.
    StateTensor tensor;
    std::vector<std::byte> bytes;
  };

  /// Returns the memory of the whole tensor to which the shard `tensor`
  /// belongs. The first call for a tensor allocates the memory. Thread-safe.
  std::byte *memoryOf(const StateTensor &tensor);

  /// Guards the map `wholes` while several ranks call memoryOf().
  std::mutex mutex;
  /// Whole tensors by the name of the state tensor (StateTensor::name).
  std::map<std::string, Whole> wholes;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_GATHEREDTENSORS_H
