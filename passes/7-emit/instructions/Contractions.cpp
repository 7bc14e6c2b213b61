//===- Contractions.cpp - lowering of matmul and einsum to products -------===//

#include "dialects/graph/StepParts.h"
#include "passes/7-emit/instructions/ContractionCall.h"
#include "llvm/ADT/SmallString.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

/// Returns the strides, in elements, of an operand or result of a batched
/// matrix product: batch dims, rows, columns. `isTransposed` exchanges the last
/// two dims of `view`. A batch dim that the tensor lacks, or has with size 1,
/// gets stride 0 (broadcasting).
static std::vector<int64_t> matrixStrides(const StridedView &view,
                                          ArrayRef<int64_t> batch,
                                          bool isTransposed) {
  const size_t rank = view.shape.size(), missing = batch.size() + 2 - rank;
  std::vector<int64_t> strides(batch.size(), 0);
  for (size_t i = missing; i < batch.size(); ++i)
    if (view.shape[i - missing] != 1)
      strides[i] = view.strides[i - missing];
  strides.push_back(view.strides[rank - (isTransposed ? 1 : 2)]);
  strides.push_back(view.strides[rank - (isTransposed ? 2 : 1)]);
  return strides;
}

/// Appends the instruction of a matmul. Transposes and broadcasts of operands
/// become strides, slices become offsets. Returns false for integers and for
/// operands of different types.
bool emit::buildMatmul(const ContractionCall &call, InstructionWriter &writer) {
  auto matmul = cast<graph::MatmulOp>(call.contraction);
  RankedTensorType lhs = graph::tensorType(matmul.getLhs());
  RankedTensorType rhs = graph::tensorType(matmul.getRhs());
  RankedTensorType result = graph::tensorType(matmul.getResult());
  if (!isa<FloatType>(result.getElementType()) ||
      lhs.getElementType() != rhs.getElementType())
    return false;
  ArrayRef<int64_t> batch = result.getShape().drop_back(2);
  program::MatmulT made;
  made.a = writer.bufferOf(call.lhs.source);
  made.b = writer.bufferOf(call.rhs.source);
  made.c = writer.bufferOf(call.epilogue.result);
  made.batch.assign(batch.begin(), batch.end());
  made.m = result.getShape()[batch.size()];
  made.n = result.getShape()[batch.size() + 1];
  made.k = lhs.getShape()[lhs.getRank() - (matmul.getTransposeLhs() ? 2 : 1)];
  made.a_offset = call.lhs.view.offset;
  made.b_offset = call.rhs.view.offset;
  made.a_strides =
      matrixStrides(call.lhs.view, batch, matmul.getTransposeLhs());
  made.b_strides =
      matrixStrides(call.rhs.view, batch, matmul.getTransposeRhs());
  made.c_strides = matrixStrides(call.epilogue.stored, batch, false);
  if (call.epilogue.residual)
    made.residual_strides =
        matrixStrides(StridedView::dense(result.getShape()), batch, false);
  call.setEpilogue(made, writer);
  if (call.sums.result)
    (call.sums.ofLhs ? made.a_sums : made.b_sums) =
        writer.bufferOf(call.sums.result);
  made.one_by_one = graph::isReproducible(matmul);
  writer.emit(call.op, std::move(made));
  return true;
}

namespace {
/// Lowers an einsum of two operands to one batched matrix product. The tensors
/// that have a dim (a letter of the equation) decide its use:
///
///   lhs, rhs, result   batch dim
///   lhs, result        row: the last is dim m, all others are batch dims
///   rhs, result        column: the last is dim n, all others are batch dims
///   lhs, rhs           summed: all are merged into dim k
class EinsumProduct {
public:
  /// Splits the equation of `einsum` into the letters of each tensor. Swaps the
  /// operands if only the first one has the last letter of the result:
  /// ij,jk->ki becomes jk,ij->ki. The last letter (here i) thereby becomes a
  /// column of the matrix product. Libraries store the matrix row by row, and
  /// neighboring columns are then neighboring elements of the result.
  EinsumProduct(graph::EinsumOp einsum) : einsum(einsum) {
    StringRef inputs;
    std::tie(inputs, letters[2]) = einsum.getEquation().split("->");
    std::tie(letters[0], letters[1]) = inputs.split(',');
    if (einsum.getInputs().size() != 2)
      return;
    operands = {einsum.getInputs()[0], einsum.getInputs()[1]};
    const StringRef last = letters[2].rtrim().take_back();
    if (letters[0].contains(last) && !letters[1].contains(last)) {
      std::swap(letters[0], letters[1]);
      std::swap(operands[0], operands[1]);
    }
  }

  /// Appends the instruction of a batched matrix product that computes an
  /// einsum. Returns false if the einsum is no such product, or does not have
  /// two operands.
  bool build(InstructionWriter &writer) {
    if (!operands[0] || !collect())
      return false;
    for (char letter : batch)
      made.batch.push_back(sizes[letter]);
    made.k = 1;
    made.m = rows ? sizes[rows] : 1;
    made.n = columns ? sizes[columns] : 1;
    for (char letter : summed)
      made.k *= sizes[letter];
    const char innermost = summed.empty() ? '\0' : summed.back();
    made.a_strides = stridesOf(0, rows, innermost);
    made.b_strides = stridesOf(1, innermost, columns);
    made.c_strides = stridesOf(2, rows, columns);
    made.a = writer.bufferOf(operands[0]);
    made.b = writer.bufferOf(operands[1]);
    made.c = writer.bufferOf(einsum.getResult());
    made.one_by_one = graph::isReproducible(einsum);
    writer.emit(einsum, std::move(made));
    return true;
  }

private:
  /// Returns the type of a tensor of an einsum (0: lhs, 1: rhs, 2: result).
  RankedTensorType typeOf(int tensor) {
    return graph::tensorType(tensor == 2 ? einsum.getResult()
                                         : operands[tensor]);
  }

