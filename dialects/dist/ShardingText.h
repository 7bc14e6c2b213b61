//===- ShardingText.h - Shardings as text ---------------------------------===//
//
// One form for IR, messages and the command line:
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
// `-` keeps a dim whole, `?` leaves it open. A bare name is a whole axis and
// needs a mesh; a bare list of axes splits the whole dim and needs a shape.
// `tp:4` is the first 4 parts of tp, all of it if tp has 4.
//
//   [tp,-]   [-,x+y]   [-,tp:(2)4]   [3|64@tp,-]   [-,-] partial sum(tp)
//   [192@tp:4, -] replicated {dp:2}
//   [4@tp:4|6 view(4x6 by 4 of 16: 0..6 from -1)]
//
//===----------------------------------------------------------------------===//
#ifndef PCC_DIALECTS_DIST_SHARDINGTEXT_H
#define PCC_DIALECTS_DIST_SHARDINGTEXT_H

#include "dialects/dist/Sharding.h"

#include <optional>
#include <string>
#include <string_view>

namespace pcc::dist {

/// With a mesh, whole axes are printed by name alone; with `brief`, a dim that
/// is one factor is printed without its size. Neither: the text can be parsed
/// without a mesh or shape.
std::string toString(const Sharding &sharding, const Mesh *mesh = nullptr,
                     bool brief = false);
std::string toString(const DimSharding &dim, const Mesh *mesh = nullptr,
                     bool brief = false);

/// For messages: `[tp, -]`.
inline std::string toBriefString(const Sharding &sharding, const Mesh &mesh) {
  return toString(sharding, &mesh, true);
}

/// Parses the text above; the result is canonical but not yet checked against
/// the mesh (findError does that). On failure returns nothing and sets `error`.
std::optional<Sharding> parseSharding(std::string_view text, const Mesh *mesh,
                                      const Shape *shape, std::string &error);

/// For the command line and annotations: parses and checks.
std::optional<Sharding> parseSharding(std::string_view text, const Mesh &mesh,
                                      const Shape &shape, std::string &error);

} // namespace pcc::dist

#endif // PCC_DIALECTS_DIST_SHARDINGTEXT_H
