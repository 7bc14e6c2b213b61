//===- ParameterList.h - parameters of the program of one position --------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_PARAMETERLIST_H
#define PCC_PASSES_7_EMIT_PROGRAM_PARAMETERLIST_H

#include "passes/7-emit/program/ModelFacts.h"
#include "runtime/program/Program_generated.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::emit {

/// Fills the list of parameters of a position's program, which tells each rank
/// which part of which weight file to load. There is one parameter per weight
/// and placement (sharding) that the position reads. A weight that the position
/// reads in two placements therefore occupies memory twice. A weight that the
/// module writes but never reads has a parameter as well.
class ParameterList {
public:
  /// Borrows `facts` and `program`.
  ParameterList(const ModelFacts &facts, program::ProgramT &program);

  /// Returns the index of the parameter that `get` reads; adds it at the first
  /// call.
  int32_t add(graph::GetParameterOp get);
  /// Returns the index of the parameter that `set` writes; adds it if no
  /// position reads the weight. Returns -1 if the weight is read, but by no op
  /// of this position that has been added in this placement.
  int32_t add(graph::SetParameterOp set);

  /// Returns the declaration of a weight; null if the module has none of this
  /// name.
  graph::ParameterOp declarationOf(llvm::StringRef parameter) const {
    return declarations.lookup(parameter);
  }

private:
  /// Returns the index of the parameter for a weight and a placement; a null
  /// placement is the whole tensor.
  int32_t add(llvm::StringRef name, dist::ShardingAttr placement);
  /// Returns the index of a weight file; adds it at the first call.
  int32_t fileIndex(llvm::StringRef file);

  const ModelFacts &facts;
  program::ProgramT &program;
  /// Declarations of the module's weights by name.
  llvm::StringMap<graph::ParameterOp> declarations;
  /// Index of a parameter by weight name and placementKey().
  std::map<std::pair<std::string, std::string>, int32_t> known;
  /// Index of a weight file by path.
  llvm::StringMap<int32_t> files;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_PARAMETERLIST_H
