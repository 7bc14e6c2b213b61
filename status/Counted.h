//===- Counted.h - counts with their nouns --------------------------------===//

#ifndef PCC_STATUS_COUNTED_H
#define PCC_STATUS_COUNTED_H

#include <cstdint>
#include <string>
#include <string_view>

namespace pcc {

/// Returns the plural of a noun in singular, such as "ranks", "axes", "entries"
/// or "microbatches".
inline std::string pluralOf(std::string_view noun) {
  std::string plural(noun);
  if (noun.ends_with("is"))
    plural[plural.size() - 2] = 'e';
  else if (noun.ends_with("ry"))
    plural.replace(plural.size() - 1, 1, "ies");
  else
    plural += noun.ends_with("ch") || noun.ends_with("x") ? "es" : "s";
  return plural;
}

/// Returns a count with its noun in singular or plural, such as "1 microbatch"
/// or "2 microbatches". `noun` is the singular.
inline std::string counted(int64_t count, std::string_view noun) {
  return std::to_string(count) + " " +
         (count == 1 ? std::string(noun) : pluralOf(noun));
}

} // namespace pcc

#endif // PCC_STATUS_COUNTED_H
