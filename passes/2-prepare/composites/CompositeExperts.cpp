//===- CompositeExperts.cpp - sums of experts of which few count ----------===//
//
//   einsum te,etd->td gate, outputs
//   reduce sum over e of gate · outputs
//
// where no token has more than a few gates that are not 0 (`maxNonZeros`).
// Both become an einsum with the gates in front, marked with that number: what
// other experts make of a token need not be known. `group-experts` relies on
// it once shapes are local.
//
// It is the same sum unless an expert that a token does not go to makes NaN or
// an infinity of it: times 0 that would be NaN.
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/ops/EinsumEquation.h"
#include "passes/2-prepare/composites/Composites.h"
#include "passes/2-prepare/match/NonZeroBounds.h"
#include "passes/2-prepare/match/RewriteFunctions.h"

using namespace mlir;
using namespace pcc::graph;
using namespace pcc::prepare;

static bool areAllIn(StringRef letters, StringRef others) {
  return llvm::all_of(letters, [&](char c) { return others.contains(c); });
}

/// How many experts along `dim` a token can have at most by `gate`; 0 if it may
/// have all of them, or if that is not what it can be.
static int64_t chosenBy(Value gate, int64_t dim) {
  if (!isa<FloatType>(elementTypeOf(gate)))
    return 0;
  const int64_t most = maxNonZeros(gate, dim);
  return most < shapeOf(gate)[dim] ? most : 0;
}

static Value markedSum(Operation *op, const std::string &equation, Value gate,
                       Value outputs, int64_t chosen,
                       PatternRewriter &rewriter) {
  auto sum = EinsumOp::create(rewriter, op->getLoc(), equation,
                              ValueRange{gate, outputs});
  sum->setAttr(chosenName, rewriter.getI64IntegerAttr(chosen));
  return sum;
}

/// The one letter of `letters` that the result lacks; 0 if there is not one.
static char summedLetter(StringRef letters, StringRef result) {
  char summed = 0;
  for (char letter : letters)
    if (!result.contains(letter)) {
      if (summed)
        return 0;
      summed = letter;
    }
  return summed;
}

static Value einsum(EinsumOp op, PatternRewriter &rewriter) {
  auto equation = EinsumEquation::parse(op.getEquation());
  if (op->hasAttr(chosenName) || op.getInputs().size() != 2)
    return {};
  for (int i : {0, 1}) {
    StringRef gate = equation->operands[i], outputs = equation->operands[1 - i];
    const char expert = summedLetter(outputs, equation->result);
    if (!expert || !gate.contains(expert) || gate.size() < 2 ||
        gate.size() >= outputs.size() || !areAllIn(gate, outputs))
      continue;
    if (int64_t chosen = chosenBy(op.getInputs()[i],
                                  static_cast<int64_t>(gate.find(expert))))
      return markedSum(
          op, (gate + "," + outputs + "->" + equation->result).str(),
          op.getInputs()[i], op.getInputs()[1 - i], chosen, rewriter);
  }
  return {};
}

/// Letters for the dims of `gate` that it does not repeat along, matched from
/// the right with `letters`.
static std::string lettersOfGate(Value gate, StringRef letters) {
  ArrayRef<int64_t> shape = shapeOf(gate);
  std::string own;
  for (auto [size, letter] :
       llvm::zip_equal(shape, letters.take_back(shape.size())))
    if (size != 1)
      own.push_back(letter);
  return own;
}

static Value reducedProduct(ReduceOp op, PatternRewriter &rewriter) {
  auto mul = definedBy<MulOp>(op.getInput());
  if (!mul || op.getKind() != ReduceKind::Sum || op.getKeep() ||
      op.getDims().size() != 1)
    return {};
  std::string all;
  for (size_t i = 0; i < shapeOf(mul).size(); ++i)
    all.push_back(static_cast<char>('a' + i));
  const char expert = all[op.getDims().front()];
  std::string result = all;
  result.erase(op.getDims().front(), 1);
  for (int i : {0, 1}) {
    Value gate = mul->getOperand(i), outputs = mul->getOperand(1 - i);
    const std::string own = lettersOfGate(gate, all);
    const int64_t rank = static_cast<int64_t>(shapeOf(gate).size());
    if (outputs.getType() != mul.getType() || own.size() < 2 ||
        own.size() >= all.size() || !StringRef(own).contains(expert))
      continue;
    const int64_t chosen = chosenBy(
        gate, rank - static_cast<int64_t>(all.size() - all.find(expert)));
    if (chosen == 0)
      continue;
    SmallVector<int64_t> kept;
    for (int64_t size : shapeOf(gate))
      if (size != 1)
        kept.push_back(size);
    auto type = tensorType(gate).clone(kept);
    if (type != gate.getType())
      gate = ReshapeOp::create(rewriter, op.getLoc(), type, gate);
    return markedSum(op, own + "," + all + "->" + result, gate, outputs, chosen,
                     rewriter);
  }
  return {};
}

void pcc::prepare::addExpertPatterns(RewritePatternSet &patterns) {
  addRewrites(patterns, einsum, reducedProduct);
}
