//===- TextTable.h - tables for terminals, spreadsheets and Markdown ------===//

#ifndef PCC_RUNTIME_BASE_TEXTTABLE_H
#define PCC_RUNTIME_BASE_TEXTTABLE_H

#include <cstddef>
#include <string>
#include <vector>

namespace pcc::runtime {

/// Rows of cells below one row of titles. All rows have as many cells as
/// `titles`.
struct TextTable {
  std::vector<std::string> titles;
  std::vector<std::vector<std::string>> rows;
};

/// Returns the number of characters of a text in UTF-8, which may have several
/// bytes each.
size_t widthOf(const std::string &text);

/// Returns the table with aligned columns, one line per row. The first column
/// is aligned to the left, all others to the right, each with two spaces before
/// it. No line ends in a space.
std::string alignedText(const TextTable &table);
/// Returns the table in Markdown.
std::string markdownText(const TextTable &table);
/// Returns the table as comma-separated values (RFC 4180). A cell with a comma,
/// a quote or a line break is quoted.
std::string csvText(const TextTable &table);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_TEXTTABLE_H
