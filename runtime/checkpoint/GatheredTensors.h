//===- GatheredTensors.h - trained weights, whole, in memory --------------===//

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

/// A weight in the form in which the model stores it, dense and row-major.
struct GatheredWeight {
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape = {};
  std::vector<std::byte> bytes = {};
};

/// What the ranks of one process put together from their pieces.
class GatheredTensors {
public:
  /// Collective over the world, whose ranks share this object: every rank puts
  /// the pieces that it owns of the trained weights.
  Status putTrained(std::span<const StateTensor> tensors, const Mesh &mesh,
                    const Coordinates &at, World &world);

  /// The weights by their names in the model; after all ranks have put theirs.
  /// Exit code 6 for a weight of which only a part is trained: the rest is in
  /// the model.
  Status weights(std::map<std::string, GatheredWeight> &named) const;

private:
  /// A tensor as ranks have it.
  struct Whole {
    StateTensor tensor; ///< of its first rank
    std::vector<std::byte> bytes;
  };

  std::byte *memoryOf(const StateTensor &tensor);

  std::mutex mutex;
  std::map<std::string, Whole> wholes;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_GATHEREDTENSORS_H
