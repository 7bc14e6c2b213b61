//===- TextFault.h - texts that MLIR's parser cannot handle ---------------===//

#ifndef PCC_PASSES_DRIVER_TEXTFAULT_H
#define PCC_PASSES_DRIVER_TEXTFAULT_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace pcc {

/// Fault in the text of a .mlir file.
struct TextFault {
  size_t at;         ///< position in the text, in bytes
  std::string claim; ///< error message without the position
};

/// Returns the first part of the text of a .mlir file that would crash MLIR's
/// parser, or make the parser or a later phase run for a very long time. The
/// part is one of:
///
///  - a zero byte;
///  - more than 256 nested brackets, or more than 256 successive minus signs;
///  - an alias that stands for too much text (see below);
///  - `array<T: …>` with an unknown element type T.
///
/// An alias gives a name to an attribute, a location or a type, and may contain
/// other aliases. A few lines can therefore stand for a text of any size. In
/// this example, `#a2` stands for a list of four numbers:
///
///   #a0 = 1
///   #a1 = [#a0, #a0]
///   #a2 = [#a1, #a1]
///
/// An alias may stand for at most 65,536 aliases, and for at most 256 nested
/// brackets.
std::optional<TextFault> findTextFault(llvm::StringRef text);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_TEXTFAULT_H
