//===- OutputPaths.cpp - early checks that outputs can be written ---------===//

#include "passes/OutputPaths.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unistd.h>

using namespace pcc;
namespace fs = std::filesystem;

/// Returns the error (exit code 7) for a `path` that cannot be written; `why`
/// states the reason.
static Status refuse(const fs::path &path, const std::string &why) {
  return Status::error(InputOutput,
                       "cannot write '" + path.string() + "': " + why);
}

/// Checks that the user may create files in the directory `folder`. An empty
/// `folder` means the current directory. `path` is the path of an output, such
/// as a bundle, that pcc will create in `folder` later. If the check fails, the
/// function returns an error with exit code 7. The message states that pcc
/// cannot write `path`, and gives the reason.
static Status checkFolder(const fs::path &path, fs::path folder) {
  std::error_code error;
  if (folder.empty())
    folder = ".";
  const fs::file_status status = fs::status(folder, error);
  if (!fs::exists(status))
    return refuse(path, "'" + folder.string() + "' does not exist");
  if (!fs::is_directory(status))
    return refuse(path, "'" + folder.string() + "' is not a directory");
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    return refuse(path, std::strerror(errno));
  return Status::success();
}

/// Checks that the bundle can be written to `path`. An existing bundle or empty
/// directory at `path` is allowed, because pcc will replace it. Anything else
/// at `path` is an error.
static Status checkBundle(fs::path path) {
  std::error_code error;
  if (!path.has_filename())
    path = path.parent_path();
  const fs::file_status status = fs::symlink_status(path, error);
  const bool isReplaceable =
      fs::is_directory(status) &&
      (fs::exists(path / "bundle.json", error) || fs::is_empty(path, error));
  if (fs::exists(status) && !isReplaceable)
    return refuse(path, "it exists and is not a bundle");
  return checkFolder(path, path.parent_path());
}

Status pcc::checkModelOutput(const std::string &name) {
  const fs::path path = name;
  std::error_code error;
  if (fs::exists(path, error) &&
      (!fs::is_regular_file(path, error) || path.extension() != ".onnx"))
    return refuse(path, "it exists and is not an .onnx file");
  return checkFolder(path, path.parent_path());
}

/// Checks that the directory `path` for dumps can be created: its nearest
/// existing parent must be writable.
static Status checkDumps(const fs::path &path) {
  std::error_code error;
  fs::path existing = path;
  while (!existing.empty() && !fs::exists(fs::status(existing, error)))
    existing = existing.parent_path();
  return checkFolder(path, existing);
}

/// Returns an error if the user requests a timeline, a page or copies of the
/// weights, but the compilation writes no bundle. A timeline is a file with the
/// predicted start and end times of the computations and messages of one step.
/// The options
/// --schedule-svg, --trace and --html request a timeline. pcc computes the
/// times from the programs of the ranks, and these programs exist only if pcc
/// writes a bundle.
static Status checkTimelines(const CompileOptions &options) {
  if (!options.emitsOnnx && !options.stopsEarly())
    return Status::success();
  for (const auto &[option, path] :
       {std::pair("--schedule-svg", options.scheduleSvg),
        std::pair("--trace", options.trace), std::pair("--html", options.html)})
    if (!path.empty())
      return Status::error(
          WrongUsage, std::string(option) +
                          " needs a bundle, which this command does not write");
  if (options.packWeights)
    return Status::error(WrongUsage, "--pack-weights needs a bundle, which "
                                     "this command does not write");
  return Status::success();
}

/// Checks that --emit onnx has a model that it can copy, and writes it.
static Status checkEmission(const CompileOptions &options) {
  if (!options.emitsOnnx)
    return Status::success();
  if (options.stopsEarly())
    return Status::error(WrongUsage,
                         "--emit onnx and --stop-after exclude each other");
  if (!options.transformer.empty())
    return Status::error(WrongUsage, "--emit onnx writes a copy of the model, "
                                     "and a --transformer has no file");
  return Status::success();
}

Status pcc::checkFile(const std::string &name) {
  const fs::path path = name;
  std::error_code error;
  return fs::is_directory(path, error) ? refuse(path, "it is a directory")
                                       : checkFolder(path, path.parent_path());
}

void pcc::addInputs(const CompileOptions &options,
                    runtime::FileClaims &claims) {
  claims.keep("pcc reads", options.model);
  claims.keep("--cluster reads", options.clusterFile);
  if (!options.scheduleTable.empty())
    claims.keep("--schedule reads", options.schedule);
}

/// Adds the files that the compilation writes, except for those of --dump-ir.
static void addOutputs(const CompileOptions &options,
                       runtime::FileClaims &claims) {
  if (options.stopsEarly() || options.emitsOnnx)
    claims.write("-o", options.bundle);
  else if (!options.bundle.empty())
    claims.writeBundle("-o", options.bundle);
  for (const auto &[option, path] : {std::pair("--report", options.report),
                                     {"--schedule-svg", options.scheduleSvg},
                                     {"--trace", options.trace},
                                     {"--html", options.html}})
    claims.write(option, path);
}

runtime::FileClaims pcc::claimsOf(const CompileOptions &options) {
  runtime::FileClaims claims;
  addInputs(options, claims);
  addOutputs(options, claims);
  return claims;
}

Status pcc::checkPage(const CompileOptions &options) {
  PCC_RETURN_IF_ERROR(claimsOf(options).check());
  return options.html.empty() ? Status::success() : checkFile(options.html);
}

Status pcc::checkOutputs(const CompileOptions &options) {
  PCC_RETURN_IF_ERROR(checkEmission(options));
  PCC_RETURN_IF_ERROR(checkTimelines(options));
  PCC_RETURN_IF_ERROR(claimsOf(options).check());
  const bool isText = options.stopsEarly();
  if (options.emitsOnnx && !isText)
    PCC_RETURN_IF_ERROR(checkModelOutput(options.bundle));
  else if (!isText)
    PCC_RETURN_IF_ERROR(checkBundle(options.bundle));
  else if (!options.bundle.empty() && options.bundle != "-")
    PCC_RETURN_IF_ERROR(checkFile(options.bundle));
  if (!options.dumpDirectory.empty())
    PCC_RETURN_IF_ERROR(checkDumps(options.dumpDirectory));
  for (const std::string &file :
       {options.report, options.scheduleSvg, options.trace, options.html})
    if (!file.empty())
      PCC_RETURN_IF_ERROR(checkFile(file));
  return Status::success();
}
