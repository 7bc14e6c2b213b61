//===- ExternalData.cpp - locator of external tensor data -----------------===//

#include "passes/1-import/onnx/ExternalData.h"

#include "passes/1-import/onnx/model/MessageText.h"
#include "passes/1-import/onnx/model/ModelStorage.h"
#include "status/Counted.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <sys/stat.h>
#include <unistd.h>

using namespace pcc;
using namespace pcc::onnx;
namespace fs = std::filesystem;

/// Parses `text` as a decimal number without a sign. Returns `fallback` if the
/// text is empty. Returns nothing if the text is no number or the number
/// exceeds 64 bits.
static std::optional<uint64_t> parseNumber(std::string_view text,
                                           uint64_t fallback) {
  if (text.empty())
    return fallback;
  uint64_t number = 0;
  const auto [rest, status] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc() || rest != text.data() + text.size())
    return std::nullopt;
  return number;
}

/// Checks the path `location`. An ONNX model gives this path for a file that
/// holds bytes of tensors. Returns an error message if the path is empty, is
/// absolute, contains "..", or contains a zero byte. Otherwise returns an empty
/// string.
static std::string locationMistake(std::string_view location) {
  if (location.empty())
    return "the location is empty";
  if (location.find('\0') != std::string_view::npos)
    return "the location has a zero byte";
  const fs::path path{std::string(location)};
  if (path.is_absolute())
    return "the location must be relative";
  if (std::find(path.begin(), path.end(), fs::path("..")) != path.end())
    return "the location must not contain '..'";
  return {};
}

/// Returns whether `path` equals `directory` or lies below it. Both paths must
/// be canonical.
static bool isInside(const fs::path &path, const fs::path &directory) {
  const auto [end, rest] = std::mismatch(directory.begin(), directory.end(),
                                         path.begin(), path.end());
  return end == directory.end();
}

static fs::path canonicalOrEmpty(const fs::path &path) {
  std::error_code code;
  fs::path canonical = fs::canonical(path, code);
  return code ? fs::path() : canonical;
}

static bool isExternal(const Tensor &tensor) {
  return tensor.external.has_value();
}

/// Returns whether one of `nodes` contains a tensor with external data
/// (elements in another file), in an attribute or in a subgraph.
static bool holdsExternalData(const std::vector<Node> &nodes) {
  for (const Node &node : nodes)
    for (const Attribute &attribute : node.attributes) {
      const auto &tensors = attribute.tensors;
      if (std::any_of(tensors.begin(), tensors.end(), isExternal))
        return true;
      for (const Graph &graph : attribute.graphs)
        if (holdsExternalData(graph.nodes) ||
            std::any_of(graph.initializers.begin(), graph.initializers.end(),
                        isExternal))
          return true;
    }
  return false;
}

bool pcc::onnx::hasNestedExternalData(const Model &model) {
  return holdsExternalData(model.graph.nodes) ||
         std::any_of(model.functions.begin(), model.functions.end(),
                     [](const Function &function) {
                       return holdsExternalData(function.nodes);
                     });
}

