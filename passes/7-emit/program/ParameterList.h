//===- ParameterList.h - the weights of one position ----------------------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_PARAMETERLIST_H
#define PCC_PASSES_7_EMIT_PROGRAM_PARAMETERLIST_H

#include "passes/7-emit/program/ModelFacts.h"
#include "runtime/program/Program_generated.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::emit {

/// Fills the program's parameters: one for each weight and placement that is
/// read, and for each that is written and never read. A weight that is read in
/// two placements is held twice.
class ParameterList {
public:
  ParameterList(const ModelFacts &facts, program::ProgramT &program);

  /// Index of the parameter that `get` reads.
  int32_t add(graph::GetParameterOp get);
  /// Index of the parameter that `set` writes; -1 if the weight is read, but by
  /// no op of the position in this placement.
  int32_t add(graph::SetParameterOp set);

  graph::ParameterOp declarationOf(llvm::StringRef parameter) const {
    return declarations.lookup(parameter);
  }

private:
  int32_t add(llvm::StringRef name, dist::ShardingAttr placement);
  int32_t fileIndex(llvm::StringRef file);

  const ModelFacts &facts;
  program::ProgramT &program;
  llvm::StringMap<graph::ParameterOp> declarations;
  std::map<std::pair<std::string, std::string>, int32_t> known;
  llvm::StringMap<int32_t> files;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_PARAMETERLIST_H
