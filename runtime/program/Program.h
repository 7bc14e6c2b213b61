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

/// Version of the format in which compiled programs are stored. Program.fbs
/// defines this format. Increment the version when Program.fbs or the meaning
/// of a field in Program.fbs changes. Each program contains the version with
/// which it was compiled. openProgram() returns an error for a program with
/// another version.
inline constexpr uint32_t kFormatVersion = 10;
/// Alignment in bytes. These numbers are multiples of the alignment:
///
/// - The address of a sealed program in memory. A sealed program is the byte
///   string that sealProgram() returns.
/// - The offset of the constants in a sealed program.
/// - The offset of each buffer in the arena. The arena is the memory of a rank
///   for intermediate values.
inline constexpr int64_t kAlignment = 64;

/// A program that has passed verification.
struct OpenedProgram {
  /// The program's FlatBuffers tables as C++ objects, owned by this object.
  std::unique_ptr<program::ProgramT> tables = {};
  /// Bytes of the constant tensors. The span points into the bytes that
  /// openProgram() has opened. The opened bytes must exist longer than this
  /// object.
  std::span<const std::byte> constants = {};
};

/// Returns a sealed program. A sealed program is a string of bytes with three
/// parts, one after another:
///
/// - a header with a checksum;
/// - the FlatBuffers encoding of `program`;
/// - `constants`, the bytes of all constant tensors.
///
/// A buffer of `program` can describe a constant tensor. The buffer stores the
/// offset of the tensor in bytes from the beginning of `constants`. Equal
/// arguments give equal bytes. The function does not check whether `program` is
/// valid.
std::vector<std::byte> sealProgram(const program::ProgramT &program,
                                   std::span<const std::byte> constants);

/// Returns a sealed program, like sealProgram(), but takes a program that
/// FlatBuffers has already encoded. `tables` contains the bytes of the encoded
/// program. `constants` contains the bytes of all constant tensors. The result
/// is a header with a checksum, followed by `tables` and `constants`. The
/// function does not check whether `tables` is valid.
std::vector<std::byte> sealTables(std::span<const std::byte> tables,
                                  std::span<const std::byte> constants);

/// Decodes a sealed program, the result of sealProgram(), and stores it in
/// `opened`. `bytes` may come from an untrusted file. The function therefore
/// checks the checksum and the FlatBuffers encoding, and calls verifyProgram(),
/// which checks that the instructions access only their own buffers. If a check
/// fails, returns an error with exit code 11.
///
/// The address of `bytes` must be a multiple of kAlignment. `opened` refers to
/// the constant tensors in `bytes`, so `bytes` must exist longer than `opened`.
Status openProgram(std::span<const std::byte> bytes, OpenedProgram &opened);

/// Returns the mesh of the ranks of a program, with one more axis at the end.
/// The name of this last axis is "mb", and its size is the number of
/// microbatches in a step. For example, if the ranks form the mesh {pp=2, tp=4}
/// and a step has 8 microbatches, the result is {pp=2, tp=4, mb=8}. The
/// coordinate of a rank on "mb" is the number of the microbatch that the rank
/// computes at the moment.
Mesh meshOf(const program::ProgramT &program);
/// Converts a sub-axis from its FlatBuffers encoding (Program.fbs). A sub-axis
/// is a mesh axis or a factor of a mesh axis. For example, an axis of size 8
/// can be written as 2 · 4. The factor 4 is then a sub-axis. `part` is the
/// stored sub-axis. It contains the number of an axis of `mesh`, and the result
/// contains the name of this axis. If `mesh` has no axis with this number, the
/// name in the result is empty.
SubAxis axisOf(const program::Part &part, const Mesh &mesh);
/// Converts a layout from its FlatBuffers encoding (Program.fbs). A layout
/// tells how a tensor is divided over the ranks of `mesh`. For example, a
/// layout can split 192 columns over an axis tp of size 2, so that each rank
/// holds 96 columns. `layout` stores the numbers of axes of `mesh`. The result
/// contains the names of these axes.
Layout layoutOf(const program::LayoutT &layout, const Mesh &mesh);
/// Converts the view of one dim of a tensor from its FlatBuffers encoding
/// (Program.fbs). A view is a windowed read of the dim, such as a halo or a
/// slice. A view has one or more blocks of indices. For example, the view of a
/// halo has one block per rank. A stored view with 0 blocks means that the dim
/// has no view. The function then returns std::nullopt.
std::optional<View> viewOf(const program::ViewT &view);
/// Converts a group of ranks, in which a collective runs, from its FlatBuffers
/// encoding (Program.fbs). Returns the sub-axes along which the ranks of the
/// group differ. A sub-axis is an axis of `mesh` or a factor of an axis. For
/// example, the mesh {dp=2, tp=2} has the groups {0, 1} and {2, 3} for the
/// sub-axis tp.
SubAxes groupOf(const program::GroupT &group, const Mesh &mesh);
/// Converts a collective from its FlatBuffers encoding (Program.fbs) to the
/// argument of planCollective(). `collective` is an instruction of `program`.
/// The program must have passed verification. A collective may store the
/// layouts of its operand and of its result. A layout is a division of a tensor
/// over ranks. The result of this function has an empty layout for each layout
/// that `collective` does not store.
CollectiveSpec collectiveOf(const program::ProgramT &program,
                            const program::CollectiveT &collective);
