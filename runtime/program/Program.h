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
inline constexpr uint32_t kFormatVersion = 9;
/// Alignment in bytes of sealed programs, of their constants and of arena
/// buffers.
inline constexpr int64_t kAlignment = 64;

/// A program that has passed verification.
struct OpenedProgram {
  /// The program's FlatBuffers tables as C++ objects, owned by this object.
  std::unique_ptr<program::ProgramT> tables = {};
  /// Constants, borrowed from the sealed bytes, which must outlive this object.
  std::span<const std::byte> constants = {};
};

/// Returns the sealed form of a program: a header with a checksum, the tables
/// of `program`, and `constants`. Constant buffers have offsets from the
/// beginning of `constants`. Equal arguments give equal bytes. The program is
/// not verified.
std::vector<std::byte> sealProgram(const program::ProgramT &program,
                                   std::span<const std::byte> constants);

/// Returns the sealed form of a program with serialized tables: a header with a
/// checksum, then `tables` and `constants`. `tables` is not checked.
std::vector<std::byte> sealTables(std::span<const std::byte> tables,
                                  std::span<const std::byte> constants);

/// Opens sealed bytes: checks the checksum, the FlatBuffers encoding and
/// everything that verifyProgram() checks. The bytes may come from an untrusted
/// file. They must be aligned to kAlignment and outlive `opened`. Exit code 11
/// if a check fails.
Status openProgram(std::span<const std::byte> bytes, OpenedProgram &opened);

/// Returns the mesh of a program, with its microbatches as the last axis.
Mesh meshOf(const program::ProgramT &program);
/// Returns the sub-axis (a factor of a mesh axis) that `part` stores. If `mesh`
/// has no axis with the stored index, the axis name in the result is empty.
SubAxis axisOf(const program::Part &part, const Mesh &mesh);
/// Returns the layout that `layout` stores. `mesh` is the mesh of the program
/// that contains `layout`.
Layout layoutOf(const program::LayoutT &layout, const Mesh &mesh);
/// Converts the view of one dim of a tensor from the stored form (Program.fbs).
/// A view is a windowed read of the dim, such as a halo or a slice. Returns
/// std::nullopt if the dim has no view. The stored form of a dim without a view
/// has 0 blocks.
std::optional<View> viewOf(const program::ViewT &view);
/// Converts a group of ranks from the stored form (Program.fbs). A collective
/// runs within such a group. Returns the sub-axes along which the ranks of the
/// group differ. A sub-axis is an axis of `mesh` or a factor of an axis. For
/// example, the mesh {dp=2, tp=2} has the groups {0, 1} and {2, 3} for the
/// sub-axis tp.
SubAxes groupOf(const program::GroupT &group, const Mesh &mesh);
/// Converts a collective from the stored form (Program.fbs) to the form that
/// planCollective() takes. `collective` is an instruction of `program`. The
/// program must have passed verification. A collective may store the layouts of
/// its operand and of its result. A layout is a division of a tensor over
/// ranks. The result of this function has an empty layout for each layout that
/// `collective` does not store.
CollectiveSpec collectiveOf(const program::ProgramT &program,
                            const program::CollectiveT &collective);
/// Converts an element type from the stored form (Program.fbs). Both
/// enumerations have equal values.
inline ElementType typeOf(program::ElementType type) {
  return static_cast<ElementType>(type);
}

/// Converts a kind of collective from the stored form (Program.fbs). Both
/// enumerations have equal values.
inline dist::CollectiveKind kindOf(program::CollectiveKind kind) {
  return static_cast<dist::CollectiveKind>(kind);
}
/// Converts a kind of reduction from the stored form (Program.fbs). Both
/// enumerations have equal values.
inline dist::ReductionKind kindOf(program::Reduction kind) {
  return static_cast<dist::ReductionKind>(kind);
}

/// Converts a sub-axis to the stored form (Program.fbs). The sub-axis must
/// belong to an axis of `mesh`. axisOf() is the inverse.
program::Part toProgram(const SubAxis &axis, const Mesh &mesh);
/// Converts a layout to the stored form (Program.fbs), without its views
/// (windowed reads). layoutOf() is the inverse.
program::LayoutT toProgram(const Layout &layout, const Mesh &mesh);
/// Converts a view (windowed read) of a dim to the stored form (Program.fbs).
/// std::nullopt stands for a dim without a view. viewOf() is the inverse.
program::ViewT toProgram(const std::optional<View> &view);
/// Converts a group of ranks to the stored form (Program.fbs). A collective
/// runs within such a group. `group` contains the sub-axes along which the
/// ranks of the group differ. A sub-axis is an axis of `mesh` or a factor of an
/// axis. groupOf() is the inverse.
program::GroupT toProgram(const SubAxes &group, const Mesh &mesh);
/// Converts an element type to the stored form (Program.fbs). typeOf() is the
/// inverse.
inline program::ElementType toProgram(ElementType type) {
  return static_cast<program::ElementType>(type);
}

/// Converts a kind of collective to the stored form (Program.fbs). `kind` must
/// not be Mask, which has no stored form. kindOf() is the inverse.
inline program::CollectiveKind toProgram(dist::CollectiveKind kind) {
  return static_cast<program::CollectiveKind>(kind);
}
/// Converts a kind of reduction to the stored form (Program.fbs). `kind` must
/// not be And or Or, which have no stored form. kindOf() is the inverse.
inline program::Reduction toProgram(dist::ReductionKind kind) {
  return static_cast<program::Reduction>(kind);
}

/// Returns the value of a scalar at the coordinates `at` of a rank and
/// microbatch: an affine function of coordinates, clamped to [low, high].
int64_t evaluate(const program::ScalarT &scalar, const Mesh &mesh,
                 const Coordinates &at);

/// Returns the name of an action in logs and messages: stage, kind and
/// microbatch, such as "0F3". An Unshard, such as an all-gather of weights, is
/// named "0UNSHARD". The other kinds are:
///
///   F  forward          I  input gradient     P  post (begin messages)
///   B  backward         W  weight gradient    X  wait for messages
///   U  update
std::string nameOf(const program::ActionT &action);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_PROGRAM_H