static int64_t nanoseconds(const timespec &time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// Fills the list of directories in which the class searches for data files.
/// Data files are the files outside of the model file that hold bytes of the
/// model's tensors. The list has up to three entries: the directory of
/// `modelPath`, the directory of the file to which `modelPath` leads if it is a
/// symlink, and the directory that the user gives by --external-data-root. A
/// directory that does not exist is left out. Each directory occurs only once.
ExternalData::ExternalData(const std::string &modelPath,
                           const ExternalDataOptions &options)
    : options(options) {
  const fs::path model(modelPath);
  const fs::path folder = model.has_parent_path() ? model.parent_path() : ".";
  modelName = model.filename();
  const auto add = [&](fs::path directory) {
    if (!directory.empty() && std::find(directories.begin(), directories.end(),
                                        directory) == directories.end())
      directories.push_back(std::move(directory));
  };
  const fs::path logical = canonicalOrEmpty(folder);
  rootPath = logical;
  add(logical);
  add(canonicalOrEmpty(model).parent_path());
  if (!options.extraRoot.empty())
    add(extraDirectory = canonicalOrEmpty(options.extraRoot));
}

bool ExternalData::permitted(const fs::path &canonical) const {
  return std::any_of(directories.begin(), directories.end(),
                     [&](const fs::path &directory) {
                       return isInside(canonical, directory);
                     });
}

/// Checks whether pcc may read the file at the path `found`. Resolves all
/// symlinks in the path, and checks the resolved path. Therefore no symlink can
/// lead to a file outside of `directories`, the directories in which data files
/// may lie. The returned File contains the path with its symlinks, not the
/// resolved path.
ExternalData::File ExternalData::inspect(const fs::path &found,
                                         std::string_view location) const {
  File file;
  const auto refuse = [&](const std::string &claim,
                          ExitCode code = CannotRead) {
    file.error = Status::error(code, "file " + quoted(location) + " " + claim);
    return file;
  };
  std::error_code code;
  const fs::path canonical = fs::canonical(found, code);
  if (code)
    return refuse("cannot be read: " + code.message());
  if (!permitted(canonical))
    return refuse("lies outside of the model's directory");
  struct stat status;
  if (lstat(canonical.c_str(), &status) != 0)
    return refuse("cannot be read: " +
                  std::error_code(errno, std::generic_category()).message());
  if (!S_ISREG(status.st_mode))
    return refuse("is not a regular file");
  if (access(canonical.c_str(), R_OK) != 0)
    return refuse("cannot be read: " +
                      std::error_code(errno, std::generic_category()).message(),
                  InputOutput);
  const bool trusted =
      !extraDirectory.empty() && isInside(canonical, extraDirectory);
  if (status.st_nlink > 1 && !trusted) {
    refuse("has " + std::to_string(status.st_nlink) + " hard links");
    file.error.addNote("another name of it may lie outside of the model's "
                       "directory; --external-data-root permits such files");
    return file;
  }
  file.reference.path = found.lexically_relative(rootPath);
  file.reference.fileSize = static_cast<uint64_t>(status.st_size);
  file.reference.modified = nanoseconds(status.st_mtim);
  return file;
}

/// Searches `directories`, in order, for the data file with the relative path
/// `location`. The search ends at the first directory that contains this file.
/// If pcc must not read this file, the result is an error, even if a later
/// directory contains a file that pcc may read.
ExternalData::File ExternalData::find(std::string_view location) const {
  File file;
  if (std::string mistake = locationMistake(location); !mistake.empty()) {
    file.error =
        Status::error(CannotRead, "file " + quoted(location) + ": " + mistake);
    return file;
  }
  const fs::path relative = fs::path(std::string(location)).lexically_normal();
  for (const fs::path &directory : directories) {
    std::error_code code;
    // A symlink can lead to a path at which there is no file. exists() on the
    // path would return false for this symlink, and the search would go on in
    // the next directory. exists() on the symlink_status of the path returns
    // true. inspect() then returns an error, because the symlink leads to no
    // file.
    if (fs::exists(fs::symlink_status(directory / relative, code)))
      return inspect(directory / relative, location);
  }
  file.reference.path = relative;
  file.reference.present = false;
  if (!options.allowAbsent)
    file.error = Status::error(CannotRead,
                               "file " + quoted(location) + " does not exist",
                               {"--random-weights SEED compiles without it"});
  return file;
}

const ExternalData::File &ExternalData::lookUp(std::string_view location) {
  const auto known = files.find(location);
  if (known != files.end())
    return known->second;
  return files.emplace(location, find(location)).first->second;
}

/// Returns the file, offset and length of the bytes of `tensor`. The bytes must
/// lie in the model file. Does not check whether pcc may read the model file,
/// because pcc has already read the model from this file.
StatusOr<DataReference> ExternalData::resolveInModel(const Model &model,
                                                     const Tensor &tensor) {
  const std::optional<uint64_t> offset = model.fileOffset(tensor.raw);
  if (!offset)
    return Status::error(CannotRead,
                         "tensor " + quoted(tensor.name) +
                             " is not stored as bytes in the model file");
  if (!modelFile) {
    struct stat status = {};
    modelFile.emplace();
    modelFile->path = modelName;
    modelFile->present =
        stat((fs::path(rootPath) / modelName).c_str(), &status) == 0;
    modelFile->fileSize = model.storage->file().size();
    modelFile->modified = nanoseconds(status.st_mtim);
  }
  DataReference reference = *modelFile;
  reference.offset = *offset;
  reference.length = tensor.raw.size();
  return reference;
}

/// Returns the file, offset and length of the bytes of `tensor`. Returns an
/// error if the file ends before offset + length. The offset and the length
/// come from an untrusted model, so their sum could overflow. The code
/// therefore compares the length with the file size minus the offset.
StatusOr<DataReference> ExternalData::resolve(const Model &model,
                                              const Tensor &tensor) {
  if (!tensor.external)
    return resolveInModel(model, tensor);
  const ExternalLocation &external = *tensor.external;
  const std::string subject = "external data of tensor " + quoted(tensor.name);
  const auto refuse = [&](const std::string &claim) {
    return Status::error(CannotRead, subject + ": " + claim);
  };
  const File &file = lookUp(external.location);
  if (file.error.failed())
    return file.error.prefixed(subject + ": ");
  const std::string name = "file " + quoted(external.location);
  const std::optional<uint64_t> needed = byteSize(tensor.dataType, tensor.dims);
  if (!needed)
    return refuse("type " + typeName(tensor.dataType) + " has no fixed size");
  const std::optional<uint64_t> offset = parseNumber(external.offset, 0);
  if (!offset)
    return refuse("offset " + quoted(external.offset) + " in " + name +
                  " is not a byte count");
  const std::optional<uint64_t> length = parseNumber(external.length, *needed);
  if (!length)
    return refuse("length " + quoted(external.length) + " in " + name +
                  " is not a byte count");
  if (*length != *needed)
    return refuse("length " + std::to_string(*length) + " in " + name +
                  " does not fit the tensor, which has " +
                  counted(*needed, "byte"));
  DataReference reference = file.reference;
  if (reference.present &&
      (*offset > reference.fileSize || *length > reference.fileSize - *offset))
    return refuse(name + " has " + counted(reference.fileSize, "byte") +
                  ", needs " + std::to_string(*length) + " at offset " +
                  std::to_string(*offset));
  reference.offset = *offset;
  reference.length = *length;
  return reference;
}
