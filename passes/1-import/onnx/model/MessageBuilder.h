//===- MessageBuilder.h - protocol buffer encoder that copies by view -----===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_MODEL_MESSAGEBUILDER_H
#define PCC_PASSES_1_IMPORT_ONNX_MODEL_MESSAGEBUILDER_H

#include <cstdint>
#include <deque>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

namespace pcc::onnx {

/// Builds a protocol buffer message from fields. Fields copied from an existing
/// file are stored as views. A message that repeats a file with small changes
/// therefore takes little memory, whatever the size of the weights in it.
///
/// Each add method appends one field, `field` being its number.
class MessageBuilder {
public:
  /// Appends an encoded field, tag included, as a view. The caller must keep
  /// the viewed bytes alive until the message has been written.
  void copy(std::string_view field);
  /// Appends an integer field in varint encoding.
  void addInteger(uint32_t field, int64_t value);
  /// Appends a field of type string or bytes. Copies `bytes`.
  void addBytes(uint32_t field, std::string_view bytes);
  /// Appends a nested message.
  void addMessage(uint32_t field, MessageBuilder message);
  /// Appends a field of `size` bytes that are produced only while the message
  /// is written. `content` must then write exactly `size` bytes to its stream.
  void addLater(uint32_t field, uint64_t size,
                std::function<void(std::ostream &)> content);
  /// Appends a repeated integer field in packed encoding, which ONNX demands of
  /// writers. Appends nothing if `values` is empty.
  template <typename List>
  void addIntegers(uint32_t field, const List &values) {
    std::string packed;
    for (int64_t value : values)
      appendInteger(static_cast<uint64_t>(value), packed);
    if (!packed.empty())
      addBytes(field, packed);
  }

  /// Returns the size of the encoded message in bytes.
  uint64_t size() const { return numBytes; }
  /// Writes the encoded message. The caller checks the stream for errors.
  void write(std::ostream &out) const;

private:
  /// Appends the varint encoding of `value` to `bytes`.
  static void appendInteger(uint64_t value, std::string &bytes);
  /// Appends tag and length of a length-delimited field.
  void addHead(uint32_t field, uint64_t size);
  /// Appends encoded bytes, which the message owns.
  void own(std::string bytes);

  /// A contiguous part of the encoded message. At most one member is non-empty.
  struct Chunk {
    std::string owned;
    std::string_view viewed;
    std::function<void(std::ostream &)> later;
  };
  std::deque<Chunk> pieces;
  uint64_t numBytes = 0;
};

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_MODEL_MESSAGEBUILDER_H
