//===- PartialSums.h - comparable parts of values on all ranks ------------===//

#ifndef PCC_PASSES_INTERPRET_COMPARE_PARTIALSUMS_H
#define PCC_PASSES_INTERPRET_COMPARE_PARTIALSUMS_H

#include "passes/interpret/simulate/StageValue.h"

#include <map>

namespace pcc::interpret {

/// A part of a value whose elements are those of the whole value.
struct ValuePart {
  /// Mesh coordinates that tell which elements the part has.
  dist::Coordinates where;
  TensorPointer tensor;
  /// Number of the rank that holds the part; nullopt for a sum of several.
  std::optional<int64_t> rank;
};

/// Returns the tensor of each rank as a part. `value` must be no partial sum.
std::vector<ValuePart> partsOfRanks(const StageValue &value);

/// Makes the values of ranks comparable with those of one device. A tensor that
/// is no partial sum is comparable as it is. Partial sums are added: over the
/// ranks and, if microbatches divide a sum, over the microbatches. Example: two
/// ranks hold half of a gradient's terms each, in each of three microbatches.
/// The third call of add() returns the sum of six tensors.
class PartialSums {
public:
  explicit PartialSums(const dist::Mesh &mesh)
      : numMicrobatches(std::max<int64_t>(mesh.sizeOf(dist::timeAxis), 1)) {}

  /// Returns the parts of `value`, which the ranks have computed. Call it for
  /// each execution of the op. Returns none while microbatches are missing, and
  /// none for a value that is not comparable, such as a partial maximum, the
  /// elements of neighbor ranks (halo exchange), or a value of several ranks
  /// without a sharding.
  std::vector<ValuePart> add(const StageValue &value);

private:
  /// Sums by the coordinate of their elements.
  using Sums = std::map<int64_t, ValuePart>;

  /// Returns the partial sums of `value`, added over ranks to those in `sums`.
  static void addRanks(const StageValue &value, Sums &sums);

  int64_t numMicrobatches;
  /// Number of executions of the op of each value.
  llvm::DenseMap<mlir::Value, int64_t> numRuns;
  /// Sums of values whose terms come from several microbatches.
  llvm::DenseMap<mlir::Value, Sums> overTime;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_PARTIALSUMS_H