  /// Determines how the matrix product uses each letter of the einsum's
  /// equation: as batch dim, row, column or summed dim. Sorts the summed
  /// letters by their order in the lhs. Returns false if one batched matrix
  /// product of floats cannot compute the einsum. Example: in ab,bc->ac, a is
  /// the row, c is the column, and b is summed.
  bool collect() {
    for (int tensor = 0; tensor < 3; ++tensor) {
      std::string plain;
      for (char letter : letters[tensor])
        if (letter != ' ')
          plain.push_back(letter);
      names[tensor] = plain;
      for (auto [i, letter] : llvm::enumerate(plain))
        sizes[letter] = typeOf(tensor).getDimSize(static_cast<int64_t>(i));
    }
    for (auto &[letter, size] : sizes)
      if (!assign(letter))
        return false;
    llvm::sort(summed, [&](char a, char b) {
      return names[0].find(a) < names[0].find(b);
    });
    for (size_t i = 1; i < summed.size(); ++i)
      if (!runsOn(0, summed[i - 1], summed[i]) ||
          !runsOn(1, summed[i - 1], summed[i]))
        return false;
    return isa<FloatType>(typeOf(2).getElementType());
  }

  /// Returns whether two dims of a tensor can be merged into one dim: the
  /// stride of the outer dim must be the stride times the size of the inner
  /// dim. `outer` and `inner` are the letters of the dims in the equation.
  /// `tensor` is 0 for the lhs, 1 for the rhs, 2 for the result.
  bool runsOn(int tensor, char outer, char inner) {
    return strideOf(tensor, outer) == strideOf(tensor, inner) * sizes[inner];
  }

  /// Records the dim of the matrix product to which `letter` belongs: batch,
  /// row, column or summed. Only the last row letter and the last column letter
  /// stay row and column. The earlier ones become batch dims. Returns false if
  /// only one operand has `letter`, the result lacks it, and its size is not 1.
  /// An example is b in ab,c->ac.
  bool assign(char letter) {
    const bool inA = has(0, letter), inB = has(1, letter), inC = has(2, letter);
    if (!inC) {
      if (sizes[letter] != 1)
        summed.push_back(letter);
      return (inA && inB) || sizes[letter] == 1;
    }
    if (inA && inB) {
      batch.push_back(letter);
      return true;
    }
    char &role = inA ? rows : columns;
    const std::string &own = names[inA ? 0 : 1];
    if (role && own.find(role) > own.find(letter)) {
      batch.push_back(letter);
      return true;
    }
    if (role)
      batch.push_back(role);
    role = letter;
    return true;
  }

  /// Returns whether a tensor of an einsum (0: lhs, 1: rhs, 2: result) has a
  /// dim with the letter `letter`.
  bool has(int tensor, char letter) const {
    return names[tensor].find(letter) != std::string::npos;
  }

  /// Returns the stride, in elements, of one dim of a tensor of an einsum.
  /// `letter` is the letter of the dim in the einsum's equation. `tensor` is 0
  /// for the lhs, 1 for the rhs, 2 for the result. Returns 0 if the tensor has
  /// no such dim. Example: in ab,bc->ac with an lhs of shape [2, 3], the lhs
  /// has stride 3 for a, 1 for b, and 0 for c.
  int64_t strideOf(int tensor, char letter) {
    const size_t at = letter ? names[tensor].find(letter) : std::string::npos;
    return at == std::string::npos
               ? 0
               : denseStrides(typeOf(tensor).getShape())[at];
  }

  /// Returns the strides, in elements, of a tensor (0: lhs, 1: rhs, 2: result):
  /// first of the batch dims, then of the dims with the einsum letters `row`
  /// and `column`. A dim that the tensor lacks gets stride 0. The letter '\0'
  /// stands for no dim, and also gets stride 0.
  std::vector<int64_t> stridesOf(int tensor, char row, char column) {
    std::vector<int64_t> strides;
    for (char letter : batch)
      strides.push_back(strideOf(tensor, letter));
    strides.push_back(strideOf(tensor, row));
    strides.push_back(strideOf(tensor, column));
    return strides;
  }

  graph::EinsumOp einsum;
  std::array<Value, 2> operands;
  StringRef letters[3];
  std::string names[3];
  std::map<char, int64_t> sizes;
  std::vector<char> batch, summed;
  char rows = 0, columns = 0;
  program::MatmulT made;
};
} // namespace

static bool buildEinsum(Operation *op, InstructionWriter &writer) {
  return EinsumProduct(cast<graph::EinsumOp>(op)).build(writer);
}

void emit::addContractionInstructions(InstructionTable &table) {
  table.add<graph::MatmulOp>(buildAlone<buildMatmul>);
  table.add<graph::EinsumOp>(buildEinsum);
}
