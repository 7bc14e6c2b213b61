//===- ParameterList.h - parameters of the program of one position --------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_PARAMETERLIST_H
#define PCC_PASSES_7_EMIT_PROGRAM_PARAMETERLIST_H

#include "passes/7-emit/program/ModelFacts.h"
#include "runtime/program/Program_generated.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::emit {

/// List of the parameters in the program of one position (virtual pipeline
/// rank). Each rank loads its shards of weights by this list. There is one
/// entry per weight and sharding: a weight that is read with two shardings
/// occupies memory twice.
class ParameterList {
public:
  /// Prepares an empty list. The methods add parameters to `program`. `facts`
  /// and `program` must outlive this object.
  ParameterList(const ModelFacts &facts, program::ProgramT &program);

  /// Returns the index of the parameter that `get` reads. Adds the parameter at
  /// the first call.
  int32_t add(graph::GetParameterOp get);
  /// Returns the index of the parameter that `set` writes. `set` names a weight
  /// and a sharding. There are three cases:
  ///
  ///   the list has a parameter for both       its index
  ///   no op of the module reads the weight    index of a new parameter
  ///   otherwise                               -1
  int32_t add(graph::SetParameterOp set);

  /// Returns the declaration of the weight named `parameter`; null if the
  /// module declares no such weight.
  graph::ParameterOp declarationOf(llvm::StringRef parameter) const {
    return declarations.lookup(parameter);
  }

private:
  /// Returns the index of the parameter for the weight `name` with sharding
  /// `placement`; null means unsharded. Adds the parameter at the first call.
  int32_t add(llvm::StringRef name, dist::ShardingAttr placement);
  /// Returns the index of the weight file with path `file`. Adds the file at
  /// the first call.
  int32_t fileIndex(llvm::StringRef file);

  const ModelFacts &facts;
  program::ProgramT &program;
  /// Declarations of all weights of the module, by name.
  llvm::StringMap<graph::ParameterOp> declarations;
  /// Index of each parameter, by weight name and key of the sharding
  /// (dist::placementKey).
  std::map<std::pair<std::string, std::string>, int32_t> known;
  /// Index of each weight file in the program's list, by path.
  llvm::StringMap<int32_t> files;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_PARAMETERLIST_H
