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
/// so each token is an input token of at most one sample. Tokens after the last
/// whole sample are not used.
class TokenStream {
public:
  /// Maps the file `options.data`, and finds the two inputs that are read from
  /// it:
  ///
  /// - labels: the input that the loss compares with the predictions
  /// - ids: the only other input for which the options name no --input file; it
  ///   must have integer elements and the shape of the labels
  ///
  /// Exit code 10 if the two inputs are not found, or if the file is shorter
  /// than one sample.
  Status open(const RunOptions &options, const program::ProgramT &program);

  /// Returns the offset, in tokens, of an input's sequence from the first token
  /// of its sample: 0 for the ids, 1 for the labels. Empty for other inputs.
  std::optional<int64_t> shiftOf(const program::InputT &input) const;

  /// Returns the address of the first token in the mapped file.
  const std::byte *data() const { return file.bytes().data(); }
  /// Returns exit code 7 if tokens that were read may be wrong, because the
  /// file was truncated or its disk failed.
  Status checkRead() const { return file.checkRead(InputOutput); }
  /// Returns the type of a token in the file: U16 or U32.
  ElementType type() const { return elementType; }
  /// Returns the number of tokens in all whole samples: the number of samples
  /// times the sequence length.
  int64_t numElements() const { return elements; }

private:
  /// Sets `ids` and `labels` to the two inputs of the program that the file
  /// feeds.
  Status findInputs(const RunOptions &options,
                    const program::ProgramT &program);

  MappedFile file;
  ElementType elementType = ElementType::U16;
  /// Number of samples times the sequence length.
  int64_t elements = 0;
  /// The input that has the token ids. Borrowed from the program.
  const program::InputT *ids = nullptr;
  /// The input that has the labels, which the loss compares with the model's
  /// predictions. Borrowed from the program.
  const program::InputT *labels = nullptr;
};

/// Checks that --data matches --tokens. With --tokens, --data must be a file;
/// without --tokens, it must be a directory. Returns exit code 2 otherwise.
Status checkData(const RunOptions &options);

/// Returns text such as `"labels" (i64 [8, 32])` for messages: name, type and
/// shape of an input.
std::string describe(const program::InputT &input);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_IO_TOKENSTREAM_H
