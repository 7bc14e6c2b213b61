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

/// Assembles the whole trained weights in memory from the shards of all ranks.
/// The ranks must be threads of one process and share one object of this class.
class GatheredTensors {
public:
  /// Copies this rank's shards of the trained weights into whole tensors that
  /// all ranks share. Must be called by all ranks of the world, which must be
  /// threads of this process. The calls may overlap, because ranks write
  /// disjoint elements: if several ranks hold the same elements, only one of
  /// them copies.
  Status putTrained(std::span<const StateTensor> tensors, const Mesh &mesh,
                    const Coordinates &at, World &world);

  /// Adds the whole trained weights to `named`, by their names in the model.
  /// Must be called after all ranks have returned from putTrained(). Returns
  /// exit code 6 if only a slice of some weight was trained: the other elements
  /// of that weight are only in the model's file.
  Status weights(std::map<std::string, GatheredWeight> &named) const;

private:
  /// A whole tensor that the ranks assemble from their shards.
  struct Whole {
    /// Description of the tensor (name, type, shape) by the rank that first
    /// called memoryOf(). `tensor.data` and `tensor.layout` describe that
    /// rank's shard and must not be used.
    StateTensor tensor;
    std::vector<std::byte> bytes;
  };

  /// Returns the bytes of the whole tensor that corresponds to the shard
  /// `tensor`. The first call for a tensor allocates the bytes. May be called
  /// by several threads at once.
  std::byte *memoryOf(const StateTensor &tensor);

  /// Guards the map `wholes` while several ranks call memoryOf().
  std::mutex mutex;
  /// Whole tensors by the name of the state tensor (StateTensor::name).
  std::map<std::string, Whole> wholes;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_GATHEREDTENSORS_H
