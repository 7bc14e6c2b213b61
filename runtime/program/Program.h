//===- Program.h - opening, checking and writing programs -----------------===//
//
// The bytes of a program are a header, the FlatBuffers table of Program.fbs and
// the constants that its buffers point into:
//
//   0         64                  64 + padded          + constants
//   | header  | Program           | constants          |
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_PROGRAM_PROGRAM_H
#define PCC_RUNTIME_PROGRAM_PROGRAM_H

#include "runtime/base/Status.h"
#include "runtime/program/CollectivePlan.h"
#include "runtime/program/Layout.h"
#include "runtime/program/Program_generated.h"
#include "runtime/tensor/ElementType.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pcc::runtime {

/// Changes whenever Program.fbs or the meaning of a field does.
inline constexpr uint32_t kFormatVersion = 8;
/// Of arena buffers, constants and of the sealed bytes themselves.
inline constexpr int64_t kAlignment = 64;

/// A verified program. `constants` points into the sealed bytes.
struct OpenedProgram {
  std::unique_ptr<program::ProgramT> tables = {};
  std::span<const std::byte> constants = {};
};

/// The bytes of a program, with checksum. Constant buffers' offsets refer to
/// `constants`. The result does not depend on anything but its arguments.
std::vector<std::byte> sealProgram(const program::ProgramT &program,
                                   std::span<const std::byte> constants);

/// The same from tables that are already bytes, sound or not.
std::vector<std::byte> sealTables(std::span<const std::byte> tables,
                                  std::span<const std::byte> constants);

/// Checks the checksum, the tables, and everything that Verification.h lists; an
/// error has exit code 11. `bytes` must be aligned to kAlignment.
Status openProgram(std::span<const std::byte> bytes, OpenedProgram &opened);

Mesh meshOf(const program::ProgramT &program);
Layout layoutOf(const program::LayoutT &layout);
View viewOf(const program::ViewT &view);
GroupSpec groupOf(const program::GroupT &group);
/// Parts and groups of the collective; `from` and `to` as far as it has them.
CollectiveSpec collectiveOf(const program::ProgramT &program,
                            const program::CollectiveT &collective);
inline ElementType typeOf(program::ElementType type) {
  return static_cast<ElementType>(type);
}

/// The inverse, for whoever writes programs.
program::LayoutT toProgram(const Layout &layout);
program::ViewT toProgram(const View &view);
program::GroupT toProgram(const GroupSpec &group);
inline program::ElementType toProgram(ElementType type) {
  return static_cast<program::ElementType>(type);
}

/// Value of a scalar at a coordinate.
int64_t evaluate(const program::ScalarT &scalar, const Mesh &mesh,
                 const Coordinates &at);

/// "0F3": stage, kind (F, B, I, W, U, X), microbatch; or "0UNSHARD".
std::string nameOf(const program::ActionT &action);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_PROGRAM_H
