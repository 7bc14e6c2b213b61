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

/// Returns the width of lines for text that is written to the file descriptor
/// `file`: the number in the environment variable COLUMNS, else the width of
/// the terminal, else 80. At least 40.
size_t textWidth(int file = 1);
/// Returns the width of tables that are written to the file descriptor `file`:
/// textWidth() if it is a terminal, otherwise the largest size_t.
size_t tableWidth(int file);

/// Returns the table with aligned columns, one line per row. The first column
/// is aligned to the left, all others to the right, each with two spaces before
/// it. No line ends in a space. If lines would be longer than `width`, the
/// table is divided: the columns that do not fit follow below, after an empty
/// line and beside a copy of the first column.
std::string alignedText(const TextTable &table, size_t width);
/// Returns the table in Markdown.
std::string markdownText(const TextTable &table);
/// Returns the table as comma-separated values (RFC 4180). A cell with a comma,
/// a quote or a line break is quoted.
std::string csvText(const TextTable &table);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_TEXTTABLE_H
