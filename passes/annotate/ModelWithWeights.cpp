//===- ModelWithWeights.cpp - copy of an ONNX model with other weights ----===//

#include "passes/annotate/ModelWithWeights.h"
#include "passes/1-import/onnx/ExternalData.h"
#include "passes/1-import/onnx/ReadModel.h"
#include "passes/1-import/onnx/model/MessageText.h"
#include "passes/1-import/onnx/model/ModelStorage.h"
#include "passes/1-import/onnx/write/ReplaceWeights.h"
#include "passes/OutputPaths.h"
#include "passes/annotate/FileStream.h"
#include "runtime/base/MappedFile.h"
#include "runtime/base/Unfinished.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <unistd.h>

using namespace pcc;
namespace fs = std::filesystem;

/// Largest size of a model file in bytes. Readers of protocol buffers reject
/// longer messages.
static constexpr uint64_t longestFile = (uint64_t(1) << 31) - 1;
/// Smallest size in bytes of a weight that moves from the model file to the
/// data file. The data file is a second file beside the model file, and
/// contains weights. For example, a weight of 100 bytes stays in the model
/// file. There is one exception: a weight that the original model has in a
/// separate file moves to the data file even if it is smaller.
static constexpr uint64_t smallestBeside = 1024;
/// Alignment of weights in a data file, in bytes. pcc writes an ONNX model as
/// one file or as two files. The second file, the data file, contains weights.
/// For example, the data file of m.onnx is m.onnx.data. In the data file, the
/// offset of each weight is a multiple of `pageSize`. A reader can therefore
/// map a weight into memory (mmap).
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
/// Writes a copy of an ONNX model in which some weights have new elements. The
/// names, types and shapes of all weights stay unchanged, and so do the nodes.
/// The class reads, changes and writes one weight after the other, so that at
/// most one weight is in memory at a time.
class WeightReplacement {
public:
  WeightReplacement(onnx::Model model, const ModelWithWeightsOptions &options,
                    const std::vector<ReplacedWeight> &weights)
      : model(std::move(model)), options(options),
        data(options.model, {options.externalDataRoot, false}) {
    for (const ReplacedWeight &weight : weights)
      changed[weight.name] = &weight;
  }

  /// Checks the new weights and writes the copy of the model. The copy also has
  /// a data file, such as m.onnx.data for m.onnx, in two cases: the original
  /// has weights in a separate file, or a single file would have 2 GiB or more.
  /// Returns exit code 6 if a new weight does not fit an initializer of the
  /// original in name, element type and shape, or if a constant inside a node
  /// lies in a separate file.
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
  /// Checks each weight that gets new elements. The original model must have an
  /// initializer with the name of the weight. The initializer must have the
  /// element type and the shape of the new elements. If a weight breaks one of
  /// these rules, returns an error with exit code 6.
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

  /// Returns an error with exit code 6. The message is "model 'PATH' " followed
  /// by `why`. PATH is the path of the original model. For example, for the
  /// `why` "has no initializer 'W'", the message is "model 'm.onnx' has no
  /// initializer 'W'".
  Status unfit(const std::string &why) const {
    return Status::error(CannotMeet, "model '" + options.model + "' " + why);
  }

  /// Returns the error (exit code 7) for an output file that cannot be written.
  Status cannotWrite(const std::string &why) const {
    return Status::error(InputOutput,
                         "cannot write '" + options.output + "': " + why);
  }

  /// Returns the number of bytes of all elements of `tensor` together. For
  /// example, the number is 128 for a tensor of the type float[4,8].
  static uint64_t bytesOf(const onnx::Tensor &tensor) {
    return onnx::byteSize(tensor.dataType, tensor.dims).value_or(0);
  }

  /// Records in `placed` that each weight with new elements is in the model
  /// file of the copy. If the copy has a data file, writeBeside() later moves
  /// some weights to the data file.
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

