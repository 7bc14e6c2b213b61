//===- Program.h - opening, verifying and writing programs ----------------===//
//
// The bytes of a program are a header, the FlatBuffers table of Program.fbs,
// and the constants that constant buffers refer to. Each part begins at a
// multiple of 64 bytes:
//
//   0         64                  64 + padded          + constants
//   | header  | Program           | constants          |
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_PROGRAM_PROGRAM_H
#define PCC_RUNTIME_PROGRAM_PROGRAM_H

#include "runtime/program/CollectivePlan.h"
#include "runtime/program/Layout.h"
#include "runtime/program/Program_generated.h"
#include "runtime/tensor/ElementType.h"
#include "sharding/ReductionKind.h"
#include "status/Status.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pcc::runtime {

/// Version of the format. Increment it when Program.fbs or the meaning of a
/// field changes; openProgram() refuses other versions.
inline constexpr uint32_t kFormatVersion = 8;
/// Alignment in bytes of sealed programs, of their constants and of arena
/// buffers.
inline constexpr int64_t kAlignment = 64;

/// A program that has passed verification.
struct OpenedProgram {
  /// Unpacked tables, owned by this object.
  std::unique_ptr<program::ProgramT> tables = {};
  /// Constants, borrowed from the sealed bytes, which must outlive this object.
  std::span<const std::byte> constants = {};
};

/// Returns the bytes of a program, with a checksum. Offsets of constant buffers
/// refer to `constants`. Equal arguments give equal bytes. The program is not
/// verified.
std::vector<std::byte> sealProgram(const program::ProgramT &program,
                                   std::span<const std::byte> constants);

/// Does what sealProgram() does for tables that are serialized already. The
/// tables may be invalid, which tests of openProgram() need.
std::vector<std::byte> sealTables(std::span<const std::byte> tables,
                                  std::span<const std::byte> constants);

/// Opens sealed bytes: checks the checksum, the FlatBuffers encoding and
/// everything that verifyProgram() checks. The bytes may come from an untrusted
/// file. They must be aligned to kAlignment and outlive `opened`. Returns exit
/// code 11 if a check fails.
Status openProgram(std::span<const std::byte> bytes, OpenedProgram &opened);

/// Returns the mesh of a program, with its microbatches as the last axis.
Mesh meshOf(const program::ProgramT &program);
/// Returns a stored part of an axis. Its name is empty if `mesh` has no axis of
/// the stored index.
SubAxis axisOf(const program::Part &part, const Mesh &mesh);
/// Returns a stored layout on the mesh of its program.
Layout layoutOf(const program::LayoutT &layout, const Mesh &mesh);
/// Returns a stored view; nullopt if the dim is read as it is.
std::optional<View> viewOf(const program::ViewT &view);
/// Returns the sub-axes that a stored group spans.
SubAxes groupOf(const program::GroupT &group, const Mesh &mesh);
/// Returns the description of a collective instruction that planCollective()
/// takes. Parts that the instruction lacks stay empty. The program is verified.
CollectiveSpec collectiveOf(const program::ProgramT &program,
                            const program::CollectiveT &collective);
/// Converts a stored element type; both enumerations have equal values.
inline ElementType typeOf(program::ElementType type) {
  return static_cast<ElementType>(type);
}

/// Converts a stored kind of collective; both enumerations have equal values.
inline dist::CollectiveKind kindOf(program::CollectiveKind kind) {
  return static_cast<dist::CollectiveKind>(kind);
}
/// Converts a stored kind of reduction; both enumerations have equal values.
inline dist::ReductionKind kindOf(program::Reduction kind) {
  return static_cast<dist::ReductionKind>(kind);
}

/// Returns the stored form of a sub-axis, which must be in `mesh`; the inverse
/// of axisOf().
program::Part toProgram(const SubAxis &axis, const Mesh &mesh);
/// Returns the stored form of a layout without its views; the inverse of
/// layoutOf().
program::LayoutT toProgram(const Layout &layout, const Mesh &mesh);
/// Returns the stored form of a view, or of a dim that is read as it is; the
/// inverse of viewOf().
program::ViewT toProgram(const std::optional<View> &view);
/// Returns the stored form of a group; the inverse of groupOf().
program::GroupT toProgram(const SubAxes &group, const Mesh &mesh);
/// Returns the stored form of an element type; the inverse of typeOf().
inline program::ElementType toProgram(ElementType type) {
  return static_cast<program::ElementType>(type);
}

/// Returns the stored form of a kind of collective; the inverse of kindOf().
/// Programs have no Mask.
inline program::CollectiveKind toProgram(dist::CollectiveKind kind) {
  return static_cast<program::CollectiveKind>(kind);
}
/// Returns the stored form of a kind of reduction; the inverse of kindOf().
/// Programs have neither And nor Or (see dist::arithmetic).
inline program::Reduction toProgram(dist::ReductionKind kind) {
  return static_cast<program::Reduction>(kind);
}

/// Returns the value of a scalar at the coordinates of a rank and microbatch:
/// an affine function of coordinate digits, clamped to [low, high].
int64_t evaluate(const program::ScalarT &scalar, const Mesh &mesh,
                 const Coordinates &at);

/// Returns the name of an action as inspection, logs and messages print it:
/// stage, kind and microbatch, such as "0F3". The kinds are F (forward), B
/// (backward), I (input gradient), W (weight gradient), U (update), P (post)
/// and X (wait). An Unshard is "0UNSHARD".
std::string nameOf(const program::ActionT &action);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_PROGRAM_H
