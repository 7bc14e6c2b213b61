//===- MessageBuilder.cpp - protocol buffer encoder that copies by view ---===//

#include "passes/1-import/onnx/model/MessageBuilder.h"

#include <protozero/varint.hpp>

#include <iterator>
#include <ostream>

using namespace pcc::onnx;

/// Wire types: the numbers by which protocol buffers tell how a field is
/// encoded. Wire type 0 (`integerKind`) is an integer in varint encoding. Wire
/// type 2 (`bytesKind`) is a sequence of bytes with its size before it. A
/// string and a nested message have wire type 2.
static constexpr uint32_t integerKind = 0, bytesKind = 2;

void MessageBuilder::appendInteger(uint64_t value, std::string &bytes) {
  protozero::write_varint(std::back_inserter(bytes), value);
}

void MessageBuilder::own(std::string bytes) {
  numBytes += bytes.size();
  pieces.push_back({std::move(bytes), {}, {}});
}

void MessageBuilder::copy(std::string_view field) {
  numBytes += field.size();
  pieces.push_back({{}, field, {}});
}

void MessageBuilder::addInteger(uint32_t field, int64_t value) {
  std::string bytes;
  appendInteger(field << 3 | integerKind, bytes);
  appendInteger(static_cast<uint64_t>(value), bytes);
  own(std::move(bytes));
}

void MessageBuilder::addBytes(uint32_t field, std::string_view content) {
  std::string bytes;
  appendInteger(field << 3 | bytesKind, bytes);
  appendInteger(content.size(), bytes);
  bytes += content;
  own(std::move(bytes));
}

void MessageBuilder::addHead(uint32_t field, uint64_t size) {
  std::string head;
  appendInteger(field << 3 | bytesKind, head);
  appendInteger(size, head);
  own(std::move(head));
}

void MessageBuilder::addLater(uint32_t field, uint64_t size,
                              std::function<void(std::ostream &)> content) {
  addHead(field, size);
  numBytes += size;
  pieces.push_back({{}, {}, std::move(content)});
}

void MessageBuilder::addMessage(uint32_t field, MessageBuilder message) {
  addHead(field, message.size());
  numBytes += message.size();
  std::move(message.pieces.begin(), message.pieces.end(),
            std::back_inserter(pieces));
}

void MessageBuilder::write(std::ostream &out) const {
  for (const Chunk &piece : pieces) {
    if (piece.later) {
      piece.later(out);
      continue;
    }
    const std::string_view bytes =
        piece.owned.empty() ? piece.viewed : std::string_view(piece.owned);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
}
