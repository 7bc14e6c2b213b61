//===- InspectText.h - readable text of a bundle description --------------===//

#ifndef PCC_RUNTIME_PROGRAM_INSPECTTEXT_H
#define PCC_RUNTIME_PROGRAM_INSPECTTEXT_H

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace pcc::runtime {

/// Returns a readable description of a bundle. `bundle` has the fields of
/// bundle.json. If `isVerbose`, the text lists each action, collective and
/// transfer. Otherwise, the text has at most 40 lines: it describes groups of
/// ranks, and adds up the communication.
std::string inspectText(const nlohmann::ordered_json &bundle, bool isVerbose);

/// Returns a readable description of one rank, including its tensors. `bundle`
/// is the JSON that `pcc inspect --rank R --json` prints.
std::string rankText(const nlohmann::ordered_json &bundle);

/// Returns the bytes that a rank allocates: weights, optimizer state and arena.
/// `rank` is an entry of the list "programs" in bundle.json, or of the list
/// "ranks" that `pcc inspect --json` prints.
double allocatedBytes(const nlohmann::ordered_json &rank);

/// Returns what the bytes of a rank leave out on `target`, for the end of a
/// text about them: ", besides what CUDA libraries take"; empty for CPUs. Only
/// the device knows the size of contexts and workspaces of libraries.
std::string leftOutText(const std::string &target);

/// Returns the axes of a mesh as text: {"a": 2, "b": 4} becomes "a=2, b=4". A
/// mesh without axes becomes "one rank".
std::string meshText(const nlohmann::ordered_json &mesh);

/// Returns the pipeline schedule as comma-separated values. `programs` is the
/// list "programs" in bundle.json. All ranks with the same coordinate on the
/// pipeline axis run the same program. The text has one line per program, such
/// as "0F0,0F1,0B0,0B1". Each entry is a computation of one stage for one
/// microbatch. For example, "0F1" is the forward pass of stage 0 for microbatch
/// 1, and "0B1" is the backward pass.
std::string scheduleText(const nlohmann::ordered_json &programs);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_INSPECTTEXT_H
