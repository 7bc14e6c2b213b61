//===- FileClaims.cpp - files that a command reads and writes -------------===//

#include "runtime/base/claim/FileClaims.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace pcc::runtime {

namespace fs = std::filesystem;

FileClaims::ClaimedPath FileClaims::claimOf(const std::string &why,
                                            const std::string &path) {
  std::error_code error;
  fs::path resolved = fs::weakly_canonical(fs::absolute(path, error), error);
  if (!resolved.has_filename())
    resolved = resolved.parent_path();
  return {why, path, std::move(resolved)};
}

void FileClaims::keep(const std::string &reason, const std::string &path) {
  if (!path.empty())
    inputs.push_back(claimOf(reason, path));
}

void FileClaims::keepFilesIn(const std::string &reason,
                             const std::string &folder,
                             const std::string &ending) {
  std::error_code error;
  for (const auto &entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ending)
      keep(reason, entry.path());
}

void FileClaims::write(const std::string &option, const std::string &path) {
  std::error_code error;
  const fs::file_status found = fs::status(path, error);
  const bool isReplaced = !fs::exists(found) || fs::is_regular_file(found) ||
                          fs::is_directory(found);
  if (!path.empty() && path != "-" && isReplaced)
    outputs.push_back(claimOf(option, path));
}

void FileClaims::writeBundle(const std::string &option,
                             const std::string &path) {
  outputs.push_back(claimOf(option, path));
  outputs.back().isBundle = true;
}

/// Returns whether pcc gives the name `name` to files and folders in bundles,
/// checkpoints, and folders of checkpoints.
static bool isOwnName(std::string_view name) {
  constexpr std::array<std::string_view, 6> names = {
      "bundle.json", "explain.json", "manifest.json",
      "run",         "latest",       "weights"};
  return std::find(names.begin(), names.end(), name) != names.end() ||
         name.starts_with("rank-") || name.starts_with("step-");
}

/// Returns whether `file` lies in `folder`, at any depth. If `ofOwnNames`, only
/// below a name that pcc itself gives.
static bool isContentOf(const fs::path &folder, const fs::path &file,
                        bool ofOwnNames) {
  const auto [end, next] =
      std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return end == folder.end() && next != file.end() &&
         (!ofOwnNames || isOwnName(next->native()));
}

/// Returns whether the output changes the file or folder `kept`.
bool FileClaims::isReplacedBy(const ClaimedPath &kept,
                              const ClaimedPath &output) {
  std::error_code error;
  return kept.resolved == output.resolved ||
         isContentOf(kept.resolved, output.resolved, !kept.isBundle) ||
         (output.isBundle &&
          isContentOf(output.resolved, kept.resolved, /*ofOwnNames=*/true)) ||
         fs::equivalent(kept.resolved, output.resolved, error);
}

Status FileClaims::checkOutput(size_t number) const {
  const ClaimedPath &output = outputs[number];
  const auto refuse = [&](const std::string &why) {
    return Status::error(InputOutput, output.why + ": cannot write '" +
                                          output.path + "': " + why);
  };
  std::error_code error;
  if (!output.isBundle && fs::is_directory(output.resolved, error))
    return refuse("it is a directory");
  for (const ClaimedPath &kept : inputs)
    if (isReplacedBy(kept, output))
      return refuse(kept.why + (kept.resolved == output.resolved
                                    ? " it"
                                    : " '" + kept.path + "'"));
  for (size_t i = 0; i < outputs.size(); ++i)
    if (i != number && isReplacedBy(outputs[i], output) &&
        (i < number || outputs[i].isBundle))
      return refuse(outputs[i].why + " writes " +
                    (outputs[i].resolved == output.resolved
                         ? "it as well"
                         : "'" + outputs[i].path + "'"));
  return Status::success();
}

Status FileClaims::check() const {
  for (size_t i = 0; i < outputs.size(); ++i)
    PCC_RETURN_IF_ERROR(checkOutput(i));
  return Status::success();
}

} // namespace pcc::runtime
