//===- Contractions.cpp - types and costs of matmul, einsum, convolutions -===//

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/ops/EinsumEquation.h"
#include "dialects/graph/ops/ElementTypes.h"
#include "dialects/graph/ops/Window.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace pcc::graph;

//===----------------------------------------------------------------------===//
// matmul
//===----------------------------------------------------------------------===//

/// Returns the numbers of rows and columns of the matrices in a matmul operand:
/// the last two dims of `type`, exchanged if `transposed` is true.
static std::pair<int64_t, int64_t> matrixDims(RankedTensorType type,
                                              bool transposed) {
  ArrayRef<int64_t> last = type.getShape().take_back(2);
  return transposed ? std::pair(last[1], last[0]) : std::pair(last[0], last[1]);
}

LogicalResult MatmulOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &results) {
  RankedTensorType lhs = tensorType(adaptor.getLhs()),
                   rhs = tensorType(adaptor.getRhs());
  if (lhs.getRank() < 2 || rhs.getRank() < 2)
    return emitOptionalError(loc, "multiplies ", lhs, " by ", rhs,
                             ": both need two dims");
  auto [m, lhsK] = matrixDims(lhs, adaptor.getTransposeLhs());
  auto [rhsK, n] = matrixDims(rhs, adaptor.getTransposeRhs());
  auto batch =
      broadcastShapes(lhs.getShape().drop_back(2), rhs.getShape().drop_back(2));
  if (lhsK != rhsK || failed(batch) ||
      lhs.getElementType() != rhs.getElementType())
    return emitOptionalError(loc, "multiplies ", lhs, " by ", rhs,
                             ": contracted dims ", lhsK, " and ", rhsK);
  batch->append({m, n});
  results.push_back(RankedTensorType::get(*batch, lhs.getElementType()));
  return success();
}

LogicalResult MatmulOp::verify() { return success(); }

double MatmulOp::getFlops() {
  return 2.0 * tensorType(getResult()).getNumElements() *
         matrixDims(tensorType(getLhs()), getTransposeLhs()).second;
}

//===----------------------------------------------------------------------===//
// einsum
//===----------------------------------------------------------------------===//

FailureOr<EinsumEquation> EinsumEquation::parse(StringRef text) {
  auto [left, right] = text.split("->");
  if (!text.contains("->"))
    return failure();
  EinsumEquation equation;
  SmallVector<StringRef> parts;
  left.split(parts, ',');
  for (StringRef part : parts)
    equation.operands.push_back(part.trim());
  equation.result = right.trim();
  // A term is the list of the letters of one tensor. For example, the equation
  // "ab,bc->ac" has the terms "ab", "bc" and "ac". Each term must consist of
  // letters only, and must not have a letter twice.
  SmallVector<StringRef> terms(equation.operands);
  terms.push_back(equation.result);
  for (StringRef term : terms)
    for (auto [i, letter] : llvm::enumerate(term))
      if (!llvm::isAlpha(letter) || term.drop_front(i + 1).contains(letter))
        return failure();
  return equation;
}

FailureOr<llvm::SmallDenseMap<char, int64_t>>
EinsumEquation::sizes(TypeRange types) const {
  llvm::SmallDenseMap<char, int64_t> sizes;
  if (types.size() != operands.size())
    return failure();
  for (auto [term, type] : llvm::zip_equal(operands, types)) {
    auto shape = cast<RankedTensorType>(type).getShape();
    if (shape.size() != term.size())
      return failure();
    for (auto [letter, size] : llvm::zip_equal(term, shape))
      if (sizes.try_emplace(letter, size).first->second != size)
        return failure();
  }
  for (char letter : result)
    if (!sizes.contains(letter))
      return failure();
  return sizes;
}

