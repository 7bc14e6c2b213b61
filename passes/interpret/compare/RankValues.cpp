//===- RankValues.cpp - values of ranks, right or wrong -------------------===//

#include "passes/interpret/compare/RankValues.h"
#include "dialects/graph/GraphDialect.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::interpret;

RankValues::Expected RankValues::ofSources(OpResult value) const {
  Expected found;
  for (OpResult source : sources.of(value))
    if (auto it = checked.find(source); it != checked.end())
      found.append(it->second.equals);
  return found;
}

/// Returns whether `op` computes new elements one by one. Such a result equals
/// an operand only by chance: x + y is x if y is 0, also if y is wrong.
static bool computes(Operation *op) {
  return op->hasTrait<graph::IsElementWise>() &&
         !isa<graph::SelectOp, graph::CastOp>(op);
}

/// Returns whether all elements of two tensors are equal.
static bool hasEqualElements(const graph::HostTensor &a,
                             const graph::HostTensor &b) {
  return a.shape == b.shape && a.floats == b.floats && a.ints == b.ints;
}

RankValues::Expected RankValues::candidates(OpResult value) const {
  if (const ExpectedValue *named = expected.named(nameOf(value)))
    return {named};
  Operation *op = value.getOwner();
  const StringRef kind = op->getName().getStringRef();
  const Expected operands = ofSources(value);
  Expected found(expected.at(graph::placeText(op->getLoc())));
  std::partition(found.begin(), found.end(),
                 [&](const ExpectedValue *one) { return one->op == kind; });
  if (!computes(op)) {
    found.append(operands);
    return found;
  }
  llvm::erase_if(found, [&](const ExpectedValue *one) {
    const auto isSame = [&](const ExpectedValue *operand) {
      return hasEqualElements(*one->tensor, *operand->tensor);
    };
    return one->op != kind &&
           (one->magnitude == 0 || llvm::any_of(operands, isSame));
  });
  return found;
}

std::optional<Comparison> RankValues::compare(const StageValue &value,
                                              ArrayRef<ValuePart> parts,
                                              const ExpectedValue &wanted,
                                              double tolerance,
                                              double noise) const {
  const graph::HostTensor &tensor = *wanted.tensor;
  const auto type = graph::tensorType(value.value);
  const dist::Sharding sharding = value.sharding
                                      ? value.sharding.getSharding()
                                      : dist::Sharding::whole(type.getRank());
  if (parts.front().tensor->kind != tensor.kind ||
      !isLocalType(type, sharding, tensor.shape))
    return {};
  Comparison comparison(tensor, tolerance, noise);
  for (const ValuePart &part : parts)
    comparison.add(
        *part.tensor,
        localIndices(sharding, tensor.shape, value.ranks.mesh, part.where),
        part.rank);
  return comparison;
}

/// Returns the difference of a value that `op` computes or writes.
static VerifiedValue differenceOf(Operation *op, StringRef name,
                                  Comparison comparison) {
  const std::string place = graph::placeText(op->getLoc());
  const StringRef node = StringRef(place).starts_with("at node ")
                             ? graph::nodeName(op->getLoc())
                             : StringRef();
  comparison.freeExpected();
  if (!name.empty() && !isa<graph::SetParameterOp>(op))
    return {name.str(), node.str(), std::move(comparison)};
  return {name.str(), node.str(), std::move(comparison),
          op->getName().getStringRef().str(), place};
}

/// Returns the largest magnitude of an element of `values`.
static double scaleOf(ArrayRef<const ExpectedValue *> values) {
  double largest = 0;
  for (const ExpectedValue *value : values)
    largest = std::max(largest, value->magnitude);
  return largest;
}

