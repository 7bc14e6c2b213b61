//===- ParameterList.h - parameters of a pipeline rank's program ----------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_PARAMETERLIST_H
#define PCC_PASSES_7_EMIT_PROGRAM_PARAMETERLIST_H

#include "passes/7-emit/program/ModelFacts.h"
#include "runtime/program/Program_generated.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::emit {

/// List of the weights and optimizer states in one program. All ranks that run
/// the same pipeline stages execute this program. A weight that is read in two
/// shardings has two entries, and each rank stores both shards.
class ParameterList {
public:
  /// Stores references to `facts` and `program`. Both must outlive this object.
  /// Adds nothing to `program` yet. The methods add() append entries to the
  /// list `program.parameters`. An entry is one weight in one sharding.
  ParameterList(const ModelFacts &facts, program::ProgramT &program);

  /// Returns the index of the list entry for the weight that `get` reads. A
  /// list entry is one weight in one sharding: a weight that is read in two
  /// shardings has two entries. Appends the entry if the list does not have it
  /// yet.
  int32_t add(graph::GetParameterOp get);
  /// Returns the index in `program.parameters` of the entry for the weight and
  /// the sharding that `set` writes. If the list does not have this entry yet,
  /// there are two cases. If no op of the module reads the weight, appends the
  /// entry. If an op reads the weight in another sharding, returns -1, and the
  /// compilation fails.
  int32_t add(graph::SetParameterOp set);

  /// Returns the declaration of the weight named `parameter`; null if the
  /// module declares no such weight.
  graph::ParameterOp declarationOf(llvm::StringRef parameter) const {
    return declarations.lookup(parameter);
  }

private:
  /// Returns the index of an entry in the list `program.parameters`. An entry
  /// is one weight in one sharding. The function searches for the entry of the
  /// weight named `name` with the sharding `placement`. A null `placement`
  /// means that each rank holds the whole weight. If the list
  /// `program.parameters` does not contain this entry yet, the function first
  /// appends the entry.
  int32_t add(llvm::StringRef name, dist::ShardingAttr placement);
  /// Returns the index of a weight file in the list `program.files`. `file` is
  /// the path of the weight file. If the list does not contain this path yet,
  /// appends it.
  int32_t fileIndex(llvm::StringRef file);

  const ModelFacts &facts;
  program::ProgramT &program;
  /// Declarations of all weights of the module, by name.
  llvm::StringMap<graph::ParameterOp> declarations;
  /// Map that contains the index of each entry in the list
  /// `program.parameters`. An entry is one weight in one sharding. A key of the
  /// map is a pair of two texts: the name of the weight, and the text of the
  /// sharding. dist::placementKey() makes the text of the sharding.
  std::map<std::pair<std::string, std::string>, int32_t> known;
  /// Map from the path of a weight file to the index of this file in the list
  /// `program.files`.
  llvm::StringMap<int32_t> files;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_PARAMETERLIST_H
