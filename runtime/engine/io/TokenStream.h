//===- TokenStream.h - a file of token numbers ----------------------------===//

#ifndef PCC_RUNTIME_ENGINE_IO_TOKENSTREAM_H
#define PCC_RUNTIME_ENGINE_IO_TOKENSTREAM_H

#include "runtime/base/MappedFile.h"
#include "runtime/engine/options/RunOptions.h"
#include "runtime/program/Program.h"

namespace pcc::runtime {

/// Tokens, one behind the other, as samples for training. With sequences of S,
/// sample n is
///
///     ids     tokens[n S]     … tokens[n S + S - 1]
///     labels  tokens[n S + 1] … tokens[n S + S]
///
/// so that samples share no position, and all that is left behind the last
/// whole one is not used.
class TokenStream {
public:
  /// Maps `options.data`. `labels` is the input that the loss compares with;
  /// `ids` the other one of integers that has its shape and no file. Exit code
  /// 10 if these are not to be found, or the file holds no sample.
  Status open(const RunOptions &options, const program::ProgramT &program);

  /// How far behind its sample's first token an input begins; nothing for
  /// inputs that are not of this.
  std::optional<int64_t> shiftOf(const program::InputT &input) const;

  const std::byte *data() const { return file.bytes().data(); }
  ElementType type() const { return elementType; }
  /// Elements of all whole samples.
  int64_t numElements() const { return elements; }

private:
  Status findInputs(const RunOptions &options,
                    const program::ProgramT &program);

  MappedFile file;
  ElementType elementType = ElementType::U16;
  int64_t elements = 0;
  const program::InputT *ids = nullptr;
  const program::InputT *labels = nullptr;
};

/// Whether --data and --tokens fit each other (exit code 2).
Status checkData(const RunOptions &options);

/// "labels" (i64 [8, 32])
std::string describe(const program::InputT &input);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_IO_TOKENSTREAM_H