RankValues::Checked RankValues::compareAll(const StageValue &value,
                                           ArrayRef<ValuePart> parts) const {
  const auto result = cast<OpResult>(value.value);
  const Expected wanted = candidates(result);
  const double tolerance =
      toleranceInside(graph::tensorType(result).getElementType(), numerics);
  const double smallNoise = std::min(scaleOf(wanted), 1.0) * tolerance;
  Checked found;
  std::optional<Comparison> closest;
  for (const ExpectedValue *candidate : wanted) {
    std::optional<Comparison> exact =
        compare(value, parts, *candidate, tolerance, 0);
    if (!exact)
      continue;
    const double noise = candidate->noise;
    const bool isNoise =
        !exact->isEqual() && noise > 0 &&
        compare(value, parts, *candidate, tolerance, noise)->isEqual();
    if (exact->isEqual() || (isNoise && noise <= smallNoise))
      return {.equals = {candidate}};
    found.isUndecided |= isNoise;
    if (!closest || exact->maxError() < closest->maxError())
      closest = std::move(exact);
  }
  if (closest && !found.isUndecided)
    found.difference =
        differenceOf(result.getOwner(), nameOf(result), std::move(*closest));
  return found;
}

void RankValues::check(const StageValue &value) {
  const std::vector<ValuePart> parts = sums.add(value);
  if (parts.empty() || value.value.getDefiningOp<graph::ConstantOp>())
    return;
  Checked now = compareAll(value, parts);
  Checked &all = checked[value.value];
  all.result = cast<OpResult>(value.value);
  for (const ExpectedValue *equal : now.equals)
    if (!llvm::is_contained(all.equals, equal))
      all.equals.push_back(equal);
  all.isUndecided |= now.isUndecided;
  if (!now.difference || all.difference)
    return;
  all.difference = std::move(now.difference);
  all.order = numDifferences++;
}

bool RankValues::differs(const StageValue &value, const ExpectedValue *wanted,
                         std::optional<Comparison> &found) const {
  const Type type = graph::tensorType(value.value).getElementType();
  if (wanted)
    found = compare(value, partsOfRanks(value), *wanted,
                    toleranceOf(type, numerics), wanted->noise);
  return found && !found->isEqual();
}

void RankValues::checkOutput(StringRef name, const StageValue &value) {
  std::optional<Comparison> comparison;
  if (OpResult origin = originOf(value.value);
      differs(value, expected.output(name), comparison) && origin)
    wrongResults.push_back(origin);
}

void RankValues::checkWrite(StringRef parameter, const StageValue &value) {
  std::optional<Comparison> comparison;
  OpResult origin = originOf(value.value);
  if (!differs(value, expected.written(parameter), comparison) || !origin)
    return;
  wrongResults.push_back(origin);
  if (!isRight(origin))
    return;
  for (Operation *user : value.value.getUsers())
    if (auto set = dyn_cast<graph::SetParameterOp>(user);
        set && set.getParameter() == parameter)
      wrongWrites.push_back(
          {.difference = differenceOf(set, parameter, std::move(*comparison)),
           .order = numDifferences++});
}

bool RankValues::isRight(OpResult result) const {
  auto found = checked.find(result);
  return found != checked.end() && found->second.isRight();
}

llvm::SetVector<OpResult>
RankValues::suspects(ArrayRef<OpResult> results) const {
  llvm::SetVector<OpResult> reached;
  const auto reach = [&](OpResult result) {
    if (!isRight(result))
      reached.insert(result);
  };
  llvm::for_each(results, reach);
  for (size_t i = 0; i < reached.size(); ++i)
    if (auto it = checked.find(reached[i]);
        it == checked.end() || !it->second.isUndecided)
      llvm::for_each(sources.of(reached[i]), reach);
  return reached;
}

SmallVector<const RankValues::Checked *>
RankValues::checkedSuspects(ArrayRef<OpResult> results) const {
  SmallVector<const Checked *> found;
  for (OpResult suspect : suspects(results))
    if (auto it = checked.find(suspect); it != checked.end())
      found.push_back(&it->second);
  return found;
}

std::optional<VerifiedValue> RankValues::toBlame() const {
  SmallVector<const Checked *> all = checkedSuspects(wrongResults);
  for (const Checked &write : wrongWrites)
    all.push_back(&write);
  llvm::erase_if(all, [](const Checked *one) { return !one->difference; });
  if (all.empty())
    return {};
  const Checked *first =
      *llvm::min_element(all, [](const Checked *a, const Checked *b) {
        return a->order < b->order;
      });
  const bool isAfterNoise =
      first->result &&
      llvm::any_of(checkedSuspects(first->result),
                   [](const Checked *one) { return one->isUndecided; });
  return isAfterNoise ? std::nullopt : first->difference;
}
