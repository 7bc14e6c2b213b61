//===- ReadModel.cpp - reader of ONNX model files -------------------------===//

#include "passes/1-import/onnx/ReadModel.h"

#include "passes/1-import/onnx/check/CheckDevices.h"
#include "passes/1-import/onnx/check/ValidateModel.h"
#include "passes/1-import/onnx/inline/InlineFunctions.h"
#include "passes/1-import/onnx/inline/MergeTrainingInfo.h"
#include "passes/1-import/onnx/model/MessageText.h"
#include "passes/1-import/onnx/model/ModelStorage.h"
#include "passes/1-import/onnx/parse/ModelParser.h"

#include <new>

using namespace pcc;
using namespace pcc::onnx;

/// Returns the middle of an error message about a file that `parser` could not
/// parse, such as " is truncated: ".
static std::string verdict(const ModelParser &parser, const WireError &error) {
  if (!parser.sawVersion())
    return " is not an ONNX model: ";
  if (parser.failedInside())
    return " is damaged: ";
  return error.endsEarly ? " is truncated: " : " is not an ONNX model: ";
}

/// Parses an ONNX file and returns the model. `storage` gives access to the
/// bytes of the file. `path` is the path of the file. `limits` are upper bounds
/// for the model, such as the largest number of functions. The parser may throw
/// exceptions, such as std::bad_alloc. The function catches these exceptions
/// and returns errors instead.
static StatusOr<Model> parseModel(const std::shared_ptr<ModelStorage> &storage,
                                  const std::string &path,
                                  const ReadLimits &limits) {
  Model model;
  model.path = path;
  model.storage = storage;
  ModelParser parser(*storage, limits);
  const std::string subject = "model " + quoted(path);
  try {
    parser.model(storage->file(), model);
  } catch (const WireError &error) {
    return Status::error(CannotRead,
                         subject + verdict(parser, error) + error.message);
  } catch (const InvalidMessage &refusal) {
    return Status::error(CannotRead,
                         subject + " is not valid: " + refusal.message);
  } catch (const std::bad_alloc &) {
    return Status::error(InputOutput, "out of memory while reading " + subject);
  } catch (const std::length_error &) {
    return Status::error(InputOutput, "out of memory while reading " + subject);
  }
  return model;
}

/// Creates a Model from the bytes of an ONNX file. `storage` gives access to
/// these bytes. Parses the bytes, checks the model, sorts the nodes
/// topologically, and inlines calls of functions that the model defines. If
/// `trains` is true, the nodes of the model's TrainingInfo are also merged into
/// the graph, so that the graph computes one training step. Error messages call
/// the file `path`.
static StatusOr<Model> readFrom(const std::shared_ptr<ModelStorage> &storage,
                                const std::string &path,
                                const ReadLimits &limits, bool trains = false) {
  if (storage->file().empty())
    return Status::error(CannotRead,
                         "model " + quoted(path) + " is an empty file");
  PCC_ASSIGN_OR_RETURN(Model model, parseModel(storage, path, limits));
  if (trains)
    PCC_RETURN_IF_ERROR(mergeTrainingInfo(model));
  // Validate first: validateModel sorts the nodes of each ONNX function
  // topologically, and inlineFunctions requires that order.
  PCC_RETURN_IF_ERROR(validateModel(model));
  PCC_RETURN_IF_ERROR(checkDevices(model));
  PCC_RETURN_IF_ERROR(inlineFunctions(model, limits));
  return model;
}

StatusOr<Model> pcc::onnx::readModel(const std::string &path,
                                     const ReadLimits &limits, bool trains) {
  auto storage = std::make_shared<ModelStorage>();
  PCC_RETURN_IF_ERROR(storage->map(path));
  return readFrom(storage, path, limits, trains);
}

StatusOr<Model> pcc::onnx::readModelAsWritten(const std::string &path,
                                              const ReadLimits &limits) {
  auto storage = std::make_shared<ModelStorage>();
  PCC_RETURN_IF_ERROR(storage->map(path));
  return parseModel(storage, path, limits);
}

StatusOr<Model> pcc::onnx::readModelFromBytes(std::string_view bytes,
                                              const std::string &path,
                                              const ReadLimits &limits) {
  auto storage = std::make_shared<ModelStorage>();
  storage->view(bytes);
  return readFrom(storage, path, limits);
}
