//===- TokenStream.h - training samples from a file of token ids ----------===//

#ifndef PCC_RUNTIME_ENGINE_IO_TOKENSTREAM_H
#define PCC_RUNTIME_ENGINE_IO_TOKENSTREAM_H

#include "runtime/base/MappedFile.h"
#include "runtime/engine/options/RunOptions.h"
#include "runtime/program/Program.h"

namespace pcc::runtime {

/// A memory-mapped file of token ids, divided into training samples. With
/// sequences of S tokens, sample n is
///
///   ids     tokens[n S]     … tokens[n S + S - 1]
///   labels  tokens[n S + 1] … tokens[n S + S]
///
/// Tokens after the last whole sample are not used.
class TokenStream {
public:
  /// Maps the file of token ids, `options.data`. Finds the two inputs of the
  /// model that get their elements from this file:
  ///
  /// - labels: the input that the loss compares with the predictions
  /// - ids: the only other input without an --input file; it must have integers
  ///   and the shape of the labels
  ///
  /// Returns an error with exit code 10 if the model has no such inputs, or if
  /// the file is too short for one sample. The label of a token is the next
  /// token in the file. A sample of 4 ids and 4 labels thus needs 5 tokens.
  Status open(const RunOptions &options, const program::ProgramT &program);

  /// Returns the offset of an input in the file of tokens, counted in tokens.
  /// The ids have the offset 0. The label of a token is the next token in the
  /// file, so the labels have the offset 1. Returns std::nullopt for an input
  /// that does not get its elements from the file.
  std::optional<int64_t> shiftOf(const program::InputT &input) const;

  /// Returns the address of the first token in the mapped file.
  const std::byte *data() const { return file.bytes().data(); }
  /// Returns an error with exit code 7 if an earlier access to data() could not
  /// read a page of the mapped file. For example, another process has truncated
  /// the file. Call this function after reading tokens and before using them.
  Status checkRead() const { return file.checkRead(InputOutput); }
  /// Returns the type of a token in the file: U16 or U32.
  ElementType type() const { return elementType; }
  /// Returns the number of samples in the file, multiplied by the number of
  /// token ids in one sample. For example, if the file has 2 samples of 4 ids
  /// each, the result is 8.
  int64_t numElements() const { return elements; }

private:
  /// Finds the two inputs of the model that get their elements from the file of
  /// tokens. Sets `labels` to the input that the loss compares with the
  /// predictions. Sets `ids` to the only other input without an --input file.
  Status findInputs(const RunOptions &options,
                    const program::ProgramT &program);

  MappedFile file;
  ElementType elementType = ElementType::U16;
  /// Number of samples in the file, multiplied by the number of token ids in
  /// one sample. For example, if the file has 2 samples of 4 ids each, the
  /// value is 8.
  int64_t elements = 0;
  /// The input that has the token ids. Borrowed from the program.
  const program::InputT *ids = nullptr;
  /// The input with the labels, which the loss compares with the predictions.
  /// Borrowed from the program.
  const program::InputT *labels = nullptr;
};

/// Checks that the options --data and --tokens fit together. --data is the path
/// of the training data. --tokens is the type of the token ids in a file, u16
/// or u32. There are two cases:
///
/// - With --tokens: --data must be given, and must not be a directory.
/// - Without --tokens: --data must not be a file.
///
/// Returns an error with exit code 2 if the options do not fit together.
Status checkData(const RunOptions &options);

/// Returns name, type and shape of an input as text, such as `"labels" (i64 [8,
/// 32])`.
std::string describe(const program::InputT &input);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_IO_TOKENSTREAM_H
