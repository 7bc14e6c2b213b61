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

/// Searches the text of a .mlir file for faults. A fault is a construct that
/// would crash MLIR's parser, or that would make the compiler run for a very
/// long time. Returns one fault, or nullopt if the text has no fault. The
/// faults are:
///
///  - The text contains a zero byte.
///  - Brackets are nested more than 256 levels deep.
///  - More than 256 minus signs follow each other.
///  - An alias is too large (see below).
///  - The text contains `array<T>` with an unknown element type T.
///
/// In MLIR, an alias is a name for an attribute, a location or a type. The
/// definition of an alias may use other aliases. A few lines can therefore
/// stand for a very long text. In this example, the parser replaces `#a2` by
/// `[[1, 1], [1, 1]]`:
///
///   #a0 = 1              size 1
///   #a1 = [#a0, #a0]     size 1 + 1 + 1 = 3
///   #a2 = [#a1, #a1]     size 1 + 3 + 3 = 7
///
/// The size of an alias is 1 plus the sizes of all aliases in its definition.
/// An alias is too large in two cases:
///
///  - The size of the alias is greater than 65,536.
///  - After the replacement of all aliases, the definition has brackets that
///    are nested more than 256 levels deep.
std::optional<TextFault> findTextFault(llvm::StringRef text);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_TEXTFAULT_H
