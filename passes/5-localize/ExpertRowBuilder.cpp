//===- ExpertRowBuilder.cpp - conversion of dense expert values to rows ---===//

#include "passes/5-localize/ExpertRowBuilder.h"
#include "dialects/graph/ops/EinsumEquation.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::localize;

//===----------------------------------------------------------------------===//
// Combine step
//===----------------------------------------------------------------------===//

/// Derives from the einsum letter of each dim whether it counts experts or
/// tokens, or holds features. Example with the gates "te", the expert outputs
/// "eth" and the result "th":
///
///   h   not in the gates                   feature
///   t   in the gates and in the result     token
///   e   in the gates, not in the result    expert, which is summed
std::optional<ExpertCombine> ExpertCombine::read(graph::EinsumOp op) {
  auto mark = op->getAttrOfType<IntegerAttr>(graph::chosenName);
  if (!mark || op.getInputs().size() != 2)
    return {};
  ExpertCombine sum;
  sum.op = op;
  sum.chosen = mark.getInt();
  auto equation = graph::EinsumEquation::parse(op.getEquation());
  auto sizes = equation->sizes(op.getInputs().getTypes());
  StringRef gate = equation->operands[0], result = equation->result;
  std::string tokens, features, experts;
  for (char letter : equation->operands[1]) {
    const DimRole role = !gate.contains(letter)    ? DimRole::Feature
                         : result.contains(letter) ? DimRole::Token
                                                   : DimRole::Expert;
    sum.outputs.push_back(role);
    (role == DimRole::Feature ? features
     : role == DimRole::Token ? tokens
                              : experts)
        .push_back(letter);
  }
  if (experts.size() != 1 || gate.size() != tokens.size() + 1 ||
      result.size() != tokens.size() + features.size())
    return {};
  for (char letter : tokens + experts)
    sum.gateOrder.push_back(static_cast<int64_t>(gate.find(letter)));
  for (char letter : tokens + features)
    sum.shape.push_back(sizes->lookup(letter));
  for (char letter : result)
    sum.order.push_back(static_cast<int64_t>((tokens + features).find(letter)));
  for (char letter : tokens)
    sum.numTokens *= sizes->lookup(letter);
  sum.numExperts = sizes->lookup(experts[0]);
  return sum.numTokens * sum.numExperts > 0 ? std::optional(sum) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

ExpertRowBuilder::ExpertRowBuilder(const ExpertCombine &sum)
    : LocalBuilder(sum.op), sum(sum) {
  Value gate = arranged(sum.op->getOperand(0), sum.gateOrder,
                        {sum.numTokens, sum.numExperts});
  groups = makeOp<graph::GroupRowsOp>(gate, getI64IntegerAttr(sum.chosen));
}

int64_t ExpertRowBuilder::numRows() const {
  return sum.numTokens * std::min(sum.chosen, sum.numExperts);
}

RankedTensorType ExpertRowBuilder::rowsType(Value value,
                                            const DimRoles &roles) const {
  SmallVector<int64_t> shape{numRows()};
  for (auto [size, role] : llvm::zip_equal(shapeOf(value), roles))
    if (role == DimRole::Feature)
      shape.push_back(size);
  return graph::tensorType(value).clone(shape);
}

Value ExpertRowBuilder::arranged(Value value, ArrayRef<int64_t> order,
                                 ArrayRef<int64_t> shape) {
  if (!llvm::is_sorted(order)) {
    SmallVector<int64_t> all(order);
    for (int64_t dim = 0; dim < graph::tensorType(value).getRank(); ++dim)
      if (!llvm::is_contained(order, dim))
        all.push_back(dim);
    value = make<graph::TransposeOp>(value, all);
  }
  return reshape(value, shape);
}

Value ExpertRowBuilder::cloned(Operation *op, ValueRange operands,
                               RankedTensorType type) {
  Operation *made = clone(*op);
  made->setOperands(operands);
  made->getResult(0).setType(type);
  made->setDiscardableAttrs(ArrayRef<NamedAttribute>());
  finish(made);
  return made->getResult(0);
}

/// Joins the expert dim and the token dims of `value` into dim 0, and gathers
/// along dim 0. If `value` has neither an expert dim nor a token dim, no gather
/// is needed.
Value ExpertRowBuilder::rowsOf(Value value, const DimRoles &roles) {
  if (Value rows = known.lookup(value))
    return rows;
  SmallVector<int64_t> order;
  for (DimRole role : {DimRole::Expert, DimRole::Token, DimRole::Feature})
    for (auto [dim, own] : llvm::enumerate(roles))
      if (own == role)
        order.push_back(static_cast<int64_t>(dim));
  const bool ofExperts = hasRole(roles, DimRole::Expert),
             ofTokens = hasRole(roles, DimRole::Token);
  SmallVector<int64_t> shape(rowsType(value, roles).getShape());
  if (!ofExperts && !ofTokens)
    return arranged(value, order, ArrayRef(shape).drop_front());
  shape[0] = (ofExperts ? sum.numExperts : 1) * (ofTokens ? sum.numTokens : 1);
  Value index = ofTokens ? groups.getToken() : groups.getExpert();
  if (ofExperts && ofTokens) {
    Value count = scalar(getI64Type(), static_cast<double>(sum.numTokens));
    index = make<graph::AddOp>(make<graph::MulOp>(groups.getExpert(), count),
                               index);
  }
  return make<graph::GatherOp>(arranged(value, order, shape), index,
                               getI64IntegerAttr(0));
}

Value ExpertRowBuilder::sumOf(Value rows) {
  Type type = graph::tensorType(rows).getElementType();
  // Sum in f32 if the element type has less than 32 bits.
  Type sumType = type.getIntOrFloatBitWidth() < 32 ? getF32Type() : type;
  SmallVector<int64_t> shape(shapeOf(rows)), spread(shape.size(), 1);
  spread[0] = numRows();
  shape[0] = sum.numTokens;
  Value weight = cast(reshape(groups.getWeight(), spread), sumType);
  Value zero = scalar(sumType, 0);
  // Elements of `rows` after the last chosen (token, expert) pair are undefined
  // and may be NaN. Their weight is 0, but 0 · NaN is NaN, so select 0 there.
  Value weighed = make<graph::SelectOp>(
      compare(graph::Predicate::Equal, weight, zero), zero,
      make<graph::MulOp>(cast(rows, sumType), weight));
  Value zeros =
      make<graph::BroadcastOp>(RankedTensorType::get(shape, sumType), zero);
  Value added = make<graph::ScatterNdOp>(
      graph::ScatterKind::Add, zeros,
      reshape(groups.getToken(), {numRows(), 1}), weighed);
  added = reshape(cast(added, type), sum.shape);
  return llvm::is_sorted(sum.order)
             ? added
             : make<graph::TransposeOp>(added, sum.order);
}