LogicalResult EinsumOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &results) {
  auto equation = EinsumEquation::parse(adaptor.getEquation());
  if (failed(equation) || adaptor.getInputs().empty())
    return emitOptionalError(loc, "equation '", adaptor.getEquation(),
                             "' is not of the form 'ab,bc->ac'");
  auto sizes = equation->sizes(adaptor.getInputs().getTypes());
  if (failed(sizes))
    return emitOptionalError(loc, "operands do not fit the equation '",
                             adaptor.getEquation(), "'");
  SmallVector<int64_t> shape;
  for (char letter : equation->result)
    shape.push_back(sizes->lookup(letter));
  results.push_back(tensorType(adaptor.getInputs().front()).clone(shape));
  return success();
}

LogicalResult EinsumOp::verify() {
  return checkSameElements(*this, getInputs());
}

/// Counts the floating-point operations of an einsum: one multiplication and
/// one addition per combination of indices. An einsum of a single operand only
/// adds.
double EinsumOp::getFlops() {
  auto equation = EinsumEquation::parse(getEquation());
  auto sizes = equation->sizes(getInputs().getTypes());
  double product = getInputs().size() > 1 ? 2 : 1;
  for (auto [letter, size] : *sizes)
    product *= size;
  return product;
}

//===----------------------------------------------------------------------===//
// conv, conv_transpose
//===----------------------------------------------------------------------===//

int64_t pcc::graph::windowOutput(int64_t input, int64_t window, int64_t stride,
                                 int64_t low, int64_t high, int64_t dilation) {
  int64_t span = (window - 1) * dilation + 1, room = input + low + high - span;
  return room < 0 ? 0 : room / stride + 1;
}

LogicalResult pcc::graph::checkWindowFits(std::optional<Location> loc,
                                          RankedTensorType input,
                                          ArrayRef<int64_t> window,
                                          ArrayRef<int64_t> dilations,
                                          ArrayRef<int64_t> pads) {
  const size_t spatial = window.size();
  for (size_t i = 0; i < spatial; ++i)
    if (input.getDimSize(i + 2) > 0 &&
        windowOutput(input.getDimSize(i + 2), window[i], /*stride=*/1, pads[i],
                     pads[i + spatial], dilations[i]) == 0)
      return emitOptionalError(loc, "a window of ", listText(window),
                               " with dilations ", listText(dilations),
                               " does not fit ", input, " with pads ",
                               listText(pads));
  return success();
}

bool pcc::graph::allPositive(ArrayRef<int64_t> values) {
  return llvm::all_of(values, [](int64_t value) { return value >= 1; });
}

std::string pcc::graph::listText(ArrayRef<int64_t> values) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(values, stream << '[');
  stream << ']';
  return text;
}

/// Returns the number of spatial dims of a convolution. `adaptor` gives the
/// operands and attributes of the convolution. For n spatial dims, the input
/// and the filter must have rank n + 2, and the attributes must have n strides,
/// n dilations and 2 · n paddings. Returns 0 if n is 0 or if one of these
/// numbers is wrong.
template <typename Adaptor> static size_t spatialDims(Adaptor adaptor) {
  int64_t rank = tensorType(adaptor.getInput()).getRank();
  size_t spatial = rank < 3 ? 0 : rank - 2;
  bool fits = tensorType(adaptor.getFilter()).getRank() == rank &&
              adaptor.getStrides().size() == spatial &&
              adaptor.getPads().size() == 2 * spatial &&
              adaptor.getDilations().size() == spatial;
  return fits ? spatial : 0;
}

/// Emits an error and fails unless all strides and dilations are at least 1.
template <typename Adaptor>
static LogicalResult checkSteps(std::optional<Location> loc, Adaptor adaptor) {
  if (allPositive(adaptor.getStrides()) && allPositive(adaptor.getDilations()))
    return success();
  return emitOptionalError(
      loc, "strides and dilations must be at least 1, got strides ",
      listText(adaptor.getStrides()), " and dilations ",
      listText(adaptor.getDilations()));
}

