//===- ModelWithWeights.cpp - copy of an ONNX model with other weights ----===//

#include "passes/annotate/ModelWithWeights.h"
#include "passes/1-import/onnx/ExternalData.h"
#include "passes/1-import/onnx/ReadModel.h"
#include "passes/1-import/onnx/model/MessageText.h"
#include "passes/1-import/onnx/model/ModelStorage.h"
#include "passes/1-import/onnx/write/ReplaceWeights.h"
#include "passes/OutputPaths.h"
#include "runtime/base/MappedFile.h"
#include "runtime/base/Unfinished.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <unistd.h>

using namespace pcc;
namespace fs = std::filesystem;

/// Largest size of a model file in bytes. Readers of protocol buffers reject
/// longer messages.
static constexpr uint64_t longestFile = (uint64_t(1) << 31) - 1;
/// Smallest size in bytes at which a weight moves from the model file to
/// OUTPUT.data, a second file for large weights.
static constexpr uint64_t smallestBeside = 1024;
/// Alignment in bytes of the weights in OUTPUT.data, the file for large
/// weights. A reader can map an aligned weight into memory (mmap).
static constexpr uint64_t pageSize = 4096;

/// Converts an element type of pcc's runtime to the ONNX type.
static onnx::DataType dataTypeOf(runtime::ElementType type) {
  using enum onnx::DataType;
  static constexpr onnx::DataType types[] = {
      Float, Double, Float16, BFloat16, Int8,   Int16, Int32,
      Int64, UInt8,  UInt16,  UInt32,   UInt64, Bool};
  return types[static_cast<size_t>(type)];
}

/// Formats element type and shape for messages, such as "float[4,8]".
static std::string textOf(onnx::DataType type,
                          const std::vector<int64_t> &dims) {
  std::string text = onnx::typeName(type) + "[";
  for (size_t i = 0; i < dims.size(); ++i)
    text += (i > 0 ? "," : "") + std::to_string(dims[i]);
  return text + "]";
}

namespace {
/// Writes one copy of a model with other weights. Weights are read, changed and
/// written one by one, so that at most one weight is in memory.
class WeightReplacement {
public:
  WeightReplacement(onnx::Model model, const ModelWithWeightsOptions &options,
                    const std::vector<ReplacedWeight> &weights)
      : model(std::move(model)), options(options),
        data(options.model, {options.externalDataRoot, false}) {
    for (const ReplacedWeight &weight : weights)
      changed[weight.name] = &weight;
  }

  /// Checks that the new weights fit the model, and writes a copy of the model
  /// with them. Stores large weights in a second file, OUTPUT.data, if the
  /// model already uses such files or the copy would become too large.
  Status run() {
    PCC_RETURN_IF_ERROR(checkWeights());
    if (onnx::hasNestedExternalData(model))
      return Status::error(
          CannotMeet,
          "cannot export model '" + options.model +
              "': constants inside its nodes are stored in other files");
    placeInside();
    const bool isBeside =
        std::any_of(model.graph.initializers.begin(),
                    model.graph.initializers.end(),
                    [](const onnx::Tensor &t) { return t.external; }) ||
        onnx::replaceWeights(model, placed).size() > longestFile;
    return isBeside ? writeBoth() : writeModel();
  }

private:
  /// Checks the weights that get new elements. For each, the model must have an
  /// initializer of the same name, element type and shape.
  Status checkWeights() const {
    std::map<std::string_view, const onnx::Tensor *> initializers;
    for (const onnx::Tensor &tensor : model.graph.initializers)
      initializers[tensor.name] = &tensor;
    for (const auto &[name, weight] : changed) {
      const auto found = initializers.find(name);
      if (found == initializers.end())
        return unfit("has no initializer " + onnx::quoted(name));
      const onnx::Tensor &tensor = *found->second;
      if (tensor.dataType != dataTypeOf(weight->type) ||
          tensor.dims != weight->shape)
        return unfit("has initializer " + onnx::quoted(name) + " as " +
                     textOf(tensor.dataType, tensor.dims) +
                     ", but the trained one is " +
                     textOf(dataTypeOf(weight->type), weight->shape));
    }
    return Status::success();
  }

  /// Returns the error (exit code 6) for weights that do not fit the model.
  Status unfit(const std::string &why) const {
    return Status::error(CannotMeet, "model '" + options.model + "' " + why);
  }

  /// Returns the error (exit code 7) for an output file that cannot be written.
  Status cannotWrite(const std::string &why) const {
    return Status::error(InputOutput,
                         "cannot write '" + options.output + "': " + why);
  }

  /// Returns the size of the elements of `tensor` in bytes.
  static uint64_t bytesOf(const onnx::Tensor &tensor) {
    return onnx::byteSize(tensor.dataType, tensor.dims).value_or(0);
  }

  /// Records in `placed` that the copy's model file itself contains each weight
  /// with new elements. `placed` maps the name of a weight to its storage.
  void placeInside() {
    for (const onnx::Tensor &tensor : model.graph.initializers)
      if (changed.count(std::string(tensor.name)))
        placed[std::string(tensor.name)] = onnx::EmbeddedElements{
            bytesOf(tensor),
            [this, &tensor](std::ostream &out) { writeElements(tensor, out); }};
  }

