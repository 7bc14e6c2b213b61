//===- CheckpointFolder.cpp - names and order of checkpoint folders -------===//

#include "runtime/checkpoint/CheckpointFolder.h"
#include "runtime/base/MappedFile.h"
#include "runtime/base/MissingFile.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string_view>

namespace pcc::runtime {

static constexpr std::string_view kPrefix = "step-";
static constexpr std::string_view kReplaced = ".replaced";
static constexpr std::string_view kUnfinished = ".tmp-";

/// Returns `number` with leading zeros, at least `digits` digits long.
static std::string padded(int64_t number, size_t digits) {
  std::string text = std::to_string(number);
  return std::string(digits - std::min(digits, text.size()), '0') + text;
}

std::string stepName(int64_t step) {
  return std::string(kPrefix) + padded(step, 8);
}

std::string replacedName(const std::string &step) {
  return step + std::string(kReplaced);
}

std::string unfinishedName(const std::string &step, const std::string &job) {
  return step + std::string(kUnfinished) + job;
}

std::string rankFileName(int rank, const char *ending) {
  return "rank-" + padded(rank, 3) + "." + ending;
}

namespace {
/// Folder name of a checkpoint, and the two facts that can be read from the
/// name. `step` is the training step after which the checkpoint was saved.
/// `isReplaced` is true if the name ends with ".replaced". For example, the
/// name "step-00000008.replaced" gives `step` = 8 and `isReplaced` = true.
struct Candidate {
  std::string name;
  int64_t step;
  bool isReplaced;
};
} // namespace

/// Parses a folder name such as "step-00000008" or "step-00000008.replaced".
/// Returns std::nullopt if `name` is not the name of a checkpoint.
static std::optional<Candidate> parse(const std::string &name) {
  std::string_view text = name;
  if (!text.starts_with(kPrefix))
    return std::nullopt;
  text.remove_prefix(kPrefix.size());
  const bool isReplaced = text.ends_with(kReplaced);
  if (isReplaced)
    text.remove_suffix(kReplaced.size());
  int64_t step = 0;
  const auto [rest, error] = std::from_chars(text.begin(), text.end(), step);
  if (error != std::errc() || rest != text.end() || step < 0)
    return std::nullopt;
  return Candidate{name, step, isReplaced};
}

/// Returns the content of the file `latest` in `directory`: the folder name of
/// the newest checkpoint. Returns an empty string if there is no such file.
static std::string latestOf(const std::string &directory) {
  constexpr size_t mostBytes = 4096;
  std::string name;
  if (readTextFile(directory + "/" + kLatestName, mostBytes, name).failed())
    return "";
  return name.substr(0, name.find('\n'));
}

Status listCheckpoints(const std::string &directory,
                       std::vector<std::string> &names) {
  std::error_code error;
  std::vector<Candidate> candidates;
  for (std::filesystem::directory_iterator entry(directory, error), end;
       !error && entry != end; entry.increment(error))
    if (auto candidate = parse(entry->path().filename().string()))
      candidates.push_back(std::move(*candidate));
  if (error == std::errc::no_such_file_or_directory)
    return Status::error(BadInput,
                         "'" + directory + "' " + describeMissing(directory));
  if (error)
    return Status::error(InputOutput,
                         "cannot read '" + directory + "': " + error.message());
  const std::string latest = latestOf(directory);
  std::sort(candidates.begin(), candidates.end(),
            [&](const Candidate &a, const Candidate &b) {
              if ((a.name == latest) != (b.name == latest))
                return a.name == latest;
              return a.step != b.step ? a.step > b.step
                                      : a.isReplaced < b.isReplaced;
            });
  for (Candidate &candidate : candidates)
    names.push_back(std::move(candidate.name));
  return Status::success();
}

Status findCheckpoints(const std::string &directory,
                       std::vector<std::string> &folders) {
  std::error_code ignored;
  if (std::filesystem::exists(directory + "/" + kManifestName, ignored)) {
    folders.push_back(directory);
    return Status::success();
  }
  std::vector<std::string> names;
  PCC_RETURN_IF_ERROR(listCheckpoints(directory, names));
  for (const std::string &name : names)
    folders.push_back(std::string(directory).append("/").append(name));
  if (folders.empty())
    return Status::error(BadInput,
                         "there is no checkpoint in '" + directory + "'");
  return Status::success();
}

std::vector<std::string> listUnfinished(const std::string &directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end;
       !error && entry != end; entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (name.starts_with(kPrefix) && name.find(kUnfinished) != name.npos)
      names.push_back(std::move(name));
  }
  return names;
}

} // namespace pcc::runtime