  /// Writes the elements of `tensor` to `out`. `tensor` is a weight of the
  /// original model. The map `changed` contains the weights that get new
  /// elements. If `changed` contains the weight, the function writes the new
  /// elements. If not, the function writes the elements from the original
  /// model. Stores the first error in `failure`. After an error, the function
  /// writes nothing.
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

  /// Creates a file under a temporary name, and calls `content`, which writes
  /// the bytes of the file to a stream. `path` is the final path of the file.
  /// `file` must be empty before the call, and owns the temporary file
  /// afterwards. The caller then calls `file.finish()`, which renames the
  /// temporary file to `path`. Without this call, the destructor of `file`
  /// deletes the temporary file.
  Status writeUnfinished(const std::string &path, runtime::Unfinished &file,
                         const std::function<void(std::ostream &)> &content) {
    PCC_RETURN_IF_ERROR(file.createFile(path));
    FileStream out(file.descriptor());
    content(out);
    if (const int error = out.finish(); failure.ok() && error != 0)
      failure = cannotWrite(std::strerror(error));
    return failure;
  }

  /// Writes the model file of the copy under a temporary name. `file` must be
  /// empty before the call, and owns the temporary file afterwards. The caller
  /// then calls `file.finish()`, which renames the temporary file to its final
  /// path `options.output`.
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

  /// Writes the copy as a model file and a data file with weights, such as
  /// m.onnx and m.onnx.data. Returns an error if the data file would overwrite
  /// a weight file of the original model.
  Status writeBoth() {
    const std::string path = options.output + ".data";
    if (isOwnData(path))
      return cannotWrite("its weights would overwrite those of the model in '" +
                         path + "'");
    runtime::Unfinished dataFile, modelFile;
    PCC_RETURN_IF_ERROR(writeUnfinished(
        path, dataFile, [&](std::ostream &out) { writeBeside(path, out); }));
    PCC_RETURN_IF_ERROR(writeModelUnfinished(modelFile));
    // The model file and the data file cannot be replaced in one step. An older
    // model file must not read weights from the new data file, so delete the
    // older model file first. Then rename the data file before the model file
    // that reads it.
    std::error_code ignored;
    if (fs::is_regular_file(fs::symlink_status(options.output, ignored)))
      fs::remove(options.output, ignored);
    PCC_RETURN_IF_ERROR(dataFile.finish());
    return modelFile.finish();
  }

  /// Returns whether the original ONNX model stores weights in the file at
  /// `path`. An ONNX model can store weights in separate files. The copy of the
  /// model must not overwrite a separate file of the original model. Returns
  /// false if there is no file at `path`.
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

  /// Writes the data file of the copy to `out`, and stores the offsets of its
  /// weights in `placed`. `path` is the final path of the data file. The data
  /// file contains each weight that the original stores in a separate file, and
  /// each weight of at least `smallestBeside` bytes that the original stores as
  /// raw bytes.
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
  /// Place of a weight in the copy, by the name of the weight: in the model
  /// file (EmbeddedElements) or in the data file (ExternalElements). A weight
  /// without an entry is copied unchanged.
  onnx::ReplacedWeights placed;
  /// First error that occurred while a file of the copy was being written. For
  /// example, the elements of a weight cannot be read from the original model,
  /// or the disk is full. After an error, the method writeElements() does
  /// nothing.
  Status failure;
};
} // namespace

Status pcc::writeModelWithWeights(const ModelWithWeightsOptions &options,
                                  const std::vector<ReplacedWeight> &weights) {
  runtime::FileClaims claims;
  claims.keep("pcc reads", options.model);
  claims.write("-o", options.output);
  PCC_RETURN_IF_ERROR(claims.check());
  PCC_RETURN_IF_ERROR(checkModelOutput(options.output));
  auto model = onnx::readModelAsWritten(options.model);
  if (!model)
    return model.status();
  return WeightReplacement(std::move(*model), options, weights).run();
}
