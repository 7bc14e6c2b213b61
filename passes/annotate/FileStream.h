//===- FileStream.h - a stream that keeps why writing failed --------------===//

#ifndef PCC_PASSES_ANNOTATE_FILESTREAM_H
#define PCC_PASSES_ANNOTATE_FILESTREAM_H

#include <array>
#include <ostream>
#include <streambuf>

namespace pcc {

/// A stream into an open file. Unlike std::ofstream, it keeps the errno of the
/// first write that failed.
class FileStream : std::streambuf, public std::ostream {
public:
  /// Writes to `descriptor`, which the caller owns.
  explicit FileStream(int descriptor);

  /// Writes what is buffered. Returns the errno of the first failure, or 0.
  int finish();

private:
  int_type overflow(int_type next) override;
  int sync() override;

  int descriptor, error = 0;
  std::array<char, 1 << 16> buffer;
};

} // namespace pcc

#endif // PCC_PASSES_ANNOTATE_FILESTREAM_H
