//===- OutputPaths.cpp - outputs that would replace inputs ----------------===//

#include "runtime/engine/OutputPaths.h"

#include "runtime/base/AtomicFile.h"
#include "runtime/engine/weight/Parameters.h"

#include <filesystem>
#include <vector>

namespace pcc::runtime {

namespace fs = std::filesystem;

namespace {
/// An output file of a run, and the option that asks for it.
struct RunOutput {
  const char *option;
  std::string path;
};
} // namespace

/// Returns the output files of the run. Leaves out streams and devices, which
/// are not replaced.
static std::vector<RunOutput> outputsOf(const RunOptions &options) {
  std::vector<RunOutput> outputs = {{"--report", options.report},
                                    {"--metrics", options.metrics},
                                    {"--schedule-svg", options.scheduleSvg},
                                    {"--trace", options.trace},
                                    {"--measurements", options.measurements}};
  std::erase_if(outputs, [](const RunOutput &output) {
    return output.path.empty() || isWrittenInPlace(output.path);
  });
  return outputs;
}

/// Returns the files and folders that the run reads.
static std::vector<std::string> inputsOf(const RunOptions &options,
                                         const program::ProgramT &program) {
  std::vector<std::string> inputs = {options.bundle, options.data};
  for (const auto &[name, path] : options.inputs)
    inputs.push_back(path);
  for (const auto &file : program.files)
    inputs.push_back(weightPath(*file, program, options));
  std::erase(inputs, "");
  return inputs;
}

/// Returns whether `path` is the file `input`, or a file of the folder `input`
/// that a run reads: an array, bundle.json, or an executable, whose name has no
/// ending.
static bool isPartOf(const fs::path &path, const std::string &input) {
  std::error_code error;
  if (!fs::exists(path, error))
    return false;
  const std::string ending = path.extension();
  const bool isRead =
      ending.empty() || ending == ".npy" || path.filename() == "bundle.json";
  const fs::path folder = fs::absolute(path, error).parent_path();
  return fs::equivalent(path, input, error) ||
         (isRead && fs::equivalent(folder, input, error));
}

Status checkOutputPaths(const RunOptions &options,
                        const program::ProgramT &program) {
  const std::vector<RunOutput> outputs = outputsOf(options);
  const std::vector<std::string> inputs = inputsOf(options, program);
  auto refuse = [](const RunOutput &output, const std::string &why) {
    return Status::error(InputOutput, std::string(output.option) +
                                          ": cannot write '" + output.path +
                                          "': " + why);
  };
  std::error_code error;
  for (size_t i = 0; i < outputs.size(); ++i) {
    for (const std::string &input : inputs)
      if (isPartOf(outputs[i].path, input))
        return refuse(outputs[i], input == outputs[i].path
                                      ? "the run reads it"
                                      : "the run reads '" + input + "'");
    for (size_t j = 0; j < i; ++j)
      if (fs::weakly_canonical(outputs[i].path, error) ==
          fs::weakly_canonical(outputs[j].path, error))
        return refuse(outputs[i],
                      std::string(outputs[j].option) + " writes it as well");
  }
  return Status::success();
}

} // namespace pcc::runtime
