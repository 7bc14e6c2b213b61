//===- OutputPaths.cpp - outputs that would replace inputs ----------------===//

#include "runtime/engine/OutputPaths.h"

#include "runtime/base/AtomicFile.h"
#include "runtime/engine/weight/Parameters.h"

#include <filesystem>
#include <span>
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

/// Returns the files and folders that the run reads, except for weights.
static std::vector<std::string> inputsOf(const RunOptions &options) {
  std::vector<std::string> inputs = {options.bundle, options.data};
  for (const auto &[name, path] : options.inputs)
    inputs.push_back(path);
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

static Status refuse(const RunOutput &output, const std::string &why) {
  return Status::error(InputOutput, std::string(output.option) +
                                        ": cannot write '" + output.path +
                                        "': " + why);
}

/// Returns an error if `output` would replace one of `inputs`.
static Status checkKeeps(const RunOutput &output,
                         const std::vector<std::string> &inputs) {
  for (const std::string &input : inputs)
    if (isPartOf(output.path, input))
      return refuse(output, input == output.path
                                ? "the run reads it"
                                : "the run reads '" + input + "'");
  return Status::success();
}

/// Returns an error if `output` is one of `others`, too.
static Status checkApart(const RunOutput &output,
                         std::span<const RunOutput> others) {
  std::error_code error;
  for (const RunOutput &other : others)
    if (fs::weakly_canonical(output.path, error) ==
        fs::weakly_canonical(other.path, error))
      return refuse(output, std::string(other.option) + " writes it as well");
  return Status::success();
}

Status checkOutputPaths(const RunOptions &options,
                        const program::ProgramT &program) {
  const std::vector<RunOutput> outputs = outputsOf(options);
  std::vector<std::string> inputs = inputsOf(options);
  for (const auto &file : program.files)
    inputs.push_back(weightPath(*file, program, options));
  for (size_t i = 0; i < outputs.size(); ++i) {
    PCC_RETURN_IF_ERROR(checkKeeps(outputs[i], inputs));
    PCC_RETURN_IF_ERROR(checkApart(outputs[i], std::span(outputs).first(i)));
  }
  return Status::success();
}

Status checkPagePath(const std::string &page, const RunOptions &options) {
  const RunOutput output{"--html", page};
  PCC_RETURN_IF_ERROR(checkKeeps(output, inputsOf(options)));
  return checkApart(output, outputsOf(options));
}

} // namespace pcc::runtime