  /// Reads the original elements of `tensor` into `bytes`, from the model file
  /// or from external data.
  Status readElements(const onnx::Tensor &tensor, std::string &bytes) {
    if (!tensor.external) {
      bytes = tensor.raw;
      return model.storage->checkUnchanged();
    }
    const auto reference = data.resolve(model, tensor);
    if (!reference)
      return reference.status();
    const std::string path = data.root() + "/" + reference->path;
    runtime::MappedFile &file = files[path];
    if (file.bytes().empty() && reference->length > 0)
      PCC_RETURN_IF_ERROR(runtime::MappedFile::open(path, file, CannotRead));
    std::span<const std::byte> part;
    PCC_RETURN_IF_ERROR(
        file.slice(reference->offset, reference->length, CannotRead, part));
    bytes.assign(reinterpret_cast<const char *>(part.data()), part.size());
    file.release(reference->offset, reference->length);
    return file.checkUnchanged(CannotRead);
  }

  /// Writes the elements of `tensor` to `out`: new elements if `changed`
  /// contains the tensor, its original elements otherwise. Stores the first
  /// error in `failure`. After an error, writes nothing.
  void writeElements(const onnx::Tensor &tensor, std::ostream &out) {
    std::string bytes;
    if (failure.ok())
      failure = readElements(tensor, bytes);
    const auto own = changed.find(std::string(tensor.name));
    if (failure.ok() && own != changed.end())
      failure = own->second->change(std::as_writable_bytes(std::span(bytes)));
    if (failure.ok())
      out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  //===--------------------------------------------------------------------===//
  // Files
  //===--------------------------------------------------------------------===//

  /// Writes a file under a temporary name; `content` writes the bytes.
  /// `file.finish()` later renames the file to `path`.
  Status writeUnfinished(const std::string &path, runtime::Unfinished &file,
                         const std::function<void(std::ostream &)> &content) {
    PCC_RETURN_IF_ERROR(file.createFile(path));
    std::ofstream out(file.path(), std::ios::binary);
    content(out);
    out.close();
    if (failure.ok() && !out)
      failure = cannotWrite(std::strerror(errno));
    return failure;
  }

  /// Writes the model file under a temporary name.
  Status writeModelUnfinished(runtime::Unfinished &file) {
    return writeUnfinished(options.output, file, [&](std::ostream &out) {
      onnx::replaceWeights(model, placed).write(out);
    });
  }

  /// Writes the copy of the model as one file that contains all weights.
  Status writeModel() {
    runtime::Unfinished file;
    PCC_RETURN_IF_ERROR(writeModelUnfinished(file));
    return file.finish();
  }

  /// Writes the model file OUTPUT and a second file, OUTPUT.data, with the
  /// large weights. OUTPUT.data gets its final name first, so that the model
  /// file never exists without it.
  Status writeBoth() {
    const std::string path = options.output + ".data";
    if (isOwnData(path))
      return cannotWrite("its weights would overwrite those of the model in '" +
                         path + "'");
    runtime::Unfinished dataFile, modelFile;
    PCC_RETURN_IF_ERROR(writeUnfinished(
        path, dataFile, [&](std::ostream &out) { writeBeside(path, out); }));
    PCC_RETURN_IF_ERROR(writeModelUnfinished(modelFile));
    PCC_RETURN_IF_ERROR(dataFile.finish());
    return modelFile.finish();
  }

  /// Returns whether the file at `path` holds weights of the original model and
  /// must not be overwritten.
  bool isOwnData(const std::string &path) {
    return std::any_of(model.graph.initializers.begin(),
                       model.graph.initializers.end(),
                       [&](const onnx::Tensor &tensor) {
                         if (!tensor.external)
                           return false;
                         std::error_code error;
                         const auto reference = data.resolve(model, tensor);
                         return reference && fs::equivalent(data.root() + "/" +
                                                                reference->path,
                                                            path, error);
                       });
  }

  /// Writes weights to `out`, the file OUTPUT.data at `path`, each at an
  /// aligned offset. Records their offsets in `placed`. Two kinds of weights go
  /// there:
  ///  - weights that lie outside of the model file in the original model;
  ///  - weights with at least `smallestBeside` (1024) raw bytes.
  void writeBeside(const std::string &path, std::ostream &out) {
    const std::string location = fs::path(path).filename();
    uint64_t end = 0;
    for (const onnx::Tensor &tensor : model.graph.initializers) {
      const uint64_t size = bytesOf(tensor);
      if (!tensor.external && (size < smallestBeside || tensor.raw.empty()))
        continue;
      const uint64_t offset = (end + pageSize - 1) / pageSize * pageSize;
      out << std::string(offset - end, '\0');
      placed[std::string(tensor.name)] =
          onnx::ExternalElements{location, offset, size};
      writeElements(tensor, out);
      end = offset + size;
    }
  }

  /// The original model, as read from its file without any changes.
  const onnx::Model model;
  const ModelWithWeightsOptions &options;
  /// Finds the external data of the original model.
  onnx::ExternalData data;
  /// Weights that get new elements in the copy of the model, by initializer
  /// name.
  std::map<std::string, const ReplacedWeight *> changed;
  /// Memory-mapped files that hold external data, by path.
  std::map<std::string, runtime::MappedFile> files;
  /// Storage of weights in the copy of the model, by name. A weight lies in the
  /// model file, or at an offset in a second file, OUTPUT.data.
  onnx::ReplacedWeights placed;
  /// First error that occurred while elements were being written.
  Status failure;
};
} // namespace

Status pcc::writeModelWithWeights(const ModelWithWeightsOptions &options,
                                  const std::vector<ReplacedWeight> &weights) {
  PCC_RETURN_IF_ERROR(checkModelOutput(options.output, options.model));
  auto model = onnx::readModelAsWritten(options.model);
  if (!model)
    return model.status();
  return WeightReplacement(std::move(*model), options, weights).run();
}
