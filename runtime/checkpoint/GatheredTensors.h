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

/// Collects trained weights from the ranks of one process (threads) and returns
/// them as the model's weights. The ranks share one object.
class GatheredTensors {
public:
  /// Collective over the world, whose ranks must all be threads of this
  /// process. Copies the trained weights' pieces that this rank owns into the
  /// shared memory. Ranks write disjoint elements, so they may call
  /// concurrently.
  Status putTrained(std::span<const StateTensor> tensors, const Mesh &mesh,
                    const Coordinates &at, World &world);

  /// Returns the weights by their names in the model. All ranks must have
  /// returned from putTrained() before. Returns exit code 6 if only a slice of
  /// some weight was trained, since the remaining elements are known only to
  /// the model.
  Status weights(std::map<std::string, GatheredWeight> &named) const;

private:
  /// A gathered tensor.
  struct Whole {
    /// Description of the tensor by the first rank that contributed; its `data`
    /// and `layout` belong to that rank.
    StateTensor tensor;
    std::vector<std::byte> bytes;
  };

  /// Returns the memory of the whole tensor; allocates it at the first call.
  /// Safe to call from several threads.
  std::byte *memoryOf(const StateTensor &tensor);

  /// Guards `wholes` while ranks contribute.
  std::mutex mutex;
  /// Gathered tensors by name.
  std::map<std::string, Whole> wholes;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_GATHEREDTENSORS_H
