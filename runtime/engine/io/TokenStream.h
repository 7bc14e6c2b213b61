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
  /// Maps the file `options.data`, and finds the two inputs that it feeds:
  ///
  /// - labels: the input that the loss compares with the predictions
  /// - ids: the only other input without an --input file; it must have integers
  ///   and the shape of the labels
  ///
  /// Exit code 10 if there are no such inputs, or if the file has no whole
  /// sample.
  Status open(const RunOptions &options, const program::ProgramT &program);

  /// Returns the offset, in tokens, of an input from the start of its sample: 0
  /// for the ids, 1 for the labels, empty for other inputs.
  std::optional<int64_t> shiftOf(const program::InputT &input) const;

  /// Returns the address of the first token in the mapped file.
  const std::byte *data() const { return file.bytes().data(); }
  /// Returns exit code 7 if some tokens could not be read from the file.
  Status checkRead() const { return file.checkRead(InputOutput); }
  /// Returns the type of a token in the file: U16 or U32.
  ElementType type() const { return elementType; }
  /// Returns the number of samples times the sequence length.
  int64_t numElements() const { return elements; }

private:
  /// Sets `ids` and `labels` to the two inputs that the file feeds.
  Status findInputs(const RunOptions &options,
                    const program::ProgramT &program);

  MappedFile file;
  ElementType elementType = ElementType::U16;
  /// Number of samples times the sequence length.
  int64_t elements = 0;
  /// The input that has the token ids. Borrowed from the program.
  const program::InputT *ids = nullptr;
  /// The input with the labels, which the loss compares with the predictions.
  /// Borrowed from the program.
  const program::InputT *labels = nullptr;
};

/// Checks that --data is a file with --tokens, and a directory without. Returns
/// exit code 2 otherwise.
Status checkData(const RunOptions &options);

/// Returns name, type and shape of an input as text, such as `"labels" (i64 [8,
/// 32])`.
std::string describe(const program::InputT &input);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_IO_TOKENSTREAM_H
