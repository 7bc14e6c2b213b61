//===- TextTable.cpp - tables for terminals, spreadsheets and Markdown ----===//

#include "runtime/base/TextTable.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <sys/ioctl.h>
#include <unistd.h>

namespace pcc::runtime {

using Row = std::vector<std::string>;

/// Calls `rowText` for the titles and for each row, and joins the results.
template <typename RowText>
static std::string joinRows(const TextTable &table, RowText rowText) {
  std::string text = rowText(table.titles);
  for (const Row &row : table.rows)
    text += rowText(row);
  return text;
}

size_t widthOf(const std::string &text) {
  return size_t(std::count_if(text.begin(), text.end(),
                              [](char c) { return (c & 0xC0) != 0x80; }));
}

size_t textWidth(int file) {
  constexpr size_t least = 40, most = 100000, usual = 80;
  size_t width = 0;
  if (const char *columns = std::getenv("COLUMNS"))
    width = std::strtoul(columns, nullptr, 10);
  winsize window{};
  if (width == 0 && ioctl(file, TIOCGWINSZ, &window) == 0)
    width = window.ws_col;
  return width == 0 ? usual : std::clamp(width, least, most);
}

size_t tableWidth(int file) {
  return isatty(file) ? textWidth(file) : std::numeric_limits<size_t>::max();
}

/// Returns the width of each column of `table`.
static std::vector<size_t> columnWidths(const TextTable &table) {
  std::vector<size_t> widths(table.titles.size());
  joinRows(table, [&](const Row &row) {
    for (size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], widthOf(row[column]));
    return "";
  });
  return widths;
}

/// Returns the first column of `table` and the columns `begin` to `end` - 1,
/// aligned to the widths `widths`.
static std::string columnsText(const TextTable &table,
                               const std::vector<size_t> &widths, size_t begin,
                               size_t end) {
  return joinRows(table, [&](const Row &row) {
    std::string line = row[0] + std::string(widths[0] - widthOf(row[0]), ' ');
    for (size_t column = begin; column < end; ++column)
      line += "  " + std::string(widths[column] - widthOf(row[column]), ' ') +
              row[column];
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
  });
}

std::string alignedText(const TextTable &table, size_t width) {
  const std::vector<size_t> widths = columnWidths(table);
  std::string text;
  size_t end = 1;
  do {
    const size_t begin = end;
    size_t used = widths[0];
    while (end < widths.size() &&
           (end == begin || used + 2 + widths[end] <= width))
      used += 2 + widths[end++];
    text += (begin == 1 ? "" : "\n") + columnsText(table, widths, begin, end);
  } while (end < widths.size());
  return text;
}

std::string markdownText(const TextTable &table) {
  auto rowText = [](const Row &row) {
    std::string line = "|";
    for (const std::string &cell : row)
      line += " " + cell + " |";
    return line + "\n";
  };
  TextTable body{Row(table.titles.size(), "---:"), table.rows};
  body.titles[0] = "---";
  return rowText(table.titles) + joinRows(body, rowText);
}

/// Returns `cell` for a file of comma-separated values: in quotes if the cell
/// has a comma, a quote or a line break, otherwise unchanged.
static std::string quoted(const std::string &cell) {
  if (cell.find_first_of(",\"\r\n") == std::string::npos)
    return cell;
  std::string text = "\"";
  for (char c : cell)
    text += c == '"' ? "\"\"" : std::string(1, c);
  return text + "\"";
}

std::string csvText(const TextTable &table) {
  return joinRows(table, [](const Row &row) {
    std::string line;
    for (size_t column = 0; column < row.size(); ++column)
      line += (column ? "," : "") + quoted(row[column]);
    return line + "\n";
  });
}

} // namespace pcc::runtime
