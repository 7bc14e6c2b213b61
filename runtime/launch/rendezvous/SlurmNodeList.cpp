//===- SlurmNodeList.cpp - parser of Slurm's compressed host lists --------===//

#include "runtime/launch/rendezvous/SlurmNodeList.h"

#include <cctype>

namespace pcc::runtime {

/// Returns whether a host name may contain `character`.
static bool isOfName(char character) {
  return std::isalnum(static_cast<unsigned char>(character)) ||
         character == '-' || character == '.' || character == '_';
}

/// Returns the first number in `range`, the text between two brackets: "007"
/// for "007-009,12". Sets `isOnlyOne` to false if `range` has several numbers.
/// Returns std::nullopt if `range` is malformed.
static std::optional<std::string_view> firstNumber(std::string_view range,
                                                   bool &isOnlyOne) {
  const size_t end = range.find_first_of(",-");
  isOnlyOne &= end == std::string_view::npos;
  const bool isSound =
      range.find_first_not_of("0123456789,-") == std::string_view::npos;
  const std::string_view first = range.substr(0, end);
  return isSound && !first.empty() ? std::optional(first) : std::nullopt;
}

/// Parses the first entry of the list `text`. The first entry ends at the first
/// comma outside brackets, or at the end of `text`. For example, the first
/// entry of "gpu[007-009,12],login" is "gpu[007-009,12]". The first host of the
/// list is in this entry. If a comma follows the entry, the list has several
/// hosts. If there is no text after this comma, returns std::nullopt.
/// Otherwise, the text after this comma is not checked.
std::optional<SlurmNodeList> readSlurmNodeList(std::string_view text) {
  SlurmNodeList list;
  size_t at = 0;
  while (at < text.size() && text[at] != ',') {
    if (text[at] != '[') {
      if (!isOfName(text[at]))
        return std::nullopt;
      list.first += text[at++];
      continue;
    }
    const size_t close = text.find(']', at);
    if (close == std::string_view::npos)
      return std::nullopt;
    const auto number =
        firstNumber(text.substr(at + 1, close - at - 1), list.isOnlyOne);
    if (!number)
      return std::nullopt;
    list.first += *number;
    at = close + 1;
  }
  list.isOnlyOne &= at == text.size();
  return list.first.empty() || at + 1 == text.size()
             ? std::nullopt
             : std::optional(std::move(list));
}

} // namespace pcc::runtime