/// Converts an element type, such as F32, from the enumeration ElementType in
/// Program.fbs to the enumeration ElementType of the runtime. A type has the
/// same integer value in both enumerations.
inline ElementType typeOf(program::ElementType type) {
  return static_cast<ElementType>(type);
}

/// Converts a kind of collective, such as AllGather, from the enumeration
/// CollectiveKind in Program.fbs to the enumeration dist::CollectiveKind. A
/// kind has the same integer value in both enumerations.
inline dist::CollectiveKind kindOf(program::CollectiveKind kind) {
  return static_cast<dist::CollectiveKind>(kind);
}
/// Converts a kind of reduction, such as Sum, from the enumeration Reduction in
/// Program.fbs to the enumeration dist::ReductionKind. A kind has the same
/// integer value in both enumerations.
inline dist::ReductionKind kindOf(program::Reduction kind) {
  return static_cast<dist::ReductionKind>(kind);
}

/// Converts a sub-axis to its FlatBuffers encoding (Program.fbs). A sub-axis is
/// a mesh axis or a factor of a mesh axis. For example, an axis of size 8 can
/// be written as 2 · 4. The factor 4 is then a sub-axis. `axis` contains the
/// name of an axis of `mesh`. The result contains the number of this axis.
/// axisOf() is the inverse.
program::Part toProgram(const SubAxis &axis, const Mesh &mesh);
/// Converts a layout to its FlatBuffers encoding (Program.fbs). A layout tells
/// how a tensor is divided over the ranks of `mesh`. A dim of `layout` can have
/// a view. A view is a windowed read of the dim, such as a halo. The result
/// does not contain the views of `layout`. layoutOf() is the inverse for a
/// layout without views.
program::LayoutT toProgram(const Layout &layout, const Mesh &mesh);
/// Converts the view of one dim of a tensor to its FlatBuffers encoding
/// (Program.fbs). A view is a windowed read of the dim, such as a halo or a
/// slice. A view consists of one or more blocks of indices. For example, a halo
/// has one block for each rank. If the dim has no view, `view` is std::nullopt,
/// and the result has 0 blocks. viewOf() is the inverse.
program::ViewT toProgram(const std::optional<View> &view);
/// Converts a group of ranks, in which a collective runs, to its FlatBuffers
/// encoding (Program.fbs). `group` contains the sub-axes along which the ranks
/// of the group differ. A sub-axis is an axis of `mesh` or a factor of an axis.
/// groupOf() is the inverse.
program::GroupT toProgram(const SubAxes &group, const Mesh &mesh);
/// Converts an element type to its FlatBuffers encoding (Program.fbs). typeOf()
/// is the inverse.
inline program::ElementType toProgram(ElementType type) {
  return static_cast<program::ElementType>(type);
}

/// Converts a kind of collective to its FlatBuffers encoding (Program.fbs).
/// `kind` must not be Mask, which Program.fbs does not have. kindOf() is the
/// inverse.
inline program::CollectiveKind toProgram(dist::CollectiveKind kind) {
  return static_cast<program::CollectiveKind>(kind);
}
/// Converts a kind of reduction to its FlatBuffers encoding (Program.fbs).
/// `kind` must not be And or Or, which Program.fbs does not have. kindOf() is
/// the inverse.
inline program::Reduction toProgram(dist::ReductionKind kind) {
  return static_cast<program::Reduction>(kind);
}

/// Returns the integer that the formula `scalar` gives on the rank with the
/// coordinates `at`, such as an integer argument of a kernel. The formula is a
/// constant `base` plus a list of terms, clamped to the range from `low` to
/// `high`. A term is a coefficient times the rank's coordinate on an axis of
/// `mesh`, or on a factor of an axis. The coordinate on the last axis, "mb", is
/// the number of a microbatch. For example, `base` is 10, and one term
/// multiplies 64 by the coordinate on tp. The rank with coordinate 2 on tp gets
/// 10 + 64 · 2 = 138.
int64_t evaluate(const program::ScalarT &scalar, const Mesh &mesh,
                 const Coordinates &at);

/// Returns the name of an action: one entry of a rank's pipeline schedule. The
/// name is the stage, a letter and the microbatch. For example, "0F3" is the
/// forward pass of stage 0 for microbatch 3. An action of the kind Unshard,
/// such as an all-gather of weights, has no microbatch: its name is "0UNSHARD".
///
///   F  forward pass               B  backward pass
///   I  only gradients of inputs   W  only gradients of weights
///   U  update of the weights
///   P  start of sends, receives   X  wait for sends, receives
std::string nameOf(const program::ActionT &action);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_PROGRAM_H
