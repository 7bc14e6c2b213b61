//===- MeaningTable.h - the table of meanings, one family per file --------===//

#ifndef PCC_DIALECTS_GRAPH_MEANING_MEANINGTABLE_H
#define PCC_DIALECTS_GRAPH_MEANING_MEANINGTABLE_H

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/meaning/Meaning.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"

namespace pcc::graph {

/// One op while it is evaluated. `results` are zeros of the result types when a
/// meaning begins; it fills them.
struct Evaluation {
  mlir::Operation *op;
  llvm::ArrayRef<const HostTensor *> operands;
  Numerics numerics;
  llvm::SmallVector<HostTensor, 2> results;
  std::string error;

  const HostTensor &in(size_t i) const { return *operands[i]; }
  HostTensor &out(size_t i = 0) { return results[i]; }
  mlir::Type elementType(size_t operand) const {
    return tensorType(op->getOperand(operand)).getElementType();
  }
  /// Records why the op cannot be evaluated.
  mlir::LogicalResult fail(const llvm::Twine &message) {
    error = message.str();
    return mlir::failure();
  }
};

using Meaning = mlir::LogicalResult (*)(Evaluation &);

/// Op name to meaning.
class MeaningTable {
public:
  template <typename Op> void add(Meaning meaning) {
    meanings[Op::getOperationName()] = meaning;
  }
  /// Null for an op without meaning.
  Meaning lookup(llvm::StringRef name) const { return meanings.lookup(name); }

private:
  llvm::StringMap<Meaning> meanings;
};

void addLeafMeanings(MeaningTable &table);
void addElementWiseMeanings(MeaningTable &table);
void addLayoutMeanings(MeaningTable &table);
void addResizeMeanings(MeaningTable &table);
void addIndexingMeanings(MeaningTable &table);
void addReductionMeanings(MeaningTable &table);
void addNormMeanings(MeaningTable &table);
void addContractionMeanings(MeaningTable &table);
void addAttentionMeanings(MeaningTable &table);
void addWindowMeanings(MeaningTable &table);
void addExpertMeanings(MeaningTable &table);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_MEANING_MEANINGTABLE_H
