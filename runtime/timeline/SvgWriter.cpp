//===- SvgWriter.cpp - writing of SVG documents ---------------------------===//

#include "runtime/timeline/SvgWriter.h"

#include <array>
#include <cassert>
#include <charconv>

namespace pcc::runtime {
namespace {

/// Returns `text` with XML's reserved characters escaped, and without control
/// characters.
std::string escape(std::string_view text) {
  std::string escaped;
  for (char c : text)
    if (c == '&')
      escaped += "&amp;";
    else if (c == '<')
      escaped += "&lt;";
    else if (c == '>')
      escaped += "&gt;";
    else if (static_cast<unsigned char>(c) >= ' ')
      escaped += c;
  return escaped;
}

std::string attribute(std::string_view name, double value) {
  return " " + std::string(name) + "=\"" + printFixed(value, 2) + "\"";
}

std::string fill(std::string_view colour) {
  return " fill=\"" + std::string(colour) + "\"";
}

} // namespace

std::string printFixed(double number, int decimals) {
  std::array<char, 512> digits;
  const auto written =
      std::to_chars(digits.data(), digits.data() + digits.size(), number,
                    std::chars_format::fixed, decimals);
  return {digits.data(), written.ptr};
}

SvgWriter::SvgWriter(double width, double height)
    : text("<svg xmlns=\"http://www.w3.org/2000/svg\"" +
           attribute("width", width) + attribute("height", height) +
           " viewBox=\"0 0 " + printFixed(width, 2) + " " +
           printFixed(height, 2) + "\"" +
           " font-family=\"sans-serif\" font-size=\"11\">\n"
           "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n") {}

void SvgWriter::addText(double x, double y, std::string_view content,
                        std::string_view attributes) {
  assert((attributes.empty() || attributes.front() == ' ') &&
         "attributes begin with a space");
  text += "<text" + attribute("x", x) + attribute("y", y) +
          std::string(attributes) + ">" + escape(content) + "</text>\n";
}

void SvgWriter::beginRectangle(const Rectangle &place,
                               std::string_view colour) {
  text += "<rect" + attribute("x", place.x) + attribute("y", place.y) +
          attribute("width", place.width) + attribute("height", place.height) +
          fill(colour);
}

void SvgWriter::addRectangle(const Rectangle &place, std::string_view colour) {
  beginRectangle(place, colour);
  text += "/>\n";
}

void SvgWriter::addBox(const Rectangle &place, std::string_view colour,
                       double opacity, std::string_view hint) {
  beginRectangle(place, colour);
  text += attribute("fill-opacity", opacity) +
          " stroke=\"#fff\" stroke-width=\"0.5\"><title>" + escape(hint) +
          "</title></rect>\n";
}

void SvgWriter::addPolygon(std::string_view points, std::string_view colour,
                           double opacity) {
  text += "<polygon points=\"" + std::string(points) + "\"" + fill(colour) +
          attribute("fill-opacity", opacity) + "/>\n";
}

void SvgWriter::beginGroup(std::string_view name) {
  text += "<g class=\"" + std::string(name) + "\">\n";
}

} // namespace pcc::runtime
