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

/// Returns a fault in the text of a .mlir file that would crash MLIR's parser
/// or make it run for a very long time; nullopt if there is none. Examples are
/// a zero byte, deeply nested brackets, and an alias that stands for a very
/// long text.
std::optional<TextFault> findTextFault(llvm::StringRef text);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_TEXTFAULT_H
