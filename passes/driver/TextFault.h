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

/// Returns one fault in the text of a .mlir file, or nullopt. A fault would
/// crash MLIR's parser or make the compiler run for a very long time:
///  - a zero byte, or `array<T>` with an unknown element type T
///  - brackets nested more than 256 levels deep, after aliases are replaced
///  - more than 256 minus signs in a row
///  - an alias whose size is more than 65,536, because a few aliases can stand
///    for a very long text (the size is 1 plus the sizes of all aliases in the
///    definition, as in `#a1 = [#a0, #a0]`)
std::optional<TextFault> findTextFault(llvm::StringRef text);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_TEXTFAULT_H
