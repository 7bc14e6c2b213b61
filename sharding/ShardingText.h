//===- ShardingText.h - text form of shardings: grammar, print, parse -----===//
//
// IR, messages and the command line share one grammar:
//
//   sharding := `[` dim (`,` dim)* `]` (`partial` kind `(` axes `)`)?
//               (`replicated` `{` axes `}`)?
//   dim      := (`-` | `?` | factor (`|` factor)* `?`? (`p` integer)?) view?
//   factor   := size | (size `@`)? axes
//   axes     := axis (`+` axis)*
//   axis     := name | name `:` size | name `:(` pre `)` size
//   view     := `view(` blocks `x` length `by` pitch `of` limit `:`
//               (lo `..` hi `from` source (`step` step)?),* `)`
//
// `-` keeps a dim whole; `?` leaves it open. A bare name is a whole axis, so
// parsing it needs a mesh. A bare list of axes splits the rest of the dim: all
// of it, or what the factors before it leave, so parsing it needs a shape. In a
// dim of size 192, `3|tp` is `3|64@tp`: tp divides each of 3 equal blocks.
// `tp:4` is the first 4 parts of tp, all of tp if its size is 4. Examples:
//
//   [tp,-]   [-,x+y]   [-,tp:(2)4]   [3|tp,-]   [3|64@tp,-]
//   [-,-] partial sum(tp)
//   [192@tp:4, -] replicated {dp:2}
//   [4@tp:4|6 view(4x6 by 4 of 16: 0..6 from -1)]
//
//===----------------------------------------------------------------------===//
#ifndef PCC_SHARDING_SHARDINGTEXT_H
#define PCC_SHARDING_SHARDINGTEXT_H

#include "sharding/Sharding.h"
#include "status/StatusOr.h"

#include <string>
#include <string_view>

namespace pcc::dist {

/// Returns the text of `sharding`, in the grammar at the top of this file. Two
/// parameters make the text shorter. Example for a dim of 64 elements, which is
/// split over the whole axis tp of size 4:
///
///   without `mesh`, without `brief`   64@tp:4
///   with `mesh`, without `brief`      64@tp
///   with `mesh` and `brief`           tp
///
/// With `brief`, the last factor of a dim has no size if axes split it: 3|tp
/// instead of 3|64@tp. Without `mesh` and `brief`, the text contains all sizes.
/// parseSharding() can then parse the text without a mesh and without the shape
/// of the tensor.
std::string toString(const Sharding &sharding, const Mesh *mesh = nullptr,
                     bool brief = false);
/// Returns the text of `dim`, the sharding of one dim, in the grammar at the
/// top of this file. Two parameters make the text shorter. Example for a dim of
/// 64 elements, which is split over the whole axis tp of size 4:
///
///   without `mesh`, without `brief`   64@tp:4
///   with `mesh`, without `brief`      64@tp
///   with `mesh` and `brief`           tp
///
/// With `brief`, the last factor of a dim has no size if axes split it: 3|tp
/// instead of 3|64@tp.
std::string toString(const DimSharding &dim, const Mesh *mesh = nullptr,
                     bool brief = false);

/// Returns the shortest text of a sharding, for messages. For example, `[tp,
/// -]` means that tp splits dim 0 and dim 1 is whole.
inline std::string toBriefString(const Sharding &sharding, const Mesh &mesh) {
  return toString(sharding, &mesh, true);
}

/// Parses a sharding in the grammar at the top of this file. `mesh` and `shape`
/// (the shape of the tensor) may be null. A negative size in `shape` is
/// unknown. Returns an error with the exit code
/// CannotMeet (6) in these cases:
///
///  - The text does not follow the grammar.
///  - `mesh` is null, and the text has an axis without a size: `tp` instead of
///    `tp:4`.
///  - `shape` is null or does not know the dim, and the text has axes without
///    the number of elements that the axes split: `tp:4` instead of `64@tp:4`.
///  - An axis has no size in the text, and `mesh` does not have the axis.
///  - The size of an axis in the text is 0.
///  - The text of a dim ends with axes without a number of elements, as in
///    `3|tp`, and the number before them does not divide the size of the dim.
///
/// The result is in the form that canonical() returns. The function does not
/// check that the sharding fits the mesh and the shape. The caller can use
/// findError() for this check.
StatusOr<Sharding> parseSharding(std::string_view text, const Mesh *mesh,
                                 const Shape *shape);

/// Parses a sharding that the user wrote on the command line or in the
/// annotations of a model. Checks that the sharding fits `mesh` and `shape`,
/// the shape of the tensor. Returns an error with the exit code CannotMeet (6)
/// if the text is not valid or if the sharding does not fit. A text with the
/// word `view` is not valid either. A view says that an op reads more or other
/// elements of a dim than the rank holds, such as the halo of a convolution.
StatusOr<Sharding> parseSharding(std::string_view text, const Mesh &mesh,
                                 const Shape &shape);

/// Returns an empty text if `text` follows the grammar at the top of this file.
/// Otherwise, returns an error message. Names of axes may be unknown, and sizes
/// may be absent.
std::string checkSyntax(std::string_view text);

} // namespace pcc::dist

#endif // PCC_SHARDING_SHARDINGTEXT_H
