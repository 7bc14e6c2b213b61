//===- ParameterList.h - parameters of the program of one position --------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_PARAMETERLIST_H
#define PCC_PASSES_7_EMIT_PROGRAM_PARAMETERLIST_H

#include "passes/7-emit/program/ModelFacts.h"
#include "runtime/program/Program_generated.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::emit {

/// List of the parameters of a pipeline position's program. Each rank loads
/// weights by this list: an entry describes which shard of a weight to load
/// from which file. There is one entry for each weight and each sharding with
/// which the position reads it. A weight that is read with two shardings has
/// two entries, and occupies memory twice. A weight that the module writes, but
/// never reads, also has an entry.
class ParameterList {
public:
  /// Prepares an empty list. The methods add parameters to `program`. `facts`
  /// and `program` must outlive this object.
  ParameterList(const ModelFacts &facts, program::ProgramT &program);

  /// Returns the index, in the program's list, of the parameter that `get`
  /// reads. Adds the parameter if the list does not contain it.
  int32_t add(graph::GetParameterOp get);
  /// Returns the index, in the program's list, of the parameter that `set`
  /// writes. This parameter has the weight and the sharding of `set`. If the
  /// list has no such parameter, there are two cases:
  ///
  ///   no pipeline position reads the weight    adds the parameter
  ///   some pipeline position reads it          returns -1
  int32_t add(graph::SetParameterOp set);

  /// Returns the declaration of the weight named `parameter`; null if the
  /// module declares no such weight.
  graph::ParameterOp declarationOf(llvm::StringRef parameter) const {
    return declarations.lookup(parameter);
  }

private:
  /// Returns the index of the parameter for the weight `name` and the sharding
  /// `placement`. Adds the parameter at the first call. A null `placement`
  /// means that each rank holds the whole weight.
  int32_t add(llvm::StringRef name, dist::ShardingAttr placement);
  /// Returns the index, in the program's list of files, of the weight file with
  /// path `file`. Adds the file at the first call.
  int32_t fileIndex(llvm::StringRef file);

  const ModelFacts &facts;
  program::ProgramT &program;
  /// Declarations of all weights of the module, by name.
  llvm::StringMap<graph::ParameterOp> declarations;
  /// Maps the name of a weight and a key of its sharding (dist::placementKey)
  /// to the index of the parameter.
  std::map<std::pair<std::string, std::string>, int32_t> known;
  /// Maps the path of a weight file to the index of the file in the program's
  /// list of files.
  llvm::StringMap<int32_t> files;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_PARAMETERLIST_H
