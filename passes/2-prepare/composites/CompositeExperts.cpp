//===- CompositeExperts.cpp - sums over the few experts of a token --------===//
//
//   einsum te,etd->td gate, outputs
//   reduce sum over e of gate · outputs
//
// Mixture of experts in dense form: every expert processes every token, and a
// gate of 0 discards most of the results. If no token has more than k gates
// other than 0 (`maxNonZeros`), both forms become an einsum of gates and
// outputs with the attribute `graph.chosen` = k. The pass `group-experts` of
// 5-localize then computes each expert on its own tokens only (dropless
// experts; MegaBlocks, Gale et al. 2023).
//
// Assumption: no expert computes NaN or an infinity from a token that is not
// routed to it. The dense form would give 0 · NaN = NaN there.
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/ops/EinsumEquation.h"
#include "passes/2-prepare/composites/Composites.h"
#include "passes/2-prepare/match/NonZeroBounds.h"
#include "passes/2-prepare/match/RewriteFunctions.h"

using namespace mlir;
using namespace pcc::graph;
using namespace pcc::prepare;

/// Returns whether the string `others` contains every character of `letters`.
static bool areAllIn(StringRef letters, StringRef others) {
  return llvm::all_of(letters, [&](char c) { return others.contains(c); });
}

/// Returns the largest number of experts that one token can use. The tensor
/// `gate` holds a weight for each pair of a token and an expert. The dim `dim`
/// of the tensor enumerates the experts. A token uses an expert if the weight
/// is not 0. The function proves the number from the ops that compute `gate`.
/// Returns 0 if it cannot prove a number smaller than the number of all
/// experts. Also returns 0 if `gate` does not hold floats.
static int64_t chosenBy(Value gate, int64_t dim) {
  if (!isa<FloatType>(elementTypeOf(gate)))
    return 0;
  const int64_t most = maxNonZeros(gate, dim);
  return most < shapeOf(gate)[dim] ? most : 0;
}

/// Creates an einsum that replaces `op` and adds expert outputs multiplied by
/// gates, such as te,etd->td. The einsum gets `graph.chosen` = `chosen`, the
/// largest number of experts with a non-zero gate for one token.
static Value markedSum(Operation *op, const std::string &equation, Value gate,
                       Value outputs, int64_t chosen,
                       PatternRewriter &rewriter) {
  auto sum = EinsumOp::create(rewriter, op->getLoc(), equation,
                              ValueRange{gate, outputs});
  sum->setAttr(chosenName, rewriter.getI64IntegerAttr(chosen));
  return sum;
}

/// Returns the only letter of the einsum term `letters` that is not in the term
/// `result`. For the operand abc of the einsum ab,abc->ac, this is b, the
/// summed dim. Returns 0 if no letter or several letters are not in `result`.
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

/// Returns a copy of an einsum over experts with the attribute `graph.chosen`.
/// Example: te,etd->td with a gate for each token t and expert e.
/// `graph.chosen` is the largest number of non-zero gates of one token. Returns
/// null if this number is not provably smaller than the number of experts.
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

/// Returns the einsum letters of the dims of `gate` whose size is not 1.
/// `letters` names the dims of the tensor to which `gate` broadcasts. For a
/// gate of shape [4, 1] and the letters abc, returns b.
static std::string lettersOfGate(Value gate, StringRef letters) {
  ArrayRef<int64_t> shape = shapeOf(gate);
  std::string own;
  for (auto [size, letter] :
       llvm::zip_equal(shape, letters.take_back(shape.size())))
    if (size != 1)
      own.push_back(letter);
  return own;
}

/// Replaces a sum over E experts by an einsum with the attribute
/// `graph.chosen`. reduce_sum over E of gates [T, E, 1] · outputs [T, E, D]
/// becomes ab,abc->ac. Returns null if `op` is not such a sum, or if the number
/// of non-zero gates of one token is not provably smaller than E.
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
