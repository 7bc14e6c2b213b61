//===- OutputPaths.cpp - outputs that would replace inputs ----------------===//

#include "runtime/engine/OutputPaths.h"

#include "runtime/base/claim/FileClaims.h"
#include "runtime/engine/weight/Parameters.h"
#include "runtime/tensor/OutputNames.h"

#include <filesystem>
#include <vector>

namespace pcc::runtime {

namespace fs = std::filesystem;

/// Adds the files and folders that the run reads.
static void addInputs(const RunOptions &options,
                      const program::ProgramT &program, FileClaims &claims) {
  for (const std::string &path : {options.bundle, options.data})
    claims.keep("the run reads", path);
  if (!options.data.empty() && options.tokens.empty())
    claims.keepFilesIn("the run reads", options.data, ".npy");
  for (const auto &[name, path] : options.inputs)
    claims.keep("the run reads", path);
  for (const auto &file : program.files)
    claims.keep("the run reads", weightPath(*file, program, options));
  claims.keep("--resume reads", options.resume);
  if (fs::exists(fs::path(options.resume) / "manifest.json"))
    claims.keep("--resume reads a checkpoint in",
                fs::absolute(options.resume).parent_path());
}

/// Adds the files that the run writes. Checkpoints are kept as inputs are,
/// since other outputs must leave the files of the whole folder alone.
static void addOutputs(const RunOptions &options,
                       const program::ProgramT &program, FileClaims &claims) {
  claims.keep("--save writes checkpoints to", options.save);
  for (const auto &[option, path] : {std::pair("--report", options.report),
                                     {"--metrics", options.metrics},
                                     {"--schedule-svg", options.scheduleSvg},
                                     {"--trace", options.trace},
                                     {"--measurements", options.measurements},
                                     {"--html", options.page}})
    claims.write(option, path);
  if (options.outputDirectory.empty())
    return;
  std::vector<std::string> names;
  for (const auto &output : program.outputs)
    names.push_back(output->name);
  for (const std::string &name : outputFileNames(names))
    claims.write("--output", options.outputDirectory + "/" + name);
}

Status checkOutputPaths(const RunOptions &options,
                        const program::ProgramT &program) {
  FileClaims claims;
  addInputs(options, program, claims);
  addOutputs(options, program, claims);
  return claims.check();
}

} // namespace pcc::runtime
