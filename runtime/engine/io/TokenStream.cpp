//===- TokenStream.cpp - training samples from a file of token ids --------===//

#include "runtime/engine/io/TokenStream.h"
#include "runtime/tensor/Npy.h"
#include "status/Counted.h"

#include <filesystem>

namespace pcc::runtime {

std::string describe(const program::InputT &input) {
  return "'" + input.name + "' (" +
         std::string(nameOf(npyTypeOf(typeOf(input.type)))) + " " +
         toString(input.shape) + ")";
}

static bool isInteger(const program::InputT &input) {
  const ElementType type = typeOf(input.type);
  return type == ElementType::I32 || type == ElementType::I64;
}

/// Returns whether the input has integer elements and the two dims [samples,
/// sequence].
static bool isOfTokens(const program::InputT &input) {
  return isInteger(input) && input.shape.size() == 2 && input.batch_dim == 0;
}

/// Returns an error (exit code 10) with the reason `why` and a list of the
/// model's inputs.
static Status refuse(const program::ProgramT &program, const std::string &why) {
  std::string inputs;
  for (const auto &input : program.inputs)
    inputs += (inputs.empty() ? "" : ", ") + describe(*input) +
              (input->is_labels ? ", the labels" : "");
  return Status::error(
      BadInput, "--tokens cannot fill the model's inputs: " + why,
      {"its inputs are " + inputs,
       "give inputs other than tokens with --input NAME=FILE.npy"});
}

Status checkData(const RunOptions &options) {
  std::error_code error;
  const bool isFile = std::filesystem::is_regular_file(options.data, error);
  const bool isFolder = std::filesystem::is_directory(options.data, error);
  if (!options.tokens.empty() && (options.data.empty() || isFolder))
    return Status::error(
        WrongUsage,
        "--tokens " + options.tokens + " needs --data FILE.bin" +
            (isFolder ? ", but '" + options.data + "' is a directory" : ""));
  if (options.tokens.empty() && isFile)
    return Status::error(WrongUsage, "--data '" + options.data +
                                         "' is a file; give the type of its "
                                         "tokens with --tokens u16 or u32");
  return Status::success();
}

/// Sets `labels` to the input whose field `is_labels` is true. The compiler
/// sets this field for the input that the loss compares with the predictions.
/// Sets `ids` to the only other input without an --input file. Returns exit
/// code 10 if one of the two inputs does not exist or has a wrong type or
/// shape, or if several inputs could be `ids`.
Status TokenStream::findInputs(const RunOptions &options,
                               const program::ProgramT &program) {
  for (const auto &input : program.inputs)
    if (input->is_labels)
      labels = input.get();
  if (!labels)
    return refuse(program, "it has no labels");
  if (!isOfTokens(*labels))
    return refuse(program, "labels " + describe(*labels) +
                               " are not one integer per sample and token");
  for (const auto &input : program.inputs) {
    if (input->is_labels || options.inputs.contains(input->name))
      continue;
    if (!isOfTokens(*input) || input->shape != labels->shape)
      return refuse(program, describe(*input) +
                                 " does not have the shape of the labels, " +
                                 toString(labels->shape));
    if (ids)
      return refuse(program, "both " + describe(*ids) + " and " +
                                 describe(*input) + " could be the tokens");
    ids = input.get();
  }
  return ids ? Status::success()
             : refuse(program, "it has no input for the tokens");
}

/// Maps the file `options.data`, a binary array of token ids. Sets `ids` and
/// `labels` to the inputs that get their elements from the file. Sets
/// `elements` to the number of ids in the whole samples of the file. The label
/// of a token is the next token, so the last token has no label. For example,
/// if a sample has 4 ids, a file of 10 tokens has two whole samples, and
/// `elements` is 8.
///
/// Returns exit code 10 if the two inputs cannot be found, or if the file is
/// too short for one sample or ends in the middle of a token.
Status TokenStream::open(const RunOptions &options,
                         const program::ProgramT &program) {
  PCC_RETURN_IF_ERROR(findInputs(options, program));
  if (Status status = MappedFile::open(options.data, file); status.failed())
    return status.addNote("it was given by --data");
  elementType = options.tokens == "u32" ? ElementType::U32 : ElementType::U16;
  const auto size = int64_t(file.bytes().size());
  const auto width = int64_t(sizeOf(elementType));
  const int64_t tokens = size / width;
  const int64_t length = labels->shape[1];
  if (size % width != 0)
    return Status::error(BadInput, "'" + options.data + "' has " +
                                       counted(size, "byte") + ", not " +
                                       options.tokens + " tokens of " +
                                       std::to_string(width));
  if (length < 1 || tokens < length + 1)
    return Status::error(
        BadInput, "'" + options.data + "' has " + counted(tokens, "token") +
                      ", but a sample takes " + std::to_string(length + 1) +
                      ", labels included");
  elements = (tokens - 1) / length * length;
  return Status::success();
}

std::optional<int64_t>
TokenStream::shiftOf(const program::InputT &input) const {
  if (&input == ids)
    return 0;
  if (&input == labels)
    return 1;
  return std::nullopt;
}

} // namespace pcc::runtime
