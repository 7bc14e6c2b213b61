//===- PartialSums.cpp - comparable parts of values on all ranks ----------===//

#include "passes/interpret/compare/PartialSums.h"
#include "dialects/pipe/PipeDialect.h"

#include <set>

using namespace mlir;
using namespace pcc;
using namespace pcc::interpret;
using graph::HostTensor;

/// Returns whether `value` is a sum over the microbatches executed so far.
static bool isRunningSum(Value value) {
  return llvm::any_of(value.getDefiningOp()->getOperands(), [](Value operand) {
    auto argument = dyn_cast<BlockArgument>(operand);
    return argument && pipe::isAccumulator(argument);
  });
}

/// Returns whether the parts of a tensor with this sharding can be added to
/// tensors whose elements are those of the whole tensor.
static bool isComparable(const dist::Sharding &sharding) {
  return !dist::hasView(sharding) &&
         llvm::all_of(sharding.partials, [](const dist::Partial &partial) {
           return partial.kind == dist::ReductionKind::Sum;
         });
}

/// Adds the elements of `term` to those of `sum`, a tensor of the same shape.
static void addTo(HostTensor &sum, const HostTensor &term) {
  for (auto [element, other] : llvm::zip_equal(sum.floats, term.floats))
    element += other;
  for (auto [element, other] : llvm::zip_equal(sum.ints, term.ints))
    element += other;
}

std::vector<ValuePart> interpret::partsOfRanks(const StageValue &value) {
  std::vector<ValuePart> parts;
  for (int64_t rank = 0; rank < value.ranks.size(); ++rank)
    parts.push_back(
        {value.ranks.at(rank), value.tensors[rank], value.firstRank + rank});
  return parts;
}

/// Ranks with equal coordinates along all axes of the sharding hold the same
/// terms, which count once.
void PartialSums::addRanks(const StageValue &value, Sums &sums) {
  const dist::Sharding &sharding = value.sharding.getSharding();
  const dist::SubAxes split = dist::splitAxes(sharding);
  const dist::SubAxes partial = dist::partialAxes(sharding);
  std::set<std::pair<int64_t, int64_t>> added;
  for (ValuePart &part : partsOfRanks(value)) {
    const auto along = [&](const dist::SubAxes &axes) {
      return dist::coordinateOf(axes, value.ranks.mesh, part.where);
    };
    const int64_t elements = along(split);
    if (!added.insert({elements, along(partial)}).second)
      continue;
    part.rank.reset();
    auto [sum, isNew] = sums.try_emplace(elements, part);
    if (isNew)
      continue;
    HostTensor both = *sum->second.tensor;
    addTo(both, *part.tensor);
    sum->second.tensor = std::make_shared<const HostTensor>(std::move(both));
  }
}

std::vector<ValuePart> PartialSums::add(const StageValue &value) {
  const bool isAlone = value.ranks.size() == 1 && numMicrobatches == 1;
  if (!value.sharding)
    return isAlone ? partsOfRanks(value) : std::vector<ValuePart>();
  if (!isComparable(value.sharding.getSharding()))
    return {};
  const dist::Sharding &sharding = value.sharding.getSharding();
  const bool isOfTime =
      dist::holdsAxis(dist::partialAxes(sharding), dist::timeAxis);
  const bool isComplete = ++numRuns[value.value] == numMicrobatches ||
                          !(isOfTime || isRunningSum(value.value));
  if (!dist::isPartial(sharding))
    return isComplete ? partsOfRanks(value) : std::vector<ValuePart>();
  Sums once;
  Sums &sums = isOfTime ? overTime[value.value] : once;
  addRanks(value, sums);
  std::vector<ValuePart> parts;
  if (isComplete)
    for (auto &[elements, sum] : sums)
      parts.push_back(std::move(sum));
  if (isComplete)
    overTime.erase(value.value);
  return parts;
}
