//===- ParameterList.h - parameters of a pipeline rank's program ----------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_PARAMETERLIST_H
#define PCC_PASSES_7_EMIT_PROGRAM_PARAMETERLIST_H

#include "passes/7-emit/program/ModelFacts.h"
#include "runtime/program/Program_generated.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::emit {

/// List of the weights and optimizer states that the ranks at one pipeline
/// position hold. A position is a place in the pipeline: all ranks at a
/// position run the same program. An entry of the list is called a parameter. A
/// parameter is one weight or state in one sharding. A weight that is read in
/// two shardings has two entries, and each rank stores two shards of the
/// weight. The list is part of the program. At startup, each rank loads or
/// initializes one shard per entry.
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
  /// Returns the index of the list entry for the weight that `set` writes. A
  /// list entry is one weight in one sharding. `set` names a weight and a
  /// sharding. There are three cases:
  ///
  ///   - The list has an entry for this weight and sharding. The result is the
  ///     index of this entry.
  ///   - The list has no such entry, and no op of the whole module reads the
  ///     weight. The method appends an entry and returns its index.
  ///   - The list has no such entry, but some op of the module reads the
  ///     weight. The result is -1, and the compilation fails.
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