LogicalResult ConvOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &results) {
  RankedTensorType input = tensorType(adaptor.getInput()),
                   filter = tensorType(adaptor.getFilter());
  size_t spatial = spatialDims(adaptor);
  if (!spatial)
    return emitOptionalError(loc, "convolves ", input, " with ", filter,
                             ": ranks and attributes do not fit");
  if (failed(checkSteps(loc, adaptor)))
    return failure();
  const int64_t group = adaptor.getGroup();
  if (group < 1 || input.getDimSize(1) != filter.getDimSize(1) * group ||
      filter.getDimSize(0) % group != 0)
    return emitOptionalError(loc, "convolves ", input, " with ", filter, " in ",
                             group, " groups: channels do not fit");
  if (failed(checkWindowFits(loc, input, filter.getShape().drop_front(2),
                             adaptor.getDilations(), adaptor.getPads())))
    return failure();
  SmallVector<int64_t> shape{input.getDimSize(0), filter.getDimSize(0)};
  for (size_t i = 0; i < spatial; ++i)
    shape.push_back(windowOutput(
        input.getDimSize(i + 2), filter.getDimSize(i + 2),
        adaptor.getStrides()[i], adaptor.getPads()[i],
        adaptor.getPads()[i + spatial], adaptor.getDilations()[i]));
  results.push_back(input.clone(shape));
  return success();
}

LogicalResult ConvOp::verify() { return checkFloats(*this, getOperands()); }

/// Counts the floating-point operations of a convolution; a multiply-add counts
/// as two operations. Each result element takes one multiply-add per filter
/// element of its output channel. A filter [8, 4, 3, 3] has 8 output channels.
/// Each result element then takes 4 · 3 · 3 multiply-adds.
double ConvOp::getFlops() {
  RankedTensorType filter = tensorType(getFilter());
  return 2.0 * tensorType(getResult()).getNumElements() *
         filter.getNumElements() / filter.getDimSize(0);
}

LogicalResult
ConvTransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                  Adaptor adaptor,
                                  SmallVectorImpl<Type> &results) {
  RankedTensorType input = tensorType(adaptor.getInput()),
                   filter = tensorType(adaptor.getFilter());
  size_t spatial = spatialDims(adaptor);
  if (!spatial || adaptor.getOutputPads().size() != spatial ||
      input.getDimSize(1) != filter.getDimSize(0))
    return emitOptionalError(loc, "convolves ", input, " with ", filter,
                             ": ranks and attributes do not fit");
  if (failed(checkSteps(loc, adaptor)))
    return failure();
  const int64_t group = adaptor.getGroup();
  if (group < 1 || input.getDimSize(1) % group != 0)
    return emitOptionalError(loc, "convolves ", input, " with ", filter, " in ",
                             group, " groups: channels do not fit");
  SmallVector<int64_t> shape{input.getDimSize(0), filter.getDimSize(1) * group};
  for (size_t i = 0; i < spatial; ++i)
    shape.push_back((input.getDimSize(i + 2) - 1) * adaptor.getStrides()[i] +
                    (filter.getDimSize(i + 2) - 1) * adaptor.getDilations()[i] +
                    1 - adaptor.getPads()[i] - adaptor.getPads()[i + spatial] +
                    adaptor.getOutputPads()[i]);
  results.push_back(input.clone(shape));
  return success();
}

LogicalResult ConvTransposeOp::verify() {
  return checkFloats(*this, getOperands());
}

/// Counts the floating-point operations of a conv_transpose; a multiply-add
/// counts as two operations. Each input element takes one multiply-add per
/// filter element of its input channel. A filter [8, 4, 3, 3] has 8 input
/// channels. Each input element then takes 4 · 3 · 3 multiply-adds.
double ConvTransposeOp::getFlops() {
  RankedTensorType filter = tensorType(getFilter());
  return 2.0 * tensorType(getInput()).getNumElements() *
         filter.getNumElements() / filter.getDimSize(0);
}
