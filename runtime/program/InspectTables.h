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

/// Consecutive ranks, from `first` to `last`, both included. `programs` points
/// to the programs that these ranks run, entries of the list "programs" in
/// bundle.json.
struct ProgramGroup {
  int64_t first = 0, last = 0;
  std::vector<const nlohmann::ordered_json *> programs = {};
};

/// Divides the ranks into at most `most` groups of consecutive ranks.
/// `programs` is the list "programs" in bundle.json. Each program runs on
/// `perProgram` consecutive ranks. Example: 5 programs on 2 ranks each, and at
/// most 2 groups, give the ranks 0 to 5 and 6 to 9. The groups point into
/// `programs`, which must outlive them.
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

/// Returns a table with one row for each group of ranks. The row has the stages
/// of the group, and the bytes of memory that one rank of the group needs. If
/// the ranks of the group need different numbers of bytes, the row has the
/// largest number.
std::string memoryTableText(const std::vector<ProgramGroup> &groups);

/// Returns the first actions of a step, one line per group of ranks. If the
/// ranks of a group run several programs, the line shows the first program.
std::string actionsText(const std::vector<ProgramGroup> &groups);

/// Returns a table of the communication in one step, with one row for each set
/// of mesh axes and each kind, such as all_gather over tp. The calls and the
/// received bytes in a row are those of one rank. In the row all_gather over
/// tp, for example, this is the rank that receives the most bytes by
/// all_gathers over tp. The rows are sorted by bytes, largest first. The table
/// has at most eight rows; a line below counts the omitted ones.
std::string communicationText(const nlohmann::ordered_json &bundle);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_INSPECTTABLES_H
