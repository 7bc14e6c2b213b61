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
// dim of size 192, `3|tp` is `3|64@tp`: tp divides each of 3 equal blocks. `tp:4`
// is the first 4 parts of tp, all of tp if its size is 4. Examples:
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

/// Returns `sharding` in the grammar at the top of this file. With a mesh, a
/// whole axis is printed as its name alone. With `brief`, a dim of one factor
/// is printed without its size. The text without mesh and `brief` can be parsed
/// without a mesh and without a shape.
std::string toString(const Sharding &sharding, const Mesh *mesh = nullptr,
                     bool brief = false);
/// Returns the sharding `dim` of one dim in the grammar at the top of this
/// file. With a mesh, a whole axis is printed as its name alone. With `brief`,
/// a dim of one factor is printed without its size.
std::string toString(const DimSharding &dim, const Mesh *mesh = nullptr,
                     bool brief = false);

/// Returns the shortest text of a sharding, for messages. For example, `[tp,
/// -]` means that tp splits dim 0 and dim 1 is whole.
inline std::string toBriefString(const Sharding &sharding, const Mesh &mesh) {
  return toString(sharding, &mesh, true);
}

/// Parses a sharding in the grammar at the top of this file. `mesh` and `shape`
/// may be null. A text with an axis name without a size, such as `tp`, needs a
/// mesh; a dim without a size, such as `tp` rather than `64@tp`, needs a shape.
/// The result is canonical, but findError() has yet to check it against a mesh.
/// An error has the exit code CannotMeet.
StatusOr<Sharding> parseSharding(std::string_view text, const Mesh *mesh,
                                 const Shape *shape);

/// Parses a sharding of the command line or of a model's annotations and checks
/// it against `mesh` and `shape`. A text with a view (windowed read) is an
/// error. An error has the exit code CannotMeet.
StatusOr<Sharding> parseSharding(std::string_view text, const Mesh &mesh,
                                 const Shape &shape);

} // namespace pcc::dist

#endif // PCC_SHARDING_SHARDINGTEXT_H
