//===- InspectTables.h - short tables about many ranks --------------------===//
//
// `pcc inspect` fits one screen for every number of ranks and stages: a row
// stands for several pipeline positions where there are many, and communication
// is summed by axes and kind.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_PROGRAM_INSPECTTABLES_H
#define PCC_RUNTIME_PROGRAM_INSPECTTABLES_H

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace pcc::runtime {

/// Ranks `first` to `last`, which run `programs`, entries of "programs".
struct ProgramGroup {
  int64_t first = 0, last = 0;
  std::vector<const nlohmann::ordered_json *> programs = {};
};

/// Divides the programs into at most `most` groups of neighbors. `perProgram`
/// ranks run each program. The groups point into `programs`.
std::vector<ProgramGroup> groupPrograms(const nlohmann::ordered_json &programs,
                                        int64_t perProgram, size_t most);

/// Returns text such as "rank 3" or "ranks 4 to 7".
std::string rangeText(const ProgramGroup &group);

/// Joins the names of the actions of a program, with `separator` between two
/// names. An action is a computation of one stage for one microbatch. For
/// example, "0F3" is the forward pass of stage 0 for microbatch 3.
std::string joinedActions(const nlohmann::ordered_json &program,
                          const char *separator);

/// Returns the inputs or outputs of the model in one line, which names at most
/// five of them. `list` is "inputs" or "outputs".
std::string portsText(const nlohmann::ordered_json &bundle, const char *list);

/// Returns a table with the stages and the memory of a rank of each group. If
/// the ranks of a group differ, a cell has the largest value.
std::string memoryTableText(const std::vector<ProgramGroup> &groups);

/// Returns the first actions of a step, one line per group. A group of several
/// programs has the actions of the first one.
std::string actionsText(const std::vector<ProgramGroup> &groups);

/// Returns a table of the communication of a step: for each set of axes and
/// each kind, the calls and bytes of the rank that receives the most. At most
/// eight rows, the dearest first.
std::string communicationText(const nlohmann::ordered_json &bundle);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_INSPECTTABLES_H
